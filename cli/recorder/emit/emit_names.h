/*
 * emit_names.h: NAMES chunks: what the program itself writes down about code
 * that it makes at run time, as it grows: in a map for perf or, where there is
 * none, in a jitdump. The writer only.
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

/* Code that was replaced, told to hooks with one look. */
#define EMIT_NAMES_RANGES 8

struct emit_names {
	struct chunk_out *out;
	struct compress *compress;
	const order_32 *node_count;
	struct gl_shared *shared;
	int pid;
	uint64_t since_ns;	/* CLOCK_REALTIME: the recording's start */
	uint64_t next_ns;	/* of the next look */
	struct compress_past past;
	char *text;		/* NULL before there is anything */
	uint64_t held;		/* bytes in it, the start of a line */
	uint64_t device, inode;	/* of the file that was read */
	uint64_t offset;	/* in it, behind what was read */
	uint64_t taken;		/* bytes of all files */
	uint64_t dropped;
	bool torn;		/* what is held begins inside a line */
	struct emit_dump dump;
	struct code_map *code;
	struct { uint64_t start, end; } replaced[EMIT_NAMES_RANGES];
	unsigned replaced_count;
};

/*
 * The file is /tmp/perf-PID.map; it counts from when it was written since
 * `since_ns`. `node_count`: one past the highest id of a node. shared: where
 * code that was replaced is told of.
 */
void emit_names_init(struct emit_names *e, struct chunk_out *out,
		     struct compress *compress,
		     const order_32 *node_count,
		     struct gl_shared *shared, int pid,
		     uint64_t since_ns);

/*
 * Copies what the file has grown by, if it is time for that (some 3 us), or if
 * `last`. `dump`: the path of the process's jitdump, "" if none is known.
 */
void emit_names_look(struct emit_names *e, const char *dump, uint64_t now_ns,
		     bool last);

/* The trace is another file: everything is copied once more, as it comes. */
void emit_names_again(struct emit_names *e);

/* After the last look: the bytes that were left out because the file is too
 * long or holds lines that are, or a last line that has no end. */
uint64_t emit_names_skipped(const struct emit_names *e);

#endif
