/*
 * snapshot.c: converts smaps to SNAPSHOT chunks. See the header.
 *
 *	idle ── begin ──▶ reading ── no more lines ──▶ waiting ──▶ idle
 *	 ▲ │              arenas are requested         (arenas answered, or
 *	 │ └─ last ─▶ held                             the wait is over)
 *	 └─ drop ─────┘
 *
 * The target opened the smaps file itself (target_file.h). The kernel produces
 * it in pieces of about a page and drops its locks in between. Mappings that
 * change meanwhile may be missing; no mapping appears twice, because the file
 * is ordered by address.
 *
 * Mappings that cannot be read are left out, and the snapshot is marked
 * incomplete.
 *
 * I1: rows are gathered outside the chunk's payload: between slices, other code
 *     uses the payload.
 */
#include "cli/recorder/memory/snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/recorder/arenas_request.h"
#include "cli/recorder/base/counter.h"
#include "cli/recorder/emit/varint.h"
#include "cli/recorder/base/time_ns.h"
#include "cli/recorder/base/zeroed.h"
#include "cli/recorder/output/log_file.h"
#include "cli/recorder/process/target_file.h"
#include "preload/ring/gate.h"
#include "unwind/base/assertion.h"

#define SNAPSHOT_SLICE_NS (4 * UINT64_C(1000000))
#define SNAPSHOT_BEAT_NS UINT64_C(1000000)	/* between heartbeats of the
						 * last snapshot */
/* the process waits no longer */
#define SNAPSHOT_LAST_NS (2000 * UINT64_C(1000000))
/* longest wait for the arenas */
#define SNAPSHOT_TIMEOUT_NS (100 * UINT64_C(1000000))
#define SNAPSHOT_PAUSE 4	/* times the duration of one, until the next */
#define SNAPSHOT_ARENAS_SHARE 128	/* of a thread's time, at most */
#define SNAPSHOT_MAPPINGS_MAX (1u << 20)	/* 16 times the usual limit */
#define SNAPSHOT_ROWS (64u << 10)
#define SNAPSHOT_ROW_MAX ((GT_MAPPING_VALUES + 4) * VARINT_MAX + GT_PATH_MAX)
#define SNAPSHOT_PAGE_BITS 12

_Static_assert(SNAPSHOT_ROW_MAX < SNAPSHOT_ROWS, "a row fits");
_Static_assert(GT_MAPPING_READ == (int)PROC_LINES_READ &&
	       GT_MAPPING_IS_SHARED == (int)PROC_LINES_SHARED, "same bits");

static const uint8_t snapshot_value[SMAPS_FIGURES] = {
	[SMAPS_RSS] = GT_MAPPING_RSS,
	[SMAPS_PSS] = GT_MAPPING_PSS,
	[SMAPS_SHARED_CLEAN] = GT_MAPPING_SHARED_CLEAN,
	[SMAPS_SHARED_DIRTY] = GT_MAPPING_SHARED_DIRTY,
	[SMAPS_PRIVATE_CLEAN] = GT_MAPPING_PRIVATE_CLEAN,
	[SMAPS_PRIVATE_DIRTY] = GT_MAPPING_PRIVATE_DIRTY,
	[SMAPS_ANONYMOUS] = GT_MAPPING_ANONYMOUS,
	[SMAPS_HUGE] = GT_MAPPING_HUGE,
	[SMAPS_SWAP] = GT_MAPPING_SWAP,
};

void snapshot_every(struct snapshot *s, uint64_t ns)
{
	s->every_ns = ns;
	s->due_ns = ns ? time_ns_now() + ns : 0;
}

void snapshot_init(struct snapshot *s, struct recording *r,
		   const struct live *live, struct chunk_out *out,
		   struct compress *compress)
{
	memset(s, 0, sizeof(*s));
	s->r = r;
	s->live = live;
	s->out = out;
	s->compress = compress;
	s->tick_shift = live->shape.tick_shift;
	s->lines.fd = -1;
	s->arenas_ns = live->shape.monotonic0_ns;
	snapshot_every(s, recording_options->number[OPTION_SNAPSHOT_EVERY]);
}

/* Allocates buffers at the first snapshot, for all snapshots. */
static bool snapshot_memory(struct snapshot *s)
{
	if (s->buffer)
		return true;
	s->rows = zeroed_alloc(SNAPSHOT_ROWS);
	s->path = zeroed_alloc(GT_PATH_MAX);
	s->path_before = zeroed_alloc(GT_PATH_MAX);
	if (s->rows && s->path && s->path_before)
		s->buffer = zeroed_alloc(PROC_LINES_BUFFER);
	return s->buffer != NULL;
}

