/*
 * fault.h: what fails besides system calls, in the library and in the recorder
 * (fault.c).
 */
#ifndef GNOMON_FAULT_H
#define GNOMON_FAULT_H

#include <stdbool.h>
#include <stdint.h>

/* Beside the system calls' own numbers. */
enum format_error {
	FAULT_ALLOC = 1000,	/* of the area, of zeroed memory */
	FAULT_RESERVE = 1001,	/* in the live mapping, by the recorder */
	FAULT_CLONE = 1002,	/* of a task that shares the memory */
	FAULT_ASSERT = 1003	/* a ring is said not to be valid
				 * (assertion.h) */
};

/* A site of the recorder's; of the library's it is 0. */
#define FAULT_RECORDER (UINT64_C(1) << 62)
extern const uint64_t fault_whose __attribute__((visibility("hidden")));

uint64_t fault_site(const void *returns_to);

/* Whether this call fails; counts it. */
bool fault_hits(uint32_t nr, uint64_t site);

/* Into the log. */
void fault_note(uint32_t nr, uint64_t site, long result, bool failed);

/* What a call answers that fails. */
long fault_answer(void);

/* It does not, but moves a third of the bytes. */
bool fault_is_short(void);

#endif
