/*
 * control.c: see control.h.
 *
 *	          START (command, signal, API, --delay)
 *	dormant ──────────────────────────────────────▶ recording
 *	   ▲       STOP (the same, --duration)              │
 *	   └────────────────────────────────────────────────┘
 *
 * MOMENTS. A record's tick is taken while no thread has the turn (ring.h), so
 * that later events have a later stamp. The record is written before the first
 * SYNC whose watermark is above the tick.
 *
 * The tick of a stop is taken before the recorder is dormant. So events that
 * depend on unrecorded ones are after the stop, and do not count either. The
 * tick of a start is taken before the recorder leaves the dormant state.
 *
 * SIGNAL HANDLERS post requests with their ticks, and the gate is open from
 * then on (gate.h). So a round may find several stops and starts, and handles
 * each as of its own tick. `off` is the state at the tick that was handled
 * last; the gate may be open while `off` is set.
 *
 * I1: requests are handled in the order of their ticks. A request with a tick
 *     below `settled` gets the tick `settled`: it was posted after that time,
 *     or it would have been found then. So no event after its handler has an
 *     earlier stamp.
 * I2: no event above `settled` was taken (event_merge.h), and no SYNC has a
 *     watermark above it.
 *
 * The recorder only.
 */
#include "cli/recorder/control.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/recorder/base/counter.h"
#include "cli/recorder/emit/varint.h"
#include "cli/recorder/base/futex.h"
#include "cli/recorder/gate_requests.h"
#include "cli/recorder/base/time_ns.h"
#include "cli/recorder/base/zeroed.h"
#include "cli/recorder/output/log_file.h"
#include "preload/ring/gate.h"
#include "preload/ring/ring_shared.h"
#include "cli/recorder/live_blocks/stats.h"
#include "cli/recorder/recorder.h"
#include "cli/recorder/base/xxh64.h"
#include "unwind/base/assertion.h"

#define CONTROL_NAMES 4096	/* snapshot names remembered */
#define CONTROL_FOREVER_NS UINT64_C(1000000000)
/* a client is connected */
#define CONTROL_CLIENT_NS (5 * UINT64_C(1000000))
#define CONTROL_SIGNALS 64	/* of a kind, handled in one round */
#define CONTROL_SIGNALS_MAX (1u << 20)	/* unhandled: not between two rounds */

static void control_answer(struct control_request *request, int err,
			   const char *message)
{
	request->err = err;
	snprintf(request->message, sizeof(request->message), "%s", message);
}

void control_emit(struct recorder *rec, enum gt_control_what what,
		  uint64_t tick, uint64_t number, const char *name)
{
	size_t n = base_min(strlen(name), GT_NAME_MAX - 1);
	uint8_t *to = chunk_payload(&rec->out);

	to = varint_put(to, what);
	to = varint_put(to, tick);
	to = varint_put(to, number);
	to = varint_put(to, n);
	memcpy(to, name, n);
	chunk_write(&rec->out, GT_CONTROL, to + n, NULL);
}

/* Returns a tick such that all later stamps are not below it. Handles requests
 * of signal handlers from before it. */
static uint64_t control_tick(struct recorder *rec)
{
	struct control *control = &rec->control;
	uint64_t tick;

	atomic_store_explicit(&rec->r->shared->turn, 0, memory_order_seq_cst);
	tick = counter_now() >> rec->drain.tick_shift;
	if (gate_pending(rec->r->shared))
		drain_poll(&rec->drain);
	control->settled = base_max(control->settled, tick);	/* I1 */
	return control->settled;
}

static void control_moment(struct recorder *rec, enum gt_control_what what,
			   const struct control_request *request)
{
	bool serving = rec->control.serving;

	DEBUG_ASSERT(request->tick >= rec->drain.watermark); /* I2 */
	rec->control.serving = true;
	if (what == GT_CONTROL_START || what == GT_CONTROL_CLEAR)
		tracker_begin_anew(rec, request->tick,
				   what == GT_CONTROL_START);
	rec->control.serving = serving;
	control_emit(rec, what, request->tick, 0, request->name);
}

/* ---- start and stop ---- */

static void control_limit_duration(struct control *control, uint64_t since_ns)
{
	uint64_t duration = recording_options->number[OPTION_DURATION];

	control->stop_ns = duration ? since_ns + duration : 0;
}

