/*
 * capture_config.h: what the embedder gives the unwinder: memory, limits, modes.
 */
#ifndef GNOMON_UNWIND_BASE_CAPTURE_CONFIG_H
#define GNOMON_UNWIND_BASE_CAPTURE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/base/layout.h"

enum capture_mode { CAPTURE_AUTO, CAPTURE_VALIDATE, CAPTURE_OFF };

ORDER_BEGIN

/*
 * Counts of unwind tables that are registered at run time (jit.h). Any thread
 * updates them as it registers tables; the embedder chooses the memory.
 */
struct capture_tables {
	order_32 registered;	/* now */
	order_32 refused;	/* so far: too many, or malformed */
};

ORDER_END

struct capture_config {
	enum capture_mode mode;
	/* Every how many captures a stack is walked again and compared; a
	 * thread's first captures are all compared. 0: never. */
	uint32_t oracle;
	/* The first nodes_first nodes (a power of two), or all nodes (0).
	 * Further nodes lie in pieces: piece 1 holds as many as the first, each
	 * later piece as many as all before it. map_nodes returns the address
	 * of piece 1, 2, …; NULL: no memory. Any thread, also signal
	 * handlers. */
	struct gl_node *nodes;
	uint32_t nodes_first;
	struct gl_node *(*map_nodes)(unsigned piece);
	order_32 *node_count;	/* next id; starts at GT_STOP_COUNT */
	order_32 *node_limit;	/* ids below it have reserved pages */
	uint32_t node_max;		/* ids below it exist at all */
	struct gl_image *images;	/* GL_IMAGES_MAX of them */
	order_32 *image_count;
	/* Requests a higher node_limit and waits a bounded time for it. May be
	 * NULL: then the limit is final. Any thread, also signal handlers. */
	void (*want_nodes)(void);
	/* Image records below image_limit have reserved pages; NULL: all have.
	 * want_images is to images what want_nodes is to nodes; set both or
	 * neither. */
	const order_32 *image_limit;
	void (*want_images)(void);
	/* Where to count registered tables; NULL: they are not counted. The
	 * pointer there is read each time: a forked child keeps it NULL until
	 * the child is set up. */
	struct capture_tables *const *tables;
	/* Link-time address and size of a mapped section, from the section
	 * headers of the file at `path` ("": the program's own), for images
	 * without a program header for their unwind table. May be NULL. */
	bool (*find_section)(const char *path, const char *name,
			     uint64_t *address, uint64_t *size);
	/* Directory of rules made ahead of time (rule_files.h), and the
	 * function that is called with the first malformed file there. Either
	 * may be NULL. */
	const char *rule_files;
	void (*rule_file_refused)(const char *path);
	/* Highest address of the main thread's stack, 0 if unknown. */
	uintptr_t main_stack_end;
	/* For tests: each capture places a barrier this many frames out (not
	 * before the second frame), however few frames lie beyond. 0: the
	 * measured policy decides. */
	uint32_t barrier_near;
	/* No stack is captured: every context is GT_STOP_DEPTH. Threads need no
	 * state. */
	bool no_stacks;
	/* Why barriers must not be used in this process (GT_WHY_DEFAULT: they
	 * may be used). */
	enum gt_mode_why forbidden_why;
};

#endif
