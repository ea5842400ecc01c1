/*
 * maps_watch.c: see the header.
 *
 *	the target's maps ──▶ compare with the previous scan's list
 *	                          ├──▶ records ──▶ MAPS chunk
 *	                          └──▶ the new list
 *
 * Both lists are sorted, as the kernel's list is, so one pass compares them. Of
 * a mapping's attributes (protection, file, offset) only a hash is kept.
 *
 * Rate. After a scan, the next one waits for EVERY times its processor time:
 * 0.25 % of a core. Whether a scan is needed is decided by /proc/PID/statm,
 * which shows nearly every change, at a hundredth of the cost for a large
 * process.
 *
 * The kernel produces the list a page of text at a time, and drops its lock in
 * between, so a scan is no snapshot. Changes during a scan may be seen or not;
 * its chunk has the times of its start and end.
 *
 * I1: `last` equals the list of a reader that applied all chunks so far.
 * I2: entries are sorted by address and do not overlap; a line that would break
 *     this is skipped.
 */
#include "cli/recorder/memory/maps_watch.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "cli/recorder/base/counter.h"
#include "cli/recorder/emit/varint.h"
#include "cli/recorder/base/proc_file.h"
#include "cli/recorder/base/time_ns.h"
#include "cli/recorder/base/zeroed.h"
#include "preload/base/base.h"
#include "cli/recorder/process/target_file.h"
#include "cli/recorder/base/proc_lines.h"
#include "cli/recorder/base/xxh64.h"
#include "unwind/base/assertion.h"

#define MAPS_WATCH_MAX 131072u	/* twice the kernel's usual limit */
#define MAPS_WATCH_MIN 1024u
#define MAPS_WATCH_SHARE 16	/* fraction of the area that the lists may
				 * take */
#define MAPS_WATCH_STEP_NS UINT64_C(1000000)
#define MAPS_WATCH_STEP_LINES 64	/* between two readings of the clock */
#define MAPS_WATCH_PIECE (256u << 10)	/* bytes of a chunk, and a path */
#define MAPS_WATCH_EVERY 400
#define MAPS_WATCH_SOON_NS UINT64_C(20000000)	/* after a hint */
#define MAPS_WATCH_ASK_NS UINT64_C(100000000)	/* statm */
#define MAPS_WATCH_ALWAYS_NS UINT64_C(2000000000)
#define MAPS_WATCH_HEAD (5 * VARINT_MAX)	/* the numbers before the records */
#define MAPS_WATCH_GATE (UINT64_C(1) << 63)	/* vsyscall is no mapping */

void maps_watch_init(struct maps_watch *watch, struct chunk_out *out,
		     unsigned tick_shift, int pid,
		     const struct gl_shared *shared)
{
	watch->out = out;
	watch->tick_shift = tick_shift;
	watch->max = MAPS_WATCH_MAX;
	watch->pid = pid;
	watch->shared = shared;
	watch->buffer = zeroed_alloc(PROC_LINES_BUFFER);
	watch->last = zeroed_alloc(watch->max * sizeof(*watch->last));
	watch->next = zeroed_alloc(watch->max * sizeof(*watch->next));
	watch->first = true;
	snprintf(watch->dump_end, sizeof(watch->dump_end), "/jit-%d.dump", pid);
	watch->on = watch->buffer && watch->last && watch->next;
}

static uint64_t maps_watch_ticks(const struct maps_watch *watch)
{
	return counter_now() >> watch->tick_shift;
}

/* ---- chunks ---- */

static void maps_watch_open_chunk(struct maps_watch *watch)
{
	watch->to = chunk_payload(watch->out) + MAPS_WATCH_HEAD;
	watch->previous = 0;
	watch->path_hash = 0;
}

/* Writes the header of a chunk, whose values and length are known only at its
 * end. */
