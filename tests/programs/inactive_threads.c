/*
 * inactive_threads.c: a thread that has recorded nothing yet says that new ones
 * are to be inactive. It is none of them.
 */
// FLAGS: -lgnomon-stub -Wl,-rpath,$ORIGIN/.. -pthread
#include "tgt.h"

#include <gnomon/gnomon.h>
#include <pthread.h>

static void *young(void *unused)
{
	(void)unused;
	return (void *)(long)gnomon_active(GNOMON_THREAD);
}

int main(void)
{
	pthread_t thread;
	void *active;

	gnomon_enable();
	gnomon_deactivate(GNOMON_NEW);
	if (!gnomon_active(GNOMON_THREAD) || gnomon_active(GNOMON_NEW))
		return 1;
	pthread_create(&thread, NULL, young, NULL);
	pthread_join(thread, &active);
	free(malloc(1));
	return active ? 2 : 0;
}
