// FLAGS: -rdynamic -pthread -ldl
/*
 * terminate.cc HOW: ends in std::terminate, whose handler prints the stack
 * that it sees by backtrace(): the frames of the throw must be there, as many
 * and the same ones as without a profiler. HOW: noexcept, uncaught,
 * destructor (throws while unwinding), thread, forgotten (a joinable thread
 * object dies).
 *
 * Frames of the profiler's own library do not count.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <exception>
#include <thread>

#include "tgt.h"

static uint64_t gone;

struct guard {
	void *block = tgt_malloc(40);
	~guard()
	{
		tgt_free(block, 40);
		gone++;
	}
};

struct bomb {
	~bomb() noexcept(false) { throw 2; }
};

extern "C" {
__attribute__((noinline)) int plain_frames(int depth)
{
	void *block = tgt_malloc(16 + depth);

	if (depth == 0)
		throw 1;
	return plain_frames(depth - 1) + (block != nullptr);
}

__attribute__((noinline)) int guarded_frames(int depth)
{
	guard local;

	if (depth == 0)
		return plain_frames(12);
	return guarded_frames(depth - 1) + 1;
}

__attribute__((noinline)) int no_throw_frame(bool guarded) noexcept
{
	tgt_free(tgt_malloc(10), 10);
	return (guarded ? guarded_frames(7) : plain_frames(60)) + 1;
}

__attribute__((noinline)) int throws_twice(void)
{
	bomb object;

	tgt_free(tgt_malloc(10), 10);
	return plain_frames(9) + 1;
}

__attribute__((noinline)) int outer_frames(int depth, const char *how)
{
	void *block = tgt_malloc(24);
	int answer;

	if (depth > 0)
		answer = outer_frames(depth - 1, how) + 1;
	else if (!strcmp(how, "noexcept"))
		answer = no_throw_frame(false);
	else if (!strcmp(how, "guarded"))
		answer = no_throw_frame(true);
	else if (!strcmp(how, "destructor"))
		answer = throws_twice();
	else
		answer = plain_frames(70);
	tgt_free(block, 24);
	return answer;
}
}

static void print_frame(void *address)
{
	const char *name = "?";
	Dl_info where;

	if (dladdr((char *)address - 1, &where)) {
		if (strstr(where.dli_fname, "libgnomon"))
			return;
		name = where.dli_sname ? where.dli_sname : where.dli_fname;
	}
	tgt_write(name);
	tgt_write("\n");
}

static void handler()
{
	void *frames[400];
	int count = backtrace(frames, 400);

	tgt_free(tgt_malloc(99), 99);
	for (int i = 0; i < count; i++)
		print_frame(frames[i]);
	tgt_print("gone", gone);
	tgt_report();
	abort();
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "noexcept";
	void *first[4];

	backtrace(first, 4);
	std::set_terminate(handler);
	if (!strcmp(how, "thread"))
		std::thread([how] { outer_frames(20, how); }).join();
	if (!strcmp(how, "forgotten")) {
		std::thread kept([] { pause(); });
	}
	return outer_frames(40, how);
}
