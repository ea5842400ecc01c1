/*
 * request.c: see request.h.
 *
 *	         thread        thread              recorder
 *	(holder) ─────▶ POSTED ─────────▶ TAKEN ──▶ DONE
 *	IDLE ◀────────────┴─ too late ──── thread ◀──┘
 *
 * THE LOCK. `holder` is the thread pointer of the holder; 0: free. A thread
 * that finds it taken sleeps until `left` changes. If others sleep, the holder
 * does not free the lock but passes it to the first of them (REQUEST_PASSED,
 * which only a thread that has slept may take). Otherwise a thread that sends
 * many requests would get the lock again before a sleeper is awake. If that
 * sleeper has ended or is in a handler, another one takes the lock at the end
 * of its nap.
 *
 * SIGNALS are blocked during a request: a longjmp out of a handler would leave
 * the lock taken. A process may have forbidden itself the system call for that
 * (forbidden.h). Then a request may be abandoned; the next request of the same
 * thread withdraws it, and other threads are refused until then.
 *
 * I1: a thread that finds itself to be the holder is in a handler that
 * interrupted its own request, as no other thread stores that value, or has
 * abandoned one by a longjmp. The handler is refused at once. So the holder
 * waits for the recorder only, other threads for holders. I2: each wait, except
 * for a request in state TAKEN, ends without being woken.
 *
 * A fork finds all of it 0: the area is wiped.
 */
#include "preload/ring/request.h"

#include <errno.h>
#include <string.h>

#include "arch.h"
#include "preload/base/sys.h"
#include "preload/ring/area.h"
#include "preload/ring/producer.h"
#include "unwind/abandoned.h"
#include "unwind/base/memory.h"
#include "unwind/base/signals.h"

#define REQUEST_NAP_NS (20 * UINT64_C(1000000))
/* Limit of a wait, in parts of a nap, and the parts counted for a nap ended
 * early by an event or a signal. Uses no clock: a thread may be forbidden to
 * read any. */
#define REQUEST_TIMEOUT (100 * REQUEST_NAP)
#define REQUEST_PASSED 1	/* not a thread pointer */
enum { REQUEST_MOVED = 1, REQUEST_SIGNAL = 32, REQUEST_NAP = 256 };

struct request_turn *request_turn;

void request_alloc(void)
{
	request_turn = area_place(sizeof(*request_turn));
}

static bool request_move(struct gl_request *request, uint32_t from, uint32_t to)
{
	return atomic_compare_exchange_strong_explicit(
		&request->state, &from, to, memory_order_acq_rel,
		memory_order_acquire);
}

static bool request_is_ours(void)
{
	return atomic_load_explicit(&request_turn->holder,
				    memory_order_relaxed) ==
	       arch_thread_pointer();
}

static bool request_is_left(uintptr_t sp)
{
	const struct thread *thread = producer_tls;

	return request_turn->cfa &&
	       abandoned(thread ? thread->capture : NULL, request_turn->cfa,
			 request_turn->ra, sp);
}

bool request_interrupted(uintptr_t sp)
{
	return request_is_ours() && !request_is_left(sp);
}

static bool request_take(uintptr_t from)
{
	/* pairs with the stores of request_leave */
	return atomic_compare_exchange_strong(&request_turn->holder, &from,
					      arch_thread_pointer());
}

/* Sleeps while *word == value, at most a nap; returns the parts counted for
 * it. */
static unsigned request_nap(struct producer *p, const _Atomic uint32_t *word,
			    uint32_t value)
{
	bool spins = !unwind_may(UNWIND_NO_WAIT);
	long result = 0;

	if (spins)
		recorder_nap(p, word, value, REQUEST_NAP_NS);
	else
		result = sys_futex_wait(word, value, REQUEST_NAP_NS);
	if (atomic_load_explicit(word, memory_order_relaxed) != value)
		return REQUEST_MOVED;
	if (spins || result == -ETIMEDOUT)
		return REQUEST_NAP;
	return result == -EINTR ? REQUEST_SIGNAL : REQUEST_MOVED;
}

/* Withdraws a request that the calling thread abandoned by a longjmp; if the
 * recorder has taken it, waits until the recorder is done. */
static bool request_withdraw(struct producer *p, struct gl_request *request)
{
	while (!request_move(request, GL_REQUEST_POSTED, GL_REQUEST_IDLE) &&
	       atomic_load_explicit(&request->state, memory_order_acquire) ==
		       GL_REQUEST_TAKEN) {
		if (!recorder_alive(p))
			return false;
		request_nap(p, &request->state, GL_REQUEST_TAKEN);
	}
	atomic_store_explicit(&request->state, GL_REQUEST_IDLE, memory_order_relaxed);
	return true;
}

static bool request_claim(struct producer *p, struct gl_request *request,
			  uintptr_t sp)
{
	unsigned waited = 0;
	uint32_t left;

	if (unlikely(request_is_ours()))
		return request_is_left(sp) && request_withdraw(p, request);
	while (!request_take(0)) {
		if (waited >= REQUEST_TIMEOUT || !recorder_alive(p))
			return false;
	/* set before a last check; pairs with the loads of request_leave */
		atomic_store(&request_turn->waits, 1);
		left = atomic_load(&request_turn->left);
		if (request_take(0))
			break;
		waited += request_nap(p, &request_turn->left, left);
		if (request_take(REQUEST_PASSED))
			break;
	}
	return true;
}

