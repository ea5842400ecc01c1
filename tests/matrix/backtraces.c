// FLAGS: -rdynamic -fexceptions -ldl -D_GNU_SOURCE
/*
 * backtraces.c: a program that looks at its own stack while it allocates at
 * all depths: by backtrace(), _Unwind_Backtrace, __builtin_return_address(0)
 * and (1), from inside, after returns, from a signal handler. All frames must
 * be found to the outermost, the same ones in the same order with the same
 * canonical frame addresses (in whole words); only frames of the profiler's own library may
 * lie between, and are left out here.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <unwind.h>

#include "deep.h"

#define FRAMES 400

static uint64_t checksum, frames_seen, walks;
static const char *own_library;

static int is_ours(void *address)
{
	Dl_info where;

	return dladdr(address, &where) && where.dli_fname &&
	       strstr(where.dli_fname, "libgnomon");
}

static void add(const char *text)
{
	for (; *text; text++)
		checksum = (checksum ^ (unsigned char)*text) * 1099511628211u;
	frames_seen++;
}

/* By name, and by place in the function where it is one of this file's. */
static void add_frame(void *address)
{
	char *pc = (char *)address - 1;
	Dl_info where;

	if (is_ours(pc))
		return;
	if (!dladdr(pc, &where)) {
		add("?");
		return;
	}
	add(where.dli_sname ? where.dli_sname : where.dli_fname);
	if (where.dli_fname == own_library)
		checksum += (uint64_t)(pc - (char *)where.dli_fbase);
}

static long by_backtrace(void *argument)
{
	void *frames[FRAMES];
	int count = backtrace(frames, FRAMES);

	(void)argument;
	walks++;
	for (int i = 0; i < count; i++)
		add_frame(frames[i]);
	return 0;
}

static uintptr_t main_frame;

/* Unwinders by .ARM.exidx know the CFA of forced steps alone. */
#ifdef __ARM_EABI_UNWINDER__
#define STACK_POINTER(context) _Unwind_GetGR(context, UNWIND_STACK_REG)
#else
#define STACK_POINTER(context) _Unwind_GetCFA(context)
#endif

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *last)
{
	uintptr_t cfa = STACK_POINTER(context);
	void *pc = (void *)_Unwind_GetIP(context);

	if (is_ours((char *)pc - 1))
		return _URC_NO_REASON;
	add_frame(pc);
	/* a stub lies between two frames, and takes a byte for itself */
	cfa &= ~(uintptr_t)7;
	/* outward all the time, by the same distances as ever */
	if (cfa < *(uintptr_t *)last)
		add("not outward");
	*(uintptr_t *)last = cfa;
	if (cfa < main_frame)
		checksum = checksum * 31 + (main_frame - cfa);
	return _URC_NO_REASON;
}

static long by_unwind(void *argument)
{
	uintptr_t last = 0;

	(void)argument;
	walks++;
	_Unwind_Backtrace(step, &last);
	return 0;
}

/* (0) is the caller's own business: exact. (1) goes by the frame pointer,
 * so through functions that have one. */
static __attribute__((noinline, optimize("no-omit-frame-pointer"))) void
return_addresses(void)
{
	void *block = tgt_malloc(44);

	add_frame(__builtin_return_address(0));
	walks++;
	tgt_free(block, 44);
}

static __attribute__((noinline, optimize("no-omit-frame-pointer"))) long
by_builtin(void *argument)
{
	(void)argument;
	return_addresses();
	return_addresses();
	return 0;
}

static void handler(int number)
{
	(void)number;
	by_unwind(NULL);
	by_backtrace(NULL);
}

static long by_signal(void *argument)
{
	(void)argument;
	raise(SIGUSR1);
	return 0;
}

/* Looks on the way in and out too, when barriers inside have been met. */
static long look(int depth)
{
	void *block = tgt_malloc(30 + depth);
	long answer = 0;

	if (depth % 8 == 5)
		by_backtrace(NULL);
	if (depth)
		answer = look(depth - 1) + 1;
	if (depth % 8 == 2)
		by_unwind(NULL);
	if (depth % 8 == 3)
		by_builtin(NULL);
	tgt_free(block, 30 + depth);
	return answer;
}

int main(void)
{
	static const deep_bottom all[] = { by_backtrace, by_unwind, by_builtin,
					   by_signal };
	uintptr_t own_frame = (uintptr_t)__builtin_frame_address(0);
	volatile char *moved = __builtin_alloca(own_frame % 64 + 64);
	Dl_info own;
	long wrong = 0;

	/* the kernel aligns what it puts on the stack for a signal */
	main_frame = own_frame - own_frame % 64;
	*moved = 0;
	dladdr((void *)main, &own);
	own_library = own.dli_fname;
	signal(SIGUSR1, handler);
	for (int depth = 0; depth < 120; depth += 3) {
		for (int i = 0; i < 4; i++) {
			wrong += deep(depth, all[i], NULL) != depth;
			wrong += deep_wide(depth, all[i], NULL) != depth;
		}
		wrong += look(depth) != depth;
	}
	tgt_print("walks", walks);
	tgt_print("frames", frames_seen);
	tgt_print("checksum", checksum);
	tgt_print("wrong", (uint64_t)wrong);
	tgt_report();
	return wrong != 0;
}
