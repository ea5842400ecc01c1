// FLAGS: -I. -Iarch -Iarch/x86_64 -lpthread
/*
 * scribble.c SEED MILLISECONDS WAY: writes random words over the memory that it
 * shares with its recorder, and exits with status 7. WAY:
 *
 *	careful  while four threads allocate: everywhere except in words that
 *	         hooks use as pointers, which are as vital as the program's own
 *	         pointers
 *	wild     everywhere, when nothing is allocated any more: ends without
 *	         passing a hook
 *	early    wild, from the first instruction of main on
 *	cut      makes the file shorter instead, when nothing is allocated any
 *	         more: half as long, or empty where SEED is odd
 *	swap     puts another file in its place; allocates on
 *	requests counts more requests to start or stop than there can be, or,
 *	         where SEED is even, signals; allocates on
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "arch.h"
#include "preload/ring/shared.h"
#include "tgt.h"

#define THREADS 4
#define STATUS 7

#define PARTS 16

/* It is mapped in parts. */
static struct part {
	char *start, *end;
	size_t offset;		/* in the file */
} parts[PARTS];
static unsigned part_count;
static char *live;
static size_t live_size;
static char live_path[4096];
static volatile bool ends;

static uint64_t random_state;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state * UINT64_C(0x2545f4914f6cdd1d);
}

/* Where this byte of the file is; NULL: it is not mapped. */
static char *place(uint64_t at)
{
	unsigned i;

	for (i = 0; i < part_count; i++) {
		const struct part *part = &parts[i];
		size_t size = part->end - part->start;

		if (at >= part->offset && at + 8 <= part->offset + size)
			return part->start + (at - part->offset);
	}
	return NULL;
}

static void add_part(const char *line)
{
	struct part *part = &parts[part_count];

	if (part_count < PARTS &&
	    sscanf(line, "%p-%p %*s %zx", (void **)&part->start,
		   (void **)&part->end, &part->offset) == 3)
		part_count++;
}

