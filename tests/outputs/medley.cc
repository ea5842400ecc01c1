/*
 * medley.cc: some of everything that can be asked about, in a few hundred
 * events: templates and inlined functions, threads with names, blocks that one
 * thread allocates and another frees, chains of reallocs that end and that do
 * not, temporary blocks, blocks of no bytes, aligned and mapped ones, recursion,
 * heaps of its own, markers, snapshots and, if MEDLEY_CLEAR is set, a CLEAR.
 * For tests/tools/outputs.
 */
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <pthread.h>

#include <gnomon/gnomon.h>

static void *volatile sink;

static void rest()
{
	struct timespec ms = { 0, 2000000 };

	nanosleep(&ms, nullptr);
}

namespace medley {

inline __attribute__((always_inline)) void *made(void *block)
{
	sink = block;
	return block;
}

template <typename T> struct list {
	T *items;
	size_t count, room;

	__attribute__((noinline)) void add(const T &item)
	{
		if (count == room) {
			room = room ? 2 * room : 4;
			items = (T *)made(realloc((void *)items,
						  room * sizeof(T)));
		}
		items[count++] = item;
	}
	__attribute__((noinline)) void clear()
	{
		free(items);
		items = nullptr;
		count = room = 0;
	}
};

static inline __attribute__((always_inline)) char *copied(const char *text)
{
	char *copy = (char *)made(malloc(strlen(text) + 1));

	strcpy(copy, text);
	return copy;
}

__attribute__((noinline)) void descend(list<char *> &into, int depth)
{
	into.add(copied("a name at some depth of the tree"));
	if (depth > 0) {
		descend(into, depth - 1);
		if (depth % 2)
			descend(into, depth - 2);
	}
	sink = &into;
}

__attribute__((noinline)) void churn(size_t size, int times)
{
	for (int i = 0; i < times; i++)
		free(made(malloc(size + (size_t)i % 3 * 8)));
}

struct job {
	const char *name;
	void *blocks[40];
	list<uint64_t> numbers;
};

void *work(void *argument)
{
	struct job *job = (struct job *)argument;

	pthread_setname_np(pthread_self(), job->name);
	for (int i = 0; i < 40; i++) {
		job->blocks[i] = made(malloc(24u << i % 8));
		job->numbers.add((uint64_t)i);
		if (i % 10 == 0)
			rest();
	}
	churn(700, 30);
	return nullptr;
}

}

static void heaps()
{
	static char arena[4096];
	uint32_t heap = gnomon_heap_create("arena");

	for (int i = 0; i < 12; i++)
		gnomon_alloc(heap, arena + 256 * i, 64 + (size_t)i);
	for (int i = 0; i < 8; i++)
		gnomon_free(heap, arena + 256 * i);
}

int main()
{
	static medley::job jobs[2] = { { "reader", {}, {} },
				       { "writer", {}, {} } };
	medley::list<char *> names = {};
	pthread_t threads[2];
	void *aligned, *mapped = medley::made(malloc(1u << 20));

	gnomon_marker("tree");
	medley::descend(names, 7);
	rest();
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], nullptr, medley::work, &jobs[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], nullptr);
	gnomon_marker("sorted");
	if (getenv("MEDLEY_CLEAR"))
		gnomon_clear();
	gnomon_snapshot("middle");
	for (int i = 0; i < 30; i++)	/* ten of each stay */
		free(jobs[i % 2].blocks[i]);
	jobs[1].numbers.clear();
	for (size_t i = 0; i < names.count; i += 2)
		free(names.items[i]);
	rest();
	medley::made(malloc(0));
	medley::made(calloc(9, 100));
	if (posix_memalign(&aligned, 256, 3000) == 0)
		free(aligned);
	heaps();
	gnomon_marker("late");
	medley::churn(90, 50);
	free(mapped);
	medley::descend(names, 3);
	rest();
	return 0;
}
