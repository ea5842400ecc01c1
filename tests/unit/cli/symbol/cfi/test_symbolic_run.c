/*
 * test_symbolic_run.c: pieces of code of all machines, run symbolically: where
 * stack pointer, return address and saved registers are at each instruction.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <elf.h>

#include "cli/symbol/cfi/symbolic_run.h"

#define START UINT64_C(0x1000)

struct given {
	struct machine_decoder decoder;
	struct symbolic_state entry;
	struct symbolic_run run;
};

static void run_code(struct given *g, unsigned machine, bool big, bool thumb,
		     const void *bytes, size_t size)
{
	const struct machine *m = machine_of(machine, machine != EM_ARM);
	struct symbolic_wanted wanted = {
		.decoder = &g->decoder, .start = START, .end = START + size,
		.bytes = bytes, .entry = &g->entry,
	};

	memset(g, 0, sizeof(*g));
	assert_non_null(m);
	assert_true(machine_open(&g->decoder, m, big));
	g->decoder.thumb = thumb;
	machine_begin(m, &g->entry);
	symbolic_run(&g->run, &wanted);
}

static void done(struct given *g)
{
	symbolic_run_free(&g->run);
	machine_close(&g->decoder);
}

static struct symbolic_value value_at(const struct given *g, unsigned offset,
				      unsigned reg)
{
	const struct symbolic_node *node =
		symbolic_run_at(&g->run, START + offset);

	assert_non_null(node);
	assert_true(symbolic_is_valid(&node->state));
	return node->state.reg[reg];
}

static void assert_cfa(const struct given *g, unsigned offset, unsigned reg,
		       int64_t below)
{
	struct symbolic_value value = value_at(g, offset, reg);

	assert_int_equal(value.kind, SYMBOLIC_CFA);
	assert_int_equal(value.number, -below);
}

static void assert_saved(const struct given *g, unsigned offset, unsigned reg,
			 int64_t below)
{
	int64_t at = 0;

	assert_true(symbolic_saved(&symbolic_run_at(&g->run, START + offset)
				    ->state, reg, &at));
	assert_int_equal(at, -below);
}

/* ---- x86-64 ---- */

enum { RBX = 3, RBP = 6, RSP = 7, R10 = 10, X86_RA = 16 };

static void test_x86_frame(void **state)
{
	static const uint8_t code[] = {
		0x55,				/* push %rbp */
		0x48, 0x89, 0xe5,		/* mov %rsp,%rbp */
		0x53,				/* push %rbx */
		0x48, 0x83, 0xe4, 0xe0,		/* and $-32,%rsp */
		0x48, 0x83, 0xec, 0x40,		/* sub $64,%rsp */
		0x31, 0xdb,			/* xor %ebx,%ebx */
		0xe8, 0, 0, 0, 0,		/* call */
		0x48, 0x8b, 0x5d, 0xf8,		/* mov -8(%rbp),%rbx */
		0xc9,				/* leave */
		0xc3,				/* ret */
	};
	struct given g;

	(void)state;
	run_code(&g, EM_X86_64, false, false, code, sizeof(code));
	assert_cfa(&g, 0, RSP, 8);
	assert_cfa(&g, 5, RSP, 24);
	assert_cfa(&g, 5, RBP, 16);
	assert_saved(&g, 5, RBP, 16);
	assert_int_equal(value_at(&g, 9, RSP).kind, SYMBOLIC_ALIGNED);
	assert_int_equal(value_at(&g, 13, RSP).number, -64);
	assert_int_equal(value_at(&g, 15, RBX).kind, SYMBOLIC_UNKNOWN);
	assert_true(symbolic_same(value_at(&g, 24, RBX), symbolic_entry(RBX)));
	assert_cfa(&g, 25, RSP, 8);
	assert_saved(&g, 25, X86_RA, 8);
	assert_int_equal(g.run.exits, 1);
	assert_int_equal(g.run.odd_exits + g.run.bad + g.run.unreached, 0);
	done(&g);
}

