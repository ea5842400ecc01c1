/*
 * live.c: making, growing and removing the live file. The writer only.
 *
 * Space is reserved with fallocate before a page is touched, because a page
 * of a full file system that is touched kills the program (SIGBUS). On tmpfs
 * nothing is ever written back, so no thread waits for a page under write;
 * therefore /dev/shm is preferred, within a limit (LIVE_SHM_SHARE). Beyond
 * it, and where /dev/shm is no tmpfs, the file lies beside the trace; where it
 * cannot, its place is private memory, which is said.
 *
 * I1: node_limit and ring data never cover what is not reserved.
 * I2: reserved <= budget, which is half of --memory.
 */
#include "preload/live.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/file.h>
#include <sys/vfs.h>

#include "preload/base.h"
#include "preload/shared.h"
#include "preload/sys.h"
#include "preload/text.h"

#define LIVE_SHM "/dev/shm"
#define LIVE_SHM_SHARE 2	/* at most one part in so many of what is free
				 * there: it is memory, and others' too */
#define LIVE_NODES_FIRST 16384	/* reserved at the start */
#define LIVE_NODES_AHEAD 8192	/* kept free ahead of the threads, … */
#define LIVE_NODES_AHEAD_MAX 32768	/* … where there are many */
#define LIVE_NODES_STEP (GL_SLAB / sizeof(struct gl_node))
#define LIVE_IMAGES_FIRST 256
#define LIVE_IMAGES_AHEAD 128
#define LIVE_MEMORY_MIN (UINT64_C(4) << 20)
#define LIVE_NODES_MAX (UINT32_C(1) << 30)

#ifndef MADV_DONTFORK
#define MADV_DONTFORK 10
#endif

/* Offsets of the parts. Half of the memory is the live mapping's. Nodes and
 * rings have addresses for a quarter each, and all parts share the budget. */
static void live_layout(struct live *live, struct gl_header *h,
			uint64_t memory)
{
	uint64_t nodes = base_min(memory / 4 / sizeof(struct gl_node),
				  LIVE_NODES_MAX);

	h->shared_offset = base_round_up(sizeof(*h), GL_PAGE);
	h->images_offset = base_round_up(h->shared_offset +
					 sizeof(struct gl_shared), GL_PAGE);
	h->nodes_offset = base_round_up(h->images_offset +
					GL_IMAGES_MAX *
						sizeof(struct gl_image), 4096);
	h->rings_offset = base_round_up(h->nodes_offset +
					nodes * sizeof(struct gl_node), 4096);
	h->data_offset = base_round_up(h->rings_offset +
				       GL_RINGS_MAX * sizeof(uint64_t), 4096);
	h->size = base_round_up(h->data_offset +
				GL_RINGS_MAX * sizeof(struct gl_ring) +
				memory / 4, GL_SLAB);
	live->size = h->size;
	live->nodes_max = nodes;
	live->budget = memory / 2;
	live->reserved = 0;
}

int live_reserve(struct live *live, uint64_t from, uint64_t to)
{
	uint64_t page = from & ~UINT64_C(4095);
	long err = 0;

	if (to > live->size || to - from > live->budget - live->reserved)
		return -ENOMEM;
	if (live->fd >= 0)
		do
			err = arch_syscall4(__NR_fallocate, live->fd, 0, page,
					    to - page);
		while (err == -EINTR);
	if (!err)
		live->reserved += to - from;
	return err;
}

static int live_reserve_first(struct live *live, const struct gl_header *h)
{
	int err = live_reserve(live, 0, h->shared_offset +
			       offsetof(struct gl_shared, ring_next));

	if (!err)
		err = live_reserve(live, h->images_offset,
				   h->images_offset + LIVE_IMAGES_FIRST *
					   sizeof(struct gl_image));
	if (!err)
		err = live_reserve(live, h->nodes_offset,
				   h->nodes_offset + LIVE_NODES_FIRST *
					   sizeof(struct gl_node));
	if (!err)
		err = live_reserve(live, h->rings_offset, h->data_offset);
	return err;
}

static void live_name(struct live *live, const char *dir,
		      const struct live_where *where)
{
	struct text text;

	text_init(&text, live->path, sizeof(live->path));
	text_put(&text, dir);
	text_put(&text, "/gnomon-");
	text_number(&text, where->pid);
	text_char(&text, '-');
	text_hex(&text, where->random, 16);
	text_put(&text, ".live");
}

/* A file in this directory with the first parts reserved, or -errno. */
static int live_create(struct live *live, const char *dir,
		       const struct live_where *where,
		       const struct gl_header *h)
{
	long fd, err;

	live_name(live, dir, where);
	fd = sys_open(live->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW |
					  O_CLOEXEC, 0600);
	if (sys_failed(fd))
		return fd;
	live->fd = fd;
	/* held by the writer while it lives: nobody takes it for a left-over */
	arch_syscall2(__NR_flock, fd, LOCK_EX | LOCK_NB);
	err = arch_syscall2(__NR_ftruncate, fd, h->size);
	if (!err)
		err = live_reserve_first(live, h);
	if (!err)
		return 0;
	sys_unlink(live->path);
	sys_close(fd);
	live->fd = -1;
	live->reserved = 0;
	return err;
}

