/*
 * emit_names.h: writes NAMES chunks: names of JIT-compiled code. The program
 * writes them to a perf map or, without one, to a jitdump, which is read as it
 * grows. The recorder only.
 */
#ifndef GNOMON_EMIT_NAMES_H
#define GNOMON_EMIT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/recorder/emit/chunk.h"
#include "cli/recorder/emit/code_map.h"
#include "cli/recorder/emit/compress.h"
#include "cli/recorder/emit/emit_dump.h"
#include "preload/ring/shared.h"

/* Ranges of replaced code that one check may report to hooks. */
#define EMIT_NAMES_RANGES 8

struct emit_names {
	struct chunk_out *out;
	struct compress *compress;
	const order_32 *node_count;
	struct gl_shared *shared;
	int pid;
	uint64_t since_ns;	/* CLOCK_REALTIME: the recording's start */
	uint64_t next_ns;	/* when to check next */
	struct compress_past past;
	char *text;		/* NULL before there is anything */
	uint64_t held;		/* bytes in it: an incomplete line */
	uint64_t device, inode;	/* of the file that was read */
	uint64_t offset;	/* in that file, up to which it was read */
	uint64_t taken;		/* bytes of all files */
	uint64_t dropped;
	bool torn;		/* the held bytes begin inside a line */
	struct emit_dump dump;
	struct code_map *code;
	struct { uint64_t start, end; } replaced[EMIT_NAMES_RANGES];
	unsigned replaced_count;
};

/*
 * The file is /tmp/perf-PID.map. It is used once it has been written after
 * `since_ns`. `node_count`: one past the highest node id. shared: receives
 * ranges of replaced code.
 */
void emit_names_init(struct emit_names *e, struct chunk_out *out,
		     struct compress *compress,
		     const order_32 *node_count,
		     struct gl_shared *shared, int pid,
		     uint64_t since_ns);

/*
 * Copies new bytes of the file, if a check is due (some 3 us) or `last` is set.
 * `dump`: the path of the process's jitdump, "" if none is known.
 */
void emit_names_poll(struct emit_names *e, const char *dump, uint64_t now_ns,
		     bool last);

/* The trace continues in another file: copies everything again, over time. */
void emit_names_again(struct emit_names *e);

/* After the last check: bytes left out because the file or a line is too long,
 * or because the last line has no end. */
uint64_t emit_names_skipped(const struct emit_names *e);

#endif
