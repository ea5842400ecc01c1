/*
 * guarded.c [guard] [zero] [other]: calls every function that makes, changes or
 * ends blocks, with all alignments and odd sizes; it checks the results itself,
 * and prints wrong ones.
 *
 *   guard  blocks end at their sizes (malloc_usable_size says so)
 *   zero   fresh bytes are zero
 *   other  the allocator is not the C library's: it may align small blocks by
 *          less, say nothing in errno, and lack pvalloc
 */
// FLAGS: -pthread -D_GNU_SOURCE -Wno-alloc-size-larger-than -Wno-use-after-free
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>

#include "tgt.h"

#define WEAK __attribute__((weak))

extern void dallocx(void *block, int flags) WEAK;
extern void *rallocx(void *block, size_t size, int flags) WEAK;
extern size_t xallocx(void *block, size_t size, size_t extra, int flags) WEAK;
extern void tc_free(void *block) WEAK;
extern void *tc_realloc(void *block, size_t size) WEAK;
extern void mi_free(void *block) WEAK;
extern void mi_cfree(void *block) WEAK;
extern void *mi_realloc(void *block, size_t size) WEAK;
extern int mi_reallocarr(void *where, size_t count, size_t size) WEAK;
extern void *mi_expand(void *block, size_t size) WEAK;

static bool guard, zero, other;
static int wrong;