/* The CFA is a word of the frame, which is found although the stack grows. */
static void test_x86_aligned(void **state)
{
	static const uint8_t code[] = {
		0x4c, 0x8d, 0x54, 0x24, 0x08,	/* lea 8(%rsp),%r10 */
		0x48, 0x83, 0xe4, 0xc0,		/* and $-64,%rsp */
		0x41, 0xff, 0x72, 0xf8,		/* push -8(%r10) */
		0x55,				/* push %rbp */
		0x48, 0x89, 0xe5,		/* mov %rsp,%rbp */
		0x41, 0x52,			/* push %r10 */
		0x53,				/* push %rbx */
		0x48, 0x29, 0xc4,		/* sub %rax,%rsp */
		0x48, 0x89, 0xe3,		/* mov %rsp,%rbx */
		0x48, 0x83, 0xe4, 0xc0,		/* and $-64,%rsp */
		0xe8, 0, 0, 0, 0,		/* call */
		0x48, 0x8d, 0x65, 0xf0,		/* lea -16(%rbp),%rsp */
		0x5b,				/* pop %rbx */
		0x41, 0x5a,			/* pop %r10 */
		0x5d,				/* pop %rbp */
		0x49, 0x8d, 0x62, 0xf8,		/* lea -8(%r10),%rsp */
		0xc3,				/* ret */
	};
	const struct symbolic_state *at;
	struct given g;
	int64_t word = 0;

	(void)state;
	run_code(&g, EM_X86_64, false, false, code, sizeof(code));
	assert_cfa(&g, 5, R10, 0);
	assert_int_equal(value_at(&g, 35, RSP).kind, SYMBOLIC_DYNAMIC);
	assert_int_equal(value_at(&g, 35, RBP).kind, SYMBOLIC_ALIGNED);
	assert_int_equal(value_at(&g, 35, RBP).number, -16);
	assert_int_equal(value_at(&g, 35, R10).kind, SYMBOLIC_UNKNOWN);
	at = &symbolic_run_at(&g.run, START + 35)->state;
	assert_true(symbolic_find(at, SYMBOLIC_ALIGNED, symbolic_cfa(0),
				  INT64_MIN, &word));
	assert_int_equal(word, -24);
	assert_false(symbolic_find(at, SYMBOLIC_ALIGNED, symbolic_cfa(0), -16,
				   &word));
	assert_true(symbolic_find(at, SYMBOLIC_ALIGNED, symbolic_entry(RBX),
				  INT64_MIN, &word));
	assert_int_equal(word, -32);
	assert_cfa(&g, 47, RSP, 8);
	assert_int_equal(g.run.exits, 1);
	assert_int_equal(g.run.odd_exits + g.run.bad + g.run.unreached, 0);
	done(&g);
}

/* Paths that meet with different stacks know nothing of it. */
static void test_x86_paths(void **state)
{
	static const uint8_t code[] = {
		0x74, 0x01,			/* je +1 */
		0x53,				/* push %rbx */
		0x90,				/* nop */
		0xc3,				/* ret */
	};
	struct given g;

	(void)state;
	run_code(&g, EM_X86_64, false, false, code, sizeof(code));
	assert_cfa(&g, 2, RSP, 8);
	assert_int_equal(value_at(&g, 3, RSP).kind, SYMBOLIC_UNKNOWN);
	assert_int_equal(g.run.odd_exits, 1);
	done(&g);
}

/* What follows a call that does not come back is known by who leads there. */
static void test_x86_no_return(void **state)
{
	static const uint8_t code[] = {
		0x74, 0x06,			/* je to the ret */
		0x50,				/* push %rax */
		0xe8, 0, 0, 0, 0,		/* call: abort */
		0xc3,				/* ret */
	};
	struct given g;

	(void)state;
	run_code(&g, EM_X86_64, false, false, code, sizeof(code));
	assert_cfa(&g, 8, RSP, 8);
	assert_int_equal(g.run.odd_exits, 0);
	done(&g);
}

