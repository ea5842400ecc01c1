/*
 * test_cfi.c: records of .eh_frame and the ways to find one: encodings,
 * headers of all kinds, odd and hostile tables.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/unit/table_builder.h"
#include "unwind/rules/cfi.h"

static struct builder b;
static struct cfi_tables tables;
static struct cfi_fde fde;

static void clear(void)
{
	b.size = 0;
}

/* Makes tables of what was built, without a header. */
static void seal(void)
{
	struct rules_sections sections = builder_sections(&b);

	cfi_tables_init(&tables, &sections);
}

static void finds(uint64_t offset, uint64_t start, uint64_t end)
{
	assert_int_equal(cfi_find(&tables, CODE + offset, &fde), 0);
	assert_int_equal(fde.start, CODE + start);
	assert_int_equal(fde.end, CODE + end);
	assert_true(fde.start <= fde.valid_start);
	assert_true(fde.valid_start <= CODE + offset);
	assert_true(CODE + offset < fde.valid_end);
	assert_true(fde.valid_end <= fde.end);
}

static void finds_not(uint64_t offset, int error)
{
	assert_int_equal(cfi_find(&tables, CODE + offset, &fde), error);
}

static uintptr_t pointer(uint8_t encoding, const void *bytes, size_t size,
			 bool *failed)
{
	const struct cfi_bases bases = {
		.text = 0x10000, .data = 0x20000, .function = 0x30000,
	};
	struct cfi_cursor c = cfi_cursor_make((uintptr_t)bytes,
					      (uintptr_t)bytes + size);
	uintptr_t value = cfi_pointer(&c, encoding, &bases);

	*failed = c.failed;
	return value;
}

static void test_pointers(void **unused)
{
	static const uint8_t _Alignas(8) bytes[] = {
		0xf0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02, 0, 0, 0,
		0, 0, 0, 0
	};
	static const struct {
		uint8_t encoding;
		uint64_t value;
	} all[] = {
		{ CFI_PE_ABSPTR, UINT64_MAX - 15 },
		{ CFI_PE_ULEB128, (UINT64_C(2) << 56) | 0xfffffffffffff0 },
		{ CFI_PE_SLEB128, (UINT64_C(2) << 56) | 0xfffffffffffff0 },
		{ CFI_PE_UDATA2, 0xfff0 },
		{ CFI_PE_UDATA4, 0xfffffff0 },
		{ CFI_PE_UDATA8, UINT64_MAX - 15 },
		{ CFI_PE_SDATA2, UINT64_MAX - 15 },
		{ CFI_PE_SDATA4, UINT64_MAX - 15 },
		{ CFI_PE_SDATA8, UINT64_MAX - 15 },
		{ CFI_PE_TEXTREL | CFI_PE_SDATA4, 0xfff0 },
		{ CFI_PE_DATAREL | CFI_PE_SDATA4, 0x1fff0 },
		{ CFI_PE_FUNCREL | CFI_PE_SDATA4, 0x2fff0 },
	};
	uintptr_t got;
	bool failed;
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		got = pointer(all[i].encoding, bytes, sizeof(bytes), &failed);
		assert_false(failed);
		assert_int_equal(got, all[i].value);
	}
	got = pointer(CFI_PE_PCREL | CFI_PE_SDATA4, bytes, 4, &failed);
	assert_false(failed);
	assert_int_equal(got, (uintptr_t)bytes - 16);
	got = pointer(CFI_PE_ALIGNED, bytes + 1, 15, &failed);
	assert_false(failed);
	assert_int_equal(got, 2);
	pointer(CFI_PE_ALIGNED, bytes + 1, 10, &failed);
	assert_true(failed);
	pointer(CFI_PE_UDATA4, bytes, 3, &failed);
	assert_true(failed);
	pointer(0x05, bytes, 8, &failed);
	assert_true(failed);
	pointer(CFI_PE_OMIT, bytes, 8, &failed);
	assert_true(failed);
}

