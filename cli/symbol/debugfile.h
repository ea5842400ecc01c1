/*
 * debugfile.h: where the ELF file of an image is, and where its symbols are.
 * A file counts only if its build-id is the one that was recorded.
 */
#ifndef GNOMON_DEBUGFILE_H
#define GNOMON_DEBUGFILE_H

#include <stddef.h>
#include <stdint.h>

/* What the user said about places. */
struct debugfile_places {
	const char *const *paths;	/* -d: files and directories */
	size_t path_count;
	const char *sysroot;		/* NULL: / */
};

struct debugfile_wanted {
	const char *path;		/* at run time */
	const uint8_t *build_id;
	size_t build_id_size;		/* 0: the file had none */
};

/*
 * Descriptors of the file itself, or of its debug file (which has the same
 * build-id); -1 if it is nowhere. *found is where, to be freed.
 */
int debugfile_binary(const struct debugfile_places *places,
		     const struct debugfile_wanted *wanted, char **found);
/* `debuglink`: name in the .gnu_debuglink section, or NULL. */
int debugfile_debug(const struct debugfile_places *places,
		    const struct debugfile_wanted *wanted,
		    const char *debuglink, char **found);

#endif