/* Not known to Capstone: AVX512-FP16 has a length all the same; nonsense ends
 * the path. */
static void test_x86_unknown(void **state)
{
	static const uint8_t code[] = {
		/* vaddph 0x40(%rax),%zmm0,%zmm0 */
		0x62, 0xf5, 0x7c, 0x48, 0x58, 0x40, 0x01,
		0xf3, 0x48, 0x0f, 0x1e, 0xc8,	/* rdsspq %rax */
		0x06,				/* nothing */
	};
	struct given g;

	(void)state;
	run_code(&g, EM_X86_64, false, false, code, sizeof(code));
	assert_cfa(&g, 12, RSP, 8);
	assert_int_equal(g.run.guessed, 1);
	assert_int_equal(g.run.bad, 1);
	assert_int_equal(g.run.first_bad, START + 12);
	done(&g);
}

/* ---- those with words ---- */

static enum symbolic_signed signed_at(const struct given *g, unsigned offset)
{
	return symbolic_run_at(&g->run, START + offset)->state.signed_ra;
}

/* Realigned stacks may end so, if what they keep is not followed: it is no other
 * function that this one goes on in. */
static void test_x86_lost(void **state)
{
	static const uint8_t code[] = {
		0x48, 0x83, 0xec, 0x08,		/*  0: sub $8, %rsp */
		0xe8, 0x00, 0x01, 0x00, 0x00,	/*  4: call */
		0x49, 0x8d, 0x62, 0xf8,		/*  9: lea -8(%r10), %rsp */
		0xc3				/* 13: ret */
	};
	struct given g;

	(void)state;
	run_code(&g, EM_X86_64, false, false, code, sizeof(code));
	assert_true(g.run.lost);
	assert_int_equal(g.run.odd_exits, 1);
	done(&g);
}

static void test_aarch64(void **state)
{
	static const uint32_t code[] = {
		0xd503233f,	/* paciasp */
		0xa9be7bfd,	/* stp x29, x30, [sp, #-32]! */
		0x910003fd,	/* mov x29, sp */
		0x6d0127e8,	/* stp d8, d9, [sp, #16] */
		0x1e602008,	/* fcmp d0, #0.0 */
		0xf8210001,	/* ldadd x1, x1, [x0] */
		0x97fffff0,	/* bl */
		0x6d4127e8,	/* ldp d8, d9, [sp, #16] */
		0xa8c27bfd,	/* ldp x29, x30, [sp], #32 */
		0xd50323bf,	/* autiasp */
		0xd65f03c0,	/* ret */
	};
	struct given g;

	(void)state;
	run_code(&g, EM_AARCH64, false, false, code, sizeof(code));
	assert_cfa(&g, 8, 31, 32);
	assert_cfa(&g, 12, 29, 32);
	assert_saved(&g, 12, 30, 24);
	assert_saved(&g, 16, SYMBOLIC_FLOATS + 1, 8);
	assert_true(symbolic_same(value_at(&g, 20, SYMBOLIC_FLOATS),
				  symbolic_entry(SYMBOLIC_FLOATS)));
	assert_int_equal(value_at(&g, 28, 30).kind, SYMBOLIC_UNKNOWN);
	assert_int_equal(signed_at(&g, 0), SYMBOLIC_PLAIN);
	assert_int_equal(signed_at(&g, 28), SYMBOLIC_SIGNED);
	assert_true(symbolic_same(value_at(&g, 36, 30), symbolic_entry(30)));
	assert_cfa(&g, 36, 31, 0);
	assert_int_equal(signed_at(&g, 40), SYMBOLIC_PLAIN);
	assert_int_equal(g.run.exits, 1);
	done(&g);
}

