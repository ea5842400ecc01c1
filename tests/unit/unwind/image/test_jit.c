/*
 * test_jit.c: tables registered at run time: found, removed, refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "tests/programs/stacks/jit_code.h"
#include "tests/unit/test_unwinder.h"
#include "unwind/base/context.h"
#include "unwind/image/image.h"
#include "unwind/image/jit.h"

#define FRAME 48
#define MANY 2000

static uint8_t *pages;		/* code, then its table */

static int set_up(void **state)
{
	(void)state;
	pages = mmap(NULL, 2 * CODE_PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(pages, MAP_FAILED);
	jit_make_table(pages + CODE_PAGE, pages, FRAME,
		       jit_make_code(pages, FRAME));
	return test_unwinder_init(CAPTURE_AUTO, 0);
}

static int tear_down(void **state)
{
	(void)state;
	return munmap(pages, 2 * CODE_PAGE);
}

static struct jit_tables tables_at(const uint8_t *table)
{
	return (struct jit_tables){ .key = (uintptr_t)table,
				    .frames = (uintptr_t)table };
}

static struct rule rule_at(uintptr_t pc)
{
	bool constant = false;

	return rules_dictionary[jit_find(pc, &constant)];
}

static void table_is_found_until_deregistered(void **state)
{
	struct jit_tables t = tables_at(pages + CODE_PAGE);
	uintptr_t code = (uintptr_t)pages;
	uint32_t generation = image_generation;

	(void)state;
	assert_int_equal(rule_at(code).kind, RULE_NONE);
	assert_true(jit_register(&t));
	assert_int_equal(jit_count(), 1);
	assert_int_equal(rule_at(code).cfa_off, 8);
	assert_int_equal(rule_at(code + 1).cfa_off, 16);
	assert_int_equal(rule_at(code + 16).cfa_off, 16 + FRAME);
	assert_int_equal(rule_at(code + 16).fp_off, -2);
	assert_int_equal(rule_at(code + 24).kind, RULE_NONE);
	assert_int_equal(rule_at(code - 1).kind, RULE_NONE);
	jit_deregister(t.key);
	assert_int_equal(jit_count(), 0);
	assert_int_equal(rule_at(code).kind, RULE_NONE);
	/* The table was used: remembered stacks may depend on it. */
	assert_int_equal(image_generation, generation + 1);
	assert_true(jit_sweep());
	assert_false(jit_sweep());
}

static void unused_table_keeps_generation(void **state)
{
	struct jit_tables t = tables_at(pages + CODE_PAGE);
	uint32_t generation = image_generation;

	(void)state;
	assert_true(jit_register(&t));
	jit_deregister(t.key);
	assert_int_equal(image_generation, generation);
	assert_false(jit_sweep());
}

static void used_table_removes_nodes(void **state)
{
	struct jit_tables t = tables_at(pages + CODE_PAGE);
	uintptr_t ra = (uintptr_t)pages + 18, other = (uintptr_t)pages + 99;
	uint64_t root = context_hash_root(0);
	uint32_t node = context_child(0, ra, context_hash(root, ra), false);
	uint32_t kept = context_child(0, other, context_hash(root, other), false);
	bool changed;

	(void)state;
	assert_true(jit_register(&t));
	assert_int_equal(rule_at(ra - 1).cfa_off, 16 + FRAME);
	assert_int_equal(context_child(0, ra, context_hash(root, ra), false), node);
	jit_deregister(t.key);
	assert_true(image_refresh(&changed));
	assert_true(changed);
	assert_int_not_equal(context_child(0, ra, context_hash(root, ra), false),
			     node);
	assert_int_equal(context_child(0, other, context_hash(root, other), false),
			 kept);
}

static void unmapped_tables_are_not_read(void **state)
{
	struct jit_tables t = tables_at(pages + CODE_PAGE);

	(void)state;
	assert_true(jit_register(&t));
	assert_int_equal(mprotect(pages + CODE_PAGE, CODE_PAGE, PROT_NONE), 0);
	assert_int_equal(rule_at((uintptr_t)pages).kind, RULE_NONE);
	jit_deregister(t.key);
	assert_int_equal(jit_count(), 0);
}

static void counters_are_published(void **state)
{
	static struct capture_tables from_code;
	static struct capture_tables *to;
	struct jit_tables t = tables_at(pages + CODE_PAGE);
	uint32_t refused = jit_refused();

	(void)state;
	jit_init(&to);
	assert_true(jit_register(&t));
	assert_int_equal(from_code.registered, 0); /* as in a forked child */
	to = &from_code;
	jit_init(&to);
	assert_int_equal(from_code.registered, 1);
	assert_int_equal(from_code.refused, refused);
	jit_deregister(t.key);
	assert_int_equal(from_code.registered, 0);
	t.frames = 0x1000;
	assert_false(jit_register(&t));
	assert_int_equal(from_code.refused, refused + 1);
	jit_init(NULL);
}

static void malformed_tables_are_refused(void **state)
{
	uint8_t *table = pages + CODE_PAGE;
	struct jit_tables t = tables_at(table);
	uint32_t refused = jit_refused();

	(void)state;
	t.frames = 0x1000;				/* not mapped */
	assert_false(jit_register(&t));
	t.frames = (uintptr_t)table + 1;		/* not aligned */
	assert_false(jit_register(&t));
	t.frames = (uintptr_t)pages + 2 * CODE_PAGE - 4;
	assert_false(jit_register(&t));			/* empty */
	t.frames = (uintptr_t)table;
	memcpy(table, "\xf0\xff\xff\x7f", 4);		/* a long record */
	assert_false(jit_register(&t));
	memcpy(table, "\xff\xff\xff\xff", 4);
	assert_false(jit_register(&t));
	memcpy(table, "\xf8\x0f\0\0", 4);	/* up to the last word, */
	memset(table + CODE_PAGE - 4, 0x11, 4);	/* which is no length */
	assert_false(jit_register(&t));
	t.key = 0;
	assert_false(jit_register(&t));
	assert_int_equal(jit_refused(), refused + 7);
	assert_int_equal(jit_count(), 0);
	jit_deregister(0);
	jit_deregister(1);
	jit_deregister(2);
}

/* As programs with LLVM's unwinder register it: its CIE lies before it. */
static void single_fde_is_found(void **state)
{
	uint8_t *table = pages + CODE_PAGE;
	uint32_t length;
	struct jit_tables t;

	(void)state;
	memcpy(&length, table, 4);
	t = tables_at(table + 4 + length);
	assert_true(jit_register(&t));
	assert_int_equal(rule_at((uintptr_t)pages + 16).cfa_off, 16 + FRAME);
	jit_deregister(t.key);
}

static void many_tables(void **state)
{
	static uint8_t tables[MANY][TABLE_MAX] __attribute__((aligned(8)));
	uintptr_t code = UINT64_C(0x500000000000);

	(void)state;
	for (unsigned i = 0; i < MANY; i++) {
		struct jit_tables t = tables_at(tables[i]);

		jit_make_table(tables[i], (uint8_t *)code + 64 * i,
			       (uint8_t)(16 * (i % 6 + 1)), 24);
		assert_true(jit_register(&t));
	}
	assert_int_equal(jit_count(), MANY);
	for (unsigned i = 0; i < MANY; i += 2)
		jit_deregister((uintptr_t)tables[i]);
	assert_int_equal(jit_count(), MANY / 2);
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(rule_at(code + 64 * i + 16).cfa_off,
				 i % 2 ? 16 + 16 * (i % 6 + 1) : 0);
	jit_sweep();
	for (unsigned i = 0; i < MANY; i++)
		jit_deregister((uintptr_t)tables[i]);
	jit_sweep();
	assert_int_equal(jit_count(), 0);
}

static void inverted_range_is_invalid(void **state)
{
	struct jit_tables t = tables_at(pages + CODE_PAGE);

	(void)state;
	assert_true(jit_is_valid());
	assert_true(jit_register(&t));
	assert_true(jit_is_valid());
	jit_deregister(t.key);
	assert_true(jit_is_valid());
	/* code that ends before it begins */
	jit_replaced(20, 10);
	assert_false(jit_is_valid());
	assert_true(jit_sweep());
	assert_true(jit_is_valid());
}

#define JIT_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		JIT_TEST(table_is_found_until_deregistered),
		JIT_TEST(unused_table_keeps_generation),
		JIT_TEST(used_table_removes_nodes),
		JIT_TEST(unmapped_tables_are_not_read),
		JIT_TEST(counters_are_published),
		JIT_TEST(malformed_tables_are_refused),
		JIT_TEST(single_fde_is_found),
		JIT_TEST(many_tables),
		JIT_TEST(inverted_range_is_invalid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
