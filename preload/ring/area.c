/*
 * area.c: a bump allocator over one anonymous mapping.
 *
 *	| struct recorder | places … | blocks … | free … |
 *	                             ^ area_first        ^ recorder->area_used
 *
 * I1: the mapping is private, anonymous and MADV_WIPEONFORK. A child finds
 *     area_used == 0 and starts again at area_first.
 * I2: its address and size, and area_first, are static: constant in a process
 *     image.
 */
#include "preload/ring/area.h"

#include <errno.h>

#include "preload/base/sys.h"
#include "preload/ring/recorder.h"
#include "unwind/claim.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

struct recorder *recorder;
static uint64_t area_size;
static uint64_t area_first;	/* where blocks begin */

int area_map(uint64_t size_bytes)
{
	uint64_t size;
	long at = -ENOMEM;

	/* less of it, where the address space is limited (ulimit -v) */
	for (size = base_round_up(size_bytes, GL_SLAB); size >= AREA_MIN;
	     size = base_round_up(size / 2, GL_SLAB)) {
		at = sys_mmap(NULL, size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			      0);
		if (!sys_failed(at))
			break;
	}
	if (sys_failed(at) || size < AREA_MIN)
		return -ENOMEM;
	if (sys_madvise((void *)at, size, MADV_WIPEONFORK)) {
		sys_munmap((void *)at, size);
		return -ENOSYS;
	}
	/* a core dump is the program's; if refused, it only gets larger */
	sys_madvise((void *)at, size, MADV_DONTDUMP);
	area_size = size;
	area_first = base_round_up(sizeof(*recorder), BASE_LINE);
	recorder = (struct recorder *)at;
	return 0;
}

void *area_place(size_t size_bytes)
{
	char *place = (char *)recorder + area_first;

	/* I2: blocks begin behind all places */
	CLAIM(!area_used() && area_first + size_bytes <= area_size);
	area_first += base_round_up(size_bytes, BASE_LINE);
	return place;
}

uint64_t area_used(void)
{
	return atomic_load_explicit(&recorder->area_used,
				    memory_order_relaxed);
}

static uint64_t area_limit(void)
{
	return recorder->area_limit ? recorder->area_limit : area_size;
}

void area_settle(uint64_t budget)
{
	uint64_t used = area_used();

	recorder->area_limit = base_min(used + budget, area_size);
	recorder->area_spare = (recorder->area_limit - used) / 4;
	CLAIM(recorder->area_limit >= used);
}

uint64_t area_size_bytes(void)
{
	return area_size;
}

static void area_tell(void)
{
	struct gl_shared *shared = recorder->shared;
	uint64_t used;

	if (!shared)
		return;
	/* who tells looks again, so that the last one is right */
	do {
		used = atomic_load_explicit(&recorder->area_used,
					    memory_order_seq_cst);
		atomic_store_explicit(&shared->area_used, used,
				      memory_order_seq_cst);
	} while (used != atomic_load_explicit(&recorder->area_used,
					      memory_order_seq_cst));
}

void *area_alloc(size_t size_bytes)
{
	uint64_t need = base_round_up(size_bytes, BASE_LINE);
	uint64_t limit = area_limit();
	uint64_t used = atomic_load_explicit(&recorder->area_used,
					     memory_order_relaxed);
	uint64_t start;

	if (need < size_bytes || need > limit)
		return NULL;
	do {
		start = used ? used : area_first;
		if (start + need > limit)
			return NULL;
	} while (!atomic_compare_exchange_weak_explicit(
		&recorder->area_used, &used, start + need,
		memory_order_seq_cst, memory_order_relaxed));
	area_tell();
	CLAIM_FULL(area_is_valid());
	return (char *)recorder + start;
}

bool area_scarce(void)
{
	return area_used() + recorder->area_spare > area_limit();
}

#ifdef GNOMON_CLAIMS
bool area_is_valid(void)
{
	uint64_t used = area_used();

	return area_size >= AREA_MIN && area_first % BASE_LINE == 0 &&
	       area_first >= sizeof(*recorder) && used % BASE_LINE == 0 &&
	       (!used || used >= area_first) && area_limit() <= area_size &&
	       used <= area_limit();
}
#endif
