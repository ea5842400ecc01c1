/*
 * usage.c: points of memory usage, from the kernel's figures.
 *
 * The writer shares the target's memory, so it reads its own figures: that
 * needs no permission, and they outlive the target, until the writer ends,
 * too. Only the faults are the target's, and are read under its number.
 *
 *	every 100 ms          statm: sizes            some 10 us
 *	where that pays       smaps_rollup, stat      30 us and more: it
 *	                                              walks all page tables
 *
 * THE RATE. Each look is followed by a pause of USAGE_SHARE times the
 * processor time it took, so that all of them stay under 1/USAGE_SHARE of a
 * core. The detailed look has a pause of its own: with 20 GiB in small pages
 * it takes 70 ms and comes every 20 s, and in between the sizes are still
 * there. It also is put off, up to USAGE_REST_NS, while the sizes do not move;
 * and a point that says nothing new is not written.
 *
 * smaps_rollup holds the lock that mmap and its like wait for, mapping by
 * mapping (mm/mmap_lock.c lets waiters in between), during at most the share
 * of the time that it takes.
 *
 * What cannot be read is not written: without /proc there are no points.
 */
#include "preload/usage.h"

#include <string.h>

#include "preload/proc.h"
#include "preload/proc_lines.h"
#include "preload/smaps.h"
#include "preload/sys.h"
#include "preload/varint.h"

#define USAGE_SHARE 256		/* of a core: 0.4 % */
#define USAGE_GAP_NS (100 * UINT64_C(1000000))
#define USAGE_REST_NS (1000 * UINT64_C(1000000))
#define USAGE_HOLD_NS (1000 * UINT64_C(1000000))
#define USAGE_STATM_MAX 256
#define USAGE_ROLLUP_MAX 4096
#define USAGE_PAGE_KIB 4

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
	usage->tick_shift = tick_shift;
	usage->rest_ns = USAGE_GAP_NS;
}

uint64_t usage_gap_ns(uint64_t cost_ns)
{
	return base_max(cost_ns * USAGE_SHARE, USAGE_GAP_NS);
}

/* Sizes, in pages: mapped, resident, and what of it is of files or shared. */
static bool usage_sizes(struct usage_point *point)
{
	char text[USAGE_STATM_MAX];
	const char *at = text;
	unsigned i;

	if (proc_read("/proc/thread-self/statm", text, sizeof(text)) <= 0)
		return false;
	for (i = GT_USAGE_SIZE; i <= GT_USAGE_SHARED; i++) {
		const char *digits = at;

		point->value[i] = proc_lines_decimal(&at) * USAGE_PAGE_KIB;
		if (at == digits || *at++ != ' ')
			return false;
	}
	return true;
}

static bool usage_rollup(struct usage_point *point)
{
	struct smaps smaps = { { 0 } };
	char text[USAGE_ROLLUP_MAX], *line;
	struct proc_lines lines;
	unsigned figures = 0, i;

	if (proc_lines_open(&lines, "/proc/thread-self/smaps_rollup", text,
			    sizeof(text)))
		return false;
	while ((line = proc_lines_next(&lines)))
		figures += smaps_line(&smaps, line);
	proc_lines_close(&lines);
	for (i = 0; figures && i < SMAPS_FIGURES; i++)
		if (usage_of_smaps[i] != GT_USAGE_FLAGS)
			point->value[usage_of_smaps[i]] = smaps.kib[i];
	return figures != 0;
}

static void usage_faults(const struct usage *usage, struct usage_point *point)
{
	/* what cannot be read stays as it was */
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

/* Whether sizes are as they were. */
static bool usage_rests(const struct usage *usage,
			const struct usage_point *point)
{
	unsigned i;

	for (i = GT_USAGE_SIZE; i <= GT_USAGE_SHARED; i++)
		if (point->value[i] != usage->last.value[i])
			return false;
	return true;
}

/* Takes a point, with all figures or without. False: nothing can be read. */
static bool usage_take(struct usage *usage, struct usage_point *point,
		       bool detailed)
{
	uint64_t start = sys_clock(CLOCK_THREAD_CPUTIME_ID), cost;
	bool read;

	*point = usage->last;
	point->tick = arch_cycles() >> usage->tick_shift;
	read = usage_sizes(point);
	detailed = detailed && read && usage_rollup(point);
	if (detailed)
		usage_faults(usage, point);
	cost = sys_clock(CLOCK_THREAD_CPUTIME_ID) - start;
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
	usage->batch[usage->held++] = *point;
	usage->last = *point;
	if (usage->held == USAGE_BATCH)
		usage_flush(usage);
}

/* When to look again, and when with all figures. Whether the point says
 * anything new. */
static bool usage_plan(struct usage *usage, const struct usage_point *point,
		       uint64_t now_ns)
{
	uint64_t gap = usage_gap_ns(point->value[GT_USAGE_COST_NS]);
	bool rests = usage_rests(usage, point);

	usage->due_ns = now_ns + USAGE_GAP_NS;
	if (point->value[GT_USAGE_FLAGS] & GT_USAGE_DETAILED) {
		usage->rest_ns = rests ? base_min(2 * usage->rest_ns,
						  USAGE_REST_NS) :
					 USAGE_GAP_NS;
		usage->detail_least_ns = now_ns + gap;
		usage->detail_due_ns = now_ns + base_max(gap, usage->rest_ns);
		return true;
	}
	usage->due_ns = now_ns + gap;
	if (rests)
		return false;
	/* it was put off while nothing moved */
	usage->rest_ns = USAGE_GAP_NS;
	usage->detail_due_ns = usage->detail_least_ns;
	return true;
}

void usage_look(struct usage *usage, uint64_t now_ns)
{
	bool detailed = now_ns >= usage->detail_due_ns;
	struct usage_point point;

	if (usage->held && now_ns - usage->held_ns >= USAGE_HOLD_NS)
		usage_flush(usage);
	if (now_ns < usage->due_ns)
		return;
	if (!usage_take(usage, &point, detailed)) {
		usage->due_ns = now_ns + USAGE_REST_NS;
		return;
	}
	/* a kernel without smaps_rollup: not asked at every look */
	if (detailed && !point.value[GT_USAGE_FLAGS])
		usage->detail_least_ns = usage->detail_due_ns =
			now_ns + USAGE_REST_NS;
	if (usage_plan(usage, &point, now_ns))
		usage_keep(usage, &point, now_ns);
}

void usage_finish(struct usage *usage)
{
	struct usage_point point;

	if (usage_take(usage, &point, true))
		usage_keep(usage, &point, sys_now_ns());
	usage_flush(usage);
}
