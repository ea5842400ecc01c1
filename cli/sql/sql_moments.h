/*
 * sql_moments.h: filter values that name a marker or snapshot, in a session of
 * several traces. A trace that lacks the name has no rows, provided that
 * another trace has it.
 *
 * Called by the session's thread.
 */
#ifndef GNOMON_SQL_MOMENTS_H
#define GNOMON_SQL_MOMENTS_H

#include "cli/sql/sql_trace.h"

/* Whether the value is a name that some trace has. */
bool sql_moments_known(const struct sql_traces *traces,
		       const struct sql_word *word);
/* Whether this trace has the name. */
bool sql_moments_here(const struct sql_trace *trace,
		      const struct sql_word *word);
/* Log, once in a session, that the trace has no rows because it lacks the
 * name. */
void sql_moments_report(struct sql_trace *trace, const struct sql_word *word);

#endif
