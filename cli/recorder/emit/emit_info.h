/*
 * emit_info.h: the text chunks: INFO at the start, COUNTERS and END at the
 * end. The writer only.
 */
#ifndef GNOMON_EMIT_INFO_H
#define GNOMON_EMIT_INFO_H

#include "cli/recorder/control_socket.h"
#include "cli/recorder/feed.h"
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
	uint64_t part;		/* of a recording in parts, from 1; 0 */
	char *command;		/* as it was at first; NULL: not read yet */
	long command_length;
	uint64_t names_skipped;	/* see emit_names_skipped */
};

void emit_info_start(struct emit_info *info);

/* What was not known then: from now on blocks are left out by choice; or so
 * many were live when a part began, and are not told (0: no such thing). */
void emit_info_partial(struct chunk_out *out, uint64_t left_out);

void emit_info_counters(const struct emit_info *info,
			const struct feed *feed);

/* reason: exit, exec, stopped, error; message may be NULL; exit_code < 0:
 * not known. */
void emit_info_end(const struct emit_info *info, const struct feed *feed,
		   const char *reason, const char *message, int exit_code);

#endif
