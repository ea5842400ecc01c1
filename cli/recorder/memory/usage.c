/*
 * usage.c: points of memory usage, from the kernel's sizes.
 *
 * The target opened its smaps_rollup file itself (target_file.h); other files
 * are opened by its pid. They are empty once the target has no memory.
 *
 *	every 100 ms          status: sizes           some 10 us
 *	as its cost permits   smaps_rollup, stat      30 us and more: it
 *	                                              walks all page tables
 *	at the end            the last snapshot's sums, if the process waits
 *	                      for that (final_scan.c)
 *
 * THE RATE. After each reading there is a pause of USAGE_SHARE times its
 * processor time, so that readings take less than 1/USAGE_SHARE of a core.
 * Detailed readings have their own pause, and sizes are still read in between.
 * While sizes do not change, detailed readings are delayed up to USAGE_REST_NS,
 * and unchanged points are not written.
 *
 * THE LOCK. While the kernel walks a mapping for smaps_rollup, mmap and similar
 * calls block in the target (between mappings they may run): 20 GiB in small
 * pages take 70 ms. So long readings are made rarer than their cost requires,
 * and the longer the rarer.
 *
 * Unreadable values are not written: without /proc there are no points.
 */
#include "cli/recorder/memory/usage.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/recorder/base/counter.h"
#include "cli/recorder/emit/varint.h"
#include "cli/recorder/base/proc_file.h"
#include "cli/recorder/base/proc_stat.h"
#include "cli/recorder/process/target_file.h"
#include "cli/recorder/base/time_ns.h"
#include "cli/recorder/base/proc_lines.h"
#include "cli/recorder/memory/smaps.h"
#include "unwind/base/assertion.h"

#define USAGE_SHARE 1024	/* of a core: 0.1 % */
#define USAGE_LONG_NS (16 * UINT64_C(1000000))	/* a reading is too long */
#define USAGE_RARE_NS (60 * UINT64_C(1000000000))
#define USAGE_GAP_NS (100 * UINT64_C(1000000))
#define USAGE_REST_NS (1000 * UINT64_C(1000000))
#define USAGE_HOLD_NS (1000 * UINT64_C(1000000))
#define USAGE_STATM_MAX 256
#define USAGE_LINES_MAX 4096

static const uint8_t usage_of_smaps[SMAPS_FIGURES] = {
	[SMAPS_RSS] = GT_USAGE_RSS,
	[SMAPS_PSS] = GT_USAGE_PSS,
	[SMAPS_SHARED_CLEAN] = GT_USAGE_SHARED_CLEAN,
	[SMAPS_SHARED_DIRTY] = GT_USAGE_SHARED_DIRTY,
	[SMAPS_PRIVATE_CLEAN] = GT_USAGE_PRIVATE_CLEAN,
	[SMAPS_PRIVATE_DIRTY] = GT_USAGE_PRIVATE_DIRTY,
	[SMAPS_ANONYMOUS] = GT_USAGE_ANONYMOUS,
	[SMAPS_HUGE] = GT_USAGE_FLAGS,	/* not taken */
	[SMAPS_SWAP] = GT_USAGE_SWAP,
};

void usage_init(struct usage *usage, struct chunk_out *out, int pid,
		unsigned tick_shift)
{
	memset(usage, 0, sizeof(*usage));
	usage->out = out;
	usage->pid = pid;
	usage->page_kib = sysconf(_SC_PAGESIZE) >> 10;
	usage->tick_shift = tick_shift;
	usage->rest_ns = USAGE_GAP_NS;
}

uint64_t usage_gap_ns(uint64_t cost_ns)
{
	uint64_t min = base_max(cost_ns * USAGE_SHARE, USAGE_GAP_NS);
	uint64_t rarer = min / USAGE_LONG_NS * cost_ns;

	return base_max(min, base_min(rarer, USAGE_RARE_NS));
}

/* Reads sizes in pages: mapped, resident, and the resident part that is
 * file-backed or shared. */
