/*
 * rules_builder.h: a module's rules over hand-assembled tables, for tests: one
 * at a time, each test's own.
 */
#ifndef GNOMON_TESTS_RULES_BUILDER_H
#define GNOMON_TESTS_RULES_BUILDER_H

#include "tests/unit/table_builder.h"
#include "unwind/rules/rule_dictionary.h"
#include "unwind/rules/rules_image.h"

static struct builder b;
static size_t cie;
static struct rules_image *image;

static inline void start(void)
{
	builder_alloc_left = -1;
	unwind_alloc = builder_alloc;
	assert_int_equal(rules_init(), 0);
	b.size = 0;
	cie = put_cie(&b, "zR", ENC_ABS8);
}

static inline void seal(void)
{
	struct rules_sections sections = builder_sections(&b);

	image = rules_image_new(&sections);
	assert_non_null(image);
}

/* One FDE over the first 256 bytes of code, with this program. */
#define FDE(...)                                                            \
	do {                                                                \
		begin_fde(&b, cie, CODE, 256);                              \
		PROGRAM(&b, __VA_ARGS__);                                   \
		end_record(&b);                                             \
	} while (0)

/* The row of a signal frame. */
#define SIGNAL_ROW(pc_low)                                                  \
	0x0f, 4, 0x77, 0xa0, 1, 0x06, 0x10, 6, 3, 0x77, 0xf8, 0, 0x10, 7,   \
		3, 0x77, 0xa0, 1, 0x10, 16, 3, 0x77, pc_low, 1

static inline struct rule rule_at(uint64_t offset)
{
	uint16_t id = rules_find(image, CODE + offset);

	assert_true(id < rules_count());
	assert_int_equal(rules_find(image, CODE + offset), id);
	return rules_dictionary[id];
}

static inline void is(uint64_t offset, enum rule_kind kind,
		      enum rule_base base, int32_t cfa_off, int16_t fp_off)
{
	struct rule rule = rule_at(offset);

	assert_int_equal(rule.kind, kind);
	assert_int_equal(rule.base, base);
	assert_int_equal(rule.cfa_off, cfa_off);
	assert_int_equal(rule.fp_off, fp_off);
}

static inline void kind_is(uint64_t offset, enum rule_kind kind)
{
	assert_int_equal(rule_at(offset).kind, kind);
}

#endif
