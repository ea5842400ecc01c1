// FLAGS: -pthread -learly -rdynamic
/*
 * early.cc: threads started before main, after it, and by the destructors of
 * other threads' thread-local objects. A destructor of the program, which runs
 * before the library's, prints the numbers; what the library's will add is
 * printed beforehand.
 */
#include <pthread.h>

#include "tgt.h"

#define LATER (3 * 10)		/* of the library's destructor */

extern "C" void early_wait();

extern "C" void early_use(int blocks)
{
	for (int i = 0; i < blocks; i++)
		tgt_free(tgt_malloc(77), 77);
}

static void *last(void *unused)
{
	early_use(5);
	return unused;
}

/* Starts another thread when its own ends, and lets that one alone. */
struct starter {
	void *block = tgt_malloc(88);
	~starter()
	{
		pthread_t thread;

		tgt_free(block, 88);
		if (pthread_create(&thread, nullptr, last, nullptr))
			abort();
		pthread_join(thread, nullptr);
	}
};
static thread_local starter local;

static void *work(void *unused)
{
	tgt_sink = local.block;
	return unused;
}

static void run(int count)
{
	for (int i = 0; i < count; i++) {
		pthread_t thread;

		if (pthread_create(&thread, nullptr, work, nullptr))
			abort();
		pthread_join(thread, nullptr);
	}
}

__attribute__((constructor)) static void before_main()
{
	run(2);
}

__attribute__((destructor)) static void after_main()
{
	run(2);
	TGT_ADD(tgt_counts.allocations, LATER);
	TGT_ADD(tgt_counts.total_bytes, LATER * 77);
	TGT_ADD(tgt_counts.frees, LATER);
	TGT_ADD(tgt_counts.freed_bytes, LATER * 77);
	tgt_report();
}

int main()
{
	run(5);
	early_wait();
	tgt_sink = local.block;
	return 0;
}
