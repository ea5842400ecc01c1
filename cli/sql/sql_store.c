/*
 * sql_store.c: see sql_store.h.
 */
#include "cli/sql/sql_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/base/terminal/log.h"
#include "cli/model/index/index_answer.h"
#include "cli/model/index/index_build.h"
#include "cli/model/index/index_store.h"
#include "cli/store/store.h"
#include "unwind/base/assertion.h"

/* Build an index for this session only, in an unnamed file. */
static struct store *passing_store(const struct sql_trace *trace,
				   const struct sql_traces *traces)
{
	const char *folder = getenv("TMPDIR");
	struct index_build build = { .trace = trace->path,
				    .cancel = &traces->cancel };
	struct store *store = NULL;

	build.fd = open(folder != NULL ? folder : "/tmp",
			O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (build.fd < 0)
		return NULL;
	if (index_build(&build) != 0)
		close(build.fd);
	else
		store_open(build.fd, trace->path, log_notes(), &store);
	return store;
}

struct store *sql_store_find(struct sql_trace *trace, enum index_make make,
			     enum index_why *why)
{
	struct index_asked asked = {
		.trace = trace->path, .notes = log_notes(),
		.make = trace->no_index ? INDEX_MAKE_NEVER : make,
		.cancel = trace->cancel,
	};
	struct store *store = index_store(&asked);

	*why = asked.why;
	trace->no_index |= asked.why == INDEX_REFUSED ||
			   asked.why == INDEX_FAILED;
	return store;
}

/* The index must match the outline: a damaged trace may have an outdated
 * index. */
static struct store *kept_store(struct sql_trace *trace, enum index_why *why)
{
	struct store *store = sql_store_find(trace, INDEX_MAKE, why);

	if (store == NULL || index_fits(store, trace->outline))
		return store;
	index_store_drop(store, -ESTALE, log_notes());
	store_close(store);
	return sql_store_find(trace, INDEX_MAKE, why);
}

/* The trace's index, or else a temporary one. */
static struct store *new_store(struct sql_trace *trace,
			       const struct sql_traces *traces)
{
	enum index_why why;
	struct store *store;

	if (trace->args->index == INDEX_MAKE_NEVER)
		return passing_store(trace, traces);
	store = kept_store(trace, &why);
	if (store != NULL || why == INDEX_CANCELLED || why == INDEX_UNFIT)
		return store;
	return passing_store(trace, traces);
}

/* Open or rebuild the store. False: a damaged one is still in use, or none is
 * possible. */
static bool find_store(struct sql_trace *trace,
		       const struct sql_traces *traces)
{
	if (trace->store_bad && trace->store_uses > 0)
		return false;
	if (trace->store_bad) {
		store_close(trace->store);
		trace->store = NULL;
	}
	trace->store_bad = false;
	if (trace->store == NULL)
		trace->store = new_store(trace, traces);
	return trace->store != NULL;
}

struct store *sql_store_take(struct sql_trace *trace,
			     const struct sql_traces *traces,
			     struct buffer *why)
{
	if (find_store(trace, traces)) {
		trace->store_uses++;
		return trace->store;
	}
	buffer_printf(why, "%s: %s", trace->path,
		      atomic_load(&traces->cancel) ? "interrupted" :
		      trace->store_bad ? "its index is damaged" :
		      "cannot list its blocks: that needs a file that can be "
		      "read again, and space for an index");
	return NULL;
}

bool sql_store_drop(struct sql_trace *trace, int error)
{
	ASSERT(trace->store_uses > 0);
	if (!index_store_drop(trace->store, error, log_notes()))
		return false;
	trace->store_bad = true;
	return true;
}

void sql_store_explain(struct sql_trace *trace, int error, struct buffer *why)
{
	buffer_printf(why, "%s: %s", trace->path,
		      error == -ECANCELED ? "interrupted" :
		      sql_store_drop(trace, error) ?
		      "its index is damaged: run the statement again to "
		      "rebuild it" : "cannot read its index");
}

void sql_store_release(struct sql_trace *trace)
{
	ASSERT(trace->store_uses > 0);
	trace->store_uses--;
}
