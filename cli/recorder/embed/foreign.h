/*
 * foreign.h: whether the program brings an allocator of its own whose calls
 * are not seen. What is linked into a file passes no hook of ours; it shows
 * in the file's symbols, if they were not stripped. The writer only.
 */
#ifndef GNOMON_FOREIGN_H
#define GNOMON_FOREIGN_H

#include <stdbool.h>
#include <stdint.h>

enum foreign_state {
	FOREIGN_NONE,
	/* it takes the place of the C library's functions: nothing will be
	 * seen at all, or it passes on what it is asked for */
	FOREIGN_PERHAPS,
	/* patched, so something should be seen some time */
	FOREIGN_PATCHED,
	FOREIGN_SURE
};

struct patched_list;

struct foreign {
	enum foreign_state state;
	bool library;
	const char *allocator;
	/* those that are known; NULL: none are */
	const struct patched_list *patched;
};

/*
 * Looks at the files that are mapped; `program` is the path of the program's
 * own. Opens each, and has the names of its symbols in memory for a moment: one
 * with more than 256 MiB of them is left out.
 */
void foreign_look(struct foreign *foreign, const char *program);

/* The message for the user. */
void foreign_describe(const struct foreign *foreign, char *to, uint32_t size);

/* The verdict on one open file, for foreign_look. Hostile input. */
void foreign_file(struct foreign *foreign, int fd, const char *name,
		  bool program);

#endif
