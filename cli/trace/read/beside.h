/*
 * beside.h: files that a trace refers to in another one, which lies beside it:
 * the one of the process it was forked from, or what its parts have in common.
 *
 * Only the last name of what was recorded counts, so that a trace cannot lead
 * out of its own directory.
 */
#ifndef GNOMON_BESIDE_H
#define GNOMON_BESIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/trace/read/embedded.h"

/* One trace beside another; zeroed at first. It is read when a file is first
 * asked for. */
struct beside {
	bool looked;
	char *trace;		/* NULL: it is not there */
	uint64_t trace_id;
	struct embedded list;
};

/* The file with this build-id, as embedded_open gives it; -ENOENT: none.
 * `recorded`: what `trace` calls the other one, NULL: it refers to none. */
int beside_open(struct beside *beside, const char *trace,
		const char *recorded, const uint8_t *build_id, size_t size);
void beside_free(struct beside *beside);

#endif
