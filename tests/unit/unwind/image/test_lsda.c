/*
 * test_lsda.c: tables of call sites: every encoding, the verdict of each kind
 * of entry, tables that lie, and those of the compiler that built this test.
 */
// FLAGS: -fexceptions
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/unit/table_builder.h"
#include "tests/unit/test_unwinder.h"
#include "unwind/image/lsda.h"
#include "unwind/rules/rules_image.h"

enum { FUNCTION = CODE_SIZE / 2, FUNCTION_SIZE = 0x1000 };

static struct builder b;

/* A number as a call site's field is written. */
static void put_field(uint8_t encoding, uint64_t value)
{
	static const uint8_t size[16] = { sizeof(uintptr_t), 0, 2, 4, 8, 0,
					  0, 0, 0, 0, 2, 4, 8 };

	if (encoding == CFI_PE_ULEB128)
		put_uleb(&b, value);
	else if (encoding == CFI_PE_SLEB128)
		put(&b, (uint8_t[]){ (uint8_t)(value | 0x80),
				     (uint8_t)(value >> 7 | 0x80),
				     (uint8_t)(value >> 14 & 0x3f) }, 3);
	else
		put(&b, &value, size[encoding]);
}

static void put_site(uint8_t encoding, uint64_t start, uint64_t length,
		     uint64_t pad, uint64_t action)
{
	put_field(encoding, start);
	put_field(encoding, length);
	put_field(encoding, pad);
	put_uleb(&b, action);
}

/* What is built so far becomes the entries of a table with this head. */
static void put_head(const uint8_t *head, size_t size)
{
	struct builder entries = b;

	b.size = 0;
	put(&b, head, size);
	put_uleb(&b, entries.size);
	put(&b, entries.bytes, entries.size);
}

static bool may_catch(uint64_t offset)
{
	uintptr_t lsda = (uintptr_t)builder_seal(&b);

	return lsda_table_may_catch(lsda, lsda + b.size, CODE, CODE + offset);
}

static void put_sites(uint8_t encoding)
{
	b.size = 0;
	put_site(encoding, 0x10, 0x10, 0, 0);		/* passed by */
	put_site(encoding, 0x20, 0x08, 0x400, 0);	/* cleanup */
	put_site(encoding, 0x30, 0x10, 0x410, 1);	/* catch */
	put_site(encoding, 0x40, 0x1000, 0x420, 0);
	put_site(encoding, 0x1040, 1, 0, 3);	/* no pad: passed by */
}

static void check_sites(void)
{
	assert_true(may_catch(0));
	assert_true(may_catch(0xf));
	assert_false(may_catch(0x10));
	assert_false(may_catch(0x1f));
	assert_false(may_catch(0x20));
	assert_false(may_catch(0x27));
	assert_true(may_catch(0x28));
	assert_true(may_catch(0x2f));
	assert_true(may_catch(0x30));
	assert_true(may_catch(0x3f));
	assert_false(may_catch(0x40));
	assert_false(may_catch(0x103f));
	assert_false(may_catch(0x1040));
	assert_true(may_catch(0x1041));
	assert_true(may_catch(UINT64_MAX));
}

static void test_encodings(void **unused)
{
	static const uint8_t all[] = {
		CFI_PE_ABSPTR, CFI_PE_ULEB128, CFI_PE_UDATA2, CFI_PE_UDATA4,
		CFI_PE_UDATA8, CFI_PE_SLEB128, CFI_PE_SDATA2, CFI_PE_SDATA4,
		CFI_PE_SDATA8
	};
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(all); i++) {
		put_sites(all[i]);
		put_head((uint8_t[]){ CFI_PE_OMIT, CFI_PE_OMIT, all[i] }, 3);
		check_sites();
	}
}

/* Where landing pads count from, and where the types are, is passed over. */
static void test_heads(void **unused)
{
	(void)unused;
	put_sites(CFI_PE_ULEB128);
	put_head((uint8_t[]){ CFI_PE_OMIT, CFI_PE_INDIRECT | CFI_PE_PCREL |
			      CFI_PE_SDATA4, 0x81, 0x01, CFI_PE_ULEB128 }, 5);
	check_sites();
	put_sites(CFI_PE_UDATA4);
	put_head((uint8_t[]){ CFI_PE_UDATA4, 1, 2, 3, 4, CFI_PE_UDATA4, 0x7f,
			      CFI_PE_UDATA4 }, 8);
	check_sites();
	put_sites(CFI_PE_UDATA4);
	put_head((uint8_t[]){ CFI_PE_PCREL | CFI_PE_SDATA4, 1, 2, 3, 4,
			      CFI_PE_OMIT, CFI_PE_UDATA4 }, 7);
	check_sites();
	put_sites(CFI_PE_UDATA4);
	put_head((uint8_t[]){ CFI_PE_FUNCREL | CFI_PE_ULEB128, 0x80, 0,
			      CFI_PE_OMIT, CFI_PE_UDATA4 }, 5);
	check_sites();
}

