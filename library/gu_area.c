/*
 * gu_area.c: a bump allocator over one anonymous mapping, and a second mapping
 * for the context nodes.
 *
 * I1  The area is private, anonymous and MADV_WIPEONFORK: a forked child finds
 *     `used` and `phase` 0 and starts again. So no lock and no half written
 *     table of a thread that does not exist in the child survives.
 * I2  Addresses and sizes are static, constant in a process image.
 *
 * Thread context: gu_init calls gu_area_map; any thread, also in signal
 * handlers, may call the other functions.
 */
#include "library/gu_area.h"

#include <asm/unistd.h>
#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "arch.h"

#define AREA_LINE 64	/* alignment that unwind_alloc promises */
#define AREA_ERROR_MAX 4095	/* the kernel's answers: -errno above this */

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

struct gu_state *gu_state;
_Atomic uint32_t gu_setups;
struct gl_node *gu_nodes;
static uint64_t area_size;

static uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) & ~(to - 1);
}

static void *map(uint64_t size)
{
	long at = arch_mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			    0);

	return (unsigned long)at >= -(unsigned long)AREA_ERROR_MAX ?
		       NULL :
		       (void *)at;
}

/* Our own mapping: munmap cannot fail. */
static void unmap(void *at, uint64_t size)
{
	if (at)
		arch_syscall2(__NR_munmap, (long)at, (long)size);
}

int gu_area_map(uint64_t memory_bytes, uint64_t node_bytes,
		struct gu_state **state_out)
{
	struct gu_state *state;
	int err = -ENOMEM;

	area_size = memory_bytes - node_bytes;
	state = map(area_size);
	gu_nodes = map(node_bytes);
	if (!state || !gu_nodes)
		goto out;
	err = -ENOSYS;
	if (arch_syscall3(__NR_madvise, (long)state, (long)area_size,
			  MADV_WIPEONFORK))
		goto out;
	*state_out = state;
	return 0;
out:
	unmap(state, area_size);
	unmap(gu_nodes, node_bytes);
	gu_nodes = NULL;
	return err;
}

void *gu_area_alloc(size_t size_bytes)
{
	uint64_t need = round_up(size_bytes, AREA_LINE);
	uint64_t used = atomic_load_explicit(&gu_state->used,
					     memory_order_relaxed);
	uint64_t start;

	if (need < size_bytes || need > area_size)
		return NULL;
	do {
		start = used ? used : round_up(sizeof(*gu_state), AREA_LINE);
		if (start + need > area_size)
			return NULL;
	} while (!atomic_compare_exchange_weak_explicit(
		&gu_state->used, &used, start + need, memory_order_relaxed,
		memory_order_relaxed));
	return (char *)gu_state + start;
}

uint64_t gu_area_used(void)
{
	return atomic_load_explicit(&gu_state->used, memory_order_relaxed);
}

bool gu_area_scarce(void)
{
	return gu_area_used() > area_size - area_size / 4;
}
