/*
 * live_make.c: see live_make.h.
 *
 * Space is reserved with fallocate before a page is touched, because a page
 * of a full file system that is touched kills the program (SIGBUS). On tmpfs
 * nothing is ever written back, so no thread waits for a page under write;
 * therefore /dev/shm is preferred, within a limit (LIVE_MAKE_SHM_SHARE).
 * Beyond it, and where /dev/shm is no tmpfs, the file lies beside the trace.
 * Where it cannot, which is said, or must not (live_where.core), a file without a
 * name takes its place (memfd_create(2)), and where a limit of files' sizes counts
 * for that or a filter refuses it, a System V segment. That one goes with the last
 * who is attached to it: should the target die before its recorder is, nothing is
 * recorded.
 *
 * All of it is mapped once. What the target does not need at first is then unmapped
 * again, until it does (live_map.c).
 *
 * I1: node_limit and image_limit never cover what is not reserved.
 * I2: reserved <= budget, which is half of --memory.
 */
#include "preload/start/live_make.h"

#include <errno.h>
#include <linux/magic.h>
#include <linux/memfd.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/vfs.h>

#include "preload/base/base.h"
#include "preload/base/sys.h"
#include "preload/base/text.h"
#include "preload/ring/live_map.h"
#include "preload/ring/ring_shared.h"
#include "preload/ring/shared.h"

#define LIVE_MAKE_SHM "/dev/shm"
#define LIVE_MAKE_SHM_SHARE 2	/* at most one part in so many of what is free
				 * there: it is memory, and others' too */
/* Reserved at the start: pages that are taken and cleared then. */
#define LIVE_MAKE_NODES 16384
#define LIVE_MAKE_NODES_SMALL 2048
#define LIVE_MAKE_NODES_MAX (UINT32_C(1) << 30)
#define LIVE_MAKE_IMAGES 256
#define LIVE_MAKE_IMAGES_SMALL 64
#define LIVE_MAKE_MEMORY_MIN (UINT64_C(4) << 20)

#ifndef MADV_DONTFORK
#define MADV_DONTFORK 10
#endif

/* Offsets of the parts. Half of the memory is the live mapping's. Nodes and
 * rings have addresses for a quarter each, and all parts share the budget. */
static void live_make_layout(struct gl_header *h, uint64_t memory)
{
	uint64_t nodes = base_min(memory / 4 / sizeof(struct gl_node),
				  LIVE_MAKE_NODES_MAX);

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
}

/* The first of the nodes that are reserved at the start is no more than there
 * are addresses for. */
static uint32_t live_make_nodes(const struct live_made *made,
				const struct gl_header *h)
{
	return base_min(made->small ? LIVE_MAKE_NODES_SMALL : LIVE_MAKE_NODES,
			(h->rings_offset - h->nodes_offset) /
				sizeof(struct gl_node));
}

static uint32_t live_make_images(const struct live_made *made)
{
	return made->small ? LIVE_MAKE_IMAGES_SMALL : LIVE_MAKE_IMAGES;
}

static long live_make_reserve(struct live_made *made, uint64_t from,
			      uint64_t to)
{
	uint64_t page = from & ~(uint64_t)(GL_PAGE - 1);
	long err = 0;

	if (made->fd >= 0)
		do
			err = arch_fallocate(made->fd, 0, page, to - page);
		while (err == -EINTR);
	if (!err)
		made->reserved += to - from;
	return err;
}

static long live_make_first(struct live_made *made, const struct gl_header *h)
{
	const uint64_t parts[][2] = {
		{ 0, h->shared_offset + GL_SHARED_FIRST },
		{ h->images_offset, h->images_offset +
			live_make_images(made) * sizeof(struct gl_image) },
		{ h->nodes_offset, h->nodes_offset +
			live_make_nodes(made, h) * sizeof(struct gl_node) },
		{ h->rings_offset, h->rings_offset + GL_PAGE },
	};
	long err = 0;
	unsigned i;

	made->reserved = 0;
	for (i = 0; i < sizeof(parts) / sizeof(*parts) && !err; i++)
		err = live_make_reserve(made, parts[i][0], parts[i][1]);
	return err;
}

static void live_make_name(struct live_made *made, const char *dir, size_t n,
			   const struct live_where *where)
{
	struct text text;

	text_init(&text, made->path, sizeof(made->path));
	text_bytes(&text, dir, n);
	text_put(&text, n ? "/gnomon-" : "gnomon-");
	text_number(&text, where->pid);
	text_char(&text, '-');
	text_hex(&text, where->random, 16);
	text_put(&text, ".live");
}

