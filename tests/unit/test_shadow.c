/* test_shadow.c: which remembered frames still stand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/unwind_embed.h"
#include "unwind/shadow.h"

#define DEPTH 22

static uintptr_t stack[200];
static struct capture_thread t;

static uintptr_t *slot_of(uint32_t i)
{
	return &stack[9 + 4 * (DEPTH - 1 - i)];
}

static void start(void)
{
	uint32_t i;

	assert_int_equal(embed_init(CAPTURE_AUTO, false), 0);
	memset(&t, 0, sizeof(t));
	assert_true(stack_grow(&t));
	for (i = 0; i < DEPTH; i++) {
		*slot_of(i) = 0x401000 + i;
		t.frames[i] = (struct shadow_frame){
			.slot = (uintptr_t)slot_of(i), .word = i };
		t.words[i] = (struct shadow_word){ (uintptr_t)slot_of(i),
						   *slot_of(i) };
	}
	t.count = t.word_count = DEPTH;
}

static uintptr_t sp_of(uint32_t i)
{
	return (uintptr_t)(slot_of(i) + 1);
}

static void test_prefix(void **unused)
{
	uint32_t i;

	(void)unused;
	start();
	assert_int_equal(shadow_validate(&t, sp_of(DEPTH - 1)), DEPTH);
	for (i = 0; i < DEPTH; i++) {
		++*slot_of(i);
		assert_int_equal(shadow_validate(&t, sp_of(DEPTH - 1)), i);
		--*slot_of(i);
	}
}

/* What lies inward of sp has returned, whatever the memory still says. */
static void test_returned(void **unused)
{
	uint32_t i;

	(void)unused;
	start();
	for (i = 0; i < DEPTH; i++)
		assert_int_equal(shadow_validate(&t, sp_of(i)), i + 1);
}

/* One more word, behind frame 9's slot: its saved frame pointer. */
static void test_saved_fp(void **unused)
{
	uint32_t i = 9, k;

	(void)unused;
	start();
	for (k = DEPTH; k > i + 1; k--) {
		t.words[k] = t.words[k - 1];
		t.frames[k - 1].word = k;
	}
	t.words[i + 1] = (struct shadow_word){ (uintptr_t)(slot_of(i) - 1),
					       4242 };
	t.word_count++;
	slot_of(i)[-1] = 4242;
	assert_int_equal(shadow_validate(&t, sp_of(DEPTH - 1)), DEPTH);
	/* What lies further in depends on it; frame 9 itself does not. */
	slot_of(i)[-1] = 4243;
	assert_int_equal(shadow_validate(&t, sp_of(DEPTH - 1)), i + 1);
	assert_int_equal(shadow_validate(&t, sp_of(i)), i + 1);
}

static void test_update(void **unused)
{
	struct walk w = { .count = 3, .join = 4, .stop = GT_STOP_BOTTOM };
	uint32_t i, parent = 0, context, stop;
	uintptr_t got[8];

	(void)unused;
	start();
	for (i = 0; i < 3; i++)
		t.scratch[i] = (struct frame){ .slot = 1000 - 8 * i,
					       .ra = 0x500000 + i };
	t.count = t.word_count = 0;
	parent = shadow_update(&t, &w, WALK_ENDED);
	assert_int_equal(t.count, 3);
	assert_int_equal(t.words[0].value, 0x500002);
	assert_int_equal(t.words[2].value, 0x500000);
	assert_int_equal(t.frames[2].context, parent);
	assert_int_equal(embed_expand(parent, got, 8, &stop), 3);
	assert_int_equal(stop, GT_STOP_BOTTOM);
	/* One new frame inward of frames[1]. */
	t.scratch[0].ra = 0x600000;
	t.scratch[1].slot = t.frames[1].slot;
	w.count = 2;
	w.join = 1;
	context = shadow_update(&t, &w, WALK_JOINED);
	assert_int_equal(t.count, 3);
	assert_int_equal(t.word_count, 3);
	assert_int_not_equal(context, parent);
	assert_int_equal(embed_expand(context, got, 8, &stop), 3);
	assert_int_equal(got[0], 0x600000);
	assert_int_equal(got[1], 0x500001);
	assert_int_equal(got[2], 0x500002);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prefix),
		cmocka_unit_test(test_returned),
		cmocka_unit_test(test_saved_fp),
		cmocka_unit_test(test_update),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