static void control_start(struct recorder *rec, struct control_request *request)
{
	struct control *control = &rec->control;

	if (!control->off) {
		control_answer(request, -EALREADY, "is being recorded already");
		return;
	}
	/* hooks did not record mappings while stopped */
	maps_watch_whole(&rec->maps);
	control_moment(rec, GT_CONTROL_START, request);
	DEBUG_ASSERT(request->tick >= control->end_tick); /* I1 */
	control->begin_tick = request->tick;
	control->clear_tick = control->end_tick = 0;
	control->begun++;
	control->off = false;
	control->start_ns = 0;
	control_limit_duration(control, time_ns_now());
	gate_open(rec->r->shared);
}

static void control_stop(struct recorder *rec, struct control_request *request)
{
	struct control *control = &rec->control;

	if (control->off) {
		control_answer(request, -EALREADY, "is not being recorded");
		return;
	}
	control_moment(rec, GT_CONTROL_STOP, request);
	control->off = true;
	gate_close(rec->r->shared);
	DEBUG_ASSERT(request->tick >= control->begin_tick); /* I1 */
	control->end_tick = request->tick;
	control->stop_ns = 0;
	ring_kick(rec->r->rings, rec->r->ring_count);
	/* readers should see all events from now on */
	control->sync = true;
}

void control_begin(struct recorder *rec)
{
	uint64_t delay = recording_options->number[OPTION_DELAY];
	struct control *control = &rec->control;
	/* of the program, which did not wait for the recorder */
	uint64_t begin_ns = rec->live.shape.monotonic0_ns;
	uint64_t now = rec->live.shape.counter0 >>
		       rec->live.shape.tick_shift;

	if (!delay && !recording_options->number[OPTION_OFF]) {
		control->begun = 1;
		control_limit_duration(control, begin_ns);
		return;
	}
	if (delay)
		control->start_ns = begin_ns + delay;
	control->end_tick = now;
	control->off = true;
	gate_close(rec->r->shared);
	control_emit(rec, GT_CONTROL_STOP, now, 0, "");
}

/* ---- snapshots ---- */

/* Whether no other snapshot has this name. Registers the name. */
static bool control_name_is_new(struct control *control, const char *name)
{
	struct xxh64 state;
	uint64_t hash;
	uint32_t i;

	xxh64_init(&state, 0);
	xxh64_update(&state, name, strlen(name));
	hash = xxh64_digest(&state);
	if (!control->names)
		control->names = zeroed_alloc(CONTROL_NAMES * sizeof(hash));
	if (!control->names || control->name_count == CONTROL_NAMES)
		return false;
	for (i = 0; i < control->name_count; i++)
		if (control->names[i] == hash)
			return false;
	DEBUG_ASSERT(control->name_count < CONTROL_NAMES);
	control->names[control->name_count++] = hash;
	return true;
}

/* Snapshot names stand for times in queries, so they must be unique: the second
 * of two equal names gets its number appended. A snapshot without a name is
 * named by its number. */
static void control_name(struct control *control, uint64_t number,
			 char name[GT_NAME_MAX])
{
	size_t n = strlen(name), room = 21;	/* a dot, 20 digits */

	if (n && control_name_is_new(control, name))
		return;
	n = base_min(n, GT_NAME_MAX - 1 - room);
	snprintf(name + n, GT_NAME_MAX - n, "%s%" PRIu64, n ? "." : "",
		 number);
}

static void control_snapshot(struct recorder *rec,
			     struct control_request *request)
{
	if (rec->snapshot.busy) {
		control_answer(request, -EAGAIN,
			       "another snapshot is being taken");
		return;
	}
	request->number = rec->snapshot.number + 1;
	control_name(&rec->control, request->number, request->name);
	if (!snapshot_begin(&rec->snapshot, GT_SNAPSHOT_ASKED, request->name))
		control_answer(request, -EIO, "the trace cannot be written");
}

bool control_taken(const struct recorder *rec, uint64_t number)
{
	return rec->snapshot.number > number ||
	       (rec->snapshot.number == number && !rec->snapshot.busy);
}

/* ---- requests ---- */

/* The command reads the file, so all events are written first. */
static void control_report(struct recorder *rec,
			   struct control_request *request)
{
	const char *why = "";