#define WANT(condition, ...)                                  \
	do {                                                  \
		if (!(condition)) {                           \
			if (wrong < 20) {                     \
				printf("wrong: %d: %s: ", __LINE__, \
				       #condition);           \
				printf(__VA_ARGS__);          \
				printf("\n");                 \
			}                                     \
			wrong++;                              \
		}                                             \
	} while (0)

static const size_t sizes[] = {
	0, 1, 7, 8, 15, 16, 17, 24, 31, 100, 255, 1000, 4095, 4096, 4097,
	20000, 131071, 131072, 200000, 3000001
};
#define SIZES (sizeof(sizes) / sizeof(*sizes))

static bool all(const unsigned char *p, size_t n, int value)
{
	while (n--)
		if (p[n] != value)
			return false;
	return true;
}

/* It is where and as large as it should be; all of it is written to, also what
 * malloc_usable_size says is there. */
static void *touch(void *p, size_t size, size_t alignment)
{
	size_t usable;

	WANT(p, "size %zu alignment %zu", size, alignment);
	if (!p)
		exit(1);
	if (other && !guard && alignment == 16)
		alignment = 8;
	WANT((uintptr_t)p % alignment == 0, "size %zu alignment %zu", size,
	     alignment);
	usable = malloc_usable_size(p);
	WANT(usable >= size, "%zu of %zu", usable, size);
	if (guard)
		WANT(usable == size, "%zu of %zu", usable, size);
	/* who says so may take more than was asked for; it is not kept */
	memset(p, 0xee, zero ? size : usable);
	return p;
}

static void *use(void *p, size_t size, size_t alignment, bool zeroed)
{
	if (p && (zeroed || zero))
		WANT(all(p, size, 0), "size %zu alignment %zu", size,
		     alignment);
	return touch(p, size, alignment);
}

static void plain(size_t size)
{
	free(use(malloc(size), size, 16, false));
	free(use(calloc(1, size), size, 16, true));
	if (size % 7 == 0)
		free(use(calloc(size / 7, 7), size, 16, true));
	free(use(realloc(NULL, size), size, 16, false));
	free(use(valloc(size), size, 4096, false));
	if (!other)
		free(use(pvalloc(size), (size + 4095) / 4096 * 4096,
			 4096, false));
}

static void aligned(size_t size)
{
	size_t alignment;
	void *p;

	for (alignment = 8; alignment <= 1u << 20; alignment *= 2) {
		free(use(memalign(alignment, size), size, alignment, false));
		free(use(aligned_alloc(alignment, size), size, alignment,
			 false));
		p = NULL;
		WANT(posix_memalign(&p, alignment, size) == 0, "%zu",
		     alignment);
		free(use(p, size, alignment, false));
		/* moved, it is aligned as malloc aligns */
		p = use(memalign(alignment, size), size, alignment, false);
		p = realloc(p, 2 * size + 1);
		WANT(all(p, size, 0xee), "moved %zu", size);
		free(touch(p, 2 * size + 1, 16));
	}
}

static void changing(size_t from)
{
	unsigned i;

	for (i = 0; i < SIZES; i++) {
		size_t to = sizes[i], kept = to < from ? to : from;
		unsigned char *p = use(malloc(from), from, 16, false);

		if (!to)
			continue;
		memset(p, 0x33, from);
		p = realloc(p, to);
		WANT(p && all(p, kept, 0x33), "%zu to %zu", from, to);
		if (zero)
			WANT(all(p + kept, to - kept, 0), "%zu to %zu", from,
			     to);
		/* smaller and larger again: what was cut off is gone */
		memset(p, 0x44, to);
		p = realloc(p, to / 2 + 1);
		p = realloc(p, to + 9);
		if (zero)
			WANT(all(p + to / 2 + 1, to + 9 - (to / 2 + 1), 0),
			     "%zu again", to);
		free(touch(p, to + 9, 16));
	}
}

static void refused(void)
{
	unsigned char *p = use(malloc(100), 100, 16, false);
	void *volatile no = NULL;
	size_t half = SIZE_MAX / 2;

#define REFUSED(call)                                          \
	do {                                                   \
		errno = 0;                                     \
		no = call;                                     \
		WANT(!no && (other || errno == ENOMEM), "errno %d", errno); \
	} while (0)
	REFUSED(malloc(half));
	REFUSED(malloc(half - 64));
	REFUSED(malloc(SIZE_MAX));
	REFUSED(malloc(SIZE_MAX - 64));
	REFUSED(calloc((size_t)1 << 63, 4));
	REFUSED(calloc(4, (size_t)1 << 62));
	REFUSED(calloc(half - 64, 1));
	REFUSED(realloc(p, half - 64));
	REFUSED(realloc(p, SIZE_MAX - 64));
	REFUSED(reallocarray(p, (size_t)1 << 33, (size_t)1 << 33));
	REFUSED(memalign(64, half - 64));
	if (!other)
		REFUSED(pvalloc(SIZE_MAX - 64));
	WANT(all(p, 100, 0xee), "it was refused, and is not as it was");
	errno = 0;
	WANT(posix_memalign((void **)&no, 24, 8) == EINVAL, "24");
	WANT(posix_memalign((void **)&no, 4, 8) == EINVAL, "4");
	WANT(posix_memalign((void **)&no, 64, half) == ENOMEM, "half");
	no = realloc(p, 0);
	free(no);
	free(NULL);
	WANT(malloc_usable_size(NULL) == 0, "NULL");
}

/* Blocks that the C library makes are free's as well. */
static void borrowed(void)
{
	char *line = NULL, *text = NULL;
	size_t room = 0;
	FILE *file = tmpfile();

	free(strdup("of the C library"));
	WANT(asprintf(&text, "%d", 12345) == 5, "asprintf");
	free(text);
	fputs("one line\n", file);
	rewind(file);
	WANT(getline(&line, &room, file) == 9, "getline");
	line = realloc(line, room + 100);
	free(line);
	fclose(file);
}

/* Blocks of malloc that come to an allocator's own functions. */
static void named(size_t size)
{
	void *p = use(malloc(size), size, 16, false);

	if (xallocx) {
		WANT(xallocx(p, size, 0, 0) >= size, "%zu", size);
		p = rallocx(p, size + 999, 0);
		WANT(all(p, size, 0xee), "%zu", size);
		dallocx(touch(p, size + 999, 16), 0);
	} else if (tc_free) {
		p = tc_realloc(p, size + 999);
		WANT(all(p, size, 0xee), "%zu", size);
		tc_free(touch(p, size + 999, 16));
	} else if (mi_free) {
		WANT(mi_expand(p, size) == p, "%zu", size);
		WANT(mi_reallocarr(&p, 2, size) == 0, "%zu", size);
		WANT(all(p, size, 0xee), "%zu", size);
		touch(p, 2 * size, 16);
		WANT(mi_reallocarr(&p, SIZE_MAX / 2, size + 2), "%zu", size);
		mi_cfree(touch(p, 2 * size, 16));
		p = mi_realloc(use(malloc(size), size, 16, false), size + 999);
		mi_free(touch(p, size + 999, 16));
	} else {
		free(p);
	}
}

static void *handed[64];

static void *other_thread(void *arg)
{
	unsigned i;

	for (i = 0; i < 64; i++) {
		free(handed[i]);
		handed[i] = use(memalign(16u << i % 5, i * 50), i * 50,
				16u << i % 5, false);
	}
	return arg;
}

static void handing(void)
{
	pthread_t thread;
	unsigned i, round;

	for (round = 0; round < 20; round++) {
		for (i = 0; i < 64; i++)
			handed[i] = use(malloc(i * round), i * round, 16,
					false);
		if (pthread_create(&thread, NULL, other_thread, NULL))
			exit(1);
		pthread_join(thread, NULL);
		for (i = 0; i < 64; i++)
			free(handed[i]);
	}
}

/* A child ends its parent's blocks. */
static void forking(void)
{
	unsigned char *p = use(malloc(500), 500, 16, false);
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		if (guard)
			WANT(malloc_usable_size(p) == 500, "in a child");
		p = realloc(p, 5000);
		WANT(all(p, 500, 0xee), "in a child");
		free(touch(p, 5000, 16));
		plain(300);
		fflush(stdout);
		_exit(wrong != 0);
	}
	WANT(waitpid(pid, &status, 0) == pid && status == 0, "status %x",
	     status);
	free(p);
}

int main(int argc, char **argv)
{
	unsigned i;

	for (i = 1; i < (unsigned)argc; i++) {
		guard |= strcmp(argv[i], "guard") == 0;
		zero |= strcmp(argv[i], "zero") == 0;
		other |= strcmp(argv[i], "other") == 0;
	}
	for (i = 0; i < SIZES; i++) {
		plain(sizes[i]);
		aligned(sizes[i]);
		changing(sizes[i]);
		if (sizes[i])
			named(sizes[i]);
	}
	refused();
	borrowed();
	handing();
	forking();
	printf("%s\n", wrong ? "not all is right" : "all is right");
	return wrong != 0;
}
