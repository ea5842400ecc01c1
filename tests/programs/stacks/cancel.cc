// FLAGS: -pthread -Wno-infinite-recursion
/*
 * cancel.cc: threads that end by pthread_cancel and pthread_exit from depth:
 * a forced unwind runs the destructors of all frames, which free and
 * allocate.
 */
#include <pthread.h>

#include "tgt.h"

#define THREADS 50

static uint64_t made, destroyed;

struct guard {
	void *block;
	guard() : block(tgt_malloc(40)) { TGT_ADD(made, 1); }
	~guard()
	{
		tgt_free(block, 40);
		tgt_free(tgt_malloc(20), 20);
		TGT_ADD(destroyed, 1);
	}
};

static void descend(int depth, bool cancelled, int *ready)
{
	guard local;

	if (depth) {
		descend(depth - 1, cancelled, ready);
		return;
	}
	__atomic_store_n(ready, 1, __ATOMIC_RELEASE);
	if (!cancelled)
		pthread_exit(nullptr);
	for (;;)
		pause();
}

struct task {
	bool cancelled;
	int ready;
};

static void *work(void *argument)
{
	task *mine = static_cast<task *>(argument);

	descend(30, mine->cancelled, &mine->ready);
	return nullptr;
}

int main()
{
	for (int i = 0; i < THREADS; i++) {
		task one = { i % 2 == 0, 0 };
		pthread_t thread;

		pthread_create(&thread, nullptr, work, &one);
		while (!__atomic_load_n(&one.ready, __ATOMIC_ACQUIRE))
			usleep(100);
		if (one.cancelled)
			pthread_cancel(thread);
		pthread_join(thread, nullptr);
	}
	tgt_print("made", made);
	tgt_print("destroyed", destroyed);
	tgt_report();
	return made == destroyed ? 0 : 1;
}
