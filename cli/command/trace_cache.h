/*
 * trace_cache.h: keeps a trace that was read and its symbols, for forked child
 * processes: commands that read the same trace there (trace_args.h) start from
 * it. Commands need not know about it. Main thread.
 */
#ifndef GNOMON_TRACE_CACHE_H
#define GNOMON_TRACE_CACHE_H

#include "cli/command/trace_args.h"

/*
 * Read the trace, look up all of its symbols, and keep both; once in each
 * process. `reading` has the options; it must stay valid. A large trace without
 * an index gets one if reading->index allows it. Returns the status of
 * model_read; on EXIT_NOTHING nothing is kept.
 */
int trace_cache_read(struct trace_args *args, const char *trace);

/* A model from the kept index, like index_read; NULL: the index cannot answer
 * this, or the model was handed out already. *error: from index_answer. */
struct model *trace_cache_model(const char *trace,
				const struct model_options *options,
				const struct block_keys *keys,
				const struct index_wanted *wanted, int *status,
				int *error);

/* The kept frames, for this model of the trace; the caller owns them then.
 * False: they belong to another trace, or were handed out already. */
bool trace_cache_frames(const struct trace_args *args, struct frames *frames,
			struct model *model);

#endif
