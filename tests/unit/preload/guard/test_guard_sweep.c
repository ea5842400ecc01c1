/* test_guard_sweep.c: live blocks are found in memory, whatever is damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/guard/guard.h"
/* Parts of memory are looked at, too. */
#include "preload/guard/guard_sweep.c"

#define PAGES 64u
#define BYTES (PAGES * 4096)
#define BLOCKS 400u

static size_t bytes = BYTES;	/* of `memory` */

static struct guard_shape shape;
static unsigned char *memory;
static uintptr_t blocks[BLOCKS];
static uint64_t sizes[BLOCKS];

struct told {
	unsigned count;
	uintptr_t block;
	struct guard_harm harm;
};

static void report(void *owner, uintptr_t block,
		   const struct guard_found *found, struct guard_harm harm)
{
	struct told *told = owner;

	(void)found;
	told->count++;
	told->block = block;
	told->harm = harm;
}

/* Blocks of growing sizes, one behind the other. */
static void fill(void)
{
	uintptr_t at = (uintptr_t)memory;
	unsigned i;

	memset(memory, 0, bytes);
	for (i = 0; i < BLOCKS; i++) {
		sizes[i] = i;
		blocks[i] = guard_place(&shape, at, 16);
		guard_make(&shape, at, blocks[i], sizes[i], i, 0);
		at = base_round_up(blocks[i] + sizes[i] + shape.zone, 16);
	}
	assert_true(at < (uintptr_t)memory + bytes);
}

static void sweep_part(struct guard_sweep *sweep, uintptr_t start,
		       uintptr_t end)
{
	assert_true(guard_sweep_open(sweep));
	sweep_range(sweep, start, end);
	guard_sweep_close(sweep);
}

static struct told sweep(uint64_t wanted)
{
	struct told told = { 0 };
	struct guard_sweep sweep = { .shape = &shape, .report = report,
				     .owner = &told };

	sweep_part(&sweep, (uintptr_t)memory, (uintptr_t)memory + BYTES);
	assert_int_equal(sweep.blocks, wanted);
	return told;
}

static int set_up(void **state)
{
	(void)state;
	shape = guard_shape(20, 99);
	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return memory == MAP_FAILED;
}

static void all_blocks_are_found(void **state)
{
	(void)state;
	fill();
	assert_int_equal(sweep(BLOCKS).count, 0);
}

static void freed_blocks_are_not_found(void **state)
{
	struct guard_found found;

	(void)state;
	fill();
	assert_int_equal(guard_find(&shape, blocks[5], &found), GUARD_LIVE);
	guard_unmake(&shape, blocks[5], &found);
	assert_int_equal(sweep(BLOCKS - 1).count, 0);
}

/* Each byte around a block, one at a time: it stays known, and is told of
 * once. */
static void each_damaged_byte_is_reported(void **state)
{
	int64_t at, from = -(int64_t)shape.front;
	int64_t to = (int64_t)(sizes[33] + shape.zone);

	(void)state;
	fill();
	for (at = from; at < to; at++) {
		unsigned char *byte = (unsigned char *)blocks[33] + at;
		struct told told;

		if (at >= 0 && at < (int64_t)sizes[33])
			continue;
		*byte ^= 1;
		told = sweep(BLOCKS);
		assert_int_equal(told.count, 1);
		assert_int_equal(told.block, blocks[33]);
		assert_in_range(told.harm.bytes, 1, 8);
		*byte ^= 1;
	}
}

static void overwritten_header_is_reported(void **state)
{
	struct told told;

	(void)state;
	fill();
	memset((void *)(blocks[100] - 40), 0x55, 40);
	told = sweep(BLOCKS);
	assert_int_equal(told.count, 1);
	assert_int_equal(told.block, blocks[100]);
	assert_int_equal(told.harm.offset, -40);
}

