/*
 * debuginfod.h: downloads files by build-id from debuginfod servers (elfutils),
 * and reads the client's cache.
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

/* The path of the file in the cache; the caller frees it. NULL: there is no
 * cache. */
char *debuginfod_cached(enum debuginfod_kind kind, const uint8_t *build_id,
			size_t size);
/* Query the servers. Returns the path of the file, which the caller frees, or
 * NULL. May take up to DEBUGINFOD_TIMEOUT. An unreachable server is noted
 * once. */
char *debuginfod_fetch(enum debuginfod_kind kind, const uint8_t *build_id,
		       size_t size, struct notes *notes);

#endif
