/*
 * debugfile.h: where the ELF file of an image is, and where its symbols are.
 * A file counts only if its build-id is the one that was recorded. Each place
 * is tried in the order of README.md, "Symbols".
 *
 * Thread context: any, several at once.
 */
#ifndef GNOMON_DEBUGFILE_H
#define GNOMON_DEBUGFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/base/notes.h"
#include "cli/symbol/elf/elf_kind.h"

/* What the user said about places. */
struct debugfile_places {
	const char *const *paths;	/* -d: files and directories */
	size_t path_count;
	const char *sysroot;		/* NULL: / */
	struct elf_kind kind;		/* of the program that was recorded:
					 * others' files are none of its */
	bool made_up;			/* the trace's paths and build-ids are:
					 * nothing is looked for but what the
					 * trace carries */
	bool no_debuginfod;		/* the network is not asked; its cache
					 * is looked into all the same */
	/*
	 * The files that a trace carries, asked before all others; may be
	 * NULL. Returns a descriptor, which the caller closes, of an ELF file
	 * with this build-id, or -1. Called by one thread at a time, not
	 * always by the same one.
	 */
	int (*embedded)(void *owner, const uint8_t *build_id, size_t size);
	/* The same of files that another trace beside it carries, which takes
	 * longer: for what is found nowhere else. */
	int (*beside)(void *owner, const uint8_t *build_id, size_t size);
	void *embedded_owner;
	/* What is missing, and would help; NULL: nobody wants to know. */
	struct notes *notes;
	/* How many files were noted as missing, in all that is looked for:
	 * after some, they are not noted one by one. NULL: all are. */
	_Atomic unsigned *missing;
};

struct debugfile_wanted {
	const char *path;		/* at run time */
	const uint8_t *build_id;
	size_t build_id_size;		/* 0: the file had none */
	int pid;			/* of a process that had it mapped,
					 * which may be dead; 0: not known */
};

/*
 * Descriptors of the file itself, or of its debug file (which has the same
 * build-id); -1 if it is nowhere. *found is where, to be freed. Where a file
 * of another build stands in the place of the binary, or none, that is noted.
 */
int debugfile_binary(const struct debugfile_places *places,
		     const struct debugfile_wanted *wanted, char **found);
/* `debuglink`: name in the .gnu_debuglink section, or NULL. */
int debugfile_debug(const struct debugfile_places *places,
		    const struct debugfile_wanted *wanted,
		    const char *debuglink, char **found);
/*
 * dwz's file, which several debug files share: `wanted` has its build-id, and
 * as path what .gnu_debugaltlink says; `beside` is the file that says it.
 */
int debugfile_alt(const struct debugfile_places *places,
		  const struct debugfile_wanted *wanted, const char *beside,
		  char **found);

/*
 * Where a .dwo file may be, to be freed: the i-th place, NULL after the last.
 * `name` and `directory` (may be NULL) are those of its unit, `beside` is the
 * file that the unit is in.
 */
char *debugfile_split(const struct debugfile_places *places,
		      const char *beside, const char *directory,
		      const char *name, size_t i);

#endif
