/* leaky_own.c: the same leaks in a program that contains suppressions. */
#include "leaky.c"

const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "# of its own\nleak:tgt_buffer\n";
}
