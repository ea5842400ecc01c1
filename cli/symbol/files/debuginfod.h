/*
 * debuginfod.h: files by build-id from elfutils' servers, and the cache that
 * its client keeps.
 *
 * The network is used only if DEBUGINFOD_URLS is set. Thread context: any.
 */
#ifndef GNOMON_DEBUGINFOD_H
#define GNOMON_DEBUGINFOD_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#include "cli/base/notes.h"

enum debuginfod_kind { DEBUGINFOD_EXECUTABLE, DEBUGINFOD_DEBUG };

/* Where the cache would have it; to be freed. NULL: there is no cache. */
char *debuginfod_cached(enum debuginfod_kind kind, const uint8_t *build_id,
			size_t size);
/* Ask the servers; the path of the file, to be freed, or NULL. May take as
 * long as DEBUGINFOD_TIMEOUT. That they cannot be asked is noted once. */
char *debuginfod_fetch(enum debuginfod_kind kind, const uint8_t *build_id,
		       size_t size, struct notes *notes);

#endif
