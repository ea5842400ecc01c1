/*
 * row_name.c: see row_name.h.
 */
#include "cli/query/row_name.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/base/text/base_name.h"

/* The site of a profile's node. False: it has no frames. */
static bool site_of_node(const struct profile *profile, uint32_t node,
			 struct frame *site)
{
	struct frame *list = NULL;
	size_t capacity = 0, count;
	enum gt_stop stop;

	count = profile_frames_of(profile, node, &list, &capacity, &stop);
	if (count > 0)
		*site = list[frames_site(list, count)];
	free(list);
	return count > 0;
}

static bool find_site(const struct query_rows *rows,
		      const struct query_row *row, struct frame *site)
{
	struct frames *frames = rows->source->frames;

	if (!rows->of_contexts)
		return site_of_node(rows->source->profile, row->node, site);
	frames_of(frames, row->node);
	if (frames->count > 0)
		*site = frames->list[frames->site];
	return frames->count > 0;
}

static void add_site(const struct query_rows *rows,
		     const struct query_row *row, bool full, size_t width,
		     struct buffer *name)
{
	struct frame site;

	if (!find_site(rows, row, &site)) {
		buffer_string(name, "no stack");
		return;
	}
	if (site.function == NULL)
		buffer_string(name, "?? in no file");
	else
		frames_function(&site, full ? SIZE_MAX : width, name);
	if (site.file == NULL)
		return;
	buffer_printf(name, " %s", full ? site.file : base_name(site.file));
	if (site.line > 0)
		buffer_printf(name, ":%u", site.line);
}

void query_row_name(const struct query_rows *rows, const struct query_row *row,
		    bool full, size_t width, struct buffer *name)
{
	const struct query *query = rows->query;
	size_t before = name->size;

	for (unsigned i = 0; i < query->key_count; i++) {
		const struct query_key *key = query->keys[i];
		LOCAL_BUFFER more = { 0 };
		struct query_value value;
		size_t begin;

		if (i > 0)
			buffer_string(name, ", ");
		begin = name->size;
		if (key->text == NULL) {
			add_site(rows, row, full, width, name);
		} else {
			query_row_value(rows, row, i, &value);
			value.full = full;
			value.width = width;
			key->text(&value, name, &more);
		}
		if (name->size == begin)
			buffer_string(name, more.size > 0 ? more.data :
				      key->noun);
		if (key->of == QUERY_OF_STACK)
			buffer_printf(name, " (%s %" PRIu32 ")",
				      rows->of_contexts ? "context" : "stack",
				      row->node);
	}
	if (name->size == before)
		buffer_string(name, "all");
	buffer_printable(name);
}
