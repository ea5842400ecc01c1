/*
 * ledger_answer.c: the writer's half of ledger_ask.h.
 */
#include "cli/recorder/books/ledger_answer.h"

#include <errno.h>

#include "cli/recorder/books/ledger_whole.h"

bool ledger_request(struct ledger_question *question, unsigned char *more,
		    size_t bytes)
{
	question->figures = (struct ledger_figure *)more;
	question->classes = (struct ledger_class *)more;
	return (question->what != LEDGER_ASK_FIGURES ||
		question->room <= bytes / sizeof(*question->figures)) &&
	       (question->what != LEDGER_ASK_CLASSES ||
		bytes >= GT_CLASSES * sizeof(*question->classes));
}

/* Some pieces of a table that may grow in between: numbers stay. */
static void ledger_answer_figures(const struct ledger *ledger,
				  struct ledger_question *question)
{
	uint32_t number = question->next ? question->next : 1;

	question->count = 0;
	for (; number <= ledger->figure_count; number++) {
		const struct ledger_figure *figure =
			ledger_figure_at(ledger, number);

		if (!figure->sum.blocks ||
		    (question->live_only &&
		     figure->sum.blocks == figure->sum.frees))
			continue;
		if (question->count == question->room) {
			question->next = number;
			return;
		}
		question->figures[question->count++] =
			ledger_whole_figure(ledger, number);
	}
	question->next = 0;
}

void ledger_answer(const struct ledger *ledger,
		   struct ledger_question *question)
{
	unsigned i;

	question->err = ledger->refused ? -ENOMEM : 0;
	switch (question->what) {
	case LEDGER_ASK_SUM:
		question->sum = ledger_whole(ledger, &ledger->all);
		break;
	case LEDGER_ASK_THREAD:
		question->sum = ledger_whole(
			ledger, &ledger_thread_at(ledger,
						  question->ring)->sum);
		break;
	case LEDGER_ASK_CLASSES:
		for (i = 0; i < GT_CLASSES; i++)
			question->classes[i] = ledger_whole_class(ledger, i);
		break;
	case LEDGER_ASK_FIGURES:
		ledger_answer_figures(ledger, question);
		break;
	case LEDGER_ASK_KINDS:
		break;
	}
}
