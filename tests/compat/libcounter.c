/*
 * libcounter.c: counts allocations, frees and bytes by itself, to be held
 * against what gnomon recorded of the same work. To be preloaded; all
 * processes of a run count in the file $COUNTER_FILE.
 *
 * Blocks that are asked for while the real functions are looked up come from
 * an arena that is never freed. Counts are atomic: any thread, any process.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ARENA 65536
#define ALIGNMENT 16

struct counts {
	uint64_t allocations, frees, bytes;
};

static struct counts own, *counts = &own;
static char arena[ARENA] __attribute__((aligned(ALIGNMENT)));
static size_t arena_used;
static int looking;

static void *(*next_malloc)(size_t size);
static void *(*next_calloc)(size_t count, size_t size);
static void *(*next_realloc)(void *block, size_t size);
static void (*next_free)(void *block);
static void *(*next_memalign)(size_t alignment, size_t size);
static int (*next_posix_memalign)(void **block, size_t alignment, size_t size);
static void *(*next_aligned_alloc)(size_t alignment, size_t size);

static void open_file(void)
{
	const char *path = getenv("COUNTER_FILE");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *shared = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(*counts),
						  PROT_READ | PROT_WRITE,
						  MAP_SHARED, fd, 0);

	if (shared != MAP_FAILED)
		counts = shared;
	if (fd >= 0)
		close(fd);
}

static int ready(void)
{
	int err = errno;

	if (next_free)
		return 1;
	if (looking)
		return 0;
	looking = 1;
	next_malloc = dlsym(RTLD_NEXT, "malloc");
	next_calloc = dlsym(RTLD_NEXT, "calloc");
	next_realloc = dlsym(RTLD_NEXT, "realloc");
	next_memalign = dlsym(RTLD_NEXT, "memalign");
	next_posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
	next_aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
	next_free = dlsym(RTLD_NEXT, "free");
	open_file();
	errno = err;
	return 1;
}

static __attribute__((constructor)) void start(void)
{
	ready();
}

static void add(uint64_t *counter, uint64_t n)
{
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

static void *made(void *block, size_t size)
{
	if (block) {
		add(&counts->allocations, 1);
		add(&counts->bytes, size);
	}
	return block;
}

static void *from_arena(size_t size)
{
	size_t at = arena_used;

	size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (size > ARENA - at)
		abort();
	arena_used += size;
	return arena + at;
}

static int in_arena(const void *block)
{
	return (uintptr_t)block - (uintptr_t)arena < ARENA;
}

static size_t room_behind(const void *block)
{
	return ARENA - ((uintptr_t)block - (uintptr_t)arena);
}

void *malloc(size_t size)
{
	return made(ready() ? next_malloc(size) : from_arena(size), size);
}

void *calloc(size_t count, size_t size)
{
	return made(ready() ? next_calloc(count, size) :
			      from_arena(count * size), count * size);
}

void free(void *block)
{
	if (!block)
		return;
	add(&counts->frees, 1);
	if (!in_arena(block) && ready())
		next_free(block);
}

void *realloc(void *old, size_t size)
{
	void *block;

	if (old && in_arena(old)) {
		block = malloc(size);
		if (block)	/* its size is not known, the arena's is */
			memcpy(block, old, size < room_behind(old) ?
						   size : room_behind(old));
		return block;
	}
	block = made(ready() ? next_realloc(old, size) : from_arena(size),
		     size);
	if (old && (block || !size))
		add(&counts->frees, 1);
	return block;
}

void *reallocarray(void *old, size_t count, size_t size)
{
	size_t all;

	if (!__builtin_mul_overflow(count, size, &all))
		return realloc(old, all);
	errno = ENOMEM;
	return NULL;
}

void *memalign(size_t alignment, size_t size)
{
	return ready() ? made(next_memalign(alignment, size), size) : NULL;
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return ready() ? made(next_aligned_alloc(alignment, size), size) :
			 NULL;
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
	int err = ready() ? next_posix_memalign(block, alignment, size) :
			    ENOMEM;

	if (!err)
		made(*block, size);
	return err;
}
