/*
 * inactive_threads.c: a thread that has recorded nothing yet makes new threads
 * inactive. It is not a new thread itself.
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
