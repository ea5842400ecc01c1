/* leaky_computed.c: the same with suppressions that only running it tells. */
#include "leaky.c"

const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	const char *text = getenv("SUPPRESSIONS");

	return text ? text : "leak:tgt_buffer\n";
}
