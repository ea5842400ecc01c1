/*
 * writer_task.h: what the parts of the writer share. The task itself, but for
 * writer_task and writer_wait.
 */
#ifndef GNOMON_WRITER_TASK_H
#define GNOMON_WRITER_TASK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "preload/control_format.h"
#include "preload/birth.h"
#include "preload/books.h"
#include "preload/chunk.h"
#include "preload/compress.h"
#include "preload/control.h"
#include "preload/control_socket.h"
#include "preload/embedder.h"
#include "preload/emit_heap.h"
#include "preload/emit_image.h"
#include "preload/emit_info.h"
#include "preload/emit_names.h"
#include "preload/emit_node.h"
#include "preload/encode.h"
#include "preload/feed.h"
#include "preload/foreign.h"
#include "preload/live.h"
#include "preload/maps_watch.h"
#include "preload/output.h"
#include "preload/pool.h"
#include "preload/pressure.h"
#include "preload/recorder.h"
#include "preload/reporter.h"
#include "preload/seccomp.h"
#include "preload/snapshot.h"
#include "preload/target.h"
#include "preload/usage.h"

struct writer {
	struct recorder *r;
	struct live live;
	struct output output;
	struct chunk_out out;
	struct compress compress;
	struct encode encode;
	struct emit_node nodes;
	struct emit_image images;
	struct emit_heap heaps;
	struct emit_names names;
	struct pool pool;
	struct feed feed;
	struct emit_info info;
	struct maps_watch maps;
	struct usage usage;
	struct snapshot snapshot;
	struct embedder embed;
	struct control control;
	struct pressure pressure;
	struct control_socket socket;
	struct books books;
	struct reporter reporter;
	struct target target;
	struct birth birth;
	bool again;		/* another task has begun what this goes on with */
	struct seccomp_watch seccomp;
	gid_t *groups;		/* serve.c; NULL until there are many */
	struct foreign foreign;
	uint64_t start_ns;
	bool told_drops;
	bool told_mutes;
	bool gave_up;		/* the trace lacks what the live file has */
	uint64_t looked_ns;
	uint64_t nap_ns;
	char exe[GT_PATH_MAX];
};

/* ---- writer.c ---- */

/* All its life. `arg` is a struct writer whose recorder and birth are set. */
void writer_task(void *arg);

/* ---- writer_begin.c ---- */

/* Everything up to the first event. 0, or -errno: the recorder's message says
 * what is wrong. */
int writer_begin(struct writer *w);

/* Goes on with what the task that stepped aside had open. */
void writer_take_up(struct writer *w);

/* Memory that threads fill by themselves is made ahead of them. */
void writer_reserve(struct writer *w);

/* ---- writer_say.c ---- */

/* Once for each: that events are dropped, and that a thread has forbidden
 * itself the counter. */
void writer_say_drops(struct writer *w);
void writer_say_mutes(struct writer *w);

/* Whether the program brings an allocator that is not seen. Begins once in a
 * program, not in its forked children; then looked at in each round, until it
 * is clear: writer_hear waits for that. */
void writer_foreign_begin(struct writer *w);
void writer_foreign_look(struct writer *w, uint64_t now_ns);

#endif
