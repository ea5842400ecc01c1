/*
 * mappings.c: every call that maps and unmaps, with known results. At some
 * points it waits until the recorder has sampled the mappings, and prints the
 * time and the bytes that the kernel lists then ("at NS BYTES"). Results and
 * errno of calls are its output, too, and must be the same without recording.
 *
 * With an argument: only that part. "changes" makes so many that a curve over
 * time can no longer have every point; it runs only if named.
 */
// FLAGS: -pthread -ldl -D_GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096u
#define THREADS 100
#define LOOK_NS 250000000	/* a look comes within it */

extern int pkey_mprotect(void *start, size_t size, int prot, int key)
	__attribute__((weak));

static char text[1 << 20];
static int forked;

/* No stdio: its buffers are blocks. */
static void say(const char *format, long a, long b)
{
	char line[128];
	int n = snprintf(line, sizeof(line), format, a, b);

	if (write(STDOUT_FILENO, line, n) != n)
		abort();
}

static uint64_t hex(const char **s)
{
	uint64_t value = 0;

	for (;; ++*s)
		if (**s >= '0' && **s <= '9')
			value = value << 4 | (**s - '0');
		else if (**s >= 'a' && **s <= 'f')
			value = value << 4 | (**s - 'a' + 10);
		else
			return value;
}

/* Bytes of all mappings, but the kernel's gate. */
static uint64_t mapped(void)
{
	uint64_t bytes = 0;
	size_t held = 0;
	const char *line;
	long got;
	int fd;

	fd = open("/proc/self/maps", O_RDONLY);
	while ((got = read(fd, text + held, sizeof(text) - 1 - held)) > 0)
		held += got;
	close(fd);
	text[held] = '\0';
	for (line = text; *line; line = strchr(line, '\n') + 1) {
		uint64_t start = hex(&line), end = (line++, hex(&line));

		if (start < UINT64_C(1) << 63)
			bytes += end - start;
	}
	return bytes;
}

static void point(void)
{
	struct timespec nap = { 0, LOOK_NS }, now;

	nanosleep(&nap, NULL);
	clock_gettime(CLOCK_MONOTONIC, &now);
	say(forked ? "forked at %ld %ld\n" : "at %ld %ld\n",
	    now.tv_sec * 1000000000 + now.tv_nsec, mapped());
}

