/*
 * unwind_embed.h: the smallest embedder of the unwinder, for tests: memory
 * from mmap, nodes and images in private arrays, and a hook to capture from.
 */
#ifndef GNOMON_TESTS_UNWIND_EMBED_H
#define GNOMON_TESTS_UNWIND_EMBED_H

#include <stdint.h>
#include <sys/mman.h>

#include "unwind/base/memory.h"
#include "unwind/capture.h"

#define EMBED_NODES (1u << 20)

static struct gl_node *embed_nodes;
static _Atomic uint32_t embed_node_count, embed_node_limit;
static struct gl_image *embed_images;
static _Atomic uint32_t embed_image_count;

static __attribute__((noinline, unused)) void *embed_alloc(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Of ld.so: where the main thread's stack began. */
extern void *__libc_stack_end;

static inline int embed_init_with(enum capture_mode mode, uint32_t oracle,
				  uint32_t near)
{
	struct capture_config config = {
		.mode = mode,
		.oracle = oracle,
		.barrier_near = near,
		.node_count = &embed_node_count,
		.node_limit = &embed_node_limit,
		.node_max = EMBED_NODES,
		.image_count = &embed_image_count,
		.main_stack_end = (uintptr_t)__libc_stack_end,
	};

	unwind_alloc = embed_alloc;
	embed_nodes = embed_alloc(EMBED_NODES * sizeof(*embed_nodes));
	embed_images = embed_alloc(GL_IMAGES_MAX * sizeof(*embed_images));
	embed_node_count = GT_STOP_COUNT;
	embed_node_limit = EMBED_NODES;
	embed_image_count = 0;
	config.nodes = embed_nodes;
	config.images = embed_images;
	return capture_init(&config);
}

static inline int embed_init(enum capture_mode mode, uint32_t oracle)
{
	return embed_init_with(mode, oracle, 0);
}

/* Barriers stand `near` frames out of each capture (capture_config). */
static inline int embed_init_near(enum capture_mode mode, uint32_t near)
{
	return embed_init_with(mode, false, near);
}

/* Innermost first; returns how many, *stop the reason at the end. */
static inline unsigned embed_expand(uint32_t context, uintptr_t *addresses,
				    unsigned max, uint32_t *stop)
{
	unsigned n = 0;

	while (context >= GT_STOP_COUNT && n < max) {
		addresses[n++] = embed_nodes[context].address;
		context = embed_nodes[context].parent;
	}
	*stop = context;
	return n;
}

/* To be called like malloc: captures the stack of its caller. */
static __attribute__((noinline, unused,
		      optimize("no-omit-frame-pointer"))) uint32_t
embed_hook(struct capture_thread *t)
{
	uint32_t context;

	context = capture_stack(t, (uintptr_t)__builtin_return_address(0),
				(uintptr_t)__builtin_dwarf_cfa(),
				*(uintptr_t *)__builtin_frame_address(0));
	__asm__ volatile("" ::: "memory");
	return context;
}

#endif
