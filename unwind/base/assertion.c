/*
 * assertion.c: handles a failed assertion. See assertion.h.
 */
#include <stddef.h>

#include "unwind/base/assertion.h"

void (*assertion_notify)(const char *which);

bool assertion_failed(const char *which)
{
	if (assertion_notify)
		assertion_notify(which);
#ifdef GNOMON_DEBUG_ASSERTS
	else
		__builtin_trap();
#endif
	return false;
}
