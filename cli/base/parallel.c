/*
 * parallel.c: threads that live for one call. Starting one takes some 20 µs,
 * its work takes milliseconds.
 */
#include "cli/base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "cli/base/deep_call.h"

struct share {
	void (*work)(void *owner, size_t i);
	void *owner;
	size_t count;
	atomic_size_t next;
};

static void *run(void *argument)
{
	struct share *share = argument;
	size_t i;

	/* pthread_join publishes what `work` writes. */
	while ((i = atomic_fetch_add_explicit(&share->next, 1,
					      memory_order_relaxed)) <
	       share->count)
		share->work(share->owner, i);
	return NULL;
}

static size_t processors(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return 1;
	return (size_t)CPU_COUNT(&set);
}

size_t parallel_threads(size_t count)
{
	size_t wanted = processors();

	if (wanted > PARALLEL_MAX)
		wanted = PARALLEL_MAX;
	return wanted < count ? wanted : count;
}

void parallel_each(size_t count, void (*work)(void *owner, size_t i),
		   void *owner)
{
	struct share share = { work, owner, count, 0 };
	pthread_t threads[PARALLEL_MAX];
	size_t wanted = parallel_threads(count), made = 0;
	pthread_attr_t attributes;

	/* Not the size from ulimit -s, which may be small. */
	if (wanted > 1 && pthread_attr_init(&attributes) == 0) {
		pthread_attr_setstacksize(&attributes, DEEP_CALL_STACK);
		while (made + 1 < wanted &&
		       pthread_create(&threads[made], &attributes, run,
				      &share) == 0)
			made++;
		pthread_attr_destroy(&attributes);
	}
	run(&share);
	for (size_t i = 0; i < made; i++)
		pthread_join(threads[i], NULL);
}
