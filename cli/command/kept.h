/*
 * kept.h: what a process has read of a trace, and looked up, for calls that
 * processes make which it forks: those that read the same trace (reading.h)
 * begin with it. Commands need not know. The main thread.
 */
#ifndef GNOMON_KEPT_H
#define GNOMON_KEPT_H

#include "cli/command/reading.h"

/*
 * Read the trace, look up all of its symbols, and keep that; once for each
 * process. `reading` has what options said, and stays. Of a trace that is large
 * and has no index, one is made, if reading->index wants that. Returns what
 * model_read does; with EXIT_NOTHING nothing is kept.
 */
int kept_read(struct reading *reading, const char *trace);

/* A model by the index that is kept, as by rows_read; NULL: it does not tell
 * this, or has been given away. *error: what rows_answer says. */
struct model *kept_model(const char *trace,
			 const struct model_options *options,
			 const struct block_keys *keys,
			 const struct rows_wanted *wanted, int *status,
			 int *error);

/* The frames that are kept, for this model of the trace; they are the caller's
 * then. False: they are of another one, or have been given away. */
bool kept_frames(const struct reading *reading, struct frames *frames,
		 struct model *model);

#endif