/* Enlarging a file beyond the limit raises a signal. */
static long live_make_size(long fd, uint64_t size)
{
	uint64_t limit[2];	/* soft, hard */

	if (arch_syscall4(__NR_prlimit64, 0, RLIMIT_FSIZE, 0, (long)limit) ==
		    0 && limit[0] < size)
		return -EFBIG;
	return arch_ftruncate(fd, size);
}

/* All of the file that has just been made, or nothing of it. */
static long live_make_whole(struct live_made *made, const struct gl_header *h)
{
	long err = live_make_size(made->fd, h->size);

	if (!err)
		err = live_make_first(made, h);
	if (err)
		live_unmake(made);
	return err;
}

/* A file in the directory whose name has n bytes with the first parts reserved,
 * or -errno. */
static long live_make_file(struct live_made *made, const char *dir, size_t n,
			   const struct live_where *where,
			   const struct gl_header *h)
{
	long fd;

	live_make_name(made, dir, n, where);
	fd = sys_open(made->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW |
				  O_CLOEXEC, 0600);
	if (sys_failed(fd))
		return fd;
	made->fd = fd;
	/* held as long as somebody has it mapped or open: nobody takes it
	 * for a left-over */
	arch_syscall2(__NR_flock, fd, LOCK_EX | LOCK_NB);
	return live_make_whole(made, h);
}

static bool live_make_shm_fits(uint64_t size)
{
	struct statfs fs;

	if (arch_syscall2(__NR_statfs, (long)LIVE_MAKE_SHM, (long)&fs))
		return false;
	return fs.f_type == TMPFS_MAGIC &&
	       fs.f_bavail > LIVE_MAKE_SHM_SHARE * size / fs.f_bsize;
}

/* In the trace's directory, if the pattern of its path has none that is yet to
 * be filled in. */
static long live_make_beside(struct live_made *made,
			     const struct live_where *where,
			     const struct gl_header *h)
{
	const char *name = text_base_name(where->beside, strlen(where->beside));
	size_t n = name - where->beside, i;

	for (i = 0; i < n; i++)
		if (where->beside[i] == '%')
			return -ENOENT;
	return live_make_file(made, where->beside, n ? n - 1 : 0, where, h);
}

static long live_make_place(struct live_made *made,
			    const struct live_where *where,
			    const struct gl_header *h)
{
	long err = -ENOSPC;

	if (where->live_dir[0])
		return live_make_file(made, where->live_dir,
				      strlen(where->live_dir), where, h);
	if (live_make_shm_fits(h->size))
		err = live_make_file(made, LIVE_MAKE_SHM,
				     sizeof(LIVE_MAKE_SHM) - 1, where, h);
	return err ? live_make_beside(made, where, h) : 0;
}

/* A file without a name; it is open in the target's helper and in the recorder
 * only. 0 or -errno. */
static long live_make_nameless(struct live_made *made,
			       const struct gl_header *h)
{
	long fd = arch_syscall2(__NR_memfd_create, (long)"gnomon-live",
				MFD_CLOEXEC);

	if (sys_failed(fd))
		return fd;
	made->fd = fd;
	made->path[0] = '\0';
	return live_make_whole(made, h);
}

/* A segment: an address, or -errno. It is marked to go with the last who is
 * attached, and can still be attached to. */
static long live_make_segment(struct live_made *made,
			      const struct gl_header *h)
{
	long id = arch_syscall3(__NR_shmget, IPC_PRIVATE, h->size,
				IPC_CREAT | SHM_NORESERVE | 0600);
	long at;

	if (sys_failed(id))
		return id;
	at = arch_syscall3(__NR_shmat, id, 0, 0);
	arch_syscall3(__NR_shmctl, id, IPC_RMID, 0);
	if (!sys_failed(at))
		made->memory_id = id;
	live_make_first(made, h);	/* counts */
	return at;
}

static long live_make_map(struct live_made *made, const struct gl_header *h,
			  bool core)
{
	long at;

	if (made->fd < 0)
		live_make_nameless(made, h);
	at = made->fd >= 0 ? sys_mmap(NULL, h->size, PROT_READ | PROT_WRITE,
				      MAP_SHARED, made->fd, 0) :
			     live_make_segment(made, h);
	if (sys_failed(at))
		return at;
	/* a child must not write into our rings; should the kernel refuse
	 * this, it still finds no pointer to them */
	sys_madvise((void *)at, h->size, MADV_DONTFORK);
	/* nor is it part of the program's core dump, unless who reads that
	 * is to find contexts there */
	if (!core)
		sys_madvise((void *)at, h->size, MADV_DONTDUMP);
	made->header = (struct gl_header *)at;
	return 0;
}

