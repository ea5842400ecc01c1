/*
 * ledger_answer.c: see ledger_answer.h.
 */
#include "cli/recorder/books/ledger_answer.h"

#include <errno.h>

#include "cli/recorder/books/ledger_whole.h"
#include "library/gnomon/gnomon.h"
#include "preload/base/base.h"
#include "unwind/claim.h"

static void ledger_answer_sum(const struct ledger *ledger,
			      const struct ledger_sum *sum,
			      struct gnomon_summary *answer)
{
	const struct ledger_sum whole = ledger_whole(ledger, sum);

	CLAIM_FULL(whole.frees <= whole.blocks);
	answer->total_bytes = whole.bytes;
	answer->live_bytes = whole.bytes - whole.freed;
	answer->peak_bytes = whole.peak_bytes;
	answer->allocations = whole.blocks;
	answer->frees = whole.frees;
	answer->live_blocks = whole.blocks - whole.frees;
}

static void ledger_answer_thread(const struct ledger *ledger, uint64_t ring,
				 struct gnomon_summary *answer)
{
	if (ring < GL_RINGS_MAX)
		ledger_answer_sum(ledger,
				  &ledger_thread_at(ledger,
						    (uint32_t)ring)->sum,
				  answer);
}

static void ledger_answer_classes(const struct ledger *ledger,
				  struct gnomon_sizes *answer)
{
	unsigned i;

	for (i = 0; i < GT_CLASSES; i++) {
		const struct ledger_class one = ledger_whole_class(ledger, i);
		unsigned class = base_min(i, GNOMON_CLASSES - 1);

		answer->total[class] += one.blocks;
		answer->live[class] += one.blocks - one.frees;
	}
}

long ledger_answer(const struct ledger *ledger, uint64_t what, uint64_t ring,
		   void *answer, size_t bytes)
{
	if (bytes < (what == LEDGER_ASK_CLASSES ?
			     sizeof(struct gnomon_sizes) :
			     sizeof(struct gnomon_summary)))
		return -EINVAL;
	switch (what) {
	case LEDGER_ASK_SUM:
		ledger_answer_sum(ledger, &ledger->all, answer);
		break;
	case LEDGER_ASK_THREAD:
		ledger_answer_thread(ledger, ring, answer);
		break;
	case LEDGER_ASK_CLASSES:
		ledger_answer_classes(ledger, answer);
		break;
	default:
		return -EINVAL;
	}
	return ledger->refused ? -ENOMEM : 0;
}
