/*
 * test_patch_plan_code.c: beginnings of functions are moved elsewhere and run
 * there; what cannot be moved is refused. The functions are below, in
 * assembler: from NAME to NAME_end, and something else from there on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/run/patch_plan_code.h"
#include "preload/patch/patch.h"

typedef long function(long a, long b);

/* name, instructions */
#define ODD(name, code)                                                   \
	__asm__(".text\n.p2align 4\n" #name ":\n" code "\n" #name "_end:\n" \
		".p2align 4\n.byte 0x0f, 0x0b\n");                        \
	extern const uint8_t name[] __attribute__((visibility("hidden"))); \
	extern const uint8_t name##_end[]                                 \
		__attribute__((visibility("hidden")))

long odd_value = 1000;
long odd_helper(long a, long b);
function *odd_pointer = odd_helper;

__attribute__((noinline)) long odd_helper(long a, long b)
{
	return 3 * a + b;
}

ODD(odd_plain, "push %rbp; mov %rsp,%rbp; mov %rdi,%rax; add %rsi,%rax;"
	       "pop %rbp; ret");
ODD(odd_endbr, "endbr64; lea 7(%rdi,%rsi),%rax; ret");
ODD(odd_relative, "mov odd_value(%rip),%rax; add %rdi,%rax; ret");
ODD(odd_immediate, "cmpq $1000,odd_value(%rip); mov $0,%eax; jne 1f;"
		   "lea (%rdi,%rsi),%rax; 1: ret");
ODD(odd_address, "lea odd_value(%rip),%rax; mov (%rax),%rax; ret");
ODD(odd_branch, "test %rdi,%rdi; je 1f; mov %rsi,%rax; ret;"
		"1: mov $77,%eax; ret");
ODD(odd_branch_first, "jrcxz 1f; 1: mov $77,%eax; ret");
ODD(odd_far_branch, "test %edi,%edi; jle 1f; mov $5,%eax; ret; .skip 200,0x90;"
		    "1: mov $6,%eax; ret");
ODD(odd_jump, "jmp 1f; .skip 140,0x90; 1: mov %rsi,%rax; ret");
ODD(odd_short_jump, "jmp 1f; nop; nop; 1: mov %rsi,%rax; ret");
ODD(odd_tail, "jmp odd_helper");
ODD(odd_tail_indirect, "jmp *odd_pointer(%rip)");
ODD(odd_call, "push %rbx; call odd_helper; pop %rbx; add $1,%rax; ret");
ODD(odd_call_relative, "push %rbx; nop; call *odd_pointer(%rip); pop %rbx;"
		       "add $1,%rax; ret");
ODD(odd_call_register, "lea odd_helper(%rip),%rax; push %rbx; call *%rax;"
		       "pop %rbx; ret");
ODD(odd_call_early, "push %rbx; mov %rsi,%rbx; call *%rdi; pop %rbx; ret");
ODD(odd_call_stack, "sub $8,%rsp; call *(%rsp); add $8,%rsp; ret");
ODD(odd_empty, "ret");
ODD(odd_two, "mov %edi,%eax; ret");
ODD(odd_falls, "nop");
ODD(odd_again, "dec %rdi; jg odd_again; mov %rsi,%rax; ret");
ODD(odd_loop, "mov %rsi,%rax; 1: dec %rdi; jg 1b; add $1,%rax; ret");
ODD(odd_back, "xor %eax,%eax; 1: inc %rax; nop; nop; nop; cmp %rdi,%rax;"
	      "jl 1b; ret");
ODD(odd_counter, "mov %rdi,%rcx; loop 1f; 1: mov %rsi,%rax; ret");
ODD(odd_bytes, "mov %rdi,%rax; add %rsi,%rax; .byte 6; ret");
ODD(odd_segment, "mov %fs:0,%rax; mov %rdi,%rax; ret");
/* by a table of distances, of which one leads to the second instruction */
ODD(odd_table, "xor %eax,%eax; 1: mov %rdi,%rax; lea 2f(%rip),%rdx;"
	       "movslq (%rdx,%rsi,4),%rcx; add %rdx,%rcx; jmp *%rcx; 3: ret;"
	       ".section .rodata; .p2align 2; 2: .long 3b-2b, 1b-2b; .text");
ODD(odd_good_table, "xor %eax,%eax; mov %rdi,%rax; lea 2f(%rip),%rdx;"
		    "movslq (%rdx,%rsi,4),%rcx; add %rdx,%rcx; jmp *%rcx;"
		    "3: ret; 4: inc %rax; ret;"
		    ".section .rodata; .p2align 2; 2: .long 3b-2b, 4b-2b;"
		    ".text");
