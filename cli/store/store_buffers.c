/*
 * store_buffers.c: see store_buffers.h.
 *
 *  I1  A pile is in use by the adding thread, in the list of full ones, in use
 *      by a packer, or in the list of idle ones.
 *  I2  Members below `lock` in the struct are used only while it is held.
 *  I3  After an error piles are dropped: nothing more is written.
 */
#include "cli/store/store_buffers.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/io_full.h"
#include "cli/store/store_pack.h"
#include "cli/trace/format/trace_format.h"
#include "unwind/claim.h"

#define TAKEN (STORE_STORED + STORE_DERIVED)
#define TAKE_ROWS 512		/* rows at a time: they stay in the cache */

/* Memory of one packing thread. */
struct bench {
	struct store_packer *packer;
	uint64_t (*numbers)[STORE_CHUNK_ROWS];	/* by column: TAKEN */
	struct store_range bounds[TAKEN];
	struct buffer out;	/* the chunk */
};

struct store_buffers {
	int fd;
	unsigned packers;	/* number of threads */
	pthread_t threads[STORE_PACKERS_MAX];
	struct bench own;	/* if there are no threads */
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	struct store_directory *directory;
	struct store_buffer *full, **full_end, *idle;
	unsigned under_way;	/* full ones, and those in use by packers */
	uint64_t end;
	int error;
	bool stop;
};

/* ---- from rows to columns ---- */

static inline __attribute__((always_inline)) uint64_t
row_value(const struct store_row *row, enum store_column column)
{
	bool live = row->how == STORE_LIVE;

	switch (column) {
	case STORE_BEGIN:
		return row->begin;
	case STORE_END:
		return live ? STORE_NEVER : row->end;
	case STORE_ALLOC_EDGE:
		return row->alloc_edge;
	case STORE_END_EDGE:
		return live ? STORE_NEVER : row->end_edge;
	case STORE_HOW:
		return row->how;
	case STORE_ADDRESS:
		return row->address;
	case STORE_SIZE:
		return row->size;
	case STORE_LAYOUT:
		return row->layout;
	case STORE_THREAD:
		return row->thread;
	case STORE_NODE:
		return row->node;
	case STORE_END_THREAD:
		return live ? STORE_NONE : row->end_thread;
	case STORE_END_NODE:
		return live ? STORE_NONE : row->end_node;
	case STORE_CHAIN:
		return row->chain;
	case STORE_PLACE:
		return row->place;
	case STORE_BETWEEN:
		return row->between;
	case STORE_FLAGS:
		return row->flags;
	case STORE_LIFETIME:
		return row->end > row->begin ? row->end - row->begin : 0;
	default:
		return row->layout & GT_LAYOUT_KNOWN ?
			gt_layout_usable(row->size, row->layout) : 0;
	}
}

/* Copies a column of the rows from `from` on. Inlined for each column, so that
 * the column is tested once. */
static inline __attribute__((always_inline)) void
take_column(struct bench *bench, const struct store_buffer *pile,
	    enum store_column column, size_t from, size_t to)
{
	struct store_range bounds = bench->bounds[column];

	for (size_t i = from; i < to; i++) {
		uint64_t value = row_value(&pile->rows[i], column);

		bench->numbers[column][i] = value;
		if (value < bounds.least)
			bounds.least = value;
		if (value > bounds.greatest)
			bounds.greatest = value;
	}
	bench->bounds[column] = bounds;
}

static void take_columns(struct bench *bench, const struct store_buffer *pile,
			 size_t from, size_t to)
{
#define TAKE(column) take_column(bench, pile, column, from, to)
	TAKE(STORE_BEGIN);
	TAKE(STORE_END);
	TAKE(STORE_ALLOC_EDGE);
	TAKE(STORE_END_EDGE);
	TAKE(STORE_HOW);
	TAKE(STORE_ADDRESS);
	TAKE(STORE_SIZE);
	TAKE(STORE_LAYOUT);
	TAKE(STORE_THREAD);
	TAKE(STORE_NODE);
	TAKE(STORE_END_THREAD);
	TAKE(STORE_END_NODE);
	TAKE(STORE_CHAIN);
	TAKE(STORE_PLACE);
	TAKE(STORE_BETWEEN);
	TAKE(STORE_FLAGS);
	TAKE(STORE_LIFETIME);
	TAKE(STORE_USABLE);
#undef TAKE
}

static void take(struct bench *bench, const struct store_buffer *pile)
{
	for (unsigned i = 0; i < TAKEN; i++)
		bench->bounds[i] = (struct store_range){ UINT64_MAX, 0 };
	for (size_t from = 0; from < pile->count; from += TAKE_ROWS)
		take_columns(bench, pile, from,
			     from + TAKE_ROWS < pile->count ?
				     from + TAKE_ROWS : pile->count);
}

