/*
 * test_capture.c: captured stacks against libgcc's _Unwind_Backtrace, in all
 * tiers, over kinds of frames, foreign stacks, signal frames and threads.
 */
// FLAGS: -O2 -fomit-frame-pointer
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>
#include <unwind.h>
#include <cmocka.h>

#include "tests/unit/test_unwinder.h"
#include "unwind/barrier.h"
#include "unwind/base/context.h"
#include "unwind/stack.h"
#include "unwind/walk.h"

#define DEPTH_MAX 4096
#define BARRIER() __asm__ volatile("" ::: "memory")

static __thread struct capture_thread *self;
static __thread uint32_t last;
static __thread volatile unsigned checks;

struct reference {
	uintptr_t address[DEPTH_MAX];
	unsigned n;
};

static _Unwind_Reason_Code collect(struct _Unwind_Context *c, void *data)
{
	struct reference *r = data;
	int before = 0;
	uintptr_t ip = _Unwind_GetIPInfo(c, &before);

	/* a barrier's stub is no frame of the program */
	if (r->n < DEPTH_MAX && ip && !barrier_in_stubs(ip))
		r->address[r->n++] = ip + (before ? 1 : 0);
	return _URC_NO_REASON;
}

static __thread unsigned plain_walks;

/* Addresses alone, of the caller: where they are given, they are the same. */
static __attribute__((noinline, optimize("no-omit-frame-pointer"))) void
check_addresses(const uintptr_t *outer, unsigned n)
{
	static __thread uintptr_t got[DEPTH_MAX];
	const struct walk_start start = {
		(uintptr_t)__builtin_return_address(0),
		(uintptr_t)__builtin_dwarf_cfa(),
		*(uintptr_t *)__builtin_frame_address(0), self->hi
	};
	struct context_sum sum = context_sum_start();
	enum gt_stop stop;
	uint64_t hash;
	uint32_t count, i;

	if (start.sp < self->lo || start.sp >= self->hi)
		return;
	count = walk_addresses(&start, got, DEPTH_MAX, &stop, &hash);
	if (count == 0)
		return;
	plain_walks++;
	assert_int_equal(stop, GT_STOP_BOTTOM);
	assert_int_equal(count, n + 1);
	assert_memory_equal(got + 1, outer, n * sizeof(*got));
	for (i = 0; i < count; i++)
		context_sum_add(&sum, got[i]);
	assert_true(context_sum_end(&sum, stop) == hash);
	assert_int_equal(walk_addresses(&start, got, n, &stop, &hash), n);
	assert_int_equal(stop, GT_STOP_TOO_DEEP);
	BARRIER();
}

/* The stack outward of this function's caller, both ways. */
static __attribute__((noinline)) void check(void)
{
	static __thread struct reference ref;
	static __thread uintptr_t got[DEPTH_MAX];
	uint32_t stop;
	unsigned n, skip = 0;

	last = test_unwinder_hook(self);
	ref.n = 0;
	_Unwind_Backtrace(collect, &ref);
	n = test_unwinder_expand(last, got, DEPTH_MAX, &stop);
	assert_int_equal(stop, GT_STOP_BOTTOM);
	/* The innermost differs: two calls in this function. */
	while (skip < ref.n && ref.n - skip > n)
		skip++;
	assert_int_equal(ref.n - skip, n);
	assert_true(n > 2);
	assert_memory_equal(got + 1, ref.address + skip + 1,
			    (n - 1) * sizeof(*got));
	check_addresses(got + 1, n - 1);
	checks++;
	BARRIER();
}

/*
 * Frames that end where fp says: the same slots and return addresses inward
 * of a frame whose base is elsewhere. `shifted` makes its own frame as long
 * as it must be for that, with callees that leave fp alone or save it.
 */
static uintptr_t shift_to;

static __attribute__((noinline)) void keeps_fp(void)
{
	check();
	BARRIER();
}

static __attribute__((noinline, optimize("no-omit-frame-pointer"))) void
saves_fp(void)
{
	check();
	BARRIER();
}