/* the same, with many strings in front, as in code without optimisation */
#define STRINGS ".set at,0; .rept 300; lea 9f+at(%rip),%r8; .set at,at+8;" \
		".endr; .pushsection .rodata; 9: .fill 300,8,1; .popsection;"
ODD(odd_many, "xor %eax,%eax; 1: mov %rdi,%rax;" STRINGS "lea 2f(%rip),%rdx;"
	      "movslq (%rdx,%rsi,4),%rcx; add %rdx,%rcx; jmp *%rcx; 3: ret;"
	      ".section .rodata; .p2align 2; 2: .long 3b-2b, 1b-2b; .text");
ODD(odd_good_many, "xor %eax,%eax; mov %rdi,%rax;" STRINGS
		   "lea 2f(%rip),%rdx; movslq (%rdx,%rsi,4),%rcx;"
		   "add %rdx,%rcx; jmp *%rcx; 3: ret; 4: inc %rax; ret;"
		   ".section .rodata; .p2align 2; 2: .long 3b-2b, 4b-2b;"
		   ".text");
ODD(odd_leaf, "call odd_plain; ret");

static const uint8_t *own_read(const struct patch_plan_memory *memory,
			       uint64_t address, size_t size, size_t *left)
{
	(void)memory;
	(void)size;
	if (left)
		*left = 64;
	return (const uint8_t *)(uintptr_t)address;
}

extern const uint8_t __executable_start[], etext[];

static bool own_code(const struct patch_plan_memory *memory, uint64_t address)
{
	(void)memory;
	return address >= (uintptr_t)__executable_start &&
		address < (uintptr_t)etext;
}

static const struct patch_plan_memory own = { own_read, own_code };

static struct patch_plan_function extent(const uint8_t *start,
					 const uint8_t *end)
{
	/* padding up to the ud2 behind it */
	uintptr_t limit = ((uintptr_t)end + 15) & ~(uintptr_t)15;

	return (struct patch_plan_function){ (uintptr_t)start, (uintptr_t)end,
				       limit };
}

/* A page that a jump reaches from here. */
static uint8_t *near_page(void)
{
	static uint8_t *page;

	for (uintptr_t at = (uintptr_t)__executable_start & ~UINT64_C(0xfff);
	     !page; at -= 0x10000) {
		void *got = mmap((void *)(at - 0x10000), 4096,
				 PROT_READ | PROT_WRITE | PROT_EXEC,
				 MAP_PRIVATE | MAP_ANONYMOUS |
				 MAP_FIXED_NOREPLACE, -1, 0);

		if (got != MAP_FAILED)
			page = got;
	}
	return page;
}

static function *place(const struct patch_plan_moved *moved)
{
	struct patch_function f = {
		.entry = { .code_size = (uint8_t)moved->code_size,
			   .fix_count = (uint8_t)moved->fix_count },
	};
	static uint8_t *to;

	if (!to)
		to = near_page();
	to += 128;
	memcpy(f.code, moved->code, sizeof(f.code));
	memcpy(f.fixes, moved->fixes, sizeof(f.fixes));
	assert_true(patch_move(&f, 0, to, (uintptr_t)to));
	return (function *)(uintptr_t)to;
}

/* Moved, it does what it did. */
static void moves(const char *name, const uint8_t *start, const uint8_t *end)
{
	static const long values[] = { 0, 1, -1, 5, 100 };
	struct patch_plan_function f = extent(start, end);
	function *bare = (function *)(uintptr_t)start, *elsewhere;
	struct patch_plan_moved moved;
	const char *refused = patch_plan_code_move(&own, &f, &moved);

	if (refused)
		fail_msg("%s %s", name, refused);
	assert_in_range(moved.displaced, PATCH_JUMP, PATCH_DISPLACED_MAX);
	elsewhere = place(&moved);
	for (unsigned a = 0; a < 5; a++)
		for (long b = 0; b < 2; b++)
			assert_int_equal(elsewhere(values[a], b),
					 bare(values[a], b));
}

static void refuses(const char *name, const uint8_t *start,
		    const uint8_t *end, uint64_t limit, const char *why)
{
	struct patch_plan_function f = extent(start, end);
	struct patch_plan_moved moved;
	const char *refused;

	if (limit)
		f.limit = limit;
	refused = patch_plan_code_move(&own, &f, &moved);
	if (!refused || !strstr(refused, why))
		fail_msg("%s: %s", name, refused ? refused : "not refused");
}

