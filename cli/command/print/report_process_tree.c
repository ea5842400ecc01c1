/*
 * report_process_tree.c: see report_parts.h. The trace of a shell script, or of
 * a wrapper that ends with exec, is of little interest; the traces of its
 * children or of its later program are. Called by the main thread.
 */
#include "cli/command/print/report_parts.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/text/fit.h"
#include "cli/base/text/quantity.h"
#include "cli/base/text/quote.h"
#include "cli/trace/live/live_recover.h"
#include "cli/trace/read/process_tree.h"
#include "cli/trace/read/locate.h"
#include "cli/trace/read/reader.h"

#define TRACES_MAX 1000		/* examined: a summary must not take long */

struct process_tree {
	char *successor;	/* trace of the same process, after exec */
	uint64_t succeeded_ns;	/* when */
};

/* Keeps the process's next program after this trace. */
static void take_successor(struct process_tree *found, const char *path,
			   uint64_t begin_ns)
{
	if (found->successor != NULL && begin_ns >= found->succeeded_ns)
		return;
	free(found->successor);
	found->successor = grow_copy(path, strlen(path));
	found->succeeded_ns = begin_ns;
}

static void look_at(struct process_tree *found, const struct report *r,
		    const char *path)
{
	struct trace_facts facts;

	if (live_recover_facts(path, &facts) != 0 ||
	    facts.result != SCAN_OPEN_OK ||
	    facts.trace_id == model_reader_report(r->model)->trace_id)
		return;
	if ((uint64_t)facts.pid == r->about.pid &&
	    facts.start_time == r->about.process &&
	    facts.begin_ns > r->about.start_ns)
		take_successor(found, path, facts.begin_ns);
}

/* A command to be pasted, so it is not cut; it gets its own line if needed. */
static void put_hint(const struct report *r, size_t column, const char *path)
{
	LOCAL_BUFFER hint = { 0 };

	buffer_string(&hint, "gnomon report ");
	quote_word(&hint, path, strlen(path));
	if (column + 1 + fit_columns(hint.data) <= report_width())
		fprintf(r->out, " %s\n", hint.data);
	else
		fprintf(r->out, "\n               %s\n", hint.data);
}

void report_process_tree_text(const struct report *r)
{
	char *directory = process_tree_directory(r->about.trace);
	struct process_tree found = { 0 };
	char **paths;
	size_t count, below;
	bool more;

	if (r->about.pid != 0 &&
	    locate_all(directory, &paths, &count, &more) == 0) {
		for (size_t i = 0; i < count; i++) {
			if (i < TRACES_MAX)
				look_at(&found, r, paths[i]);
			free(paths[i]);
		}
		free(paths);
	}
	if (found.successor != NULL) {
		fprintf(r->out, "  then         another program:");
		put_hint(r, 32, found.successor);
	}
	below = r->about.pid != 0 ? process_tree_below(r->about.trace) : 0;
	if (below > 0) {
		int column = fprintf(r->out, "  children     %s of child "
				     "processes:",
				     COUNTED(below, "trace"));

		put_hint(r, (size_t)column, directory);
	}
	free(found.successor);
	free(directory);
}
