/*
 * sql_figures.c: see sql_figures.h.
 */
#include "cli/sql/sql_figures.h"

#include <assert.h>
#include <string.h>

#define OF_ALL 2	/* bytes, blocks */

struct listing {
	struct sql_column *list;
	unsigned count;
};

/* Help for each member of kinds with several members. */
static const struct {
	const char *name, *help;
} members[] = {
	{ "live_bytes", "live bytes at the end, or at alive_at" },
	{ "live_blocks", "live blocks at that moment" },
	{ "peak_bytes", "live bytes at the global peak: adds up over rows" },
	{ "peak_blocks", "live blocks at the global peak" },
	{ "own_peak_bytes", "the row's own peak: the most live bytes at any "
			    "time; does not add up" },
	{ "own_peak_blocks", "live blocks at the own peak" },
	{ "own_peak_time_ns", "time of the own peak" },
	{ "frees", "freed blocks" },
	{ "lifetime_ns", "mean lifetime of the freed blocks" },
	{ "first_ns", "time of the first allocation" },
	{ "last_ns", "time of the last allocation" },
};

/* Otherwise, the help of the kind. */
static const char *help_of(const char *name)
{
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (strcmp(members[i].name, name) == 0)
			return members[i].help;
	for (unsigned i = 0; i < measure_count; i++)
		for (unsigned m = 0; m < MEASURE_KIND_MEMBERS; m++) {
			const struct measure_member *member =
				&measure_kinds[i].members[m];

			if (member->name != NULL &&
			    strcmp(member->name, name) == 0)
				return measure_kinds[i].help;
		}
	return "";
}

static void add(void *owner, const char *name, uint64_t value)
{
	struct listing *listing = owner;

	(void)value;
	listing->list[listing->count++] = (struct sql_column){
		.name = name, .type = SQL_INTEGER, .help = help_of(name),
	};
}

void sql_figures_columns(struct sql_column *list, unsigned *count)
{
	const struct figures nothing = { 0 };
	struct listing listing = { list, *count };

	list[listing.count++] = (struct sql_column){
		.name = "bytes", .type = SQL_INTEGER,
		.help = "total bytes of the selected blocks, live or not",
	};
	list[listing.count++] = (struct sql_column){
		.name = "blocks", .type = SQL_INTEGER,
		.help = "number of selected blocks, live or not",
	};
	figures_each(&nothing, 0, add, &listing);
	*count = listing.count;
}

struct choosing {
	unsigned n, at;
	uint64_t value;
	bool own_peak;
};

static void choose(void *owner, const char *name, uint64_t value)
{
	struct choosing *choosing = owner;

	if (choosing->at++ != choosing->n)
		return;
	choosing->value = value;
	choosing->own_peak = strncmp(name, "own_peak", 8) == 0;
}

void sql_figures_value(const struct figures *figures, uint64_t end_ns,
		       unsigned n, sqlite3_context *to)
{
	struct choosing choosing = { .n = n - OF_ALL };

	if (n == 0)
		choosing.value = figures->total_bytes;
	else if (n == 1)
		choosing.value = figures->count;
	else
		figures_each(figures, end_ns, choose, &choosing);
	sql_number(to, choosing.value);
}

bool sql_figures_own_peak(unsigned n)
{
	const struct figures nothing = { 0 };
	struct choosing choosing = { .n = n - OF_ALL };

	if (n >= OF_ALL)
		figures_each(&nothing, 0, choose, &choosing);
	return choosing.own_peak;
}
