/*
 * test_rules.c: from pc to rule and from frame to caller, over tables written
 * here and over those of the C library, whole and broken.
 */
#include <errno.h>
#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/table_builder.h"
#include "unwind/cfi.h"
#include "unwind/dictionary.h"
#include "unwind/rules_image.h"

static struct builder b;
static size_t cie;
static struct rules_image *image;

static void start(void)
{
	builder_alloc_left = -1;
	unwind_alloc = builder_alloc;
	assert_int_equal(rules_init(), 0);
	b.size = 0;
	cie = put_cie(&b, "zR", ENC_ABS8);
}

static void seal(void)
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

static struct rule rule_at(uint64_t offset)
{
	uint16_t id = rules_find(image, CODE + offset);

	assert_true(id < rules_count());
	assert_int_equal(rules_find(image, CODE + offset), id);
	return rules_dictionary[id];
}

static void is(uint64_t offset, enum rule_kind kind, enum rule_base base,
	       int32_t cfa_off, int16_t fp_off)
{
	struct rule rule = rule_at(offset);

	assert_int_equal(rule.kind, kind);
	assert_int_equal(rule.base, base);
	assert_int_equal(rule.cfa_off, cfa_off);
	assert_int_equal(rule.fp_off, fp_off);
}

static void kind_is(uint64_t offset, enum rule_kind kind)
{
	assert_int_equal(rule_at(offset).kind, kind);
}

static void test_frames(void **unused)
{
	(void)unused;
	start();
	FDE(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x44, 0x83, 3, 0x5c, 0x0c,
	    7, 8, 0xc6, 0x41, 0x08, 6, 0x0e, 24, 0x41, 0x07, 6, 0x0e, 32);
	put_fde(&b, cie, CODE + 0x200, 16);
	seal();
	is(0, RULE_FRAME, RULE_BASE_SP, 8, 0);
	is(1, RULE_FRAME, RULE_BASE_SP, 16, -2);
	is(3, RULE_FRAME, RULE_BASE_SP, 16, -2);
	is(4, RULE_FRAME, RULE_BASE_FP, 16, -2);
	is(20, RULE_FRAME, RULE_BASE_FP, 16, -2);
	is(36, RULE_FRAME, RULE_BASE_SP, 8, 0);
	is(37, RULE_FRAME, RULE_BASE_SP, 24, 0);
	is(38, RULE_FRAME, RULE_BASE_SP, 32, 0);
	is(255, RULE_FRAME, RULE_BASE_SP, 32, 0);
	assert_int_equal(rules_find(image, CODE + 256), 0);
	is(0x200, RULE_FRAME, RULE_BASE_SP, 8, 0);
	assert_int_equal(rules_find(image, CODE + 0x210), 0);
	assert_int_equal(rules_find(image, CODE - 1), 0);
	assert_int_equal(rules_find(image, CODE + CODE_SIZE), 0);
}

/* gcc: push the word at r10 - 8; rbp on top of it; r10 saved below. */
static void test_realigned(void **unused)
{
	(void)unused;
	start();
	FDE(0x45, 0x0c, 10, 0, 0x57, 0x10, 6, 2, 0x76, 0, 0x42, 0x0f, 3, 0x76,
	    0x78, 0x06, 0x48, 0x10, 6, 2, 0x76, 0x10, 0x48, 0x10, 6, 2, 0x76,
	    0x11, 0x48, 0x86, 2, 0x48, 0xc6);
	seal();
	kind_is(0, RULE_FRAME);
	kind_is(5, RULE_COMPLEX);
	kind_is(28, RULE_COMPLEX);
	is(30, RULE_DEREF, RULE_BASE_FP, -8, 0);
	is(37, RULE_DEREF, RULE_BASE_FP, -8, 0);
	is(38, RULE_DEREF, RULE_BASE_FP, -8, 2);
	kind_is(46, RULE_COMPLEX);	/* at no whole word */
	kind_is(54, RULE_COMPLEX);	/* fp counted from the CFA */
	kind_is(62, RULE_COMPLEX);	/* fp kept */
}

