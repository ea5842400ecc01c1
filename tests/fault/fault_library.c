/*
 * fault_library.c: what fails in the library besides system calls: its memory,
 * the tasks that it makes, and what it claims of itself.
 */
#include <stdbool.h>
#include <stddef.h>

#include "tests/fault/fault.h"

const uint64_t fault_whose = 0;

void *__real_area_alloc(size_t size);
void *__wrap_area_alloc(size_t size);
long __real_arch_clone_task(unsigned long flags, void *stack_top, void *tls,
			    void (*fn)(void *arg), void *arg);
long __wrap_arch_clone_task(unsigned long flags, void *stack_top, void *tls,
			    void (*fn)(void *arg), void *arg);
struct gl_ring;
bool __real_ring_is_valid(const struct gl_ring *ring);
bool __wrap_ring_is_valid(const struct gl_ring *ring);

void *__wrap_area_alloc(size_t size)
{
	uint64_t site = fault_site(__builtin_return_address(0));
	bool hit = fault_hits(FAULT_ALLOC, site);

	fault_note(FAULT_ALLOC, site, size, hit);
	return hit ? NULL : __real_area_alloc(size);
}

long __wrap_arch_clone_task(unsigned long flags, void *stack_top, void *tls,
			    void (*fn)(void *arg), void *arg)
{
	uint64_t site = fault_site(__builtin_return_address(0));
	bool hit = fault_hits(FAULT_CLONE, site);
	long result = hit ? fault_answer() :
			    __real_arch_clone_task(flags, stack_top, tls, fn,
						   arg);

	fault_note(FAULT_CLONE, site, result, hit);
	return result;
}

bool __wrap_ring_is_valid(const struct gl_ring *ring)
{
	uint64_t site = fault_site(__builtin_return_address(0));
	bool hit = fault_hits(FAULT_ASSERT, site);

	fault_note(FAULT_ASSERT, site, 0, hit);
	return !hit && __real_ring_is_valid(ring);
}