/* ---- a chunk ---- */

static void subtract(struct bench *bench, enum store_column column,
		     size_t count)
{
	const uint64_t *ends = bench->numbers[column == STORE_BEGIN ?
					      STORE_END : STORE_END_EDGE];
	uint64_t *numbers = bench->numbers[column];

	for (size_t i = 0; i < count; i++)
		numbers[i] = ends[i] - numbers[i];
}

static void pack_part(struct bench *bench, const struct store_buffer *pile,
		      enum store_column column, struct store_part *part)
{
	const uint64_t *words;

	part->bounds = bench->bounds[column];
	part->size = 0;
	if (part->bounds.least == part->bounds.greatest &&
	    !store_has_words(column, pile->live))
		return;
	if (store_is_difference(column, pile->live))
		subtract(bench, column, pile->count);
	part->size = (uint32_t)(store_pack(bench->packer,
					   bench->numbers[column],
					   pile->count, &words) *
				sizeof(*words));
	buffer_add(&bench->out, (const char *)words, part->size);
}

static void pack(struct bench *bench, const struct store_buffer *pile,
		 struct store_chunk *chunk)
{
	static const struct store_range any = { 0, UINT64_MAX };

	*chunk = (struct store_chunk){
		.rows = (uint32_t)pile->count, .live = pile->live,
	};
	buffer_clear(&bench->out);
	take(bench, pile);
	for (unsigned i = 0; i < STORE_STORED; i++)
		pack_part(bench, pile, i, &chunk->parts[i]);
	for (unsigned i = 0; i < STORE_DERIVED; i++)
		chunk->derived[i] = bench->bounds[STORE_STORED + i];
	if (pile->live)
		chunk->derived[STORE_LIFETIME - STORE_STORED] = any;
}

static void add_checksums(struct store_chunk *chunk, const char *bytes)
{
	uint64_t offset = chunk->offset;

	for (unsigned i = 0; i < STORE_STORED; i++) {
		struct store_part *part = &chunk->parts[i];

		part->checksum = store_checksum(bytes, part->size, offset);
		bytes += part->size;
		offset += part->size;
	}
}

/* Compresses a pile to a chunk and writes it. */
static void do_pile(struct store_buffers *piles, struct bench *bench,
		    const struct store_buffer *pile)
{
	struct store_chunk chunk;
	int error;

	pack(bench, pile, &chunk);
	pthread_mutex_lock(&piles->lock);
	chunk.offset = piles->end;
	piles->end += bench->out.size;
	error = piles->error;
	pthread_mutex_unlock(&piles->lock);
	if (error == 0) {
		add_checksums(&chunk, buffer_text(&bench->out));
		error = io_full_write_at(piles->fd, buffer_text(&bench->out),
					 bench->out.size, chunk.offset);
		/* starts writing to disk, so that the later sync is fast; that
		 * sync reports errors */
		(void)sync_file_range(piles->fd, (off_t)chunk.offset,
				      (off_t)bench->out.size,
				      SYNC_FILE_RANGE_WRITE);
	}
	pthread_mutex_lock(&piles->lock);
	if (piles->error == 0)
		piles->error = error;
	piles->directory->chunks[pile->chunk] = chunk;
	pthread_mutex_unlock(&piles->lock);
}

/* ---- threads ---- */

static void bench_init(struct bench *bench)
{
	*bench = (struct bench){
		.packer = store_packer_new(),
		.numbers = grow_alloc(TAKEN * sizeof(*bench->numbers)),
	};
}

static void bench_free(struct bench *bench)
{
	store_packer_free(bench->packer);
	free(bench->numbers);
	buffer_free(&bench->out);
}

static void put_idle(struct store_buffers *piles, struct store_buffer *pile)
{
	pile->count = 0;
	pile->next = piles->idle;
	piles->idle = pile;
	piles->under_way--;
	pthread_cond_signal(&piles->done);
}

/* The lock is held. NULL: packers have to end. */
static struct store_buffer *next_full(struct store_buffers *piles)
{
	struct store_buffer *pile;

	while (piles->full == NULL && !piles->stop)
		pthread_cond_wait(&piles->work, &piles->lock);
	pile = piles->full;
	if (piles->stop || pile == NULL)
		return NULL;
	piles->full = pile->next;
	if (piles->full == NULL)
		piles->full_end = &piles->full;
	return pile;
}

