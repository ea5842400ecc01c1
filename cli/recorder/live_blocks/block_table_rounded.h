/*
 * block_table_rounded.h: rounds the block table's sums to integers for output.
 * With --sample they are estimates. The recorder only.
 */
#ifndef GNOMON_BLOCK_TABLE_ROUNDED_H
#define GNOMON_BLOCK_TABLE_ROUNDED_H

#include "cli/recorder/live_blocks/block_table.h"

/* Of all blocks, or of a thread. */
struct block_table_sum block_table_rounded(const struct block_table *table,
					   const struct block_table_sum *sum);

/* Of the context with this number (1 … figure_count). Results never decrease
 * over time, so differences can be written. */
struct block_table_figure
block_table_rounded_figure(const struct block_table *table, uint32_t number);

struct block_table_class
block_table_rounded_class(const struct block_table *table, unsigned class);
struct block_table_lifetimes
block_table_rounded_lives(const struct block_table *table, unsigned class);

#endif
