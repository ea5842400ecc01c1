/*
 * throw_cost.cc: the cost of a C++ throw, from the throw to the catch and the
 * calls down to the next one. Prints one row as JSON. LD_PRELOAD adds a
 * profiler.
 *
 *	bench-throw THROWS same|new
 *
 *	main, libc's				 3
 *	frame<0> … frame<7>, in turns		30, never left
 *	throw_loop, throw_batch			 2
 *	throw_once, which catches		 1
 *	frame<0> … frame<7>			20, half of them with a destructor
 *	throw_it				 1
 *
 * The 20 frames are the same for each throw, or drawn anew, so that complete
 * stacks repeat only after CYCLE throws, more than a cache of them holds. The
 * draw is the same in every run.
 *
 * The C++ library allocates the exception object, so each throw is one malloc
 * and one free for a profiler, at the throw's full depth: a profiler that
 * replaces return addresses has done so when the search for a handler starts.
 *
 * I1  Every destructor of every throw runs; the count is checked.
 */
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

enum { OUTER = 30, INNER = 20, BATCH = 16, CYCLE = 8192, SEED = 1 };

struct Thrown {
	unsigned number;
};

struct Work {
	unsigned long throws;
	unsigned long built, destroyed, caught;
	std::uint64_t random;
	bool draws;
	std::vector<std::uint64_t> batch_ns;
	void (*bottom)(Work &work);
};

/* What a frame has to clean up. */
struct Guard {
	Work &work;
	explicit Guard(Work &of) : work(of) { work.built++; }
	~Guard() { work.destroyed++; }
};

typedef void Function(Work &work, unsigned left);
extern Function *const functions[8];

/* Knuth's MMIX generator, whose high bits are good. */
inline unsigned next_function(Work &work, unsigned number)
{
	if (!work.draws)
		return (number + 1) & 7;
	work.random = work.random * UINT64_C(6364136223846793005) +
		      UINT64_C(1442695040888963407);
	return unsigned(work.random >> 40) & 7;
}

inline __attribute__((always_inline)) void
frame_call(Work &work, unsigned number, unsigned left)
{
	if (left == 1)
		work.bottom(work);
	else
		functions[next_function(work, number)](work, left - 1);
}

/* Frames of many sizes; what follows the call keeps the function apart from
 * the others and on the stack. */
template <unsigned N>
__attribute__((noinline)) void frame(Work &work, unsigned left)
{
	volatile char pad[16 + N * 7 % 5 * 40];

	pad[0] = N;
	if (N & 1) {
		Guard guard(work);

		frame_call(work, N, left);
	} else {
		frame_call(work, N, left);
	}
	work.caught += pad[0] != N;
}

Function *const functions[8] = {
	frame<0>, frame<1>, frame<2>, frame<3>,
	frame<4>, frame<5>, frame<6>, frame<7>,
};

__attribute__((noinline)) void throw_it(Work &work)
{
	throw Thrown{ unsigned(work.caught) };
}

__attribute__((noinline)) void throw_once(Work &work)
{
	try {
		functions[0](work, INNER);
	} catch (const Thrown &thrown) {
		work.caught += thrown.number == unsigned(work.caught);
	}
}

void throw_batch(Work &work)
{
	auto start = std::chrono::steady_clock::now();

	for (int i = 0; i < BATCH; i++)
		throw_once(work);
	work.batch_ns.push_back(std::uint64_t(
		std::chrono::nanoseconds(std::chrono::steady_clock::now() -
					 start).count()));
}

void throw_loop(Work &work)
{
	work.bottom = throw_it;
	work.draws = work.random == SEED;
	for (int i = 0; i < CYCLE; i++)
		throw_once(work);
	work.caught = 0;
	for (unsigned long i = 0; i < work.throws / BATCH; i++) {
		if (i % (CYCLE / BATCH) == 0)
			work.random = SEED;
		throw_batch(work);
	}
	work.draws = false;
}

} // namespace

int main(int argc, char **argv)
{
	Work work = {};
	unsigned long batches;

	work.throws = argc == 3 ? std::strtoul(argv[1], nullptr, 10) : 0;
	work.random = argc == 3 && !std::strcmp(argv[2], "new") ? SEED : 0;
	batches = work.throws / BATCH;
	if (batches == 0) {
		std::fprintf(stderr, "usage: bench-throw THROWS same|new\n");
		return 2;
	}
	work.batch_ns.reserve(batches);
	work.bottom = throw_loop;
	functions[0](work, OUTER);
	if (work.caught != batches * BATCH || work.destroyed != work.built) {
		std::fprintf(stderr, "bench: %lu caught, %lu of %lu destroyed\n",
			     work.caught, work.destroyed, work.built);
		return 1;	/* I1 */
	}
	std::sort(work.batch_ns.begin(), work.batch_ns.end());
	std::printf("{\"throws\":%lu,\"warm_up\":%d,\"frames\":%d,"
		    "\"cleanups\":%lu,\"ns\":%.1f}\n",
		    batches * BATCH, CYCLE, INNER, work.built,
		    double(work.batch_ns[batches / 2]) / BATCH);
	return 0;
}
