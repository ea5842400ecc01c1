// FLAGS: -pthread -fno-optimize-sibling-calls
/*
 * freers.cc [grow]: blocks freed in many functions, each of which counts what
 * it freed: destructors, operator delete with a size, with an alignment and of
 * arrays, free, realloc, fork's child, a signal handler, threads that free
 * other threads' blocks. Prints "freed_NAME blocks" and "bytes_NAME bytes" for
 * each function freer_NAME.
 *
 * With "grow" it only holds some blocks, nearly as long as it runs: for filters
 * by moments.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <csignal>
#include <new>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static const int rounds = 300, threads = 4;

struct counter {
	const char *name;
	uint64_t blocks, bytes;
};

enum freer { PLAIN, SIZED, ALIGNED, ARRAY, MOVED, CROSS, HANDLER, LATE,
	     FREERS };
static counter counters[FREERS] = {
	{ "plain", 0, 0 }, { "sized", 0, 0 }, { "aligned", 0, 0 },
	{ "array", 0, 0 }, { "moved", 0, 0 }, { "cross", 0, 0 },
	{ "handler", 0, 0 }, { "late", 0, 0 },
};

static void count(freer who, size_t size)
{
	__atomic_fetch_add(&counters[who].blocks, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&counters[who].bytes, size, __ATOMIC_RELAXED);
}

struct plain_thing {
	char bytes[40];
};
struct virtual_thing {
	char bytes[100];
	virtual ~virtual_thing() = default;
};
struct alignas(64) wide_thing {
	char bytes[128];
};

extern "C" {

NOINLINE void freer_plain(void *block, size_t size)
{
	count(PLAIN, size);
	free(block);
}

NOINLINE void freer_sized(virtual_thing *thing)
{
	count(SIZED, sizeof(*thing));
	delete thing;
}

NOINLINE void freer_aligned(wide_thing *thing)
{
	count(ALIGNED, sizeof(*thing));
	delete thing;
}

NOINLINE void freer_array(plain_thing *things, size_t n)
{
	count(ARRAY, n * sizeof(*things));
	delete[] things;
}

NOINLINE void *freer_moved(void *block, size_t old, size_t size)
{
	count(MOVED, old);
	return realloc(block, size);
}

NOINLINE void freer_cross(void *block, size_t size)
{
	count(CROSS, size);
	free(block);
}

NOINLINE void freer_handler(void *block, size_t size)
{
	count(HANDLER, size);
	free(block);
}

NOINLINE void freer_late(void *block, size_t size)
{
	count(LATE, size);
	free(block);
}

}

static void *volatile sink;

static void *make(size_t size)
{
	sink = malloc(size);
	return sink;
}

static void one_of_each(int i)
{
	size_t size = 16 + i % 50;
	void *block = make(size);

	for (int step = 0; step < i % 4; step++) {
		block = freer_moved(block, size, size * 3);
		size *= 3;
	}
	freer_plain(block, size);
	freer_sized(new virtual_thing);
	freer_aligned(new wide_thing);
	freer_array(new plain_thing[3], 3);
}

/* Made by one thread, freed by the next. */
static void *slots[threads][rounds];

static void make_all(int who)
{
	for (int i = 0; i < rounds; i++) {
		slots[who][i] = make(64);
		one_of_each(i);
	}
}

static void free_all(int who)
{
	for (int i = 0; i < rounds; i++)
		freer_cross(slots[who][i], 64);
}

static void *for_handler;

static void handler(int)
{
	freer_handler(for_handler, 77);
}

static void in_threads(void (*what)(int))
{
	std::vector<std::thread> all;

	for (int i = 0; i < threads; i++)
		all.emplace_back(what, i);
	for (auto &thread : all)
		thread.join();
}

static void print_counts()
{
	for (auto &counter : counters)
		printf("freed_%s %llu\nbytes_%s %llu\n", counter.name,
		       (unsigned long long)counter.blocks, counter.name,
		       (unsigned long long)counter.bytes);
	fflush(stdout);
}

static int hold_some()
{
	void *held[50];

	for (auto &block : held)
		block = make(1000);
	usleep(300000);
	for (auto &block : held)
		freer_late(block, 1000);
	print_counts();
	return 0;
}

int main(int argc, char **)
{
	if (argc > 1)
		return hold_some();
	in_threads(make_all);
	in_threads(free_all);
	signal(SIGUSR1, handler);
	for (int i = 0; i < 10; i++) {
		for_handler = make(77);
		raise(SIGUSR1);
	}
	if (fork() == 0) {
		/* a trace of its own */
		memset(slots, 0, sizeof(slots));
		for (auto &counter : counters)
			counter.blocks = counter.bytes = 0;
		for (int i = 0; i < 10; i++)
			one_of_each(i);
		_exit(0);
	}
	wait(NULL);
	print_counts();
	return 0;
}
