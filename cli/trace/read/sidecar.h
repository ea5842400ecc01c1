/*
 * sidecar.h: sidecar traces: embedded files that a trace shares with another
 * trace in the same directory: the trace of the process it was forked from, or
 * the one common to its parts.
 *
 * Only the last component of the recorded name is used, so that a trace cannot
 * refer outside its own directory.
 */
#ifndef GNOMON_SIDECAR_H
#define GNOMON_SIDECAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/trace/read/embedded.h"

/* A sidecar trace; zero it first. It is read at the first sidecar_open. */
struct sidecar {
	bool looked;
	char *trace;		/* NULL: there is none */
	uint64_t trace_id;
	struct embedded list;
};

/* The file with this build-id, as embedded_open returns it; -ENOENT: none.
 * `recorded`: the sidecar's name as `trace` records it; NULL: it has no
 * sidecar. */
int sidecar_open(struct sidecar *sidecar, const char *trace,
		 const char *recorded, const uint8_t *build_id, size_t size);
void sidecar_free(struct sidecar *sidecar);

#endif