/* A pointer to the pointer is followed within bounds, and never beyond. */
static void test_indirect_pointers(void **unused)
{
	static const uint8_t encodings[] = {
		CFI_PE_INDIRECT | CFI_PE_ABSPTR,
		CFI_PE_INDIRECT | CFI_PE_PCREL | CFI_PE_SDATA8,
		CFI_PE_INDIRECT | CFI_PE_DATAREL | CFI_PE_UDATA8,
		CFI_PE_INDIRECT | CFI_PE_ALIGNED,
	};
	uint64_t words[2] = { 0, 0x1234567890 }, to;
	unsigned int i;

	(void)unused;
	for (i = 0; i < sizeof(encodings); i++) {
		for (to = 0; to <= 17; to++) {
			struct cfi_bases bases = {
				.data = 0x1000,
				.low = (uintptr_t)&words[1] - 1,
				.high = (uintptr_t)&words[2],
			};
			struct cfi_cursor c = cfi_cursor_make(
				(uintptr_t)words, (uintptr_t)&words[1]);
			bool inside = to == 7 || to == 8;
			uintptr_t got;

			words[0] = (uintptr_t)words + to;
			if (i == 1)
				words[0] = to;
			if (i == 2)
				words[0] -= 0x1000;
			got = cfi_pointer(&c, encodings[i], &bases);
			assert_int_equal(c.failed, !inside);
			if (to == 8)
				assert_int_equal(got, words[1]);
		}
	}
}

static void test_linear(void **unused)
{
	size_t cie;

	(void)unused;
	clear();
	cie = put_cie(&b, "zR", ENC_ABS8);
	put_fde(&b, cie, CODE + 0x100, 0x10);
	put_fde(&b, cie, CODE + 0x200, 0x20);
	put_fde(&b, cie, CODE + 0x50, 0x8);
	seal();		/* no terminator */
	finds(0x100, 0x100, 0x110);
	finds(0x10f, 0x100, 0x110);
	finds(0x21f, 0x200, 0x220);
	finds(0x57, 0x50, 0x58);
	finds_not(0x110, -ENOENT);
	finds_not(0xff, -ENOENT);
	finds_not(0, -ENOENT);
	assert_int_equal(cfi_find(&tables, 0, &fde), -ENOENT);
	assert_int_equal(cfi_find(&tables, UINTPTR_MAX, &fde), -ENOENT);
	put_u32(&b, 0);	/* a terminator hides what follows */
	put_fde(&b, cie, CODE + 0x300, 0x10);
	seal();
	finds(0x200, 0x200, 0x220);
	finds_not(0x300, -ENOENT);
}

static void test_no_tables(void **unused)
{
	const struct rules_sections none = {
		.text_start = CODE, .text_end = CODE + CODE_SIZE,
	};

	(void)unused;
	cfi_tables_init(&tables, &none);
	finds_not(0x100, -ENOENT);
}

/* Data of the letters in turn; the program must begin right behind it. */
static void augmentation(const char *letters, const void *data, size_t size,
			 int error)
{
	static const uint8_t program[] = { 0x0c, 7, 8, 0x90, 1 };
	size_t cie;

	clear();
	cie = begin_cie(&b, letters, data, size);
	put(&b, program, sizeof(program));
	end_record(&b);
	begin_record(&b);
	put_u32(&b, (uint32_t)(b.size - cie));
	put_u64(&b, CODE + 0x100);
	put_u64(&b, 0x10);
	if (letters[0] == 'z') {
		put_uleb(&b, 3);
		put(&b, "\xff\xff\xff", 3);
	}
	put_u8(&b, 0x41);
	end_record(&b);
	seal();
	finds_not(0x100, error);
	if (error)
		return;
	finds(0x100, 0x100, 0x110);
	assert_memory_equal((const void *)fde.cie.program, program,
			    sizeof(program));
	assert_int_equal(fde.cie.program_end - fde.cie.program,
			 sizeof(program));
	assert_int_equal(fde.program_end - fde.program, 1);
	assert_int_equal(fde.cie.code_align, 1);
	assert_int_equal(fde.cie.data_align, -8);
	assert_int_equal(fde.cie.ra_column, 16);
}

