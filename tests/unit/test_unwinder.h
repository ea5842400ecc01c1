/*
 * test_unwinder.h: the smallest embedder of the unwinder, for tests: memory
 * from mmap, nodes and images in private arrays, and a hook to capture from.
 *
 * mode, oracle, near: as in struct capture_config (near is its barrier_near).
 * oracle 0: no capture is compared with a complete walk, 1: each one is.
 */
#ifndef GNOMON_TESTS_TEST_UNWINDER_H
#define GNOMON_TESTS_TEST_UNWINDER_H

#include <stdint.h>
#include <sys/mman.h>

#include "unwind/base/memory.h"
#include "unwind/capture.h"

#define TEST_UNWINDER_NODES (1u << 20)

static struct gl_node *test_unwinder_nodes;
static _Atomic uint32_t test_unwinder_node_count, test_unwinder_node_limit;
static struct gl_image *test_unwinder_images;
static _Atomic uint32_t test_unwinder_image_count;

static __attribute__((noinline, unused)) void *test_unwinder_alloc(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Of ld.so: where the main thread's stack began. */
extern void *__libc_stack_end;

static inline int test_unwinder_init_with(enum capture_mode mode,
					  uint32_t oracle, uint32_t near)
{
	struct capture_config config = {
		.mode = mode,
		.oracle = oracle,
		.barrier_near = near,
		.node_count = &test_unwinder_node_count,
		.node_limit = &test_unwinder_node_limit,
		.node_max = TEST_UNWINDER_NODES,
		.image_count = &test_unwinder_image_count,
		.main_stack_end = (uintptr_t)__libc_stack_end,
	};

	unwind_alloc = test_unwinder_alloc;
	test_unwinder_nodes = test_unwinder_alloc(TEST_UNWINDER_NODES *
						  sizeof(*test_unwinder_nodes));
	test_unwinder_images = test_unwinder_alloc(
		GL_IMAGES_MAX * sizeof(*test_unwinder_images));
	test_unwinder_node_count = GT_STOP_COUNT;
	test_unwinder_node_limit = TEST_UNWINDER_NODES;
	test_unwinder_image_count = 0;
	config.nodes = test_unwinder_nodes;
	config.images = test_unwinder_images;
	return capture_init(&config);
}

static inline int test_unwinder_init(enum capture_mode mode, uint32_t oracle)
{
	return test_unwinder_init_with(mode, oracle, 0);
}

/* Barriers stand `near` frames out of each capture. */
static inline int test_unwinder_init_near(enum capture_mode mode, uint32_t near)
{
	return test_unwinder_init_with(mode, 0, near);
}

/* Innermost first; returns how many, *stop the reason at the end. */
static inline unsigned test_unwinder_expand(uint32_t context,
					    uintptr_t *addresses, unsigned max,
					    uint32_t *stop)
{
	unsigned n = 0;

	while (context >= GT_STOP_COUNT && n < max) {
		addresses[n++] = test_unwinder_nodes[context].address;
		context = test_unwinder_nodes[context].parent;
	}
	*stop = context;
	return n;
}

/* To be called like malloc: captures the stack of its caller. */
static __attribute__((noinline, unused,
		      optimize("no-omit-frame-pointer"))) uint32_t
test_unwinder_hook(struct capture_thread *t)
{
	uint32_t context;

	context = capture_stack(t, (uintptr_t)__builtin_return_address(0),
				(uintptr_t)__builtin_dwarf_cfa(),
				*(uintptr_t *)__builtin_frame_address(0));
	__asm__ volatile("" ::: "memory");
	return context;
}

#endif
