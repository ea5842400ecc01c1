/*
 * ledger_ask.c: see ledger_ask.h. The writer copies the results: no other task
 * reads its tables. Threads of the target only.
 */
#include "preload/ring/ledger_ask.h"

#include <errno.h>

#include "preload/ring/ask.h"
#include "preload/ring/recorder.h"
#include "preload/ring/ring.h"

void ledger_want(struct recorder *r, uint32_t why)
{
	struct gl_shared *shared = r->shared;

	if (shared && (atomic_fetch_or_explicit(&shared->ledger_wants, why,
					       memory_order_relaxed) & why) !=
			      why)
		recorder_wake(r);
}

bool ledger_nested(void)
{
	const struct thread *thread = recorder_tls;

	return thread && thread->own && !ring_idle(thread->own);
}

int ledger_ask(struct recorder *r, enum ledger_question what, uint32_t ring,
	       void *answer, uint32_t bytes)
{
	const struct ask_question question = {
		.what = ASK_LEDGER, .number = what,
		.arg = { ring, ledger_nested() },
		.more = answer, .more_bytes = bytes,
	};
	long result;

	return ask_writer(r, &question, &result) ? result : -ETIMEDOUT;
}