static void test_augmentations(void **unused)
{
	(void)unused;
	augmentation("", "", 0, 0);
	assert_false(fde.cie.is_signal);
	augmentation("z", "", 0, 0);
	augmentation("zR", "\x04", 1, 0);
	augmentation("zRS", "\x04", 1, 0);
	assert_true(fde.cie.is_signal);
	augmentation("zPLR", "\x9b\1\2\3\4\x1b\x04", 7, 0);
	augmentation("zPLR", "\x00\1\2\3\4\5\6\7\x08\x1b\x04", 11, 0);
	augmentation("zLPR", "\x1b\x03\1\2\3\4\x04", 7, 0);
	augmentation("zRB", "\x04", 1, 0);
	augmentation("zSR", "\x04", 1, 0);
	assert_true(fde.cie.is_signal);
	/* Unknown letters: what they mean is not known, their size is. */
	augmentation("zRq", "\x04\1\2\3", 4, 0);
	augmentation("zqR", "\1\x1b", 2, 0);
	assert_int_equal(fde.cie.pointer_encoding, CFI_PE_ABSPTR);
	/* Unknown ones without a size. */
	augmentation("q", "", 0, -ENOENT);
	augmentation("zzzzzzzzzzzzzzzz", "", 0, -ENOENT);
	/* Data that its letters would leave. */
	augmentation("zR", "", 0, 0);
	assert_int_equal(fde.cie.pointer_encoding, CFI_PE_ABSPTR);
}

/* gcc 2's "eh" has a pointer before the alignment factors. */
static void test_eh_augmentation(void **unused)
{
	size_t cie;

	(void)unused;
	clear();
	begin_record(&b);
	cie = b.record;
	put_u32(&b, 0);
	PROGRAM(&b, 1, 'e', 'h', 0, 1, 2, 3, 4, 5, 6, 7, 8, 1, 0x78, 16, 0x0c,
		7, 8);
	end_record(&b);
	begin_record(&b);
	put_u32(&b, (uint32_t)(b.size - cie));
	put_u64(&b, CODE);
	put_u64(&b, 16);
	end_record(&b);
	seal();
	finds(0, 0, 16);
	assert_int_equal(fde.cie.program_end - fde.cie.program, 3);
	assert_int_equal(fde.cie.ra_column, 16);
}

static void cie_version(uint8_t version, int error)
{
	size_t cie;

	clear();
	begin_record(&b);
	cie = b.record;
	put_u32(&b, 0);
	put_u8(&b, version);
	put(&b, "zR", 3);
	if (version == 4)
		put(&b, "\x08\0", 2);
	PROGRAM(&b, 1, 0x78, 0x90, 0);	/* column 16 in two bytes */
	put_uleb(&b, 1);
	put_u8(&b, ENC_ABS8);
	end_record(&b);
	put_fde(&b, cie, CODE, 16);
	seal();
	finds_not(0, error);
}

static void test_versions(void **unused)
{
	(void)unused;
	cie_version(3, 0);
	assert_int_equal(fde.cie.ra_column, 16);
	cie_version(4, 0);
	cie_version(2, -ENOENT);
	cie_version(5, -ENOENT);
	cie_version(1, -ENOENT);	/* one byte: column 0x90 */
}

/* Lengths of 64 bits; the CIE pointer has 32 all the same (LSB, 10.6.1). */
static void test_long_lengths(void **unused)
{
	size_t cie = 0, i;
	uint64_t length;

	(void)unused;
	clear();
	for (i = 0; i < 2; i++) {
		size_t at = b.size;

		put_u32(&b, 0xffffffff);
		put_u64(&b, 0);
		if (i == 0) {
			cie = at;
			put_u32(&b, 0);
			PROGRAM(&b, 1, 'z', 'R', 0, 1, 0x78, 16, 1, ENC_ABS8,
				0x0c, 7, 8);
		} else {
			put_u32(&b, (uint32_t)(b.size - cie));
			put_u64(&b, CODE);
			put_u64(&b, 16);
			put_u8(&b, 0);
		}
		length = b.size - at - 12;
		memcpy(b.bytes + at + 4, &length, 8);
	}
	put_fde(&b, cie, CODE + 16, 16);
	seal();
	finds(5, 0, 16);
	finds(20, 16, 32);
	length = UINT64_MAX - 4;
	memcpy(b.bytes + cie + 4, &length, 8);
	seal();
	finds_not(5, -ENOENT);
}

