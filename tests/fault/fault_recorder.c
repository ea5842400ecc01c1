/*
 * fault_recorder.c: what fails in the recorder besides system calls: its memory,
 * and what it reserves in the live mapping.
 */
#include <errno.h>
#include <stddef.h>

#include "cli/recorder/live.h"
#include "tests/fault/fault.h"

const uint64_t fault_whose = FAULT_RECORDER;

void *__real_zeroed_alloc(size_t size);
void *__wrap_zeroed_alloc(size_t size);
void *__real_room_resize(void *old, size_t count, size_t size);
void *__wrap_room_resize(void *old, size_t count, size_t size);
void *__real_room_lines(void *old, size_t used, size_t size);
void *__wrap_room_lines(void *old, size_t used, size_t size);
int __real_live_reserve(struct live *live, uint64_t from, uint64_t to);
int __wrap_live_reserve(struct live *live, uint64_t from, uint64_t to);

void *__wrap_zeroed_alloc(size_t size)
{
	uint64_t site = fault_site(__builtin_return_address(0));
	bool hit = fault_hits(FAULT_ALLOC, site);

	fault_note(FAULT_ALLOC, site, size, hit);
	return hit ? NULL : __real_zeroed_alloc(size);
}

void *__wrap_room_resize(void *old, size_t count, size_t size)
{
	uint64_t site = fault_site(__builtin_return_address(0));
	bool hit = fault_hits(FAULT_ALLOC, site);

	fault_note(FAULT_ALLOC, site, count * size, hit);
	return hit ? NULL : __real_room_resize(old, count, size);
}

void *__wrap_room_lines(void *old, size_t used, size_t size)
{
	uint64_t site = fault_site(__builtin_return_address(0));
	bool hit = fault_hits(FAULT_ALLOC, site);

	fault_note(FAULT_ALLOC, site, size, hit);
	return hit ? NULL : __real_room_lines(old, used, size);
}

int __wrap_live_reserve(struct live *live, uint64_t from, uint64_t to)
{
	uint64_t site = fault_site(__builtin_return_address(0));
	bool hit = fault_hits(FAULT_RESERVE, site);

	fault_note(FAULT_RESERVE, site, to - from, hit);
	return hit ? -ENOSPC : __real_live_reserve(live, from, to);
}
