// FLAGS: -Wl,--no-as-needed -lunwind
/*
 * lang_unwind_nongnu.cc: a program that is linked with nongnu libunwind in
 * front of libgcc, so that it is the unwinder of its exceptions; it cannot
 * pass a return address that was replaced. Exceptions are thrown across 1 to
 * 100 frames that allocate, rethrown, and caught in destructors that another
 * one runs; and the library's own ways of walking are taken at every depth,
 * which must find each frame up to main.
 *
 * lang_unwind_llvm.cc is the same with LLVM's libunwind, whose header cannot
 * be installed beside the other's: declared here, with room for the types of
 * any version.
 */
#ifdef LLVM_UNWIND
#include <stdint.h>

struct unw_context_t { uint64_t word[512]; };
struct unw_cursor_t { uint64_t word[512]; };
typedef uint64_t unw_word_t;
enum { UNW_REG_IP = -1 };

extern "C" {
int unw_getcontext(unw_context_t *context);
int unw_init_local(unw_cursor_t *cursor, unw_context_t *context);
int unw_step(unw_cursor_t *cursor);
int unw_get_reg(unw_cursor_t *cursor, int number, unw_word_t *value);
}
#else
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#define WALK_FAST unw_backtrace
#endif

#include <dlfcn.h>
#include <unwind.h>

#include "tgt.h"

#define DEEPEST 100
#define FRAMES_MAX 400

static uint64_t thrown_made, thrown_gone, guards_made, guards_gone, caught;
static uint64_t steps_short, traced, traces_short;

struct failure {
	int depth;
	explicit failure(int d) : depth(d) { TGT_ADD(thrown_made, 1); }
	failure(const failure &o) : depth(o.depth) { TGT_ADD(thrown_made, 1); }
	virtual ~failure() { TGT_ADD(thrown_gone, 1); }
};

struct guard {
	void *block;
	guard() : block(tgt_malloc(40)) { TGT_ADD(guards_made, 1); }
	~guard()
	{
		tgt_free(tgt_malloc(48), 48);
		tgt_free(block, 40);
		TGT_ADD(guards_gone, 1);
	}
};

/* What a walk saw: the frames of descend, and whether main came behind. */
struct seen {
	int descents, after;
};

extern "C" int descend(int depth, int bottom, int what);
int main(int argc, char **argv);

static void see(struct seen *seen, uintptr_t ip)
{
	uintptr_t start = (uintptr_t)_Unwind_FindEnclosingFunction((void *)ip);

	if (start == (uintptr_t)descend)
		seen->descents++;
	if (start == (uintptr_t)main)
		seen->after = seen->descents;
}

static bool is_whole(const struct seen *seen, int depth)
{
	return seen->descents == depth && seen->after == depth;
}

static void walk_by_steps(int depth)
{
	struct seen seen = {};
	unw_context_t context;
	unw_cursor_t cursor;
	unw_word_t ip;

	unw_getcontext(&context);
	if (unw_init_local(&cursor, &context))
		abort();
	do {
		if (unw_get_reg(&cursor, UNW_REG_IP, &ip))
			abort();
		see(&seen, ip - 1);
	} while (unw_step(&cursor) > 0);
	steps_short += !is_whole(&seen, depth);
}

static _Unwind_Reason_Code one_frame(struct _Unwind_Context *context, void *arg)
{
	see((struct seen *)arg, _Unwind_GetIP(context) - 1);
	return _URC_NO_REASON;
}

static void walk_at_once(int depth)
{
	struct seen seen = {};

	_Unwind_Backtrace(one_frame, &seen);
	traced++;
	traces_short += !is_whole(&seen, depth);
#ifdef WALK_FAST
	void *address[FRAMES_MAX];
	int n = WALK_FAST(address, FRAMES_MAX);

	seen = {};
	for (int i = 0; i < n; i++)
		see(&seen, (uintptr_t)address[i] - 1);
	traced++;
	traces_short += !is_whole(&seen, depth);
#endif
}

enum { THROW, RETHROW, WALK };

extern "C" __attribute__((noinline)) int descend(int depth, int bottom,
						 int what)
{
	guard local;
	int below;

	if (depth == bottom) {
		if (what != WALK)
			throw failure(depth);
		walk_by_steps(depth);
		walk_at_once(depth);
		return 0;
	}
	if (what == RETHROW && depth % 10 == 5) {
		try {
			below = descend(depth + 1, bottom, what);
		} catch (failure &) {
			tgt_free(tgt_malloc(100), 100);
			throw;
		}
	} else {
		below = descend(depth + 1, bottom, what);
	}
	tgt_free(tgt_malloc(24), 24);
	return below + 1;
}

/* Throws and catches when it goes, also while another is under way. */
struct nester {
	~nester()
	{
		guard local;
		try {
			descend(1, 7, THROW);
		} catch (failure &) {
			caught++;
		}
	}
};

static void all(void)
{
	for (int depth = 1; depth <= DEEPEST; depth++) {
		descend(1, depth, WALK);
		for (int what = THROW; what <= RETHROW; what++) {
			try {
				nester inside;
				descend(1, depth, what);
			} catch (const failure &f) {
				caught += f.depth == depth;
			}
		}
		descend(1, depth, WALK);
	}
}

/* The name of the library that throws, without its directory. */
static void print_unwinder(void)
{
	Dl_info info;
	void *f = dlsym(RTLD_DEFAULT, "_Unwind_RaiseException");
	const char *name;

	if (!f || !dladdr(f, &info))
		abort();
	name = strrchr(info.dli_fname, '/');
	tgt_write(name ? name + 1 : info.dli_fname);
	tgt_write("\n");
}

int main(int, char **)
{
	print_unwinder();
	all();
	tgt_print("thrown_made", thrown_made);
	tgt_print("thrown_gone", thrown_gone);
	tgt_print("guards_made", guards_made);
	tgt_print("guards_gone", guards_gone);
	tgt_print("caught", caught);
	tgt_print("steps_short", steps_short);
	tgt_print("traced", traced);
	tgt_print("traces_short", traces_short);
	tgt_report();
	return 0;
}
