// FLAGS: -pthread -Wno-infinite-recursion
/*
 * throws.cc [FRAMES]: every way of throwing, across frames that allocate, while the
 * exceptions and the destructors are counted: across 1 to FRAMES (200) frames with an
 * allocation in each frame and each destructor; caught inside a destructor
 * that runs because of another exception; rethrown; carried by exception_ptr
 * to another thread; out of function try blocks; out of constructors of
 * arrays and of bases that are only partly made.
 */
#include <exception>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tgt.h"

static uint64_t thrown_made, thrown_gone;	/* exception objects */
static uint64_t guards_made, guards_gone;
static uint64_t parts_made, parts_gone;
static uint64_t caught, wrong;

struct failure {
	int depth;
	explicit failure(int d) : depth(d) { TGT_ADD(thrown_made, 1); }
	failure(const failure &o) : depth(o.depth) { TGT_ADD(thrown_made, 1); }
	virtual ~failure() { TGT_ADD(thrown_gone, 1); }
};

struct worse : failure {
	void *block;
	explicit worse(int d) : failure(d), block(tgt_malloc(77)) {}
	worse(const worse &o) : failure(o), block(tgt_malloc(77)) {}
	~worse() override { tgt_free(block, 77); }
};

/* Allocates when it is made and when it goes. */
struct guard {
	void *block;
	size_t size;
	explicit guard(size_t n) : block(tgt_malloc(n)), size(n)
	{
		TGT_ADD(guards_made, 1);
	}
	~guard()
	{
		tgt_free(tgt_malloc(size + 1), size + 1);
		tgt_free(block, size);
		TGT_ADD(guards_gone, 1);
	}
};

static void expect(bool right)
{
	caught++;
	wrong += !right;
}

static int descend(int depth, int bottom)
{
	guard local(16 + depth % 64);
	int result;

	if (depth == bottom) {
		if (depth % 2)
			throw worse(depth);
		throw failure(depth);
	}
	result = descend(depth + 1, bottom);
	tgt_free(tgt_malloc(8), 8);
	return result + 1;
}

static void across(int frames)
{
	int at = -1;

	try {
		descend(0, frames);
	} catch (const failure &f) {
		guard in_handler(100);
		at = f.depth;
	}
	expect(at == frames);
}

/* A destructor that throws and catches while another exception unwinds; it
 * goes down again as far as it is told, with destructors like itself. */
struct nested {
	int level;
	explicit nested(int n) : level(n) { TGT_ADD(parts_made, 1); }
	~nested()
	{
		TGT_ADD(parts_gone, 1);
		try {
			if (level > 0) {
				nested inner(level - 1);
				descend(0, 4 + level);
			}
			descend(0, 3);
		} catch (const failure &f) {
			expect(f.depth == (level > 0 ? 4 + level : 3));
		}
	}
};

static int with_nested(int depth, int level)
{
	nested object(level);

	tgt_free(tgt_malloc(24), 24);
	if (depth == 0)
		return descend(0, 9);
	return with_nested(depth - 1, level) + 1;
}

static void in_destructors(int depth, int level)
{
	int at = -1;

	try {
		with_nested(depth, level);
	} catch (const failure &f) {
		at = f.depth;
	}
	expect(at == 9);
}

/* Caught and thrown on at every level. */
static int rethrower(int depth, int how)
{
	guard local(40);

	try {
		if (depth == 0)
			return descend(0, 6);
		return rethrower(depth - 1, how) + 1;
	} catch (...) {
		guard in_handler(50);
		if (how == 0)
			throw;
		if (how == 1)
			std::rethrow_exception(std::current_exception());
		throw worse(depth);
	}
}

static void rethrown(int depth, int how)
{
	int at = -1;

	try {
		rethrower(depth, how);
	} catch (const failure &f) {
		at = f.depth;
	}
	expect(at == (how == 2 ? depth : 6));
}

static std::exception_ptr take(int depth)
{
	try {
		descend(0, depth);
	} catch (...) {
		return std::current_exception();
	}
	return nullptr;
}

static int throw_from(int depth, const std::exception_ptr &carried)
{
	guard local(33);

	if (depth > 0)
		return throw_from(depth - 1, carried) + 1;
	std::rethrow_exception(carried);
}

/* The object is alive in two threads at a time, and dies in either. */
static void carried(int depth)
{
	std::exception_ptr object = take(depth);
	int there = -1, here = -1;

	std::thread([object, depth, &there] {
		try {
			throw_from(depth, object);
		} catch (const failure &f) {
			guard in_handler(60);
			there = f.depth;
		}
	}).join();
	try {
		throw_from(5, object);
	} catch (const failure &f) {
		here = f.depth;
	}
	expect(there == depth && here == depth);
}

struct part {
	void *block;
	part() : block(nullptr)
	{
		guard local(20);
		if (parts_made % 7 == 6) {
			parts_made++;
			parts_gone++;
			descend(0, 11);
		}
		block = tgt_malloc(28);
		parts_made++;
	}
	~part()
	{
		parts_gone++;
		tgt_free(block, 28);
	}
};

struct whole {
	part first;
	part many[5];
	guard last;
	explicit whole(size_t n) try : last(n) {
	} catch (const failure &) {
		guard in_handler(70);
		/* and on it goes */
	}
};

static void partly_built(int count)
{
	for (int i = 0; i < count; i++) {
		try {
			whole object(30);
			part *array = new part[6];
			delete[] array;
			expect(true);
		} catch (const failure &f) {
			expect(f.depth == 11);
		}
	}
}

static int function_block(int depth) try {
	guard local(90);

	if (depth == 0)
		return descend(0, 8);
	return function_block(depth - 1) + 1;
} catch (const failure &f) {
	guard in_handler(44);
	if (depth < 3)
		throw;
	return f.depth;
}

/* Outer frames that returned from catches go on and return themselves. */
static int catch_on_the_way(int depth)
{
	guard local(48);
	int sum;

	if (depth == 0)
		return 1;
	sum = catch_on_the_way(depth - 1);
	try {
		descend(0, depth % 13);
	} catch (const failure &f) {
		sum += f.depth;
	}
	return sum + 1;
}

static void everything(int frames_max)
{
	for (int frames = 1; frames <= frames_max; frames++)
		across(frames);
	for (int i = 0; i < 20; i++) {
		in_destructors(i, i % 4);
		rethrown(i, i % 3);
		carried(i);
		expect(function_block(i + 3) == 8 + i);
	}
	partly_built(20);
	tgt_print("on_the_way", catch_on_the_way(150));
}

int main(int argc, char **argv)
{
	for (int round = 0; round < 2; round++)
		everything(argc > 1 ? atoi(argv[1]) : 200);
	tgt_print("caught", caught);
	tgt_print("wrong", wrong);
	tgt_print("thrown_alive", thrown_made - thrown_gone);
	tgt_print("guards_alive", guards_made - guards_gone);
	tgt_print("parts_alive", parts_made - parts_gone);
	tgt_print("thrown", thrown_made);
	tgt_print("guards", guards_made);
	tgt_print("parts", parts_made);
	tgt_report();
	return wrong || thrown_made != thrown_gone ||
	       guards_made != guards_gone || parts_made != parts_gone;
}
