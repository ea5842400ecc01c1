/*
 * emit_names.h: NAMES chunks: what the program itself wrote down about code
 * that it made at run time. The writer only, at the end.
 */
#ifndef GNOMON_EMIT_NAMES_H
#define GNOMON_EMIT_NAMES_H

#include <stdint.h>

#include "preload/chunk.h"
#include "preload/compress.h"

/*
 * Copies /tmp/perf-PID.map, if there is one that was written since
 * `since_ns` (CLOCK_REALTIME). Returns the bytes that were left out because
 * the file is too long or holds lines that are.
 */
uint64_t emit_names(struct chunk_out *out, struct compress *compress, int pid,
		    uint64_t since_ns);

#endif
