/*
 * debugfile.h: finds the ELF file of an image, and the file with its symbols. A
 * file is accepted only if it has the recorded build-id. Places are tried in
 * the order of docs/USAGE.md, "Symbols".
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

/* The user's options for places, and the trace's. */
struct debugfile_places {
	const char *const *paths;	/* -d: files and directories */
	size_t path_count;
	const char *sysroot;		/* NULL: / */
	struct elf_kind kind;		/* of the recorded program: files for
					 * other processors are never
					 * accepted */
	bool made_up;			/* the trace has invented paths and
					 * build-ids: search only its embedded
					 * files */
	bool no_debuginfod;		/* do not query servers; the cache is
					 * searched nevertheless */
	/*
	 * The embedded files of the trace, tried first; may be NULL. Returns a
	 * descriptor, which the caller closes, of an ELF file with this
	 * build-id, or -1. Called by one thread at a time, not always the same.
	 */
	int (*embedded)(void *owner, const uint8_t *build_id, size_t size);
	/* The same for the files embedded in a sidecar trace. It is slower:
	 * tried last. */
	int (*sidecar)(void *owner, const uint8_t *build_id, size_t size);
	void *embedded_owner;
	/* for hints about missing files; NULL: no hints */
	struct notes *notes;
	/* The number of missing files noted so far, in all searches: after
	 * some, files are not listed. NULL: list all. */
	_Atomic unsigned *missing;
};

struct debugfile_wanted {
	const char *path;		/* at run time */
	const uint8_t *build_id;
	size_t build_id_size;		/* 0: the file had none */
	int pid;			/* of a process that had it mapped and
					 * may be dead; 0: unknown */
};

/*
 * A descriptor of the file itself, or of its debug file (same build-id); -1:
 * not found. *found: its path; the caller frees it. If the binary is missing,
 * or of another build, that is noted.
 */
int debugfile_binary(const struct debugfile_places *places,
		     const struct debugfile_wanted *wanted, char **found);
/* `debuglink`: the name in the .gnu_debuglink section, or NULL. */
int debugfile_debug(const struct debugfile_places *places,
		    const struct debugfile_wanted *wanted,
		    const char *debuglink, char **found);
/*
 * dwz's file, which several debug files share. `wanted` has its build-id, and
 * as path that of .gnu_debugaltlink; `beside` is the file with that section.
 */
int debugfile_alt(const struct debugfile_places *places,
		  const struct debugfile_wanted *wanted, const char *sidecar,
		  char **found);

/*
 * The i-th possible path of a .dwo file, NULL after the last; the caller frees
 * it. `name` and `directory` (may be NULL) are from its unit, `beside` is the
 * unit's file.
 */
char *debugfile_split(const struct debugfile_places *places,
		      const char *sidecar, const char *directory,
		      const char *name, size_t i);

#endif