/* The mappings with our process id and ".live" in their name. By system calls. */
static bool find_live(void)
{
	static char text[1 << 18];
	size_t n = 0;
	ssize_t got;
	int fd = open("/proc/self/maps", O_RDONLY);
	const char *name;
	char *at, *line;

	while (n < sizeof(text) - 1 &&
	       (got = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += got;
	close(fd);
	text[n] = '\0';
	name = strstr(text, "gnomon-live") ? "gnomon-live" : ".live";
	for (at = text; (at = strstr(at, name)); at = strchr(at, '\n')) {
		for (line = at; line > text && line[-1] != '\n'; line--)
			;
		if (!part_count && strchr(line, '/'))
			sscanf(strchr(line, '/'), "%4095[^\n]", live_path);
		add_part(line);
	}
	live = place(0);
	if (live)
		live_size = ((const struct gl_header *)live)->size;
	return live != NULL;
}

struct range {
	size_t at, size;
};

#define OF_SHARED(field) { offsetof(struct gl_shared, field), \
			   sizeof(((struct gl_shared *)0)->field) }

/* What hooks act by. */
static const struct range of_shared[] = {
	OF_SHARED(image_limit), OF_SHARED(heap_limit), OF_SHARED(ring_free),
	OF_SHARED(threads), OF_SHARED(ring_next),
};
static const struct range of_header[] = {
	{ offsetof(struct gl_header, node_count), 8 },	/* and images */
	{ offsetof(struct gl_header, node_limit), 8 },	/* and rings */
};
static const struct range of_ring[] = {
	{ 0, 64 },
	{ offsetof(struct gl_ring, state), 8 },		/* and id */
	{ offsetof(struct gl_ring, tid), 4 },
	{ offsetof(struct gl_ring, offset), 8 },
};

static bool in_any(const struct range *range, size_t n, size_t at)
{
	for (; n; n--, range++)
		if (at + 8 > range->at && at < range->at + range->size)
			return true;
	return false;
}

#define IN(ranges, at) in_any(ranges, sizeof(ranges) / sizeof(*(ranges)), at)

static uint64_t shared_at, images_at, nodes_at, rings_at, data_at;

static bool followed(uint64_t at)
{
	uint64_t heads = data_at + GL_RINGS_MAX * sizeof(struct gl_ring);

	if (at < shared_at)
		return IN(of_header, at);
	if (at < images_at)
		return IN(of_shared, at - shared_at);
	/* the tree is looked up by what its nodes say */
	if (at >= rings_at && at < data_at)
		return false;
	if (at >= data_at && at < heads)
		return IN(of_ring, (at - data_at) % sizeof(struct gl_ring));
	return false;
}

/* Some place in one of the parts, most in the smallest. */
static uint64_t some_place(void)
{
	const struct gl_shared *shared = NULL;
	uint64_t from = 0, size = live_size;

	switch (random_next() % 10) {
	case 0:
		size = sizeof(struct gl_header);
		break;
	case 1: case 2:
		from = shared_at;
		size = offsetof(struct gl_shared, posted);
		break;
	case 3:
		from = shared_at + offsetof(struct gl_shared, request);
		size = sizeof(shared->request) + sizeof(shared->child_exits);
		break;
	case 4:
		from = images_at;
		size = 24 * sizeof(struct gl_image);
		break;
	case 5:
		from = nodes_at;
		size = 4000 * sizeof(struct gl_node);
		break;
	case 6: case 7:
		from = data_at;
		size = 12 * sizeof(struct gl_ring);
		break;
	case 8:
		from = data_at + GL_RINGS_MAX * sizeof(struct gl_ring);
		size = 2 << 20;
		break;
	default:
		break;
	}
	return from + random_next() % (size / 8) * 8;
}

static uint64_t some_word(void)
{
	const uint64_t word = random_next();
	const char *at;

	switch (random_next() % 6) {
	case 0:
		return word;
	case 1:
		return word % 16;
	case 2:
		return word % 16 << 32 | (word >> 8) % 16;
	case 3:
		return word % live_size;
	case 4:
		return -(word % 4096);
	default:
		at = place(some_place());
		return at ? *(volatile uint64_t *)at + 8 : 0;
	}
}

/* Pages that nobody has reserved are not for us to make: a full file system
 * would end us. What is beyond the parts' beginnings mostly is such a page. */
static void scribble(bool careful, unsigned words)
{
	for (; words; words--) {
		uint64_t at = some_place();
		char *to = place(at);

		if (to && !(careful && followed(at)))
			*(volatile uint64_t *)to = some_word();
	}
}

static void *allocate(void *arg)
{
	void *kept[64] = { 0 };
	unsigned i = (uintptr_t)arg;

	for (; !ends; i++) {
		free(kept[i % 64]);
		kept[i % 64] = malloc(16 + i * 37 % 3000);
	}
	for (i = 0; i < 64; i++)
		free(kept[i]);
	return NULL;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * UINT64_C(1000) + now.tv_nsec / 1000000;
}

/* A second at most: nothing was scribbled yet that would keep it back. */
static void wait_ready(void)
{
	const struct gl_shared *shared = (void *)(live + shared_at);
	unsigned naps;

	for (naps = 0; naps < 10000 &&
		       atomic_load(&shared->recorder_state) ==
			       GL_RECORDER_STARTING; naps++)
		usleep(1000);
}

static void scribble_for(unsigned milliseconds, bool careful)
{
	struct timespec nap = { 0, 200000 };
	uint64_t until = now_ms() + milliseconds;

	while (now_ms() < until) {
		scribble(careful, 200);
		nanosleep(&nap, NULL);
	}
}

static void miscount(bool signals)
{
	struct gl_shared *shared = (void *)(live + shared_at);

	if (signals)
		atomic_fetch_sub(&shared->signalled[0], 1);
	else
		atomic_fetch_add(&shared->gate, 2 * GATE_SLOTS * GATE_ONE);
}

static void swap(void)
{
	int fd;

	unlink(live_path);
	fd = open(live_path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (fd < 0 || write(fd, "precious\n", 9) != 9)
		abort();
	close(fd);
	puts(live_path);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	unsigned ms = argc > 3 ? atoi(argv[2]) : 0, i;
	bool careful = argc > 3 && !strcmp(argv[3], "careful");
	bool early = argc > 3 && !strcmp(argv[3], "early");
	bool cut = argc > 3 && !strcmp(argv[3], "cut");
	bool swaps = argc > 3 && !strcmp(argv[3], "swap");
	bool counts = argc > 3 && !strcmp(argv[3], "requests");
	const struct gl_header *h;

	if (argc < 4)
		return 2;
	random_state = strtoull(argv[1], NULL, 10) * 2654435761u + 88172645463325252u;
	free(malloc(100));
	if (!find_live())
		return STATUS;	/* not recorded */
	h = (const struct gl_header *)live;
	shared_at = h->shared_offset;
	images_at = h->images_offset;
	nodes_at = h->nodes_offset;
	rings_at = h->rings_offset;
	data_at = h->data_offset;
	if (early)
		scribble_for(ms, false);
	else
		wait_ready();
	for (i = 0; !early && i < THREADS; i++)
		pthread_create(&threads[i], NULL, allocate, (void *)(uintptr_t)i);
	if (swaps)
		swap();
	if (counts)
		miscount(atoi(argv[1]) % 2 == 0);
	if (careful)
		scribble_for(ms, true);
	else if (!early)
		usleep(ms * 1000);
	ends = true;
	for (i = 0; !early && i < THREADS; i++)
		pthread_join(threads[i], NULL);
	if (cut) {
		if (truncate(live_path, argv[1][strlen(argv[1]) - 1] % 2 ?
						0 : live_size / 8192 * 4096))
			return 1;
		usleep(ms * 1000);
	} else if (!careful && !early && !swaps && !counts) {
		scribble_for(ms, false);
	}
	/* no hook of ours is passed */
	if (!careful && !swaps && !counts)
		arch_syscall1(__NR_exit_group, STATUS);
	return STATUS;
}
