/*
 * export_story.h: what exporters make of a story (model_story.h): as
 * `gnomon export` does it, into memory. Stacks are one frame; contexts 2n and
 * 2n + 1 are in one function, "f<n>": stacks that read the same.
 */
#ifndef TESTS_EXPORT_STORY_H
#define TESTS_EXPORT_STORY_H

#include <stdio.h>

#include "cli/base/terminal/log.h"
#include "cli/export/exporters.h"
#include "tests/unit/model_feed.h"
#include "tests/unit/model_story.h"

#define STORY_FUNCTIONS (STORY_CONTEXTS / 2)

static inline uint64_t story_function(const struct story_block *block)
{
	return block->context / 2;
}

/* Its figures, by brute force. */
static inline struct story_figures
story_of_function(const struct story *story, uint64_t function)
{
	bool *wanted = malloc(STORY_STEPS);
	struct story_figures figures;

	memset(wanted, true, STORY_STEPS);
	figures = story_figures(story, wanted, story_function, function, 0);
	free(wanted);
	return figures;
}

static inline void story_names(struct model *model)
{
	char lines[STORY_FUNCTIONS * 32];
	int at = 0;

	for (unsigned f = 0; f < STORY_FUNCTIONS; f++)
		at += sprintf(lines + at, "%x 2 f%u\n", 0xfff + 2 * f, f);
	feed_names(model, lines);
}

/* Keeps contexts of the first function only. */
static inline bool story_keeps_first(void *owner, uint32_t node,
				     const struct figures *figures)
{
	const struct model *model = owner;

	(void)figures;
	return model_contexts(model)->nodes[node].address <= 0x1001;
}

/* To be freed. `first`: the first function alone. */
static inline char *story_export(const struct story *story,
				 const struct exporter *exporter,
				 enum measure cost, bool first)
{
	const struct model_options options = { .wants = exporter->wants };
	struct model *model = model_new(&options, NULL);
	struct debugfile_places places = { 0 };
	struct frames frames;
	const struct query query = { .order = cost };
	struct export export = {
		.query = &query, .trace = story->path,
		.model = model, .frames = &frames,
		.keep = first ? story_keeps_first : NULL, .keeper = model,
		.cost = cost,
	};
	char *text;
	size_t size;

	if (model_read(model, story->path) != EXIT_COMPLETE)
		abort();
	story_names(model);
	frames_init(&frames, model, &places, false);
	export.profile = profile_new(1);
	export.profile->with_costs = exporter->wants_costs;
	profile_add(export.profile, 0, &frames, export.keep, export.keeper);
	profile_seal(export.profile);
	export.out = open_memstream(&text, &size);
	if (exporter->write(&export) != EXIT_COMPLETE)
		abort();
	fclose(export.out);
	profile_free(export.profile);
	frames_free(&frames);
	model_free(model);
	return text;
}

#endif