static void maps_watch_close_chunk(struct maps_watch *watch, unsigned flags)
{
	uint8_t *payload = chunk_payload(watch->out), *to = payload;
	uint8_t *records = payload + MAPS_WATCH_HEAD;
	uint64_t top = 0;

	if (watch->cut && watch->next_count)
		top = watch->next[watch->next_count - 1].end;
	if (watch->first)
		flags |= GT_MAPS_FIRST;
	to = varint_put(to, flags);
	to = varint_put(to, watch->since);
	to = varint_put(to, watch->begun);
	to = varint_put(to, maps_watch_ticks(watch));
	to = varint_put(to, top);
	DEBUG_ASSERT(to <= records && records <= watch->to);
	memmove(to, records, watch->to - records);
	chunk_write(watch->out, GT_MAPS, to + (watch->to - records), NULL);
}

static void maps_watch_put(struct maps_watch *watch, uint64_t value)
{
	watch->to = varint_put(watch->to, value);
}

static void maps_watch_range(struct maps_watch *watch, unsigned what,
			     uint64_t start, uint64_t end)
{
	if ((size_t)(watch->to - chunk_payload(watch->out)) >
	    MAPS_WATCH_PIECE) {
		maps_watch_close_chunk(watch, GT_MAPS_MORE);
		maps_watch_open_chunk(watch);
	}
	DEBUG_ASSERT(start < end);
	maps_watch_put(watch, what);
	maps_watch_put(watch, varint_zigzag(start - watch->previous));
	maps_watch_put(watch, end - start);
	watch->previous = end;
}

static void maps_watch_dump(struct maps_watch *watch, const char *path,
			    size_t n)
{
	size_t end = strlen(watch->dump_end);

	if (!watch->dump[0] && n > end && n < sizeof(watch->dump) &&
	    memcmp(path + n - end, watch->dump_end, end) == 0)
		memcpy(watch->dump, path, n);
}

static void maps_watch_new(struct maps_watch *watch,
			   const struct proc_lines_mapping *m, bool own,
			   uint64_t path_hash)
{
	unsigned flags = m->flags | (own ? GT_MAPS_OWN : 0);
	size_t n = strlen(m->path);
	bool again;

	maps_watch_range(watch, GT_MAPS_NEW, m->start, m->end);
	again = n && path_hash == watch->path_hash;
	maps_watch_put(watch, flags | (again ? GT_MAPS_AGAIN : 0));
	maps_watch_put(watch, m->offset);
	maps_watch_put(watch, (uint64_t)m->major << 32 | m->minor);
	maps_watch_put(watch, m->inode);
	watch->path_hash = path_hash;
	if (again)
		return;
	maps_watch_dump(watch, m->path, n);
	n = base_min(n, GT_PATH_MAX);
	maps_watch_put(watch, n);
	memcpy(watch->to, m->path, n);
	watch->to += n;
}

/* ---- comparing ---- */

/* Writes GONE for entries of the last scan below `address`. */
static void maps_watch_gone(struct maps_watch *watch, uint64_t address)
{
	while (watch->passed < watch->last_count &&
	       watch->last[watch->passed].start < address) {
		const struct maps_watch_entry *e =
			&watch->last[watch->passed++];

		maps_watch_range(watch, GT_MAPS_GONE, e->start, e->end);
	}
}

static uint64_t maps_watch_hash(const struct proc_lines_mapping *m, bool own,
				uint64_t path_hash)
{
	uint64_t words[5] = {
		m->flags | (own ? GT_MAPS_OWN : 0),
		/* the same for every part of one mapping */
		m->inode ? m->offset - m->start : 0,
		(uint64_t)m->major << 32 | m->minor,
		m->inode,
		path_hash,
	};
	struct xxh64 hash;

	xxh64_init(&hash, 0);
	xxh64_update(&hash, words, sizeof(words));
	return xxh64_digest(&hash);
}

