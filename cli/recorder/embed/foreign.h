/*
 * foreign.h: detects static allocators, which are linked into the program.
 * Their calls pass no hook. They are found by the file's symbols, unless it is
 * stripped. The writer only.
 */
#ifndef GNOMON_FOREIGN_H
#define GNOMON_FOREIGN_H

#include <stdbool.h>
#include <stdint.h>

enum foreign_state {
	FOREIGN_NONE,
	/* it replaces the C library's functions: either no call will be seen,
	 * or it calls the C library in turn */
	FOREIGN_PERHAPS,
	/* patched, so some call should be seen */
	FOREIGN_PATCHED,
	FOREIGN_SURE
};

struct patched_list;

struct foreign {
	enum foreign_state state;
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
void foreign_look(struct foreign *foreign, const char *program);

/* The message for the user. */
void foreign_describe(const struct foreign *foreign, char *to, uint32_t size);

/* Checks one open file, for foreign_look. Hostile input. */
void foreign_file(struct foreign *foreign, int fd, const char *name,
		  bool program);

#endif
