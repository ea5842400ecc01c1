/*
 * test_index_pairing.c: rows of all blocks, against what a program did at
 * random.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/model/core/contexts.h"
#include "cli/model/core/threads.h"
#include "cli/model/index/index_pairing.h"
#include "tests/unit/model_story.h"

#define SEEDS 6

static struct {
	struct store_row rows[STORY_STEPS];
	size_t count;
} reported;

static void tell(void *owner, const struct store_row *row)
{
	assert_ptr_equal(owner, &reported);
	assert_true(reported.count < STORY_STEPS);
	reported.rows[reported.count++] = *row;
}

/* All rows of a trace are told, the live ones last. */
static void read_rows(struct index_pairing *pairing, struct model *model,
		      const char *path)
{
	struct model_observer companion;

	reported.count = 0;
	index_pairing_init(pairing, model, tell, &reported);
	index_pairing_observer(pairing, &companion);
	assert_int_equal(model_read_along(model, path, &companion, NULL),
			 EXIT_COMPLETE);
	index_pairing_finish(pairing);
	assert_int_equal(reported.count, pairing->ended);
	index_pairing_live(pairing, tell, &reported);
}

/* ---- against what the program did ---- */

static uint32_t edge_of(const struct story *story, uint32_t block, bool ends)
{
	for (uint32_t i = 0; i < story->step_count; i++)
		if (story->steps[i].block == block &&
		    story->steps[i].ends == ends)
			return i + 1;
	fail();
	return 0;
}

static uint32_t node_of(struct model *model, uint32_t context)
{
	return model_node(model, GT_STOP_COUNT + context);
}

static bool has_next(const struct story *story, const struct story_block *block)
{
	for (uint32_t i = 0; i < story->count; i++)
		if (story->blocks[i].chain == block->chain &&
		    story->blocks[i].position == block->position + 1)
			return true;
	return false;
}

/* Blocks that were never reallocated are in no chain. */
static bool is_chained(const struct story *story,
		       const struct story_block *block)
{
	return block->position > 1 || has_next(story, block);
}

static void check_end(const struct story *story, struct model *model,
		      const struct story_block *block,
		      const struct store_row *row)
{
	assert_int_equal(row->between, block->end != STORY_LIVE ?
			 block->between :
			 story->numbers[block->thread] - block->number);
	if (block->end == STORY_LIVE) {
		assert_int_equal(row->how, STORE_LIVE);
		return;
	}
	assert_int_equal(row->how, has_next(story, block) ? STORE_MOVED :
						     STORE_FREED);
	assert_int_equal(row->end, block->end);
	assert_int_equal(row->end_edge,
			 edge_of(story, (uint32_t)(block - story->blocks),
				 true));
	assert_int_equal(row->end_node, story->free_stacks ?
			 node_of(model, block->freed_by) : STORE_NONE);
}

static void check_row(const struct story *story, struct model *model,
		      const struct store_row *row)
{
	const struct story_step *step = &story->steps[row->alloc_edge - 1];
	const struct story_block *block = &story->blocks[step->block];

	assert_true(row->alloc_edge <= story->step_count && !step->ends);
	assert_int_equal(row->begin, block->alloc);
	assert_int_equal(row->address, block->address);
	assert_int_equal(row->size, block->size);
	assert_int_equal(row->layout, block->layout);
	assert_int_equal(row->node, node_of(model, block->context));
	assert_int_equal(model_thread(model, row->thread)->tid,
			 100 + block->thread);
	assert_int_equal(row->flags, 0);
	assert_int_equal(row->place, is_chained(story, block) ?
			 block->position : 0);
	assert_int_equal(row->chain != 0, is_chained(story, block));
	check_end(story, model, block, row);
}

/* Chains have their numbers one to one. */
static void check_chains(const struct story *story)
{
	static uint32_t numbers[STORY_STEPS], chains[STORY_STEPS];

	memset(numbers, 0, sizeof(numbers));
	memset(chains, 0, sizeof(chains));
	for (size_t i = 0; i < reported.count; i++) {
		const struct store_row *row = &reported.rows[i];
		const struct story_block *block = &story->blocks[
			story->steps[row->alloc_edge - 1].block];

		if (row->chain == 0)
			continue;
		assert_true(row->chain < STORY_STEPS);
		if (numbers[block->chain] == 0)
			numbers[block->chain] = row->chain;
		if (chains[row->chain] == 0)
			chains[row->chain] = block->chain + 1;
		assert_int_equal(numbers[block->chain], row->chain);
		assert_int_equal(chains[row->chain], block->chain + 1);
	}
}

