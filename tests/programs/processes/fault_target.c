// FLAGS: -pthread
/*
 * fault_target.c [ROUNDS]: the phases of a process in short, for a library with
 * fault injection: one thread, a library loaded, four threads at once, more
 * after them, a child by fork. Checks that no call changes errno and that
 * blocks keep their contents. Output and status depend on nothing else. The
 * child's numbers come first, with the prefix child_.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>

#include "tgt.h"

#define HELD 64
#define THREADS 4
#define LATER 6
#define ERRNO 77	/* no allocation sets this */
#define DEPTHS 8

static uint64_t checksum;

static void require(int fine, const char *what)
{
	if (fine)
		return;
	tgt_write(what);
	_exit(3);
}

struct block {
	unsigned char *at;
	size_t size;
};

static void fill(struct block *b, unsigned char byte)
{
	memset(b->at, byte, b->size);
}

static uint64_t check_block(const struct block *b)
{
	for (size_t i = 1; i < b->size; i++)
		require(b->at[i] == b->at[0], "a block has changed\n");
	return b->size ? b->at[0] * b->size : 0;
}

static void make(struct block *b, unsigned i)
{
	b->size = 1 + i * 37 % 900;
	errno = ERRNO;
	b->at = i % 5 ? tgt_malloc(b->size) : tgt_calloc(1, b->size);
	require(errno == ERRNO, "an allocation set errno\n");
	fill(b, i);
}

static void change(struct block *b, unsigned i)
{
	size_t size = 1 + i * 53 % 1400;

	errno = ERRNO;
	b->at = tgt_realloc(b->at, b->size, size);
	require(errno == ERRNO, "a reallocation set errno\n");
	b->size = size;
	fill(b, i);
}

static uint64_t drop(struct block *b)
{
	uint64_t sum = check_block(b);

	errno = ERRNO;
	tgt_free(b->at, b->size);
	require(errno == ERRNO, "a free set errno\n");
	b->at = NULL;
	return sum;
}

static uint64_t work(unsigned rounds);

/* The same from stacks of several depths. */
static uint64_t deeper(unsigned depth, unsigned rounds)
{
	uint64_t sum = depth ? deeper(depth - 1, rounds) : work(rounds);

	__asm__ volatile("" : "+r"(sum));
	return sum + depth;
}

static uint64_t work(unsigned rounds)
{
	struct block held[HELD] = { { NULL, 0 } };
	uint64_t sum = 0;

	for (unsigned i = 0; i < rounds; i++) {
		struct block *b = &held[i * 7 % HELD];

		if (!b->at)
			make(b, i);
		else if (i % 3)
			sum += drop(b);
		else
			change(b, i);
	}
	for (unsigned i = 0; i < HELD; i++)
		if (held[i].at)
			sum += drop(&held[i]);
	return sum;
}

static unsigned rounds = 400;

static void *thread_main(void *argument)
{
	uint64_t sum = 0;

	for (unsigned depth = 0; depth < DEPTHS; depth++)
		sum += deeper(depth * 3, rounds);
	TGT_ADD(checksum, sum);
	return argument;
}

static void threads(unsigned count)
{
	pthread_t thread[THREADS];

	for (unsigned i = 0; i < count; i++)
		require(!pthread_create(&thread[i], NULL, thread_main, NULL),
			"no thread\n");
	for (unsigned i = 0; i < count; i++)
		pthread_join(thread[i], NULL);
}

static void child(void)
{
	memset(&tgt_counts, 0, sizeof(tgt_counts));
	thread_main(NULL);
	threads(1);
	tgt_print("child_allocations", tgt_counts.allocations);
	tgt_print("child_frees", tgt_counts.frees);
	tgt_print("child_checksum", checksum);
	exit(7);
}

static void forks(void)
{
	int status;
	pid_t pid = fork();

	require(pid >= 0, "no child\n");
	if (!pid)
		child();
	require(waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
		WEXITSTATUS(status) == 7, "the child's status is wrong\n");
	require(waitpid(-1, &status, 0) == -1 && errno == ECHILD,
		"there is a child too many\n");
}

int main(int argc, char **argv)
{
	void *library;

	if (argc > 1)
		rounds = strtoul(argv[1], NULL, 10);
	thread_main(NULL);
	library = dlopen("libgcc_s.so.1", RTLD_NOW);
	require(library != NULL, "no library\n");
	threads(THREADS);
	dlclose(library);
	for (unsigned i = 0; i < LATER; i++)
		threads(1);
	forks();
	thread_main(NULL);
	tgt_report();
	tgt_print("checksum", checksum);
	return 5;
}
