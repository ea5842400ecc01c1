// FLAGS: -pthread -lodd_names
/*
 * many_names.cc: a threaded program whose function names are difficult for
 * other tools' formats: blanks, commas, quotes, semicolons, UTF-8, twenty
 * thousand characters; with inlined frames between them. Prints its own
 * allocations.
 */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

#include "odd_names.h"

static std::atomic<unsigned long> allocations, total_bytes, frees, live_bytes;

/* Through a pointer that the compiler does not see through, or the blocks
 * that are freed at once would be left out. */
static void *(*volatile allocate)(size_t) = malloc;

static void *take(size_t size)
{
	allocations++;
	total_bytes += size;
	live_bytes += size;
	return allocate(size);
}

static void give(void *block, size_t size)
{
	frees++;
	live_bytes -= size;
	free(block);
}

#define OUT __attribute__((noinline, noclone))

OUT void *größe_日本(size_t size) { return take(size); }

struct operators {
	OUT void *operator()(size_t size, const char *) { return take(size); }
	OUT void *operator,(size_t size) { return take(size); }
};

/* A name of some twenty thousand characters, three as reports shorten it. */
template <class... T> struct wide {
	static OUT void *make(size_t size) { return take(size); }
};
template <class A, class B> using both =
	std::pair<std::pair<A, std::vector<B>>, std::pair<std::vector<A>, B>>;
using one = both<std::vector<unsigned long>, std::vector<const char *>>;
using two = both<one, one>;
using three = both<two, two>;

static inline __attribute__((always_inline)) void *innermost(size_t size)
{
	return take(size + 1);
}

static inline __attribute__((always_inline)) void *middle(size_t size)
{
	return innermost(size + 2);
}

OUT static void *outer(size_t size)
{
	return middle(size + 3);
}

OUT static void work(int thread)
{
	operators call;

	for (int i = 0; i < 200 + thread; i++) {
		size_t size = 16 + (size_t)(i % 50);

		for (auto odd : odd_names)
			give(odd(take, size), size);
		if (i % 4 == 0)
			odd_names[i % ODD_NAMES](take, size);
		give(größe_日本(size), size);
		give(call(size, ""), size);
		if (i % 8 == 0)
			(call, size);
		if (i % 10 == 0)
			wide<three>::make(size);
		give(outer(size), size + 6);
	}
}

int main()
{
	std::vector<std::thread> threads;

	for (int i = 0; i < 3; i++)
		threads.emplace_back(work, i);
	for (auto &thread : threads)
		thread.join();
	printf("allocations %lu\nfrees %lu\ntotal_bytes %lu\nlive_bytes %lu\n",
	       allocations.load(), frees.load(), total_bytes.load(),
	       live_bytes.load());
}