/* ---- rows ---- */

static void snapshot_clear_rows(struct snapshot *s)
{
	s->row_end = s->rows;
	s->row_count = 0;
	s->row_page = 0;
	if (s->path_before)
		s->path_before[0] = '\0';
}

static void snapshot_flush(struct snapshot *s)
{
	uint8_t *to = chunk_payload(s->out);

	if (!s->row_count)
		return;
	DEBUG_ASSERT(s->row_end > s->rows &&
		     s->row_end <= s->rows + SNAPSHOT_ROWS);
	to = varint_put(to, GT_SNAPSHOT_MAPPINGS);
	to = varint_put(to, s->number);
	to = varint_put(to, GT_MAPPING_VALUES);
	to = varint_put(to, s->row_count);
	to = compress_column(s->compress, &s->past, to, s->rows,
			     s->row_end - s->rows);
	chunk_write(s->out, GT_SNAPSHOT, to, NULL);
	snapshot_clear_rows(s);
}

static unsigned snapshot_flags(const struct snapshot *s)
{
	const struct proc_lines_mapping *mapping = &s->mapping;

	return profiler_ranges_have(&s->own, mapping->start, mapping->end) ?
		       mapping->flags | GT_MAPPING_OURS : mapping->flags;
}

/* Writes 0: no path; 1: that of the previous row; else length + 2 and the
 * path. */
static uint8_t *snapshot_put_path(struct snapshot *s, uint8_t *to)
{
	size_t n = strlen(s->path);
	char *unused = s->path_before;

	if (n == 0)
		return varint_put(to, 0);
	if (strcmp(s->path, s->path_before) == 0)
		return varint_put(to, 1);
	DEBUG_ASSERT(n < GT_PATH_MAX);
	to = varint_put(to, n + 2);
	memcpy(to, s->path, n);
	s->path_before = s->path;
	s->path = unused;
	return to + n;
}

static void snapshot_row(struct snapshot *s)
{
	uint64_t value[GT_MAPPING_VALUES] = { 0 };
	uint64_t page = s->mapping.start >> SNAPSHOT_PAGE_BITS;
	uint64_t end = s->mapping.end >> SNAPSHOT_PAGE_BITS;
	unsigned i;

	if (!s->open)
		return;
	s->open = false;
	if ((size_t)(s->row_end - s->rows) >
	    SNAPSHOT_ROWS - SNAPSHOT_ROW_MAX)
		snapshot_flush(s);
	value[GT_MAPPING_OFFSET] = s->mapping.offset >> SNAPSHOT_PAGE_BITS;
	for (i = 0; i < SMAPS_FIGURES; i++) {
		value[snapshot_value[i]] = s->smaps.kib[i];
		s->sums.kib[i] += s->smaps.kib[i];
	}
	DEBUG_ASSERT(s->row_end <= s->rows + SNAPSHOT_ROWS - SNAPSHOT_ROW_MAX);
	s->row_end = varint_put(s->row_end, page - s->row_page);
	s->row_end = varint_put(s->row_end, end - page);
	s->row_end = varint_put(s->row_end, snapshot_flags(s));
	for (i = 0; i < GT_MAPPING_VALUES; i++)
		s->row_end = varint_put(s->row_end, value[i]);
	s->row_end = snapshot_put_path(s, s->row_end);
	s->row_page = end;
	s->row_count++;
	s->mappings++;
	DEBUG_ASSERT(s->row_end <= s->rows + SNAPSHOT_ROWS);
}

static void snapshot_line(struct snapshot *s, const char *line)
{
	struct proc_lines_mapping mapping;
	size_t n;

	if (s->open && smaps_line(&s->smaps, line))
		return;
	/* keys begin with a capital, addresses do not */
	if (*line <= 'Z' && *line >= 'A')
		return;
	if (!proc_lines_mapping(line, &mapping))
		return;
	snapshot_row(s);
	n = base_min(strlen(mapping.path), GT_PATH_MAX - 1);
	memcpy(s->path, mapping.path, n);
	s->path[n] = '\0';
	s->mapping = mapping;
	memset(&s->smaps, 0, sizeof(s->smaps));
	s->open = true;
}

/* ---- one snapshot ---- */

static void snapshot_stop_reading(struct snapshot *s, bool whole)
{
	if (!s->reading)
		return;
	DEBUG_ASSERT(s->busy);
	snapshot_row(s);
	snapshot_flush(s);
	s->whole = whole && s->mappings != 0 && target_lines_last(&s->lines);
	proc_lines_close(&s->lines);
	s->end_tick = counter_now() >> s->tick_shift;
	s->read_ns = time_ns_now();
	s->reading = false;
}

