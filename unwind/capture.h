/*
 * capture.h: take the calling thread's stack; the answer is one context id.
 *
 * Tiers, cheapest first (docs/ARCHITECTURE.md): path cache, shadow join, full
 * walk. Each is exact. The context tree's nodes lie in memory of the
 * embedder's (struct capture_config); everything else comes from
 * unwind_alloc.
 */
#ifndef GNOMON_UNWIND_CAPTURE_H
#define GNOMON_UNWIND_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/layout.h"

enum capture_mode { CAPTURE_AUTO, CAPTURE_VALIDATE, CAPTURE_OFF };

ORDER_BEGIN

/*
 * What comes of unwind tables that are registered at run time (jit.h): written
 * as that happens, by any thread, in memory of the embedder's choice.
 */
struct capture_tables {
	order_32 registered;	/* now */
	order_32 refused;	/* so far: too many, or no sense */
};

ORDER_END

struct capture_config {
	enum capture_mode mode;
	/* Every how many captures a stack is walked again and compared, but for
	 * a thread's first, which all are; 0: none. */
	uint32_t oracle;
	/* The first nodes_first nodes (a power of two), or all (0). More are in
	 * pieces: the first again as many, then always as many as all before.
	 * map_nodes says where piece 1, 2, … is; NULL: there is no memory. Any
	 * thread, also signal handlers. */
	struct gl_node *nodes;
	uint32_t nodes_first;
	struct gl_node *(*map_nodes)(unsigned piece);
	order_32 *node_count;	/* next id; starts at GT_STOP_COUNT */
	order_32 *node_limit;	/* ids below it have reserved pages */
	uint32_t node_max;		/* ids below it exist at all */
	struct gl_image *images;	/* GL_IMAGES_MAX of them */
	order_32 *image_count;
	/* Asks for a higher node_limit and waits a bounded time for it. May be
	 * NULL: then the limit is final. Any thread, also signal handlers. */
	void (*want_nodes)(void);
	/* Records of images below it have reserved pages; NULL: all have. And
	 * what want_nodes is for nodes; both or neither. */
	const order_32 *image_limit;
	void (*want_images)(void);
	/* Where to tell of tables; NULL: nobody asks. The pointer there is
	 * read each time: in a forked child it has to be NULL until that one
	 * is set up. */
	struct capture_tables *const *tables;
	/* Link-time address and size of a mapped section, from the section
	 * headers of the file at `path` ("": the program's own), for images
	 * that announce no unwind table. May be NULL. */
	bool (*find_section)(const char *path, const char *name,
			     uint64_t *address, uint64_t *size);
	/* Directory of rules made ahead of time (rule_files.h), and who is told
	 * of the first file there that makes no sense. NULL: none, nobody. */
	const char *rule_files;
	void (*rule_file_refused)(const char *path);
	/* Highest address of the main thread's stack, 0 if unknown. */
	uintptr_t main_stack_end;
	/* For tests: a barrier stands this many frames out from every capture
	 * (not before the second frame), however few lie beyond. 0: where the
	 * measured policy wants one. */
	uint32_t barrier_near;
	/* No stack is taken: all are GT_STOP_DEPTH. Threads need no state. */
	bool no_stacks;
	/* Barriers must not be used in this process, and why (GT_WHY_DEFAULT:
	 * they may). */
	enum gt_mode_why no_barriers;
};

struct capture_thread;	/* per thread, opaque; from unwind_alloc */

ORDER_BEGIN

/* A hit of the path cache writes nothing, so tier_path is what is left of
 * all captures after the others (the embedder counts captures). */
struct capture_counts {
	uint64_t tier_join, tier_full, tier_plain, tier_hardware;
	uint64_t frames_walked;
	uint64_t oracle_checks, oracle_differences;
	uint64_t stops[GT_STOP_COUNT];	/* walks by how they ended */
};

/*
 * What a thread's captures tell whoever watches: written by the owner alone, in
 * memory of the embedder's choice, also such as another process maps. A reader
 * sees it some events late, and not all of one moment. `counts` are of all
 * threads that have had the state, the rest is of the one that has it.
 */
struct capture_report {
	uint32_t mode;		/* enum gt_mode */
	uint32_t why;		/* enum gt_mode_why */
	uint64_t path_bytes, path_bytes_max;	/* path cache: now, its bound */
	uint64_t path_ways, path_ways_used;	/* stacks it can hold, holds */
	uint64_t stack_bytes, hardware_bytes;	/* the rest of the state */
	uint64_t barriers_placed, barriers_met;	/* a walk or path ended at one */
	struct capture_counts counts;
};

ORDER_END

/* All that belongs to the thread. */
static inline uint64_t
capture_report_bytes(const struct capture_report *report)
{
	return report->path_bytes + report->stack_bytes +
	       report->hardware_bytes;
}

/*
 * Process-wide set-up: dictionary, tables, images mapped now. Called once,
 * before any other thread may capture, at a moment when the loader's list is
 * not changing. 0 or -errno; after a failure nothing here may be called.
 */
int capture_init(const struct capture_config *config);

/* Pointers of this thread's state: made at its first event, kept for reuse by
 * a later thread after capture_thread_reset. NULL: no memory. on_main_stack:
 * its stack is the one of main_stack_end; else that ends at its thread
 * pointer. report: zeroed, stays as long as the state; NULL: the state has one
 * of its own. */
struct capture_thread *capture_thread_new(bool on_main_stack,
					  struct capture_report *report);
void capture_thread_reset(struct capture_thread *thread,
			  bool on_main_stack);

/*
 * The calling thread's stack was, or may have been, exchanged for another one
 * in the same place (a jump to a copy that was put back): what is remembered
 * of it is not trusted any more. Two stores; the owner, also in a handler that
 * interrupted a capture.
 */
void capture_thread_moved(struct capture_thread *thread);

/* A capture of this thread was jumped out of: what it remembers may be half
 * written, and is dropped; mode and counts stay. The owner only. */
void capture_thread_drop(struct capture_thread *thread);

/*
 * The context of the calling thread's stack outward from (ra, sp): ra is the
 * return address of the hook, sp the stack pointer after its return, fp the
 * frame pointer its caller had. The hook must keep a frame pointer itself:
 * ra and fp are in its frame, at sp + ARCH_HOOK_RA and sp + ARCH_HOOK_FP. Not
 * reentrant for one `thread`. errno kept.
 */
uint32_t capture_stack(struct capture_thread *thread, uintptr_t ra,
		       uintptr_t sp, uintptr_t fp);

/* The same by a plain walk that changes no state of the thread, which may be
 * NULL: for hooks that interrupted a hook (signal handlers).
 * Async-signal-safe. */
uint32_t capture_stack_plain(const struct capture_thread *thread, uintptr_t ra,
			     uintptr_t sp, uintptr_t fp);

/* The loader is about to change the images (dlopen, dlmopen, dlclose): an
 * atomic increment, made by the hooks of those before they jump on. */
extern __attribute__((visibility("hidden")))
_Atomic uint32_t capture_generation;

/* Any thread, while the owner captures. */
const struct capture_report *capture_thread_report(
	const struct capture_thread *thread);

#endif
