/*
 * model_story.h: what a program did, at random, with all that is to be known
 * of each block, its trace in a file, and figures of any set of its blocks by
 * brute force. A tick is 10 ns; stamps ascend; the recording starts at 0.
 */
#ifndef TESTS_MODEL_STORY_H
#define TESTS_MODEL_STORY_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model/model.h"
#include "cli/trace/decode/memory_records.h"
#include "tests/unit/trace_write.h"

#define STORY_CONTEXTS 12
#define STORY_THREADS 3
#define STORY_SLOTS 120
#define STORY_STEPS 6000
#define STORY_TICK_NS 10
#define STORY_LIVE UINT64_MAX

struct story_block {
	uint64_t alloc, end;	/* stamps; STORY_LIVE: never freed */
	uint64_t size, address;
	uint64_t between;	/* allocations of its thread until its end */
	uint64_t number;	/* of its thread's */
	uint32_t context, thread;
	uint32_t freed_by;	/* a context; of blocks that have ended */
	uint32_t chain, position;	/* chains have their numbers */
	uint16_t layout;
};

/* A beginning or an end, in the order in which they happened. */
struct story_step {
	uint32_t block;
	bool ends;
};

struct story {
	struct story_block blocks[STORY_STEPS];
	uint32_t count;
	struct story_step steps[STORY_STEPS * 2];
	uint32_t step_count;
	struct trace_event events[STORY_THREADS][STORY_STEPS * 2];
	size_t event_count[STORY_THREADS];
	uint64_t numbers[STORY_THREADS];
	uint32_t slot[STORY_SLOTS];	/* block + 1; 0: free */
	uint32_t chains;
	uint64_t stamp;
	uint32_t freer;		/* of the last free or begin of a realloc */
	bool free_stacks;	/* the trace is to tell it */
	uint64_t peak_step;	/* the step that made the global peak */
	char path[32];
};

static inline bool story_frees(unsigned kind)
{
	return kind == GT_FREE || kind == GT_REALLOC_BEGIN;
}

static inline void story_event(struct story *s, uint32_t thread, unsigned kind,
			       const struct story_block *block)
{
	bool makes = kind == GT_ALLOC || kind == GT_REALLOC_DONE;

	if (story_frees(kind))
		s->freer = (uint32_t)((block->address >> 6) + s->stamp / 7) %
			   STORY_CONTEXTS;
	s->events[thread][s->event_count[thread]++] = (struct trace_event){
		.stamp = s->stamp,
		.address = block->address,
		.size = makes ? block->size : 0,
		.context = makes ? GT_STOP_COUNT + block->context :
			   story_frees(kind) ? GT_STOP_COUNT + s->freer : 0,
		.layout = makes ? block->layout : 0,
		.kind = (uint8_t)kind,
	};
}

static inline struct story_block *story_alloc(struct story *s, uint32_t slot,
					      uint32_t thread)
{
	static const uint16_t layouts[] = {
		0, GT_LAYOUT_KNOWN, GT_LAYOUT_KNOWN | GT_LAYOUT_OTHER,
		GT_LAYOUT_KNOWN | GT_LAYOUT_MMAPPED,
	};
	struct story_block *block = &s->blocks[s->count];

	*block = (struct story_block){
		.alloc = s->stamp,
		.end = STORY_LIVE,
		.size = (uint64_t)(rand() % 8 == 0 ? rand() % 50000 :
				   rand() % 400),
		.address = 0x10000 + (uint64_t)slot * 0x40,
		.number = ++s->numbers[thread],
		.context = (uint32_t)rand() % STORY_CONTEXTS,
		.thread = thread,
		.chain = s->chains,
		.position = 1,
		.layout = layouts[rand() % 4],
	};
	s->chains++;
	s->slot[slot] = s->count + 1;
	s->steps[s->step_count++] = (struct story_step){ s->count++, false };
	return block;
}

static inline void story_end(struct story *s, uint32_t slot)
{
	uint32_t i = s->slot[slot] - 1;
	struct story_block *block = &s->blocks[i];

	block->end = s->stamp;
	block->freed_by = s->freer;
	block->between = s->numbers[block->thread] - block->number;
	s->slot[slot] = 0;
	s->steps[s->step_count++] = (struct story_step){ i, true };
}

