/*
 * query.c: see query.h. Called by the main thread.
 */
#include "cli/query/query.h"

#include <string.h>

#include "unwind/base/assertion.h"

static bool add_key(struct query *query, const char *name, size_t size,
		    struct buffer *why)
{
	const struct query_key *key = query_key_find(name, size);

	if (key == NULL && size == strlen("block") &&
	    memcmp(name, "block", size) == 0) {
		buffer_string(why, "'block' cannot be combined with others: "
			      "each row is one block");
		return false;
	}
	if (key == NULL) {
		buffer_printf(why, "'%.*s' is no key to group by: there are",
			      (int)size, name);
		for (unsigned i = 0; i < query_key_count; i++)
			buffer_printf(why, "%s %s", i ? "," : "",
				      query_keys[i].name);
		return false;
	}
	for (unsigned i = 0; i < query->key_count; i++)
		if (query->keys[i] == key) {
			buffer_printf(why, "'%s' is given twice", key->name);
			return false;
		}
	if (query->key_count == QUERY_KEYS_MAX) {
		buffer_printf(why, "groups have %d keys at most",
			      QUERY_KEYS_MAX);
		return false;
	}
	query->keys[query->key_count++] = key;
	return true;
}

static bool fit(const struct query *query, struct buffer *why)
{
	unsigned inclusive = 0, blocks = 0, stacks = 0;

	for (unsigned i = 0; i < query->key_count; i++) {
		inclusive += query->keys[i]->inclusive;
		blocks += query->keys[i]->of == QUERY_OF_BLOCK;
		stacks += query->keys[i]->of == QUERY_OF_STACK ||
			  query->keys[i]->of == QUERY_OF_SITE;
	}
	if (inclusive > 1)
		buffer_string(why, "only one key that begins with 'within-' "
			      "can be used");
	else if (stacks > 1)
		buffer_string(why, "a stack already has one site: leave out "
				   "'site'");
	else if (blocks > BLOCK_KEYS_MAX)
		buffer_printf(why, "groups have %d keys at most that are about "
			      "blocks", BLOCK_KEYS_MAX);
	else
		return true;
	return false;
}

bool query_parse_keys(struct query *query, const char *names,
		      struct buffer *why)
{
	query->key_count = 0;
	for (;;) {
		size_t size = strcspn(names, ",");

		if (!add_key(query, names, size, why))
			return false;
		if (names[size] == 0)
			return fit(query, why);
		names += size + 1;
	}
}

void query_key_names(const struct query *query, struct buffer *names)
{
	for (unsigned i = 0; i < query->key_count; i++)
		buffer_printf(names, "%s%s", i ? "," : "",
			      query->keys[i]->name);
}

bool query_has(const struct query *query, enum query_of of)
{
	for (unsigned i = 0; i < query->key_count; i++)
		if (query->keys[i]->of == of)
			return true;
	return false;
}

bool query_has_block_key(const struct query *query, enum block_key key)
{
	for (unsigned i = 0; i < query->key_count; i++)
		if (query->keys[i]->of == QUERY_OF_BLOCK &&
		    query->keys[i]->block == key)
			return true;
	return false;
}

bool query_is(const struct query *query, enum query_of of)
{
	return query->key_count == 1 && query->keys[0]->of == of;
}

const struct query_key *query_inclusive(const struct query *query)
{
	for (unsigned i = 0; i < query->key_count; i++)
		if (query->keys[i]->inclusive)
			return query->keys[i];
	return NULL;
}

void query_block_keys(const struct query *query, struct block_keys *keys)
{
	keys->count = 0;
	for (unsigned i = 0; i < query->key_count; i++)
		if (query->keys[i]->of == QUERY_OF_BLOCK) {
			ASSERT(keys->count < BLOCK_KEYS_MAX);
			keys->list[keys->count++] = query->keys[i]->block;
		}
}

struct model_options query_model_options(const struct query *query)
{
	return (struct model_options){
		.wants = query->wants,
		.temporary = query->temporary,
		.filter = query->filter,
		.groups_max = query->groups_max,
		.until_ns = query->until_ns,
		.begin_ns = query->begin_ns,
	};
}

struct index_wanted query_rows_wanted(const struct query *query)
{
	struct index_wanted wanted = index_all;

	/* filters may need them, too */
	if (query->spares & QUERY_SPARES_OWN_PEAKS &&
	    query->order != MEASURE_OWN_PEAK &&
	    !filter_has(query->filter, FILTER_GROUP_PEAK_TIME_MIN,
			FILTER_GROUP_PEAK_TIME_MAX))
		wanted.figures &= ~(1u << MEASURE_OWN_PEAK);
	wanted.sizes = !(query->spares & QUERY_SPARES_SIZES);
	wanted.whole = !(query->spares & QUERY_SPARES_WHOLE);
	wanted.blocks = !(query->spares & QUERY_SPARES_BLOCKS);
	wanted.merged = query->spares & QUERY_SPARES_STACKS &&
			!filter_has_stacks(query->filter);
	return wanted;
}

bool query_is_of_moment(const struct query *query)
{
	return filter_word(query->filter, FILTER_ALIVE_AT, 0) != NULL;
}

bool query_needs_profile(const struct query *query)
{
	return query_has(query, QUERY_OF_FRAME);
}

const char *query_noun(const struct query *query, uint64_t count)
{
	const struct query_key *key = query->keys[0];

	if (query->key_count != 1)
		return count == 1 ? "group" : "groups";
	return count == 1 ? key->noun : key->plural;
}
