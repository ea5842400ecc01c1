// FLAGS: -pthread
/*
 * exceptions.cc [ROUNDS]: throws across 1 to 200 frames, each with an object to
 * destroy and an allocation; catches, rethrows, throws while a destructor runs,
 * and passes an exception to another thread.
 */
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

#include "tgt.h"

static uint64_t made, destroyed;

struct guard {
	void *block;
	size_t size;
	explicit guard(size_t n) : block(tgt_malloc(n)), size(n) { made++; }
	~guard()
	{
		destroyed++;
		tgt_free(block, size);
	}
};

static int descend(int depth)
{
	guard local(16 + depth);

	if (depth == 0)
		throw std::runtime_error("bottom");
	return descend(depth - 1) + 1;
}

static void across(int frames)
{
	bool caught = false;

	try {
		descend(frames);
	} catch (const std::runtime_error &error) {
		guard in_handler(100);
		caught = std::string(error.what()) == "bottom";
	}
	if (!caught)
		abort();
}

static int rethrow(int frames)
{
	try {
		try {
			descend(frames);
		} catch (...) {
			guard in_handler(200);
			throw;
		}
	} catch (const std::exception &) {
		return 1;
	}
	return 0;
}

/* A destructor that itself throws and catches, while unwinding. */
struct nested {
	~nested() { across(5); }
};

static void unwind_through_nested()
{
	try {
		nested object;
		descend(10);
	} catch (const std::exception &) {
		guard in_handler(300);
	}
}

static void to_other_thread()
{
	std::exception_ptr carried;

	try {
		descend(3);
	} catch (...) {
		carried = std::current_exception();
	}
	std::thread([carried] {
		try {
			std::rethrow_exception(carried);
		} catch (const std::exception &) {
			guard in_handler(400);
		}
	}).join();
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 5;

	for (int round = 0; round < rounds; round++)
		for (int frames = 1; frames <= 200; frames++)
			across(frames);
	for (int i = 0; i < 20 * rounds; i++) {
		rethrow(i);
		unwind_through_nested();
		to_other_thread();
	}
	tgt_print("made", made);
	tgt_print("destroyed", destroyed);
	tgt_report();
	return made == destroyed ? 0 : 1;
}
