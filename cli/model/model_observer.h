/*
 * model_observer.h: functions that follow the events of a trace together with a
 * model, and decide which events the model gets.
 *
 * One thread: the model's.
 */
#ifndef GNOMON_MODEL_OBSERVER_H
#define GNOMON_MODEL_OBSERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/trace/read/reader.h"

struct model;

/*
 * Functions of a sink (struct reader_sink) with an owner of their own, called
 * in place of the model's. They pass on to model_lane_of_ring, model_live and
 * model_events what the model is to have.
 */
struct model_observer {
	void *owner;
	enum reader_chunk (*chunk)(void *owner, const struct chunk *chunk);
	uint32_t (*lane)(void *owner, uint32_t ring, bool *nested);
	void (*live)(void *owner, const struct trace_live *block);
	void (*events)(void *owner, uint32_t lane,
		       const struct trace_event *events, size_t count);
};

/* Fills in the sink for reading the model with the companion, for a caller that
 * reads by itself. Companion and model have to live as long as the reader. */
void model_sink_along(struct model *model,
		      const struct model_observer *companion,
		      struct reader_sink *sink);
/* Reads a whole trace with the companion; returns the same as reader_run. The
 * caller calls model_finish. */
int model_read_along(struct model *model, const char *path,
		     const struct model_observer *companion,
		     struct notes *notes);

#endif
