/*
 * sql_store.h: the block stores of a session's traces. Each is found or built
 * when a statement first reads it, and built again if it is damaged.
 *
 * Called by the session's thread.
 */
#ifndef GNOMON_SQL_STORE_H
#define GNOMON_SQL_STORE_H

#include "cli/base/text/buffer.h"
#include "cli/model/index/index_store.h"
#include "cli/sql/sql_trace.h"

/* Open the index, building it according to `make`. The caller closes it. A
 * failure to build is logged once in a session. *why is that of index_store. */
struct store *sql_store_find(struct sql_trace *trace, enum index_make make,
			     enum index_why *why);
/*
 * The store of a trace's blocks; NULL: none is possible, and `why` says why. It
 * stays open until each caller has called sql_store_release.
 */
struct store *sql_store_take(struct sql_trace *trace,
			     const struct sql_traces *traces,
			     struct buffer *why);
void sql_store_release(struct sql_trace *trace);
/* Call it after a scan failed with `error`. Returns whether the store is
 * damaged: then it is dropped, and a new one is built once nobody uses the old
 * one. */
bool sql_store_drop(struct sql_trace *trace, int error);
/* Like sql_store_drop; also writes the error to `why`. */
void sql_store_explain(struct sql_trace *trace, int error, struct buffer *why);

#endif
