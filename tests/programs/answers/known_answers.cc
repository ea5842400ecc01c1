// FLAGS: -lgnomon-stub -Wl,-rpath,$ORIGIN/.. -pthread
/*
 * known_answers.cc: planted answers to queries about memory, each in a function
 * named after it. It counts its operations and prints them as "key value"
 * lines, for tests that query the trace (tests/system/test_sql_questions.py).
 * Each size belongs to one function, so that no query succeeds by chance.
 */
#include <pthread.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "gnomon/gnomon.h"

#define LEAKED 37
#define PASSING 11
#define GROWTH 10
#define PHASES 5
#define PEAK 3
#define PEAK_SIZE (4 << 20)
#define HANDED 25
#define VECTORS 4
#define DOUBLINGS 8
#define SHRUNK 6
#define ABOVE 50
#define MODE 40
#define STORM 1000
#define KEPT 5
#define STATIC 9
#define GROUPED 7

extern "C" {

static void *sink;

static void *keep(void *p)
{
	if (p == nullptr)
		abort();
	memset(p, 1, 1);
	sink = p;
	return p;
}

/* Live between the markers t1 and t3; what passes is gone by t3. */
void leak_between()
{
	for (int i = 0; i < LEAKED; i++)
		keep(malloc(48));
}

void pass_between(void **list)
{
	for (int i = 0; i < PASSING; i++)
		list[i] = keep(malloc(56));
}

void grow_linearly()
{
	for (int i = 0; i < GROWTH; i++)
		keep(malloc(72));
}

void stay_the_same()
{
	for (int i = 0; i < GROWTH; i++)
		free(keep(malloc(88)));
}

void fill_once()
{
	for (int i = 0; i < 100; i++)
		keep(malloc(104));
}

void hold_at_peak()
{
	void *list[PEAK];

	for (int i = 0; i < PEAK; i++)
		list[i] = keep(malloc(PEAK_SIZE));
	for (int i = 0; i < PEAK; i++)
		free(list[i]);
}

void hand_over(void **list)
{
	for (int i = 0; i < HANDED; i++)
		list[i] = keep(malloc(136));
}

void *free_others(void *list)
{
	pthread_setname_np(pthread_self(), "taker");
	for (int i = 0; i < HANDED; i++)
		free(static_cast<void **>(list)[i]);
	return nullptr;
}

void double_vector()
{
	size_t size = 16;
	void *p = keep(malloc(size));

	for (int i = 0; i < DOUBLINGS; i++)
		p = keep(realloc(p, size *= 2));
	free(p);
}

void shrink_late()
{
	for (int i = 0; i < SHRUNK; i++)
		keep(realloc(keep(malloc(9000)), 112));
}

/* One byte more than a power of two. */
void just_above()
{
	for (int i = 0; i < ABOVE; i++)
		keep(malloc(513));
}

void live_in_two_modes()
{
	void *list[MODE];

	for (int i = 0; i < MODE; i++) {
		list[i] = keep(malloc(152));
		free(keep(malloc(152)));
	}
	for (int i = 0; i < 1000; i++)
		stay_the_same();
	for (int i = 0; i < MODE; i++)
		free(list[i]);
}

void storm()
{
	for (int i = 0; i < STORM; i++)
		free(keep(malloc(168)));
}

void *keep_arena(void *)
{
	pthread_setname_np(pthread_self(), "keeper");
	for (int i = 0; i < KEPT; i++)
		keep(malloc(184));
	return nullptr;
}

/* Some of its blocks are leaked, the others not. */
void leak_some()
{
	for (int i = 0; i < GROUPED; i++) {
		void *p = keep(malloc(216));

		if (i % 2 == 0)
			free(p);
	}
}

static void run_thread(void *(*run)(void *), void *argument)
{
	pthread_t thread;

	if (pthread_create(&thread, nullptr, run, argument) != 0)
		abort();
	pthread_join(thread, nullptr);
}

static void run_phases()
{
	static const char *const names[PHASES] = { "p1", "p2", "p3", "p4",
						   "p5" };

	for (int i = 0; i < PHASES; i++) {
		grow_linearly();
		stay_the_same();
		if (i == 0)
			fill_once();
		gnomon_marker(names[i]);
	}
}

}

struct table {
	table()
	{
		for (int i = 0; i < STATIC; i++)
			keep(malloc(232));
	}
};
static table initialised;

static void print(const char *key, long value)
{
	printf("%s %ld\n", key, value);
}

int main()
{
	void *passing[PASSING], *handed[HANDED];

	run_phases();
	gnomon_marker("t1");
	leak_between();
	pass_between(passing);
	gnomon_marker("t2");
	for (int i = 0; i < PASSING; i++)
		free(passing[i]);
	gnomon_marker("t3");
	hold_at_peak();
	hand_over(handed);
	run_thread(free_others, handed);
	for (int i = 0; i < VECTORS; i++)
		double_vector();
	shrink_late();
	just_above();
	live_in_two_modes();
	gnomon_marker("storm");
	storm();
	gnomon_marker("calm");
	run_thread(keep_arena, nullptr);
	leak_some();
	print("leaked", LEAKED);
	print("passing", PASSING);
	print("growth", GROWTH);
	print("peak", PEAK);
	print("peak_size", PEAK_SIZE);
	print("handed", HANDED);
	print("vectors", VECTORS);
	print("doublings", DOUBLINGS);
	print("shrunk", SHRUNK);
	print("above", ABOVE);
	print("mode", MODE);
	print("storm", STORM);
	print("kept", KEPT);
	print("static", STATIC);
	print("grouped", GROUPED);
	return 0;
}