/* A return address that is signed on one of two paths. */
static void test_signed_either(void **state)
{
	static const uint32_t code[] = {
		0xb4000040,	/* cbz x0, to the third */
		0xd503233f,	/* paciasp */
		0xd503201f,	/* nop */
		0xd50323bf,	/* autiasp */
		0xd65f03c0,	/* ret */
	};
	struct given g;

	(void)state;
	run_code(&g, EM_AARCH64, false, false, code, sizeof(code));
	assert_int_equal(signed_at(&g, 4), SYMBOLIC_PLAIN);
	assert_int_equal(signed_at(&g, 8), SYMBOLIC_EITHER);
	assert_int_equal(signed_at(&g, 12), SYMBOLIC_EITHER);
	assert_int_equal(signed_at(&g, 16), SYMBOLIC_PLAIN);
	done(&g);
}

/* Where another function begins behind a call, which cannot come back then, and
 * behind a jump by a register. */
static void test_next_function(void **state)
{
	static const uint32_t call[] = {
		0xa9bf7bfd,	/*  0: stp x29, x30, [sp, #-16]! */
		0x97fffff0,	/*  4: bl */
		0xa9be7bfd,	/*  8: stp x29, x30, [sp, #-32]! */
		0xd503201f,	/* 12: nop */
		0xa8c27bfd,	/* 16: ldp x29, x30, [sp], #32 */
		0xd65f03c0,	/* 20: ret */
	};
	static const uint32_t jump[] = {
		0xa9bf7bfd,	/*  0: stp x29, x30, [sp, #-16]! */
		0x97fffff0,	/*  4: bl */
		0xd61f0000,	/*  8: br x0 */
		0xa8c17bfd,	/* 12: ldp x29, x30, [sp], #16 */
		0xd65f03c0,	/* 16: ret */
		0xa9be7bfd,	/* 20: stp x29, x30, [sp, #-32]! */
		0xa8c27bfd,	/* 24: ldp x29, x30, [sp], #32 */
		0xd65f03c0,	/* 28: ret */
	};
	struct given g;

	(void)state;
	run_code(&g, EM_AARCH64, false, false, call, sizeof(call));
	assert_true(g.run.odd_exits > 0);
	assert_int_equal(g.run.odd_from, START + 8);
	assert_true(g.run.odd_is_call);
	done(&g);
	run_code(&g, EM_AARCH64, false, false, jump, sizeof(jump));
	assert_true(g.run.odd_exits > 0);
	assert_int_equal(g.run.odd_from, START + 20);
	assert_false(g.run.odd_is_call);
	done(&g);
}

static bool none_goes_on(void *owner, uint64_t to, bool bare)
{
	(void)owner;
	(void)to;
	return bare;
}

/* A call that does not come back is to blame also where the function behind it
 * calls others; no call is that leads to a proper exit. */
static void test_suspects(void **state)
{
	static const uint8_t none[] = {
		0x50,				/*  0: push rax */
		0xe8, 0, 0xf0, 0xff, 0xff,	/*  1: call */
		0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0,
		0x53,				/* 16: push rbx */
		0xe8, 0, 0xf0, 0xff, 0xff,	/* 17: call */
		0x5b,				/* 22: pop rbx */
		0xc3,				/* 23: ret */
	};
	static const uint8_t jumps[] = {
		0x50,				/*  0: push rax */
		0xe8, 0, 0xf0, 0xff, 0xff,	/*  1: call, comes back */
		0x85, 0xc0,			/*  6: test eax, eax */
		0x74, 5,			/*  8: je 15 */
		0xe8, 0, 0xf0, 0xff, 0xff,	/* 10: call, does not */
		0x58,				/* 15: pop rax */
		0xc3,				/* 16: ret */
		0xe8, 0, 0xf0, 0xff, 0xff,	/* 17: nothing leads here */
	};
	struct given g;
	uint32_t outer;

	(void)state;
	run_code(&g, EM_X86_64, false, false, none, sizeof(none));
	assert_true(g.run.odd_exits > 0 && g.run.odd_is_call);
	assert_int_equal(g.run.odd_from, START + 22);
	assert_int_equal(symbolic_run_suspect(&g.run, g.run.odd_call, &outer),
			 START + 22);
	assert_int_equal(symbolic_run_suspect(&g.run, outer, &outer), START + 6);
	assert_int_equal(outer, 0);
	done(&g);
	run_code(&g, EM_X86_64, false, false, jumps, sizeof(jumps));
	assert_int_equal(g.run.odd_exits, 0);
	/* the second goes on in code that the first one leads to an exit */
	assert_int_equal(symbolic_run_suspect(&g.run, 2, &outer), START + 15);
	assert_int_equal(outer, 0);
	done(&g);
}

