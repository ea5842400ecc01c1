/*
 * census.c: see census.h.
 *
 * ENDS. A thread has ended when the kernel does not know it, or when another
 * ring has its id: ids are reused only after their thread's end. No hook of
 * ours runs at a thread's end, as none could be the last code there. So its end
 * time is the time at which the writer found it missing. The main thread's id
 * stays in use while other threads live; the kernel shows it as a zombie.
 *
 * NAMES. A thread reports its name at its first event. Later events report
 * names set with pthread_setname_np and prctl (hooks_thread.c). Names written
 * to /proc/PID/task/TID/comm are found by reading that file at intervals. An
 * emulator's threads have the emulator's name until the program names them;
 * they get the program's name, as without the emulator.
 */
#include "cli/recorder/census.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/recorder/base/counter.h"
#include "cli/recorder/emit/varint.h"
#include "cli/recorder/output/log.h"
#include "cli/recorder/base/pathname.h"
#include "cli/recorder/base/proc_file.h"
#include "cli/recorder/base/proc_stat.h"
#include "cli/recorder/base/time_ns.h"
#include "preload/ring/ring_shared.h"
#include "cli/recorder/sequence.h"
#include "unwind/claim.h"

#define CENSUS_EMULATOR "qemu-"

/* Interval between two readings of a thread's name. It grows with the number of
 * threads, so that thousands take at most a thousandth of a processor. */
#define CENSUS_NAME_NS (1 * UINT64_C(1000000000))
#define CENSUS_NAME_EACH_NS (10 * UINT64_C(1000000))

/* Interval between two checks for ended threads, likewise. */
#define CENSUS_REAP_NS (100 * UINT64_C(1000000))
#define CENSUS_REAP_EACH_NS (100 * UINT64_C(1000))
/* The same when new threads need rings; a check takes some 200 ns a thread. */
#define CENSUS_WANTED_EACH_NS UINT64_C(2000)

/* Each THREAD chunk has one record: threads start and end seldom enough. */
void census_record(struct feed *feed, enum gt_thread_what what, uint32_t id,
		   uint64_t stamp)
{
	const struct recording_ring *ring = &feed->r->given[id];
	const char *name = feed->rings[id].name;
	size_t n = strlen(name);
	uint8_t *to = chunk_payload(feed->out);

	CLAIM_FULL(id < GL_RINGS_MAX && n < GT_THREAD_NAME_MAX);
	to = varint_put(to, what);
	to = varint_put(to, id);
	to = varint_put(to, ring->tid);
	to = varint_put(to, ring->flags);
	to = varint_put(to, stamp >> feed->tick_shift);
	if (what == GT_THREAD_START)
		to = varint_put(to, ring->pointer);
	to = varint_put(to, n);
	memcpy(to, name, n);
	chunk_write(feed->out, GT_THREAD, to + n, NULL);
}

/* Replaces qemu's own thread name by the program's. */
static void census_name_program(const struct recording *r,
				char name[GT_THREAD_NAME_MAX])
{
	const char *program = pathname_base(r->executed);

	/* the kernel would truncate it as well */
	if (r->emulated && *program &&
	    strncmp(name, CENSUS_EMULATOR, sizeof(CENSUS_EMULATOR) - 1) == 0)
		pathname_print(name, GT_THREAD_NAME_MAX, "%s", program);
}

/* The name of a ring's thread; "" if it has ended. */
static void census_ask(const struct recording *r, uint32_t id,
		       char name[GT_THREAD_NAME_MAX])
{
	char file[32];
	long n;

	snprintf(file, sizeof(file), "task/%d/comm", r->given[id].tid);
	n = proc_file_read_of(r->pid, file, name, GT_THREAD_NAME_MAX);
	/* without its line feed */
	name[n > 0 ? n - (name[n - 1] == '\n') : 0] = '\0';
	census_name_program(r, name);
}

static void census_read_name(struct feed *feed, uint32_t id, uint64_t now_ns)
{
	struct feed_ring *own = &feed->rings[id];
	uint64_t stamp = counter_now();
	char name[sizeof(own->name)];

	own->named_ns = now_ns;
	census_ask(feed->r, id, name);
	if (!name[0] || strcmp(name, own->name) == 0)
		return;
	memcpy(own->name, name, sizeof(name));
	census_record(feed, GT_THREAD_NAME, id, stamp);
}