/* Reads until the last line or `until_ns`. */
static void snapshot_read(struct snapshot *s, uint64_t until_ns)
{
	while (s->reading) {
		char *line;

		if (!target_lines_ready(&s->lines) && time_ns_now() >= until_ns)
			return;
		line = proc_lines_next(&s->lines);
		if (line && s->mappings < SNAPSHOT_MAPPINGS_MAX)
			snapshot_line(s, line);
		else
			snapshot_stop_reading(s, line == NULL);
	}
}

/* Whether the arenas cost too much now: reading them stops the program, so its
 * cost must be a small part of the time since the last reading. */
static bool snapshot_is_dear(const struct snapshot *s)
{
	uint64_t cost_ns = base_max(s->arenas_cost_ns,
				    arenas_estimate_ns(s->r->shared));

	return cost_ns * SNAPSHOT_ARENAS_SHARE > s->begin_ns - s->arenas_ns;
}

static uint32_t snapshot_can(const struct snapshot *s)
{
	return atomic_load_explicit(&s->r->shared->arenas_can,
				    memory_order_relaxed);
}

/* The arenas' state to write unless they are read. */
static enum gt_arenas_state snapshot_no_arenas(const struct snapshot *s)
{
	uint32_t can = snapshot_can(s);

	if (can == ARENAS_FOREIGN)
		return GT_ARENAS_FOREIGN;
	if (can != ARENAS_ALONE)
		return GT_ARENAS_THREADS;
	if (s->kind != GT_SNAPSHOT_LAST && snapshot_is_dear(s))
		return GT_ARENAS_DEAR;
	return GT_ARENAS_NOT_SAFE;
}

bool snapshot_begin(struct snapshot *s, enum gt_snapshot_kind kind,
		    const char *name)
{
	if (s->busy || s->out->err)
		return false;
	DEBUG_ASSERT(!s->held && !s->reading);
	snprintf(s->name, sizeof(s->name), "%s", name);
	s->busy = true;
	s->kind = kind;
	s->number++;
	s->mappings = 0;
	memset(&s->sums, 0, sizeof(s->sums));
	s->open = false;
	s->whole = false;
	s->begin_ns = s->read_ns = time_ns_now();
	s->begin_tick = s->end_tick = counter_now() >> s->tick_shift;
	s->arenas_state = snapshot_no_arenas(s);
	s->arenas_wanted = kind != GT_SNAPSHOT_LAST &&
			   s->arenas_state == GT_ARENAS_NOT_SAFE;
	profiler_ranges_find(&s->own, s->r->shared);
	s->reading = snapshot_memory(s) &&
		     target_file_lines(&s->lines, GL_FILE_SMAPS, s->buffer,
				       PROC_LINES_BUFFER) == 0;
	snapshot_clear_rows(s);
	return true;
}

static uint64_t snapshot_ns(const struct snapshot *s, uint64_t cycles)
{
	const struct gl_header *live = &s->live->shape;
	uint64_t ns = time_ns_now() - live->monotonic0_ns;
	uint64_t ticks = (counter_now() - live->counter0) >> s->tick_shift;

	/* by thousands of ticks: the recording may last for years */
	return (cycles >> s->tick_shift) * (ns / (ticks / 1000 + 1)) / 1000;
}

static void snapshot_arenas(struct snapshot *s, enum arenas_which which)
{
	uint64_t cost_ns;

	if (!arenas_collect(s->r, which, &s->arenas))
		return;
	cost_ns = snapshot_ns(s, s->arenas.cycles);
	s->arenas.value[GT_ARENAS_COST_NS] = cost_ns;
	s->arenas_state = GT_ARENAS_TAKEN;
	s->arenas_wanted = false;
	s->arenas_cost_ns = cost_ns;
	s->arenas_ns = time_ns_now();
}

