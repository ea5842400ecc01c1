/*
 * thread_list.c: see thread_list.h.
 *
 * ENDS. A thread has ended when the kernel does not know it, or when another
 * ring has its id: ids are reused only after their thread's end. No hook of
 * ours runs at a thread's end, as none could be the last code there. So its end
 * time is the time at which the recorder found it missing. The main thread's id
 * stays in use while other threads live; the kernel shows it as a zombie.
 *
 * NAMES. A thread reports its name at its first event. Later events report
 * names set with pthread_setname_np and prctl (hooks_thread.c). Names written
 * to /proc/PID/task/TID/comm are found by reading that file at intervals. An
 * emulator's threads have the emulator's name until the program names them;
 * they get the program's name, as without the emulator.
 */
#include "cli/recorder/thread_list.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/recorder/base/counter.h"
#include "cli/recorder/emit/varint.h"
#include "cli/recorder/output/log_file.h"
#include "cli/recorder/base/pathname.h"
#include "cli/recorder/base/proc_file.h"
#include "cli/recorder/base/proc_stat.h"
#include "cli/recorder/base/time_ns.h"
#include "preload/ring/ring_shared.h"
#include "cli/recorder/event_merge.h"
#include "unwind/base/assertion.h"

#define THREAD_LIST_EMULATOR "qemu-"

/* Interval between two readings of a thread's name. It grows with the number of
 * threads, so that thousands take at most a thousandth of a processor. */
#define THREAD_LIST_NAME_NS (1 * UINT64_C(1000000000))
#define THREAD_LIST_NAME_EACH_NS (10 * UINT64_C(1000000))

/* Interval between two checks for ended threads, likewise. */
#define THREAD_LIST_REAP_NS (100 * UINT64_C(1000000))
#define THREAD_LIST_REAP_EACH_NS (100 * UINT64_C(1000))
/* The same when new threads need rings; a check takes some 200 ns a thread. */
#define THREAD_LIST_WANTED_EACH_NS UINT64_C(2000)

/* Each THREAD chunk has one record: threads start and end seldom enough. */
void thread_list_record(struct ring_drain *drain, enum gt_thread_what what,
			uint32_t id, uint64_t stamp)
{
	const struct recording_ring *ring = &drain->r->given[id];
	const char *name = drain->rings[id].name;
	size_t n = strlen(name);
	uint8_t *to = chunk_payload(drain->out);

	DEBUG_ASSERT(id < GL_RINGS_MAX && n < GT_THREAD_NAME_MAX);
	to = varint_put(to, what);
	to = varint_put(to, id);
	to = varint_put(to, ring->tid);
	to = varint_put(to, ring->flags);
	to = varint_put(to, stamp >> drain->tick_shift);
	if (what == GT_THREAD_START)
		to = varint_put(to, ring->pointer);
	to = varint_put(to, n);
	memcpy(to, name, n);
	chunk_write(drain->out, GT_THREAD, to + n, NULL);
}

/* Replaces qemu's own thread name by the program's. */
static void thread_list_name_program(const struct recording *r,
				     char name[GT_THREAD_NAME_MAX])
{
	const char *program = pathname_base(r->executed);

	/* the kernel would truncate it as well */
	if (r->emulated && *program &&
	    strncmp(name, THREAD_LIST_EMULATOR,
		    sizeof(THREAD_LIST_EMULATOR) - 1) == 0)
		pathname_print(name, GT_THREAD_NAME_MAX, "%s", program);
}

/* The name of a ring's thread; "" if it has ended. */
static void thread_list_request(const struct recording *r, uint32_t id,
				char name[GT_THREAD_NAME_MAX])
{
	char file[32];
	long n;

	snprintf(file, sizeof(file), "task/%d/comm", r->given[id].tid);
	n = proc_file_read_of(r->pid, file, name, GT_THREAD_NAME_MAX);
	/* without its line feed */
	name[n > 0 ? n - (name[n - 1] == '\n') : 0] = '\0';
	thread_list_name_program(r, name);
}

static void thread_list_read_name(struct ring_drain *drain, uint32_t id,
				  uint64_t now_ns)
{
	struct drain_source *own = &drain->rings[id];
	uint64_t stamp = counter_now();
	char name[sizeof(own->name)];

	own->named_ns = now_ns;
	thread_list_request(drain->r, id, name);
	if (!name[0] || strcmp(name, own->name) == 0)
		return;
	memcpy(own->name, name, sizeof(name));
	thread_list_record(drain, GT_THREAD_NAME, id, stamp);
}