/* Freers' threads are those of the events. */
static void check_freers(const struct story *story, const struct model *model)
{
	for (unsigned thread = 0; thread < STORY_THREADS; thread++)
		for (size_t k = 0; k < story->event_count[thread]; k++) {
			const struct trace_event *event =
				&story->events[thread][k];

			for (size_t i = 0; i < reported.count; i++)
				if (event->kind == GT_FREE &&
				    reported.rows[i].how == STORE_FREED &&
				    reported.rows[i].end == event->stamp)
					assert_int_equal(
						model_thread(
							model,
							reported.rows[i]
								.end_thread)
							->tid,
						100 + thread);
		}
}

static void blocks(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		struct story *story = story_new(seed);
		struct model *model = model_new(NULL, NULL);
		struct index_pairing pairing;

		story->free_stacks = seed % 2 == 0;
		story_write(story, NULL);
		read_rows(&pairing, model, story->path);
		assert_int_equal(reported.count, story->count);
		assert_int_equal(pairing.edge_count, story->step_count);
		for (size_t i = 0; i < reported.count; i++) {
			check_row(story, model, &reported.rows[i]);
			assert_true(i == 0 || i >= pairing.ended ||
				    reported.rows[i].end_edge >
					    reported.rows[i - 1].end_edge);
		}
		check_chains(story);
		check_freers(story, model);
		index_pairing_free(&pairing);
		model_free(model);
		story_free(story);
	}
}

/* Nothing of a sample is temporary. */
static void samples(void **state)
{
	struct story *story = story_new(3);
	struct model *model = model_new(NULL, NULL);
	struct index_pairing pairing;

	(void)state;
	story_write(story, "1000");
	read_rows(&pairing, model, story->path);
	for (size_t i = 0; i < reported.count; i++)
		assert_true(reported.rows[i].between > 1000);
	index_pairing_free(&pairing);
	model_free(model);
	story_free(story);
}

/* ---- what a script says ---- */

struct script {
	struct trace_write t;
	uint64_t position;
	char path[32];
};

static void script_begin(struct script *script)
{
	struct buffer payload = { 0 };

	trace_write_begin(&script->t);
	script->position = 0;
	trace_write_line(&script->t, GT_INFO, "window_ticks", "5");
	compose_thread(&payload, &(struct trace_thread){
		.what = GT_THREAD_START, .ring = 0, .tid = 100, .name = "" });
	compose_thread(&payload, &(struct trace_thread){
		.what = GT_THREAD_START, .ring = 1, .tid = 101, .name = "" });
	trace_write_chunk(&script->t, (struct chunk){ .type = GT_THREAD },
			  &payload);
}

static void script_event(struct script *script, uint32_t ring,
			 struct trace_event event)
{
	static uint64_t positions[2];

	if (script->position == 0)
		memset(positions, 0, sizeof(positions));
	script->position = 1;
	trace_write_events(&script->t, ring, 0, positions[ring], &event, 1, 0);
	positions[ring] += records_ring_bytes(&event, false);
}

static void script_read(struct script *script, struct index_pairing *pairing,
			struct model *model)
{
	trace_write_sync(&script->t, 1000000);
	trace_write_line(&script->t, GT_END, "reason", "exit");
	strcpy(script->path, "/tmp/gnomon-unit-XXXXXX");
	trace_write_file(&script->t, script->path);
	buffer_free(&script->t.bytes);
	read_rows(pairing, model, script->path);
	unlink(script->path);
}

#define ALLOC(at, where, bytes) \
	((struct trace_event){ .kind = GT_ALLOC, .stamp = (at), \
			       .address = (where), .size = (bytes) })
#define FREE(at, where) \
	((struct trace_event){ .kind = GT_FREE, .stamp = (at), \
			       .address = (where) })

static void script_control(struct script *script, unsigned what,
			   uint64_t stamp)
{
	struct trace_control control = { .what = what, .stamp = stamp,
					 .name = "" };
	struct buffer payload = { 0 };

	compose_control(&payload, &control);
	trace_write_chunk(&script->t, (struct chunk){ .type = GT_CONTROL },
			  &payload);
}