static void test_plt(void **unused)
{
	(void)unused;
	start();
	FDE(0x0e, 16, 0x46, 0x0e, 24, 0x4a, 0x0f, 11, ARCH_PLT_EXPRESSION,
	    0x50, 0x86, 2, 0x50, 0xc6, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a,
	    0x3a, 0x2a, 0x33, 0x24, 0x22);
	seal();
	is(0, RULE_FRAME, RULE_BASE_SP, 16, 0);
	is(16, RULE_PLT, RULE_BASE_SP, 8, 0);
	is(32, RULE_PLT, RULE_BASE_SP, 8, -2);
	kind_is(48, RULE_COMPLEX);	/* another place in the entry */
}

/* What no plain walk could do. */
static void test_complex(void **unused)
{
	static const uint8_t programs[][12] = {
		{ 0x0c, 10, 8 },		/* CFA by r10 */
		{ 0x90, 2 },			/* pc elsewhere */
		{ 0x09, 16, 0 },		/* pc in rax */
		{ 0x14, 16, 1 },		/* pc is an address */
		{ 0x10, 16, 2, 0x77, 0x78 },
		{ 0x86, 0 },			/* fp at the CFA itself */
		{ 0x2f, 6, 0x80, 0x80, 0x04 },	/* fp too far */
		{ 0x09, 6, 3 },			/* fp in rbx */
		{ 0x14, 6, 2 },
		{ 0x16, 6, 2, 0x77, 0 },
		{ 0x10, 6, 2, 0x76, 0 },
		{ 0x87, 2 },			/* sp saved */
		{ 0x16, 7, 2, 0x77, 0 },
		{ 0x08, 7 },
		{ 0x0c, 7, 0xff, 0xff, 0xff, 0xff, 0x0f },
		{ 0x0f, 2, 0x77, 8 },
	};
	size_t i, n = sizeof(programs) / sizeof(programs[0]);

	(void)unused;
	start();
	for (i = 0; i < n; i++) {
		begin_fde(&b, cie, CODE + i * 16, 16);
		put(&b, programs[i], sizeof(programs[i]));
		end_record(&b);
	}
	/* Unusual, but the same as the usual. */
	begin_fde(&b, cie, CODE + n * 16, 16);
	PROGRAM(&b, 0x14, 7, 0);
	end_record(&b);
	seal();
	for (i = 0; i < n; i++)
		kind_is(i * 16, RULE_COMPLEX);
	kind_is(n * 16, RULE_FRAME);
}

static void test_end_and_bad(void **unused)
{
	static const uint8_t fde_encoding = ENC_ABS8;

	(void)unused;
	start();
	FDE(0x41, 0x07, 16, 0x41, 0x3f);
	cie = begin_cie(&b, "zR", &fde_encoding, 1);
	end_record(&b);
	put_fde(&b, cie, CODE + 0x100, 16);	/* no CFA at all */
	seal();
	kind_is(0, RULE_FRAME);
	kind_is(1, RULE_END);
	kind_is(2, RULE_BAD);
	kind_is(255, RULE_BAD);
	kind_is(0x100, RULE_BAD);
}

#define SIGNAL_ROW(pc_low)                                                  \
	0x0f, 4, 0x77, 0xa0, 1, 0x06, 0x10, 6, 3, 0x77, 0xf8, 0, 0x10, 7,   \
		3, 0x77, 0xa0, 1, 0x10, 16, 3, 0x77, pc_low, 1

