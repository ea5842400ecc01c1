/*
 * sql_store.h: the stores of the blocks of a session's traces: each is made, or
 * found, when a statement looks at it first, and made anew where it turns out to
 * be damaged.
 *
 * Called by the thread that has the session.
 */
#ifndef GNOMON_SQL_STORE_H
#define GNOMON_SQL_STORE_H

#include "cli/base/text/buffer.h"
#include "cli/model/rows/rows_store.h"
#include "cli/sql/sql_trace.h"

/* The index, which is made if that is wanted; the caller's. That none can be is
 * said once in a session. *why is that of rows_store. */
struct store *sql_store_find(struct sql_trace *trace, enum rows_make make,
			     enum rows_why *why);
/*
 * The store of a trace's blocks; NULL: there can be none, and `why` says why. It
 * stays until sql_store_release, which is to be called for each that was taken.
 */
struct store *sql_store_take(struct sql_trace *trace,
			     const struct sql_traces *traces,
			     struct buffer *why);
void sql_store_release(struct sql_trace *trace);
/* A question to it came to `error`, as a scan has it. Whether it is damaged: then
 * it is dropped, and who takes the trace's when nobody else has it gets another
 * one. */
bool sql_store_drop(struct sql_trace *trace, int error);
/* The same; and says why there is no answer. */
void sql_store_explain(struct sql_trace *trace, int error, struct buffer *why);

#endif