static void request_leave(void)
{
	struct request_turn *ask = request_turn;
	bool wakes = unwind_may(UNWIND_NO_WAIT);
	bool waits = atomic_exchange(&ask->waits, 0) && wakes;
	uintptr_t passed = REQUEST_PASSED;

	DEBUG_ASSERT(request_is_ours());
	ask->cfa = 0;
	atomic_store(&ask->holder, waits ? REQUEST_PASSED : 0);
	atomic_fetch_add(&ask->left, 1);
	if (!wakes || (!waits && !atomic_load(&ask->waits)))
		return;
	/* there may be more sleepers, which do not set it again */
	if (sys_futex_wake_some(&ask->left, 1) > 0)
		atomic_store(&ask->waits, 1);
	else if (waits)
		atomic_compare_exchange_strong(&ask->holder, &passed, 0);
}

/* Returns whether the request was answered. Once it is taken, waits as long as
 * the recorder lives: the recorder uses the request until then. */
static bool request_wait(struct producer *p, struct gl_request *request)
{
	unsigned waited = 0;

	for (;;) {
		uint32_t state = atomic_load_explicit(&request->state,
						      memory_order_acquire);

		if (state == GL_REQUEST_DONE)
			return true;
		if (!recorder_alive(p))
			return false;
		if (waited >= REQUEST_TIMEOUT &&
		    request_move(request, GL_REQUEST_POSTED, GL_REQUEST_IDLE))
			return false;
		waited += request_nap(p, &request->state, state);
	}
}

static bool request_and_wait(struct producer *p, struct gl_request *request,
			     const struct request_args *args, long *result)
{
	bool answered;
	unsigned i;

	ASSERT(request_is_ours());
	DEBUG_ASSERT(request_is_valid(request_turn, request));
	request->what = args->what;
	request->number = args->number;
	for (i = 0; i < 6; i++)
		request->arg[i] = args->arg[i];
	DEBUG_ASSERT(args->bytes + args->more_bytes <= GL_REQUEST_ROOM);
	request->bytes = args->bytes + args->more_bytes;
	memcpy(request->data, args->data, args->bytes);
	/* pairs with the acquire of request_pending */
	atomic_store_explicit(&request->state, GL_REQUEST_POSTED,
			      memory_order_release);
	recorder_wake(p);
	answered = request_wait(p, request);
	if (answered) {
		*result = request->result;
		if (args->back)
			memcpy(args->back, request->data, args->bytes);
		memcpy(args->more, request->data + args->bytes,
		       args->more_bytes);
	}
	atomic_store_explicit(&request->state, GL_REQUEST_IDLE, memory_order_relaxed);
	return answered;
}

BASE_SLOW bool request_make(struct producer *p,
			    const struct request_args *args, long *result)
{
	uintptr_t sp = (uintptr_t)__builtin_dwarf_cfa();
	struct gl_request *request;
	struct signals_held held;
	bool answered = false;

	if (!producer_is_on(p) ||
	    args->bytes + args->more_bytes > GL_REQUEST_ROOM)
		return false;
	request = &p->shared->request;
	signals_hold(&held);
	if (request_claim(p, request, sp)) {
		/* cfa is set last: a handler in between is refused */
		request_turn->cfa = 0;
		atomic_signal_fence(memory_order_seq_cst);
		request_turn->ra = (uintptr_t)__builtin_return_address(0);
		atomic_signal_fence(memory_order_seq_cst);
		request_turn->cfa = sp;
		answered = request_and_wait(p, request, args, result);
		request_leave();
	}
	signals_release(&held);
	return answered;
}

/* Bounds of this library, from the linker. */
extern BASE_HIDDEN const char __ehdr_start[], _end[];

bool request_memory(struct producer *p, bool blocks, struct gl_range *part,
		    unsigned room,
		    void (*each)(void *owner, struct gl_range range),
		    void *owner)
{
	struct request_args args = {
		.what = REQUEST_MEMORY,
		.data = part,
		.bytes = room * sizeof(*part),
		.back = part,
		.arg = { 0, (long)__ehdr_start,
			 (long)base_round_up((uintptr_t)_end, 4096), blocks },
	};
	long count, i;

	memset(part, 0, args.bytes);
	do {
		if (!request_make(p, &args, &count) || count < 0 ||
		    count > (long)room)
			return false;
		for (i = 0; i < count; i++) {
			args.arg[0] = (long)part[i].end;
			each(owner, part[i]);
		}
	} while (count == (long)room);
	return true;
}

#ifdef GNOMON_DEBUG_ASSERTS
bool request_is_valid(const struct request_turn *turn,
		      const struct gl_request *request)
{
	uint32_t state = atomic_load_explicit(&request->state,
					      memory_order_acquire);

	/* the holder finds no request of another thread */
	return state <= GL_REQUEST_DONE && atomic_load(&turn->waits) <= 1 &&
	       (atomic_load(&turn->holder) != arch_thread_pointer() ||
		 state == GL_REQUEST_IDLE) &&
	       (turn->cfa == 0 || turn->ra != 0);
}
#endif
