/*
 * own_peaks.c: own peaks of functions, files, threads and sizes, each through
 * several call stacks, whose own peaks are at other times. Two threads take
 * turns; every run does the same.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>

#include "tgt.h"

#define TURNS 600
#define SLOTS 48

enum { FIRST, SECOND, SHARED, MAIN, HELPER, SMALL, MIDDLE, LARGE, OWN_FILE,
       ALL, GROUPS };

static const char *const names[GROUPS] = {
	"first", "second", "tgt_malloc", "main_thread", "helper_thread",
	"small", "middle", "large", "own_file", "all",
};
static const size_t sizes[] = { 40, 1000, 7777 };

static struct { char *block; int groups[5]; size_t size; } slots[SLOTS];
static uint64_t live[GROUPS], most[GROUPS];
static sem_t go, done;
static uint64_t seed = 1;

static unsigned pick(unsigned below)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (unsigned)(seed >> 40) % below;
}

/* Each by two lines: two stacks, two sites. */
__attribute__((noinline)) static void *first(size_t size, unsigned way)
{
	char *p;

	if (way)
		p = malloc(size);
	else
		p = malloc(size);
	if (p)
		*p = (char)way;
	return p;
}

__attribute__((noinline)) static void *second(size_t size, unsigned way)
{
	char *p;

	if (way)
		p = malloc(size);
	else
		p = malloc(size);
	if (p)
		*p = (char)way;
	return p;
}

__attribute__((noinline)) static void *shared(size_t size, unsigned way)
{
	return way ? (tgt_sink = tgt_malloc(size)) : tgt_malloc(size);
}

static void count(int group, uint64_t size)
{
	live[group] += size;
	if (live[group] > most[group])
		most[group] = live[group];
}

static void fill(unsigned slot, int thread)
{
	static void *(*const functions[])(size_t, unsigned) = {
		first, second, shared
	};
	unsigned function = pick(3), size = pick(3);
	int *groups = slots[slot].groups;

	slots[slot].block = functions[function](sizes[size], pick(2));
	slots[slot].size = sizes[size];
	groups[0] = FIRST + (int)function;
	groups[1] = thread;
	groups[2] = SMALL + (int)size;
	groups[3] = function < SHARED ? OWN_FILE : -1;
	groups[4] = ALL;
	for (int i = 0; i < 5; i++)
		if (groups[i] >= 0)
			count(groups[i], sizes[size]);
}

static void turn(int thread)
{
	unsigned slot = pick(SLOTS);

	if (!slots[slot].block) {
		fill(slot, thread);
		return;
	}
	free(slots[slot].block);
	slots[slot].block = NULL;
	for (int i = 0; i < 5; i++)
		if (slots[slot].groups[i] >= 0)
			live[slots[slot].groups[i]] -= slots[slot].size;
}

static void *help(void *argument)
{
	for (;;) {
		sem_wait(&go);
		turn(HELPER);
		sem_post(&done);
	}
	return argument;
}

int main(void)
{
	pthread_t thread;

	sem_init(&go, 0, 0);
	sem_init(&done, 0, 0);
	if (pthread_create(&thread, NULL, help, NULL))
		return 1;
	pthread_setname_np(thread, "helper");
	for (int i = 0; i < TURNS; i++) {
		if (pick(2)) {
			turn(MAIN);
			continue;
		}
		sem_post(&go);
		sem_wait(&done);
	}
	for (int i = 0; i < GROUPS; i++)
		tgt_print(names[i], most[i]);
	return 0;
}
