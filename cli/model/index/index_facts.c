/*
 * index_facts.c: see index_facts.h. Numbers are facts of the index; arrays are
 * blobs of 64-bit numbers in the machine's byte order, as everywhere in an
 * index.
 */
#include "cli/model/index/index_facts.h"

#include <stdlib.h>
#include <string.h>

static const struct fact_place {
	const char *name;
	size_t at;
} places[] = {
	{ "trace_bytes", offsetof(struct index_facts, trace_bytes) },
	{ "trace_digest", offsetof(struct index_facts, trace_digest) },
	{ "trace_damage", offsetof(struct index_facts, trace_damage) },
	{ "events", offsetof(struct index_facts, events) },
	{ "last_stamp", offsetof(struct index_facts, last_stamp) },
	{ "undefined", offsetof(struct index_facts, undefined) },
	{ "most_bytes", offsetof(struct index_facts, most_bytes) },
	{ "most_blocks", offsetof(struct index_facts, most_blocks) },
	{ "most_edge", offsetof(struct index_facts, most_edge) },
	{ "most_stamp", offsetof(struct index_facts, most_stamp) },
};

#define PLACES (sizeof(places) / sizeof(places[0]))

void index_array_write(struct store_writer *writer, const char *name,
		       const void *list, size_t size)
{
	store_writer_blob(writer, name, size > 0 ? list : "", size);
}

void index_facts_write(const struct index_facts *facts,
		       struct store_writer *writer)
{
	size_t threads = facts->thread_count * sizeof(uint64_t);

	for (size_t i = 0; i < PLACES; i++)
		store_writer_fact(writer, places[i].name,
				  *(const uint64_t *)((const char *)facts +
						      places[i].at));
	store_writer_fact(writer, "growing", facts->growing);
	index_array_write(writer, "stretches", facts->stretches,
	     facts->stretch_count * sizeof(*facts->stretches));
	index_array_write(writer, "thread_events", facts->thread_events,
			  threads);
	index_array_write(writer, "thread_allocations",
			  facts->thread_allocations, threads);
}

bool index_array_read(struct store *store, const char *name, size_t thing,
		      void *list, size_t *count)
{
	size_t size = 0;
	void *bytes = store_blob(store, name, &size);

	memcpy(list, &bytes, sizeof(bytes));
	*count = size / thing;
	return bytes != NULL && size % thing == 0;
}

bool index_facts_read(struct store *store, struct index_facts *facts)
{
	uint64_t growing = 0;
	size_t allocating;

	memset(facts, 0, sizeof(*facts));
	for (size_t i = 0; i < PLACES; i++)
		if (!store_fact(store, places[i].name,
				(uint64_t *)((char *)facts + places[i].at)))
			return false;
	if (!store_fact(store, "growing", &growing) ||
	    !index_array_read(store, "stretches", sizeof(*facts->stretches),
		   &facts->stretches, &facts->stretch_count) ||
	    !index_array_read(store, "thread_events", sizeof(uint64_t),
		   &facts->thread_events, &facts->thread_count) ||
	    !index_array_read(store, "thread_allocations", sizeof(uint64_t),
		   &facts->thread_allocations, &allocating))
		return false;
	facts->growing = growing != 0;
	return allocating == facts->thread_count;
}

void index_facts_free(struct index_facts *facts)
{
	free(facts->stretches);
	free(facts->thread_events);
	free(facts->thread_allocations);
	memset(facts, 0, sizeof(*facts));
}
