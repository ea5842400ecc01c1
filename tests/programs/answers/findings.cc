// FLAGS: -fno-builtin -pthread
/*
 * findings.cc MODE: one fault, in a function that is named after it:
 *
 *	leak		blocks that nobody frees, made in a thread by way of a
 *			std::function
 *	peak		most memory at once, all of it freed
 *	churn		blocks that are freed before the next one
 *	growth		a cache that grows as long as the program runs: a second
 *			and a half
 *	fragmentation	every fortieth of many blocks stays, alone on its pages
 *	nothing		none of them
 *
 * What the fault came to is printed, as "key value" lines.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <thread>

#define LEAKED 2666
#define HELD 300
#define HELD_SIZE 10000
#define CHURNED 60000
#define STEPS 150
#define STEP_NS 10000000
#define GROWN_SIZE 4000
#define SPREAD 200000
#define SPREAD_SIZE 200
#define STAYS 40

static void *sink;

static void *xmalloc(size_t size)
{
	void *p = malloc(size);

	if (p == nullptr)
		abort();
	memset(p, 1, size);
	sink = p;
	return p;
}

static void said(const char *key, unsigned long value)
{
	printf("%s %lu\n", key, value);
}

static unsigned long leaked;

__attribute__((noinline)) void leak_request(int number)
{
	size_t size = 64 + number % 30;

	xmalloc(size);
	leaked += size;
}

static void leak()
{
	std::function<void(int)> handle = [](int i) { leak_request(i); };
	std::thread thread([&] {
		for (int i = 0; i < LEAKED; i++)
			handle(i);
	});

	thread.join();
	said("blocks", LEAKED);
	said("bytes", leaked);
}

__attribute__((noinline)) void *hold_table()
{
	return xmalloc(HELD_SIZE);
}

static void peak()
{
	void *held[HELD];

	for (void *&one : held)
		one = hold_table();
	for (void *one : held)
		free(one);
	said("blocks", HELD);
	said("bytes", HELD * HELD_SIZE);
}

__attribute__((noinline)) void churn_text(int number)
{
	free(xmalloc(100 + number % 7));
}

static void churn()
{
	for (int i = 0; i < CHURNED; i++)
		churn_text(i);
	said("blocks", CHURNED);
}

__attribute__((noinline)) void grow_cache()
{
	xmalloc(GROWN_SIZE);
}

static void growth()
{
	const struct timespec pause = { 0, STEP_NS };

	for (int i = 0; i < STEPS; i++) {
		grow_cache();
		nanosleep(&pause, nullptr);
	}
	said("blocks", STEPS);
	said("bytes", STEPS * GROWN_SIZE);
}

__attribute__((noinline)) void *spread_out()
{
	return xmalloc(SPREAD_SIZE);
}

static void fragmentation()
{
	void **all = static_cast<void **>(xmalloc(SPREAD * sizeof(void *)));

	for (int i = 0; i < SPREAD; i++)
		all[i] = spread_out();
	for (int i = 0; i < SPREAD; i++)
		if (i % STAYS != 0)
			free(all[i]);
	free(all);
	said("blocks", SPREAD / STAYS);
	said("bytes", SPREAD / STAYS * SPREAD_SIZE);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (strcmp(mode, "leak") == 0)
		leak();
	else if (strcmp(mode, "peak") == 0)
		peak();
	else if (strcmp(mode, "churn") == 0)
		churn();
	else if (strcmp(mode, "growth") == 0)
		growth();
	else if (strcmp(mode, "fragmentation") == 0)
		fragmentation();
	/* the buffers of standard output */
	fflush(stdout);
	return 0;
}