static void test_signal_frames(void **unused)
{
	static const uint8_t encoding = ENC_ABS8;

	(void)unused;
	start();
	cie = begin_cie(&b, "zRS", &encoding, 1);
	end_record(&b);
	FDE(SIGNAL_ROW(0xa8));
	begin_fde(&b, cie, CODE + 0x100, 16);
	PROGRAM(&b, SIGNAL_ROW(0xb0));	/* pc elsewhere */
	end_record(&b);
	begin_fde(&b, cie, CODE + 0x180, 16);
	PROGRAM(&b, SIGNAL_ROW(0xa8), 0x10, 7, 3, 0x77, 0xa8, 1);
	end_record(&b);
	/* A plain row leads right, but not to a return address. */
	begin_fde(&b, cie, CODE + 0x200, 16);
	PROGRAM(&b, 0x0c, 7, 8, 0x90, 1);
	end_record(&b);
	cie = put_cie(&b, "zR", ENC_ABS8);	/* not marked */
	begin_fde(&b, cie, CODE + 0x300, 16);
	PROGRAM(&b, SIGNAL_ROW(0xa8));
	end_record(&b);
	seal();
	kind_is(0, RULE_SIGNAL);
	kind_is(0x100, RULE_COMPLEX);
	kind_is(0x180, RULE_COMPLEX);	/* sp elsewhere */
	kind_is(0x200, RULE_COMPLEX);
	kind_is(0x300, RULE_COMPLEX);
}

/* The dictionary: equal rules have one number, and a full one still serves. */
static void test_dictionary(void **unused)
{
	struct rule rule = { .kind = RULE_FRAME };
	uint32_t i, before;

	(void)unused;
	start();
	assert_int_equal(rules_dictionary[0].kind, RULE_NONE);
	assert_int_equal(rules_dictionary[DICTIONARY_BAD].kind, RULE_BAD);
	assert_int_equal(rules_dictionary[DICTIONARY_COMPLEX].kind,
			 RULE_COMPLEX);
	/* The hash grows with what it holds. */
	assert_true(dictionary_bytes() < 1024);
	before = rules_count();
	for (i = 0; i < 20000; i++) {
		uint16_t id;

		rule.cfa_off = (int32_t)(i % 10000) * 8;
		id = dictionary_id(rule);
		assert_memory_equal(&rules_dictionary[id], &rule, 8);
	}
	assert_int_equal(rules_count(), before + 10000);
	for (i = 0; i < 100000; i++) {
		rule.cfa_off = (int32_t)i * 8;
		rule.fp_off = -2;
		dictionary_id(rule);
	}
	assert_true(rules_count() <= RULES_MAX);
	rule.cfa_off = -8;
	assert_int_equal(dictionary_id(rule), DICTIONARY_COMPLEX);
	rule.cfa_off = 16;
	assert_memory_equal(&rules_dictionary[dictionary_id(rule)], &rule, 8);
}

/* A word at an address is what the test put on the stack there. */
static uint64_t stack[64];

static bool read_stack(void *ctx, uintptr_t address, uint64_t *value)
{
	uintptr_t base = (uintptr_t)stack;

	(void)ctx;
	if (address < base || address > base + sizeof(stack) - 8)
		return false;
	memcpy(value, (const void *)address, 8);
	return true;
}

static struct arch_regs regs;
static bool is_signal;

static int step(uint64_t offset, bool exact)
{
	unsigned int i;

	for (i = 0; i < 64; i++)
		stack[i] = 0xcafe0000 + i;
	for (i = 0; i < ARCH_REG_COUNT; i++)
		regs.r[i] = 0x1000 + i;
	regs.r[ARCH_REG_PC] = CODE + offset;
	regs.r[ARCH_REG_SP] = (uintptr_t)&stack[16];
	regs.r[ARCH_REG_FP] = (uintptr_t)&stack[32];
	regs.r[10] = (uintptr_t)&stack[40];
	return rules_step_full(image, &regs, exact, &is_signal, read_stack,
			       NULL);
}

static void pc_sp_fp(uint64_t pc, const uint64_t *sp, uint64_t fp)
{
	assert_int_equal(regs.r[ARCH_REG_PC], pc);
	assert_int_equal(regs.r[ARCH_REG_SP], (uintptr_t)sp);
	assert_int_equal(regs.r[ARCH_REG_FP], fp);
}