static inline void story_realloc(struct story *s, uint32_t slot,
				 uint32_t thread)
{
	struct story_block old = s->blocks[s->slot[slot] - 1], *block;
	uint32_t to = (uint32_t)rand() % STORY_SLOTS;

	story_event(s, thread, GT_REALLOC_BEGIN, &old);
	s->stamp += 3;
	if (rand() % 10 == 0) {
		story_event(s, thread, GT_REALLOC_FAILED, &old);
		return;
	}
	if (rand() % 20 == 0) {
		story_end(s, slot);
		story_event(s, thread, GT_REALLOC_FREED, &old);
		return;
	}
	if (s->slot[to] != 0)
		to = slot;
	story_end(s, slot);
	block = story_alloc(s, to, thread);
	block->chain = old.chain;
	block->position = old.position + 1;
	story_event(s, thread, GT_REALLOC_DONE, block);
}

static inline void story_peak(struct story *s)
{
	uint64_t live = 0, peak = 0;

	for (uint32_t i = 0; i < s->step_count; i++) {
		const struct story_step *step = &s->steps[i];
		uint64_t size = s->blocks[step->block].size;

		live += step->ends ? -size : size;
		if (live > peak) {
			peak = live;
			s->peak_step = i;
		}
	}
}

static inline struct story *story_new(unsigned seed)
{
	struct story *s = calloc(1, sizeof(*s));

	srand(seed);
	for (unsigned step = 0; s->count < STORY_STEPS - 2 &&
	     step < STORY_STEPS; step++) {
		uint32_t slot = (uint32_t)rand() % STORY_SLOTS;
		uint32_t thread = (uint32_t)rand() % STORY_THREADS;
		unsigned grow = step / 700 % 3;

		s->stamp += 10 + (uint64_t)(rand() % 100 == 0 ? 5000 : 0);
		if (s->slot[slot] == 0) {
			if ((unsigned)rand() % 3 >= grow)
				story_event(s, thread, GT_ALLOC,
					    story_alloc(s, slot, thread));
		} else if (rand() % 3 == 0) {
			story_realloc(s, slot, thread);
		} else if ((unsigned)rand() % 3 < grow + 1) {
			story_event(s, thread, GT_FREE,
				    &s->blocks[s->slot[slot] - 1]);
			story_end(s, slot);
		}
	}
	s->stamp = 0;		/* of the last event */
	for (unsigned i = 0; i < STORY_THREADS; i++) {
		const struct trace_event *last =
			&s->events[i][s->event_count[i] - 1];

		if (last->stamp > s->stamp)
			s->stamp = last->stamp;
	}
	story_peak(s);
	return s;
}

static inline void story_snapshot(struct trace_write *t, const char *name,
				  uint64_t number, uint64_t stamp)
{
	struct trace_snapshot snapshot = {
		.number = number, .kind = GT_SNAPSHOT_ASKED,
		.begin = stamp, .end = stamp, .name = name,
		.name_size = strlen(name), .arenas = GT_ARENAS_FOREIGN,
	};
	struct buffer payload = { 0 };

	compose_varint(&payload, GT_SNAPSHOT_TAKEN);
	compose_varint(&payload, snapshot.number);
	compose_varint(&payload, snapshot.kind);
	compose_varint(&payload, snapshot.flags);
	compose_varint(&payload, snapshot.begin);
	compose_varint(&payload, snapshot.end);
	compose_varint(&payload, 0);
	compose_varint(&payload, snapshot.name_size);
	buffer_add(&payload, name, snapshot.name_size);
	compose_varint(&payload, snapshot.arenas);
	trace_write_chunk(t, (struct chunk){ .type = GT_SNAPSHOT }, &payload);
}

static inline void story_forget_freers(struct story *s)
{
	for (unsigned i = 0; i < STORY_THREADS; i++)
		for (size_t k = 0; k < s->event_count[i]; k++)
			if (story_frees(s->events[i][k].kind))
				s->events[i][k].context = 0;
}