__attribute__((noinline)) static char *map_pages(size_t pages, int flags,
						 void *at)
{
	char *p = mmap(at, pages * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (p == MAP_FAILED)
		abort();
	__asm__ volatile("");
	return p;
}

/* A hole, a mapping over two and a hole, protections that split. */
static void parts(void)
{
	char *a = map_pages(64, 0, NULL), *over;

	munmap(a + 16 * PAGE, 8 * PAGE);
	mprotect(a + 32 * PAGE, 4 * PAGE, PROT_READ);
	/* not every C library has it */
	if (!pkey_mprotect || pkey_mprotect(a + 33 * PAGE, PAGE, PROT_NONE, -1))
		mprotect(a + 33 * PAGE, PAGE, PROT_NONE);
	over = map_pages(16, MAP_FIXED, a + 12 * PAGE);
	if (over != a + 12 * PAGE)
		abort();
	point();
	munmap(a, 64 * PAGE);
}

static void remaps(void)
{
	char *room = map_pages(256, MAP_NORESERVE, NULL), *a, *b;
	int file = memfd_create("mappings", 0);

	/* room to grow in place */
	munmap(room + 16 * PAGE, 64 * PAGE);
	a = mremap(room, 16 * PAGE, 32 * PAGE, 0);
	say("grown %ld\n", a == room, 0);
	a = mremap(room, 32 * PAGE, 8 * PAGE, 0);
	say("shrunk %ld\n", a == room, 0);
	b = map_pages(64, 0, NULL);
	a = mremap(room, 8 * PAGE, 24 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		   b);
	say("moved %ld\n", a == b, 0);
	a = mremap(b, 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP,
		   NULL);
	say("kept %ld\n", a != MAP_FAILED, 0);
	if (file < 0 || ftruncate(file, 8 * PAGE))
		abort();
	a = mmap(NULL, 8 * PAGE, PROT_READ, MAP_SHARED, file, 0);
	b = mremap(a, 0, 8 * PAGE, MREMAP_MAYMOVE);
	say("twice %ld\n", b != MAP_FAILED && b != a, 0);
	point();
}

static void breaks(void)
{
	char *old = sbrk(0), *got;

	got = sbrk(10 * PAGE);
	say("sbrk %ld %ld\n", got == old, (char *)sbrk(0) - old);
	point();
	got = sbrk(-6 * (long)PAGE);
	say("sbrk %ld %ld\n", got == (char *)-1 ? -1 : got - old,
	    (char *)sbrk(0) - old);
	say("brk %ld %ld\n", brk(old + 8 * PAGE), (char *)sbrk(0) - old);
	say("brk %ld %ld\n", brk(old), (char *)sbrk(0) - old);
	point();
}

__attribute__((noinline)) static char *attach(int id)
{
	char *p = shmat(id, NULL, 0);

	__asm__ volatile("");
	return p;
}

static void segments(void)
{
	int id = shmget(IPC_PRIVATE, 40 * PAGE, IPC_CREAT | 0600);
	char *a;

	if (id < 0)
		return;
	a = attach(id);
	shmctl(id, IPC_RMID, NULL);
	point();
	say("shmdt %ld\n", shmdt(a), 0);
	point();
}

static void failures(void)
{
	char *a = map_pages(4, 0, NULL);

	errno = 0;
	say("mmap %ld %ld\n", (long)mmap(NULL, 0, 0, MAP_PRIVATE, -1, 0),
	    errno);
	say("mmap %ld %ld\n", (long)mmap64(NULL, PAGE, 0, MAP_PRIVATE, 99, 0),
	    errno);
	say("munmap %ld %ld\n", munmap(a + 1, PAGE), errno);
	errno = 0;
	say("munmap %ld %ld\n", munmap(a, 0), errno);
	say("munmap %ld %ld\n", munmap((void *)(-2 * (long)PAGE), PAGE),
	    errno);
	say("mremap %ld %ld\n", (long)mremap(a, PAGE, 0, 0), errno);
	say("mprotect %ld %ld\n", mprotect(a, PAGE, 0xffff), errno);
	errno = 0;
	say("shmat %ld %ld\n", (long)shmat(-1, NULL, 0), errno);
	say("shmdt %ld %ld\n", shmdt(a), errno);
	errno = 0;
	say("brk %ld %ld\n", brk((void *)PAGE), errno);
	errno = 77;
	munmap(a, 4 * PAGE);
	say("kept %ld\n", errno, 0);
}

static pthread_barrier_t barrier;

static void *worker(void *arg)
{
	/* an arena of its own, or one that is shared */
	void *block = malloc(100);

	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	free(block);
	return arg;
}

__attribute__((noinline)) static void create(pthread_t *thread)
{
	if (pthread_create(thread, NULL, worker, NULL))
		abort();
	__asm__ volatile("");
}

static int worker_too(void *arg)
{
	worker(arg);
	return 0;
}

/* C11's. */
__attribute__((noinline)) static void create_too(thrd_t *thread)
{
	if (thrd_create(thread, worker_too, NULL) != thrd_success)
		abort();
	__asm__ volatile("");
}

static void threads(void)
{
	pthread_t list[THREADS];
	thrd_t last;
	int i;

	pthread_barrier_init(&barrier, NULL, THREADS + 2);
	for (i = 0; i < THREADS; i++)
		create(&list[i]);
	create_too(&last);
	pthread_barrier_wait(&barrier);
	point();
	pthread_barrier_wait(&barrier);
	for (i = 0; i < THREADS; i++)
		pthread_join(list[i], NULL);
	thrd_join(last, NULL);
	point();
}

/* Ranges go from one thread to the next. */
static void *changer(void *arg)
{
	unsigned seed = (uintptr_t)arg, i, k;
	char *kept[16] = { 0 };

	for (i = 0; i < 4000; i++) {
		k = (seed = seed * 1103515245 + 12345) >> 16 & 15;
		if (kept[k])
			munmap(kept[k], (k + 1) * PAGE);
		kept[k] = (seed >> 24 & 1) ? NULL :
					     map_pages(k + 1, 0, NULL);
	}
	return NULL;
}

static void changes(void)
{
	pthread_t list[4];
	uintptr_t i;

	for (i = 0; i < 4; i++)
		pthread_create(&list[i], NULL, changer, (void *)(i + 1));
	for (i = 0; i < 4; i++)
		pthread_join(list[i], NULL);
	point();
}

__attribute__((noinline)) static void *large(size_t size)
{
	void *block = malloc(size);

	__asm__ volatile("");
	return block;
}

static void blocks(void)
{
	void *list[8];
	int i;

	for (i = 0; i < 8; i++)
		list[i] = large((1 << 20) + i * PAGE);
	point();
	for (i = 0; i < 8; i++)
		free(list[i]);
	point();
}

__attribute__((noinline)) static void *load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);

	__asm__ volatile("");
	return library;
}

static void libraries(const char *path)
{
	void *library = load(path);

	say("dlopen %ld\n", library != NULL, 0);
	point();
	if (library)
		dlclose(library);
	point();
}

static void child(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		forked = 1;
		void *block = large(3 << 20);

		map_pages(100, 0, NULL);
		point();
		free(block);
		_exit(7);
	}
	waitpid(pid, &status, 0);
	say("child %ld\n", WEXITSTATUS(status), 0);
}

int main(int argc, char **argv)
{
	const char *only = argc > 1 ? argv[1] : "";

	/* the recording begins with the first block */
	free(malloc(1));
	point();
	if (!*only || !strcmp(only, "parts"))
		parts();
	if (!*only || !strcmp(only, "remaps"))
		remaps();
	if (!*only || !strcmp(only, "breaks"))
		breaks();
	if (!*only || !strcmp(only, "segments"))
		segments();
	if (!*only || !strcmp(only, "failures"))
		failures();
	if (!*only || !strcmp(only, "threads"))
		threads();
	if (!strcmp(only, "changes"))
		changes();
	if (!*only || !strcmp(only, "blocks"))
		blocks();
	if (argc > 2)
		libraries(argv[2]);
	if (!*only || !strcmp(only, "child"))
		child();
	return 0;
}