static void test_zero_length(void **unused)
{
	size_t cie;

	(void)unused;
	clear();
	cie = put_cie(&b, "zR", ENC_ABS8);
	put_fde(&b, cie, CODE, 0x100);
	put_fde(&b, cie, CODE + 0x50, 0);
	put_fde(&b, cie, CODE + 0x100, 0);
	put_fde(&b, cie, CODE + 0x100, 0x10);
	seal();
	finds(0x10, 0, 0x100);
	finds(0x50, 0, 0x100);
	finds(0xff, 0, 0x100);
	finds(0x100, 0x100, 0x110);
}

/* Of two that cover a pc the later start counts, and what is said to hold
 * around it must be the same from everywhere in it. */
static void test_overlaps(void **unused)
{
	uint64_t pc, other;
	size_t cie;

	(void)unused;
	clear();
	cie = put_cie(&b, "zR", ENC_ABS8);
	put_fde(&b, cie, CODE + 0x50, 0x10);
	put_fde(&b, cie, CODE, 0x100);
	put_fde(&b, cie, CODE + 0x58, 0x40);
	put_fde(&b, cie, CODE + 0x70, 0);
	put_fde(&b, cie, CODE + 0x58, 0x20);
	seal();
	finds(0x20, 0, 0x100);
	finds(0x50, 0x50, 0x60);
	finds(0x58, 0x58, 0x78);
	finds(0x78, 0x58, 0x98);
	finds(0x98, 0, 0x100);
	for (pc = CODE; pc < CODE + 0x100; pc++) {
		struct cfi_fde found;

		assert_int_equal(cfi_find(&tables, pc, &found), 0);
		for (other = found.valid_start; other < found.valid_end;
		     other++) {
			assert_int_equal(cfi_find(&tables, other, &fde), 0);
			assert_int_equal(fde.start, found.start);
			assert_int_equal(fde.end, found.end);
		}
	}
}

enum { MANY = 200, STRIDE = 0x40 };

struct header_kind {
	uint8_t encoding;
	int size;
	bool pcrel, absolute;
};

/*
 * [.eh_frame_hdr][.eh_frame of MANY FDEs, in reverse order], sealed first, as
 * pcrel entries need to know where they will be. "Code" lies behind: sdata4
 * must reach it.
 */
static struct rules_sections build_header(const struct header_kind *kind,
					  uint32_t count, size_t *hdr_size)
{
	size_t table = 12, frames, cie, i, at[MANY];
	uint8_t *sealed;
	uintptr_t base, code;

	clear();
	b.size = table + 2 * MANY * (size_t)kind->size;
	frames = b.size;
	*hdr_size = frames;
	cie = put_cie(&b, "zR", ENC_ABS8);
	for (i = MANY; i-- > 0;)
		at[i] = put_fde(&b, cie, 0, STRIDE / 2);
	put_u32(&b, 0);
	sealed = builder_seal(&b);
	base = (uintptr_t)sealed;
	code = base + 0x100000;
	memcpy(sealed, (uint8_t[]){ 1, ENC_PCREL4, ENC_UDATA4,
				    kind->encoding }, 4);
	memcpy(sealed + 4, &(uint32_t){ (uint32_t)frames - 4 }, 4);
	memcpy(sealed + 8, &count, 4);
	for (i = 0; i < MANY; i++) {
		uint8_t *entry = sealed + table + 2 * i * (size_t)kind->size;
		uint64_t start = code + i * STRIDE;
		uint64_t minus = kind->absolute ? 0 : base;
		uint64_t first, second;

		if (kind->pcrel)
			minus = (uintptr_t)entry;
		first = start - minus;
		if (kind->pcrel)
			minus += (uint64_t)kind->size;
		second = base + at[i] - minus;
		memcpy(entry, &first, (size_t)kind->size);
		memcpy(entry + kind->size, &second, (size_t)kind->size);
		memcpy(sealed + at[i] + 8, &start, 8);
	}
	return (struct rules_sections){
		.text_start = code,
		.text_end = code + CODE_SIZE,
		.eh_frame_hdr = base,
		.eh_frame_hdr_size = frames,
		.readable_start = base,
		.readable_end = base + b.size,
	};
}

