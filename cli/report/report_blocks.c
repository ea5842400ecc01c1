/*
 * report_blocks.c: lists the live blocks one by one: address, size, age,
 * allocating thread and stack. Called by the main thread.
 */
#include "cli/report/report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/base/grow.h"
#include "cli/base/sort.h"
#include "cli/base/text/quantity.h"
#include "cli/model/core/blocks.h"
#include "cli/model/core/contexts.h"
#include "cli/model/core/pools.h"
#include "cli/model/core/threads.h"

#define DEFAULT_ROWS 10
#define DEFAULT_JSON_ROWS 1000
#define FRAME_INDENT 9

struct block_list {
	const struct block **list;
	size_t count;
	size_t capacity;
};

static uint32_t node_of(const struct report *r, const struct block *block)
{
	return model_node_of(r->model, block);
}

/* Largest first; of equal ones, the oldest first. */
static int by_size(const void *a, const void *b)
{
	const struct block *x = *(const struct block *const *)a;
	const struct block *y = *(const struct block *const *)b;

	return sort_down(x->size, y->size) ?: sort_up(x->alloc, y->alloc) ?:
	       sort_up(x->address, y->address);
}

static int by_age(const void *a, const void *b)
{
	const struct block *x = *(const struct block *const *)a;
	const struct block *y = *(const struct block *const *)b;

	return sort_up(x->alloc, y->alloc) ?: sort_up(x->address, y->address);
}

/* Collects and sorts the live blocks; free the list. */
static void collect(const struct report *r, struct block_list *blocks)
{
	bool age = report_order(r, MEASURE_LIVE) == MEASURE_AGE;
	const struct block *block;
	struct figures figures;
	uint64_t at = 0;

	while ((block = model_next_block(r->model, &at)) != NULL) {
		if (!report_keeps(r, block->cost, &figures))
			continue;
		GROW(blocks->list, blocks->count, blocks->capacity);
		blocks->list[blocks->count++] = block;
	}
	SORT(blocks->list, blocks->count, age ? by_age : by_size);
}

static const char *heap_name(const struct report *r, const struct block *block)
{
	return pools_name_of(model_pools(r->model),
			     pools_number(block->address));
}

static uint64_t age_of(const struct report *r, const struct block *block)
{
	uint64_t alloc = model_since_start_ns(r->model, block->alloc);

	return r->end_ns > alloc ? r->end_ns - alloc : 0;
}

/* ---- text ---- */

/* For a block at a moment that was freed later: the code that freed it. */
static void put_freed_by(struct report *r, const struct block *block)
{
	uint32_t node = model_freed_by(r->model, block);

	if (node == MODEL_NOT_FREED)
		return;
	report_load(r, node);
	if (r->stack.count == 0)
		return;
	fprintf(r->out, "%*sfreed later by (context %" PRIu32 ")\n",
		FRAME_INDENT, "", node);
	report_frame(r, &r->stack.list[r->stack.site], FRAME_INDENT + 4);
}

static void put_block(struct report *r, const struct block *block,
		      size_t number)
{
	const struct thread *thread = model_thread(r->model, block->thread);

	fprintf(r->out, "\n%4zu. %s%s%s", number, r->style->share,
		SIZE_TEXT(block->size), r->style->off);
	if (block->size >= 1024)
		fprintf(r->out, " (%s bytes)", COUNT_TEXT(block->size));
	fprintf(r->out, " at 0x%" PRIx64 ", %s old\n%*s",
		pools_address(block->address), TIME_TEXT(age_of(r, block)),
		FRAME_INDENT, "");
	if (block->pooled) {
		fprintf(r->out, "heap ");
		report_put_text(r->out, heap_name(r, block), GT_NAME_MAX);
		fprintf(r->out, ", ");
	}
	fprintf(r->out, "thread %" PRIu32 " ", thread->tid);
	report_put_text(r->out, threads_name(thread), GT_THREAD_NAME_MAX);
	putc('\n', r->out);
	put_freed_by(r, block);
}

static void put_blocks(struct report *r, const struct block_list *blocks,
		       size_t shown)
{
	struct table number_of = { 0 };

	for (size_t i = 0; i < shown; i++) {
		uint32_t node = node_of(r, blocks->list[i]);
		uint32_t before = table_get(&number_of, node);

		put_block(r, blocks->list[i], i + 1);
		if (before != TABLE_NONE) {
			fprintf(r->out, "%*s%s(the stack of number %" PRIu32
				")%s\n", FRAME_INDENT, "", r->style->dim,
				before, r->style->off);
			continue;
		}
		table_set(&number_of, node, (uint32_t)i + 1);
		report_load(r, node);
		report_stack(r, 0, 0, FRAME_INDENT);
	}
	table_free(&number_of);
}

void report_blocks_text(struct report *r)
{
	bool age = report_order(r, MEASURE_LIVE) == MEASURE_AGE;
	struct block_list blocks = { 0 };
	size_t shown;

	collect(r, &blocks);
	shown = report_shown(r, blocks.count, DEFAULT_ROWS);
	fprintf(r->out, "\n%sBLOCKS%s: each block live %s, %s first\n",
		r->style->title, r->style->off,
		query_is_of_moment(r->options->query) ? "at that moment" :
		r->about.being_written ? "now" : "at the end",
		age ? "the oldest" : "the largest");
	if (blocks.count == 0)
		fprintf(r->out, "\n      none\n");
	put_blocks(r, &blocks, shown);
	if (r->about.coverage.left_out.live_blocks > 0)
		fprintf(r->out, "\n      and %s (%s) of which only sums are "
			"known\n", COUNTED(
				r->about.coverage.left_out.live_blocks,
				"block"),
			SIZE_TEXT(r->about.coverage.left_out.live_bytes));
	if (shown < blocks.count)
		fprintf(r->out, "\n      and %s: --top 0\n",
			COUNTED(blocks.count - shown, "more block"));
	free(blocks.list);
}

/* ---- JSON ---- */

void report_blocks_json(struct json *json, struct report *r)
{
	struct block_list blocks = { 0 };
	size_t shown;

	collect(r, &blocks);
	shown = report_shown(r, blocks.count, DEFAULT_JSON_ROWS);
	json_array(json, "rows");
	for (size_t i = 0; i < shown; i++) {
		const struct block *block = blocks.list[i];
		const struct thread *thread =
			model_thread(r->model, block->thread);

		json_object(json, NULL);
		json_uint(json, "address", pools_address(block->address));
		if (block->pooled)
			json_string(json, "heap", heap_name(r, block));
		json_uint(json, "size", block->size);
		json_uint(json, "age_ns", age_of(r, block));
		json_uint(json, "time_ns",
			  model_since_start_ns(r->model, block->alloc));
		json_uint(json, "tid", thread->tid);
		json_string(json, "thread", threads_name(thread));
		json_uint(json, "context", node_of(r, block));
		if (model_freed_by(r->model, block) != MODEL_NOT_FREED)
			json_uint(json, "freed_by_context",
				  model_freed_by(r->model, block));
		report_load(r, node_of(r, block));
		report_json_stack(json, &r->stack, 0, r->once);
		json_end_object(json);
	}
	json_end_array(json);
	free(blocks.list);
}