static __attribute__((noinline)) void shifted(void (*inner)(void))
{
	uintptr_t sp;
	volatile char *p;

	__asm__ volatile("mov %%rsp, %0" : "=r"(sp));
	p = __builtin_alloca((sp - shift_to) & ~(uintptr_t)15);
	p[0] = 1;
	inner();
	BARRIER();
}

static __attribute__((noinline)) void wrapped(void (*inner)(void))
{
	volatile char pad[112] __attribute__((unused));

	pad[0] = 1;
	shifted(inner);
	BARRIER();
}

static __attribute__((noinline)) void wrapped_twice(void (*inner)(void))
{
	wrapped(inner);
	BARRIER();
}

/*
 * A frame whose table says that fp was saved in its callee's frame: right, but
 * the words that the walk reads do not lie in the order of the frames.
 */
void saved_inward(void);
static void check_inward(void) __attribute__((used));
__asm__(".text\n"
	"saved_inward:\n"
	"	.cfi_startproc\n"
	"	sub $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_offset %rbp, -32\n"
	"	call saves_for_another\n"
	"	add $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"saves_for_another:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call check_inward\n"
	"	pop %rbp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n");

static void check_inward(void)
{
	check();
	BARRIER();
}

static __attribute__((noinline, optimize("no-omit-frame-pointer"))) void
by_fp(void)
{
	volatile unsigned size = 64;
	volatile char *room = __builtin_alloca(size);

	room[0] = 1;
	saved_inward();
	BARRIER();
}

static uint32_t state = 1;

static unsigned draw(unsigned n)
{
	state = state * 1664525 + 1013904223;
	return (state >> 8) % n;
}

static void tree(unsigned depth);

static __attribute__((noinline)) void plain_frame(unsigned depth)
{
	tree(depth);
	BARRIER();
}

static __attribute__((noinline)) void alloca_frame(unsigned depth)
{
	volatile char *p = __builtin_alloca(16 + draw(200));

	p[0] = 1;
	tree(depth);
	BARRIER();
}

static __attribute__((noinline)) void aligned_frame(unsigned depth)
{
	volatile char big[64] __attribute__((aligned(64), unused));
	volatile char *p = __builtin_alloca(16 + draw(50));

	big[0] = 1;
	p[0] = 2;
	tree(depth);
	BARRIER();
}

static __attribute__((noinline, optimize("no-omit-frame-pointer"))) void
fp_frame(unsigned depth)
{
	tree(depth);
	BARRIER();
}

static __attribute__((noinline)) void large_frame(unsigned depth)
{
	volatile char big[3000] __attribute__((unused));

	big[0] = 1;
	tree(depth);
	BARRIER();
}

static __attribute__((noinline)) void tree(unsigned depth)
{
	unsigned i, calls = depth ? 1 + draw(3) : 1;

	for (i = 0; i < calls; i++) {
		if (!depth || draw(4) == 0)
			check();
		if (!depth)
			continue;
		switch (draw(5)) {
		case 0:
			plain_frame(depth - 1);
			break;
		case 1:
			alloca_frame(depth - 1);
			break;
		case 2:
			aligned_frame(depth - 1);
			break;
		case 3:
			fp_frame(depth - 1);
			break;
		default:
			large_frame(depth - 1);
		}
	}
	BARRIER();
}

/*
 * A deep stack whose inner part comes and goes: `sway.back_to` frames stay,
 * the rest is entered anew through frames of other sizes, so that slots,
 * barriers and remnants of both fall on and beside each other.
 */
static struct {
	unsigned levels, back_to, left;
} sway;

static void sway_on(unsigned level);

#define SWAY(name, bytes)                                                   \
	static __attribute__((noinline)) void name(unsigned level)          \
	{                                                                   \
		volatile char pad[bytes] __attribute__((unused));           \
                                                                            \
		pad[0] = 1;                                                 \
		sway_on(level);                                             \
		pad[0] = 2;                                                 \
	}
SWAY(sway_small, 16)
SWAY(sway_middle, 48)
SWAY(sway_large, 112)
SWAY(sway_odd, 80)

