/*
 * collapsed.c: Brendan Gregg's "folded" stacks, for flamegraph.pl and
 * compatible tools. A line is a stack, outermost frame first, frames separated
 * by semicolons, then a space and a number. In names, a semicolon becomes a
 * colon, as in other tools, and a line break becomes a space. Names may contain
 * spaces: the number follows the last space.
 */
#include "cli/export/exporters.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/status.h"

/* A level of the path from the root to the current node. */
struct level {
	uint32_t end;		/* the first node outside its subtree */
	size_t size;		/* length of the line including it */
};

struct path {
	struct buffer line;
	struct buffer scratch;
	struct level *levels;
	size_t depth;
	size_t capacity;
};

static void append(struct path *path, const struct profile_frame *frame)
{
	const char *name = export_profile_name(&path->scratch, frame);
	size_t at = path->line.size;

	if (at > 0)
		buffer_string(&path->line, ";");
	at = path->line.size;
	buffer_string(&path->line, name);
	buffer_printable(&path->line);
	for (char *c = path->line.data + at; (c = strchr(c, ';')) != NULL;)
		*c = ':';
}

static void go_to(struct path *path, const struct profile *profile,
		  uint32_t n)
{
	const struct profile_node *node = &profile->nodes[n];

	while (path->depth > 0 && path->levels[path->depth - 1].end <= n)
		path->depth--;
	path->line.size = path->depth == 0 ? 0 :
		path->levels[path->depth - 1].size;
	append(path, &profile->frames[node->frame]);
	GROW(path->levels, path->depth, path->capacity);
	path->levels[path->depth++] = (struct level){ node->end,
						      path->line.size };
}

static int write_collapsed(struct export *export)
{
	const struct profile *profile = export->profile;
	struct path path = { 0 };

	for (uint32_t n = PROFILE_ROOT + 1; n < profile->node_count; n++) {
		struct figures own = { 0 };
		uint64_t value;

		go_to(&path, profile, n);
		profile_own(profile, n, 0, &own);
		value = export_value(export, &own);
		if (value > 0)
			fprintf(export->out, "%s %" PRIu64 "\n",
				path.line.data, value);
	}
	buffer_free(&path.line);
	buffer_free(&path.scratch);
	free(path.levels);
	return EXIT_COMPLETE;
}

const struct exporter export_collapsed = {
	.name = "collapsed",
	.what = "one line for each stack: flamegraph.pl, inferno, Pyroscope",
	.wants_profile = true,
	.spares = QUERY_SPARES_OWN_PEAKS | QUERY_SPARES_SIZES |
		QUERY_SPARES_BLOCKS,
	.write = write_collapsed,
};
