/*
 * functions.h: the functions of gnomon/gnomon.h as tables, which libgnomon.so
 * exports. By them a stub that stands before the real functions, because it is
 * part of the program, finds them (stub.h).
 *
 * I1: only ever added to, at the end: programs hold stubs that know the
 *     beginning. `size` says how much there is.
 */
#ifndef GNOMON_FUNCTIONS_H
#define GNOMON_FUNCTIONS_H

/* For callers: a function that hands its argument on would be told of. */
#ifndef GNOMON_ADDRESS
#define GNOMON_ADDRESS(n)
#endif
#include "library/gnomon/gnomon.h"

/* X(type, name, parameters, arguments, what the stub answers). What asks for
 * numbers is in a table of its own: by its name the recorder knows that they
 * are going to be wanted. */
#define GNOMON_FUNCTIONS(X)                                                  \
	X(int, loaded, (void), (), 0)                                        \
	X(const char *, version, (void), (), "")                             \
	X(int, enabled, (void), (), 0)                                       \
	X(int, enable, (void), (), GNOMON_STUB)                              \
	X(int, disable, (void), (), GNOMON_STUB)                             \
	X(int, clear, (void), (), GNOMON_STUB)                               \
	X(int, active, (enum gnomon_who who), (who), 0)                      \
	X(int, activate, (enum gnomon_who who), (who), GNOMON_STUB)          \
	X(int, deactivate, (enum gnomon_who who), (who), GNOMON_STUB)        \
	X(int, limit_sizes, (uint64_t min_bytes, uint64_t max_bytes),        \
	  (min_bytes, max_bytes), GNOMON_STUB)                               \
	X(int, sync, (void), (), GNOMON_STUB)                                \
	X(int, marker, (const char *name), (name), GNOMON_STUB)              \
	X(int, snapshot, (const char *name), (name), GNOMON_STUB)            \
	X(int, snapshot_every, (uint64_t ns), (ns), GNOMON_STUB)             \
	X(int, set_timestamp, (uint64_t ns), (ns), GNOMON_STUB)              \
	X(uint32_t, heap_create, (const char *name), (name), 0)              \
	X(void, alloc, (uint32_t heap, const void *block, size_t size),      \
	  (heap, block, size), (void)0)                                      \
	X(void, free, (uint32_t heap, const void *block), (heap, block),     \
	  (void)0)                                                           \
	X(void, realloc,                                                     \
	  (uint32_t heap, const void *old, const void *block, size_t size),  \
	  (heap, old, block, size), (void)0)                                 \
	X(int, pool_create, (const void *pool, const char *name),            \
	  (pool, name), GNOMON_STUB)                                         \
	X(int, pool_destroy, (const void *pool), (pool), GNOMON_STUB)        \
	X(int, pool_alloc,                                                   \
	  (const void *pool, const void *block, size_t size),                \
	  (pool, block, size), GNOMON_STUB)                                  \
	X(int, pool_free, (const void *pool, const void *block),             \
	  (pool, block), GNOMON_STUB)                                        \
	X(int, pool_change,                                                  \
	  (const void *pool, const void *old, const void *block,             \
	   size_t size), (pool, old, block, size), GNOMON_STUB)              \
	X(int, pool_trim,                                                    \
	  (const void *pool, const void *start, size_t size),                \
	  (pool, start, size), GNOMON_STUB)                                  \
	X(int, pool_move, (const void *pool, const void *to), (pool, to),    \
	  GNOMON_STUB)                                                       \
	X(int, pool_exists, (const void *pool), (pool), 0)

#define GNOMON_NUMBERS(X)                                                    \
	X(int, summarize,                                                    \
	  (enum gnomon_who who, struct gnomon_summary *summary),             \
	  (who, summary), GNOMON_STUB)                                       \
	X(int, histograms, (struct gnomon_sizes *sizes), (sizes),            \
	  GNOMON_STUB)                                                       \
	X(int, dump, (const struct gnomon_dump *how, int fd), (how, fd),     \
	  GNOMON_STUB)                                                       \
	X(int, dump_to,                                                      \
	  (const struct gnomon_dump *how, gnomon_writer write, void *data),  \
	  (how, write, data), GNOMON_STUB)                                   \
	X(int, stats_every, (uint64_t ns), (ns), GNOMON_STUB)

#define GNOMON_POINTER(type, name, parameters, arguments, stub) \
	type (*name) parameters;
struct gnomon_functions {
	size_t size;		/* of this struct */
	GNOMON_FUNCTIONS(GNOMON_POINTER)
};
struct gnomon_numbers {
	size_t size;		/* of this struct */
	GNOMON_NUMBERS(GNOMON_POINTER)
};
#undef GNOMON_POINTER

/* Of others, whatever the visibility of what is ours. */
#define GNOMON_TABLE __attribute__((visibility("default")))
GNOMON_TABLE extern const struct gnomon_functions gnomon_functions;
GNOMON_TABLE extern const struct gnomon_numbers gnomon_numbers;

#endif
