// FLAGS: -pthread
/*
 * inflight.c LIBRARY: loads the library again and again, starts threads in it,
 * closes it while they are inside (each holds a reference, which it drops when
 * it has left), and allocates through it.
 */
#include <dlfcn.h>
#include <pthread.h>

#include "tgt.h"

#define ROUNDS 60
#define THREADS 3
#define SIZE 44

typedef void *call(void *argument);

struct job {
	call *back;		/* first: the library looks here */
	call *start;
	void *library;
	pthread_barrier_t *inside;
	int passed;
};

static void *come_back(void *argument)
{
	struct job *job = argument;

	tgt_free(tgt_malloc(SIZE), SIZE);
	if (!job->passed) {
		job->passed = 1;
		/* now the main thread gives up its own reference */
		pthread_barrier_wait(job->inside);
		pthread_barrier_wait(job->inside);
	}
	tgt_free(tgt_malloc(SIZE), SIZE);
	return NULL;
}

static void *work(void *argument)
{
	struct job *job = argument;

	tgt_free(tgt_malloc(SIZE), SIZE);
	if (job->start(job))
		abort();
	/* its code was on this very stack a moment ago */
	if (dlclose(job->library))
		abort();
	tgt_free(tgt_malloc(SIZE), SIZE);
	return NULL;
}

static void round_of(const char *path)
{
	pthread_barrier_t inside;
	pthread_t thread[THREADS];
	struct job job[THREADS];
	void *own = dlopen(path, RTLD_NOW);

	if (!own)
		abort();
	pthread_barrier_init(&inside, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++) {
		job[i] = (struct job){
			.back = come_back,
			.library = dlopen(path, RTLD_NOW),
			.inside = &inside,
		};
		job[i].start = (call *)dlsym(own, "inflight_start");
		pthread_create(&thread[i], NULL, work, &job[i]);
	}
	pthread_barrier_wait(&inside);
	if (dlclose(own))
		abort();
	pthread_barrier_wait(&inside);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	/* the last one has unmapped it */
	if (dlopen(path, RTLD_NOW | RTLD_NOLOAD))
		abort();
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	for (int i = 0; i < ROUNDS; i++)
		round_of(argv[1]);
	tgt_report();
	return 0;
}
