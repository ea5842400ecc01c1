/*
 * emit_info.h: writes the text chunks: INFO at the start, COUNTERS and END at
 * the end. The recorder only.
 */
#ifndef GNOMON_EMIT_INFO_H
#define GNOMON_EMIT_INFO_H

#include "cli/recorder/control_socket.h"
#include "cli/recorder/ring_drain.h"
#include "cli/recorder/live/live.h"
#include "cli/recorder/memory/maps_watch.h"
#include "cli/recorder/output/output.h"
#include "cli/recorder/memory/usage.h"

struct embedder;

struct emit_info {
	struct recording *r;
	struct chunk_out *out;
	const struct live *live;
	const struct output *output;
	const struct usage *usage;
	const struct maps_watch *maps;
	const struct control_socket *socket;
	const struct embedder *embed;
	const char *exe;
	uint64_t part;		/* with --limit: from 1; else 0 */
	char *command;		/* as it was at first; NULL: not read yet */
	long command_length;
	uint64_t names_skipped;	/* see emit_names_skipped */
};

void emit_info_start(struct emit_info *info);

/* Adds to INFO what was unknown at the start: from now on blocks are left out
 * by choice. left_out: live blocks that this part does not list (0: not that
 * case). */
void emit_info_partial(struct chunk_out *out, uint64_t left_out);

void emit_info_counters(const struct emit_info *info,
			const struct ring_drain *drain);

/* reason: exit, exec, stopped, error; message may be NULL; exit_code < 0:
 * not known. */
void emit_info_end(const struct emit_info *info, const struct ring_drain *drain,
		   const char *reason, const char *message, int exit_code);

#endif
