// FLAGS: -pthread
/*
 * killable.c FILE [forks]: four threads allocate and free for ever. After each
 * operation a thread publishes its count in a shared mapping of FILE: the test
 * kills the process and compares the counts with the trace. The threads'
 * functions have the thread's number in their names.
 *
 * With "forks" the main thread meanwhile makes one child after the other, each
 * of which allocates a little and ends.
 *
 * FILE holds, as 64-bit words: allocations of thread 0 to 3, frees of thread
 * 0 to 3.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "tgt.h"

#define THREADS 4
#define HELD 32

struct published {
	uint64_t allocations[THREADS], frees[THREADS];
};
static struct published *published;

/* Release: the operation itself comes before, also for a reader of the file
 * in another process. */
#define PUBLISH(what, n) \
	__atomic_store_n(&published->what[n], published->what[n] + 1, \
			 __ATOMIC_RELEASE)

#define THREAD_FUNCTION(n) \
	static __attribute__((noinline)) void *killable_make_##n(size_t size) \
	{ \
		void *p = malloc(size); \
		tgt_sink = p; \
		return p; \
	} \
	static void *killable_thread_##n(void *argument) \
	{ \
		void *held[HELD] = { NULL }; \
		(void)argument; \
		for (unsigned long i = 0;; i++) { \
			void **slot = &held[i % HELD]; \
			if (*slot) { \
				free(*slot); \
				PUBLISH(frees, n); \
			} \
			*slot = killable_make_##n(16 + i % 700); \
			PUBLISH(allocations, n); \
		} \
		return NULL; \
	}
THREAD_FUNCTION(0)
THREAD_FUNCTION(1)
THREAD_FUNCTION(2)
THREAD_FUNCTION(3)

static void child(void)
{
	for (int i = 0; i < 100; i++)
		free(tgt_malloc(100));
	_exit(0);
}

static void forks(void)
{
	for (;;) {
		pid_t pid = fork();

		if (pid == 0)
			child();
		waitpid(pid, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	static void *(*const functions[THREADS])(void *) = {
		killable_thread_0, killable_thread_1, killable_thread_2,
		killable_thread_3
	};
	pthread_t thread[THREADS];
	int fd;

	if (argc < 2)
		return 2;
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*published)))
		return 1;
	published = mmap(NULL, sizeof(*published), PROT_READ | PROT_WRITE,
			 MAP_SHARED, fd, 0);
	if (published == MAP_FAILED)
		return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, functions[i], NULL);
	tgt_write("ready\n");
	if (argc > 2)
		forks();
	for (;;)
		pause();
}
