/* leaky_computed.c: the same with suppressions computed at run time. */
#include "leaky.c"

const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	const char *text = getenv("SUPPRESSIONS");

	return text ? text : "leak:tgt_buffer\n";
}
