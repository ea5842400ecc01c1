/*
 * rows_build.c: see rows_build.h.
 *
 *	reader ─┬─▶ model: nodes, threads, controls
 *	        └─▶ pairing ─▶ rows ─▶ writer ─▶ file
 */
#include "cli/model/rows/rows_build.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "cli/model/companion.h"
#include "cli/model/core/threads.h"
#include "cli/model/model.h"
#include "cli/model/rows/rows_facts.h"
#include "cli/model/rows/rows_pairing.h"
#include "cli/model/rows/rows_trace.h"
#include "cli/trace/read/reader.h"
#include "unwind/claim.h"

struct building {
	struct rows_build *build;
	struct model *model;
	struct rows_pairing pairing;
	struct store_writer *writer;
	struct reader_sink sink;
	struct model_companion companion;
	struct reader_report report;
};

static void add_row(void *owner, const struct store_row *row)
{
	store_writer_add(owner, row);
}

static enum reader_chunk take_chunk(void *owner, const struct chunk *chunk)
{
	if (chunk->type == GT_INFO)
		rows_pairing_head(owner);
	return READER_DECODE;
}

/* One thread of all has the pairing to do. */
static unsigned packers(void)
{
	cpu_set_t set;
	int count;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return 1;
	count = CPU_COUNT(&set) - 1;
	return count < 1 ? 1 : count > STORE_PACKERS_MAX ? STORE_PACKERS_MAX :
		(unsigned)count;
}

static void begin(struct building *b, struct rows_build *build)
{
	memset(b, 0, sizeof(*b));
	b->build = build;
	b->model = model_new(NULL, NULL);
	b->writer = store_writer_new(build->fd, packers());
	rows_pairing_init(&b->pairing, b->model, add_row, b->writer);
	rows_pairing_companion(&b->pairing, &b->companion);
	b->companion.chunk = take_chunk;
	model_sink_along(b->model, &b->companion, &b->sink);
	b->sink.file_only = true;
}

static bool is_cancelled(const struct rows_build *build)
{
	return build->cancel != NULL && atomic_load(build->cancel);
}

/* 0, or why it was stopped, or has failed. */
static int read_trace(struct building *b)
{
	struct reader *reader = reader_open(b->build->trace, &b->sink,
					    &b->report, NULL);
	int error = 0;

	while (error == 0 && reader_step(reader) == READER_MORE)
		error = is_cancelled(b->build) ? -ECANCELED :
			store_writer_error(b->writer);
	/* what is wrong with the trace is said to who asks it something */
	if (reader_close(reader) == EXIT_NOTHING && error == 0)
		error = -EBADMSG;
	return error == 0 && b->report.unfolded ? -EBUSY : error;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void put_facts(struct building *b, uint64_t digest)
{
	const struct rows_pairing *pairing = &b->pairing;
	const struct rows_facts facts = {
		.trace_bytes = b->report.file_bytes,
		.trace_digest = digest,
		.events = pairing->events,
		.last_stamp = pairing->last_stamp,
		.undefined = pairing->undefined,
		.growing = b->report.being_written,
		.stretches = pairing->stretches,
		.stretch_count = smaller(pairing->stretch_capacity,
					 pairing->next_control + 1),
		.thread_events = pairing->thread_events,
		.thread_allocations = pairing->allocations,
		.thread_count = smaller(pairing->thread_capacity,
					model_threads(b->model)->count),
	};

	CLAIM_FULL(pairing->event_capacity == pairing->thread_capacity);
	rows_facts_write(&facts, b->writer);
}

/* Everything was read. */
static int finish(struct building *b)
{
	const struct store_key key = {
		.trace_id = b->report.trace_id,
		.prefix_bytes = b->report.good_bytes,
		.maker = ROWS_MAKER,
		.trace_version = (uint32_t)b->report.major << 16 |
				 b->report.minor,
	};
	struct rows_trace trace;
	uint64_t digest = 0;
	int error = rows_trace_open(b->build->trace, &trace);

	if (error != 0)
		return error;
	if (!rows_trace_digest(&trace, key.prefix_bytes, &digest))
		error = -EBADMSG;
	rows_trace_close(&trace);
	if (error != 0)
		return error;
	rows_pairing_finish(&b->pairing);
	rows_pairing_live(&b->pairing, add_row, b->writer);
	put_facts(b, digest);
	error = store_writer_finish(b->writer, &key);
	b->build->events = b->pairing.events;
	b->build->paired = b->report.events;
	b->build->rows = store_writer_rows(b->writer);
	b->build->live = b->build->rows - b->pairing.ended;
	b->build->bytes = store_writer_bytes(b->writer);
	return error;
}

int rows_build(struct rows_build *build)
{
	struct building b;
	int error;

	begin(&b, build);
	error = read_trace(&b);
	if (error == 0)
		error = finish(&b);
	store_writer_free(b.writer);
	rows_pairing_free(&b.pairing);
	model_free(b.model);
	return error;
}
