/*
 * live.c: attaches, extends and removes the live file, which the target has
 * created (preload/start/live_make.c).
 *
 * `shape` is a checked copy of the target's header. Reserved sizes are counted
 * in struct live, which the target cannot change.
 *
 * I1: node_limit, image_limit and ring data never cover unreserved pages: on a
 *     full file system, access to such a page kills the program (SIGBUS).
 * I2: reserved <= budget, which is half of --memory.
 */
#include "cli/recorder/live/live.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/recorder/base/futex.h"
#include "cli/recorder/base/result.h"
#include "preload/base/base.h"
#include "preload/ring/shared.h"
#include "unwind/base/assertion.h"

#define LIVE_NODES_AHEAD 8192	/* reserved ahead of the threads, ... */
#define LIVE_NODES_AHEAD_MAX 32768	/* ... if there are many */
#define LIVE_NODES_STEP (GL_SLAB / sizeof(struct gl_node))
#define LIVE_NODES_MAX (UINT64_C(1) << 30)	/* as live_make_layout */
#define LIVE_NODES_USED 1024	/* with more nodes, many more will follow */
#define LIVE_IMAGES_AHEAD 128

/* Whether the regions follow each other, each with enough room. */
static bool live_is_laid_out(const struct gl_header *h, uint64_t size)
{
	return h->size == size && h->header_size == sizeof(*h) &&
	       h->shared_offset >= sizeof(*h) && h->size <= LIVE_SIZE_MAX &&
	       h->shared_offset < h->size && h->images_offset < h->size &&
	       h->nodes_offset < h->size && h->rings_offset < h->size &&
	       h->data_offset < h->size &&
	       h->images_offset >= h->shared_offset + sizeof(struct gl_shared) &&
	       h->nodes_offset >= h->images_offset +
				  GL_IMAGES_MAX * sizeof(struct gl_image) &&
	       h->rings_offset > h->nodes_offset &&
	       h->rings_offset - h->nodes_offset <=
			LIVE_NODES_MAX * sizeof(struct gl_node) &&
	       h->data_offset >= h->rings_offset +
				 GL_RINGS_MAX * sizeof(uint64_t) &&
	       h->size >= h->data_offset +
			  GL_RINGS_MAX * sizeof(struct gl_ring) &&
	       ((h->shared_offset | h->images_offset | h->nodes_offset |
		 h->rings_offset | h->data_offset) % GL_PAGE) == 0;
}

/* Maps the file or segment. 0 or -errno. */
static int live_map(struct live *live, int memory_id, void **at,
		    uint64_t *size)
{
	struct shmid_ds segment;
	struct stat st;

	if (live->fd < 0) {
		*at = shmat(memory_id, NULL, 0);
		if (*at == (void *)-1)
			return -errno;
		if (shmctl(memory_id, IPC_STAT, &segment))
			return -EINVAL;
		*size = segment.shm_segsz;
		return 0;
	}
	if (fstat(live->fd, &st))
		return -errno;
	*size = st.st_size;
	if (*size < sizeof(struct gl_header))
		return -EINVAL;
	*at = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, live->fd,
		   0);
	return *at == MAP_FAILED ? -errno : 0;
}

