/*
 * part.h: blocks that were live when a part of a longer recording began. They
 * are born before its first event, each at the time at which it was. Private to
 * the model.
 */
#ifndef GNOMON_PART_H
#define GNOMON_PART_H

#include <stddef.h>
#include <stdint.h>

#include "cli/trace/decode/control_records.h"

struct model;

/* So many allocations of its thread may lie between a block of these and the
 * part's begin: none of them is temporary. */
#define PART_BETWEEN (UINT64_C(1) << 40)

struct part {
	/* Until the first event; `ring` is the thread, threads.list. */
	struct trace_live *blocks;
	size_t count, capacity;
	uint64_t born;		/* how many there were */
};

void part_add(struct model *model, const struct trace_live *block);
/* One of this thread. */
void part_put(struct part *part, const struct trace_live *block,
	      uint32_t thread);
/* All are there: put them into the order of their births. */
void part_sort(struct part *part);
/* The first event is next, or there is none. */
void part_begin(struct model *model);
void part_free(struct part *part);

#endif
