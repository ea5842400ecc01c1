/*
 * test_vdso.c: functions of the image that the kernel maps, if it does, and of
 * this program as if it were one; the clock that goes by such a function.
 */
// FLAGS: -rdynamic -DGNOMON_TARGET
#include <elf.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <cmocka.h>

#include "arch.h"
#include "unwind/elf/vdso.h"

/* The first byte of this program, by its linker. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

static unsigned asked;
static int answer;

/* As the kernel's. */
int __vdso_clock_gettime(clockid_t clock, struct timespec *now);
int __vdso_clock_gettime(clockid_t clock, struct timespec *now)
{
	assert_int_equal(clock, CLOCK_MONOTONIC);
	asked++;
	*now = (struct timespec){ .tv_sec = 7, .tv_nsec = 5 };
	return answer;
}

static void test_names(void **unused)
{
	uintptr_t program = (uintptr_t)__ehdr_start;

	(void)unused;
	assert_int_equal(vdso_function(program, "__vdso_clock_gettime"),
			 (uintptr_t)__vdso_clock_gettime);
	assert_int_equal(vdso_function(program, "__vdso_clock_get"), 0);
	assert_int_equal(vdso_function(0, "__vdso_clock_gettime"), 0);
}

/* What is no such image is not looked into. */
static void test_other_files(void **unused)
{
	static union {
		ElfW(Ehdr) file;
		char bytes[4096];
	} copy;
	uintptr_t header = (uintptr_t)&copy;

	(void)unused;
	memcpy(&copy, __ehdr_start, sizeof(copy.file));
	copy.file.e_phnum = 0;
	assert_int_equal(vdso_function(header, "__vdso_clock_gettime"), 0);
	copy.file.e_phnum = UINT16_MAX;
	assert_int_equal(vdso_function(header, "__vdso_clock_gettime"), 0);
	copy.file.e_phnum = 1;
	copy.file.e_phentsize++;
	assert_int_equal(vdso_function(header, "__vdso_clock_gettime"), 0);
	copy.file.e_phentsize--;
	copy.file.e_ident[EI_CLASS]++;
	assert_int_equal(vdso_function(header, "__vdso_clock_gettime"), 0);
	copy.file.e_ident[0] = 0;
	assert_int_equal(vdso_function(header, "__vdso_clock_gettime"), 0);
}

/* Where there is one, it has a clock of one name or the other. */
static void test_kernels(void **unused)
{
	uintptr_t header = getauxval(AT_SYSINFO_EHDR), found;
	struct timespec before, now, after;

	(void)unused;
	found = vdso_function(header, "__vdso_clock_gettime");
	if (!found)
		found = vdso_function(header, "__kernel_clock_gettime");
	if (!found)
		return;
	clock_gettime(CLOCK_MONOTONIC, &before);
	assert_int_equal(((int (*)(clockid_t, struct timespec *))found)(
				 CLOCK_MONOTONIC, &now), 0);
	clock_gettime(CLOCK_MONOTONIC, &after);
	assert_true(before.tv_sec <= now.tv_sec && now.tv_sec <= after.tv_sec);
}

static void test_clock(void **unused)
{
	uint64_t before = arch_cycles(), calls = ARCH_CLOCK;

	(void)unused;
	vdso_take_clock(0);
	assert_true(arch_cycles() >= before);
	vdso_take_clock((uintptr_t)__ehdr_start);
	if (calls)
		assert_int_equal(arch_cycles(), UINT64_C(7000000005));
	assert_int_equal(asked, calls);
	/* it cannot tell */
	answer = -1;
	assert_true(arch_cycles() >= before);
	assert_int_equal(asked, 2 * calls);
	vdso_take_clock(getauxval(AT_SYSINFO_EHDR));
	assert_true(arch_cycles() >= before);
	assert_int_equal(asked, 2 * calls);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_other_files),
		cmocka_unit_test(test_kernels),
		cmocka_unit_test(test_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
