/*
 * report_blocks.c: the live blocks themselves, one by one: where each is, how
 * large and how old, whose thread allocated it, with which stack.
 * Called by the main thread.
 */
#include "cli/report/report_blocks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
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

static bool is_kept(const struct report *r, const struct block *block)
{
	const struct context_cost *cost =
		&model_contexts(r->model)->costs[block->cost];
	struct figures figures;

	if (r->keep == NULL)
		return true;
	model_figures(r->model, cost, &figures);
	return r->keep(r->keeper, cost->node, &figures);
}

static int by_address(const struct block *x, const struct block *y)
{
	return x->address < y->address ? -1 : x->address > y->address;
}

/* Largest first, the oldest first of equal ones. */
static int by_size(const void *a, const void *b)
{
	const struct block *x = *(const struct block *const *)a;
	const struct block *y = *(const struct block *const *)b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	if (x->birth != y->birth)
		return x->birth < y->birth ? -1 : 1;
	return by_address(x, y);
}

static int by_age(const void *a, const void *b)
{
	const struct block *x = *(const struct block *const *)a;
	const struct block *y = *(const struct block *const *)b;

	if (x->birth != y->birth)
		return x->birth < y->birth ? -1 : 1;
	return by_address(x, y);
}

/* Free the list. */
static void collect(const struct report *r, struct block_list *blocks)
{
	bool age = r->options->one_key && r->options->query.order == FIGURE_AGE;
	const struct block *block;
	uint64_t at = 0;

	while ((block = model_next_block(r->model, &at)) != NULL) {
		if (!is_kept(r, block))
			continue;
		GROW(blocks->list, blocks->count, blocks->capacity);
		blocks->list[blocks->count++] = block;
	}
	if (blocks->count > 0)
		qsort(blocks->list, blocks->count, sizeof(*blocks->list),
		      age ? by_age : by_size);
}

static size_t shown_of(const struct report *r, size_t count, uint64_t few)
{
	uint64_t top = r->options->top_given ? r->options->top : few;

	return top != 0 && top < count ? top : count;
}

static const char *heap_name(const struct report *r, const struct block *block)
{
	return pools_name_of(model_pools(r->model),
			     pools_number(block->address));
}

static uint64_t age_of(const struct report *r, const struct block *block)
{
	uint64_t birth = model_since_start_ns(r->model, block->birth);

	return r->end_ns > birth ? r->end_ns - birth : 0;
}

/* ---- text ---- */

/* Of a moment's block that is gone since: which code freed it. */
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
	char a[QUANTITY_TEXT], b[QUANTITY_TEXT], c[QUANTITY_TEXT];

	fprintf(r->out, "\n%4zu. %s%s%s", number, r->style->share,
		quantity_size(a, (int64_t)block->size), r->style->off);
	if (block->size >= 1024)
		fprintf(r->out, " (%s bytes)", quantity_count(b, block->size));
	fprintf(r->out, " at 0x%" PRIx64 ", %s old\n%*s",
		pools_address(block->address),
		quantity_time(c, age_of(r, block)), FRAME_INDENT, "");
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
	bool age = r->options->one_key && r->options->query.order == FIGURE_AGE;
	struct block_list blocks = { 0 };
	char more[QUANTITY_TEXT];
	size_t shown;

	collect(r, &blocks);
	shown = shown_of(r, blocks.count, DEFAULT_ROWS);
	fprintf(r->out, "\n%sBLOCKS%s: each block that is live %s, %s first\n",
		r->style->title, r->style->off,
		r->options->moment ? "at that moment" :
		r->about.being_written ? "now" : "at the end",
		age ? "the oldest" : "the largest");
	if (blocks.count == 0)
		fprintf(r->out, "\n      none\n");
	put_blocks(r, &blocks, shown);
	if (shown < blocks.count)
		fprintf(r->out, "\n      and %s more block%s: --top 0\n",
			quantity_count(more, blocks.count - shown),
			report_plural(blocks.count - shown));
	free(blocks.list);
}

/* ---- JSON ---- */

void report_blocks_json(struct json *json, struct report *r)
{
	struct block_list blocks = { 0 };
	size_t shown;

	collect(r, &blocks);
	shown = shown_of(r, blocks.count, DEFAULT_JSON_ROWS);
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
			  model_since_start_ns(r->model, block->birth));
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
