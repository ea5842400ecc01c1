/* test_path.c: remembered stacks over a made-up one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/unwind_embed.h"
#include "unwind/path.h"

#define DEPTH 30
#define CONTEXT 1000

/* At a fixed address, so that the sets are the same in every run. */
#define STACK_AT ((void *)0x20000000)
static uintptr_t *stack;
static struct capture_thread t;

#define SP ((uintptr_t)&stack[10])
#define RA 0x401000u

/* `depth` frames of 4 words each; the innermost one is the hook's caller. */
static void start(uint32_t depth)
{
	uint32_t i;

	unwind_alloc = embed_alloc;
	stack = mmap(STACK_AT, 4096, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	assert_ptr_equal(stack, STACK_AT);
	memset(&t, 0, sizeof(t));
	assert_int_equal(path_init(&t), 0);
	while (t.capacity <= depth)
		assert_true(stack_grow(&t));
	for (i = 0; i < depth; i++) {
		uintptr_t *slot = &stack[9 + 4 * (depth - 1 - i)];

		*slot = RA + depth - 1 - i;
		t.frames[i] = (struct shadow_frame){ .slot = (uintptr_t)slot,
						     .word = i };
		t.words[i] = (struct shadow_word){ (uintptr_t)slot, *slot };
	}
	t.count = t.word_count = depth;
	t.innermost_ra = RA;
}

static void test_second_meeting(void **unused)
{
	(void)unused;
	start(DEPTH);
	assert_int_equal(path_find(&t, RA, SP, 0), 0);
	path_learn(&t, SP, 0, CONTEXT);
	assert_int_equal(path_find(&t, RA, SP, 0), 0);
	path_learn(&t, SP, 0, CONTEXT);
	assert_int_equal(path_find(&t, RA, SP, 0), CONTEXT);
	assert_int_equal(path_find(&t, RA, SP, 99), CONTEXT);
	assert_int_equal(path_find(&t, RA + 1, SP, 0), 0);
	assert_int_equal(path_find(&t, RA, SP + 16, 0), 0);
	path_clear(&t);
	assert_int_equal(path_find(&t, RA, SP, 0), 0);
}

static void test_every_word_counts(void **unused)
{
	uint32_t i;

	(void)unused;
	start(DEPTH);
	path_learn(&t, SP, 0, CONTEXT);
	path_learn(&t, SP, 0, CONTEXT);
	for (i = 1; i < DEPTH; i++) {
		uintptr_t *slot = &stack[9 + 4 * i];

		(*slot)++;
		assert_int_equal(path_find(&t, RA, SP, 0), 0);
		(*slot)--;
		assert_int_equal(path_find(&t, RA, SP, 0), CONTEXT);
	}
}

static void test_frame_pointer(void **unused)
{
	(void)unused;
	start(DEPTH);
	t.frames[DEPTH - 1].flags = FRAME_FP;
	t.words[DEPTH] = (struct shadow_word){ (uintptr_t)&stack[12], 55 };
	t.word_count++;
	stack[12] = 55;
	path_learn(&t, SP, 33, CONTEXT);
	path_learn(&t, SP, 33, CONTEXT);
	assert_int_equal(path_find(&t, RA, SP, 33), CONTEXT);
	assert_int_equal(path_find(&t, RA, SP, 34), 0);
	stack[12] = 56;
	assert_int_equal(path_find(&t, RA, SP, 33), 0);
}

/* The same return address and the same words elsewhere are another stack. */
static void test_key(void **unused)
{
	uint32_t i;

	(void)unused;
	start(DEPTH);
	t.set_mask = 0;
	for (i = 0; i < 400; i++)
		stack[i] = RA;
	for (i = 0; i < DEPTH; i++)
		t.words[i].value = RA;
	path_learn(&t, SP, 0, CONTEXT);
	path_learn(&t, SP, 0, CONTEXT);
	assert_int_equal(path_find(&t, RA, SP, 0), CONTEXT);
	assert_int_equal(path_find(&t, RA, SP + 16, 0), 0);
	assert_int_equal(path_find(&t, RA + 1, SP, 0), 0);
}

static void test_too_deep(void **unused)
{
	(void)unused;
	start(PATH_WORDS + 2);
	path_learn(&t, SP, 0, CONTEXT);
	path_learn(&t, SP, 0, CONTEXT);
	assert_int_equal(path_find(&t, RA, SP, 0), 0);
}

static void test_many(void **unused)
{
	uint32_t i, round, found = 0;

	(void)unused;
	start(DEPTH);
	for (round = 0; round < 12; round++)
		for (i = 0; i < 2000; i++) {
			t.innermost_ra = RA + i;
			if (!path_find(&t, RA + i, SP, 0))
				path_learn(&t, SP, 0, CONTEXT + i);
		}
	for (i = 0; i < 2000; i++) {
		uint32_t c = path_find(&t, RA + i, SP, 0);

		assert_true(c == 0 || c == CONTEXT + i);
		found += c != 0;
	}
	/* The 16 sets of the start would hold 64. */
	assert_true(found > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_second_meeting),
		cmocka_unit_test(test_every_word_counts),
		cmocka_unit_test(test_frame_pointer),
		cmocka_unit_test(test_key),
		cmocka_unit_test(test_too_deep),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