static void test_step_frames(void **unused)
{
	uintptr_t fp = (uintptr_t)&stack[32];

	(void)unused;
	start();
	FDE(0x0e, 48, 0x83, 2, 0x8c, 3, 0x8d, 4, 0x86, 5, 0x44, 0x0c, 6, 16,
	    0x86, 2, 0xc3, 0x08, 12, 0x07, 13);
	seal();
	assert_int_equal(step(0, true), 0);
	pc_sp_fp(0xcafe0000 + 21, &stack[22], 0xcafe0000 + 17);
	assert_int_equal(regs.r[3], 0xcafe0000 + 20);
	assert_int_equal(regs.r[12], 0xcafe0000 + 19);
	assert_int_equal(regs.r[13], 0xcafe0000 + 18);
	assert_int_equal(regs.r[14], 0x1000 + 14);
	assert_false(is_signal);
	/* A return address belongs to the instruction before it. */
	assert_int_equal(step(4, false), 0);
	pc_sp_fp(0xcafe0000 + 21, &stack[22], 0xcafe0000 + 17);
	assert_int_equal(step(4, true), 0);
	pc_sp_fp(0xcafe0000 + 33, &stack[34], 0xcafe0000 + 32);
	assert_int_equal(regs.r[3], 0x1003);
	assert_int_equal(regs.r[12], 0x100c);
	assert_int_equal(regs.r[13], 0x100d);
	assert_int_equal(step(0, false), -ENOENT);
	assert_int_equal(step(256, true), -ENOENT);
	assert_int_equal(step(256, false), 0);
	assert_int_equal(fp, (uintptr_t)&stack[32]);
}

static void test_step_complex(void **unused)
{
	(void)unused;
	start();
	/* By r10; then realigned; then all other ways to save registers. */
	FDE(0x0c, 10, 8, 0x44, 0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0,
	    0x10, 3, 2, 0x76, 0x70, 0x44, 0x0c, 7, 16, 0x09, 3, 14, 0x14, 12,
	    2, 0x15, 13, 1, 0x16, 14, 3, 0x23, 4, 0x96, 0x10, 15, 2, 0x23, 8,
	    0xc6);
	seal();
	assert_int_equal(step(0, true), 0);
	pc_sp_fp(0xcafe0000 + 40, &stack[41], (uintptr_t)&stack[32]);
	assert_int_equal(step(4, true), -EFAULT);	/* CFA 0xcafe.. */
	assert_int_equal(step(8, true), 0);
	pc_sp_fp(0xcafe0000 + 17, &stack[18], (uintptr_t)&stack[32]);
	assert_int_equal(regs.r[3], 0x100e);
	assert_int_equal(regs.r[12], (uintptr_t)&stack[16]);
	assert_int_equal(regs.r[13], (uintptr_t)&stack[17]);
	assert_int_equal(regs.r[14], (uintptr_t)&stack[18] + 4);
	assert_int_equal(regs.r[15], 0xcafe0000 + 19);
}

static void test_step_realigned(void **unused)
{
	(void)unused;
	start();
	FDE(0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0, 0x10, 3, 2, 0x76,
	    0x70);
	seal();
	kind_is(0, RULE_DEREF);
	step(0, true);
	/* As in a frame, *(fp - 8) is an address further out. */
	regs.r[ARCH_REG_PC] = CODE;
	regs.r[ARCH_REG_FP] = (uintptr_t)&stack[32];
	stack[31] = (uintptr_t)&stack[50];
	assert_int_equal(rules_step_full(image, &regs, true, &is_signal,
					 read_stack, NULL), 0);
	pc_sp_fp(0xcafe0000 + 49, &stack[50], 0xcafe0000 + 32);
	assert_int_equal(regs.r[3], 0xcafe0000 + 30);
}

static void test_step_plt(void **unused)
{
	(void)unused;
	start();
	FDE(0x0f, 11, ARCH_PLT_EXPRESSION);
	seal();
	assert_int_equal(step(10, true), 0);
	pc_sp_fp(0xcafe0000 + 16, &stack[17], (uintptr_t)&stack[32]);
	assert_int_equal(step(11, true), 0);
	pc_sp_fp(0xcafe0000 + 17, &stack[18], (uintptr_t)&stack[32]);
}

