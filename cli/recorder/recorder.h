/*
 * recorder.h: the recorder's state, and functions that its files share.
 */
#ifndef GNOMON_RECORDER_H
#define GNOMON_RECORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/command/control_format.h"
#include "cli/recorder/live_blocks/tracker.h"
#include "cli/recorder/emit/chunk.h"
#include "cli/recorder/emit/compress.h"
#include "cli/recorder/control.h"
#include "cli/recorder/control_socket.h"
#include "cli/recorder/embed/embedder.h"
#include "cli/recorder/emit/emit_heap.h"
#include "cli/recorder/emit/emit_image.h"
#include "cli/recorder/emit/emit_info.h"
#include "cli/recorder/emit/emit_names.h"
#include "cli/recorder/emit/emit_node.h"
#include "cli/recorder/emit/encode.h"
#include "cli/recorder/ring_drain.h"
#include "cli/recorder/embed/static_allocator.h"
#include "cli/recorder/live/live.h"
#include "cli/recorder/memory/maps_watch.h"
#include "cli/recorder/output/output.h"
#include "cli/recorder/live/ring_pool.h"
#include "cli/recorder/memory/pressure.h"
#include "cli/recorder/base/recording.h"
#include "cli/recorder/output/reporter.h"
#include "cli/recorder/process/seccomp_watch.h"
#include "cli/recorder/memory/snapshot.h"
#include "cli/recorder/process/target.h"
#include "cli/recorder/memory/usage.h"

struct recorder {
	struct recording recording;
	struct recording *r;	/* &recording */
	struct live live;
	struct output output;
	struct chunk_out out;
	struct compress compress;
	struct encode encode;
	struct emit_node nodes;
	struct emit_image images;
	struct emit_heap heaps;
	struct emit_names names;
	struct ring_pool pool;
	struct ring_drain drain;
	struct emit_info info;
	struct maps_watch maps;
	struct usage usage;
	struct snapshot snapshot;
	struct embedder embed;
	struct control control;
	struct pressure pressure;
	struct control_socket socket;
	struct tracker tracker;
	struct reporter reporter;
	struct target target;
	struct seccomp_watch seccomp;
	gid_t *groups;		/* requests.c; NULL until a long list comes */
	struct static_allocator static_allocator;
	uint64_t start_ns;
	bool reported_drops;
	bool reported_mutes;
	bool late;		/* the target ended before the recorder
				 * started */
	bool gave_up;		/* the live file has events that the trace
				 * lacks */
	uint64_t looked_ns;
	uint32_t last;		/* number of the final scan requested */
	uint64_t last_ns;	/* when that scan was made */
	uint64_t nap_ns;
	char exe[GT_PATH_MAX];
};

/* ---- recorder.c ---- */

/* Runs the recorder until the recording ends. The live mapping is attached, and
 * rec->recording has the data that the target sent. */
void recorder_run(struct recorder *rec);

/* ---- recorder_begin.c ---- */

/* Does everything up to the first event. 0, or -errno with the recorder's
 * message set. */
int recorder_begin(struct recorder *rec);

/* Call when the recording has started or failed to start: prints messages about
 * that, and closes the target's descriptors. */
void recorder_log_start(struct recorder *rec);

/* Reserves memory for nodes, images and heap names before target threads need
 * it. */
void recorder_reserve(struct recorder *rec);

/* ---- recorder_warn.c ---- */

/* Report, once each, that events are dropped, and that a thread has disabled
 * the counter for itself. */
void recorder_warn_drops(struct recorder *rec);
void recorder_warn_mutes(struct recorder *rec);

/* Checks whether the program has a static allocator that no hook sees. Begins
 * once in a program, not in its forked children; then called in each round
 * until the answer is known. */
void recorder_static_begin(struct recorder *rec);
void recorder_static_poll(struct recorder *rec, uint64_t now_ns);

#endif
