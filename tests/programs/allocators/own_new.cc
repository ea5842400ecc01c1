// FLAGS: -std=c++17 -fsized-deallocation
/*
 * own_new.cc: all forms of operator new and delete, called as compilers call
 * them and by name; requests that throw; a new-handler that allocates, and one
 * that throws. With an argument nothing throws, for allocators that end the
 * program instead.
 */
#include <new>

#include "tgt.h"

struct alignas(128) wide {
	char bytes[300];
};

struct plain {
	char bytes[24];
	static size_t asked;
	~plain() { tgt_sink = this; }
	static void *operator new[](size_t size)
	{
		asked = size;
		return ::operator new[](size);
	}
	static void operator delete[](void *block)
	{
		::operator delete[](block);
	}
};

size_t plain::asked;

static void ended(size_t size)
{
	TGT_ADD(tgt_counts.frees, 1);
	TGT_ADD(tgt_counts.freed_bytes, size);
}

static void *shown(void *p, size_t size, size_t alignment)
{
	tgt_made(p, size);
	if ((uintptr_t)p % alignment != 0)
		tgt_write("not aligned\n");
	memset(p, 0x5a, size);
	ended(size);
	return p;
}

TGT_FUNCTION void tgt_expressions(void)
{
	delete (int *)shown(new int, 4, 4);
	delete[] (char *)shown(new char[100], 100, 1);
	delete (double *)shown(new (std::nothrow) double, 8, 8);
	delete[] (char *)shown(new (std::nothrow) char[33], 33, 1);
	delete (wide *)shown(new wide, sizeof(wide), 128);
	delete[] (wide *)shown(new wide[3], 3 * sizeof(wide), 128);
	delete (wide *)shown(new (std::nothrow) wide, sizeof(wide), 128);
	delete[] (wide *)shown(new (std::nothrow) wide[2], 2 * sizeof(wide),
			       128);
	/* with a count in front of the array, or more */
	plain *many = new plain[10];
	TGT_ADD(tgt_counts.allocations, 1);
	TGT_ADD(tgt_counts.total_bytes, plain::asked);
	delete[] many;
	ended(plain::asked);
}

TGT_FUNCTION void tgt_by_name(size_t n)
{
	const std::nothrow_t &quiet = std::nothrow;
	std::align_val_t a{64};
	size_t m = (n + 63) & ~(size_t)63;	/* libstdc++ rounds up */

	operator delete(shown(operator new(n), n, 1));
	operator delete[](shown(operator new[](n), n, 1));
	operator delete(shown(operator new(n), n, 1), n);
	operator delete[](shown(operator new[](n), n, 1), n);
	operator delete(shown(operator new(n, quiet), n, 1), quiet);
	operator delete[](shown(operator new[](n, quiet), n, 1), quiet);
	operator delete(shown(operator new(m, a), m, 64), a);
	operator delete[](shown(operator new[](m, a), m, 64), a);
	operator delete(shown(operator new(m, a), m, 64), m, a);
	operator delete[](shown(operator new[](m, a), m, 64), m, a);
	operator delete(shown(operator new(m, a, quiet), m, 64), a, quiet);
	operator delete[](shown(operator new[](m, a, quiet), m, 64), a,
			  quiet);
	operator delete(nullptr);
	operator delete[](nullptr, a);
}

/* More than there is of addresses for programs. */
static volatile size_t huge = ~(size_t)0 / 16 * 15;
static unsigned caught;

TGT_FUNCTION void tgt_some(void)
{
	tgt_free(tgt_malloc(50), 50);
	operator delete(shown(operator new(60), 60, 1));
	tgt_free(tgt_malloc(70), 70);
}

/* Between two throws the same function allocates, at the same depth. None of
 * those that throw is counted: exceptions are blocks of the C++ runtime. */
static __attribute__((noinline)) void thrown(int how)
{
	tgt_some();
	try {
		if (how == 0)
			tgt_sink = operator new(huge);
		else if (how == 1)
			tgt_sink = operator new[](huge);
		else
			tgt_sink = operator new(huge, std::align_val_t(64));
	} catch (std::bad_alloc &) {
		caught++;
	}
	tgt_some();
}

static int handled;

/* Called from inside of operator new; gives up the second time. */
static void handler(void)
{
	tgt_some();
	if (++handled % 2 == 0)
		std::set_new_handler(nullptr);
}

static void handler_throws(void)
{
	tgt_some();
	throw std::bad_alloc();
}

int main(int argc, char **)
{
	for (size_t n = 1; n < 3000000; n = n * 5 + 1) {
		tgt_expressions();
		tgt_by_name(n);
	}
	for (int i = 0; argc < 2 && i < 9; i++) {
		thrown(i % 3);
		std::set_new_handler(handler);
		thrown(i % 3);
		std::set_new_handler(handler_throws);
		thrown(i % 3);
		std::set_new_handler(nullptr);
	}
	tgt_print("refused", operator new(huge, std::nothrow) == nullptr);
	tgt_print("caught", caught);
	tgt_print("handled", handled);
	tgt_report();
	return 0;
}