static void test_step_signal(void **unused)
{
	static const uint8_t encoding = ENC_ABS8;

	(void)unused;
	start();
	cie = begin_cie(&b, "zRS", &encoding, 1);
	end_record(&b);
	FDE(SIGNAL_ROW(0xa8));
	seal();
	assert_int_equal(step(0, true), 0);
	assert_true(is_signal);
	assert_int_equal(regs.r[ARCH_REG_PC],
			 stack[16 + ARCH_SIGFRAME_PC / 8]);
	assert_int_equal(regs.r[ARCH_REG_SP],
			 stack[16 + ARCH_SIGFRAME_SP / 8]);
	assert_int_equal(regs.r[ARCH_REG_FP],
			 stack[16 + ARCH_SIGFRAME_FP / 8]);
}

static void test_step_errors(void **unused)
{
	(void)unused;
	start();
	FDE(0x07, 16, 0x44, 0xd0, 0x08, 16, 0x44, 0xd0, 0x0e, 0x80, 0x80, 4,
	    0x44, 0x09, 16, 17, 0x0e, 8, 0x44, 0xd0, 0x0f, 1, 0x22, 0x44,
	    0x3f);
	seal();
	assert_int_equal(step(0, true), 1);
	assert_int_equal(step(4, true), -EINVAL);	/* pc kept */
	assert_int_equal(step(8, true), -EFAULT);
	assert_int_equal(step(12, true), -EINVAL);	/* in no register */
	assert_int_equal(step(16, true), -EINVAL);	/* bad expression */
	assert_int_equal(step(20, true), -EINVAL);	/* bad program */
	assert_int_equal(step(CODE_SIZE, true), -ENOENT);
}

/* A pc's rule does not depend on what was asked before, nor on the lock. */
static void test_order(void **unused)
{
	enum { SPAN = 0x200 };
	uint16_t first[SPAN];
	unsigned int i, round;
	size_t bytes;

	(void)unused;
	start();
	begin_fde(&b, cie, CODE, SPAN - 16);
	PROGRAM(&b, 0x41, 0x0e, 16, 0x02, 0xa0, 0x0e, 24);
	end_record(&b);
	begin_fde(&b, cie, CODE + 0x40, 0x20);
	PROGRAM(&b, 0x0e, 32, 0x44, 0x0e, 40);
	end_record(&b);
	begin_fde(&b, cie, CODE + 0x48, 0x100);
	PROGRAM(&b, 0x0e, 48, 0x02, 0x90, 0x0e, 56);
	end_record(&b);
	seal();
	bytes = rules_bytes();
	assert_true(granule_try_lock());
	for (i = 0; i < SPAN; i++)
		first[i] = rules_find(image, CODE + i);
	assert_true(rules_bytes() - bytes < 256);	/* rules, no rows */
	granule_unlock();
	for (round = 0; round < SPAN; round += 37) {
		seal();
		for (i = 0; i < SPAN; i++) {
			unsigned int at = (round + i * 197) % SPAN;

			assert_int_equal(rules_find(image, CODE + at),
					 first[at]);
		}
	}
	assert_int_equal(rules_dictionary[first[0x47]].cfa_off, 40);
	assert_int_equal(rules_dictionary[first[0x48]].cfa_off, 48);
	assert_int_equal(rules_dictionary[first[0x148]].cfa_off, 24);
	assert_int_equal(first[SPAN - 16], 0);
}