	if (!rec->output.regular) {
		control_answer(request, -ESPIPE,
			       "the trace is not a regular file, so it cannot "
			       "be read: use -o FILE");
		return;
	}
	drain_sync(&rec->drain, DRAIN_ALL);
	request->err = reporter_ask(&rec->reporter, target_task(&rec->target),
				    &why);
	control_answer(request, request->err, why);
}

/* The tick that is `ns` after the start of the recording, by the present ratio
 * of counter and clock. */
static uint64_t control_tick_of(const struct recorder *rec, uint64_t ns)
{
	const struct gl_header *live = &rec->live.shape;
	uint64_t passed_ns = time_ns_now() - live->monotonic0_ns;
	uint64_t begin = live->counter0 >> live->tick_shift;
	uint64_t ticks = (counter_now() >> live->tick_shift) - begin;

	/* scaled down, or a product would overflow after some minutes */
	while (ticks >> 30) {
		ticks >>= 1;
		passed_ns >>= 1;
	}
	return begin + ns / (passed_ns + 1) * ticks +
	       ns % (passed_ns + 1) * ticks / (passed_ns + 1);
}

/* Makes readers map this tick to exactly that time, although the ratio of
 * counter and clock will be slightly different then. */
static void control_pin(struct recorder *rec, uint64_t tick, uint64_t ns)
{
	uint64_t began_ns = rec->live.shape.monotonic0_ns,
		 now_ns = time_ns_now();

	if (began_ns + ns > now_ns)
		drain_moment(&rec->drain, tick, began_ns + ns,
			     time_ns_of(CLOCK_REALTIME) + (began_ns + ns -
							 now_ns));
}

static void control_log(enum control_what what,
			const struct control_request *request)
{
	static const char *const names[CONTROL_KINDS] = {
		[CONTROL_START] = "start", [CONTROL_STOP] = "stop",
		[CONTROL_SNAPSHOT] = "snapshot requested",
		[CONTROL_CLEAR] = "clear", [CONTROL_MARKER] = "marker",
		[CONTROL_HEAP] = "heap", [CONTROL_REPORT] = "report",
	};

	if (request->err)
		log_file_print(OPTION_LOG_WARN, "refused", request->message);
	else if (names[what])
		log_file_print(OPTION_LOG_INFO, names[what],
			       request->name[0] ? request->name : NULL);
}

static void control_sync(struct recorder *rec)
{
	if (!rec->control.sync)
		return;
	rec->control.sync = false;
	drain_sync(&rec->drain, DRAIN_ALL);
}

/* Handles a request as of its tick. */
static void control_serve(struct recorder *rec, struct control_request *request)
{
	enum control_what what = request->what;

	DEBUG_ASSERT(request->tick == rec->control.settled); /* I1 */
	control_answer(request, 0, "");
	if (what == CONTROL_TOGGLE)
		what = rec->control.off ? CONTROL_START : CONTROL_STOP;
	switch (what) {
	case CONTROL_START:
		control_start(rec, request);
		break;
	case CONTROL_STOP:
		control_stop(rec, request);
		break;
	case CONTROL_SNAPSHOT:
		control_snapshot(rec, request);
		break;
	case CONTROL_CLEAR:
		control_moment(rec, GT_CONTROL_CLEAR, request);
		DEBUG_ASSERT(request->tick >= rec->control.begin_tick); /* I1 */
		rec->control.clear_tick = request->tick;
		break;
	case CONTROL_MARKER:
		control_moment(rec, GT_CONTROL_MARKER, request);
		break;
	case CONTROL_HEAP:
		control_emit(rec, GT_CONTROL_HEAP, request->tick,
			     request->number, request->name);
		break;
	case CONTROL_SYNC:
		drain_sync(&rec->drain, DRAIN_ALL);
		break;
	case CONTROL_REPORT:
		control_report(rec, request);
		break;
	case CONTROL_TICK:
		request->tick = control_tick_of(rec, request->number);
		control_pin(rec, request->tick, request->number);
		break;
	case CONTROL_SNAPSHOT_EVERY:
		snapshot_every(&rec->snapshot, request->number);
		break;
	case CONTROL_STATS_EVERY:
		stats_every(rec, request->number);
		break;
	default:
		control_answer(request, -EOPNOTSUPP,
			       "is an unknown request to a recording");
	}
	/* not between a scan and taking its records */
	if (!rec->control.serving)
		control_sync(rec);
	if (!request->err && rec->out.err)
		control_answer(request, rec->out.err,
			       "the trace cannot be written");
	control_log(what, request);
}