static bool usage_statm(const struct usage *usage,
			struct usage_point *point)
{
	char text[USAGE_STATM_MAX];
	const char *at = text;
	unsigned i;

	if (proc_file_read_of(usage->pid, "statm", text, sizeof(text)) <= 0)
		return false;
	/* zeros: a process that has ended but still has a /proc entry */
	for (i = GT_USAGE_SIZE; i <= GT_USAGE_SHARED; i++) {
		const char *digits = at;

		point->value[i] = proc_lines_number(&at) *
				  usage->page_kib;
		if (at == digits || *at++ != ' ')
			return false;
	}
	return point->value[GT_USAGE_SIZE] != 0;
}

static bool usage_sizes(const struct usage *usage,
			struct usage_point *point)
{
	char text[USAGE_LINES_MAX], path[64], *line;
	uint64_t *value = point->value, files = 0, shared = 0;
	struct proc_lines lines;
	unsigned found = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", usage->pid);
	if (!proc_file_is_ours() ||
	    proc_lines_open(&lines, path, text, sizeof(text)))
		return usage_statm(usage, point);
	while ((line = proc_lines_next(&lines))) {
		found += smaps_number(line, "VmSize:", &value[GT_USAGE_SIZE]);
		found += smaps_number(line, "VmRSS:", &value[GT_USAGE_RSS]);
		found += smaps_number(line, "RssAnon:",
				      &value[GT_USAGE_ANONYMOUS]);
		found += smaps_number(line, "RssFile:", &files);
		found += smaps_number(line, "RssShmem:", &shared);
		found += smaps_number(line, "VmSwap:", &value[GT_USAGE_SWAP]);
	}
	proc_lines_close(&lines);
	value[GT_USAGE_SHARED] = files + shared;
	/* kernels before 4.5 have fewer of these lines */
	return found == 6 || usage_statm(usage, point);
}

static void usage_details(struct usage_point *point, const struct smaps *smaps)
{
	unsigned i;

	for (i = 0; i < SMAPS_FIGURES; i++)
		if (usage_of_smaps[i] != GT_USAGE_FLAGS)
			point->value[usage_of_smaps[i]] = smaps->kib[i];
}

static bool usage_rollup(struct smaps *smaps)
{
	char text[USAGE_LINES_MAX], *line;
	struct proc_lines lines;
	unsigned figures = 0;

	if (target_file_lines(&lines, GL_FILE_ROLLUP, text, sizeof(text)))
		return false;
	memset(smaps, 0, sizeof(*smaps));
	while ((line = proc_lines_next(&lines)))
		figures += smaps_line(smaps, line);
	proc_lines_close(&lines);
	return figures != 0;
}

static void usage_faults(const struct usage *usage, struct usage_point *point)
{
	/* unreadable values stay unchanged */
	proc_stat(usage->pid, PROC_STAT_MINFLT,
		  &point->value[GT_USAGE_FAULTS_MINOR]);
	proc_stat(usage->pid, PROC_STAT_MAJFLT,
		  &point->value[GT_USAGE_FAULTS_MAJOR]);
}

static void usage_flush(struct usage *usage)
{
	struct usage_point before;
	uint8_t *to = chunk_payload(usage->out);
	unsigned i, k;

	if (!usage->held)
		return;
	DEBUG_ASSERT(usage->held <= USAGE_BATCH);
	memset(&before, 0, sizeof(before));
	to = varint_put(to, GT_USAGE_VALUES);
	for (i = 0; i < usage->held; i++) {
		const struct usage_point *point = &usage->batch[i];

		to = varint_put(to, point->tick - before.tick);
		for (k = 0; k < GT_USAGE_VALUES; k++)
			to = varint_put(to, varint_zigzag(point->value[k] -
							  before.value[k]));
		before = *point;
	}
	chunk_write(usage->out, GT_USAGE, to, NULL);
	usage->held = 0;
}

/* Whether sizes are unchanged. */
static bool usage_rests(const struct usage *usage,
			const struct usage_point *point)
{
	unsigned i;

	for (i = GT_USAGE_SIZE; i <= GT_USAGE_SWAP; i++)
		if (point->value[i] != usage->last.value[i])
			return false;
	return true;
}