static void *run_packer(void *argument)
{
	struct store_buffers *piles = argument;
	struct store_buffer *pile;
	struct bench bench;

	bench_init(&bench);
	pthread_mutex_lock(&piles->lock);
	while ((pile = next_full(piles)) != NULL) {
		bool wanted = piles->error == 0;	/* I3 */

		pthread_mutex_unlock(&piles->lock);
		if (wanted)
			do_pile(piles, &bench, pile);
		pthread_mutex_lock(&piles->lock);
		put_idle(piles, pile);
	}
	pthread_mutex_unlock(&piles->lock);
	bench_free(&bench);
	return NULL;
}

static struct store_buffer *new_pile(void)
{
	struct store_buffer *pile = grow_zeroed(1, sizeof(*pile));

	pile->rows = grow_alloc(STORE_CHUNK_ROWS * sizeof(*pile->rows));
	return pile;
}

struct store_buffers *store_buffers_new(int fd, unsigned packers, uint64_t end,
					struct store_directory *directory)
{
	struct store_buffers *piles = grow_zeroed(1, sizeof(*piles));

	CLAIM(packers <= STORE_PACKERS_MAX);
	piles->fd = fd;
	piles->end = end;
	piles->directory = directory;
	piles->full_end = &piles->full;
	pthread_mutex_init(&piles->lock, NULL);
	pthread_cond_init(&piles->work, NULL);
	pthread_cond_init(&piles->done, NULL);
	bench_init(&piles->own);
	while (piles->packers < packers &&
	       pthread_create(&piles->threads[piles->packers], NULL,
			      run_packer, piles) == 0)
		piles->packers++;
	/* One for the adding thread; one in use and one waiting per packer. */
	piles->under_way = 2 * piles->packers + 1;
	while (piles->under_way > 0)
		put_idle(piles, new_pile());
	return piles;
}

static void free_list(struct store_buffer *pile)
{
	while (pile != NULL) {
		struct store_buffer *next = pile->next;

		free(pile->rows);
		free(pile);
		pile = next;
	}
}

void store_buffers_free(struct store_buffers *piles)
{
	if (piles == NULL)
		return;
	pthread_mutex_lock(&piles->lock);
	piles->stop = true;
	pthread_cond_broadcast(&piles->work);
	pthread_mutex_unlock(&piles->lock);
	for (unsigned i = 0; i < piles->packers; i++)
		pthread_join(piles->threads[i], NULL);
	free_list(piles->full);
	free_list(piles->idle);
	bench_free(&piles->own);
	pthread_cond_destroy(&piles->work);
	pthread_cond_destroy(&piles->done);
	pthread_mutex_destroy(&piles->lock);
	free(piles);
}

/* ---- called by the adding thread ---- */

struct store_buffer *store_buffers_take(struct store_buffers *piles)
{
	struct store_buffer *pile;

	pthread_mutex_lock(&piles->lock);
	while (piles->idle == NULL)
		pthread_cond_wait(&piles->done, &piles->lock);
	pile = piles->idle;
	piles->idle = pile->next;
	pthread_mutex_unlock(&piles->lock);
	pile->next = NULL;
	return pile;
}

struct store_buffer *store_buffers_pack(struct store_buffers *piles,
					struct store_buffer *pile, bool live)
{
	struct store_directory *directory = piles->directory;

	CLAIM(pile->count > 0 && pile->count <= STORE_CHUNK_ROWS);
	pthread_mutex_lock(&piles->lock);
	GROW(directory->chunks, directory->chunk_count,
	     directory->chunk_capacity);
	pile->chunk = directory->chunk_count++;
	/* its value after an error */
	directory->chunks[pile->chunk] = (struct store_chunk){ 0 };
	pile->live = live;
	piles->under_way++;
	if (piles->packers > 0) {
		*piles->full_end = pile;
		piles->full_end = &pile->next;
		pthread_cond_signal(&piles->work);
	}
	pthread_mutex_unlock(&piles->lock);
	if (piles->packers == 0) {
		if (store_buffers_error(piles) == 0)
			do_pile(piles, &piles->own, pile);
		pthread_mutex_lock(&piles->lock);
		put_idle(piles, pile);
		pthread_mutex_unlock(&piles->lock);
	}
	return store_buffers_take(piles);
}

void store_buffers_wait(struct store_buffers *piles)
{
	pthread_mutex_lock(&piles->lock);
	while (piles->under_way > 0)
		pthread_cond_wait(&piles->done, &piles->lock);
	pthread_mutex_unlock(&piles->lock);
}

int store_buffers_error(struct store_buffers *piles)
{
	int error;

	pthread_mutex_lock(&piles->lock);
	error = piles->error;
	pthread_mutex_unlock(&piles->lock);
	return error;
}

uint64_t store_buffers_end(struct store_buffers *piles)
{
	uint64_t end;

	pthread_mutex_lock(&piles->lock);
	end = piles->end;
	pthread_mutex_unlock(&piles->lock);
	return end;
}