void control_do(struct recorder *rec, struct control_request *request)
{
	request->tick = control_tick(rec);
	control_serve(rec, request);
}

void control_scanned(struct recorder *rec)
{
	struct control *control = &rec->control;
	struct gate_request posted;
	struct control_request request;
	uint64_t scanned = rec->drain.scanned;
	unsigned left = GATE_SLOTS;	/* there are no more */

	if (control->serving)
		return;
	if (!gate_is_possible(rec->r->shared)) {
		recording_damage(rec->r, "requests to start or stop");
		return;
	}
	control->serving = true;
	/* A later request waits for the next scan: its events may not be
	 * visible yet. */
	while (left-- && gate_next(rec->r->shared, &posted) &&
	       posted.cycles >> rec->drain.tick_shift <= scanned) {
		gate_take(rec->r->shared);
		request = (struct control_request){
			.what = posted.what == GATE_CLEAR ? CONTROL_CLEAR :
							    CONTROL_TOGGLE,
			.tick = base_max(posted.cycles >> rec->drain.tick_shift,
					 control->settled),	/* I1 */
		};
		control->settled = request.tick;
		control_serve(rec, &request);
	}
	control->settled = base_max(control->settled, scanned);
	control->serving = false;
}

/* False: try again in the next round. */
static bool control_by_itself(struct recorder *rec, enum control_what what)
{
	struct control_request request = { .what = what };

	control_do(rec, &request);
	return request.err != -EAGAIN;
}

static_assert(CONTROL_KINDS <= GL_SIGNALLED, "a count for each kind");

static void control_signals(struct recorder *rec)
{
	const struct gl_shared *shared = rec->r->shared;
	unsigned what, n;

	for (what = 0; what < CONTROL_KINDS; what++) {
		uint32_t *served = &rec->control.served[what];
		uint32_t given = atomic_load_explicit(&shared->signalled[what],
						      memory_order_relaxed);

		if (given - *served > CONTROL_SIGNALS_MAX) {
			recording_damage(rec->r, "how many signals came");
			return;
		}
		for (n = 0; *served != given && n < CONTROL_SIGNALS; n++) {
			if (!control_by_itself(rec, what))
				break;
			/* equal requests at once count as one, except
			 * toggles */
			*served = what == CONTROL_TOGGLE ? *served + 1 :
							   given;
		}
	}
}

void control_step(struct recorder *rec, uint64_t now_ns)
{
	struct control *control = &rec->control;
	struct recording *r = rec->r;
	struct gl_shared *shared = r->shared;

	if (gate_pending(shared))
		drain_poll(&rec->drain);
	control_signals(rec);
	if (control->start_ns && now_ns >= control->start_ns) {
		control->start_ns = 0;
		control_by_itself(rec, CONTROL_START);
	}
	if (control->stop_ns && now_ns >= control->stop_ns)
		control_by_itself(rec, CONTROL_STOP);
	control_sync(rec);
	if (control->off) {
		/* a handler may have opened the gate meanwhile */
		gate_close(shared);
		ring_kick(r->rings, r->ring_count);
	}
	if (!rec->snapshot.busy &&
	    atomic_load_explicit(&shared->snapshots, memory_order_relaxed) !=
		    (uint32_t)rec->snapshot.number) {
		/* pairs with the acquire of control_await */
		atomic_store_explicit(&shared->snapshots, rec->snapshot.number,
				      memory_order_release);
		futex_wake(&shared->snapshots);
	}
}

uint64_t control_wait_ns(const struct recorder *rec)
{
	const struct control *control = &rec->control;
	uint64_t due = control->start_ns ? control->start_ns :
					   control->stop_ns;
	uint64_t now;

	if (control_socket_busy(&rec->socket))
		return CONTROL_CLIENT_NS;
	if (!due)
		return CONTROL_FOREVER_NS;
	now = time_ns_now();
	return due > now ? due - now : 0;
}
