/*
 * ledger_table.c: the tables of the ledger: blocks by address, figures by
 * context and thread.
 *
 * THE TABLE. Blocks by address in chains; with every block there is one chain
 * more, and one of the old ones is shared out between itself and that one
 * (linear hashing). So nothing is ever moved, and no block costs more than
 * another: whoever waits for the writer would feel it.
 *
 * I1: entry 0 of blocks and figures is never used: 0 means none.
 *
 * The writer only.
 */
#include "cli/recorder/books/ledger_table.h"

#include <errno.h>
#include <string.h>

#include "cli/recorder/zeroed.h"
#include "unwind/claim.h"

/* Parts of the addresses reserved. */
#define LEDGER_HEADS_PART 16
#define LEDGER_FIGURES_PART 16

int ledger_init(struct ledger *ledger, struct reserve *reserve,
		uint32_t nodes_max, uint32_t window_ticks, uint64_t mean)
{
	uint64_t size = reserve->size;
	uint64_t blocks = base_min(size / 2, UINT32_MAX *
				   sizeof(struct ledger_block));

	memset(ledger, 0, sizeof(*ledger));
	ledger->nodes_max = nodes_max;
	ledger->mean = mean;
	ledger->window = window_ticks;
	ledger->block_count = 1;
	ledger->waiting = zeroed_alloc(sizeof(*ledger->waiting));
	if (!ledger->waiting ||
	    reserve_table(reserve, &ledger->heads, size / LEDGER_HEADS_PART) ||
	    reserve_table(reserve, &ledger->blocks, blocks) ||
	    reserve_table(reserve, &ledger->figures,
			  size / LEDGER_FIGURES_PART) ||
	    reserve_table(reserve, &ledger->numbers,
			  base_min(nodes_max * UINT64_C(4), size / 8)) ||
	    reserve_table(reserve, &ledger->rings,
			  GL_RINGS_MAX * sizeof(struct ledger_thread)) ||
	    reserve_table(reserve, &ledger->moving,
			  GL_RINGS_MAX * sizeof(struct ledger_moving)) ||
	    !reserve_reach(&ledger->heads, sizeof(uint32_t)))
		return -ENOMEM;
	ledger->buckets = 1;
	ledger->waiting->expires = UINT64_MAX;
	return 0;
}

uint64_t ledger_bytes(const struct ledger *ledger)
{
	return reserve_used(&ledger->heads) + reserve_used(&ledger->blocks) +
	       reserve_used(&ledger->figures) +
	       reserve_used(&ledger->numbers) + reserve_used(&ledger->rings) +
	       reserve_used(&ledger->moving);
}

/* ---- the table ---- */

static uint32_t *ledger_head(const struct ledger *ledger, uint64_t address)
{
	uint32_t *heads = (uint32_t *)ledger->heads.at;
	uint32_t bits = 31 - __builtin_clz(ledger->buckets);
	uint32_t hash = (uint32_t)ledger_hash(address);
	uint32_t at = hash & ((UINT64_C(2) << bits) - 1);

	/* a chain that is not there yet is still part of an older one */
	return &heads[at < ledger->buckets ? at :
					     at & ((1u << bits) - 1)];
}

#ifdef GNOMON_CLAIMS
bool ledger_is_valid(const struct ledger *ledger)
{
	const uint32_t *heads = (const uint32_t *)ledger->heads.at;
	uint64_t live = 0, unused = 0;
	uint32_t i, at;

	for (i = 0; i < ledger->buckets; i++)
		for (at = heads[i]; at; live++) {
			const struct ledger_block *block =
				ledger_block_at(ledger, at);

			if (at >= ledger->block_count ||
			    live > ledger->block_count ||
			    ledger_head(ledger, block->address) != &heads[i])
				return false;
			at = block->next;
		}
	for (at = ledger->unused; at && unused <= ledger->block_count; unused++)
		at = ledger_block_at(ledger, at)->next;
	/* I1; one may have been taken, and not yet put into the table */
	return live == ledger->live &&
	       live + unused + 1 <= ledger->block_count &&
	       live + unused + 2 >= ledger->block_count;
}
#endif

/* One bucket more. Without memory chains get longer. */
static void ledger_split(struct ledger *ledger)
{
	uint32_t *heads = (uint32_t *)ledger->heads.at, *from;
	uint32_t fresh = ledger->buckets, old, next;

	if (fresh == UINT32_MAX ||
	    !reserve_reach(&ledger->heads,
			   (fresh + UINT64_C(1)) * sizeof(*heads)))
		return;
	from = &heads[fresh - (1u << (31 - __builtin_clz(fresh)))];
	old = *from;
	*from = 0;
	heads[fresh] = 0;
	ledger->buckets++;
	for (; old; old = next) {
		struct ledger_block *block = ledger_block_at(ledger, old);
		uint32_t *to = ledger_head(ledger, block->address);

		next = block->next;
		block->next = *to;
		*to = old;
	}
	/* so that it costs no more than what was put there */
	CLAIM_FULL(fresh & (fresh - 1) || ledger_is_valid(ledger));
}