static bool live_shm_has_room(uint64_t size)
{
	struct statfs fs;

	if (arch_syscall2(__NR_statfs, (long)LIVE_SHM, (long)&fs))
		return false;
	return fs.f_type == TMPFS_MAGIC &&
	       fs.f_bavail > LIVE_SHM_SHARE * size / fs.f_bsize;
}

static int live_beside(struct live *live, const struct live_where *where,
		       const struct gl_header *h)
{
	char dir[GT_PATH_MAX];
	size_t n = strlen(where->trace);

	while (n && where->trace[n - 1] != '/')
		n--;
	if (!n || n >= sizeof(dir))
		return -ENOENT;
	memcpy(dir, where->trace, n);
	dir[n - 1] = '\0';
	return live_create(live, dir, where, h);
}

static void live_place(struct live *live, const struct live_where *where,
		       const struct gl_header *h)
{
	if (where->core)
		return;
	if (where->live_dir[0]) {
		live->err = live_create(live, where->live_dir, where, h);
	} else {
		live->err = -ENOSPC;
		if (live_shm_has_room(h->size))
			live->err = live_create(live, LIVE_SHM, where, h);
		if (live->err)
			live->err = live_beside(live, where, h);
	}
	if (!live->err)
		return;
	live->path[0] = '\0';
	live->fd = -1;
}

static int live_map(struct live *live, bool core)
{
	int flags = live->fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE :
				   MAP_SHARED;
	long at = sys_mmap(NULL, live->size, PROT_READ | PROT_WRITE, flags,
			   live->fd, 0);

	if (sys_failed(at))
		return -ENOMEM;
	/* a child must not write into our rings; should the kernel refuse
	 * this, it still finds no pointer to them */
	sys_madvise((void *)at, live->size, MADV_DONTFORK);
	/* nor is it part of the program's core dump, unless who reads that
	 * is to find contexts there */
	if (!core)
		sys_madvise((void *)at, live->size, MADV_DONTDUMP);
	live->header = (struct gl_header *)at;
	return 0;
}

int live_open(struct live *live, const struct live_where *where)
{
	uint64_t memory = where->memory;
	struct gl_header h;
	int err;

	memset(live, 0, sizeof(*live));
	live->fd = -1;
	for (;;) {
		memset(&h, 0, offsetof(struct gl_header, trace_path));
		live_layout(live, &h, memory);
		live_place(live, where, &h);
		err = live_map(live, where->core);
		if (!err)
			break;
		live_unlink(live);
		/* less of it, where the address space is limited */
		memory /= 2;
		if (memory < LIVE_MEMORY_MIN)
			return err;
	}
	memcpy(live->header, &h, offsetof(struct gl_header, trace_path));
	live->header->shared_offset = h.shared_offset;
	live->header->version = GL_VERSION;
	live->header->header_size = sizeof(h);
	live->images_reserved = LIVE_IMAGES_FIRST;
	atomic_store_explicit(&live->header->node_count, GT_STOP_COUNT,
			      memory_order_relaxed);
	atomic_store_explicit(&live->header->node_limit,
			      base_min(LIVE_NODES_FIRST, live->nodes_max),
			      memory_order_release);
	return 0;
}

static void live_more_nodes(struct live *live)
{
	struct gl_header *h = live->header;
	uint32_t limit = atomic_load_explicit(&h->node_limit,
					      memory_order_relaxed);
	uint32_t count = atomic_load_explicit(&h->node_count,
					      memory_order_relaxed);
	uint64_t next;

	live->nodes_refused = false;
	if (limit >= count + base_min(count + LIVE_NODES_AHEAD,
				      LIVE_NODES_AHEAD_MAX))
		return;
	next = base_min(base_max(limit, count) + LIVE_NODES_STEP,
			live->nodes_max);
	live->nodes_refused =
		next <= limit ||
		live_reserve(live, h->nodes_offset + limit *
					   sizeof(struct gl_node),
			     h->nodes_offset + next * sizeof(struct gl_node));
	if (live->nodes_refused)
		return;
	/* pairs with the acquire of whoever reserves a node: the pages are
	 * there; waiters sleep on it */
	atomic_store_explicit(&h->node_limit, next, memory_order_release);
	sys_futex_wake(&h->node_limit);
}

void live_ahead(struct live *live)
{
	struct gl_header *h = live->header;
	uint64_t images = atomic_load_explicit(&h->image_count,
					       memory_order_relaxed);
	uint64_t next = base_min(images + 2 * LIVE_IMAGES_AHEAD,
				 GL_IMAGES_MAX);

	live_more_nodes(live);
	live->images_refused = live->images_reserved >= GL_IMAGES_MAX;
	if (live->images_reserved >= GL_IMAGES_MAX ||
	    live->images_reserved >= images + LIVE_IMAGES_AHEAD)
		return;
	live->images_refused = live_reserve(
		live,
		h->images_offset + live->images_reserved *
					   sizeof(struct gl_image),
		h->images_offset + next * sizeof(struct gl_image));
	if (!live->images_refused)
		live->images_reserved = next;
}

void live_unlink(struct live *live)
{
	if (live->fd < 0)
		return;
	/* already gone, or a directory that changed its rights: either way
	 * there is nothing left to do about it */
	sys_unlink(live->path);
	sys_close(live->fd);
	live->fd = -1;
	live->path[0] = '\0';
}
