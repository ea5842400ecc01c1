/*
 * test_stale_cpus.c: when the kernel is made to forget the processors of who
 * started the recorder, and that nothing is left of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/mman.h>
#include <sys/resource.h>

#include "preload/base/ban.h"
#include "preload/base/sys.h"
#include "preload/ring/stale_cpus.h"

#define APART (UINT64_C(1) << 30)

/* Addresses of which a page above one that is a multiple of APART is used. */
static char *space;
static struct producer fake;

static char *place(void)
{
	return (char *)(((uintptr_t)space + APART - 1) & -APART);
}

static int each(void **state)
{
	(void)state;
	space = mmap(NULL, 2 * APART, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_ptr_not_equal(space, MAP_FAILED);
	assert_int_equal(munmap(space, 2 * APART), 0);
	fake = (struct producer){ 0 };
	fake.live = (struct gl_header *)(place() + APART / 2);
	atomic_store(&unwind_ban, 0);
	return 0;
}

/* Pages that were touched for the first time. */
static long faults(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_minflt;
}

static long faults_of_drop(void)
{
	long before = faults();

	stale_cpus_drop(&fake);
	return faults() - before;
}

static void assert_free(void *at)
{
	void *here = mmap(at, GL_PAGE, PROT_READ,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			  -1, 0);

	assert_ptr_equal(here, at);
	assert_int_equal(munmap(here, GL_PAGE), 0);
}

static void cpus_are_dropped_once_after_launching(void **state)
{
	(void)state;
	faults_of_drop();	/* the code's own */
	fake.cpus_dropped = 0;
	fake.launching = 1;
	assert_int_equal(faults_of_drop(), 0);
	fake.launching = 0;
	assert_int_equal(faults_of_drop(), 1);
	assert_int_equal(faults_of_drop(), 0);
	assert_free(place());
}

static void not_dropped_where_mapping_is_forbidden(void **state)
{
	(void)state;
	atomic_store(&unwind_ban, SECCOMP_NO_GROWTH);
	assert_int_equal(faults_of_drop(), 0);
	atomic_store(&unwind_ban, 0);
	assert_int_equal(faults_of_drop(), 1);
}

static void occupied_place_is_not_overwritten(void **state)
{
	char *theirs = mmap(place(), GL_PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			    -1, 0);

	(void)state;
	assert_ptr_equal(theirs, place());
	theirs[0] = 7;
	assert_int_equal(faults_of_drop(), 0);
	assert_int_equal(theirs[0], 7);
	assert_int_equal(munmap(theirs, GL_PAGE), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(cpus_are_dropped_once_after_launching,
				       each),
		cmocka_unit_test_setup(not_dropped_where_mapping_is_forbidden,
				       each),
		cmocka_unit_test_setup(occupied_place_is_not_overwritten, each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
