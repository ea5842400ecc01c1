/*
 * table_builder.h: writes unwind tables byte by byte, for tests.
 *
 * The bytes lie against an inaccessible page, so that a read past their end
 * kills the test: builder_seal moves them there.
 */
#ifndef GNOMON_TESTS_TABLE_BUILDER_H
#define GNOMON_TESTS_TABLE_BUILDER_H

#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "unwind/base/memory.h"
#include "unwind/rules/rules.h"

enum { BUILDER_ROOM = 1 << 16, BUILDER_PAGE = 4096 };

/* Code is never read, so it may be said to lie anywhere. */
#define CODE ((uintptr_t)(sizeof(uintptr_t) == 8 ? \
			  UINT64_C(0x500000000000) : 0x50000000))
#define CODE_SIZE 0x100000

enum {
	ENC_ABS8 = 0x04, ENC_ABSPTR = 0x00, ENC_PCREL4 = 0x1b,
	ENC_DATAREL4 = 0x3b, ENC_DATAREL8 = 0x3c, ENC_UDATA4 = 0x03,
	ENC_OMIT = 0xff
};

struct builder {
	uint8_t bytes[BUILDER_ROOM];
	size_t size;
	size_t record;		/* where the open record's length is */
};

static inline void put(struct builder *b, const void *data, size_t size)
{
	assert(b->size + size <= BUILDER_ROOM);
	memcpy(b->bytes + b->size, data, size);
	b->size += size;
}

static inline void put_u8(struct builder *b, uint8_t value)
{
	put(b, &value, 1);
}

static inline void put_u32(struct builder *b, uint32_t value)
{
	put(b, &value, 4);
}

static inline void put_u64(struct builder *b, uint64_t value)
{
	put(b, &value, 8);
}

static inline void put_uleb(struct builder *b, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		put_u8(b, (uint8_t)(value | 0x80));
	put_u8(b, (uint8_t)value);
}

/* Bytes of a program: PROGRAM(b, 0x0c, 7, 8). */
#define PROGRAM(b, ...)                                                     \
	do {                                                                \
		static const uint8_t program_[] = { __VA_ARGS__ };          \
		put(b, program_, sizeof(program_));                         \
	} while (0)

static inline void begin_record(struct builder *b)
{
	b->record = b->size;
	put_u32(b, 0);
}

static inline void end_record(struct builder *b)
{
	uint32_t length = (uint32_t)(b->size - b->record - 4);

	memcpy(b->bytes + b->record, &length, 4);
}

/* Up to where its program begins; ends with end_record. The letters are
 * followed by `data` as augmentation data if they begin with z. */
static inline size_t begin_cie(struct builder *b, const char *letters,
			       const void *data, size_t size)
{
	begin_record(b);
	put_u32(b, 0);
	put_u8(b, 1);
	put(b, letters, strlen(letters) + 1);
	put_uleb(b, 1);
	put_u8(b, 0x78);	/* -8 */
	put_u8(b, ARCH_REG_PC);
	if (letters[0] == 'z')
		put_uleb(b, size);
	put(b, data, size);
	return b->record;
}

/* What compilers begin with: CFA = sp + 8, pc at CFA - 8. */
static inline size_t put_cie(struct builder *b, const char *letters,
			     uint8_t encoding)
{
	size_t at = begin_cie(b, letters, &encoding, 1);

	PROGRAM(b, 0x0c, ARCH_REG_SP, 8, 0x80 | ARCH_REG_PC, 1);
	end_record(b);
	return at;
}

/* For a CIE whose encoding is ENC_ABS8. */
static inline size_t begin_fde(struct builder *b, size_t cie, uint64_t start,
			       uint64_t size)
{
	begin_record(b);
	put_u32(b, (uint32_t)(b->size - cie));
	put_u64(b, start);
	put_u64(b, size);
	put_uleb(b, 0);
	return b->record;
}

static inline size_t put_fde(struct builder *b, size_t cie, uint64_t start,
			     uint64_t size)
{
	size_t at = begin_fde(b, cie, start, size);

	end_record(b);
	return at;
}

/* A copy that ends where nothing can be read any more. */
static inline uint8_t *builder_seal(const struct builder *b)
{
	size_t room = (b->size + BUILDER_PAGE - 1) & ~(BUILDER_PAGE - 1ul);
	uint8_t *area = mmap(NULL, room + BUILDER_PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert(area != MAP_FAILED);
	assert(mprotect(area + room, BUILDER_PAGE, PROT_NONE) == 0);
	memcpy(area + room - b->size, b->bytes, b->size);
	return area + room - b->size;
}

/* The whole of it as one .eh_frame, without a header. */
static inline struct rules_sections builder_sections(const struct builder *b)
{
	uintptr_t at = (uintptr_t)builder_seal(b);

	return (struct rules_sections){
		.text_start = CODE,
		.text_end = CODE + CODE_SIZE,
		.eh_frame = at,
		.eh_frame_size = b->size,
		.readable_start = at,
		.readable_end = at + b->size,
	};
}

/* Memory for the unwinder; builder_alloc_left counts down to failure. */
static long builder_alloc_left = -1;

static inline void *builder_alloc(size_t size)
{
	void *memory;

	if (builder_alloc_left == 0)
		return NULL;
	if (builder_alloc_left > 0)
		builder_alloc_left--;
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

#endif