static __attribute__((noinline)) void sway_on(unsigned level)
{
	static void (*const frames[])(unsigned) = { sway_small, sway_middle,
						    sway_large, sway_odd };

	do {
		if (level < sway.levels) {
			frames[draw(4)](level + 1);
			continue;
		}
		check();
		if (--sway.left == 0)
			sway.back_to = 0;
		else
			sway.back_to = sway.levels - 1 - draw(draw(8) ? 12 : 200);
	} while (sway.back_to >= level);
	BARRIER();
}

static void start(enum capture_mode mode, bool is_main)
{
	assert_int_equal(test_unwinder_init(mode, 1), 0);
	self = capture_thread_new(is_main, NULL);
	assert_non_null(self);
	checks = 0;
}

static void oracle_agrees(void)
{
	const struct capture_counts *c =
		&capture_thread_report(self)->counts;

	assert_true(c->oracle_checks > 0);
	assert_int_equal(c->oracle_differences, 0);
}

/* All of the first 32768 frames, and a fifth of the stacks behind them. */
static void test_oracle_takes_part(void **unused)
{
	const struct capture_counts *c;

	(void)unused;
	assert_int_equal(test_unwinder_init(CAPTURE_VALIDATE, 5), 0);
	self = capture_thread_new(true, NULL);
	assert_non_null(self);
	c = &capture_thread_report(self)->counts;
	state = 7;
	checks = 0;
	while (checks < 500)
		tree(8);
	assert_int_equal(c->oracle_checks, checks);
	while (checks < 20000)
		tree(8);
	oracle_agrees();
	assert_in_range(c->oracle_checks, 32768 / 40 + 3000, checks / 2);
}

static void test_tree(void **unused)
{
	enum capture_mode mode;

	(void)unused;
	for (mode = CAPTURE_AUTO; mode <= CAPTURE_OFF; mode++) {
		start(mode, true);
		state = 7;
		plain_walks = 0;
		while (checks < 3000)
			tree(8);
		assert_true(plain_walks > 100);
		oracle_agrees();
		if (mode == CAPTURE_AUTO) {
			assert_true(capture_thread_report(self)->counts.tier_join >
				    1000);
		} else if (mode == CAPTURE_OFF) {
			assert_int_equal(capture_thread_report(self)->counts.tier_join,
					 0);
		}
	}
}

static void test_frame_pointers(void **unused)
{
	/* From one place, so that the return address in the outermost slot
	 * is the same too: only fp tells the stacks apart. */
	void (*const volatile road[])(void (*)(void)) = { shifted, wrapped,
							  wrapped_twice };
	int i;

	(void)unused;
	start(CAPTURE_AUTO, true);
	shift_to = ((uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)15) -
		   2048;
	for (i = 0; i < 120; i++)
		road[i / 2 % 3](i % 2 ? keeps_fp : saves_fp);
	oracle_agrees();
}

static __attribute__((noinline)) void check_here(void)
{
	check();
	BARRIER();
}

static void test_saved_inward(void **unused)
{
	unsigned i;

	(void)unused;
	for (i = CAPTURE_AUTO; i <= CAPTURE_OFF; i++) {
		start(i, true);
		by_fp();
		by_fp();
		oracle_agrees();
	}
}

static void test_repeats(void **unused)
{
	static uint32_t got[1000];
	uint32_t i;

	(void)unused;
	start(CAPTURE_AUTO, true);
	for (i = 0; i < 1000; i++) {
		check_here();
		got[i] = last;
	}
	for (i = 3; i < 1000; i++)
		assert_int_equal(got[i], got[2]);
	/* One full walk, one join; then the path cache answers. */
	assert_true(capture_thread_report(self)->counts.tier_full +
			    capture_thread_report(self)->counts.tier_join < 5);
	oracle_agrees();
}

static __attribute__((noinline)) void recurse(unsigned n)
{
	if (n)
		recurse(n - 1);
	else
		check();
	BARRIER();
}

static void test_deep(void **unused)
{
	unsigned n;

	(void)unused;
	start(CAPTURE_AUTO, true);
	for (n = 0; n < 3000; n += 37)
		recurse(n);
	for (n = 3000; n > 40; n -= 37)
		recurse(n);
	oracle_agrees();
}

static void *no_memory(size_t size)
{
	(void)size;
	return NULL;
}

