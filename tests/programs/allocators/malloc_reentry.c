// FLAGS: -pthread
/*
 * malloc_reentry.c [few|back|fork]: malloc's family, called by threads. "few":
 * by one, and without functions that old allocators lack. "back": with
 * libmalloc_reentry.so preloaded: also allocations of its other functions,
 * signal handlers and callbacks inside its malloc. "fork": with that library,
 * and such a handler forks.
 */
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>

#include "tgt.h"

#define THREADS 4
#define ROUNDS 25

static void *(*back_thing)(size_t size), *(*back_other)(size_t size);
static void (*back_ended)(void *block), (*back_handler)(int number);
static void (**back_callback)(void);

static __thread int within;	/* the signal that the callback sends */
static sigjmp_buf away;
static bool jumps, child, few;

static void *tgt_some(void *unused)
{
	void *blocks[8];

	for (int i = 0; i < ROUNDS; i++) {
		size_t size = 40 + i;

		blocks[0] = tgt_malloc(size);
		blocks[1] = tgt_calloc(3, size);
		blocks[2] = tgt_realloc(NULL, 0, size);
		blocks[2] = tgt_realloc(blocks[2], size, 2 * size);
		tgt_made(blocks[3] = memalign(64, size), size);
		tgt_made(blocks[4] = valloc(size), size);
		tgt_made(blocks[5] = strdup("a copy"), sizeof("a copy"));
		tgt_free(blocks[0], size);
		tgt_free(blocks[1], 3 * size);
		tgt_free(blocks[2], 2 * size);
		tgt_free(blocks[3], size);
		tgt_free(blocks[5], sizeof("a copy"));
		if (few)
			continue;
		tgt_made(blocks[6] = aligned_alloc(64, 128), 128);
		if (posix_memalign(&blocks[7], 64, size))
			abort();
		tgt_made(blocks[7], size);
		tgt_free(blocks[7], size);
	}
	return unused;
}

static void in_threads(void)
{
	pthread_t threads[THREADS];

	if (few) {
		tgt_some(NULL);
		return;
	}
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, tgt_some, NULL))
			abort();
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* In the middle of malloc: other calls of it do without. */
static void callback(void)
{
	int number = within;

	within = 0;
	if (number)
		raise(number);
}

static void tgt_handler(int number)
{
	(void)number;
	tgt_free(tgt_malloc(100), 100);
	tgt_free(tgt_calloc(1, 50), 50);
	if (jumps)
		siglongjmp(away, 1);
}

static void tgt_called(void)
{
	*back_callback = NULL;
	tgt_free(tgt_malloc(10), 10);
}

static void tgt_of_the_library(void)
{
	void *block = back_thing(200);

	tgt_made(block, 200);
	block = back_other(300);
	tgt_made(block, 300);
	back_ended(block);
	TGT_ADD(tgt_counts.frees, 1);
	TGT_ADD(tgt_counts.freed_bytes, 300);
}

static void tgt_interrupted(void)
{
	*back_callback = callback;
	for (int i = 0; i < ROUNDS; i++) {
		within = SIGUSR1;
		tgt_free(tgt_malloc(20), 20);
		within = SIGUSR2;
		tgt_free(tgt_malloc(30), 30);
		/* what the library's handler makes and frees */
		tgt_made((void *)1, 77);
		TGT_ADD(tgt_counts.frees, 1);
		TGT_ADD(tgt_counts.freed_bytes, 77);
	}
	*back_callback = NULL;
}

static void jumped_out_of(void)
{
	*back_callback = callback;
	jumps = true;
	within = SIGUSR1;
	if (!sigsetjmp(away, 1))
		tgt_malloc(60);
	jumps = false;
	*back_callback = NULL;
}

static void forks(int number)
{
	(void)number;
	child = fork() == 0;
}

static void in_the_middle_fork(void)
{
	int status = -1;

	signal(SIGUSR1, forks);
	*back_callback = callback;
	within = SIGUSR1;
	tgt_malloc(60);
	*back_callback = NULL;
	in_threads();
	if (child)
		_exit(7);
	wait(&status);
	tgt_print("child", WEXITSTATUS(status));
}

static void handlers(int flags)
{
	struct sigaction handled = { .sa_handler = tgt_handler,
				     .sa_flags = flags };

	sigaction(SIGUSR1, &handled, NULL);
	handled.sa_handler = back_handler;
	sigaction(SIGUSR2, &handled, NULL);
}

/* Of handlers: it may lie on either side of what they interrupt. */
static void on_stack(char *stack, size_t size)
{
	const stack_t alternate = { .ss_sp = stack, .ss_size = size };

	sigaltstack(&alternate, NULL);
	tgt_interrupted();
}

static void with_the_library(void)
{
	static char lower[65536];
	char higher[65536];

	tgt_of_the_library();
	handlers(0);
	tgt_interrupted();
	handlers(SA_ONSTACK);
	on_stack(lower, sizeof(lower));
	on_stack(higher, sizeof(higher));
	on_stack(lower, sizeof(lower));
	jumped_out_of();
	*back_callback = tgt_called;
	tgt_free(tgt_malloc(70), 70);
	tgt_of_the_library();
}

int main(int argc, char **argv)
{
	back_callback = dlsym(RTLD_DEFAULT, "back_callback");
	back_thing = dlsym(RTLD_DEFAULT, "back_thing");
	back_other = dlsym(RTLD_DEFAULT, "back_other");
	back_ended = dlsym(RTLD_DEFAULT, "back_ended");
	back_handler = dlsym(RTLD_DEFAULT, "back_handler");
	few = argc > 1 && strcmp(argv[1], "few") == 0;
	in_threads();
	if (argc > 1 && strcmp(argv[1], "back") == 0)
		with_the_library();
	if (argc > 1 && strcmp(argv[1], "fork") == 0)
		in_the_middle_fork();
	in_threads();
	tgt_report();
	return 0;
}