static void all_found(const struct rules_sections *s)
{
	size_t i;

	for (i = 0; i < MANY; i++) {
		uintptr_t start = s->text_start + i * STRIDE;

		assert_int_equal(cfi_find(&tables, start, &fde), 0);
		assert_int_equal(fde.start, start);
		assert_int_equal(cfi_find(&tables, start + STRIDE / 2 - 1,
					  &fde), 0);
		assert_int_equal(fde.start, start);
		assert_int_equal(cfi_find(&tables, start + STRIDE / 2, &fde),
				 -ENOENT);
	}
	assert_int_equal(cfi_find(&tables, s->text_start - 1, &fde), -ENOENT);
	assert_int_equal(cfi_find(&tables, 0, &fde), -ENOENT);
	assert_int_equal(cfi_find(&tables, UINTPTR_MAX, &fde), -ENOENT);
}

static void test_headers(void **unused)
{
	static const struct header_kind kinds[] = {
		{ ENC_DATAREL4, 4, false, false },
		{ CFI_PE_DATAREL | CFI_PE_UDATA4, 4, false, false },
		{ ENC_DATAREL8, 8, false, false },
		{ CFI_PE_DATAREL | CFI_PE_UDATA8, 8, false, false },
		{ CFI_PE_PCREL | CFI_PE_SDATA4, 4, true, false },
		{ CFI_PE_PCREL | CFI_PE_SDATA8, 8, true, false },
		{ CFI_PE_ABSPTR, 8, false, true },
		{ CFI_PE_UDATA8, 8, false, true },
	};
	size_t i, hdr;

	(void)unused;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct rules_sections s = build_header(&kinds[i], MANY, &hdr);

		cfi_tables_init(&tables, &s);
		assert_int_equal(tables.entries, MANY);
		all_found(&s);
	}
}

/* A header whose table cannot be used says at least where .eh_frame is. */
static void test_headers_without_table(void **unused)
{
	static const struct header_kind kinds[] = {
		{ ENC_OMIT, 4, false, false },
		{ CFI_PE_ULEB128, 4, false, false },
		{ CFI_PE_INDIRECT | ENC_DATAREL4, 4, false, false },
	};
	struct rules_sections s;
	size_t i, hdr;

	(void)unused;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		s = build_header(&kinds[i], MANY, &hdr);
		cfi_tables_init(&tables, &s);
		assert_int_equal(tables.table, 0);
		all_found(&s);
	}
	s = build_header(&(struct header_kind){ ENC_DATAREL4, 4, 0, 0 }, 0,
			 &hdr);
	cfi_tables_init(&tables, &s);
	all_found(&s);
	/* No header; the section alone. */
	s.eh_frame = s.eh_frame_hdr + hdr;
	s.eh_frame_hdr = 0;
	cfi_tables_init(&tables, &s);
	all_found(&s);
	/* A header of a version to come. */
	s = build_header(&(struct header_kind){ ENC_DATAREL4, 4, 0, 0 }, MANY,
			 &hdr);
	*(uint8_t *)s.eh_frame_hdr = 2;
	cfi_tables_init(&tables, &s);
	assert_int_equal(cfi_find(&tables, s.text_start, &fde), -ENOENT);
	s.eh_frame = s.eh_frame_hdr + hdr;
	cfi_tables_init(&tables, &s);
	all_found(&s);
}

/* The header in one segment, what it speaks of in another. */
static void test_two_segments(void **unused)
{
	const struct header_kind kind = { ENC_DATAREL4, 4, false, false };
	size_t hdr;
	struct rules_sections s = build_header(&kind, MANY, &hdr);
	uintptr_t end = s.readable_end, middle = s.readable_start + hdr;

	(void)unused;
	s.readable_end = middle;
	cfi_tables_init(&tables, &s);
	assert_int_equal(tables.frames, 0);
	assert_int_equal(cfi_find(&tables, s.text_start, &fde), -EINVAL);
	s.segments = 2;
	s.segment[0] = (struct rules_range){ s.readable_start, middle };
	s.segment[1] = (struct rules_range){ middle, end };
	cfi_tables_init(&tables, &s);
	assert_int_equal(tables.readable_start, middle);
	all_found(&s);
}

