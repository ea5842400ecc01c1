/* test_guard_block.c: what lies around a guarded block, byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "preload/guard/guard_block.h"
#include "unwind/base/memory.h"

#define SECRET UINT64_C(0x123456789abcdef1)

static const uint32_t zones[] = { 1, 2, 7, 8, 15, 16, 17, 64, 100, 4096 };
#define ZONES (sizeof(zones) / sizeof(*zones))

/* A block in memory of our own, which ends right behind the rear zone. */
struct made {
	struct guard_shape shape;
	unsigned char *memory;
	uint64_t bytes;
	uintptr_t block;
};

static struct made make(uint32_t zone, uint64_t size, uint64_t alignment)
{
	struct made m = { .shape = guard_shape(zone, SECRET) };

	m.bytes = guard_bytes(&m.shape, size, alignment);
	m.memory = malloc(m.bytes);
	assert_non_null(m.memory);
	memset(m.memory, 0x11, m.bytes);
	m.block = guard_place(&m.shape, (uintptr_t)m.memory, alignment);
	guard_make(&m.shape, (uintptr_t)m.memory, m.block, size, 77, 3);
	return m;
}

static void blocks_are_aligned_and_within_their_memory(void **state)
{
	unsigned i, shift, size;

	(void)state;
	for (i = 0; i < ZONES; i++)
		for (shift = 4; shift <= 16; shift++)
			for (size = 0; size < 40; size += 13) {
				struct made m = make(zones[i], size,
						     UINT64_C(1) << shift);
				struct guard_found found;

				assert_int_equal(m.block % (1u << shift), 0);
				assert_true(m.block - m.shape.front >=
					    (uintptr_t)m.memory);
				assert_true(m.block + size + zones[i] <=
					    (uintptr_t)m.memory + m.bytes);
				assert_int_equal(
					guard_find(&m.shape, m.block, &found),
					GUARD_LIVE);
				assert_true(found.header);
				assert_int_equal(found.size, size);
				assert_int_equal(found.context, 77);
				assert_int_equal(guard_forks(found.place), 3);
				assert_int_equal(
					guard_memory(m.block, &found),
					(uintptr_t)m.memory);
				free(m.memory);
			}
}

static void impossible_sizes_are_refused(void **state)
{
	struct guard_shape shape = guard_shape(64, SECRET);

	(void)state;
	assert_int_equal(guard_bytes(&shape, INT64_MAX, 16), 0);
	assert_int_equal(guard_bytes(&shape, SIZE_MAX, 16), 0);
	assert_int_equal(guard_bytes(&shape, 0, UINT64_C(1) << 63), 0);
	assert_int_equal(guard_bytes(&shape, 0, 16), shape.front + 64);
	assert_int_equal(guard_bytes(&shape, INT64_MAX - shape.front - 64, 16),
			 INT64_MAX);
}

/* Whichever single byte is changed, it is seen, and where; the block is still
 * known, and its size and memory are right. */
static void each_changed_byte_is_found(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < ZONES; i++) {
		struct made m = make(zones[i], 21, 64);
		int64_t from = -(int64_t)m.shape.front, to = 21 + zones[i], at;

		for (at = from; at < to; at++) {
			unsigned char *byte = (unsigned char *)m.block + at;
			struct guard_found found;
			struct guard_harm harm;

			if (at >= 0 && at < 21)
				continue;
			*byte ^= 0x40;
			assert_int_equal(
				guard_find(&m.shape, m.block, &found),
				GUARD_LIVE);
			assert_int_equal(found.size, 21);
			assert_int_equal(guard_memory(m.block, &found),
					 (uintptr_t)m.memory);
			harm = at < 0 ? guard_check_front(&m.shape, m.block,
							  &found) :
					guard_check_rear(&m.shape, m.block, 21);
			assert_in_range(harm.bytes, 1, 8);
			/* of two contexts, either may be the wrong one */
			if (harm.bytes == 1)
				assert_true(harm.offset == at ||
					    found.context != 77 ||
					    guard_forks(found.place) != 3);
			*byte ^= 0x40;
		}
		free(m.memory);
	}
}

/* What programs write by mistake is none of the bytes before a block, wherever
 * it lies and however large it is. */
static void usual_bytes_before_a_block_are_harm(void **state)
{
	static const uint8_t usual[] = { 0, 1, 2, 0x7f, 0xff, 0xfe, '\n', ' ',
					 '0', 'A', 'a', 'z' };
	unsigned size, i, back;

	(void)state;
	for (size = 0; size < 1000; size++) {
		struct made m = make(16, size, 16);
		struct guard_found found;

		for (back = 1; back <= 8; back++)
			for (i = 0; i < sizeof(usual); i++) {
				uint8_t *byte = (uint8_t *)m.block - back;
				uint8_t was = *byte;
				struct guard_harm harm;

				assert_int_equal(guard_find(&m.shape, m.block,
							    &found),
						 GUARD_LIVE);
				*byte = usual[i];
				guard_find(&m.shape, m.block, &found);
				harm = guard_check_front(&m.shape, m.block,
							 &found);
				assert_int_equal(harm.bytes, 1);
				assert_int_equal(harm.offset, -(int)back);
				*byte = was;
			}
		assert_int_equal(((uint8_t *)m.block)[-1], GUARD_FILL);
		free(m.memory);
	}
}