static __attribute__((noinline)) void recurse_cut(unsigned n)
{
	static uintptr_t got[DEPTH_MAX];
	uint32_t stop;

	if (n) {
		recurse_cut(n - 1);
	} else {
		assert_in_range(test_unwinder_expand(test_unwinder_hook(self),
						     got, DEPTH_MAX, &stop),
				300, 900);
		assert_int_equal(stop, GT_STOP_NO_MEMORY);
	}
	BARRIER();
}

/* The thread's frames are as many as at its start: what is deeper is walked by
 * the slower way, which has room for more of them; then the reason is said. */
static void test_no_memory(void **unused)
{
	unsigned n;

	(void)unused;
	start(CAPTURE_VALIDATE, true);
	check_here();	/* the tables of the images on this stack */
	unwind_alloc = no_memory;
	for (n = 0; n < 300; n += 7)
		recurse(n);
	for (n = 300; n > 7; n -= 7)
		recurse(n);
	assert_true(capture_thread_report(self)->counts.tier_plain > 0);
	recurse_cut(1000);
	for (n = 0; n < 300; n += 100)
		recurse(n);
	oracle_agrees();
}

static void on_signal(int sig)
{
	(void)sig;
	check();
}

static void test_signal_frames(void **unused)
{
	struct sigaction sa = { .sa_handler = on_signal };
	stack_t alt = { .ss_size = 1 << 18 };
	unsigned before;

	(void)unused;
	start(CAPTURE_AUTO, true);
	sigaction(SIGUSR1, &sa, NULL);
	before = checks;
	raise(SIGUSR1);
	alt.ss_sp = test_unwinder_alloc(alt.ss_size);
	sigaltstack(&alt, NULL);
	sa.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	assert_int_equal(checks, before + 2);
	alt.ss_flags = SS_DISABLE;
	sigaltstack(&alt, NULL);
	signal(SIGUSR1, SIG_DFL);
	oracle_agrees();
}

static ucontext_t outer, inner;

static void fiber(void)
{
	for (;;) {
		uint32_t stop;
		uintptr_t got[64];

		last = test_unwinder_hook(self);
		assert_true(test_unwinder_expand(last, got, 64, &stop) >= 1);
		assert_int_equal(stop, GT_STOP_BOTTOM);
		swapcontext(&inner, &outer);
	}
}

static void test_fibers(void **unused)
{
	volatile int i, j;

	(void)unused;
	start(CAPTURE_AUTO, true);
	for (i = 0; i < 50; i++) {
		size_t size = 1 << 16;
		void *volatile stack = test_unwinder_alloc(size);

		getcontext(&inner);
		inner.uc_stack.ss_sp = stack;
		inner.uc_stack.ss_size = size;
		inner.uc_link = &outer;
		makecontext(&inner, fiber, 0);
		for (j = 0; j < 4; j++) {
			check();
			swapcontext(&outer, &inner);
		}
		munmap(stack, size);
		check();
	}
	oracle_agrees();
}

static void *thread_main(void *arg)
{
	(void)arg;
	self = capture_thread_new(false, NULL);
	state = 3;
	checks = 0;
	while (checks < 500)
		tree(6);
	oracle_agrees();
	return self;
}

static void test_threads(void **unused)
{
	pthread_t id[4];
	unsigned i;

	(void)unused;
	start(CAPTURE_AUTO, true);
	for (i = 0; i < 4; i++)
		pthread_create(&id[i], NULL, thread_main, NULL);
	for (i = 0; i < 4; i++) {
		void *ret;

		pthread_join(id[i], &ret);
		assert_non_null(ret);
	}
}

static void test_images(void **unused)
{
	unsigned i, mains = 0;

	(void)unused;
	start(CAPTURE_AUTO, true);
	assert_true(test_unwinder_image_count >= 3);
	for (i = 0; i < test_unwinder_image_count; i++) {
		const struct gl_image *g = &test_unwinder_images[i];

		assert_int_equal(g->state, 1);
		assert_true(g->segments > 0);
		mains += !!(g->flags & GT_IMAGE_MAIN);
		if (strstr(g->path, "libc.so.6"))
			assert_int_equal(g->build_id_size, 20);
	}
	assert_int_equal(mains, 1);
}

