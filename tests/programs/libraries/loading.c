// FLAGS: -pthread
/*
 * loading.c PATH: loads and unloads a library whose constructor and
 * destructor allocate, while other threads allocate and walk their stacks.
 */
#include <dlfcn.h>
#include <pthread.h>

#include "tgt.h"

#define ROUNDS 200
#define THREADS 3

static int stop;

static void *keep_busy(void *argument)
{
	(void)argument;
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
		tgt_free(tgt_malloc(48), 48);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];

	if (argc < 2)
		return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, keep_busy, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		void *library = dlopen(argv[1], RTLD_NOW);

		if (!library || dlclose(library))
			return 1;
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	tgt_report();
	tgt_print("loads", ROUNDS);
	return 0;
}