#define MOVES(name) moves(#name, name, name##_end)
#define REFUSES(name, why) refuses(#name, name, name##_end, 0, why)

static void test_moved(void **state)
{
	(void)state;
	MOVES(odd_plain);
	MOVES(odd_endbr);
	MOVES(odd_segment);
	MOVES(odd_relative);
	MOVES(odd_immediate);
	MOVES(odd_address);
	MOVES(odd_branch);
	MOVES(odd_far_branch);
	MOVES(odd_jump);
	MOVES(odd_tail);
	MOVES(odd_tail_indirect);
	MOVES(odd_call);
	MOVES(odd_call_relative);
	MOVES(odd_call_register);
	MOVES(odd_two);
	MOVES(odd_again);
	MOVES(odd_good_table);
	MOVES(odd_good_many);
}

static void test_refused(void **state)
{
	(void)state;
	REFUSES(odd_branch_first, "loop");
	REFUSES(odd_counter, "loop");
	REFUSES(odd_loop, "branch back");
	REFUSES(odd_back, "branch back");
	REFUSES(odd_bytes, "cannot be decoded");
	REFUSES(odd_table, "jump table");
	REFUSES(odd_many, "jump table that leads to its beginning");
	REFUSES(odd_call_stack, "call that cannot be moved");
	REFUSES(odd_falls, "shorter");
	/* its own short jump leads to what would be overwritten */
	REFUSES(odd_short_jump, "branch back");
}

static void test_short(void **state)
{
	struct patch_plan_function f = extent(odd_empty, odd_empty_end);
	struct patch_plan_moved moved;

	(void)state;
	/* padding belongs to nobody */
	assert_null(patch_plan_code_move(&own, &f, &moved));
	assert_in_range(moved.displaced, PATCH_JUMP, 15);
	assert_int_equal(moved.code_size, 1);
	/* but another function begins there */
	for (uint64_t n = 1; n < PATCH_JUMP; n++)
		refuses("odd_empty", odd_empty, odd_empty_end,
			(uintptr_t)odd_empty + n, "shorter");
	refuses("odd_two", odd_two, odd_two_end, (uintptr_t)odd_two_end,
		"shorter");
}

static void test_calls(void **state)
{
	struct patch_plan_function tail = extent(odd_tail, odd_tail_end);
	struct patch_plan_function plain = extent(odd_plain, odd_plain_end);
	struct patch_plan_function leaf = extent(odd_leaf, odd_leaf_end);
	struct patch_plan_function out = extent(odd_call_relative,
						odd_call_relative_end);

	(void)state;
	assert_int_equal(patch_plan_code_forwards(&own, &tail),
			 (uintptr_t)odd_helper);
	assert_int_equal(patch_plan_code_forwards(&own, &plain), 0);
	assert_false(patch_plan_code_calls_out(&own, &plain));
	assert_false(patch_plan_code_calls_out(&own, &leaf));
	assert_true(patch_plan_code_calls_out(&own, &out));
	assert_true(patch_plan_code_begins(&own, plain.entry, plain.entry + 1));
	assert_false(
		patch_plan_code_begins(&own, plain.entry, plain.entry + 2));
}

static bool all_code(const struct patch_plan_memory *memory, uint64_t address)
{
	(void)memory;
	(void)address;
	return true;
}

/* The nearest symbol is far away, and what lies between cannot all be read: an
 * instruction's bytes look like a call, or there is one. */
static void test_begins_behind_the_unreadable(void **state)
{
	static uint8_t code[1000];
	static const struct patch_plan_memory own = { own_read, all_code };
	const uint8_t move[3] = { 0x41, 0x89, 0xe8 };	/* mov %ebp, %r8d */
	uint64_t from = (uintptr_t)code;
	size_t at;

	(void)state;
	for (at = 0; at + sizeof(move) <= sizeof(code); at += sizeof(move))
		memcpy(code + at, move, sizeof(move));
	code[0] = 0x06;		/* push %es: not in 64-bit mode */
	for (at = 600; at < 630; at += sizeof(move)) {
		assert_true(patch_plan_code_begins(&own, from, from + at));
		assert_false(patch_plan_code_begins(&own, from, from + at + 2));
	}
	/* nothing is known of it */
	assert_true(patch_plan_code_begins(&own, from, from + 5));
	/* nor if that cannot be read which is just before it */
	code[600] = 0x06;
	assert_true(patch_plan_code_begins(&own, from, from + 601 + 2));
	memset(code, 0x06, sizeof(code));
	assert_true(patch_plan_code_begins(&own, from, from + 602));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_short),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_begins_behind_the_unreadable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
