/*
 * throws_late.cc: throws across frames of which nothing was captured before:
 * only while they are being unwound do their destructors allocate, so that
 * whatever is put into the stack is put there between the search for the
 * handler and its entry. With the handler 1 to 40 frames outward, behind
 * frames with and without destructors, in nested exceptions, thrown on, and
 * for a noexcept function's sake caught just before it.
 */
#include "deep.h"

static uint64_t made, gone, guards_made, guards_gone, caught, wrong;

struct failure {
	int depth;
	explicit failure(int d) : depth(d) { made++; }
	failure(const failure &o) : depth(o.depth) { made++; }
	~failure() { gone++; }
};

/* Allocates only when it goes, from `frames` further in. */
struct late {
	int frames;
	explicit late(int n) : frames(n) { guards_made++; }
	~late()
	{
		guards_gone++;
		if (frames < 0)
			tgt_free(tgt_malloc(20), 20);
		else
			deep(frames, deep_nothing, nullptr);
	}
};

static volatile int zero;

static int plain(int depth, int bottom);

static int guarded(int depth, int bottom)
{
	late object(depth % 5 - 1);

	if (depth == bottom)
		throw failure(depth);
	return plain(depth + 1, bottom) + zero;
}

static int plain(int depth, int bottom)
{
	if (depth == bottom)
		throw failure(depth);
	if (depth % 3)
		return plain(depth + 1, bottom) + 1;
	return guarded(depth + 1, bottom) + 1;
}

static void catches(int from, int bottom)
{
	int at = -1;

	try {
		if (from % 2)
			plain(from, bottom);
		else
			guarded(from, bottom);
	} catch (const failure &f) {
		at = f.depth;
	}
	caught++;
	wrong += at != bottom;
}

/* An exception in a destructor that runs because of another. */
struct throwing {
	~throwing() { catches(0, 7); }
};

static int behind_nested(int bottom)
{
	throwing object;

	return guarded(0, bottom) + zero;
}

static int thrown_on(int depth, int bottom)
{
	late object(1);

	try {
		if (depth == 0)
			return guarded(0, bottom);
		return thrown_on(depth - 1, bottom) + zero;
	} catch (...) {
		if (depth % 2)
			tgt_free(tgt_malloc(33), 33);
		throw;
	}
}

static void no_throw(int bottom) noexcept
{
	late object(2);

	catches(1, bottom);
}

template <typename F> static void expect(int bottom, F f)
{
	int at = -1;

	try {
		f();
	} catch (const failure &failure) {
		at = failure.depth;
	}
	caught++;
	wrong += at != bottom;
}

/* Nothing here allocates before an exception is thrown. */
static long all(void *)
{
	for (int bottom = 1; bottom <= 40; bottom++) {
		catches(0, bottom);
		catches(1, bottom);
		expect(bottom, [=] { behind_nested(bottom); });
		expect(bottom, [=] { thrown_on(bottom % 6, bottom); });
		no_throw(bottom);
	}
	return 0;
}

int main()
{
	all(nullptr);
	for (int depth = 0; depth < 60; depth += 7)
		wrong += deep(depth, all, nullptr) != depth;
	tgt_print("caught", caught);
	tgt_print("wrong", wrong);
	tgt_print("exceptions_alive", made - gone);
	tgt_print("guards_alive", guards_made - guards_gone);
	tgt_report();
	return wrong || made != gone || guards_made != guards_gone;
}
