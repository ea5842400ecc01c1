/*
 * throwing.cc: the header in C++, and captures before, during and after an
 * exception's way through the frames that were captured. Argument: the mode.
 */
#include "probe.h"

static int destroyed;

struct Guard {
	~Guard()
	{
		destroyed++;
		probe_here();
	}
};

NOINLINE static void down(unsigned n)
{
	Guard guard;

	probe_here();
	if (n == 0)
		throw 42;
	down(n - 1);
	STAY();
}

NOINLINE static void catching(unsigned n)
{
	try {
		down(n);
	} catch (int value) {
		CHECK(value == 42);
		probe_here();
	}
	STAY();
}

NOINLINE static void deep(unsigned n, unsigned frames)
{
	if (n == 0)
		catching(frames);
	else
		deep(n - 1, frames);
	probe_here();
}

int main(int argc, char **argv)
{
	struct gu_options options = {};
	int i;

	CHECK(argc == 2);
	options.mode = (uint32_t)atoi(argv[1]);
	CHECK(gu_init(&options) == 0);
	for (i = 0; i < 40; i++) {
		destroyed = 0;
		deep(i % 50, 40);
		CHECK(destroyed == 41);
	}
	return 0;
}