static void test_sway(void **unused)
{
	unsigned i;

	(void)unused;
	for (i = 0; i < 2; i++) {
		assert_int_equal(test_unwinder_init(CAPTURE_AUTO, i == 1), 0);
		self = capture_thread_new(true, NULL);
		assert_non_null(self);
		sway.levels = 400;
		sway.left = 1500;
		sway_on(1);
		assert_true(self->report->barriers_placed > 20);
		assert_int_equal(self->report->counts.oracle_differences, 0);
	}
}

static void test_broken_thread(void **unused)
{
	struct capture_thread *t;

	(void)unused;
	assert_int_equal(test_unwinder_init(CAPTURE_AUTO, 0), 0);
	t = capture_thread_new(true, NULL);
	assert_non_null(t);
	test_unwinder_hook(t);
	assert_true(capture_thread_is_valid(t));
	t->lo = t->hi + ARCH_WORD;
	assert_false(capture_thread_is_valid(t));
	t->lo = t->hi;
	t->joins = !t->joins;
	assert_false(capture_thread_is_valid(t));
	t->joins = !t->joins;
	t->fast = t->generation + 1;
	assert_false(capture_thread_is_valid(t));
	t->fast = t->generation;
	t->mode = GT_MODE_COUNT;
	assert_false(capture_thread_is_valid(t));
}

/*
 * A function of the program's own around the hook: one return address and one
 * sp, and more stacks than a set has ways.
 */
#define CALLERS 24

static __attribute__((noinline)) uint32_t wrapper(void)
{
	volatile char pad[64] __attribute__((unused));
	uint32_t context;

	pad[0] = 1;
	context = test_unwinder_hook(self);
	BARRIER();
	return context;
}

#define CALLER(n)                                       \
	case n:                                         \
		context = wrapper();                    \
		__asm__ volatile("# %0" : : "i"(n));    \
		break;
#define CALLERS_8(n)                                    \
	CALLER(n) CALLER(n + 1) CALLER(n + 2)           \
	CALLER(n + 3) CALLER(n + 4) CALLER(n + 5)       \
	CALLER(n + 6) CALLER(n + 7)

static __attribute__((noinline)) uint32_t call_from(unsigned n)
{
	uint32_t context = 0;

	switch (n) {
	CALLERS_8(0)
	CALLERS_8(8)
	CALLERS_8(16)
	}
	BARRIER();
	return context;
}

static uint64_t walks(void)
{
	const struct capture_counts *counts =
		&capture_thread_report(self)->counts;

	return counts->tier_join + counts->tier_full + counts->tier_plain;
}

static unsigned wrappers(void)
{
	unsigned i, n = 0;

	for (i = 0; i < WRAPPERS; i++)
		n += self->wrappers[i].ra != 0;
	return n;
}

static void test_wrapper(void **unused)
{
	uint32_t first[CALLERS];
	uint64_t before = 0;
	unsigned i, k, round = 0;

	(void)unused;
	assert_int_equal(test_unwinder_init(CAPTURE_AUTO, 0), 0);
	self = capture_thread_new(true, NULL);
	assert_non_null(self);
	/* until all are paths: the cache grows where it is too small */
	while (walks() != before || !round) {
		before = walks();
		assert_in_range(round, 0, 300);
		for (i = 0; i < CALLERS; i++) {
			uint32_t context = call_from(i);

			if (!round)
				first[i] = context;
			assert_int_equal(context, first[i]);
		}
		round++;
	}
	assert_int_equal(wrappers(), 1);
	for (i = 0; i < CALLERS; i++)
		for (k = 0; k < i; k++)
			assert_int_not_equal(first[i], first[k]);
	capture_thread_reset(self, true);
	assert_int_equal(wrappers(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_oracle_takes_part),
		cmocka_unit_test(test_sway),
		cmocka_unit_test(test_frame_pointers),
		cmocka_unit_test(test_saved_inward),
		cmocka_unit_test(test_repeats),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_signal_frames),
		cmocka_unit_test(test_fibers),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_images),
		cmocka_unit_test(test_broken_thread),
		cmocka_unit_test(test_wrapper),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
