/*
 * index_build.c: see index_build.h.
 *
 *	reader ─┬─▶ model: nodes, threads, controls
 *	        └─▶ pairing ─▶ rows ─▶ writer ─▶ file
 */
#include "cli/model/index/index_build.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/notes.h"
#include "cli/model/model_observer.h"
#include "cli/model/core/threads.h"
#include "cli/model/model.h"
#include "cli/model/index/index_facts.h"
#include "cli/model/index/index_maps.h"
#include "cli/model/index/index_pairing.h"
#include "cli/model/index/index_checkpoint.h"
#include "cli/model/index/index_resume.h"
#include "cli/model/index/index_state.h"
#include "cli/model/index/index_trace.h"
#include "cli/trace/format/trace_format.h"
#include "cli/trace/read/reader.h"
#include "unwind/base/assertion.h"

/* States are taken at half of the file, at half of the remainder, and so on,
 * until this many bytes before its end; the last one is kept. When the trace
 * has grown, events after the state are paired again. */
#define STATE_BYTES 4096u

struct building {
	struct index_build *build;
	struct model *model;
	struct index_pairing pairing;
	struct store_writer *writer;
	struct reader *reader;
	struct index_resume resume;	/* if there is an older index */
	struct index_state state;
	uint64_t state_from;		/* offset: where to take the next
					 * state */
	struct index_checkpoint parts;
	uint64_t trace_bytes;		/* when it was opened */
	uint64_t sync_end;		/* end of the current SYNC chunk; 0:
					 * none */
	bool misfit;			/* the older index does not fit the
					 * trace */
	struct reader_sink sink;
	struct model_observer companion;
	struct reader_report report;
};

/* The state is not restored yet. */
static bool is_resumed(const struct building *b)
{
	return b->build->older != NULL && !b->resume.done;
}

static void add_row(void *owner, const struct store_row *row)
{
	struct building *b = owner;

	/* an event that should have been skipped */
	b->misfit |= is_resumed(b);
	if (!b->misfit)
		store_writer_add(b->writer, row);
}

static enum reader_chunk take_chunk(void *owner, const struct chunk *chunk)
{
	struct building *b = owner;

	if (is_resumed(b) && chunk->offset < b->resume.offset)
		return index_resume_chunk(&b->resume, &b->pairing, b->reader,
					  chunk);
	if (is_resumed(b))
		b->misfit = !index_resume_take_up(&b->resume, &b->pairing);
	if (chunk->type == GT_SYNC)
		b->sync_end = chunk->offset + GT_CHUNK_SIZE + chunk->stored;
	return b->misfit ? READER_TAKEN : READER_DECODE;
}

/* One per processor: the pairing thread has less work than they have. */
static unsigned packers(void)
{
	cpu_set_t set;
	int count;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return 1;
	count = CPU_COUNT(&set);
	return count < 1 ? 1 : count > STORE_PACKERS_MAX ? STORE_PACKERS_MAX :
		(unsigned)count;
}

/* ---- data besides rows ---- */

