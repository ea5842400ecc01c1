/*
 * rows_facts.h: what a store says of its trace besides rows: numbers that a query
 * needs and that are no sums over rows. All of the whole recording, as far as
 * the store goes.
 */
#ifndef GNOMON_ROWS_FACTS_H
#define GNOMON_ROWS_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/model/rows/rows_pairing.h"
#include "cli/store/store_write.h"

/* How rows are made of events: another one, and stores are made anew. */
#define ROWS_MAKER 2

struct rows_facts {
	uint64_t trace_bytes;	/* of the file when it was read */
	uint64_t trace_digest;	/* of its prefix: rows_trace.h */
	uint64_t trace_damage;	/* likewise: where the prefix was damaged */
	uint64_t events;
	uint64_t last_stamp;	/* of all events: live blocks live until then */
	uint64_t undefined;	/* rows_pairing.h */
	/* The most that was live, as it has it: of the whole recording. */
	uint64_t most_bytes, most_blocks, most_edge, most_stamp;
	bool growing;		/* the trace was being written, and what its live
				 * file had is not in the store */
	/* By number of controls before them (controls.h): those that a view
	 * counts are the ones from its beginning on. Of unpaired and foreign
	 * events the stamp says in which they are. */
	struct rows_stretch *stretches;
	size_t stretch_count;
	/* Events and allocations of threads, by number; those of later ones
	 * are 0. Allocations count what was left out, and more: `between` is
	 * the difference of two. */
	uint64_t *thread_events, *thread_allocations;
	size_t thread_count;
};

/* Of an open store; rows_facts_free in any case. False: they are not as we write
 * them, or cannot be read. */
bool rows_facts_read(struct store *store, struct rows_facts *facts);
void rows_facts_free(struct rows_facts *facts);
void rows_facts_write(const struct rows_facts *facts,
		      struct store_writer *writer);

/* An array as a blob, which may be empty; `thing`: the size of each, *list: of all,
 * to be freed, also if it is false: it is not there, or no such things. */
void rows_array_write(struct store_writer *writer, const char *name,
		      const void *list, size_t size);
bool rows_array_read(struct store *store, const char *name, size_t thing,
		     void *list, size_t *count);

#endif