/* All that follows has a call site that lets everything pass, if read. */
static bool odd_head(const uint8_t *head, size_t size)
{
	b.size = 0;
	put_site(CFI_PE_UDATA4, 0, 0x100, 0, 0);
	put_head(head, size);
	return may_catch(0x10);
}

static void test_odd_tables(void **unused)
{
	static const uint8_t odd[] = {
		CFI_PE_PCREL | CFI_PE_UDATA4, CFI_PE_FUNCREL | CFI_PE_UDATA4,
		CFI_PE_ALIGNED, CFI_PE_INDIRECT | CFI_PE_UDATA4, CFI_PE_OMIT,
		5, 15
	};
	size_t i, size;

	(void)unused;
	assert_false(odd_head((uint8_t[]){ 0xff, 0xff, CFI_PE_UDATA4 }, 3));
	for (i = 0; i < sizeof(odd); i++)
		assert_true(odd_head((uint8_t[]){ 0xff, 0xff, odd[i] }, 3));
	b.size = 0;
	put_site(CFI_PE_ABSPTR, 0, 0x100, 0, 0);
	PROGRAM(&b, 0, 0, 0, 0, 0, 0, 0);	/* so that it is aligned */
	put_head((uint8_t[]){ 0xff, 0xff, CFI_PE_ALIGNED }, 3);
	assert_true(may_catch(0));
	/* A base of landing pads that nobody could know. */
	assert_true(odd_head((uint8_t[]){ CFI_PE_DATAREL | CFI_PE_UDATA2, 1, 1,
					  0xff, CFI_PE_UDATA4 }, 5));
	assert_true(odd_head((uint8_t[]){ 5, 0xff, CFI_PE_UDATA4 }, 3));
	/* Entries that reach beyond the segment, or end in an entry. */
	put_sites(CFI_PE_UDATA4);
	put_head((uint8_t[]){ 0xff, 0xff, CFI_PE_UDATA4 }, 3);
	b.bytes[3]++;
	assert_true(may_catch(0x10));
	b.bytes[3] -= 2;
	assert_false(may_catch(0x10));
	assert_true(may_catch(0x1040));
	b.bytes[3]++;
	for (size = b.size; size-- > 0;) {
		b.size = size;
		assert_true(may_catch(0x10));
	}
	/* Out of order: who looks in order ends there. */
	b.size = 0;
	put_site(CFI_PE_UDATA4, 0x100, 0x10, 0, 0);
	put_site(CFI_PE_UDATA4, 0x80, 0x10, 0, 0);
	put_head((uint8_t[]){ 0xff, 0xff, CFI_PE_UDATA4 }, 3);
	assert_true(may_catch(0x88));
	assert_false(may_catch(0x108));
}

/* So many call sites that the last is not looked at any more. */
static void test_many(void **unused)
{
	unsigned int i;

	(void)unused;
	b.size = 0;
	for (i = 0; i < 8192; i++)
		put_site(CFI_PE_ULEB128, 0, 0, 0, 0);
	put_site(CFI_PE_ULEB128, 0, 1, 0, 0);
	put_head((uint8_t[]){ 0xff, 0xff, CFI_PE_ULEB128 }, 3);
	assert_true(may_catch(0));
	b.size -= 4;
	b.bytes[3] -= 4;
	b.bytes[b.size - 3] = 1;
	assert_false(may_catch(0));
}

/* An image of one FDE, whose augmentation is as told, and one segment. */
static struct image *make_image(const char *letters, const void *cie_data,
				size_t cie_size, const void *data, size_t size,
				size_t *hole)
{
	static struct gl_image public;
	static struct image image;
	struct rules_sections sections;
	size_t cie;

	b.size = 0;
	cie = begin_cie(&b, letters, cie_data, cie_size);
	PROGRAM(&b, 0x0c, ARCH_REG_SP, 8, 0x80 | ARCH_REG_PC, 1);
	end_record(&b);
	begin_record(&b);
	put_u32(&b, (uint32_t)(b.size - cie));
	put_u64(&b, CODE + FUNCTION);
	put_u64(&b, FUNCTION_SIZE);
	put_uleb(&b, size);
	*hole = b.size;
	put(&b, data, size);
	end_record(&b);
	put_u32(&b, 0);
	/* Behind it, the table. */
	put(&b, "\xff\xff\x01\x04\x00\x10\x00\x00", 8);
	sections = builder_sections(&b);
	*hole += sections.readable_start;
	public = (struct gl_image){ .segments = 1 };
	public.segment[0] = (struct gl_segment){
		.start = sections.readable_start, .size = b.size,
		.flags = PF_R,
	};
	image.public = &public;
	image.rules = rules_image_new(&sections);
	assert_non_null(image.rules);
	return &image;
}

static bool image_may_catch(const struct image *image, uint64_t offset)
{
	return lsda_may_catch(image, CODE + FUNCTION + offset);
}