void thread_list_names(struct ring_drain *drain, uint64_t now_ns)
{
	uint32_t count = drain_count(drain), id;
	uint64_t pause =
		base_max(THREAD_LIST_NAME_NS, count * THREAD_LIST_NAME_EACH_NS);

	for (id = 0; id < count; id++) {
		const struct gl_ring *ring = &drain->r->rings[id];

		if (drain->rings[id].known && drain_active(ring) &&
		    !recording_is_nested(drain->r, id) &&
		    now_ns - drain->rings[id].named_ns >= pause)
			thread_list_read_name(drain, id, now_ns);
	}
}

/* The ring's thread id may be a reused one: finishes rings of the older
 * owner. */
static void thread_list_supersede(struct ring_drain *drain, uint32_t id)
{
	const struct recording_ring *ring = &drain->r->given[id], *other;
	uint32_t count = drain_count(drain), i;

	if (!ring->tid)
		return;	/* not known (tid.h) */
	for (i = 0; i < count; i++) {
		other = &drain->r->given[i];
		if (i == id || !drain->rings[i].known ||
		    other->tid != ring->tid ||
		    other->start_stamp > ring->start_stamp ||
		    (other->flags & GT_THREAD_NESTED) !=
			    (ring->flags & GT_THREAD_NESTED))
			continue;
		drain_finish(drain, i, ring->start_stamp);
	}
}

static void thread_list_first_name(struct ring_drain *drain, uint32_t id)
{
	char *name = drain->rings[id].name;

	memcpy(name, recording_thread(drain->r, id)->name, GT_THREAD_NAME_MAX);
	name[GT_THREAD_NAME_MAX - 1] = '\0';
	thread_list_name_program(drain->r, name);
	/* the thread was not allowed to read its name */
	if (!name[0])
		thread_list_request(drain->r, id, name);
}

/* Copies the data that the thread announced; later changes are ignored. */
static void thread_list_update(struct recording *r, uint32_t id)
{
	struct recording_ring *given = &r->given[id];
	const struct gl_ring *ring = &r->rings[id];

	given->flags = (given->flags & GT_THREAD_NESTED) |
		       (ring->flags & GT_THREAD_MAIN);
	given->tid = ring->tid;
	given->start_stamp = ring->start_stamp;
	given->pointer = ring->pointer;
}

void thread_list_announce(struct ring_drain *drain, uint32_t id,
			  uint64_t now_ns)
{
	struct drain_source *own = &drain->rings[id];
	struct recording_ring *ring = &drain->r->given[id];

	if (likely(own->known))
		return;
	thread_list_update(drain->r, id);
	own->name[0] = '\0';
	own->last_tick = 0;
	own->since_ns = 0;
	own->nested = (struct nested_ring){ 0 };
	own->named_ns = now_ns;
	/* A thread that comes after the scan of a full pass waits for the next
	 * pass: its stamps are above the watermark. */
	own->head = ring->tail;
	own->taken = own->seen = own->head;
	if (!(ring->flags & GT_THREAD_NESTED))
		thread_list_first_name(drain, id);
	own->known = true;
	own->generation = ring->generation;
	thread_list_supersede(drain, id);
	if (!(ring->flags & GT_THREAD_NESTED)) {
		own->serial = ++drain->serials;
		own->number = ++drain->numbers;
	}
	DEBUG_ASSERT(drain->numbers <= drain->serials);
	if (unlikely(drain->merge))
		event_merge_thread(drain, id);
	log_file_number(OPTION_LOG_DEBUG, "thread", ring->tid);
	thread_list_record(drain, GT_THREAD_START, id, ring->start_stamp);
}

static bool thread_list_gone(const struct ring_drain *drain, int32_t tid)
{
	uint64_t state;

	if (tgkill(drain->r->pid, tid, 0) && errno == ESRCH)
		return true;
	return tid == drain->r->pid &&
	       proc_stat(tid, PROC_STAT_STATE, &state) && state == 'Z';
}

static void thread_list_reap(struct ring_drain *drain)
{
	uint32_t count = drain_count(drain), id;

	for (id = 0; id < count && !drain->out->err; id++) {
		const struct gl_ring *ring = &drain->r->rings[id];

		if (!drain_active(ring))
			continue;
		thread_list_announce(drain, id, time_ns_now());
		if (thread_list_gone(drain, drain->r->given[id].tid))
			drain_finish(drain, id, counter_now());
	}
}

void thread_list_poll(struct ring_drain *drain, bool wanted, uint64_t now_ns)
{
	uint32_t count = drain_count(drain);
	uint64_t pause = base_max(THREAD_LIST_REAP_NS,
				  count * THREAD_LIST_REAP_EACH_NS);

	if (wanted)
		pause = count * THREAD_LIST_WANTED_EACH_NS;
	if (now_ns - drain->reaped_ns < pause)
		return;
	drain->reaped_ns = now_ns;
	thread_list_reap(drain);
}
