/*
 * sql_moments.h: words of filters that are names of markers and snapshots, in a
 * session of several traces: a trace that lacks the name has no rows then, as
 * long as another one has it.
 *
 * Called by the thread that has the session.
 */
#ifndef GNOMON_SQL_MOMENTS_H
#define GNOMON_SQL_MOMENTS_H

#include "cli/sql/sql_trace.h"

/* Whether the word is such a name, and some trace has it. */
bool sql_moments_known(const struct sql_traces *traces,
		       const struct sql_word *word);
/* Whether the trace has it; of such a word. */
bool sql_moments_here(const struct sql_trace *trace,
		      const struct sql_word *word);
/* Notes, once in a session, that the trace has no rows as it lacks the name. */
void sql_moments_tell(struct sql_trace *trace, const struct sql_word *word);

#endif
