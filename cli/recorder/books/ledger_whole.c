/*
 * ledger_whole.c: see ledger_whole.h. The writer only.
 */
#include "cli/recorder/books/ledger_whole.h"

#include "cli/recorder/books/ledger_table.h"

static struct ledger_sum ledger_whole_sum(const struct ledger *ledger,
					  const struct ledger_sum *sum,
					  uint64_t lead)
{
	unsigned blocks = weigh_block_bits(ledger->mean);
	unsigned bytes = weigh_byte_bits(ledger->mean);
	uint64_t half = weigh_half(bytes);

	return (struct ledger_sum){
		.blocks = weigh_whole(sum->blocks, blocks, lead),
		.bytes = weigh_whole(sum->bytes, bytes, half),
		.frees = weigh_whole(sum->frees, blocks, lead),
		.freed = weigh_whole(sum->freed, bytes, half),
		.peak_bytes = weigh_whole(sum->peak_bytes, bytes, half),
		.peak_blocks = weigh_whole(sum->peak_blocks, blocks, lead),
		.peak_tick = sum->peak_tick,
	};
}

struct ledger_sum ledger_whole(const struct ledger *ledger,
			       const struct ledger_sum *sum)
{
	return ledger_whole_sum(ledger, sum,
				weigh_half(weigh_block_bits(ledger->mean)));
}

struct ledger_figure ledger_whole_figure(const struct ledger *ledger,
					 uint32_t number)
{
	struct ledger_figure figure = *ledger_figure_at(ledger, number);

	figure.sum = ledger_whole_sum(ledger, &figure.sum,
				      ledger_figure_lead(figure.context));
	return figure;
}

struct ledger_class ledger_whole_class(const struct ledger *ledger,
				       unsigned class)
{
	const struct ledger_class *sum = &ledger->classes[class];
	unsigned blocks = weigh_block_bits(ledger->mean);
	unsigned bytes = weigh_byte_bits(ledger->mean);

	return (struct ledger_class){
		.blocks = weigh_whole(sum->blocks, blocks, weigh_half(blocks)),
		.bytes = weigh_whole(sum->bytes, bytes, weigh_half(bytes)),
		.frees = weigh_whole(sum->frees, blocks, weigh_half(blocks)),
		.freed = weigh_whole(sum->freed, bytes, weigh_half(bytes)),
		.temporary = sum->temporary,
		.lifetime = sum->lifetime,
	};
}

struct ledger_lives ledger_whole_lives(const struct ledger *ledger,
				       unsigned class)
{
	const struct ledger_lives *sum = &ledger->lives[class];
	unsigned blocks = weigh_block_bits(ledger->mean);
	unsigned bytes = weigh_byte_bits(ledger->mean);

	return (struct ledger_lives){
		.blocks = weigh_whole(sum->blocks, blocks, weigh_half(blocks)),
		.bytes = weigh_whole(sum->bytes, bytes, weigh_half(bytes)),
	};
}
