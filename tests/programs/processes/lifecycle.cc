// FLAGS: -pthread
/*
 * lifecycle.cc: allocations before main (constructors), after main (atexit,
 * destructors) and at the end of threads (thread-specific data, thread_local
 * destructors). The numbers are printed by the last destructor of all.
 */
#include <pthread.h>

#include "tgt.h"

#define THREADS 20

static pthread_key_t key;

static void use(size_t size, bool keep)
{
	void *p = tgt_malloc(size);

	if (!keep)
		tgt_free(p, size);
}

__attribute__((constructor(101))) static void earliest()
{
	use(101, true);
	use(102, false);
}

__attribute__((destructor(101))) static void latest()
{
	use(103, true);
	use(104, false);
	tgt_report();
}

struct global {
	global() { use(201, false); }
	~global() { use(202, true); }
};
static global object;

struct per_thread {
	void *block;
	per_thread() : block(tgt_malloc(301)) {}
	~per_thread()
	{
		tgt_free(block, 301);
		use(302, true);
	}
};
static thread_local per_thread local;

/* Sets the key anew a few times: then the C library calls it again. */
static void key_destructor(void *value)
{
	uintptr_t left = reinterpret_cast<uintptr_t>(value);

	use(303, true);
	use(304, false);
	if (left > 1)
		pthread_setspecific(key, reinterpret_cast<void *>(left - 1));
}

static void *work(void *)
{
	tgt_sink = local.block;
	pthread_setspecific(key, reinterpret_cast<void *>(3));
	use(305, false);
	return nullptr;
}

static void at_exit()
{
	use(401, true);
	use(402, false);
}

int main()
{
	pthread_key_create(&key, key_destructor);
	atexit(at_exit);
	for (int i = 0; i < THREADS; i++) {
		pthread_t thread;

		pthread_create(&thread, nullptr, work, nullptr);
		pthread_join(thread, nullptr);
	}
	tgt_sink = local.block;
	return 0;
}
