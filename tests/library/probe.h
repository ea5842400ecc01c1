/*
 * probe.h: what the programs of this folder share. Each is built against the
 * installed library, runs the case named by its first argument and ends with
 * status 0, or says what is wrong and ends with 1.
 */
#ifndef GNOMON_TESTS_PROBE_H
#define GNOMON_TESTS_PROBE_H

#include <execinfo.h>
#include <gnomon/unwind.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROBE_DEPTH 32768

#define CHECK(condition)                                                 \
	do {                                                             \
		if (!(condition))                                        \
			probe_fail(#condition, __FILE__, __LINE__);      \
	} while (0)

static inline void probe_fail(const char *what, const char *file, int line)
{
	fprintf(stderr, "%s:%d: %s does not hold\n", file, line, what);
	_exit(1);
}

/* Not to be left by a tail jump. */
#define STAY() __asm__ volatile("" ::: "memory")
#define NOINLINE __attribute__((noinline))

/* glibc's backtrace() of the caller, from `skip` frames further out on. */
static inline size_t probe_backtrace(uintptr_t *stack, size_t skip)
{
	static __thread void *frames[PROBE_DEPTH];
	int n = backtrace(frames, PROBE_DEPTH), i;
	size_t count = 0;

	for (i = (int)skip; i < n; i++)
		stack[count++] = (uintptr_t)frames[i];
	return count;
}

/* A return stub (arch/x86_64/barriers.S): backtrace() walks through it and
 * counts it as a frame; it belongs to no stack of ours. */
static inline int probe_is_stub(uintptr_t address)
{
	static const unsigned char jump[3] = { 0x3e, 0xff, 0x25 };

	return !memcmp((const void *)address, jump, sizeof(jump));
}

/*
 * Two stacks taken by one function, backtrace()'s first: all but that
 * function's own frame is the same.
 */
static inline void probe_same(const uintptr_t *a, size_t n, const uintptr_t *b,
			      size_t m)
{
	size_t i = 1, j = 1, from;

	for (; i < n && j < m; i++) {
		if (a[i] == b[j])
			j++;
		else if (!probe_is_stub(a[i]))
			break;
	}
	if (n > 1 && i == n && j == m)
		return;
	fprintf(stderr, "stacks of %zu and %zu differ at %zu, %zu\n", n, m, i,
		j);
	for (from = i = i > 3 ? i - 3 : 0; i < from + 8; i++)
		fprintf(stderr, "%3zu  %#18lx  %#18lx\n", i,
			i < n ? (long)a[i] : 0, i < m ? (long)b[i] : 0);
	_exit(1);
}

/* Captures and walks here, and compares both with backtrace(). */
static inline __attribute__((always_inline)) uint32_t probe_here(void)
{
	static __thread uintptr_t ours[PROBE_DEPTH], theirs[PROBE_DEPTH];
	uint32_t context = gu_capture(), stop = 99;
	size_t n = probe_backtrace(theirs, 0);

	probe_same(theirs, n, ours,
		   gu_expand(context, ours, PROBE_DEPTH, &stop));
	CHECK(stop == GU_STOP_BOTTOM);
	probe_same(theirs, n, ours, gu_walk(ours, PROBE_DEPTH, &stop));
	CHECK(stop == GU_STOP_BOTTOM);
	return context;
}

#endif