static void test_found(void **unused)
{
	struct image *image;
	size_t hole;
	int32_t distance;

	(void)unused;
	image = make_image("zPLR", "\x03\1\2\3\4\x1b\x04", 7, "\0\0\0\0", 4,
			   &hole);
	/* No table. Outside all FDEs; it is the call that counts, which ends at
	 * the return address. */
	assert_true(image_may_catch(image, 0));
	assert_false(image_may_catch(image, 1));
	assert_false(image_may_catch(image, FUNCTION_SIZE));
	assert_true(image_may_catch(image, FUNCTION_SIZE + 1));
	distance = (int32_t)(image->public->segment[0].start + b.size - 8 -
			     hole);
	memcpy((void *)hole, &distance, 4);
	assert_false(image_may_catch(image, 1));
	assert_false(image_may_catch(image, 0x10));
	assert_true(image_may_catch(image, 0x11));
	/* Outside what may be read. */
	image->public->segment[0].flags = PF_X;
	assert_true(image_may_catch(image, 0x10));
	image->public->segment[0].flags = PF_R;
	image->public->segment[0].size -= 1;
	assert_true(image_may_catch(image, 0x10));
	image->public->segment[0].size -= 7;
	assert_true(image_may_catch(image, 0x10));
	image->rules = NULL;
	assert_true(image_may_catch(image, 0x10));
}

static bool augmented(const char *letters, const void *cie_data,
		      size_t cie_size, const void *data, size_t size)
{
	size_t hole;

	return image_may_catch(make_image(letters, cie_data, cie_size, data,
					  size, &hole), 0x10);
}

static void test_augmentations(void **unused)
{
	(void)unused;
	assert_false(augmented("zR", "\x04", 1, "", 0));
	assert_false(augmented("zRS", "\x04", 1, "", 0));
	/* A table that nobody reads. */
	assert_false(augmented("zLR", "\x1b\x04", 2, "\1\0\0\0", 4));
	/* A personality that needs no table is none that we know. */
	assert_true(augmented("zPR", "\x03\1\2\3\4\x04", 6, "", 0));
	assert_true(augmented("zPLR", "\x03\1\2\3\4\xff\x04", 7, "", 0));
	/* Letters that may mean one. */
	assert_true(augmented("zRQ", "\x04", 1, "", 0));
	assert_true(augmented("zRL", "\x04", 1, "\0\0\0\0", 4));
	/* Pointers that cannot be read, and ones that need not. */
	assert_true(augmented("zPLR", "\x03\1\2\3\4\x1b\x04", 7, "\0\0\0", 3));
	assert_true(augmented("zPLR", "\x03\1\2\3\4\x9b\x04", 7, "\1\0\0\0",
			      4));
	assert_true(augmented("zPLR", "\x03\1\2\3\4\x3b\x04", 7, "\1\0\0\0",
			      4));
	assert_true(augmented("zPLR", "\x03\1\2\3\4\x50\x04", 7,
			      "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 15));
	assert_true(augmented("zPLR", "\x03\1\2\3\4\x05\x04", 7, "\0\0\0\0",
			      4));
	assert_false(augmented("zPLR", "\x03\1\2\3\4\x00\x04", 7,
			       "\0\0\0\0\0\0\0\0", 8));
	assert_true(augmented("zPLR", "\x03\1\2\3\4\x00\x04", 7,
			      "\1\0\0\0\0\0\0\0", 8));
}

static uintptr_t returns_to[3];
static int cleaned;

static __attribute__((noinline)) void note(int i)
{
	returns_to[i] = (uintptr_t)__builtin_return_address(0);
}

/* The compiler sees that note throws nothing, but not through this. */
static void (*volatile may_throw)(int) = note;

static void clean(int *value)
{
	cleaned += *value;
}

static __attribute__((noinline)) void with_cleanup(void)
{
	int value __attribute__((cleanup(clean))) = 1;

	may_throw(0);
	note(1);
	__asm__ volatile("" : "+r"(value));
}

static __attribute__((noinline)) void without(void)
{
	may_throw(2);
	__asm__ volatile("");
}

/* Tables of the compiler's own. */
static void test_own(void **unused)
{
	const struct image *image;
	struct cfi_fde fde;

	(void)unused;
	assert_int_equal(test_unwinder_init(CAPTURE_AUTO, 0), 0);
	with_cleanup();
	without();
	assert_int_equal(cleaned, 1);
	image = image_find((uintptr_t)test_own);
	assert_non_null(image);
	if (ARCH_ELF_EXIDX) {	/* there it does not matter */
		assert_false(lsda_may_catch(image, returns_to[0]));
		return;
	}
	assert_int_equal(cfi_find(&image_rules(image)->tables,
				  returns_to[0] - 1, &fde), 0);
	assert_true(fde.cie.has_personality);
	assert_true(fde.data_end > fde.data);
	assert_false(lsda_may_catch(image, returns_to[0]));
	assert_true(lsda_may_catch(image, returns_to[1]));
	assert_false(lsda_may_catch(image, returns_to[2]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_encodings),
		cmocka_unit_test(test_heads),
		cmocka_unit_test(test_odd_tables),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_augmentations),
		cmocka_unit_test(test_own),
	};

	unwind_alloc = test_unwinder_alloc;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