/* What only a file said is believed if it is whole, and only then. */
static void test_unverified(void **unused)
{
	struct rules_sections s;
	size_t cie, last;

	(void)unused;
	clear();
	cie = put_cie(&b, "zR", ENC_ABS8);
	put_fde(&b, cie, CODE, 16);
	last = put_fde(&b, cie, CODE + 16, 16);
	s = builder_sections(&b);
	s.unverified = true;
	cfi_tables_init(&tables, &s);
	finds(16, 16, 32);
	s.eh_frame_size -= 4;		/* ends within a record */
	cfi_tables_init(&tables, &s);
	finds_not(0, -ENOENT);
	s.eh_frame_size += 4;
	s.eh_frame += 4;		/* begins within one */
	cfi_tables_init(&tables, &s);
	finds_not(0, -ENOENT);
	b.bytes[last + 4]++;		/* some other place for its CIE */
	s = builder_sections(&b);
	cfi_tables_init(&tables, &s);
	finds(0, 0, 16);
	s.unverified = true;
	cfi_tables_init(&tables, &s);
	finds_not(0, -ENOENT);
	b.bytes[last + 4]--;
	put_u32(&b, 0);			/* a terminator ends it as well */
	put_u32(&b, 1);
	s = builder_sections(&b);
	s.unverified = true;
	cfi_tables_init(&tables, &s);
	finds(16, 16, 32);
}

/* A count beyond the header's size is cut; beyond the file, too. */
static void test_count_too_large(void **unused)
{
	const struct header_kind kind = { ENC_DATAREL4, 4, false, false };
	size_t hdr;
	struct rules_sections s = build_header(&kind, UINT32_MAX, &hdr);

	(void)unused;
	cfi_tables_init(&tables, &s);
	assert_int_equal(tables.entries, MANY);
	all_found(&s);
	s.eh_frame_hdr_size = SIZE_MAX;
	cfi_tables_init(&tables, &s);
	assert_true(tables.table + 8 * tables.entries <= s.readable_end);
	cfi_find(&tables, s.text_start + 5 * STRIDE, &fde);
	/* No room for the count; for one entry; then by a pass. */
	s.eh_frame_hdr_size = 11;
	cfi_tables_init(&tables, &s);
	assert_int_equal(tables.entries, 0);
	s.eh_frame_hdr_size = 19;
	cfi_tables_init(&tables, &s);
	assert_int_equal(tables.table, 0);
	all_found(&s);
}

/* Tables that are not sorted may answer wrongly but keep the invariant. */
static void test_unsorted(void **unused)
{
	const struct header_kind kind = { ENC_DATAREL4, 4, false, false };
	size_t hdr, i;
	struct rules_sections s = build_header(&kind, MANY, &hdr);
	uintptr_t pc;

	(void)unused;
	for (i = 0; i < MANY / 2; i++) {
		uint8_t *entry = (uint8_t *)s.eh_frame_hdr + 12 + 16 * i, t[8];

		memcpy(t, entry, 8);
		memmove(entry, entry + 8, 8);
		memcpy(entry + 8, t, 8);
	}
	cfi_tables_init(&tables, &s);
	for (pc = s.text_start; pc < s.text_start + MANY * STRIDE; pc++) {
		if (cfi_find(&tables, pc, &fde))
			continue;
		assert_true(fde.valid_start <= pc && pc < fde.valid_end);
	}
}

static void test_overlaps_in_table(void **unused)
{
	const struct header_kind kind = { ENC_DATAREL4, 4, false, false };
	size_t hdr;
	struct rules_sections s = build_header(&kind, MANY, &hdr);
	uint64_t size = 4 * STRIDE;
	uintptr_t record, code = s.text_start;
	int32_t offset;

	(void)unused;
	/* The FDE of entry 10 now covers 11 to 13 as well; 12 covers none. */
	memcpy(&offset, (uint8_t *)s.eh_frame_hdr + 12 + 8 * 10 + 4, 4);
	record = s.eh_frame_hdr + (uintptr_t)(intptr_t)offset;
	memcpy((void *)(record + 16), &size, 8);
	memcpy(&offset, (uint8_t *)s.eh_frame_hdr + 12 + 8 * 12 + 4, 4);
	record = s.eh_frame_hdr + (uintptr_t)(intptr_t)offset;
	memset((void *)(record + 16), 0, 8);
	cfi_tables_init(&tables, &s);
	assert_int_equal(cfi_find(&tables, code + 11 * STRIDE, &fde), 0);
	assert_int_equal(fde.start, code + 11 * STRIDE);
	assert_int_equal(cfi_find(&tables, code + 12 * STRIDE - 1, &fde), 0);
	assert_int_equal(fde.start, code + 10 * STRIDE);
	assert_int_equal(fde.valid_start, code + 11 * STRIDE + STRIDE / 2);
	assert_int_equal(fde.valid_end, code + 12 * STRIDE);
	assert_int_equal(cfi_find(&tables, code + 12 * STRIDE + 1, &fde), 0);
	assert_int_equal(fde.start, code + 10 * STRIDE);
	assert_int_equal(fde.valid_start, code + 12 * STRIDE);
	assert_int_equal(fde.valid_end, code + 13 * STRIDE);
}