void census_names(struct feed *feed, uint64_t now_ns)
{
	uint32_t count = feed_count(feed), id;
	uint64_t pause = base_max(CENSUS_NAME_NS, count * CENSUS_NAME_EACH_NS);

	for (id = 0; id < count; id++) {
		const struct gl_ring *ring = &feed->r->rings[id];

		if (feed->rings[id].known && feed_active(ring) &&
		    !recording_is_nested(feed->r, id) &&
		    now_ns - feed->rings[id].named_ns >= pause)
			census_read_name(feed, id, now_ns);
	}
}

/* The ring's thread id may be a reused one: finishes rings of the older
 * owner. */
static void census_supersede(struct feed *feed, uint32_t id)
{
	const struct recording_ring *ring = &feed->r->given[id], *other;
	uint32_t count = feed_count(feed), i;

	if (!ring->tid)
		return;	/* not known (tid.h) */
	for (i = 0; i < count; i++) {
		other = &feed->r->given[i];
		if (i == id || !feed->rings[i].known ||
		    other->tid != ring->tid ||
		    other->start_stamp > ring->start_stamp ||
		    (other->flags & GT_THREAD_NESTED) !=
			    (ring->flags & GT_THREAD_NESTED))
			continue;
		feed_finish(feed, i, ring->start_stamp);
	}
}

static void census_first_name(struct feed *feed, uint32_t id)
{
	char *name = feed->rings[id].name;

	memcpy(name, recording_thread(feed->r, id)->name, GT_THREAD_NAME_MAX);
	name[GT_THREAD_NAME_MAX - 1] = '\0';
	census_name_program(feed->r, name);
	/* the thread was not allowed to read its name */
	if (!name[0])
		census_ask(feed->r, id, name);
}

/* Copies the data that the thread announced; later changes are ignored. */
static void census_hear(struct recording *r, uint32_t id)
{
	struct recording_ring *given = &r->given[id];
	const struct gl_ring *ring = &r->rings[id];

	given->flags = (given->flags & GT_THREAD_NESTED) |
		       (ring->flags & GT_THREAD_MAIN);
	given->tid = ring->tid;
	given->start_stamp = ring->start_stamp;
	given->pointer = ring->pointer;
}

void census_announce(struct feed *feed, uint32_t id, uint64_t now_ns)
{
	struct feed_ring *own = &feed->rings[id];
	struct recording_ring *ring = &feed->r->given[id];

	if (likely(own->known))
		return;
	census_hear(feed->r, id);
	own->name[0] = '\0';
	own->last_tick = 0;
	own->since_ns = 0;
	own->nested = (struct nested){ 0 };
	own->named_ns = now_ns;
	/* A thread that comes after the scan of a full pass waits for the next
	 * pass: its stamps are above the watermark. */
	own->head = ring->tail;
	own->taken = own->seen = own->head;
	if (!(ring->flags & GT_THREAD_NESTED))
		census_first_name(feed, id);
	own->known = true;
	own->generation = ring->generation;
	census_supersede(feed, id);
	if (!(ring->flags & GT_THREAD_NESTED)) {
		own->serial = ++feed->serials;
		own->number = ++feed->numbers;
	}
	CLAIM_FULL(feed->numbers <= feed->serials);
	if (unlikely(feed->sequence))
		sequence_thread(feed, id);
	log_number(OPTION_LOG_DEBUG, "thread", ring->tid);
	census_record(feed, GT_THREAD_START, id, ring->start_stamp);
}

static bool census_gone(const struct feed *feed, int32_t tid)
{
	uint64_t state;

	if (tgkill(feed->r->pid, tid, 0) && errno == ESRCH)
		return true;
	return tid == feed->r->pid &&
	       proc_stat(tid, PROC_STAT_STATE, &state) && state == 'Z';
}

static void census_reap(struct feed *feed)
{
	uint32_t count = feed_count(feed), id;

	for (id = 0; id < count && !feed->out->err; id++) {
		const struct gl_ring *ring = &feed->r->rings[id];

		if (!feed_active(ring))
			continue;
		census_announce(feed, id, time_ns_now());
		if (census_gone(feed, feed->r->given[id].tid))
			feed_finish(feed, id, counter_now());
	}
}

void census_look(struct feed *feed, bool wanted, uint64_t now_ns)
{
	uint32_t count = feed_count(feed);
	uint64_t pause = base_max(CENSUS_REAP_NS,
				  count * CENSUS_REAP_EACH_NS);

	if (wanted)
		pause = count * CENSUS_WANTED_EACH_NS;
	if (now_ns - feed->reaped_ns < pause)
		return;
	feed->reaped_ns = now_ns;
	census_reap(feed);
}
