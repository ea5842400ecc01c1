/*
 * numbered.cc: a thousand blocks that stay, each of a size of its own, from
 * many kinds of stacks: recursion, virtual and inlined functions, calls through
 * the C and the C++ library. So another unwinder's stack of a block can be
 * compared with the recorded one. Deterministic; prints their number.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

#define ALLOCATIONS 1000
#define SIZE_FIRST 32
#define SIZE_STEP 16
#define DEPTH 12

static unsigned made, state = 1;

static unsigned draw(unsigned below)
{
	state = state * 1103515245 + 12345;
	return (state >> 16) % below;
}

/* Where a debugger waits. */
extern "C" __attribute__((noinline)) void *allocate_numbered(size_t size)
{
	void *p = malloc(size);

	asm volatile("" : : "r"(p) : "memory");
	return p;
}

static void allocate()
{
	if (made < ALLOCATIONS)
		allocate_numbered(SIZE_FIRST + SIZE_STEP * made++);
}

static void wander(unsigned depth);

struct shape {
	virtual ~shape() = default;
	virtual void visit(unsigned depth) const = 0;
};

struct leaf : shape {
	void visit(unsigned) const override { allocate(); }
};

struct branch : shape {
	void visit(unsigned depth) const override
	{
		wander(depth);
		allocate();
	}
};

static inline __attribute__((always_inline)) void twice(unsigned depth)
{
	wander(depth);
	allocate();
}

extern "C" int compare_numbers(const void *a, const void *b)
{
	allocate();
	return *(const int *)a - *(const int *)b;
}

static void by_c_library()
{
	int numbers[] = { 3, 1, 2 };

	qsort(numbers, 3, sizeof(*numbers), compare_numbers);
}

static void by_cpp_library(unsigned depth)
{
	int numbers[] = { 2, 1 };
	std::function<void(unsigned)> on = wander;

	std::sort(numbers, numbers + 2, [](int a, int b) {
		allocate();
		return a < b;
	});
	on(depth);
}

static void by_array(unsigned depth)
{
	volatile char room[32 + 16 * depth];

	room[0] = 1;
	wander(depth);
	room[31] = room[0];
}

static void by_exception(unsigned depth)
{
	try {
		wander(depth);
		throw 1;
	} catch (int) {
		allocate();
	}
}

static __attribute__((noinline)) void wander(unsigned depth)
{
	if (depth == 0) {
		leaf().visit(0);
		return;
	}
	switch (draw(7)) {
	case 0: by_c_library(); break;
	case 1: by_cpp_library(depth - 1); break;
	case 2: by_array(depth - 1); break;
	case 3: by_exception(depth - 1); break;
	case 4: twice(depth - 1); break;
	case 5: branch().visit(depth - 1); break;
	default: wander(depth - 1); break;
	}
	asm volatile("" ::: "memory");
}

int main()
{
	while (made < ALLOCATIONS)
		wander(1 + draw(DEPTH));
	printf("allocations %u\n", made);
	return 0;
}