/* A jump with a frame to what is a function is of no function that has it. */
static void test_jump_with_frame(void **state)
{
	static const uint8_t code[] = {
		0x50,				/* push rax */
		0xe9, 0, 0xf0, 0xff, 0xff,	/* jmp */
	};
	struct symbolic_wanted wanted;
	struct given g;

	(void)state;
	run_code(&g, EM_X86_64, false, false, code, sizeof(code));
	assert_int_equal(g.run.odd_exits, 0);
	wanted = g.run.wanted;
	wanted.leaves = none_goes_on;
	symbolic_run_free(&g.run);
	symbolic_run(&g.run, &wanted);
	assert_int_equal(g.run.odd_exits, 1);
	assert_int_equal(g.run.odd_from, 0);
	done(&g);
}

/* Delay slots, in both orders of bytes. */
static void test_mips64(void **state)
{
	static const uint32_t code[] = {
		0x67bdfff0,	/* daddiu sp, sp, -16 */
		0xffbf0008,	/* sd ra, 8(sp) */
		0x0320f809,	/* jalr t9 */
		0x64040001,	/* daddiu a0, zero, 1 */
		0xdfbf0008,	/* ld ra, 8(sp) */
		0x03e00008,	/* jr ra */
		0x67bd0010,	/* daddiu sp, sp, 16 */
	};
	uint32_t swapped[sizeof(code) / sizeof(*code)];
	struct given g;

	(void)state;
	for (size_t i = 0; i < sizeof(code) / sizeof(*code); i++)
		swapped[i] = __builtin_bswap32(code[i]);
	for (int big = 0; big < 2; big++) {
		run_code(&g, EM_MIPS, big, false, big ? swapped : code,
			 sizeof(code));
		assert_cfa(&g, 8, 29, 16);
		assert_saved(&g, 16, 31, 8);
		assert_int_equal(value_at(&g, 16, 31).kind, SYMBOLIC_UNKNOWN);
		assert_true(symbolic_same(value_at(&g, 24, 31),
					  symbolic_entry(31)));
		assert_cfa(&g, 24, 29, 16);	/* in the slot, before it */
		assert_int_equal(g.run.exits, 1);
		assert_int_equal(g.run.odd_exits, 0);
		done(&g);
	}
}

static void test_arm(void **state)
{
	static const uint32_t code[] = {
		0xe92d4010,	/* push {r4, lr} */
		0xe24dd008,	/* sub sp, sp, #8 */
		0xe28dd008,	/* add sp, sp, #8 */
		0x18bd8010,	/* popne {r4, pc} */
		0xe8bd8010,	/* pop {r4, pc} */
	};
	struct given g;

	(void)state;
	run_code(&g, EM_ARM, false, false, code, sizeof(code));
	assert_cfa(&g, 8, 13, 16);
	assert_saved(&g, 8, 14, 4);
	assert_saved(&g, 8, 4, 8);
	assert_cfa(&g, 16, 13, 8);
	assert_int_equal(g.run.exits, 1);
	done(&g);
}

