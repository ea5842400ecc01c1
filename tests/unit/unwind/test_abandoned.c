/*
 * test_abandoned.c: functions that handlers have interrupted, and that some of
 * them leave by a jump; on the thread's stack, on stacks of handlers within
 * it and elsewhere, and on stacks that are switched.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <pthread.h>
#include <cmocka.h>

#include "tests/unit/test_unwinder.h"
#include "unwind/abandoned.h"

#define STACK_BYTES (64u << 10)
#define KEPT __attribute__((noinline, optimize("no-omit-frame-pointer")))

static struct capture_thread *self;
static uintptr_t owner, owner_ra;
static bool judged;
static sigjmp_buf back;
static ucontext_t outside, inside;

#define OWN_CFA ((uintptr_t)__builtin_dwarf_cfa())

/* Whether the owner is held to be left, by a function of ours called here. */
static KEPT bool ask(void)
{
	bool answer = abandoned(self, owner, owner_ra, OWN_CFA);

	__asm__ volatile("" ::: "memory");
	return answer;
}

/* A function of ours, in the middle of which a signal comes. */
static KEPT void own(int number)
{
	owner = OWN_CFA;
	owner_ra = (uintptr_t)__builtin_return_address(0);
	raise(number);
	__asm__ volatile("" ::: "memory");
}

static KEPT void own_deep(int depth, int number)
{
	volatile char room[200];

	room[0] = (char)depth;
	if (depth)
		own_deep(depth - 1, number);
	else
		own(number);
	room[1] = room[0];
}

static __attribute__((used)) void on_look(int number)
{
	(void)number;
	judged = ask();
}

static void on_jump(int number)
{
	(void)number;
	siglongjmp(back, 1);
}

static void on_switch(int number)
{
	(void)number;
	swapcontext(&inside, &outside);
}

static void handle(int number, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigaction(number, &action, NULL);
}

static void use_stack(void *memory)
{
	stack_t stack = { .ss_sp = memory, .ss_size = STACK_BYTES };

	assert_int_equal(sigaltstack(&stack, NULL), 0);
}

/* Before this memory is somebody else's stack. */
static void leave_stack(void)
{
	stack_t none = { .ss_flags = SS_DISABLE };

	assert_int_equal(sigaltstack(&none, NULL), 0);
}

static int start(void **state)
{
	(void)state;
	test_unwinder_init(CAPTURE_AUTO, 0);
	self = capture_thread_new(true, NULL);
	handle(SIGUSR1, on_look, SA_ONSTACK);
	handle(SIGUSR2, on_jump, SA_ONSTACK);
	judged = true;
	return 0;
}

/* What is proven to be readable depends on where captures were. */
static KEPT void capture_deep(int depth)
{
	volatile char room[200];

	room[0] = (char)depth;
	if (depth)
		capture_deep(depth - 1);
	else
		test_unwinder_hook(self);
	room[1] = room[0];
}

static void look_at(int depth)
{
	judged = true;
	own_deep(depth, SIGUSR1);
	assert_false(judged);
}

static void live_frames_are_not_abandoned(void **state)
{
	(void)state;
	look_at(3);
	capture_deep(50);
	look_at(3);
	look_at(40);
	look_at(60);
}

static void handler_on_a_stack_further_out(void **state)
{
	char within[STACK_BYTES];

	(void)state;
	use_stack(within);
	look_at(3);
	capture_deep(50);
	look_at(3);
	look_at(40);
	assert_true(owner < (uintptr_t)within);
	leave_stack();
}

static void handler_on_a_stack_anywhere(void **state)
{
	void *memory = malloc(STACK_BYTES);

	(void)state;
	capture_deep(50);
	use_stack(memory);
	look_at(3);
	look_at(40);
	leave_stack();
	free(memory);
}

static void leave(int depth)
{
	if (!sigsetjmp(back, 1))
		own_deep(depth, SIGUSR2);
}

/* Its frame lies in what this function has, and does not use. */
static KEPT bool ask_over(unsigned bytes)
{
	volatile char room[64 << 10];
	bool answer;

	room[bytes] = 1;
	answer = ask();
	room[0] = room[bytes];
	return answer;
}

static void leave_and_look(void)
{
	leave(3);
	assert_true(ask());
	leave(40);
	assert_true(ask());
	leave(40);
	assert_true(ask_over(0));
	/* in a handler */
	leave(40);
	raise(SIGUSR1);
	assert_true(judged);
}