/* Pointers to a CIE that go anywhere but to one. */
static void test_cie_pointers(void **unused)
{
	static const uint32_t wrong[] = {
		1, 4, 8, 0x1000, 0x7fffffff, 0xffffffff, 0xfffffffc
	};
	size_t cie, i, at;

	(void)unused;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		clear();
		cie = put_cie(&b, "zR", ENC_ABS8);
		put_fde(&b, cie, CODE, 16);
		at = put_fde(&b, cie, CODE + 16, 16);
		memcpy(b.bytes + at + 4, &wrong[i], 4);
		seal();
		finds(0, 0, 16);
		finds_not(16, -ENOENT);
	}
	/* A length of all there is, a size of all there can be. */
	clear();
	cie = put_cie(&b, "zR", ENC_ABS8);
	put_fde(&b, cie, CODE, UINT64_MAX);
	put_fde(&b, cie, CODE + 16, 16);
	seal();
	finds(16, 16, 32);
	finds_not(0, -ENOENT);
	memcpy(b.bytes + cie, &(uint32_t){ 0xfffffff0 }, 4);
	seal();
	finds_not(16, -ENOENT);
}

/* Every prefix of a good table: never a read beyond it. */
static void test_cut_short(void **unused)
{
	size_t cie, whole;

	(void)unused;
	clear();
	cie = begin_cie(&b, "zPLR", "\x9b\1\2\3\4\x1b\x04", 7);
	PROGRAM(&b, 0x0c, 7, 8, 0x90, 1);
	end_record(&b);
	put_fde(&b, cie, CODE, 16);
	put_fde(&b, cie, CODE + 16, 16);
	for (whole = b.size; b.size > 0; b.size--) {
		seal();
		cfi_find(&tables, CODE, &fde);
		cfi_find(&tables, CODE + 16, &fde);
		assert_true(b.size < whole ||
			    cfi_find(&tables, CODE + 31, &fde) == 0);
	}
}

static void test_header_cut_short(void **unused)
{
	const struct header_kind kind = { ENC_DATAREL4, 4, false, false };
	size_t hdr;
	struct rules_sections s = build_header(&kind, MANY, &hdr);
	uintptr_t end = s.readable_end;

	(void)unused;
	for (; end > s.readable_start; end -= end > hdr + 200 ? 7 : 1) {
		s.readable_end = end;
		cfi_tables_init(&tables, &s);
		cfi_find(&tables, s.text_start, &fde);
		cfi_find(&tables, s.text_start + 5 * STRIDE, &fde);
	}
	/* Out of order, or without anything in it. */
	s.readable_end = s.readable_start - 1;
	cfi_tables_init(&tables, &s);
	assert_int_equal(cfi_find(&tables, s.text_start, &fde), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pointers),
		cmocka_unit_test(test_indirect_pointers),
		cmocka_unit_test(test_linear),
		cmocka_unit_test(test_no_tables),
		cmocka_unit_test(test_augmentations),
		cmocka_unit_test(test_eh_augmentation),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_long_lengths),
		cmocka_unit_test(test_zero_length),
		cmocka_unit_test(test_overlaps),
		cmocka_unit_test(test_headers),
		cmocka_unit_test(test_headers_without_table),
		cmocka_unit_test(test_two_segments),
		cmocka_unit_test(test_unverified),
		cmocka_unit_test(test_count_too_large),
		cmocka_unit_test(test_unsorted),
		cmocka_unit_test(test_overlaps_in_table),
		cmocka_unit_test(test_cie_pointers),
		cmocka_unit_test(test_cut_short),
		cmocka_unit_test(test_header_cut_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
