/*
 * store_piles.c: see store_piles.h.
 *
 *  I1  A pile is with who adds, in the list of full ones, with a packer, or in
 *      the list of idle ones.
 *  I2  What is below `lock` in the structure is touched with it held.
 *  I3  After an error piles are thrown away: nothing more is written.
 */
#include "cli/store/store_piles.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/whole.h"
#include "cli/store/store_pack.h"
#include "cli/trace/format/trace_format.h"
#include "unwind/claim.h"

/* What one thread packs with. */
struct bench {
	struct store_packer *packer;
	uint64_t *numbers;	/* STORE_CHUNK_ROWS: of one column */
	struct buffer out;	/* the chunk */
};

struct store_piles {
	int fd;
	unsigned packers;	/* threads that there are */
	pthread_t threads[STORE_PACKERS_MAX];
	struct bench own;	/* without threads */
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	struct store_directory *directory;
	struct store_pile *full, **full_end, *idle;
	unsigned under_way;	/* full ones, and with packers */
	uint64_t end;
	int error;
	bool stop;
};

/* ---- from rows to numbers ---- */

static inline __attribute__((always_inline)) uint64_t
row_value(const struct store_row *row, enum store_column column)
{
	bool live = row->how == STORE_LIVE;

	switch (column) {
	case STORE_BEGIN:
		return row->begin;
	case STORE_END:
		return live ? STORE_NEVER : row->end;
	case STORE_BIRTH_EDGE:
		return row->birth_edge;
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

/* Of the column, to `numbers`. Inlined for each, so that which one it is is
 * asked once. */
static inline __attribute__((always_inline)) struct store_range
take_column(const struct store_pile *pile, enum store_column column,
	    uint64_t *numbers)
{
	struct store_range bounds = { UINT64_MAX, 0 };

	for (size_t i = 0; i < pile->count; i++) {
		uint64_t value = row_value(&pile->rows[i], column);

		numbers[i] = value;
		if (value < bounds.least)
			bounds.least = value;
		if (value > bounds.greatest)
			bounds.greatest = value;
	}
	return bounds;
}

static struct store_range take(const struct store_pile *pile,
			       enum store_column column, uint64_t *numbers)
{
	switch (column) {
#define TAKE(c) case c: return take_column(pile, c, numbers)
	TAKE(STORE_BEGIN);
	TAKE(STORE_END);
	TAKE(STORE_BIRTH_EDGE);
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
#undef TAKE
	default:
		return take_column(pile, STORE_USABLE, numbers);
	}
}

/* ---- a chunk ---- */

static void subtract(const struct store_pile *pile, enum store_column column,
		     uint64_t *numbers)
{
	enum store_column end = column == STORE_BEGIN ? STORE_END :
							STORE_END_EDGE;

	for (size_t i = 0; i < pile->count; i++)
		numbers[i] = row_value(&pile->rows[i], end) - numbers[i];
}

static void pack_part(struct bench *bench, const struct store_pile *pile,
		      enum store_column column, struct store_part *part)
{
	bool difference = store_is_difference(column, pile->live);
	const uint64_t *words;

	part->bounds = take(pile, column, bench->numbers);
	part->size = 0;
	if (part->bounds.least == part->bounds.greatest &&
	    !store_has_words(column, pile->live))
		return;
	if (difference)
		subtract(pile, column, bench->numbers);
	part->size = (uint32_t)(store_pack(bench->packer, bench->numbers,
					   pile->count, &words) *
				sizeof(*words));
	buffer_add(&bench->out, (const char *)words, part->size);
}

static void pack(struct bench *bench, const struct store_pile *pile,
		 struct store_chunk *chunk)
{
	static const struct store_range any = { 0, UINT64_MAX };

	*chunk = (struct store_chunk){
		.rows = (uint32_t)pile->count, .live = pile->live,
	};
	buffer_clear(&bench->out);
	for (unsigned i = 0; i < STORE_STORED; i++)
		pack_part(bench, pile, i, &chunk->parts[i]);
	for (unsigned i = 0; i < STORE_DERIVED; i++)
		chunk->derived[i] = take(pile, STORE_STORED + i,
					 bench->numbers);
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

/* A pile becomes a chunk. */
static void do_pile(struct store_piles *piles, struct bench *bench,
		    const struct store_pile *pile)
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
		error = whole_write_at(piles->fd, buffer_text(&bench->out),
				       bench->out.size, chunk.offset);
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
		.numbers = grow_alloc(STORE_CHUNK_ROWS * sizeof(uint64_t)),
	};
}

static void bench_free(struct bench *bench)
{
	store_packer_free(bench->packer);
	free(bench->numbers);
	buffer_free(&bench->out);
}

static void put_idle(struct store_piles *piles, struct store_pile *pile)
{
	pile->count = 0;
	pile->next = piles->idle;
	piles->idle = pile;
	piles->under_way--;
	pthread_cond_signal(&piles->done);
}

/* The lock is held. NULL: it is over. */
static struct store_pile *next_full(struct store_piles *piles)
{
	struct store_pile *pile;

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
	struct store_piles *piles = argument;
	struct store_pile *pile;
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

static struct store_pile *new_pile(void)
{
	struct store_pile *pile = grow_zeroed(1, sizeof(*pile));

	pile->rows = grow_alloc(STORE_CHUNK_ROWS * sizeof(*pile->rows));
	return pile;
}

struct store_piles *store_piles_new(int fd, unsigned packers, uint64_t end,
				    struct store_directory *directory)
{
	struct store_piles *piles = grow_zeroed(1, sizeof(*piles));

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
	/* One is with who adds; each packer has one, and one that waits. */
	piles->under_way = 2 * piles->packers + 1;
	while (piles->under_way > 0)
		put_idle(piles, new_pile());
	return piles;
}

static void free_list(struct store_pile *pile)
{
	while (pile != NULL) {
		struct store_pile *next = pile->next;

		free(pile->rows);
		free(pile);
		pile = next;
	}
}

void store_piles_free(struct store_piles *piles)
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

/* ---- who adds ---- */

struct store_pile *store_piles_take(struct store_piles *piles)
{
	struct store_pile *pile;

	pthread_mutex_lock(&piles->lock);
	while (piles->idle == NULL)
		pthread_cond_wait(&piles->done, &piles->lock);
	pile = piles->idle;
	piles->idle = pile->next;
	pthread_mutex_unlock(&piles->lock);
	pile->next = NULL;
	return pile;
}

struct store_pile *store_piles_pack(struct store_piles *piles,
				    struct store_pile *pile, bool live)
{
	struct store_directory *directory = piles->directory;

	CLAIM(pile->count > 0 && pile->count <= STORE_CHUNK_ROWS);
	pthread_mutex_lock(&piles->lock);
	GROW(directory->chunks, directory->chunk_count,
	     directory->chunk_capacity);
	pile->chunk = directory->chunk_count++;
	pile->live = live;
	piles->under_way++;
	if (piles->packers > 0) {
		*piles->full_end = pile;
		piles->full_end = &pile->next;
		pthread_cond_signal(&piles->work);
	}
	pthread_mutex_unlock(&piles->lock);
	if (piles->packers == 0) {
		if (store_piles_error(piles) == 0)
			do_pile(piles, &piles->own, pile);
		pthread_mutex_lock(&piles->lock);
		put_idle(piles, pile);
		pthread_mutex_unlock(&piles->lock);
	}
	return store_piles_take(piles);
}

void store_piles_wait(struct store_piles *piles)
{
	pthread_mutex_lock(&piles->lock);
	while (piles->under_way > 0)
		pthread_cond_wait(&piles->done, &piles->lock);
	pthread_mutex_unlock(&piles->lock);
}

int store_piles_error(struct store_piles *piles)
{
	int error;

	pthread_mutex_lock(&piles->lock);
	error = piles->error;
	pthread_mutex_unlock(&piles->lock);
	return error;
}

uint64_t store_piles_end(struct store_piles *piles)
{
	uint64_t end;

	pthread_mutex_lock(&piles->lock);
	end = piles->end;
	pthread_mutex_unlock(&piles->lock);
	return end;
}