static void jumped_over_frames_are_abandoned(void **state)
{
	char within[STACK_BYTES];

	(void)state;
	capture_deep(60);
	leave_and_look();
	use_stack(within);
	leave_and_look();
	leave_stack();
}

/* Returns where it began. */
static KEPT uintptr_t call_and_ask(void)
{
	judged = ask();
	return OWN_CFA;
}

/* Where it began, a function begins that the one that asks has called. */
static KEPT bool ask_in_its_place(uintptr_t sp)
{
	bool answer = abandoned(self, OWN_CFA,
				(uintptr_t)__builtin_return_address(0), sp);

	__asm__ volatile("" ::: "memory");
	return answer;
}

/* Where its frame began lies that of a function that returns elsewhere. */
static KEPT void frame_overwritten_by_another_is_abandoned(void **state)
{
	(void)state;
	capture_deep(50);
	if (!sigsetjmp(back, 1))
		own(SIGUSR2);
	assert_int_equal(owner, call_and_ask());
	assert_true(judged);
}

static KEPT void frame_where_this_one_lies_is_abandoned(void **state)
{
	(void)state;
	capture_deep(50);
	assert_true(ask_in_its_place(OWN_CFA));
}

/* The same place and the same word: the asking function lies there. */
static void frame_at_the_same_place_is_abandoned(void **state)
{
	(void)state;
	assert_true(abandoned(self, 0x1000, 0x2000, 0x1000));
	assert_true(abandoned(NULL, 0x1000, 0x2000, 0x1000));
}

static void be_interrupted(void)
{
	own(SIGUSR1);
}

/* A scheduler: the handler switches to another stack, and back later. */
static void frames_switched_away_are_live(void **state)
{
	char *memory = calloc(1, STACK_BYTES);

	(void)state;
	capture_deep(50);
	handle(SIGUSR1, on_switch, 0);
	getcontext(&inside);
	inside.uc_stack.ss_sp = memory;
	inside.uc_stack.ss_size = STACK_BYTES;
	inside.uc_link = &outside;
	makecontext(&inside, be_interrupted, 0);
	swapcontext(&outside, &inside);
	assert_false(ask());
	/* and what is there no more */
	memset(memory, 0x11, STACK_BYTES);
	assert_true(ask());
	free(memory);
}

/* A handler without an entry in a table: by the frame pointer, which is that
 * of own_bare's caller, own_bare is skipped. */
void without_table(int number);
__asm__(".pushsection .text\n"
	"without_table:\n\t"
	"sub $8, %rsp\n\t"
	"call on_look\n\t"
	"add $8, %rsp\n\t"
	"ret\n"
	".popsection\n");

static __attribute__((noinline, optimize("omit-frame-pointer"))) void
own_bare(int number)
{
	owner = OWN_CFA;
	owner_ra = (uintptr_t)__builtin_return_address(0);
	raise(number);
	__asm__ volatile("" ::: "memory");
}

static KEPT void call_bare(void)
{
	own_bare(SIGUSR1);
	__asm__ volatile("" ::: "memory");
}

static void code_without_a_table_is_not_judged(void **state)
{
	(void)state;
	capture_deep(50);
	handle(SIGUSR1, without_table, 0);
	call_bare();
	assert_false(judged);
}

static void *in_a_thread(void *unused)
{
	char within[STACK_BYTES];

	(void)unused;
	self = capture_thread_new(false, NULL);
	capture_deep(50);
	look_at(40);
	leave_and_look();
	use_stack(within);
	look_at(40);
	leave_and_look();
	leave_stack();
	return NULL;
}

static void threads_have_stacks_of_their_own(void **state)
{
	pthread_t thread;

	(void)state;
	pthread_create(&thread, NULL, in_a_thread, NULL);
	pthread_join(thread, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(live_frames_are_not_abandoned, start),
		cmocka_unit_test_setup(handler_on_a_stack_further_out, start),
		cmocka_unit_test_setup(handler_on_a_stack_anywhere, start),
		cmocka_unit_test_setup(jumped_over_frames_are_abandoned, start),
		cmocka_unit_test_setup(
			frame_overwritten_by_another_is_abandoned, start),
		cmocka_unit_test_setup(frame_where_this_one_lies_is_abandoned,
				       start),
		cmocka_unit_test_setup(frame_at_the_same_place_is_abandoned,
				       start),
		cmocka_unit_test_setup(frames_switched_away_are_live, start),
		cmocka_unit_test_setup(code_without_a_table_is_not_judged,
				       start),
		cmocka_unit_test_setup(threads_have_stacks_of_their_own, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
