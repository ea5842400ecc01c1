/*
 * block_table_rounded.c: see block_table_rounded.h. The recorder only.
 */
#include "cli/recorder/live_blocks/block_table_rounded.h"

#include "cli/recorder/live_blocks/block_table_rows.h"

static struct block_table_sum
block_table_rounded_sum(const struct block_table *table,
			const struct block_table_sum *sum, uint64_t lead)
{
	unsigned blocks = weight_block_bits(table->mean);
	unsigned bytes = weight_byte_bits(table->mean);
	uint64_t half = weight_half(bytes);

	return (struct block_table_sum){
		.blocks = weight_whole(sum->blocks, blocks, lead),
		.bytes = weight_whole(sum->bytes, bytes, half),
		.frees = weight_whole(sum->frees, blocks, lead),
		.freed = weight_whole(sum->freed, bytes, half),
		.peak_bytes = weight_whole(sum->peak_bytes, bytes, half),
		.peak_blocks = weight_whole(sum->peak_blocks, blocks, lead),
		.peak_tick = sum->peak_tick,
	};
}

struct block_table_sum block_table_rounded(const struct block_table *table,
					   const struct block_table_sum *sum)
{
	return block_table_rounded_sum(
		table, sum, weight_half(weight_block_bits(table->mean)));
}

struct block_table_figure
block_table_rounded_figure(const struct block_table *table, uint32_t number)
{
	struct block_table_figure figure =
		*block_table_figure_at(table, number);

	figure.sum = block_table_rounded_sum(
		table, &figure.sum, block_table_figure_lead(figure.context));
	return figure;
}

struct block_table_class
block_table_rounded_class(const struct block_table *table, unsigned class)
{
	const struct block_table_class *sum = &table->classes[class];
	unsigned blocks = weight_block_bits(table->mean);
	unsigned bytes = weight_byte_bits(table->mean);

	return (struct block_table_class){
		.blocks =
			weight_whole(sum->blocks, blocks, weight_half(blocks)),
		.bytes = weight_whole(sum->bytes, bytes, weight_half(bytes)),
		.frees = weight_whole(sum->frees, blocks, weight_half(blocks)),
		.freed = weight_whole(sum->freed, bytes, weight_half(bytes)),
		.temporary = sum->temporary,
		.lifetime = sum->lifetime,
	};
}

struct block_table_lifetimes
block_table_rounded_lives(const struct block_table *table, unsigned class)
{
	const struct block_table_lifetimes *sum = &table->lives[class];
	unsigned blocks = weight_block_bits(table->mean);
	unsigned bytes = weight_byte_bits(table->mean);

	return (struct block_table_lifetimes){
		.blocks =
			weight_whole(sum->blocks, blocks, weight_half(blocks)),
		.bytes = weight_whole(sum->bytes, bytes, weight_half(bytes)),
	};
}