static void maps_watch_compare(struct maps_watch *watch,
			       const struct proc_lines_mapping *m, bool own,
			       uint64_t path_hash)
{
	struct maps_watch_entry e = {
		m->start, m->end, maps_watch_hash(m, own, path_hash)
	};
	const struct maps_watch_entry *old;

	if (watch->next_count == watch->max) {
		watch->cut = true;
		return;
	}
	if (watch->next_count &&
	    watch->next[watch->next_count - 1].end > e.start)
		return;		/* I2 */
	maps_watch_gone(watch, e.start);
	DEBUG_ASSERT(e.start < e.end && watch->next_count < watch->max);
	watch->next[watch->next_count++] = e;
	old = &watch->last[watch->passed];
	if (watch->passed < watch->last_count &&
	    memcmp(old, &e, sizeof(e)) == 0) {
		watch->passed++;
		return;
	}
	/* overlapping entries were replaced */
	maps_watch_gone(watch, e.end);
	maps_watch_new(watch, m, own, path_hash);
}

/* Compares the part of a mapping up to `end`, and cuts that part off *m. */
static void maps_watch_part(struct maps_watch *watch,
			    struct proc_lines_mapping *m, uint64_t end,
			    bool own, uint64_t path_hash)
{
	struct proc_lines_mapping part = *m;

	if (end <= m->start)
		return;
	part.end = base_min(end, m->end);
	maps_watch_compare(watch, &part, own, path_hash);
	if (m->inode)
		m->offset += part.end - m->start;
	m->start = part.end;
}

/* The kernel merges adjacent mappings of one kind: splits off our own
 * ranges. */
static void maps_watch_mapping(struct maps_watch *watch,
			       struct proc_lines_mapping *m)
{
	struct xxh64 hash;
	uint64_t path_hash;

	if (m->start >= MAPS_WATCH_GATE)
		return;
	xxh64_init(&hash, 1);
	xxh64_update(&hash, m->path, strlen(m->path));
	path_hash = xxh64_digest(&hash);
	while (m->start < m->end) {
		uint64_t end = m->end;
		bool own = profiler_ranges_cut(&watch->own, m->start, &end);

		DEBUG_ASSERT(end > m->start && end <= m->end);
		maps_watch_part(watch, m, end, own, path_hash);
	}
}

/* ---- a scan ---- */

static bool maps_watch_begin(struct maps_watch *watch)
{
	if (target_file_lines(&watch->lines, GL_FILE_MAPS, watch->buffer,
			      PROC_LINES_BUFFER))
		return false;
	assert(!watch->looking);
	profiler_ranges_find(&watch->own, watch->shared);
	watch->begun = maps_watch_ticks(watch);
	watch->looking = true;
	watch->cut = false;
	watch->passed = 0;
	watch->next_count = 0;
	watch->spent_ns = 0;
	return true;
}

/* Keeps the old entries above, which were not read. */
static void maps_watch_keep(struct maps_watch *watch)
{
	while (watch->passed < watch->last_count &&
	       watch->next_count < watch->max)
		watch->next[watch->next_count++] =
			watch->last[watch->passed++];
	DEBUG_ASSERT(watch->next_count <= watch->max);
}

static void maps_watch_end(struct maps_watch *watch)
{
	struct maps_watch_entry *list = watch->last;

	DEBUG_ASSERT(watch->looking);
	if (watch->cut)
		watch->cuts++;
	else if (target_lines_last(&watch->lines))
		maps_watch_gone(watch, UINT64_MAX);
	else	/* the list ended with the process: nothing was unmapped */
		maps_watch_keep(watch);
	proc_lines_close(&watch->lines);
	maps_watch_close_chunk(watch, 0);
	DEBUG_ASSERT(watch->next_count <= watch->max &&
		     watch->passed <= watch->last_count);
	watch->last = watch->next;
	watch->last_count = watch->next_count;
	watch->next = list;
	watch->looking = false;
	watch->first = false;
	watch->since = watch->begun;
	watch->looks++;
}

