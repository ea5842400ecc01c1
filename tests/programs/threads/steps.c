// FLAGS: -Wl,-z,lazy -lm -Wl,--no-as-needed -no-pie -fno-pie
/*
 * steps.c [stack]: executes pieces of code instruction by instruction (the
 * processor's trap flag), and allocates in the handler after each. So a stack
 * is captured at every instruction of a lazy PLT entry and of the loader behind
 * it, of hand-written assembly in the C library and in libcrypto, of the
 * kernel's vdso, and of functions with unusual frames. "stack": the handler has
 * a stack of its own.
 *
 * None of the code allocates. Prints how many steps there were, the sum of
 * their program counters, the sum of the numbers of frames that the C
 * runtime's unwinder found, and the return address of the handler.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <signal.h>
#include <time.h>
#include <ucontext.h>
#include <unwind.h>

#include "tgt.h"

#define STEPS_MAX 60000
#define STACK_BYTES (256u << 10)
#define TRAP_FLAG 0x100

static volatile uint64_t steps, pcs, frames, restorer;
static volatile int stepping;
static volatile double number = 0.5;
static unsigned char bytes[4096], other[4096];

static _Unwind_Reason_Code count_frame(struct _Unwind_Context *context,
				       void *sum)
{
	*(uint64_t *)sum += _Unwind_GetIP(context) != 0;
	return _URC_NO_REASON;
}

TGT_FUNCTION void *step_malloc(void)
{
	return malloc(24);
}

/* Clearing the flag in the saved registers ends the stepping. */
static void handler(int signal_number, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;
	uint64_t seen = 0;

	(void)signal_number;
	(void)info;
	restorer = (uintptr_t)__builtin_return_address(0);
	if (!stepping) {
		interrupted->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
		return;
	}
	free(step_malloc());
	_Unwind_Backtrace(count_frame, &seen);
	steps++;
	pcs += interrupted->uc_mcontext.gregs[REG_RIP];
	frames += seen;
	if (steps >= STEPS_MAX)
		stepping = 0;
}

static void begin(void)
{
	stepping = 1;
	__asm__ volatile("pushfq\n\torq %0, (%%rsp)\n\tpopfq"
			 : : "i"(TRAP_FLAG) : "cc", "memory");
}

static void end(void)
{
	stepping = 0;
}

/* Called here for the first and only time: bound while stepping. */
static void lazy_binding(void)
{
	begin();
	number += sin(number) + cbrt(number) + erf(number);
	end();
}

static void c_library(void)
{
	size_t n = sizeof(bytes);

	begin();
	memset(bytes, 7, n);
	memcpy(other, bytes, n - 3);
	memmove(bytes + 5, bytes, n - 77);
	number += (double)strlen("a string of some length") +
		  (double)(memchr(bytes, 9, 600) == NULL) +
		  memcmp(bytes, other, n / 2) + strcmp("abcd", "abce");
	end();
}

static void vdso(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	begin();
	clock_gettime(CLOCK_MONOTONIC, &now);
	end();
	number += (double)now.tv_nsec;
}

/* Assembly of their own, below whatever allocates. */
static void crypto(void)
{
	static const char *const names[][2] = {
		{ "SHA1_Init", "SHA1_Update" },
		{ "SHA256_Init", "SHA256_Update" },
		{ "SHA512_Init", "SHA512_Update" },
		{ "MD5_Init", "MD5_Update" },
	};
	static _Alignas(16) char state[512];
	void *library = dlopen("libcrypto.so.3", RTLD_NOW);

	for (size_t i = 0; library && i < sizeof(names) / sizeof(*names); i++) {
		int (*init)(void *), (*update)(void *, const void *, size_t);

		*(void **)&init = dlsym(library, names[i][0]);
		*(void **)&update = dlsym(library, names[i][1]);
		if (!init || !update)
			continue;
		init(state);
		update(state, bytes, 64);	/* what it sets up once */
		begin();
		update(state, bytes, 256);
		end();
	}
	tgt_print("crypto", library != NULL);
}

static __attribute__((noinline)) int realigned(int n, int a, int b, int c,
					       int d, int e, int on_stack)
{
	__attribute__((aligned(64))) volatile char big[128];
	volatile char *little = __builtin_alloca((size_t)n);

	big[n] = (char)a;
	little[n - 1] = (char)(b + c + d + e);
	return big[n] + little[n - 1] + on_stack;
}

static __attribute__((noinline, optimize("O2,omit-frame-pointer"))) int
many_saved(int n)
{
	volatile int a[8];
	int sum = 0, i;

	for (i = 0; i < 8; i++)
		a[i] = n * i;
	for (i = 0; i < 8; i++)
		sum += a[i] * a[7 - i] + realigned(9, i, 2, 3, 4, 5, sum);
	return sum;
}

static void shapes(void)
{
	begin();
	number += many_saved(3);
	end();
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = handler,
				    .sa_flags = SA_SIGINFO };
	static char memory[STACK_BYTES];
	stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory) };
	uint64_t warm = 0;

	(void)argv;
	_Unwind_Backtrace(count_frame, &warm);
	if (argc > 1) {
		sigaltstack(&stack, NULL);
		action.sa_flags |= SA_ONSTACK;
	}
	sigaction(SIGTRAP, &action, NULL);
	lazy_binding();
	c_library();
	vdso();
	crypto();
	shapes();
	tgt_print("steps", steps);
	tgt_print("pcs", pcs);
	tgt_print("frames", frames);
	tgt_print("restorer", restorer);
	return 0;
}