/* That there is no rule is kept, too, just as far as it holds. */
static void test_gaps(void **unused)
{
	uint64_t pc;
	uint16_t id = 1;

	(void)unused;
	start();
	put_fde(&b, cie, CODE + 0x1000, 0x100);
	put_fde(&b, cie, CODE + 0x1180, 0x10);
	seal();
	assert_false(granule_find(&image->granules, CODE + 0x1110, &id));
	assert_int_equal(rules_find(image, CODE + 0x1110), 0);
	for (pc = CODE + 0x1000; pc < CODE + 0x1200; pc++) {
		bool gap = pc >= CODE + 0x1100 && pc < CODE + 0x1180;

		id = 1;
		assert_int_equal(granule_find(&image->granules, pc, &id), gap);
		assert_int_equal(id, !gap);
	}
	kind_is(0x1000, RULE_FRAME);
	kind_is(0x1180, RULE_FRAME);
	/* Before the first FDE, and after the last. */
	assert_int_equal(rules_find(image, CODE), 0);
	assert_int_equal(rules_find(image, CODE + 0x1190), 0);
	for (pc = CODE; pc < CODE + GRANULE_PAGE_BYTES; pc++)
		assert_true(granule_find(&image->granules, pc, &id));
	kind_is(0x1000, RULE_FRAME);
	kind_is(0x118f, RULE_FRAME);
	assert_int_equal(rules_find(image, CODE + GRANULE_PAGE_BYTES), 0);
}

static void test_no_memory(void **unused)
{
	long allowed;

	(void)unused;
	for (allowed = 0; allowed < 6; allowed++) {
		struct rules_sections sections;

		start();
		FDE(0x41, 0x0e, 16);
		sections = builder_sections(&b);
		builder_alloc_left = allowed;
		if (allowed < 2) {
			assert_int_equal(rules_init(), -ENOMEM);
			continue;
		}
		assert_int_equal(rules_init(), 0);
		image = rules_image_new(&sections);
		if (allowed == 2) {
			assert_null(image);
			continue;
		}
		is(0, RULE_FRAME, RULE_BASE_SP, 8, 0);
		is(1, RULE_FRAME, RULE_BASE_SP, 16, 0);
	}
}

/* The C library's own tables, and its code. */
struct library {
	struct rules_sections s;
	uintptr_t frame_size;
};

static int find_library(struct dl_phdr_info *info, size_t size, void *data)
{
	struct library *lib = data;
	const ElfW(Phdr) *p;
	uintptr_t at = 0;

	(void)size;
	if (!strstr(info->dlpi_name, "libc.so"))
		return 0;
	lib->s.bias = info->dlpi_addr;
	for (p = info->dlpi_phdr; p < info->dlpi_phdr + info->dlpi_phnum;
	     p++) {
		at = info->dlpi_addr + p->p_vaddr;
		if (p->p_type == PT_GNU_EH_FRAME) {
			lib->s.eh_frame_hdr = at;
			lib->s.eh_frame_hdr_size = p->p_memsz;
		} else if (p->p_type == PT_LOAD && (p->p_flags & PF_X)) {
			lib->s.text_start = at;
			lib->s.text_end = at + p->p_memsz;
		}
	}
	for (p = info->dlpi_phdr; p < info->dlpi_phdr + info->dlpi_phnum;
	     p++) {
		at = info->dlpi_addr + p->p_vaddr;
		if (p->p_type == PT_LOAD && at <= lib->s.eh_frame_hdr &&
		    lib->s.eh_frame_hdr < at + p->p_memsz) {
			lib->s.readable_start = at;
			lib->s.readable_end = at + p->p_memsz;
		}
	}
	return 1;
}

static struct library load_library(void)
{
	struct library lib = { .frame_size = 0 };

	assert_int_equal(dl_iterate_phdr(find_library, &lib), 1);
	assert_int_not_equal(lib.s.eh_frame_hdr, 0);
	return lib;
}

static struct rules_image *shared_image;
static uint16_t *expected;

static void *ask_all(void *seed)
{
	const struct library lib = load_library();
	size_t n = lib.s.text_end - lib.s.text_start, i, wrong = 0;
	size_t at = (uintptr_t)seed * 12345 % n;

	for (i = 0; i < n / 3; i++, at = (at + 600011) % n) {
		uint16_t id = rules_find(shared_image, lib.s.text_start + at);

		wrong += memcmp(&rules_dictionary[id],
				&rules_dictionary[expected[at]], 8) != 0;
	}
	return (void *)wrong;
}

