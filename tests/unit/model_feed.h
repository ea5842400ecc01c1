/*
 * model_feed.h: a model that is told by hand what a reader would tell it:
 * everything but events, for which there is model_events.
 */
#ifndef TESTS_MODEL_FEED_H
#define TESTS_MODEL_FEED_H

#include <string.h>

#include "cli/model/core/contexts.h"
#include "cli/model/model.h"
#include "cli/trace/read/reader.h"

static inline struct reader_sink feed_sink(struct model *model)
{
	struct reader_sink sink;

	model_sink(model, &sink);
	return sink;
}

static inline void feed_info(struct model *model, const char *key,
			     const char *value)
{
	feed_sink(model).line(model, GT_INFO, key, value);
}

static inline void feed_sync(struct model *model, uint64_t ticks, uint64_t ns)
{
	const struct trace_sync sync = { .ticks = ticks, .monotonic_ns = ns };

	feed_sink(model).sync(model, &sync);
}

static inline void feed_thread(struct model *model, uint32_t ring,
			       uint32_t tid)
{
	const struct trace_thread thread = {
		.what = GT_THREAD_START, .ring = ring, .tid = tid,
		.stamp = ring, .name = "",
	};

	feed_sink(model).thread(model, &thread);
}

static inline void feed_image(struct model *model,
			      const struct trace_image *image)
{
	feed_sink(model).image(model, image);
}

static inline void feed_node(struct model *model, uint32_t id, uint32_t parent,
			     uint64_t address)
{
	const struct trace_node node = { id, parent, address };

	feed_sink(model).node(model, &node);
}

/* Lines about code made at run time. */
static inline void feed_names(struct model *model, const char *text)
{
	feed_sink(model).names(model, text, strlen(text), 0);
}

/* The number of a context's cost, or CONTEXT_NO_COST, and what is known of it;
 * without keys. */
static inline uint32_t fed_number(struct model *model, uint32_t id)
{
	return contexts_find_cost(model_contexts(model), model_node(model, id),
				  0);
}

static inline const struct context_cost *fed_cost(struct model *model,
						  uint32_t id)
{
	static const struct context_cost none;
	uint32_t number = fed_number(model, id);

	return number == CONTEXT_NO_COST ? &none :
		&model_contexts(model)->costs[number];
}

#endif