struct ledger_block *ledger_find(const struct ledger *ledger,
				 uint64_t address)
{
	uint32_t at = *ledger_head(ledger, address);

	while (at) {
		struct ledger_block *block = ledger_block_at(ledger, at);

		if (block->address == address)
			return block;
		at = block->next;
	}
	return NULL;
}

void ledger_prefetch(const struct ledger *ledger, uint64_t address)
{
	__builtin_prefetch(ledger_head(ledger, address));
}

void ledger_prefetch_block(const struct ledger *ledger, uint64_t address)
{
	uint32_t number = *ledger_head(ledger, address);

	__builtin_prefetch(ledger_block_at(ledger, number));
}

/* An unused entry's number; 0: no memory. */
static uint32_t ledger_take(struct ledger *ledger)
{
	uint32_t number = ledger->unused;

	if (number) {
		ledger->unused = ledger_block_at(ledger, number)->next;
		return number;
	}
	number = ledger->block_count;
	if (number == UINT32_MAX ||
	    !reserve_reach(&ledger->blocks, (number + UINT64_C(1)) *
						sizeof(struct ledger_block)))
		return 0;
	ledger->block_count++;
	return number;
}

/* The block is not in the table yet. */
struct ledger_block *ledger_add(struct ledger *ledger,
				       uint64_t address)
{
	uint32_t number = ledger_take(ledger), *head;
	struct ledger_block *block;

	if (!number)
		return NULL;
	/* of those in use there may be fewer: then it is wider than needed */
	if (ledger->block_count > ledger->buckets)
		ledger_split(ledger);
	block = ledger_block_at(ledger, number);
	head = ledger_head(ledger, address);
	block->address = address;
	block->next = *head;
	*head = number;
	ledger->live++;
	return block;
}

void ledger_remove(struct ledger *ledger, struct ledger_block *block)
{
	uint32_t *link = ledger_head(ledger, block->address);

	assert(ledger->live > 0);
	while (assert(*link != 0), ledger_block_at(ledger, *link) != block)
		link = &ledger_block_at(ledger, *link)->next;
	*link = block->next;
	block->address = 0;
	ledger->live--;
	block->next = ledger->unused;
	ledger->unused = block - ledger_block_at(ledger, 0);
}

/* ---- figures ---- */

/* Whole numbers of many contexts are right in all: where one is rounded up,
 * another is rounded down. */
static void ledger_figure_begin(struct ledger_figure *figure,
				uint32_t context)
{
	uint16_t lead = ledger_figure_lead(context);

	*figure = (struct ledger_figure){
		.context = context,
		.rest_blocks = lead, .rest_freed = lead,
	};
}

/* Of a context: its number, 0: no memory. */
uint32_t ledger_figure_number(struct ledger *ledger, uint32_t context)
{
	uint32_t *number;

	if (context >= ledger->nodes_max)
		context = GT_STOP_OTHER;
	if (!reserve_reach(&ledger->numbers,
			   (context + UINT64_C(1)) * sizeof(*number)))
		return 0;
	number = (uint32_t *)ledger->numbers.at + context;
	if (likely(*number))
		return *number;
	if (!reserve_reach(&ledger->figures, (ledger->figure_count +
					      UINT64_C(2)) *
					     sizeof(struct ledger_figure)))
		return 0;
	*number = ++ledger->figure_count;
	ledger_figure_begin(ledger_figure_at(ledger, *number), context);
	return *number;
}

struct ledger_figure *ledger_figure_of(const struct ledger *ledger,
				       uint32_t context)
{
	const uint32_t *numbers = (const uint32_t *)ledger->numbers.at;

	if ((context + UINT64_C(1)) * sizeof(*numbers) >
		    ledger->numbers.ready || !numbers[context])
		return NULL;
	return ledger_figure_at(ledger, numbers[context]);
}

struct ledger_thread *ledger_thread_at(const struct ledger *ledger,
				       uint32_t ring)
{
	return (struct ledger_thread *)ledger->rings.at + ring;
}

void ledger_clear(struct ledger *ledger, uint64_t tick)
{
	uint32_t i;

	for (i = 1; i <= ledger->figure_count; i++) {
		struct ledger_figure *figure = ledger_figure_at(ledger, i);

		ledger_figure_begin(figure, figure->context);
	}
	memset(&ledger->all, 0, sizeof(ledger->all));
	memset(ledger->classes, 0, sizeof(ledger->classes));
	memset(ledger->lives, 0, sizeof(ledger->lives));
	ledger->unpaired = ledger->refused = 0;
	for (i = 0; (i + UINT64_C(1)) * sizeof(struct ledger_thread) <=
		    ledger->rings.ready; i++)
		memset(&ledger_thread_at(ledger, i)->sum, 0,
		       sizeof(struct ledger_sum));
	ledger->view = tick;
}

void ledger_forget(struct ledger *ledger, uint64_t tick)
{
	ledger_clear(ledger, tick);
	memset(ledger->heads.at, 0, (uint64_t)ledger->buckets *
					    sizeof(uint32_t));
	ledger->block_count = 1;
	ledger->unused = ledger->live = 0;
	memset(ledger->waiting, 0, sizeof(*ledger->waiting));
	ledger->waiting->expires = UINT64_MAX;
	memset(ledger->moving.at, 0, ledger->moving.ready);
	ledger->gap = true;
}