/* The trace, with snapshots "one", "two", "three" after a quarter, a half and
 * three quarters; threads have tids 100, 101 … and names "t0", "t1" … To be
 * unlinked. */
static inline void story_write(struct story *s, const char *sample)
{
	static const char *const names[] = { "one", "two", "three" };
	struct buffer payload = { 0 };
	struct trace_write t;

	trace_write_begin(&t);
	if (s->free_stacks)
		trace_write_line(&t, GT_INFO, "free_stacks", "1");
	else
		story_forget_freers(s);
	trace_write_line(&t, GT_INFO, "start_monotonic_ns", "0");
	trace_write_line(&t, GT_INFO, "pid", "77");
	trace_write_line(&t, GT_INFO, "exe", "/bin/story");
	if (sample != NULL)
		trace_write_line(&t, GT_INFO, "sample", sample);
	trace_write_sync(&t, 0);
	for (uint32_t i = 0; i < STORY_CONTEXTS; i++)
		compose_nodes(&payload, &(struct trace_node){
			GT_STOP_COUNT + i, 0, 0x1000 + i }, 1, 0),
		trace_write_chunk(&t, (struct chunk){ .type = GT_CONTEXT },
				  &payload);
	for (uint32_t i = 0; i < STORY_THREADS; i++) {
		char name[] = { 't', (char)('0' + i), 0 };

		compose_thread(&payload, &(struct trace_thread){
			.what = GT_THREAD_START, .ring = i, .tid = 100 + i,
			.name = name, .name_size = 2 });
		trace_write_chunk(&t, (struct chunk){ .type = GT_THREAD },
				  &payload);
	}
	for (uint32_t i = 0; i < STORY_THREADS; i++)
		trace_write_events(&t, i, 0, 0, s->events[i],
				   s->event_count[i], 0);
	for (uint32_t i = 0; i < 3; i++)
		story_snapshot(&t, names[i], i + 1, s->stamp * (i + 1) / 4);
	trace_write_sync(&t, s->stamp);
	trace_write_line(&t, GT_END, "reason", "exit");
	strcpy(s->path, "/tmp/gnomon-unit-XXXXXX");
	trace_write_file(&t, s->path);
	buffer_free(&t.bytes);
}

static inline void story_free(struct story *s)
{
	if (s->path[0] != 0)
		unlink(s->path);
	free(s);
}

/* ---- brute force ---- */

struct story_figures {
	uint64_t count, total_bytes, frees, temporary;
	uint64_t live_blocks, live_bytes, peak_blocks, peak_bytes;
	uint64_t own_peak_blocks, own_peak_bytes, own_peak_stamp;
	uint64_t first, last;
	double lifetime;	/* ticks */
	uint64_t freed_bytes;
};

/* Of the blocks of which `wanted` is set, and `key` is the given one. */
static inline struct story_figures
story_figures(const struct story *s, const bool *wanted,
	      uint64_t (*key_of)(const struct story_block *), uint64_t key,
	      uint64_t temporary)
{
	struct story_figures f = { 0 };

	for (uint32_t i = 0; i < s->step_count; i++) {
		const struct story_step *step = &s->steps[i];
		const struct story_block *block = &s->blocks[step->block];

		if (wanted[step->block] && key_of(block) == key) {
			if (step->ends) {
				f.frees++;
				f.freed_bytes += block->size;
				f.live_blocks--;
				f.live_bytes -= block->size;
				f.lifetime += (double)(block->end -
						       block->alloc);
				f.temporary += block->between <= temporary;
			} else {
				f.first = f.count++ == 0 ? block->alloc :
					f.first;
				f.last = block->alloc;
				f.total_bytes += block->size;
				f.live_blocks++;
				f.live_bytes += block->size;
			}
			if (f.live_bytes > f.own_peak_bytes) {
				f.own_peak_bytes = f.live_bytes;
				f.own_peak_blocks = f.live_blocks;
				f.own_peak_stamp = block->alloc;
			}
		}
		if (i == s->peak_step) {
			f.peak_blocks = f.live_blocks;
			f.peak_bytes = f.live_bytes;
		}
	}
	return f;
}

static inline uint64_t story_context(const struct story_block *block)
{
	return block->context;
}

#endif