/* Takes a point: sizes only, or `detailed` with the `known` sums or with sums
 * read now. False: nothing can be read. */
static bool usage_take(struct usage *usage, struct usage_point *point,
		       bool detailed, const struct smaps *known)
{
	uint64_t start = time_ns_of(CLOCK_THREAD_CPUTIME_ID), cost;
	struct smaps smaps;
	bool read;

	*point = usage->last;
	point->tick = counter_now() >> usage->tick_shift;
	read = usage_sizes(usage, point);
	detailed = detailed && read && (known || usage_rollup(&smaps));
	if (detailed) {
		usage_details(point, known ? known : &smaps);
		usage_faults(usage, point);
	}
	cost = time_ns_of(CLOCK_THREAD_CPUTIME_ID) - start;
	point->value[GT_USAGE_FLAGS] = detailed ? GT_USAGE_DETAILED : 0;
	point->value[GT_USAGE_COST_NS] = cost;
	usage->looks++;
	usage->details += detailed;
	usage->cost_ns += cost;
	return read;
}

static void usage_keep(struct usage *usage, const struct usage_point *point,
		       uint64_t now_ns)
{
	if (!usage->held)
		usage->held_ns = now_ns;
	DEBUG_ASSERT(usage->held < USAGE_BATCH);
	usage->batch[usage->held++] = *point;
	usage->last = *point;
	if (usage->held == USAGE_BATCH)
		usage_flush(usage);
}

/* Sets when to read sizes and all values next. Returns whether the point has
 * new data. */
static bool usage_plan(struct usage *usage, const struct usage_point *point,
		       uint64_t now_ns)
{
	uint64_t gap = usage_gap_ns(point->value[GT_USAGE_COST_NS]);
	bool rests = usage_rests(usage, point);

	DEBUG_ASSERT(usage->rest_ns >= USAGE_GAP_NS &&
		     usage->rest_ns <= USAGE_REST_NS);
	usage->due_ns = now_ns + USAGE_GAP_NS;
	if (point->value[GT_USAGE_FLAGS] & GT_USAGE_DETAILED) {
		usage->rest_ns = rests ? base_min(2 * usage->rest_ns,
						  USAGE_REST_NS) :
					 USAGE_GAP_NS;
		usage->detail_min_ns = now_ns + gap;
		usage->detail_due_ns = now_ns + base_max(gap, usage->rest_ns);
		return true;
	}
	usage->due_ns = now_ns + gap;
	if (rests)
		return false;
	/* it was delayed while nothing changed */
	usage->rest_ns = USAGE_GAP_NS;
	usage->detail_due_ns = usage->detail_min_ns;
	return true;
}

void usage_poll(struct usage *usage, uint64_t now_ns)
{
	bool detailed = now_ns >= usage->detail_due_ns;
	struct usage_point point;

	if (usage->held && now_ns - usage->held_ns >= USAGE_HOLD_NS)
		usage_flush(usage);
	if (now_ns < usage->due_ns)
		return;
	if (!usage_take(usage, &point, detailed, NULL)) {
		usage->due_ns = now_ns + USAGE_REST_NS;
		return;
	}
	/* a kernel without smaps_rollup: do not try at every reading */
	if (detailed && !point.value[GT_USAGE_FLAGS])
		usage->detail_min_ns = usage->detail_due_ns =
			now_ns + USAGE_REST_NS;
	if (usage_plan(usage, &point, now_ns))
		usage_keep(usage, &point, now_ns);
}

void usage_now(struct usage *usage)
{
	struct usage_point point;

	if (usage_take(usage, &point, false, NULL) &&
	    !usage_rests(usage, &point))
		usage_keep(usage, &point, time_ns_now());
}

void usage_last(struct usage *usage, const struct smaps *sums)
{
	struct usage_point point;

	if (usage_take(usage, &point, true, sums))
		usage_keep(usage, &point, time_ns_now());
}

void usage_finish(struct usage *usage)
{
	usage_flush(usage);
}
