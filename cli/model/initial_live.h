/*
 * initial_live.h: blocks that were live when a part of a rotated recording
 * began. They are added before the first event of the part, each with its own
 * allocation time. Private to the model.
 */
#ifndef GNOMON_INITIAL_LIVE_H
#define GNOMON_INITIAL_LIVE_H

#include <stddef.h>
#include <stdint.h>

#include "cli/trace/decode/control_records.h"

struct model;

/* This many allocations of the thread are assumed between such a block and the
 * begin of the part, so that none of them is temporary. */
#define INITIAL_LIVE_BETWEEN (UINT64_C(1) << 40)

struct initial_live {
	/* Until the first event; `ring` is the thread's index in
	 * threads.list. */
	struct trace_live *blocks;
	size_t count, capacity;
	uint64_t added;		/* in all */
};

void initial_live_add(struct model *model, const struct trace_live *block);
/* For a known thread. */
void initial_live_put(struct initial_live *part, const struct trace_live *block,
		      uint32_t thread);
/* All blocks were added: sort them by allocation time. */
void initial_live_sort(struct initial_live *part);
/* Add the blocks to the model: the first event is next, or there are none. */
void initial_live_begin(struct model *model);
void initial_live_free(struct initial_live *part);

#endif
