// FLAGS: -std=c++17
/*
 * own_replaced.cc: a program with its own operator new, which calls malloc, and
 * one of a class. The C++ runtime's other forms call it; an argument leaves
 * them out, for allocators with their own.
 */
#include <new>
#include <string>

#include "tgt.h"

#define EXTRA 16

static size_t own_calls;

void *operator new(size_t size)
{
	own_calls++;
	char *p = (char *)malloc(size + EXTRA);

	if (!p)
		throw std::bad_alloc();
	return p + EXTRA;
}

void operator delete(void *block) noexcept
{
	own_calls++;
	if (block)
		free((char *)block - EXTRA);
}

void operator delete(void *block, size_t) noexcept
{
	operator delete(block);
}

struct pooled {
	static char pool[1000];
	char bytes[100];
	void *operator new(size_t) { return pool; }
	void operator delete(void *) {}
};

char pooled::pool[1000];

static void *shown(void *p, size_t size)
{
	tgt_made(p, size + EXTRA);
	TGT_ADD(tgt_counts.frees, 1);
	TGT_ADD(tgt_counts.freed_bytes, size + EXTRA);
	return p;
}

TGT_FUNCTION void tgt_others(void)
{
	delete[] (char *)shown(new char[100], 100);
	delete (long *)shown(new (std::nothrow) long, 8);
	delete[] (char *)shown(new (std::nothrow) char[33], 33);
}

TGT_FUNCTION void tgt_work(void)
{
	delete (int *)shown(new int, 4);
	delete new pooled;
	std::string text(500, 'x');
	shown(&text[0], 501);
}

int main(int argc, char **)
{
	for (int i = 0; i < 100; i++) {
		tgt_work();
		if (argc < 2)
			tgt_others();
	}
	tgt_print("own", own_calls);
	tgt_report();
	return 0;
}
