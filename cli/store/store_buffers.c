/*
 * store_buffers.c: see store_buffers.h.
 *
 *  I1  A buffer is in use by the adding thread, in the list of full ones, in
 *      use by a packer, or in the list of idle ones.
 *  I2  Members below `lock` in the struct are used only while it is held.
 *  I3  After an error, buffers are dropped: nothing more is written.
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
#include "unwind/base/assertion.h"

#define TAKEN (STORE_STORED + STORE_DERIVED)
#define TAKE_ROWS 512		/* rows at a time: they stay in the cache */

/* Memory of one packing thread. */
struct workspace {
	struct store_packer *packer;
	uint64_t (*numbers)[STORE_CHUNK_ROWS];	/* by column: TAKEN */
	struct store_range bounds[TAKEN];
	struct buffer out;	/* the chunk */
};

struct store_buffers {
	int fd;
	unsigned packers;	/* number of threads */
	pthread_t threads[STORE_PACKERS_MAX];
	struct workspace own;	/* if there are no threads */
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
take_column(struct workspace *workspace, const struct store_buffer *buffer,
	    enum store_column column, size_t from, size_t to)
{
	struct store_range bounds = workspace->bounds[column];

	for (size_t i = from; i < to; i++) {
		uint64_t value = row_value(&buffer->rows[i], column);

		workspace->numbers[column][i] = value;
		if (value < bounds.min)
			bounds.min = value;
		if (value > bounds.max)
			bounds.max = value;
	}
	workspace->bounds[column] = bounds;
}

static void take_columns(struct workspace *workspace,
			 const struct store_buffer *buffer, size_t from,
			 size_t to)
{
#define TAKE(column) take_column(workspace, buffer, column, from, to)
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

static void take(struct workspace *workspace, const struct store_buffer *buffer)
{
	for (unsigned i = 0; i < TAKEN; i++)
		workspace->bounds[i] = (struct store_range){ UINT64_MAX, 0 };
	for (size_t from = 0; from < buffer->count; from += TAKE_ROWS)
		take_columns(workspace, buffer, from,
			     from + TAKE_ROWS < buffer->count ?
				     from + TAKE_ROWS : buffer->count);
}

/* ---- a chunk ---- */

static void subtract(struct workspace *workspace, enum store_column column,
		     size_t count)
{
	const uint64_t *ends = workspace->numbers[column == STORE_BEGIN ?
						  STORE_END : STORE_END_EDGE];
	uint64_t *numbers = workspace->numbers[column];

	for (size_t i = 0; i < count; i++)
		numbers[i] = ends[i] - numbers[i];
}

static void pack_part(struct workspace *workspace,
		      const struct store_buffer *buffer,
		      enum store_column column, struct store_part *part)
{
	const uint64_t *words;

	part->bounds = workspace->bounds[column];
	part->size = 0;
	if (part->bounds.min == part->bounds.max &&
	    !store_has_words(column, buffer->live))
		return;
	if (store_is_difference(column, buffer->live))
		subtract(workspace, column, buffer->count);
	part->size = (uint32_t)(store_pack(workspace->packer,
					   workspace->numbers[column],
					   buffer->count, &words) *
				sizeof(*words));
	buffer_add(&workspace->out, (const char *)words, part->size);
}

static void pack(struct workspace *workspace, const struct store_buffer *buffer,
		 struct store_chunk *chunk)
{
	static const struct store_range any = { 0, UINT64_MAX };

	*chunk = (struct store_chunk){
		.rows = (uint32_t)buffer->count, .live = buffer->live,
	};
	buffer_clear(&workspace->out);
	take(workspace, buffer);
	for (unsigned i = 0; i < STORE_STORED; i++)
		pack_part(workspace, buffer, i, &chunk->parts[i]);
	for (unsigned i = 0; i < STORE_DERIVED; i++)
		chunk->derived[i] = workspace->bounds[STORE_STORED + i];
	if (buffer->live)
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

/* Compresses a buffer to a chunk and writes it. */
static void write_buffer(struct store_buffers *buffers, struct workspace *workspace,
		    const struct store_buffer *buffer)
{
	struct store_chunk chunk;
	int error;

	pack(workspace, buffer, &chunk);
	pthread_mutex_lock(&buffers->lock);
	chunk.offset = buffers->end;
	buffers->end += workspace->out.size;
	error = buffers->error;
	pthread_mutex_unlock(&buffers->lock);
	if (error == 0) {
		add_checksums(&chunk, buffer_text(&workspace->out));
		error = io_full_write_at(buffers->fd,
					 buffer_text(&workspace->out),
					 workspace->out.size, chunk.offset);
		/* starts writing to disk, so that the later sync is fast; that
		 * sync reports errors */
		(void)sync_file_range(buffers->fd, (off_t)chunk.offset,
				      (off_t)workspace->out.size,
				      SYNC_FILE_RANGE_WRITE);
	}
	pthread_mutex_lock(&buffers->lock);
	if (buffers->error == 0)
		buffers->error = error;
	buffers->directory->chunks[buffer->chunk] = chunk;
	pthread_mutex_unlock(&buffers->lock);
}

/* ---- threads ---- */

static void workspace_init(struct workspace *workspace)
{
	*workspace = (struct workspace){
		.packer = store_packer_new(),
		.numbers = grow_alloc(TAKEN * sizeof(*workspace->numbers)),
	};
}

static void workspace_free(struct workspace *workspace)
{
	store_packer_free(workspace->packer);
	free(workspace->numbers);
	buffer_free(&workspace->out);
}

static void put_idle(struct store_buffers *buffers, struct store_buffer *buffer)
{
	buffer->count = 0;
	buffer->next = buffers->idle;
	buffers->idle = buffer;
	buffers->under_way--;
	pthread_cond_signal(&buffers->done);
}

/* The lock is held. NULL: packers have to end. */
static struct store_buffer *next_full(struct store_buffers *buffers)
{
	struct store_buffer *buffer;

	while (buffers->full == NULL && !buffers->stop)
		pthread_cond_wait(&buffers->work, &buffers->lock);
	buffer = buffers->full;
	if (buffers->stop || buffer == NULL)
		return NULL;
	buffers->full = buffer->next;
	if (buffers->full == NULL)
		buffers->full_end = &buffers->full;
	return buffer;
}

static void *run_packer(void *argument)
{
	struct store_buffers *buffers = argument;
	struct store_buffer *buffer;
	struct workspace workspace;

	workspace_init(&workspace);
	pthread_mutex_lock(&buffers->lock);
	while ((buffer = next_full(buffers)) != NULL) {
		bool wanted = buffers->error == 0;	/* I3 */

		pthread_mutex_unlock(&buffers->lock);
		if (wanted)
			write_buffer(buffers, &workspace, buffer);
		pthread_mutex_lock(&buffers->lock);
		put_idle(buffers, buffer);
	}
	pthread_mutex_unlock(&buffers->lock);
	workspace_free(&workspace);
	return NULL;
}

static struct store_buffer *new_pile(void)
{
	struct store_buffer *buffer = grow_zeroed(1, sizeof(*buffer));

	buffer->rows = grow_alloc(STORE_CHUNK_ROWS * sizeof(*buffer->rows));
	return buffer;
}

struct store_buffers *store_buffers_new(int fd, unsigned packers, uint64_t end,
					struct store_directory *directory)
{
	struct store_buffers *buffers = grow_zeroed(1, sizeof(*buffers));

	ASSERT(packers <= STORE_PACKERS_MAX);
	buffers->fd = fd;
	buffers->end = end;
	buffers->directory = directory;
	buffers->full_end = &buffers->full;
	pthread_mutex_init(&buffers->lock, NULL);
	pthread_cond_init(&buffers->work, NULL);
	pthread_cond_init(&buffers->done, NULL);
	workspace_init(&buffers->own);
	while (buffers->packers < packers &&
	       pthread_create(&buffers->threads[buffers->packers], NULL,
			      run_packer, buffers) == 0)
		buffers->packers++;
	/* One for the adding thread; one in use and one waiting per packer. */
	buffers->under_way = 2 * buffers->packers + 1;
	while (buffers->under_way > 0)
		put_idle(buffers, new_pile());
	return buffers;
}

static void free_list(struct store_buffer *buffer)
{
	while (buffer != NULL) {
		struct store_buffer *next = buffer->next;

		free(buffer->rows);
		free(buffer);
		buffer = next;
	}
}

void store_buffers_free(struct store_buffers *buffers)
{
	if (buffers == NULL)
		return;
	pthread_mutex_lock(&buffers->lock);
	buffers->stop = true;
	pthread_cond_broadcast(&buffers->work);
	pthread_mutex_unlock(&buffers->lock);
	for (unsigned i = 0; i < buffers->packers; i++)
		pthread_join(buffers->threads[i], NULL);
	free_list(buffers->full);
	free_list(buffers->idle);
	workspace_free(&buffers->own);
	pthread_cond_destroy(&buffers->work);
	pthread_cond_destroy(&buffers->done);
	pthread_mutex_destroy(&buffers->lock);
	free(buffers);
}

/* ---- called by the adding thread ---- */

struct store_buffer *store_buffers_take(struct store_buffers *buffers)
{
	struct store_buffer *buffer;

	pthread_mutex_lock(&buffers->lock);
	while (buffers->idle == NULL)
		pthread_cond_wait(&buffers->done, &buffers->lock);
	buffer = buffers->idle;
	buffers->idle = buffer->next;
	pthread_mutex_unlock(&buffers->lock);
	buffer->next = NULL;
	return buffer;
}

struct store_buffer *store_buffers_pack(struct store_buffers *buffers,
					struct store_buffer *buffer, bool live)
{
	struct store_directory *directory = buffers->directory;

	ASSERT(buffer->count > 0 && buffer->count <= STORE_CHUNK_ROWS);
	pthread_mutex_lock(&buffers->lock);
	GROW(directory->chunks, directory->chunk_count,
	     directory->chunk_capacity);
	buffer->chunk = directory->chunk_count++;
	/* its value after an error */
	directory->chunks[buffer->chunk] = (struct store_chunk){ 0 };
	buffer->live = live;
	buffers->under_way++;
	if (buffers->packers > 0) {
		*buffers->full_end = buffer;
		buffers->full_end = &buffer->next;
		pthread_cond_signal(&buffers->work);
	}
	pthread_mutex_unlock(&buffers->lock);
	if (buffers->packers == 0) {
		if (store_buffers_error(buffers) == 0)
			write_buffer(buffers, &buffers->own, buffer);
		pthread_mutex_lock(&buffers->lock);
		put_idle(buffers, buffer);
		pthread_mutex_unlock(&buffers->lock);
	}
	return store_buffers_take(buffers);
}

void store_buffers_wait(struct store_buffers *buffers)
{
	pthread_mutex_lock(&buffers->lock);
	while (buffers->under_way > 0)
		pthread_cond_wait(&buffers->done, &buffers->lock);
	pthread_mutex_unlock(&buffers->lock);
}

int store_buffers_error(struct store_buffers *buffers)
{
	int error;

	pthread_mutex_lock(&buffers->lock);
	error = buffers->error;
	pthread_mutex_unlock(&buffers->lock);
	return error;
}

uint64_t store_buffers_end(struct store_buffers *buffers)
{
	uint64_t end;

	pthread_mutex_lock(&buffers->lock);
	end = buffers->end;
	pthread_mutex_unlock(&buffers->lock);
	return end;
}