/*
 * What the recorder's pool does for every other ring (cli/recorder/live/pool.c).
 * The data region:	| headers of all rings | structs gl_thread | data of ring 0 |
 */
static void live_make_ring(struct live_made *made, const struct gl_header *h,
			   uint64_t bytes)
{
	char *base = (char *)made->header;
	struct gl_shared *shared = (void *)(base + h->shared_offset);
	struct gl_ring *ring = (void *)(base + h->data_offset);
	uint64_t links = h->shared_offset + offsetof(struct gl_shared,
						     ring_next);
	uint64_t threads = h->data_offset + GL_RINGS_MAX * sizeof(*ring);
	uint64_t data = threads + GL_THREADS * sizeof(struct gl_thread);
	uint64_t end = data + bytes + GL_RING_SLACK;

	if (end > h->size || live_make_reserve(made, links, links + GL_PAGE) ||
	    live_make_reserve(made, h->data_offset,
			      h->data_offset + sizeof(*ring)) ||
	    live_make_reserve(made, threads, end))
		return;	/* the recorder makes the first one, too */
	shared->threads[0] = threads;
	ring->offset = data;
	ring->data = (uintptr_t)base + data;
	ring->mask = bytes - 1;
	atomic_store_explicit(&ring->busy, GL_IDLE, memory_order_relaxed);
	ring_place(ring, 0, bytes / 2);
	*(uint64_t *)(base + h->rings_offset) = h->data_offset;
	atomic_store_explicit(&made->header->ring_count, 1,
			      memory_order_release);
	/* in the list: the first change of it, ring 0 */
	atomic_store_explicit(&shared->ring_count[RECORDER_PRIMARY], 1,
			      memory_order_relaxed);
	atomic_store_explicit(&shared->ring_free[RECORDER_PRIMARY],
			      UINT64_C(1) << 32 | 1, memory_order_release);
	made->ring_bytes = end - h->data_offset;
}

static void live_make_fill(struct live_made *made, const struct gl_header *h)
{
	struct gl_header *header = made->header;
	struct gl_shared *shared = (struct gl_shared *)((char *)header +
							h->shared_offset);

	memcpy(header, h, offsetof(struct gl_header, trace_path));
	header->shared_offset = h->shared_offset;
	header->version = GL_VERSION;
	header->header_size = sizeof(*h);
	atomic_store_explicit(&shared->image_limit, live_make_images(made),
			      memory_order_relaxed);
	atomic_store_explicit(&shared->heap_limit, GL_HEAPS_FIRST,
			      memory_order_relaxed);
	atomic_store_explicit(&header->node_count, GT_STOP_COUNT,
			      memory_order_relaxed);
	atomic_store_explicit(&header->node_limit, live_make_nodes(made, h),
			      memory_order_release);
}

int live_make(struct live_made *made, const struct live_where *where)
{
	uint64_t memory = where->memory;
	struct gl_header h;
	long err;

	memset(made, 0, sizeof(*made));
	made->memory_id = -1;
	made->small = where->small;
	for (;;) {
		memset(&h, 0, offsetof(struct gl_header, trace_path));
		live_make_layout(&h, memory);
		made->fd = -1;
		made->err = where->core ? 0 : live_make_place(made, where, &h);
		err = live_make_map(made, &h, where->core);
		if (!err)
			break;
		live_unmake(made);
		/* less of it, where the address space is limited */
		memory /= 2;
		if (memory < LIVE_MAKE_MEMORY_MIN)
			return err;
	}
	live_make_fill(made, &h);
	/* who reads a core dump looks for all of it in one place */
	made->whole = where->core || !live_map_cut(made->header);
	live_make_ring(made, &h, where->ring);
	return 0;
}

void live_unmake(struct live_made *made)
{
	if (made->fd < 0)
		return;
	/* already gone, or a directory that changed its rights: either way
	 * there is nothing left to do about it */
	if (made->path[0])
		sys_unlink(made->path);
	sys_close(made->fd);
	made->fd = -1;
	made->path[0] = '\0';
}
