/*
 * test_contract.c: what arch/arch.h asks of a port, as far as it can be said
 * without knowing which: the same on each architecture, by plain C that is slow
 * and right.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "arch.h"
#include "signal_frame.h"

#define ROUNDS 20000
#define NEAR 4096		/* bytes of code, or of stack */

static uint64_t seed = 1;

static uint64_t draw(void)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return seed >> 20;
}

/* ---- words ---- */

static void tags(void **unused)
{
	_Alignas(64) _Atomic uint64_t word[8];
	unsigned round, i;

	(void)unused;
	for (round = 0; round < ROUNDS; round++) {
		uint32_t tag = (uint32_t)draw() % 3, wanted = 0;

		for (i = 0; i < 8; i++) {
			word[i] = draw() % 3 << 32 | (uint32_t)draw();
			if (word[i] >> 32 == tag)
				wanted |= 1u << (2 * i + 1);
		}
		assert_int_equal(arch_tags_are(word, tag), wanted);
	}
}

struct blocks {
	uint16_t at[16];
	_Alignas(16) uintptr_t value[16];
};

static void blocks(void **unused)
{
	uintptr_t base[300];
	struct blocks list;
	unsigned round, i;

	(void)unused;
	for (i = 0; i < 300; i++)
		base[i] = (uintptr_t)(draw() << 32 | (uint32_t)draw());
	for (round = 0; round < ROUNDS; round++) {
		unsigned n = 4 * (1 + (unsigned)draw() % 4);
		unsigned bad = (unsigned)draw() % 20;

		for (i = 0; i < n; i++) {
			list.at[i] = (uint16_t)(draw() % 299);
			list.value[i] = base[list.at[i]];
		}
		if (bad < n)
			list.value[bad] ^= (uintptr_t)1 << draw() %
							 (8 * ARCH_WORD);
		assert_int_equal(arch_blocks_equal(
					 base, &list,
					 offsetof(struct blocks, at),
					 offsetof(struct blocks, value),
					 n * sizeof(*list.at)),
				 bad >= n);
	}
}

static void pairs(void **unused)
{
	uintptr_t base[64];
	_Alignas(16) uintptr_t value[4];
	uint16_t at[2];
	unsigned round, i;

	(void)unused;
	for (i = 0; i < 64; i++)
		base[i] = (uintptr_t)draw();
	for (round = 0; round < ROUNDS; round++) {
		unsigned bad = (unsigned)draw() % 8;

		for (i = 0; i < 2; i++) {
			at[i] = (uint16_t)(draw() % 63);
			value[2 * i] = base[at[i]];
			value[2 * i + 1] = base[at[i] + 1];
		}
		if (bad < 4)
			value[bad]++;
		assert_int_equal(arch_pairs_equal(base, at, value), bad >= 4);
	}
}

static void one_word(void **unused)
{
	_Atomic uint64_t word = UINT64_C(0x8000000000000010);

	(void)unused;
	assert_true(arch_word_is(&word, UINT64_C(0x8000000000000010)));
	assert_false(arch_word_is(&word, 0x10));
	assert_true(arch_word_has(&word, 0x30));
	assert_false(arch_word_has(&word, 0xf));
}

/* ---- rules ---- */

/* Whatever fits into a word comes out of it again, and of that into three bits
 * where the return address is. */
static void rules_in_words(void **unused)
{
	unsigned round, fitted = 0, short_steps = 0;

	(void)unused;
	for (round = 0; round < 50 * ROUNDS; round++) {
		int32_t cfa_off = (int32_t)(draw() % 200) * 8;
		int16_t fp_off = (int16_t)-(int)(draw() % 40);
		int64_t offset = round % 2 ? (fp_off + 1) * ARCH_WORD :
					     -(int64_t)(draw() % 40) * 8;
		uintptr_t base = (uintptr_t)draw() * 16, slot;
		uint32_t word, step;
		unsigned ra;

		if (!arch_rule_ra(offset, fp_off, &ra))
			continue;
		assert_int_equal(arch_rule_ra_offset(fp_off, ra), offset);
		if (!arch_rule_word(cfa_off, fp_off, ra, false, &word))
			continue;
		fitted++;
		assert_int_equal(word >> 28, 0);
		assert_int_equal((word & ARCH_RULE_SIZE_MAX) * ARCH_RULE_UNIT,
				 cfa_off);
		slot = arch_rule_slot(base, base + (uintptr_t)cfa_off, word);
		assert_int_equal(slot, base + (uintptr_t)(cfa_off + offset));
		step = arch_step_ra(word, word & ARCH_RULE_SIZE_MAX);
		short_steps += step < 8;
		if (step < 8)
			assert_int_equal(
				arch_step_slot(base, base + (uintptr_t)cfa_off,
					       step), slot);
		word = word >> ARCH_RULE_FP_SHIFT & ARCH_RULE_FP_MAX;
		assert_int_equal(word == 0, fp_off == 0);
		if (word)
			assert_int_equal(
				arch_rule_fp_at(base + (uintptr_t)cfa_off,
						slot, word),
				base + (uintptr_t)(cfa_off +
						   fp_off * ARCH_WORD));
	}
	assert_true(fitted > ROUNDS / 10);
	assert_true(short_steps > 0);
}

