/*
 * stats.c: see stats.h. Measures come from the block table: they are at most
 * some 50 ms old. The recorder only.
 */
#include "cli/recorder/live_blocks/stats.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/recorder/base/failure.h"
#include "cli/recorder/base/pathname.h"
#include "cli/recorder/base/result.h"
#include "cli/recorder/base/time_ns.h"
#include "cli/recorder/live_blocks/block_table_rounded.h"
#include "cli/recorder/output/log_file.h"
#include "cli/recorder/process/file_owner.h"
#include "cli/recorder/recorder.h"

#define STATS_CLASSES 64	/* the last one includes everything larger */
#define STATS_FIGURES 10	/* columns before those of the classes */
#define STATS_LINE_MAX 3584	/* the time, these, and two columns for each
				 * class */

static const char stats_head[] =
	"# seconds allocations bytes frees live_blocks live_bytes peak_bytes "
	"rss_bytes allocations_per_s trace_bytes dropped";

static void stats_write(struct stats *stats, const char *line, size_t n)
{
	long done = write(stats->fd, line, n);

	if (done == (long)n)
		return;
	/* a full disk: if the trace is on it, the trace reports it too */
	close(stats->fd);
	stats->fd = -1;
}

/* Opens TRACE.stats. -errno: failed. */
static long stats_open(struct stats *stats, char path[GT_PATH_MAX], int flags)
{
	bool fits = pathname_print(path, GT_PATH_MAX, "%s.stats",
				   stats->rec->output.path);
	long fd;

	fd = !stats->rec->output.regular || !fits ? -ESPIPE :
		result_of(open(path, O_WRONLY | O_CREAT | O_NOFOLLOW |
					     O_CLOEXEC | O_APPEND | flags,
			       0600));
	stats->fd = fd < 0 ? -1 : (int)fd;
	file_owner_apply(stats->fd);
	return fd;
}

/* Writes the names of the columns. */
static void stats_begin(struct stats *stats)
{
	static const char *const kinds[] = { " total_", " live_" };
	char line[STATS_LINE_MAX];
	size_t n;
	unsigned i;

	n = snprintf(line, sizeof(line), "%s", stats_head);
	for (i = 0; i < 2 * STATS_CLASSES; i++)
		n += snprintf(line + n, sizeof(line) - n, "%s%u",
			      kinds[i / STATS_CLASSES], i % STATS_CLASSES);
	line[n++] = '\n';
	assert(n <= sizeof(line));
	stats_write(stats, line, n);
}

int stats_init(struct stats *stats, struct recorder *rec)
{
	char path[GT_PATH_MAX], message[GT_PATH_MAX + 128];
	long fd;

	stats->rec = rec;
	stats->every_ns = recording_options->number[OPTION_STATS_EVERY];
	stats->last_ns = time_ns_now();
	stats->due_ns = stats->last_ns + stats->every_ns;
	fd = stats_open(stats, path, O_TRUNC);
	if (stats->fd >= 0) {
		stats_begin(stats);
		return 0;
	}
	failure_message(message, sizeof(message),
			"cannot write statistics (--stats-every), which go "
			"beside the trace", rec->output.regular ? path : NULL, fd);
	log_file_report(OPTION_LOG_WARN, message);
	return 0;
}

void stats_every(struct recorder *rec, uint64_t every_ns)
{
	struct stats *stats = &rec->tracker.stats;

	recording_options->number[OPTION_STATS_EVERY] = every_ns;
	if (!every_ns) {
		stats->every_ns = 0;
		return;
	}
	rec->tracker.own |= BLOCKS_FOR_STATS;
	tracker_poll(rec, time_ns_now());
	if (!rec->tracker.open)
		return;
	if (!stats->rec) {
		stats_init(stats, rec);
		return;
	}
	stats->every_ns = every_ns;
	stats->due_ns = time_ns_now() + every_ns;
}

/* Blocks by size class, in total and live. */
static void stats_classes(uint64_t total[STATS_CLASSES],
			  uint64_t live[STATS_CLASSES],
			  const struct block_table *table)
{
	unsigned i;

	for (i = 0; i < GT_CLASSES; i++) {
		struct block_table_class class =
			block_table_rounded_class(table, i);
		unsigned at = base_min(i, STATS_CLASSES - 1);

		total[at] += class.blocks;
		live[at] += class.blocks - class.frees;
	}
}

static void stats_line(struct stats *stats, uint64_t now_ns)
{
	struct recorder *rec = stats->rec;
	const struct block_table_sum all = block_table_rounded(
		&rec->tracker.table, &rec->tracker.table.all);
	uint64_t span = now_ns - stats->last_ns;
	uint64_t ms = (now_ns - rec->live.shape.monotonic0_ns) / 1000000;
	uint64_t figure[STATS_FIGURES + 2 * STATS_CLASSES] = {
		all.blocks, all.bytes, all.frees, all.blocks - all.frees,
		all.bytes - all.freed, all.peak_bytes,
		rec->usage.last.value[GT_USAGE_RSS] << 10,
		span ? (all.blocks - stats->last_blocks) * 1000 /
				(span / 1000000 + 1) : 0,
		rec->out.size,
		atomic_load_explicit(&rec->live.header->dropped,
				     memory_order_relaxed),
	};
	char line[STATS_LINE_MAX];
	size_t n;
	unsigned i;

	stats_classes(figure + STATS_FIGURES,
		      figure + STATS_FIGURES + STATS_CLASSES,
		      &rec->tracker.table);
	n = snprintf(line, sizeof(line), "%" PRIu64 ".%03" PRIu64, ms / 1000,
		     ms % 1000);
	for (i = 0; i < STATS_FIGURES + 2 * STATS_CLASSES; i++)
		n += snprintf(line + n, sizeof(line) - n, " %" PRIu64,
			      figure[i]);
	line[n++] = '\n';
	assert(n <= sizeof(line));
	stats_write(stats, line, n);
	stats->last_ns = now_ns;
	stats->last_blocks = all.blocks;
}

void stats_poll(struct stats *stats, uint64_t now_ns)
{
	if (now_ns < stats->due_ns || stats->fd < 0)
		return;
	/* missed intervals are skipped */
	stats->due_ns += stats->every_ns;
	if (stats->due_ns <= now_ns)
		stats->due_ns = now_ns + stats->every_ns;
	drain_all(&stats->rec->drain);
	stats_line(stats, now_ns);
}

uint64_t stats_wait_ns(const struct stats *stats)
{
	uint64_t now;

	if (!stats->rec || !stats->every_ns || stats->fd < 0)
		return UINT64_MAX;
	now = time_ns_now();
	return stats->due_ns > now ? stats->due_ns - now : 0;
}

void stats_finish(struct stats *stats)
{
	if (!stats->rec || stats->fd < 0)
		return;
	stats_line(stats, time_ns_now());
	close(stats->fd);
	stats->fd = -1;
}
