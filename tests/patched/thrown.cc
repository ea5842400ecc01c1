/*
 * thrown.cc: an allocator in C++, whose exceptions pass through what stands
 * before and behind the functions that make them. Usage: thrown
 */
#include <map>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "tgt.h"

static int caught;

struct alignas(64) Wide {
	char bytes[128];
};

TGT_FUNCTION void tgt_new(size_t n)
{
	char *block = new char[n];

	tgt_made(block, n);
	TGT_ADD(tgt_counts.frees, 1);
	TGT_ADD(tgt_counts.freed_bytes, n);
	delete[] block;

	Wide *wide = new Wide;

	tgt_made(wide, sizeof(Wide));
	TGT_ADD(tgt_counts.frees, 1);
	TGT_ADD(tgt_counts.freed_bytes, sizeof(Wide));
	delete wide;
}

static void refused(int depth)
{
	std::string kept(100, 'x');

	if (depth > 0) {
		refused(depth - 1);
		return;
	}
	volatile size_t size = ~(size_t)0 >> 2;

	tgt_sink = new char[size];
}

static void work()
{
	for (int i = 1; i <= 200; i++) {
		try {
			refused(i % 20);
		} catch (const std::bad_alloc &) {
			__atomic_fetch_add(&caught, 1, __ATOMIC_RELAXED);
		}
		tgt_new(i);
	}
}

int main()
{
	std::vector<std::thread> threads;
	std::map<int, std::string> map;

	for (int i = 0; i < 3; i++)
		threads.emplace_back(work);
	for (auto &thread : threads)
		thread.join();
	for (int i = 0; i < 100; i++)
		map[i] = std::string(i, 'y');
	tgt_print("caught", caught);
	tgt_report();
	return 0;
}