static void snapshot_write(struct snapshot *s)
{
	uint8_t *to = chunk_payload(s->out);
	size_t n = strlen(s->name);
	unsigned i;

	DEBUG_ASSERT(s->busy && !s->reading && !s->held);
	s->busy = false;
	/* the program may have started a thread meanwhile */
	if (s->arenas_state == GT_ARENAS_NOT_SAFE &&
	    snapshot_can(s) != ARENAS_ALONE)
		s->arenas_state = GT_ARENAS_THREADS;
	log_file_print(OPTION_LOG_INFO, "snapshot", s->name);
	/* no data could be read, and no user requested it by name */
	if (!s->mappings && s->arenas_state != GT_ARENAS_TAKEN &&
	    s->kind != GT_SNAPSHOT_ASKED)
		return;
	to = varint_put(to, GT_SNAPSHOT_TAKEN);
	to = varint_put(to, s->number);
	to = varint_put(to, s->kind);
	to = varint_put(to, s->whole ? GT_SNAPSHOT_WHOLE : 0);
	to = varint_put(to, s->begin_tick);
	to = varint_put(to, s->end_tick);
	to = varint_put(to, s->mappings);
	to = varint_put(to, n);
	memcpy(to, s->name, n);
	to = varint_put(to + n, s->arenas_state);
	if (s->arenas_state == GT_ARENAS_TAKEN) {
		to = varint_put(to, s->arenas.stamp >> s->tick_shift);
		to = varint_put(to, GT_ARENAS_VALUES);
		for (i = 0; i < GT_ARENAS_VALUES; i++)
			to = varint_put(to, s->arenas.value[i]);
	}
	chunk_write(s->out, GT_SNAPSHOT, to, NULL);
}

static void snapshot_start_due(struct snapshot *s, uint64_t now_ns)
{
	char name[SNAPSHOT_NAME_MAX];

	if (s->busy || !s->due_ns || now_ns < s->due_ns ||
	    gate_is_closed(s->r->shared))
		return;
	snprintf(name, sizeof(name), "%" PRIu64, s->number + 1);
	snapshot_begin(s, GT_SNAPSHOT_EVERY, name);
}

/* After a snapshot: the next is due by the interval, but not before a pause. */
static void snapshot_next(struct snapshot *s, uint64_t now_ns)
{
	uint64_t took = s->read_ns - s->begin_ns;

	if (!s->due_ns || s->kind != GT_SNAPSHOT_EVERY)
		return;
	s->due_ns += s->every_ns;
	s->due_ns = base_max(s->due_ns, base_max(now_ns,
				s->begin_ns + SNAPSHOT_PAUSE * took));
}

bool snapshot_step(struct snapshot *s, uint64_t now_ns)
{
	uint64_t timeout = SNAPSHOT_TIMEOUT_NS;

	snapshot_start_due(s, now_ns);
	if (!s->busy || s->held)
		return false;
	if (s->arenas_wanted)
		arenas_request(s->r);
	snapshot_read(s, now_ns + SNAPSHOT_SLICE_NS);
	if (s->arenas_wanted)
		snapshot_arenas(s, ARENAS_RUNNING);
	if (s->reading)
		return true;
	/* do not wait longer than half of the interval */
	if (s->kind == GT_SNAPSHOT_EVERY)
		timeout = base_min(timeout, s->every_ns / 2);
	now_ns = time_ns_now();
	if (s->arenas_wanted && now_ns - s->begin_ns < timeout)
		return false;
	arenas_forget(s->r);
	snapshot_write(s);
	snapshot_next(s, now_ns);
	return false;
}

uint64_t snapshot_wait_ns(const struct snapshot *s)
{
	uint64_t now_ns;

	if (!s->due_ns || s->busy || gate_is_closed(s->r->shared))
		return SNAPSHOT_TIMEOUT_NS;
	now_ns = time_ns_now();
	return s->due_ns > now_ns ? s->due_ns - now_ns : 0;
}

const struct smaps *snapshot_last(struct snapshot *s)
{
	uint64_t until_ns;

	snapshot_finish(s);
	if (!snapshot_begin(s, GT_SNAPSHOT_LAST, "end"))
		return NULL;
	until_ns = s->begin_ns + SNAPSHOT_LAST_NS;
	while (s->reading && time_ns_now() < until_ns) {
		snapshot_read(s, base_min(time_ns_now() + SNAPSHOT_BEAT_NS,
					  until_ns));
		/* shows progress to the waiting process */
		atomic_fetch_add_explicit(&s->r->shared->beats, 1,
					  memory_order_relaxed);
	}
	snapshot_stop_reading(s, false);
	snapshot_arenas(s, ARENAS_LAST);
	DEBUG_ASSERT(!s->reading);
	s->held = true;
	return s->whole ? &s->sums : NULL;
}

void snapshot_drop(struct snapshot *s)
{
	if (s->held)
		s->held = s->busy = false;
}

void snapshot_finish(struct snapshot *s)
{
	if (!s->busy)
		return;
	if (!s->held) {
		snapshot_stop_reading(s, false);
		snapshot_arenas(s, ARENAS_RUNNING);
	}
	DEBUG_ASSERT(!s->reading);
	s->held = false;
	snapshot_write(s);
}
