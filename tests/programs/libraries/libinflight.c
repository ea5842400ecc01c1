// FLAGS: -pthread
/*
 * libinflight.c: a library that is unloaded while its code is on stacks: it
 * holds a reference to itself as long as a thread is inside. The loader
 * allocates its thread-local data when a thread first accesses it.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef void *inflight_call(void *argument);

static __thread char scratch[3000];
static __thread int calls;

/* Calls back into the program from inside of the library. */
__attribute__((noinline)) void *inflight_through(inflight_call *call,
						 void *argument)
{
	void *result;

	memset(scratch, ++calls, sizeof(scratch));
	result = call(argument);
	return (void *)((uintptr_t)result + (scratch[7] != (char)calls));
}

/* The thread's own start routine: the reference it has may be the last. */
__attribute__((noinline)) void *inflight_start(void *argument)
{
	inflight_call *call = *(inflight_call **)argument;
	void *result = NULL;

	for (int i = 0; i < 20; i++)
		result = inflight_through(call, argument);
	return result;
}