/* Continues a scan for a while, or to its end. */
static void maps_watch_go_on(struct maps_watch *watch, uint64_t while_ns)
{
	uint64_t begin = time_ns_of(CLOCK_THREAD_CPUTIME_ID), spent = 0;
	struct proc_lines_mapping mapping;
	unsigned lines = 0;
	char *line;

	DEBUG_ASSERT(watch->looking);
	maps_watch_open_chunk(watch);
	do {
		line = proc_lines_next(&watch->lines);
		if (line && proc_lines_mapping(line, &mapping))
			maps_watch_mapping(watch, &mapping);
		if (++lines % MAPS_WATCH_STEP_LINES == 0)
			spent = time_ns_of(CLOCK_THREAD_CPUTIME_ID) - begin;
	} while (line && !watch->cut && spent < while_ns);
	if (line && !watch->cut)
		maps_watch_close_chunk(watch, GT_MAPS_MORE);
	else
		maps_watch_end(watch);
	spent = time_ns_of(CLOCK_THREAD_CPUTIME_ID) - begin;
	watch->spent_ns += spent;
	watch->spent_all_ns += spent;
}

/* Whether /proc/PID/statm has changed: size, text and data, in pages. */
static bool maps_watch_resized(struct maps_watch *watch)
{
	static const unsigned fields[3] = { 0, 3, 5 };
	char buffer[256];
	const char *at = buffer;
	bool changed = false;
	unsigned field, i = 0;

	if (proc_file_read_of(watch->pid, "statm", buffer, sizeof(buffer)) <= 0)
		return true;
	for (field = 0; i < 3; field++) {
		uint64_t value = proc_lines_number(&at);

		if (field == fields[i]) {
			changed |= watch->size[i] != value;
			watch->size[i++] = value;
		}
		if (*at == ' ')
			at++;
	}
	return changed;
}

static bool maps_watch_due(struct maps_watch *watch, uint64_t now_ns,
			   uint32_t hints)
{
	uint64_t ago = now_ns - watch->ended_ns;

	if (now_ns < watch->next_ns)
		return false;
	if (hints != watch->hints && ago >= MAPS_WATCH_SOON_NS)
		return true;
	if (ago < MAPS_WATCH_ASK_NS)
		return false;
	if (ago >= MAPS_WATCH_ALWAYS_NS || maps_watch_resized(watch))
		return true;
	watch->next_ns = now_ns + MAPS_WATCH_ASK_NS;
	return false;
}

bool maps_watch_step(struct maps_watch *watch, uint64_t now_ns,
		     uint32_t hints)
{
	if (!watch->on)
		return false;
	if (!watch->looking) {
		if (!maps_watch_due(watch, now_ns, hints))
			return false;
		watch->hints = hints;
		if (!maps_watch_begin(watch)) {
			watch->on = false;
			return false;
		}
	}
	maps_watch_go_on(watch, MAPS_WATCH_STEP_NS);
	if (watch->looking)
		return true;
	watch->ended_ns = time_ns_now();
	watch->next_ns = watch->ended_ns +
			 watch->spent_ns * MAPS_WATCH_EVERY;
	return false;
}

void maps_watch_whole(struct maps_watch *watch)
{
	if (!watch->on)
		return;
	if (watch->looking)
		maps_watch_go_on(watch, UINT64_MAX);
	if (maps_watch_begin(watch))
		maps_watch_go_on(watch, UINT64_MAX);
	else
		watch->on = false;
}

void maps_watch_finish(struct maps_watch *watch)
{
	if (watch->on && watch->looking)
		maps_watch_go_on(watch, UINT64_MAX);
}

void maps_watch_again(struct maps_watch *watch)
{
	if (!watch->on)
		return;
	if (watch->looking)
		maps_watch_go_on(watch, UINT64_MAX);
	watch->first = true;
	watch->last_count = 0;
	maps_watch_whole(watch);
}
