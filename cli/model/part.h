/*
 * part.h: blocks that were live when a part of a rotated recording began. They
 * are added before the first event of the part, each with its own allocation
 * time. Private to the model.
 */
#ifndef GNOMON_PART_H
#define GNOMON_PART_H

#include <stddef.h>
#include <stdint.h>

#include "cli/trace/decode/control_records.h"

struct model;

/* This many allocations of the thread are assumed between such a block and the
 * begin of the part, so that none of them is temporary. */
#define PART_BETWEEN (UINT64_C(1) << 40)

struct part {
	/* Until the first event; `ring` is the thread's index in
	 * threads.list. */
	struct trace_live *blocks;
	size_t count, capacity;
	uint64_t born;		/* how many were added */
};

void part_add(struct model *model, const struct trace_live *block);
/* For a known thread. */
void part_put(struct part *part, const struct trace_live *block,
	      uint32_t thread);
/* All blocks were added: sort them by allocation time. */
void part_sort(struct part *part);
/* Add the blocks to the model: the first event is next, or there are none. */
void part_begin(struct model *model);
void part_free(struct part *part);

#endif
