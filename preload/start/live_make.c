/*
 * live_make.c: see live_make.h.
 *
 * Space is reserved with fallocate before a page is touched, because touching a
 * page on a full file system kills the program (SIGBUS). On tmpfs nothing is
 * ever written back, so no thread waits for a page under write; therefore
 * /dev/shm is preferred, within a limit (LIVE_MAKE_SHM_SHARE). Beyond the
 * limit, or if /dev/shm is no tmpfs, the file is made beside the trace. If that
 * is impossible (which is reported) or not allowed (live_where.core), a file
 * without a name is used (memfd_create(2)). If a file size limit applies to
 * that, or a filter refuses it, a System V segment is used. The segment
 * disappears with the last process attached to it: if the target dies before
 * its recorder is attached, nothing is recorded.
 *
 * The file is mapped completely once. The parts that the target does not need
 * at first are then unmapped until it does (live_map.c).
 *
 * I1: node_limit and image_limit never cover memory that is not reserved. I2:
 * reserved <= budget, which is half of --memory.
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
#define LIVE_MAKE_SHM_SHARE 2	/* use at most one part in so many of the free
				 * space there: it is memory, shared with
				 * others */
/* Nodes reserved at the start: their pages are allocated and cleared then. */
#define LIVE_MAKE_NODES 16384
#define LIVE_MAKE_NODES_SMALL 2048
#define LIVE_MAKE_NODES_MAX (UINT32_C(1) << 30)
#define LIVE_MAKE_IMAGES 256
#define LIVE_MAKE_IMAGES_SMALL 64
#define LIVE_MAKE_MEMORY_MIN (UINT64_C(4) << 20)

#ifndef MADV_DONTFORK
#define MADV_DONTFORK 10
#endif

/* Sets the offsets of the parts. Half of the memory is for the live mapping.
 * Nodes and rings have addresses for a quarter each, and all parts share the
 * budget. */
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

/* The number of nodes reserved at the start, at most as many as there are
 * addresses for. */
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

/* Sets the file's size. Beyond the limit that would raise a signal. */
static long live_make_size(long fd, uint64_t size)
{
	uint64_t limit[2];	/* soft, hard */

	if (arch_syscall4(__NR_prlimit64, 0, RLIMIT_FSIZE, 0, (long)limit) ==
		    0 && limit[0] < size)
		return -EFBIG;
	return arch_ftruncate(fd, size);
}

/* Reserves and maps a new file completely, or undoes it. */
static long live_make_whole(struct live_made *made, const struct gl_header *h)
{
	long err = live_make_size(made->fd, h->size);

	if (!err)
		err = live_make_first(made, h);
	if (err)
		live_unmake(made);
	return err;
}

/* Makes a file with its first parts reserved in directory `dir` of n bytes; or
 * -errno. */
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
	/* held while any process has it mapped or open: so recovery does not
	 * take it for a file left by a crash */
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

/* Makes the file in the trace's directory, if the directory part of its pattern
 * is fixed. */
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

/* Makes a file without a name, open only in the target's helper and in the
 * recorder. 0 or -errno. */
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

/* Makes a segment: its address, or -errno. It is marked for removal with its
 * last user, and can still be attached. */
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
	live_make_first(made, h);	/* sets made->reserved */
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
	/* a child must not write into our rings; if the kernel refuses this,
	 * the child still has no pointer to them */
	sys_madvise((void *)at, h->size, MADV_DONTFORK);
	/* nor is it part of the program's core dump, unless a reader of the
	 * dump needs its contexts */
	if (!core)
		sys_madvise((void *)at, h->size, MADV_DONTDUMP);
	made->header = (struct gl_header *)at;
	return 0;
}

/*
 * Makes the first ring, as the recorder's pool makes all others
 * (cli/recorder/live/ring_pool.c). The data region:
 *	| headers of all rings | structs gl_thread | data of ring 0 |
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
		return;	/* the recorder makes the first ring, too */
	shared->threads[0] = threads;
	ring->offset = data;
	ring->data = (uintptr_t)base + data;
	ring->mask = bytes - 1;
	atomic_store_explicit(&ring->busy, GL_IDLE, memory_order_relaxed);
	ring_place(ring, 0, bytes / 2);
	*(uint64_t *)(base + h->rings_offset) = h->data_offset;
	atomic_store_explicit(&made->header->ring_count, 1,
			      memory_order_release);
	/* the list's first change: ring 0 */
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
		/* try with less, in case the address space is limited */
		memory /= 2;
		if (memory < LIVE_MAKE_MEMORY_MIN)
			return err;
	}
	live_make_fill(made, &h);
	/* a reader of a core dump expects all of it in one place */
	made->whole = where->core || !live_map_cut(made->header);
	live_make_ring(made, &h, where->ring);
	return 0;
}

void live_unmake(struct live_made *made)
{
	if (made->fd < 0)
		return;
	/* already removed, or the directory's rights have changed: nothing can
	 * be done */
	if (made->path[0])
		sys_unlink(made->path);
	sys_close(made->fd);
	made->fd = -1;
	made->path[0] = '\0';
}