/* Many threads fill one table; all see what one alone sees. */
static void test_threads(void **unused)
{
	const struct library lib = load_library();
	size_t n = lib.s.text_end - lib.s.text_start, i;
	struct rules_image *alone;
	pthread_t threads[4];
	void *wrong;

	(void)unused;
	start();
	alone = rules_image_new(&lib.s);
	shared_image = rules_image_new(&lib.s);
	expected = calloc(n, sizeof(*expected));
	for (i = 0; i < n; i++)
		expected[i] = rules_find(alone, lib.s.text_start + i);
	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, ask_all, (void *)i);
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], &wrong);
		assert_null(wrong);
	}
	free(expected);
}

static volatile sig_atomic_t interrupts;
static uintptr_t handler_start, handler_size;

static void ask_in_handler(int number)
{
	static uint32_t random = 7;

	(void)number;
	random = random * 1664525u + 1013904223u;
	rules_find(shared_image,
		   handler_start + (random >> 4) % handler_size);
	interrupts++;
}

/* A handler asks while its thread is storing. */
static void test_signals(void **unused)
{
	const struct library lib = load_library();
	struct itimerspec often = {
		.it_interval = { .tv_nsec = 20000 },
		.it_value = { .tv_nsec = 20000 },
	};
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1,
	};
	timer_t timer;
	uintptr_t pc;
	unsigned int round;

	(void)unused;
	start();
	handler_start = lib.s.text_start;
	handler_size = lib.s.text_end - lib.s.text_start;
	shared_image = rules_image_new(&lib.s);
	signal(SIGUSR1, ask_in_handler);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	assert_int_equal(timer_settime(timer, 0, &often, NULL), 0);
	for (round = 0; round < 200 && interrupts < 1000; round++) {
		shared_image = rules_image_new(&lib.s);
		for (pc = lib.s.text_start; pc < lib.s.text_end; pc += 61)
			rules_find(shared_image, pc);
	}
	timer_delete(timer);
	signal(SIGUSR1, SIG_IGN);
	assert_true(interrupts > 10);
	assert_true(granule_try_lock());
	granule_unlock();
}

/* What a broken table may make an expression ask for: any address. */
static bool read_any(void *ctx, uintptr_t address, uint64_t *value)
{
	(void)ctx;
	*value = address * UINT64_C(0x9e3779b97f4a7c15);
	return address % 7 != 0;
}

static uint8_t *arena;
static size_t arena_used;
enum { ARENA_SIZE = 8 << 20 };

/* Memory that each round gives back as a whole. */
static void *arena_alloc(size_t size)
{
	uint8_t *memory = arena + arena_used;

	size = (size + 63) & ~(size_t)63;
	if (size > ARENA_SIZE - arena_used)
		return NULL;
	arena_used += size;
	return memset(memory, 0, size);
}

static uint32_t random_state = 12345;

static uint32_t draw(uint32_t limit)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (uint32_t)(((uint64_t)random_state * limit) >> 32);
}

enum { ROUNDS = 6000, PCS = 6, CHANGES = 4, RECORD_HEAD = 20 };

/* A round's places in the code, and the bytes that are changed for it. */
struct round {
	uintptr_t pc[PCS];
	uint8_t *at[PCS * CHANGES];
	uint8_t was[PCS * CHANGES];
};

/* Bytes of the records that will be asked for, and some of everything. */
static void choose(struct round *r, const struct cfi_tables *whole,
		   const struct rules_sections *s)
{
	size_t size = s->readable_end - s->readable_start;
	struct cfi_fde fde;
	unsigned int i, j;

	for (i = 0; i < PCS; i++) {
		uint8_t **at = &r->at[i * CHANGES];

		do {
			size_t span = s->text_end - s->text_start;

			r->pc[i] = s->text_start + draw((uint32_t)span);
		} while (cfi_find(whole, r->pc[i], &fde));
		for (j = 0; j < CHANGES; j++) {
			uintptr_t record = fde.program - RECORD_HEAD;
			uint32_t n = (uint32_t)(fde.program_end - record);

			at[j] = (uint8_t *)record + draw(n);
		}
		if (draw(8) == 0)
			at[0] = (uint8_t *)s->readable_start + draw(40);
		if (draw(8) == 0)
			at[1] = (uint8_t *)fde.cie.program - draw(16);
		if (draw(8) == 0)
			at[2] = (uint8_t *)s->readable_start +
				draw((uint32_t)size);
	}
}

