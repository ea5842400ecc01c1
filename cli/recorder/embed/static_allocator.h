/*
 * static_allocator.h: detects static allocators, which are linked into the
 * program. Their calls pass no hook. They are found by the file's symbols,
 * unless it is stripped. The recorder only.
 */
#ifndef GNOMON_STATIC_ALLOCATOR_H
#define GNOMON_STATIC_ALLOCATOR_H

#include <stdbool.h>
#include <stdint.h>

enum static_allocator_state {
	STATIC_ALLOCATOR_NONE,
	/* it replaces the C library's functions: either no call will be seen,
	 * or it calls the C library in turn */
	STATIC_ALLOCATOR_PERHAPS,
	/* patched, so some call should be seen */
	STATIC_ALLOCATOR_PATCHED,
	STATIC_ALLOCATOR_SURE
};

struct patched_list;

struct static_allocator {
	enum static_allocator_state state;
	bool library;
	const char *allocator;
	/* known allocators that are patched; NULL: none */
	const struct patched_list *patched;
};

/*
 * Checks all mapped files; `program` is the path of the program's own file.
 * Opens each and loads its symbol names for a moment. Skips a file with more
 * than 256 MiB of symbol names.
 */
void static_allocator_poll(struct static_allocator *static_allocator,
			   const char *program);

/* The message for the user. */
void static_allocator_describe(const struct static_allocator *static_allocator,
			       char *to, uint32_t size);

/* Checks one open file, for static_allocator_poll. Hostile input. */
void static_allocator_file(struct static_allocator *static_allocator, int fd,
			   const char *name, bool program);

#endif