static void whole_header_gone(void **state)
{
	struct made m = make(16, 100, 16);
	struct guard_found found;
	struct guard_harm harm;

	(void)state;
	memset((void *)(m.block - 40), 0, 40);
	assert_int_equal(guard_find(&m.shape, m.block, &found), GUARD_LIVE);
	assert_false(found.header);
	assert_int_equal(found.size, 100);
	assert_int_equal(found.context, 77);
	harm = guard_check_front(&m.shape, m.block, &found);
	assert_int_equal(harm.offset, -40);
	assert_in_range(harm.bytes, 20, 40);	/* some were zero before */
	/* and the rest as well: then nobody knows it any more */
	memset((void *)(m.block - m.shape.front), 0, m.shape.front);
	assert_int_equal(guard_find(&m.shape, m.block, &found), GUARD_FOREIGN);
	free(m.memory);
}

static void copies_and_other_processes_blocks_are_foreign(void **state)
{
	struct made m = make(64, 100, 16);
	struct guard_shape other = guard_shape(64, SECRET + 1);
	unsigned char *copy = malloc(m.bytes + 16);
	struct guard_found found;

	(void)state;
	/* another process's */
	assert_int_equal(guard_find(&other, m.block, &found), GUARD_FOREIGN);
	/* a copy elsewhere */
	copy += 16;
	memcpy(copy, m.memory, m.bytes);
	assert_int_equal(guard_find(&m.shape,
				    (uintptr_t)copy + m.shape.front, &found),
			 GUARD_FOREIGN);
	/* inside a block, and no block at all */
	assert_int_equal(guard_find(&m.shape, m.block + 16, &found),
			 GUARD_FOREIGN);
	assert_int_equal(guard_find(&m.shape, m.block + 1, &found),
			 GUARD_FOREIGN);
	assert_int_equal(guard_find(&m.shape, 0, &found), GUARD_FOREIGN);
	assert_int_equal(guard_find(&m.shape, 16, &found), GUARD_FOREIGN);
	free(copy - 16);
	free(m.memory);
}

static void freed_block_is_known_as_freed(void **state)
{
	struct made m = make(64, 100, 16);
	struct guard_found found;

	(void)state;
	assert_int_equal(guard_find(&m.shape, m.block, &found), GUARD_LIVE);
	guard_unmake(&m.shape, m.block, &found);
	memset(&found, 0, sizeof(found));
	assert_int_equal(guard_find(&m.shape, m.block, &found), GUARD_ENDED);
	assert_int_equal(found.size, 100);
	assert_int_equal(guard_memory(m.block, &found), (uintptr_t)m.memory);
	free(m.memory);
}

static void context_can_be_set_later(void **state)
{
	struct made m = make(64, 100, 16);
	struct guard_found found;

	(void)state;
	guard_name(&m.shape, m.block, 1234567, 9);
	assert_int_equal(guard_find(&m.shape, m.block, &found), GUARD_LIVE);
	assert_int_equal(found.context, 1234567);
	assert_int_equal(guard_forks(found.place), 9);
	assert_int_equal(guard_check_front(&m.shape, m.block, &found).bytes, 0);
	free(m.memory);
}

/* A block that begins where its page does: what lies before may be nothing. */
static void unreadable_page_before_a_block(void **state)
{
	unsigned char *pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct guard_shape shape = guard_shape(4096, SECRET);
	struct guard_found found;
	uintptr_t block = (uintptr_t)pages + 8192;

	(void)state;
	assert_ptr_not_equal(pages, MAP_FAILED);
	guard_make(&shape, (uintptr_t)pages, block, 16, 5, 0);
	assert_int_equal(guard_find(&shape, block, &found), GUARD_LIVE);
	/* the twin's page */
	mprotect(pages, 4096, PROT_NONE);
	assert_int_equal(guard_find(&shape, block, &found), GUARD_LIVE);
	memset((void *)(block - 40), 0, 40);
	assert_int_equal(guard_find(&shape, block, &found), GUARD_FOREIGN);
	/* the header's */
	mprotect(pages + 4096, 4096, PROT_NONE);
	assert_int_equal(guard_find(&shape, block, &found), GUARD_FOREIGN);
	assert_int_equal(guard_find(&shape, block + 16, &found),
			 GUARD_FOREIGN);
	munmap(pages, 3 * 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_aligned_and_within_their_memory),
		cmocka_unit_test(impossible_sizes_are_refused),
		cmocka_unit_test(each_changed_byte_is_found),
		cmocka_unit_test(usual_bytes_before_a_block_are_harm),
		cmocka_unit_test(whole_header_gone),
		cmocka_unit_test(copies_and_other_processes_blocks_are_foreign),
		cmocka_unit_test(freed_block_is_known_as_freed),
		cmocka_unit_test(context_can_be_set_later),
		cmocka_unit_test(unreadable_page_before_a_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
