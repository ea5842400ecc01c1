/*
 * ledger_ask.c: see ledger_ask.h. What is asked for is copied by the writer:
 * nobody else ever looks at its tables. Threads of the target only.
 */
#include "preload/ring/ledger_ask.h"

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

bool ledger_ask(struct recorder *r, struct ledger_question *question)
{
	struct ledger_question own = *question;
	struct ask_question ask = {
		.what = ASK_LEDGER, .data = &own, .back = &own,
		.bytes = sizeof(own),
	};
	const struct thread *thread = recorder_tls;
	long result;

	own.nested = thread && thread->own && !ring_idle(thread->own);
	own.figures = NULL;
	own.classes = NULL;
	if (own.what == LEDGER_ASK_FIGURES) {
		own.room = base_min(own.room, LEDGER_PIECE);
		ask.more = question->figures;
		ask.more_bytes = own.room * sizeof(*own.figures);
	} else if (own.what == LEDGER_ASK_CLASSES) {
		ask.more = question->classes;
		ask.more_bytes = GT_CLASSES * sizeof(*own.classes);
	}
	if (!ask_writer(r, &ask, &result))
		return false;
	own.figures = question->figures;
	own.classes = question->classes;
	*question = own;
	return true;
}