static void ask_broken(const struct rules_sections *s, const struct round *r)
{
	unsigned int i, j;

	arena_used = 0;
	assert_int_equal(rules_init(), 0);
	image = rules_image_new(s);
	assert_non_null(image);
	for (i = 0; i < PCS; i++) {
		assert_true(rules_find(image, r->pc[i]) < rules_count());
		for (j = 0; j < ARCH_REG_COUNT; j++)
			regs.r[j] = draw(UINT32_MAX);
		regs.r[ARCH_REG_PC] = r->pc[i];
		rules_step_full(image, &regs, true, &is_signal, read_any,
				NULL);
	}
}

/* libc's tables, moved between two pages that cannot be touched. */
static struct rules_sections copy_tables(const struct library *lib)
{
	size_t size = lib->s.readable_end - lib->s.eh_frame_hdr;
	size_t room = (size + BUILDER_PAGE - 1) & ~(BUILDER_PAGE - 1ul);
	struct rules_sections s = lib->s;
	uintptr_t copy, moved;
	uint8_t *area;

	area = mmap(NULL, room + 2 * BUILDER_PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(area != MAP_FAILED);
	mprotect(area, BUILDER_PAGE, PROT_NONE);
	mprotect(area + BUILDER_PAGE + room, BUILDER_PAGE, PROT_NONE);
	copy = (uintptr_t)area + BUILDER_PAGE + room - size;
	memcpy((void *)copy, (const void *)s.eh_frame_hdr, size);
	moved = copy - s.eh_frame_hdr;
	s.text_start += moved;
	s.text_end += moved;
	s.eh_frame_hdr = s.readable_start = copy;
	s.readable_end = copy + size;
	return s;
}

/* Thousands of changes to them: no crash, no hang, no read outside. */
static void test_broken_library(void **unused)
{
	const struct library lib = load_library();
	const struct rules_sections good = copy_tables(&lib);
	struct cfi_tables whole;
	struct rules_sections s = good;
	struct timespec begin, now;
	unsigned int round, i;
	struct round r;

	(void)unused;
	cfi_tables_init(&whole, &good);
	arena = builder_alloc(ARENA_SIZE);
	unwind_alloc = arena_alloc;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (round = 0; round < ROUNDS; round++) {
		choose(&r, &whole, &good);
		for (i = 0; i < PCS * CHANGES; i++) {
			r.was[i] = *r.at[i];
			*r.at[i] = draw(3) ? (uint8_t)draw(256) : 0xff;
		}
		/* Every twentieth by a linear pass. */
		s.eh_frame = round % 20 ? 0 : whole.frames;
		s.eh_frame_hdr = round % 20 ? good.eh_frame_hdr : 0;
		ask_broken(&s, &r);
		for (i = PCS * CHANGES; i-- > 0;)
			*r.at[i] = r.was[i];
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	assert_in_range(now.tv_sec - begin.tv_sec, 0, 60);
	/* Put together again, it is what it was. */
	choose(&r, &whole, &good);
	ask_broken(&good, &r);
	for (i = 0; i < PCS; i++)
		assert_int_not_equal(rules_find(image, r.pc[i]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_realigned),
		cmocka_unit_test(test_plt),
		cmocka_unit_test(test_complex),
		cmocka_unit_test(test_end_and_bad),
		cmocka_unit_test(test_signal_frames),
		cmocka_unit_test(test_dictionary),
		cmocka_unit_test(test_step_frames),
		cmocka_unit_test(test_step_complex),
		cmocka_unit_test(test_step_realigned),
		cmocka_unit_test(test_step_plt),
		cmocka_unit_test(test_step_signal),
		cmocka_unit_test(test_step_errors),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_broken_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
