/*
 * claim.c: handles a failed claim. See claim.h.
 */
#include <stddef.h>

#include "unwind/claim.h"

void (*claim_told)(const char *which);

bool claim_failed(const char *which)
{
	if (claim_told)
		claim_told(which);
#ifdef GNOMON_CLAIMS
	else
		__builtin_trap();
#endif
	return false;
}