/* Double registers that calls preserve. */
static void test_arm_doubles(void **state)
{
	static const uint32_t code[] = {
		0xe92d4010,	/*  0: push {r4, lr} */
		0xed2d8b04,	/*  4: vpush {d8, d9} */
		0xeeb08b40,	/*  8: vmov.f64 d8, d0 */
		0xeeb09a40,	/* 12: vmov.f32 s18, s0 */
		0xe59f0000,	/* 16: ldr r0, [pc] */
		0xed9d9b02,	/* 20: vldr d9, [sp, #8] */
		0xecbd8b02,	/* 24: vpop {d8} */
		0xe28dd008,	/* 28: add sp, sp, #8 */
		0xe8bd8010,	/* 32: pop {r4, pc} */
	};
	enum { D8 = SYMBOLIC_FLOATS, D9 };
	struct given g;

	(void)state;
	run_code(&g, EM_ARM, false, false, code, sizeof(code));
	assert_cfa(&g, 8, 13, 24);
	assert_saved(&g, 8, D8, 24);
	assert_saved(&g, 8, D9, 16);
	assert_int_equal(value_at(&g, 12, D8).kind, SYMBOLIC_UNKNOWN);
	assert_true(symbolic_same(value_at(&g, 12, D9), symbolic_entry(D9)));
	assert_int_equal(value_at(&g, 16, D9).kind, SYMBOLIC_UNKNOWN);
	done(&g);
}

/* IT blocks, tables of jumps in the code, constants. */
static void test_thumb(void **state)
{
	static const uint16_t code[] = {
		0xb580,		/*  0: push {r7, lr} */
		0xaf00,		/*  2: add r7, sp, #0 */
		0xbf18, 0xb082,	/*  4: it ne; subne sp, #8 */
		0x46bd,		/*  8: mov sp, r7 */
		0x4904,		/* 10: ldr r1, [pc, #16] */
		0x2801, 0xd803,	/* 12: cmp r0, #1; bhi 24 */
		0xe8df, 0xf000,	/* 16: tbb [pc, r0] */
		0x0201,		/* 20: 1, 2 */
		0xbd80,		/* 22: pop {r7, pc} */
		0xbd80,		/* 24: pop {r7, pc} */
		0x0000,		/* 26 */
		0xffff, 0xffff,	/* 28: the constant that was loaded */
	};
	struct given g;

	(void)state;
	run_code(&g, EM_ARM, false, true, code, sizeof(code));
	assert_cfa(&g, 4, 7, 8);
	assert_int_equal(value_at(&g, 8, 13).kind, SYMBOLIC_UNKNOWN);
	assert_cfa(&g, 10, 13, 8);
	assert_null(symbolic_run_at(&g.run, START + 20));
	assert_cfa(&g, 22, 13, 8);
	assert_cfa(&g, 24, 13, 8);
	assert_int_equal(g.run.exits, 2);
	assert_int_equal(g.run.bad, 0);
	assert_int_equal(g.run.unreached, 0);
	assert_false(g.run.lost);
	done(&g);
}

/* What lies behind a table may look like more of it. */
static void test_thumb_table(void **state)
{
	static const uint16_t code[] = {
		0xb580,		/*  0: push {r7, lr} */
		0x2801,		/*  2: cmp r0, #1 */
		0xf200, 0x8007,	/*  4: bhi.w 22 */
		0xe8df, 0xf010,	/*  8: tbh [pc, r0, lsl #1] */
		0x0002, 0x0005,	/* 12: 16, 22 */
		0x0004,		/* 16: movs r4, r0; or 20 */
		0xb082,		/* 18: sub sp, #8 */
		0xb002,		/* 20: add sp, #8 */
		0xbd80,		/* 22: pop {r7, pc} */
	};
	static const uint16_t unbounded[] = {
		0xb580,		/*  0: push {r7, lr} */
		0xe8df, 0xf000,	/*  2: tbb [pc, r0] */
		0x0201,		/*  6: 1, 2 */
		0xbd80,		/*  8: pop {r7, pc} */
		0xbd80,		/* 10: pop {r7, pc} */
	};
	struct given g;

	(void)state;
	run_code(&g, EM_ARM, false, true, code, sizeof(code));
	assert_cfa(&g, 16, 13, 8);
	assert_cfa(&g, 20, 13, 16);
	assert_cfa(&g, 22, 13, 8);
	assert_false(g.run.lost);
	done(&g);
	run_code(&g, EM_ARM, false, true, unbounded, sizeof(unbounded));
	assert_true(g.run.lost);
	done(&g);
}