/* ---- calls and registers ---- */

static __attribute__((noinline)) void called(void)
{
	uintptr_t ra = arch_return_address((uintptr_t)
		__builtin_extract_return_addr(__builtin_return_address(0)));

	assert_true(arch_after_call(ra));
	assert_int_equal(arch_return_address(ra), ra);
	assert_int_equal(ra % ARCH_INSTRUCTION, 0);
	assert_true(ra <= ARCH_ADDRESS_MAX);
}

static void after_calls(void **unused)
{
	static const uint64_t zeros[4];

	(void)unused;
	called();
	assert_false(arch_after_call((uintptr_t)&zeros[3]));
}

static __attribute__((noinline)) void look_at_registers(void)
{
	uintptr_t here = (uintptr_t)look_at_registers;
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	struct arch_regs regs;

	memset(&regs, 0xff, sizeof(regs));
	arch_capture_regs(&regs);
	assert_true(regs.r[ARCH_REG_PC] - here < NEAR);
	assert_true(frame - regs.r[ARCH_REG_SP] < NEAR);
	assert_int_equal(regs.r[ARCH_REG_SP] % ARCH_WORD, 0);
	assert_int_equal(regs.r[ARCH_REG_FP], frame);
}

static void registers(void **unused)
{
	(void)unused;
	look_at_registers();
}

static struct arch_regs interrupted;
static uintptr_t returns_to;

static void handler(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	arch_regs_from_ucontext(&interrupted, context);
	returns_to = (uintptr_t)__builtin_return_address(0);
}

static void signals(void **unused)
{
	struct sigaction action = { .sa_sigaction = handler,
				    .sa_flags = SA_SIGINFO };
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

	(void)unused;
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	assert_true(frame - interrupted.r[ARCH_REG_SP] < 4 * NEAR);
	assert_true(interrupted.r[ARCH_REG_PC] <= ARCH_ADDRESS_MAX);
	if (ARCH_SIGNAL_CODE) {
		assert_true(arch_is_signal_return(returns_to));
		assert_false(arch_is_signal_return((uintptr_t)signals));
	}
}

/* ---- the kernel, time, threads ---- */

static void system_calls(void **unused)
{
	char byte = 0;

	(void)unused;
	assert_true(arch_syscall0(__NR_getpid) > 1);
	assert_int_equal(arch_syscall1(__NR_close, -1), -EBADF);
	assert_int_equal(arch_syscall3(__NR_write, 1, (long)&byte, 0), 0);
	assert_int_equal(arch_syscall6(ARCH_NR_MMAP, 0, 0, 0,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
			 -EINVAL);
	assert_false(arch_is_fork(__NR_getpid, 0, 0));
	assert_true(arch_is_fork(__NR_clone, SIGCHLD, 0));
	assert_false(arch_is_fork(__NR_clone, CLONE_VM, 0));
	assert_false(arch_is_fork(__NR_clone, SIGCHLD, (long)&byte));
}

static void *point(void *argument)
{
	*(uintptr_t *)argument = arch_thread_pointer();
	return NULL;
}

static void threads(void **unused)
{
	uintptr_t mine = arch_thread_pointer(), other = 0;
	pthread_t thread;

	(void)unused;
	assert_int_equal(pthread_create(&thread, NULL, point, &other), 0);
	pthread_join(thread, NULL);
	assert_true(other != 0 && other != mine);
	assert_int_equal(arch_thread_pointer(), mine);
	assert_false(arch_is_stepped());
}

static void cycles(void **unused)
{
	uint64_t first = arch_cycles(), last = first;
	unsigned i;

	(void)unused;
	for (i = 0; i < ROUNDS; i++) {
		uint64_t now = arch_cycles();

		assert_true(now >= last);
		last = now;
		arch_pause();
	}
	assert_true(last > first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tags),
		cmocka_unit_test(blocks),
		cmocka_unit_test(pairs),
		cmocka_unit_test(one_word),
		cmocka_unit_test(rules_in_words),
		cmocka_unit_test(after_calls),
		cmocka_unit_test(registers),
		cmocka_unit_test(signals),
		cmocka_unit_test(system_calls),
		cmocka_unit_test(threads),
		cmocka_unit_test(cycles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