/* The key of an index of the bytes up to `prefix`. */
static struct store_key key_of(const struct building *b, uint64_t prefix)
{
	return (struct store_key){
		.trace_id = b->report.trace_id,
		.prefix_bytes = prefix,
		.maker = INDEX_MAKER,
		.trace_version = (uint32_t)b->report.major << 16 |
				 b->report.minor,
	};
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Stores the facts of the reading, for a prefix with this digest. */
static void put_facts(const struct building *b, uint64_t prefix,
		      uint64_t digest, struct store_writer *writer)
{
	const struct index_pairing *pairing = &b->pairing;
	const struct index_facts facts = {
		.trace_bytes = b->report.file_bytes,
		.trace_digest = digest,
		.trace_damage = index_trace_damage(&b->report, prefix),
		.events = pairing->events,
		.last_stamp = pairing->last_stamp,
		.undefined = pairing->undefined,
		.most_bytes = pairing->peak.bytes,
		.most_blocks = pairing->peak.blocks,
		.most_edge = pairing->peak.edge,
		.most_stamp = pairing->peak.stamp,
		.growing = b->report.being_written,
		.stretches = pairing->stretches,
		.stretch_count = smaller(pairing->stretch_capacity,
					 pairing->next_control + 1),
		.thread_events = pairing->thread_events,
		.thread_allocations = pairing->allocations,
		.thread_count = smaller(pairing->thread_capacity,
					model_threads(b->model)->count),
	};

	DEBUG_ASSERT(pairing->event_capacity == pairing->thread_capacity);
	index_facts_write(&facts, writer);
}

/* The digest of the trace as it is now. 0, or -errno. */
static int digest_of(const struct building *b, uint64_t prefix,
		     uint64_t *digest)
{
	struct index_trace trace;
	int error = index_trace_open(b->build->trace, &trace);

	if (error != 0)
		return error;
	if (!index_trace_digest(&trace, prefix, digest))
		error = -EBADMSG;
	index_trace_close(&trace);
	return error;
}

/* ---- states and parts ---- */

static void add_live(void *owner, const struct store_row *row)
{
	store_writer_add(owner, row);
}

/* The state was just taken, after the SYNC chunk that ends at `at`. */
static void take_checkpoint(struct building *b, uint64_t at)
{
	const struct store_key key = key_of(b, at);
	struct store_writer *branch;
	uint64_t digest;

	if (digest_of(b, at, &digest) != 0)
		return;
	branch = index_checkpoint_begin(&b->parts, b->writer, b->build->fd,
					packers());
	if (branch == NULL)
		return;
	reader_so_far(b->reader);
	index_pairing_live(&b->pairing, add_live, branch);
	put_facts(b, at, digest, branch);
	index_state_write(&b->state, &b->pairing, branch);
	if (index_checkpoint_end(&b->parts, branch, &key, b->pairing.events))
		b->build->kept = at;
}

/* No part is saved if less is left to read than was read since the last
 * part. */
static bool is_checkpoint_due(const struct building *b, uint64_t at)
{
	const struct index_build *build = b->build;
	bool early = 2 * at <= b->trace_bytes + build->kept;

	return (early || build->part_every != 0) &&
	       index_checkpoint_due(&b->parts, b->pairing.events,
				    b->pairing.edges.blocks.count);
}

/* Call after a step of the reader. Takes a state if the step was a SYNC chunk,
 * after which a later reading can resume. */
static void take_state(struct building *b)
{
	uint64_t at = b->sync_end;
	bool due;

	b->sync_end = 0;
	if (at == 0)
		return;
	due = is_checkpoint_due(b, at);
	if ((at < b->state_from && !due) ||
	    !index_state_take(&b->state, &b->pairing, b->reader, at))
		return;
	if (at >= b->state_from)
		b->state_from = b->trace_bytes > at + STATE_BYTES ?
			at + (b->trace_bytes - at) / 2 : UINT64_MAX;
	if (due)
		take_checkpoint(b, at);
}

/* ---- building ---- */

/* 0, or an error of the file or the older index. */
static int begin_writing(struct building *b)
{
	struct index_build *build = b->build;
	int error = 0;

	if (build->older == NULL) {
		b->writer = store_writer_new(build->fd, packers());
		return 0;
	}
	if (!index_resume_open(&b->resume, build->older))
		return -ESTALE;
	b->writer = build->goes_on ?
		store_writer_resume(build->fd, packers(), build->older,
				    &error) :
		store_writer_extend(build->fd, packers(), build->older,
				    b->resume.ended, &error);
	return error == -EBADMSG ? -ESTALE : error;
}

static int begin(struct building *b, struct index_build *build)
{
	struct index_trace trace;
	int error;

	memset(b, 0, sizeof(*b));
	b->build = build;
	b->model = model_new(NULL, NULL);
	index_pairing_init(&b->pairing, b->model, add_row, b);
	b->pairing.chunk = take_chunk;
	if (build->older == NULL)
		index_pairing_follow_maps(&b->pairing);
	index_pairing_observer(&b->pairing, &b->companion);
	model_sink_along(b->model, &b->companion, &b->sink);
	b->sink.file_only = true;
	error = index_trace_open(build->trace, &trace);
	if (error != 0)
		return error;
	b->trace_bytes = trace.bytes;
	b->state_from = trace.bytes / 2;
	index_trace_close(&trace);
	if (build->goes_on)
		build->kept = store_key(build->older)->prefix_bytes;
	error = begin_writing(b);
	index_checkpoint_init(&b->parts, build->part, build->part_every,
			      b->resume.facts.events);
	return error;
}

static bool is_cancelled(const struct index_build *build)
{
	return build->cancel != NULL && atomic_load(build->cancel);
}

/* Whether the trace is damaged in the same places as when the older index was
 * made. */
static bool is_same_damage(const struct building *b)
{
	struct store *older = b->build->older;

	return older == NULL || b->resume.facts.trace_damage ==
		index_trace_damage(&b->report, store_key(older)->prefix_bytes);
}

/* 0, or why reading stopped or failed. */
static int read_trace(struct building *b)
{
	int error = 0;

	b->reader = reader_open(b->build->trace, &b->sink, &b->report, NULL);
	while (error == 0 && reader_step(b->reader) == READER_MORE) {
		take_state(b);
		error = is_cancelled(b->build) ? -ECANCELED :
			b->misfit ? -ESTALE : store_writer_error(b->writer);
	}
	/* queries report errors of the trace */
	if (reader_close(b->reader) == EXIT_NOTHING && error == 0)
		error = -EBADMSG;
	if (error == 0 && is_resumed(b) &&
	    !index_resume_take_up(&b->resume, &b->pairing))
		error = -ESTALE;
	if (error == 0 && !is_same_damage(b))
		error = -ESTALE;
	return error == 0 && b->report.unfolded ? -EBUSY : error;
}

/* Everything was read. */
static int finish(struct building *b)
{
	const uint64_t prefix = b->report.good_bytes;
	const struct store_key key = key_of(b, prefix);
	struct stat made;
	uint64_t digest;
	int error = digest_of(b, prefix, &digest);

	if (error != 0)
		return error;
	index_pairing_finish(&b->pairing);
	index_pairing_live(&b->pairing, add_row, b);
	put_facts(b, prefix, digest, b->writer);
	if (b->pairing.maps != NULL)
		index_maps_write(b->model, b->writer);
	/* a trace that has ended does not grow */
	if (b->state.count > 0 && !b->report.ended)
		index_state_write(&b->state, &b->pairing, b->writer);
	error = store_writer_finish(b->writer, &key);
	b->build->events = b->pairing.events;
	b->build->paired = b->report.events;
	b->build->rows = store_writer_rows(b->writer);
	b->build->live = b->build->rows - b->pairing.ended;
	if (error == 0 && fstat(b->build->fd, &made) != 0)
		error = -errno;
	b->build->bytes = error == 0 ? (uint64_t)made.st_size : 0;
	return error;
}

static int build_once(struct index_build *build)
{
	struct building b;
	int error = begin(&b, build);

	if (error == 0)
		error = read_trace(&b);
	if (error == 0)
		error = finish(&b);
	store_writer_free(b.writer);
	index_pairing_free(&b.pairing);
	index_resume_free(&b.resume);
	index_state_free(&b.state);
	model_free(b.model);
	return error;
}

int index_build(struct index_build *build)
{
	int error = build_once(build);

	if (error != -ESTALE)
		return error;
	if (build->notes != NULL)
		notes_hint(build->notes, "%s: its existing index is unusable: "
			   "making it from the start", build->trace);
	build->older = NULL;
	build->goes_on = false;
	build->kept = 0;
	/* before new data: with another file it would be invalid */
	if (build->part != NULL && unlink(build->part) != 0 && errno != ENOENT)
		return -errno;
	return ftruncate(build->fd, 0) != 0 ? -errno : build_once(build);
}