/* Offsets with a sign, which may lead back. */
static void test_thumb_offsets(void **state)
{
	static const uint16_t code[] = {
		0xb580,			/*  0: push {r7, lr} */
		0xf1b0, 0x0f01,		/*  2: cmp.w r0, #1 */
		0xd80b,			/*  6: bhi 32 */
		0xa102,			/*  8: adr r1, 20 */
		0xf851, 0x2020,		/* 10: ldr.w r2, [r1, r0, lsl #2] */
		0x4411,			/* 14: add r1, r2 */
		0x4708,			/* 16: bx r1 */
		0xbf00,			/* 18: nop */
		0x0009, 0x0000,		/* 20: 28 */
		0xffef, 0xffff,		/* 24: 2 */
		0xb082,			/* 28: sub sp, #8 */
		0xb002,			/* 30: add sp, #8 */
		0xbd80,			/* 32: pop {r7, pc} */
	};
	struct given g;

	(void)state;
	run_code(&g, EM_ARM, false, true, code, sizeof(code));
	assert_null(symbolic_run_at(&g.run, START + 20));
	assert_null(symbolic_run_at(&g.run, START + 24));
	assert_cfa(&g, 2, 13, 8);
	assert_cfa(&g, 28, 13, 8);
	assert_cfa(&g, 30, 13, 16);
	assert_cfa(&g, 32, 13, 8);
	assert_int_equal(g.run.indirect, 0);
	assert_int_equal(g.run.unreached, 0);
	assert_false(g.run.lost);
	done(&g);
}

#define LARGE_WORDS 129		/* of code, for 257 bytes of a table */

/* A comparison whose number is eight bits that were turned. */
static void test_thumb_large_table(void **state)
{
	uint16_t code[8 + LARGE_WORDS] = {
		0xb580,			/*  0: push {r7, lr} */
		0xf5b0, 0x7f80,		/*  2: cmp.w r0, #256 */
		0xf200, 0x8083,		/*  6: bhi.w behind the table */
		0xe8df, 0xf000,		/* 10: tbb [pc, r0] */
	};
	const uint64_t behind = 14 + 2 * LARGE_WORDS;
	struct given g;
	unsigned i;

	(void)state;
	for (i = 0; i < LARGE_WORDS; i++)
		code[7 + i] = LARGE_WORDS << 8 | LARGE_WORDS;
	code[7 + LARGE_WORDS] = 0xbd80;	/* pop {r7, pc} */
	run_code(&g, EM_ARM, false, true, code, sizeof(code));
	assert_null(symbolic_run_at(&g.run, START + 14));
	assert_null(symbolic_run_at(&g.run, START + behind - 2));
	assert_cfa(&g, behind, 13, 8);
	assert_int_equal(symbolic_run_unreached(&g.run, START),
			 START + sizeof(code));
	assert_int_equal(g.run.unreached, 0);
	assert_false(g.run.lost);
	done(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86_frame),
		cmocka_unit_test(test_x86_aligned),
		cmocka_unit_test(test_x86_paths),
		cmocka_unit_test(test_x86_no_return),
		cmocka_unit_test(test_x86_unknown),
		cmocka_unit_test(test_x86_lost),
		cmocka_unit_test(test_aarch64),
		cmocka_unit_test(test_signed_either),
		cmocka_unit_test(test_next_function),
		cmocka_unit_test(test_suspects),
		cmocka_unit_test(test_jump_with_frame),
		cmocka_unit_test(test_mips64),
		cmocka_unit_test(test_arm),
		cmocka_unit_test(test_arm_doubles),
		cmocka_unit_test(test_thumb),
		cmocka_unit_test(test_thumb_table),
		cmocka_unit_test(test_thumb_offsets),
		cmocka_unit_test(test_thumb_large_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
