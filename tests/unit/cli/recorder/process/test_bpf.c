/* test_bpf.c: filters of system calls, and programs that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/recorder/process/bpf.h"

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))
#define RUN(f, data) \
	bpf_run(&(struct sock_fprog){ LENGTH(f), f }, data)

static const struct seccomp_data call = {
	.nr = 7, .arch = 0xc000003e, .args = { 0x1122334455667788, 2 },
};

static void jumps_decide(void **state)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 7, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_THREAD),
		BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		/* the upper half of the first argument */
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 20),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 0x11223344, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x11223344, 0, 1),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x40, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 3),
	};
	struct seccomp_data other = call;

	(void)state;
	assert_int_equal(RUN(f, &call), SECCOMP_RET_ERRNO | 3);
	assert_false(bpf_allows(&(struct sock_fprog){ LENGTH(f), f },
				&call));
	other.nr = 8;
	assert_int_equal(RUN(f, &other), SECCOMP_RET_KILL_THREAD);
}

static void arithmetic_is_of_32_bits(void **state)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_IMM, 10),
		BPF_STMT(BPF_ST, 3),
		BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 0xfffffffb),	/* 5 */
		BPF_STMT(BPF_MISC | BPF_TAX, 0),
		BPF_STMT(BPF_LD | BPF_MEM, 3),			/* 10, x 5 */
		BPF_STMT(BPF_ALU | BPF_MUL | BPF_X, 0),		/* 50 */
		BPF_STMT(BPF_ALU | BPF_SUB | BPF_K, 2),		/* 48 */
		BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 3),		/* 16 */
		BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 2),		/* 64 */
		BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 1),		/* 32 */
		BPF_STMT(BPF_ALU | BPF_OR | BPF_K, 3),		/* 35 */
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xfe),	/* 34 */
		BPF_STMT(BPF_ALU | BPF_XOR | BPF_K, 1),		/* 35 */
		BPF_STMT(BPF_ALU | BPF_NEG, 0),
		BPF_STMT(BPF_ALU | BPF_NEG, 0),			/* 35 */
		BPF_STMT(BPF_RET | BPF_A, 0),
	};

	(void)state;
	assert_int_equal(RUN(f, &call), 35);
}

static void only_permission_allows(void **state)
{
	struct sock_filter yes[] = {
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_filter log[] = {
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_LOG | 5) };
	struct sock_filter no[] = {
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF) };

	(void)state;
	assert_true(bpf_allows(&(struct sock_fprog){ 1, yes }, &call));
	assert_true(bpf_allows(&(struct sock_fprog){ 1, log }, &call));
	assert_false(bpf_allows(&(struct sock_fprog){ 1, no }, &call));
}

static void nonsense_kills(void **state)
{
	struct sock_filter bad[][1] = {
		{ BPF_STMT(BPF_LD | BPF_W | BPF_ABS, sizeof(call)) },
		{ BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2) },
		{ BPF_STMT(BPF_LD | BPF_W | BPF_IND, 0) },
		{ BPF_STMT(BPF_LD | BPF_MEM, BPF_MEMWORDS) },
		{ BPF_STMT(BPF_ST, 0xffffffff) },
		{ BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0) },
		{ BPF_JUMP(BPF_JMP | BPF_JA, 0xffffffff, 0, 0) },
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(bad); i++)
		assert_int_equal(RUN(bad[i], &call),
				 SECCOMP_RET_KILL_PROCESS);
	assert_int_equal(bpf_run(&(struct sock_fprog){ 0, NULL }, &call),
			 SECCOMP_RET_KILL_PROCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jumps_decide),
		cmocka_unit_test(arithmetic_is_of_32_bits),
		cmocka_unit_test(only_permission_allows),
		cmocka_unit_test(nonsense_kills),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
