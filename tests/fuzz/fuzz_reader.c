/*
 * fuzz_reader.c: the whole way from a file to the figures: reader, merge, and,
 * by the size of the input, the model with all that can be wanted of it, or
 * one of the commands. crafted.h makes a trace of the input.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/base/terminal/log.h"
#include "cli/commands.h"
#include "cli/model/core/contexts.h"
#include "cli/model/model.h"
#include "cli/model/stats/figures.h"
#include "cli/trace/read/reader.h"
#include "tests/fuzz/crafted_mutate.h"
#include "tests/fuzz/taken.h"

#define TRACE_ID 1
/* What reading may take: merge.c's bound (I4), and the rest. */
#define TAKEN_FREE (UINT64_C(64) << 20)
#define TAKEN_RATIO 32		/* for each byte of the file */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each with one option more; "@": a file that it writes, which is removed. */
static const struct use {
	const struct command *command;
	const char *option, *other;
} uses[] = {
	{ &cmd_report, "--json", NULL },
	{ &cmd_report, "--heap=.", NULL },
	{ &cmd_report, "--alive-at=50%", NULL },
	{ &cmd_report, "--from=start", NULL },
	{ &cmd_report, "-bblock", "--fate=freed" },
	{ &cmd_report, "-bthread", "--fate=chain-live" },
	{ &cmd_info, "--json", NULL },
	{ &cmd_info, "--sizes", NULL },
	{ &cmd_export, "-Fpprof", NULL },
	{ &cmd_export, "-Fheaptrack", NULL },
	{ &cmd_export, "-Fjson", "-bblock" },
	{ &cmd_check, "--json", "--max-live=1" },
	{ &cmd_flamegraph, "--html", "-cpeak" },
	{ &cmd_graph, "-fhtml", "-bthread" },
	{ &cmd_report, "--json", "--timeline" },
	{ &cmd_repack, "-fo", "@" },
	{ &cmd_strip, "-fo", "@" },
	{ &cmd_report, "--json", "--pages" },
};
#define USES (sizeof(uses) / sizeof(uses[0]))

/* The same by a command, from the first word to the last line. */
static void run_command(const struct use *use, const char *path)
{
	const struct command *command = use->command;
	char name[16], first[32], second[64], third[64];
	char *argv[] = { name, first, second, third, NULL };
	bool writes = use->other != NULL && use->other[0] == '@';

	snprintf(name, sizeof(name), "%s", command->name);
	snprintf(first, sizeof(first), "%s", use->option);
	snprintf(second, sizeof(second), "%s", path);
	if (writes)
		snprintf(second, sizeof(second), "/tmp/fuzz_reader.%d",
			 (int)getpid());
	else if (use->other != NULL)
		snprintf(second, sizeof(second), "%s", use->other);
	snprintf(third, sizeof(third), "%s", path);
	if (freopen("/dev/null", "w", stdout) == NULL)
		abort();
	command->main(command, use->other ? 4 : 3, argv);
	if (writes)
		unlink(second);
}

/* I1 of model.c: the sums over contexts are the totals. What was left out of
 * the trace may have had a higher peak, and be live; a sample is rounded. */
static void check_sums(struct model *model)
{
	const struct contexts *contexts = model_contexts(model);
	uint64_t live = 0, peak = 0, blocks = 0, at = 0;

	for (size_t i = 0; i < contexts->cost_count; i++) {
		struct figures figures;

		model_figures(model, &contexts->costs[i], &figures);
		live += figures.live_bytes;
		peak += figures.peak_bytes;
	}
	while (model_next_block(model, &at) != NULL)
		blocks++;
	if (live != model_totals(model)->live_bytes ||
	    (model_reader_report(model)->chunks[GT_TOTALS] == 0 &&
	     (peak != model_totals(model)->peak_bytes ||
	      blocks != model_totals(model)->live_blocks)))
		abort();
}

static void run_model(const char *path)
{
	const struct model_options options = {
		.notes = log_notes(),
		.wants = MODEL_WANT_HISTOGRAMS | MODEL_WANT_TIMELINE |
			MODEL_WANT_CHAINS | MODEL_WANT_FREED_BY,
	};
	struct model *model = model_new(&options, NULL);

	model_read(model, path);
	if (!model_is_sampled(model))
		check_sums(model);
	model_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cursor c = cursor_over(data, size);
	struct buffer bytes = { 0 };
	uint64_t limit;
	char path[64];
	int fd;

	log_set_quiet(true);
	crafted_compose(&c, &bytes, TRACE_ID);
	limit = TAKEN_FREE + TAKEN_RATIO * bytes.size;
	fd = memfd_create("fuzz", 0);
	if (fd < 0 || write(fd, bytes.data, bytes.size) !=
	    (ssize_t)bytes.size)
		abort();
	buffer_free(&bytes);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	taken_begin();
	if (size % (2 * USES) < USES)
		run_command(&uses[size % (2 * USES)], path);
	else
		run_model(path);
	if (taken_at_most() > limit)
		abort();
	close(fd);
	return 0;
}