/* With what was set aside and never used. */
static void pages_are_found(void)
{
	size_t skip = (size_t)8 << 30;
	void *far = mmap(NULL, skip, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct told told = { 0 };
	struct guard_sweep all = { .shape = &shape, .report = report,
				   .owner = &told };

	fill();
	*(unsigned char *)(blocks[7] + sizes[7]) ^= 1;
	/* not to be read */
	assert_int_equal(mprotect(memory + BYTES - 4096, 4096, PROT_NONE), 0);
	assert_true(guard_sweep_open(&all));
	guard_sweep_scan(&all, (struct gl_range){
		(uintptr_t)memory, (uintptr_t)memory + BYTES });
	guard_sweep_scan(&all, (struct gl_range){
		(uintptr_t)far, (uintptr_t)far + skip });
	guard_sweep_close(&all);
	mprotect(memory + BYTES - 4096, 4096, PROT_READ | PROT_WRITE);
	assert_int_equal(all.blocks, BLOCKS);
	assert_int_equal(told.count, 1);
	assert_int_equal(told.block, blocks[7]);
	assert_int_equal(told.harm.offset, 7);
	assert_int_equal(all.skipped, 0);
	munmap(far, skip);
}

static void resident_pages_are_found(void **state)
{
	(void)state;
	pages_are_found();
}

/* In another way, as the kernel's map is of other addresses. */
static void resident_pages_are_found_under_an_emulator(void **state)
{
	const uintptr_t none = (uintptr_t)mmap(NULL, BYTES, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct guard_sweep all = { .shape = &shape };

	(void)state;
	unwind_emulated = true;
	pages_are_found();
	assert_true(guard_sweep_open(&all));
	munmap((void *)none, BYTES);
	guard_sweep_scan(&all, (struct gl_range){ none, none + BYTES });
	guard_sweep_close(&all);
	unwind_emulated = false;
	assert_int_equal(all.skipped, 0);
}

#define HOT 60u		/* blocks that come and go all the time */

static _Atomic bool churn_ends;

/* A thread that frees and allocates: what lies around a block that has ended is
 * the allocator's until the next one is made there. */
static void come_and_go(unsigned i, unsigned context)
{
	struct guard_found found;

	if (guard_find(&shape, blocks[i], &found) != GUARD_LIVE)
		return;
	guard_moves(blocks[i]);
	guard_unmake(&shape, blocks[i], &found);
	memset((void *)(blocks[i] - shape.front), 0x55, 32);
	memset((void *)(blocks[i] + sizes[i]), 0x55, shape.zone);
	guard_make(&shape, guard_memory(blocks[i], &found), blocks[i],
		   sizes[i], i, 0);
	guard_moves(blocks[i]);
	guard_name(&shape, blocks[i], context, 0);
}

static void *churn(void *first)
{
	unsigned i, n = 0;

	while (!atomic_load(&churn_ends)) {
		i = n++ % 8 ? HOT : n % (BLOCKS / 2);
		i = 2 * i + (unsigned)(uintptr_t)first;
		if (i != 100)
			come_and_go(i, n);
	}
	return NULL;
}

/* Of blocks that come and go nothing is told, however often; of one that is
 * damaged it is. */
static void threads_allocate_during_a_sweep(void **state)
{
	pthread_t thread[2];
	uintptr_t i;
	unsigned n;

	(void)state;
	shape = guard_shape(3000, 99);
	bytes = BYTES * 64;
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(memory != MAP_FAILED);
	fill();
	*(unsigned char *)(blocks[100] + sizes[100]) ^= 1;
	atomic_store(&guard.watched, 1);
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, churn,
						(void *)i), 0);
	for (n = 0; n < 100; n++) {
		struct told told = { 0 };
		struct guard_sweep all = { .shape = &shape, .report = report,
					   .moves = guard.moves,
					   .owner = &told };

		sweep_part(&all, (uintptr_t)memory,
				  (uintptr_t)memory + bytes);
		assert_int_equal(told.count, 1);
		assert_int_equal(told.block, blocks[100]);
	}
	/* where they mostly are */
	for (n = 0; n < 20000; n++) {
		struct told told = { 0 };
		struct guard_sweep hot = { .shape = &shape, .report = report,
					   .moves = guard.moves,
					   .owner = &told };
		uintptr_t at = blocks[2 * HOT] & -4096ul;

		sweep_part(&hot, at - 4096, at + 4 * 4096);
		assert_int_equal(told.count, 0);
	}
	atomic_store(&churn_ends, true);
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

/* What is unmapped meanwhile is passed over. */
static void *unmaps(void *unused)
{
	while (!atomic_load(&churn_ends)) {
		mprotect(memory + BYTES, BYTES, PROT_NONE);
		mprotect(memory + BYTES, BYTES, PROT_READ | PROT_WRITE);
	}
	return unused;
}

static void memory_is_unmapped_during_a_sweep(void **state)
{
	struct told told = { 0 };
	struct guard_sweep all = { .shape = &shape, .report = report,
				   .moves = guard.moves, .owner = &told };
	pthread_t thread;
	unsigned n;

	(void)state;
	fill();
	atomic_store(&churn_ends, false);
	assert_int_equal(pthread_create(&thread, NULL, unmaps, NULL), 0);
	for (n = 0; n < 100; n++)
		sweep_part(&all, (uintptr_t)memory,
				  (uintptr_t)memory + bytes);
	atomic_store(&churn_ends, true);
	pthread_join(thread, NULL);
	assert_int_equal(told.count, 0);
	assert_true(all.blocks > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_blocks_are_found),
		cmocka_unit_test(freed_blocks_are_not_found),
		cmocka_unit_test(each_damaged_byte_is_reported),
		cmocka_unit_test(overwritten_header_is_reported),
		cmocka_unit_test(resident_pages_are_found),
		cmocka_unit_test(resident_pages_are_found_under_an_emulator),
		cmocka_unit_test(threads_allocate_during_a_sweep),
		cmocka_unit_test(memory_is_unmapped_during_a_sweep),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