static uint32_t live_number(const order_32 *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

int live_attach(struct live *live, int fd, int memory_id, const char *path)
{
	struct gl_shared *shared;
	struct gl_setup setup;
	uint64_t size = 0;
	void *at = NULL;
	int err;

	memset(live, 0, sizeof(*live));
	live->fd = fd;
	err = live_map(live, memory_id, &at, &size);
	if (err)
		return err;
	live->header = (struct gl_header *)at;
	live->size = size;
	if (fd >= 0 && !realpath(path, live->path))
		live->path[0] = '\0';	/* then it cannot be removed */
	if (size < sizeof(live->shape))
		return -EINVAL;
	/* a copy, so that checked values cannot change */
	memcpy(&live->shape, live->header, sizeof(live->shape));
	if (live->shape.version == __builtin_bswap32(GL_VERSION))
		return -ENOEXEC;	/* of the other byte order */
	if (live->shape.version != GL_VERSION ||
	    !live_is_laid_out(&live->shape, size))
		return -EINVAL;
	live->nodes_max = (live->shape.rings_offset - live->shape.nodes_offset) /
			  sizeof(struct gl_node);
	shared = live_shared(live);
	live->nodes_reserved = base_min(live_number(&live->shape.node_limit),
					live->nodes_max);
	live->images_reserved = base_min(live_number(&shared->image_limit),
					 GL_IMAGES_MAX);
	live->heaps_reserved = base_max(
		base_min(live_number(&shared->heap_limit), GL_HEAPS_MAX), 1);
	setup = shared->setup;
	live->budget = base_min(setup.budget, live->size);
	/* I2, whatever the target says */
	live->reserved = base_min(setup.reserved, live->budget);
	live->err = setup.live_error;
	DEBUG_ASSERT(live_is_valid(live));
	return 0;
}

/* Allocates [from, to), and the first page in full. 0 or -errno. */
static long live_allocate(const struct live *live, uint64_t from, uint64_t to)
{
	uint64_t page = from & ~UINT64_C(4095);
	long err;

	do
		err = result_of(fallocate(live->fd, 0, page, to - page));
	while (err == -EINTR);
	return err;
}

int live_reserve(struct live *live, uint64_t from, uint64_t to)
{
	long err = 0;

	assert(from <= to);
	assert(live->reserved <= live->budget);	/* I2 */
	if (to > live->size || to - from > live->budget - live->reserved)
		return -ENOMEM;
	if (live->fd >= 0)
		err = live_allocate(live, from, to);
	if (!err)
		live->reserved += to - from;
	DEBUG_ASSERT(live_is_valid(live));
	return err;
}

void live_ready(struct live *live, uint64_t from, uint64_t to)
{
	DEBUG_ASSERT(from <= to && to <= live->size);
	/* tmpfs clears pages at the second allocation. On other file systems
	 * this may fail: the pages are allocated all the same. */
	if (live->fd >= 0 && from < to)
		live_allocate(live, from, to);
}

static uint64_t live_node_at(const struct live *live, uint64_t number)
{
	DEBUG_ASSERT(number <= live->nodes_max);
	return live->shape.nodes_offset + number * sizeof(struct gl_node);
}

/* Populates the first nodes, which the target has reserved; once. */
static void live_first_nodes(struct live *live, uint64_t count)
{
	if (likely(live->nodes_used) || count < LIVE_NODES_USED)
		return;
	live->nodes_used = true;
	live_ready(live, live_node_at(live, base_min(count,
						     live->nodes_reserved)),
		   live_node_at(live, live->nodes_reserved));
}

/* Unmaps pages of nodes, which are written once and mostly read once. A later
 * access maps them again from the file. */
static void live_let_go(const struct live *live)
{
	char *from = live_at(live, base_round_up(live_node_at(live, 0),
						 GL_PAGE));
	char *to = live_at(live, live_node_at(live, live->nodes_reserved) &
					 ~UINT64_C(4095));

	/* failure is harmless: it only saves memory */
	if (from < to)
		madvise(from, to - from, MADV_DONTNEED);
}

static void live_more_nodes(struct live *live)
{
	struct gl_header *h = live->header;
	uint64_t limit = live->nodes_reserved, next;
	uint64_t count = base_min(live_number(&h->node_count),
				  live->nodes_max);

	live_first_nodes(live, count);
	live->nodes_refused = false;
	if (limit >= count + base_min(count + LIVE_NODES_AHEAD,
				      LIVE_NODES_AHEAD_MAX))
		return;
	next = base_min(base_max(limit, count) + LIVE_NODES_STEP,
			live->nodes_max);
	live->nodes_refused =
		next <= limit ||
		live_reserve(live, live_node_at(live, limit),
			     live_node_at(live, next));
	if (live->nodes_refused)
		return;
	assert(next > limit && next <= live->nodes_max);
	live_ready(live, live_node_at(live, limit), live_node_at(live, next));
	live_let_go(live);
	live->nodes_reserved = next;
	/* pairs with the acquire of threads that take a node: the pages are
	 * reserved; waiters sleep on it */
	atomic_store_explicit(&h->node_limit, next, memory_order_release);
	futex_wake(&h->node_limit);
}

static void live_more_heaps(struct live *live)
{
	const struct gl_shared *shared = live_shared(live);
	uint64_t wanted = atomic_load_explicit(&shared->heaps_wanted,
					       memory_order_acquire);
	uint64_t at = live->shape.shared_offset +
		      offsetof(struct gl_shared, heap_name);
	uint64_t next = base_round_up(base_min(wanted, GL_HEAPS_MAX),
				      GL_HEAPS_FIRST);

	live->heaps_refused = false;
	if (next <= live->heaps_reserved)
		return;
	assert(next <= GL_HEAPS_MAX);
	live->heaps_refused = live_reserve(
		live, at + live->heaps_reserved * GL_HEAP_NAME,
		at + next * GL_HEAP_NAME);
	if (!live->heaps_refused)
		live->heaps_reserved = next;
	DEBUG_ASSERT(live_is_valid(live));
}

void live_ahead(struct live *live)
{
	const struct gl_header *h = &live->shape;
	uint64_t images = atomic_load_explicit(&live->header->image_count,
					       memory_order_relaxed);
	uint64_t next = base_min(images + 2 * LIVE_IMAGES_AHEAD,
				 GL_IMAGES_MAX);

	live_more_nodes(live);
	live_more_heaps(live);
	live->images_refused = live->images_reserved >= GL_IMAGES_MAX;
	if (live->images_reserved >= GL_IMAGES_MAX ||
	    live->images_reserved >= images + LIVE_IMAGES_AHEAD)
		return;
	assert(next > live->images_reserved && next <= GL_IMAGES_MAX);
	live->images_refused = live_reserve(
		live,
		h->images_offset + live->images_reserved *
					   sizeof(struct gl_image),
		h->images_offset + next * sizeof(struct gl_image));
	if (!live->images_refused)
		live->images_reserved = next;
	DEBUG_ASSERT(live_is_valid(live));
}

/* Whether the path still leads to our file: a newer file of others must not be
 * removed. */
static bool live_is_at(const struct live *live)
{
	struct stat there, ours;

	return lstat(live->path, &there) == 0 &&
	       fstat(live->fd, &ours) == 0 && there.st_dev == ours.st_dev &&
	       there.st_ino == ours.st_ino;
}

void live_unlink(struct live *live)
{
	if (live->fd < 0)
		return;
	/* failure: the file or the right to remove it is gone, so there is
	 * nothing left to do */
	if (live_is_at(live))
		unlink(live->path);
	close(live->fd);
	live->fd = -1;
	live->path[0] = '\0';
}

#ifdef GNOMON_DEBUG_ASSERTS
bool live_is_valid(const struct live *live)
{
	return live->reserved <= live->budget &&	/* I2 */
	       live->budget <= live->size &&
	       live->nodes_reserved <= live->nodes_max &&	/* I1 */
	       live->images_reserved <= GL_IMAGES_MAX &&
	       live->heaps_reserved >= 1 &&
	       live->heaps_reserved <= GL_HEAPS_MAX &&
	       live_is_laid_out(&live->shape, live->size);
}
#endif
