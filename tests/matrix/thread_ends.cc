// FLAGS: -pthread
/*
 * thread_ends.cc: threads that end from deep inside: cancelled while they
 * wait, while they compute (asynchronously), in the middle of many cleanup
 * handlers and destructors; by pthread_exit from 120 frames; each with
 * thread_local objects and keys whose destructors allocate at many depths.
 * At last main itself ends so, and another thread prints the counts.
 */
#include <cxxabi.h>
#include <pthread.h>
#include <semaphore.h>

#include "deep.h"

static uint64_t guards_made, guards_gone, handlers_run, locals_made,
	locals_gone, keys_gone, forced;
static sem_t ready;
static pthread_key_t key;
static int never[2];

struct guard {
	void *block = tgt_malloc(31);
	guard() { TGT_ADD(guards_made, 1); }
	~guard()
	{
		tgt_free(tgt_malloc(17), 17);
		tgt_free(block, 31);
		TGT_ADD(guards_gone, 1);
	}
};

struct local {
	void *block = tgt_malloc(57);
	local() { TGT_ADD(locals_made, 1); }
	~local()
	{
		deep(30, deep_nothing, nullptr);
		tgt_free(block, 57);
		TGT_ADD(locals_gone, 1);
	}
};
static thread_local local in_thread;

static void key_destructor(void *block)
{
	deep_wide(20, deep_nothing, nullptr);
	tgt_free(block, 21);
	TGT_ADD(keys_gone, 1);
}

static void cleanup(void *block)
{
	tgt_free(tgt_malloc(19), 19);
	tgt_free(block, 23);
	TGT_ADD(handlers_run, 1);
}

/* No call, no object: may be left at any instruction. */
static void spin(void)
{
	sem_post(&ready);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
	for (;;)
		asm volatile("" ::: "memory");
}

enum how { WAIT, READ, TEST, SPIN, EXIT, RETURN };

static long bottom(enum how how)
{
	char byte;

	switch (how) {
	case WAIT:
		sem_post(&ready);
		for (;;)
			pause();
	case READ:
		sem_post(&ready);
		return read(never[0], &byte, 1);
	case TEST:
		sem_post(&ready);
		for (;;)
			pthread_testcancel();
	case SPIN:
		spin();
		break;
	case EXIT:
		sem_post(&ready);
		pthread_exit(nullptr);
	case RETURN:
		sem_post(&ready);
	}
	return 0;
}

static long down(int depth, enum how how)
{
	guard object;
	void *block = tgt_malloc(23);
	long answer = 0;

	pthread_cleanup_push(cleanup, block);
	if (depth == 0) {
		answer = bottom(how);
	} else if (depth % 10 == 5) {
		try {
			answer = down(depth - 1, how) + 1;
		} catch (abi::__forced_unwind &) {
			guard in_handler;
			TGT_ADD(forced, 1);
			throw;
		}
	} else {
		answer = down(depth - 1, how) + 1;
	}
	pthread_cleanup_pop(1);
	return answer;
}

struct order {
	int depth;
	enum how how;
};

static void *thread(void *argument)
{
	const order *o = (const order *)argument;

	tgt_free(in_thread.block, 57);
	in_thread.block = tgt_malloc(57);
	pthread_setspecific(key, tgt_malloc(21));
	return (void *)down(o->depth, o->how);
}

/* Every second thread on memory of ours, as the one before it left it. */
static pthread_attr_t *own_stack(void)
{
	static char memory[256 << 10] __attribute__((aligned(4096)));
	static pthread_attr_t attributes;
	static int count;

	if (count == 0) {
		pthread_attr_init(&attributes);
		pthread_attr_setstack(&attributes, memory, sizeof(memory));
	}
	return count++ % 2 ? &attributes : nullptr;
}

static void one(int depth, enum how how)
{
	order o = { depth, how };
	pthread_t id;
	void *result;

	pthread_create(&id, own_stack(), thread, &o);
	while (sem_wait(&ready))
		;
	if (how != EXIT && how != RETURN)
		pthread_cancel(id);
	pthread_join(id, &result);
	tgt_print("cancelled", result == PTHREAD_CANCELED);
}

static void report(void)
{
	tgt_print("guards_alive", guards_made - guards_gone);
	tgt_print("guards", guards_made);
	tgt_print("handlers", handlers_run);
	tgt_print("locals_alive", locals_made - locals_gone);
	tgt_print("keys", keys_gone);
	tgt_print("forced", forced);
	tgt_report();
}

static pthread_t main_thread;

static void *last(void *)
{
	pthread_join(main_thread, nullptr);
	report();
	_exit(guards_made != guards_gone || locals_made != locals_gone);
}

int main()
{
	pthread_t id;

	sem_init(&ready, 0, 0);
	pthread_key_create(&key, key_destructor);
	if (pipe(never))
		return 1;
	for (int depth = 1; depth <= 121; depth += 40)
		for (int how = WAIT; how <= RETURN; how++)
			for (int i = 0; i < 5; i++)
				one(depth, (enum how)how);
	report();
	main_thread = pthread_self();
	pthread_create(&id, nullptr, last, nullptr);
	down(150, EXIT);
	return 2;
}