/* A free that comes too early ends the block, by its own thread. */
static void too_early(void **state)
{
	struct model *model = model_new(NULL, NULL);
	struct index_pairing pairing;
	struct script script;

	(void)state;
	script_begin(&script);
	script_event(&script, 1, FREE(100, 0x1000));
	script_event(&script, 0, ALLOC(102, 0x1000, 8));
	script_event(&script, 0, ALLOC(200, 0x2000, 8));
	script_read(&script, &pairing, model);
	assert_int_equal(reported.count, 2);
	assert_int_equal(reported.rows[0].begin, 102);
	assert_int_equal(reported.rows[0].end, 100);
	assert_int_equal(reported.rows[0].how, STORE_FREED);
	assert_int_equal(reported.rows[0].flags, STORE_ODD);
	assert_int_equal(model_thread(model, reported.rows[0].thread)->tid,
			 100);
	assert_int_equal(model_thread(model, reported.rows[0].end_thread)->tid,
			 101);
	assert_int_equal(pairing.stretches[0].repaired, 1);
	index_pairing_free(&pairing);
	model_free(model);
}

/* A block whose address is allocated again is lost, an unknown one's free is
 * counted. */
static void unpaired(void **state)
{
	struct model *model = model_new(NULL, NULL);
	struct index_pairing pairing;
	struct script script;

	(void)state;
	script_begin(&script);
	script_event(&script, 0, ALLOC(100, 0x1000, 8));
	script_event(&script, 0, ALLOC(200, 0x1000, 16));
	script_event(&script, 0, FREE(300, 0x3000));
	script_read(&script, &pairing, model);
	assert_int_equal(reported.count, 2);
	assert_int_equal(reported.rows[0].how, STORE_LOST);
	assert_int_equal(reported.rows[0].end, 200);
	assert_int_equal(reported.rows[0].end_thread, STORE_NONE);
	assert_int_equal(reported.rows[1].how, STORE_LIVE);
	assert_int_equal(reported.rows[1].size, 16);
	assert_int_equal(reported.rows[1].flags, STORE_ODD);
	assert_int_equal(pairing.stretches[0].unpaired, 2);
	assert_int_equal(pairing.undefined, 0);
	index_pairing_free(&pairing);
	model_free(model);
}

/* Recording was off: what was live is lost when it goes on, and frees of what
 * is not known are foreign. */
static void off(void **state)
{
	struct model *model = model_new(NULL, NULL);
	struct index_pairing pairing;
	struct script script;

	(void)state;
	script_begin(&script);
	script_control(&script, GT_CONTROL_STOP, 250);
	script_control(&script, GT_CONTROL_START, 400);
	script_event(&script, 0, ALLOC(100, 0x1000, 8));
	script_event(&script, 0, ALLOC(200, 0x2000, 16));
	script_event(&script, 0, FREE(300, 0x1000));	/* does not count */
	script_event(&script, 0, FREE(500, 0x2000));
	script_event(&script, 0, ALLOC(600, 0x2000, 32));
	script_read(&script, &pairing, model);
	assert_int_equal(reported.count, 3);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(reported.rows[i].how, STORE_LOST);
		assert_int_equal(reported.rows[i].end, 400);
		assert_int_equal(reported.rows[i].begin, 100 + i * 100);
	}
	assert_int_equal(reported.rows[2].how, STORE_LIVE);
	assert_int_equal(reported.rows[2].alloc_edge, 5);
	assert_int_equal(pairing.stretches[2].foreign, 1);
	index_pairing_free(&pairing);
	model_free(model);
}

/* Contexts that nobody defines. */
static void undefined(void **state)
{
	struct trace_event event = ALLOC(100, 0x1000, 8);
	struct model *model = model_new(NULL, NULL);
	struct index_pairing pairing;
	struct script script;

	(void)state;
	event.context = 77;
	script_begin(&script);
	script_event(&script, 0, event);
	script_read(&script, &pairing, model);
	assert_int_equal(reported.rows[0].node, CONTEXT_UNDEFINED);
	assert_int_equal(pairing.undefined, 1);
	index_pairing_free(&pairing);
	model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks),
		cmocka_unit_test(samples),
		cmocka_unit_test(too_early),
		cmocka_unit_test(unpaired),
		cmocka_unit_test(off),
		cmocka_unit_test(undefined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
