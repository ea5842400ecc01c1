// FLAGS: -pthread
/*
 * descriptors.c: opens files until no descriptor is left, then allocates in old
 * and new threads, and checks which number it gets after closing them.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>

#include "tgt.h"

static void *work(void *unused)
{
	for (int i = 0; i < 100; i++)
		tgt_free(tgt_malloc(50 + i), 50 + i);
	return unused;
}

int main(void)
{
	pthread_t thread;
	int opened = 0;

	while (open("/dev/null", O_RDONLY) >= 0)
		opened++;
	tgt_print("opened", opened);
	tgt_print("errno", errno);
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	work(NULL);
	for (int i = 0; i < opened; i++)
		close(STDERR_FILENO + 1 + i);
	tgt_print("first", open("/dev/null", O_RDONLY));
	tgt_report();
	return 0;
}
