/*
 * deep_call.c: see deep_call.h. Any thread.
 *
 * The C library knows where a thread's stack ends. For the first thread it has
 * to read /proc/self/maps, so each thread asks once.
 */
#include "cli/base/deep_call.h"

#include <assert.h>
#include <pthread.h>
#include <stdint.h>

struct job {
	void (*call)(void *owner);
	void *owner;
};

static _Thread_local uintptr_t stack_end;	/* 0: not queried yet */

static uintptr_t find_end(void)
{
	uintptr_t end = UINTPTR_MAX;	/* unknown: room() is 0 */
	pthread_attr_t attributes;
	void *low;
	size_t size;

	if (pthread_getattr_np(pthread_self(), &attributes) != 0)
		return end;
	if (pthread_attr_getstack(&attributes, &low, &size) == 0)
		end = (uintptr_t)low;
	pthread_attr_destroy(&attributes);
	return end;
}

/* Bytes of stack that the calling thread has left; 0: unknown. */
static size_t room(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	if (stack_end == 0)
		stack_end = find_end();
	return here > stack_end ? here - stack_end : 0;
}

static void *run(void *argument)
{
	const struct job *job = argument;

	job->call(job->owner);
	return NULL;
}

bool deep_call(size_t size, void (*call)(void *owner), void *owner)
{
	struct job job = { call, owner };
	pthread_attr_t attributes;
	pthread_t thread;
	int error;

	assert(size <= DEEP_CALL_STACK);
	if (room() >= size) {
		call(owner);
		return true;
	}
	if (pthread_attr_init(&attributes) != 0)
		return false;
	/* Half as much again: the C library uses some of it. */
	error = pthread_attr_setstacksize(&attributes,
					  DEEP_CALL_STACK + DEEP_CALL_STACK / 2);
	if (error == 0)
		error = pthread_create(&thread, &attributes, run, &job);
	pthread_attr_destroy(&attributes);
	return error == 0 && pthread_join(thread, NULL) == 0;
}
