/*
 * index_facts.h: facts in the index besides its rows: numbers that queries need
 * and that are no sums over rows. All are for the whole recording, up to the
 * end of the index.
 */
#ifndef GNOMON_INDEX_FACTS_H
#define GNOMON_INDEX_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/model/index/index_pairing.h"
#include "cli/store/store_write.h"

/* Version of how rows are made from events: if it changes, indexes are made
 * anew. */
#define INDEX_MAKER 2

struct index_facts {
	uint64_t trace_bytes;	/* size of the file when it was read */
	uint64_t trace_digest;	/* of these bytes: index_trace.h */
	uint64_t trace_damage;	/* likewise: where they were damaged */
	uint64_t events;
	uint64_t last_stamp;	/* of all events: the end of live blocks'
				 * lifetimes */
	uint64_t undefined;	/* index_pairing.h */
	/* The peak of the whole recording, as in struct index_peak. */
	uint64_t most_bytes, most_blocks, most_edge, most_stamp;
	bool growing;		/* the trace was being written, and events in
				 * its live file are not in the index */
	/* By number of controls before them (controls.h): a view counts those
	 * from its begin on. Unpaired and foreign events are counted by their
	 * stamp. */
	struct index_stretch *stretches;
	size_t stretch_count;
	/* Events and allocations of threads, by number; 0 for later threads.
	 * Allocations include those left out: `between` is the difference of
	 * two of them. */
	uint64_t *thread_events, *thread_allocations;
	size_t thread_count;
};

/* Reads the facts of an open index; call index_facts_free in any case. False:
 * they have another format, or cannot be read. */
bool index_facts_read(struct store *store, struct index_facts *facts);
void index_facts_free(struct index_facts *facts);
void index_facts_write(const struct index_facts *facts,
		       struct store_writer *writer);

/* An array as a blob, which may be empty. `thing`: size of an element. *list:
 * all elements, to be freed even if false is returned: the blob is missing or
 * has another element size. */
void index_array_write(struct store_writer *writer, const char *name,
		       const void *list, size_t size);
bool index_array_read(struct store *store, const char *name, size_t thing,
		      void *list, size_t *count);

#endif
