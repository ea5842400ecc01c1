/*
 * cfi.c: finds and reads the records of .eh_frame.
 *
 *	.eh_frame_hdr                     .eh_frame
 *	+---------+-----------+-------+   +--------------------------------+
 *	| version | 3         | frame |   | length | 0 = CIE | version ... |
 *	| 1       | encodings | ptr   |   +--------------------------------+
 *	+---------+-----------+-------+   | length | distance back to CIE  |
 *	| count | (code, fde) sorted  |-->|        | code | size | program |
 *	+-------+---------------------+   +--------------------------------+
 *
 * With a sorted table a lookup is a binary search. Without one, and without our
 * own (cfi_index.h), it is a pass over all records. Both give the same result
 * (cfi.h), also where FDEs overlap or are empty: of the FDEs that cover pc the
 * last one to start wins. The neighbours that were read on the way and do not
 * cover pc bound the range for which the result holds.
 *
 * A CIE is parsed again for each lookup: some 15 ns, while a cache would need
 * memory and a rule for its writers. Within one lookup FDEs mostly share their
 * CIE.
 *
 * Called by any thread, also in signal handlers.
 *
 * I1  Every byte is read through a cursor that ends at or before
 *     readable_end and begins at or after readable_start.
 * I2  Every loop advances by at least one byte of input or counts down from a
 *     named limit. A CIE pointer is followed once, so a cycle is no loop.
 * I3  A found FDE has start <= valid_start <= pc < valid_end <= end; a gap has
 *     valid_start <= pc < valid_end.
 */
#include <errno.h>

#include "unwind/base/assertion.h"
#include "unwind/rules/cfi.h"

enum {
	HEADER_VERSION = 1,
	LENGTH_IS_64_BIT = 0xffffffff,
	ENCODED_WORD = sizeof(uintptr_t),
	/* Entries that are read before pc's: overlapping FDEs practically never
	 * occur, empty ones singly. */
	BACK_MAX = 8,
	/* Records of a section without a table; the largest known programs
	 * have under a million. */
	RECORDS_MAX = 1 << 21,
	AUGMENTATION_MAX = 16
};

/* Sizes of the fixed formats, by the low bits of the encoding; 0: none. */
static const uint8_t format_size[16] = {
	[CFI_PE_ABSPTR] = ENCODED_WORD,
	[CFI_PE_UDATA2] = 2, [CFI_PE_UDATA4] = 4, [CFI_PE_UDATA8] = 8,
	[CFI_PE_SDATA2] = 2, [CFI_PE_SDATA4] = 4, [CFI_PE_SDATA8] = 8,
};

/* Fails the cursor if the value does not fit into an address. */
static uintptr_t of_word(struct cfi_cursor *c, uint64_t value)
{
	if ((uintptr_t)value != value &&
	    (int64_t)(intptr_t)value != (int64_t)value)
		cfi_fail(c);
	return (uintptr_t)value;
}

static uintptr_t raw_pointer(struct cfi_cursor *c, uint8_t format)
{
	switch (format) {
	case CFI_PE_ABSPTR:
		return ENCODED_WORD == 8 ? cfi_u64(c) : cfi_u32(c);
	case CFI_PE_ULEB128:
		return of_word(c, cfi_uleb(c));
	case CFI_PE_SLEB128:
		return of_word(c, (uint64_t)cfi_sleb(c));
	case CFI_PE_UDATA2:
		return cfi_u16(c);
	case CFI_PE_UDATA4:
		return cfi_u32(c);
	case CFI_PE_UDATA8:
	case CFI_PE_SDATA8:
		return of_word(c, cfi_u64(c));
	case CFI_PE_SDATA2:
		return (uintptr_t)(intptr_t)(int16_t)cfi_u16(c);
	case CFI_PE_SDATA4:
		return (uintptr_t)(intptr_t)(int32_t)cfi_u32(c);
	default:
		cfi_fail(c);
		return 0;
	}
}

static uintptr_t aligned_pointer(struct cfi_cursor *c)
{
	uintptr_t past = (uintptr_t)c->at & (ENCODED_WORD - 1);

	if (past)
		cfi_bytes(c, ENCODED_WORD - past);
	return raw_pointer(c, CFI_PE_ABSPTR);
}

/* The base of the pointer at the cursor; 0: not known. */
static uintptr_t pointer_base(const struct cfi_cursor *c, uint8_t encoding,
			      const struct cfi_bases *bases)
{
	switch (encoding & CFI_PE_BASE) {
	case CFI_PE_PCREL:
		return (uintptr_t)c->at;
	case CFI_PE_TEXTREL:
		return bases->text;
	case CFI_PE_DATAREL:
		return bases->data;
	case CFI_PE_FUNCREL:
		return bases->function;
	default:
		return 0;
	}
}

/* Reads the word that an indirect pointer points to. */
static uintptr_t follow(struct cfi_cursor *c, uintptr_t at,
			const struct cfi_bases *bases)
{
	uintptr_t value = 0;

	if (bases->high < ENCODED_WORD || at < bases->low ||
	    at > bases->high - ENCODED_WORD)
		cfi_fail(c);
	else
		__builtin_memcpy(&value, (const void *)at, sizeof(value));
	return value;
}

uintptr_t cfi_pointer(struct cfi_cursor *c, uint8_t encoding,
		      const struct cfi_bases *bases)
{
	uintptr_t value;

	if ((encoding & CFI_PE_BASE) == CFI_PE_ALIGNED) {
		value = aligned_pointer(c);
	} else {
		value = pointer_base(c, encoding, bases);
		if (value == 0 && (encoding & CFI_PE_BASE) != 0)
			cfi_fail(c);
		value += raw_pointer(c, encoding & CFI_PE_FORMAT);
	}
	return encoding & CFI_PE_INDIRECT ? follow(c, value, bases) : value;
}

static struct cfi_bases bases_of(const struct cfi_tables *t)
{
	return (struct cfi_bases){
		.text = t->text,
		.data = t->header,
		.low = t->readable_start,
		.high = t->readable_end,
	};
}

static struct cfi_cursor cursor_at(const struct cfi_tables *t,
				   uintptr_t address)
{
	DEBUG_ASSERT(t->readable_start <= t->readable_end);
	if (address < t->readable_start)
		address = UINTPTR_MAX;
	return cfi_cursor_make(address, t->readable_end);
}

/* Takes the header's table, if its entries can be searched: two fields of one
 * fixed size. */
static void take_table(struct cfi_tables *t, struct cfi_cursor *c,
		       uint8_t count_encoding, uint8_t encoding)
{
	struct cfi_bases bases = { .text = t->text, .data = t->header };
	uint8_t size = format_size[encoding & CFI_PE_FORMAT];
	uint8_t base = encoding & (CFI_PE_BASE | CFI_PE_INDIRECT);
	uintptr_t count;

	if (count_encoding == CFI_PE_OMIT || encoding == CFI_PE_OMIT)
		return;
	if (size < 4 || (base != 0 && base != CFI_PE_PCREL &&
			 base != CFI_PE_DATAREL))
		return;
	count = cfi_pointer(c, count_encoding, &bases);
	if (count > cfi_left(c) / (2u * size))
		count = cfi_left(c) / (2u * size);
	if (c->failed || count == 0)
		return;
	t->table = (uintptr_t)c->at;
	t->table_base = t->header;
	t->entries = count;
	t->entry_encoding = encoding;
	t->field_size = size;
	DEBUG_ASSERT(t->table >= t->readable_start &&
		     t->readable_end - t->table >= 2 * count * size);
}

static void take_header(struct cfi_tables *t, const struct rules_sections *s)
{
	struct cfi_bases bases = bases_of(t);
	struct cfi_cursor c = cursor_at(t, s->eh_frame_hdr);
	uint8_t version, frame_encoding, count_encoding, table_encoding;
	uintptr_t frames = 0;

	bases.data = s->eh_frame_hdr;
	if (s->eh_frame_hdr_size < cfi_left(&c))
		c.end = c.at + s->eh_frame_hdr_size;
	version = cfi_u8(&c);
	frame_encoding = cfi_u8(&c);
	count_encoding = cfi_u8(&c);
	table_encoding = cfi_u8(&c);
	if (c.failed || version != HEADER_VERSION)
		return;
	if (frame_encoding != CFI_PE_OMIT)
		frames = cfi_pointer(&c, frame_encoding, &bases);
	if (c.failed)
		return;
	t->header = s->eh_frame_hdr;
	if (t->frames == 0)
		t->frames = frames;
	take_table(t, &c, count_encoding, table_encoding);
}

/* Reads a record's length and limits *c to the record. Returns the address of
 * the next record; 0 at the terminator or when c failed. */
static uintptr_t read_length(struct cfi_cursor *c)
{
	uint64_t length = cfi_u32(c);

	if (length == LENGTH_IS_64_BIT)
		length = cfi_u64(c);
	if (length > cfi_left(c))
		cfi_fail(c);
	if (c->failed || length == 0)
		return 0;
	c->end = c->at + length;
	return (uintptr_t)c->end;
}

/* Reads the augmentation data, which the letters after 'z' describe. From the
 * first unknown letter on the data is unknown, but not its size. */
static void read_augmentation(struct cfi_cursor *c, const uint8_t *letters,
			      const struct cfi_bases *bases,
			      struct cfi_cie *cie)
{
	uint64_t size = cfi_uleb(c);
	struct cfi_cursor data = { .at = c->at };

	if (!cfi_bytes(c, size))
		return;
	data.end = c->at;
	for (;; letters++) {
		switch (*letters) {
		case 'R':
			cie->pointer_encoding = cfi_u8(&data);
			break;
		case 'L':
			cie->lsda_encoding = cfi_u8(&data);
			break;
		case 'P':
			cie->has_personality = true;
			/* Only its size matters, so any base is right. */
			cfi_pointer(&data, cfi_u8(&data) & CFI_PE_FORMAT,
				    bases);
			break;
		case 'S':
			cie->is_signal = true;
			break;
		case 'B':
			break;
		default:
			cie->unknown_augmentation = *letters != 0;
			return;
		}
		if (data.failed) {
			cie->unknown_augmentation = true;
			return;
		}
	}
}

/* Reads the augmentation string, up to its NUL. */
static const uint8_t *read_letters(struct cfi_cursor *c)
{
	const uint8_t *letters = c->at;
	unsigned int i;

	for (i = 0; i < AUGMENTATION_MAX; i++)
		if (cfi_u8(c) == 0)
			return letters;
	cfi_fail(c);
	return letters;
}

static int read_cie(const struct cfi_tables *t, uintptr_t address,
		    struct cfi_cie *cie)
{
	const struct cfi_bases bases = bases_of(t);
	struct cfi_cursor c = cursor_at(t, address);
	const uint8_t *letters;
	uint64_t column;
	uint8_t version;

	if (!read_length(&c) || cfi_u32(&c) != 0)
		return -EINVAL;
	version = cfi_u8(&c);
	if (version != 1 && version != 3 && version != 4)
		return -EINVAL;
	letters = read_letters(&c);
	if (c.failed)
		return -EINVAL;
	/* Very old versions of gcc 2 stored a pointer to their tables here. */
	if (letters[0] == 'e' && letters[1] == 'h') {
		cfi_bytes(&c, ENCODED_WORD);
		letters += 2;
	}
	/* Version 4 contains the sizes of an address and of a segment
	 * selector. */
	if (version == 4 && (cfi_u8(&c) != ENCODED_WORD || cfi_u8(&c) != 0))
		return -EINVAL;
	cie->code_align = cfi_uleb(&c);
	cie->data_align = cfi_sleb(&c);
	column = version == 1 ? cfi_u8(&c) : cfi_uleb(&c);
	cie->pointer_encoding = CFI_PE_ABSPTR;
	cie->lsda_encoding = CFI_PE_OMIT;
	cie->is_signal = cie->has_personality = false;
	cie->unknown_augmentation = false;
	cie->has_size = letters[0] == 'z';
	if (cie->has_size)
		read_augmentation(&c, letters + 1, &bases, cie);
	else if (letters[0] != 0)
		return -EINVAL;
	if (c.failed || column >= ARCH_REG_COUNT)
		return -EINVAL;
	cie->ra_column = (uint8_t)column;
	cie->program = (uintptr_t)c.at;
	cie->program_end = (uintptr_t)c.end;
	DEBUG_ASSERT(cie->program >= t->readable_start &&
		     cie->program <= cie->program_end &&
		     cie->program_end <= t->readable_end);	/* I1 */
	return 0;
}

/* Reads the FDE whose record begins at address. -ENOENT: it is a CIE. *fde must
 * hold an FDE read before, or zeros. */
static int read_fde(const struct cfi_tables *t, uintptr_t address,
		    struct cfi_fde *fde)
{
	struct cfi_cursor c = cursor_at(t, address);
	uintptr_t id_at, size;
	uint64_t data_size;
	uint8_t encoding;
	uint32_t back;

	if (!read_length(&c))
		return -EINVAL;
	id_at = (uintptr_t)c.at;
	back = cfi_u32(&c);
	if (c.failed || back > id_at - t->readable_start)
		return -EINVAL;
	if (back == 0)
		return -ENOENT;
	if (fde->cie_at != id_at - back) {
		fde->cie_at = 0;
		if (read_cie(t, id_at - back, &fde->cie))
			return -EINVAL;
		fde->cie_at = id_at - back;
	}
	encoding = fde->cie.pointer_encoding;
	fde->bases = bases_of(t);
	fde->start = cfi_pointer(&c, encoding, &fde->bases);
	fde->bases.function = fde->start;
	size = raw_pointer(&c, encoding & CFI_PE_FORMAT);
	data_size = fde->cie.has_size ? cfi_uleb(&c) : 0;
	fde->data = (uintptr_t)c.at;
	cfi_bytes(&c, data_size);
	if (c.failed || size > UINTPTR_MAX - fde->start)
		return -EINVAL;
	fde->end = fde->start + size;
	fde->program = fde->data_end = (uintptr_t)c.at;
	fde->program_end = (uintptr_t)c.end;
	DEBUG_ASSERT(fde->start <= fde->end && fde->data <= fde->data_end);
	DEBUG_ASSERT(fde->data >= t->readable_start &&
		     fde->program <= fde->program_end &&
		     fde->program_end <= t->readable_end);	/* I1 */
	return 0;
}

/* Field number n of the table. take_table has checked that it is inside. */
static uintptr_t table_field(const struct cfi_tables *t, size_t n)
{
	const struct cfi_bases bases = { .data = t->table_base };
	uintptr_t address = t->table + n * t->field_size;
	struct cfi_cursor c;

	DEBUG_ASSERT(n < 2 * t->entries);
	c = cfi_cursor_make(address, address + t->field_size);
	return cfi_pointer(&c, t->entry_encoding, &bases);
}

/* How many entries begin at or before pc. */
static size_t table_upper(const struct cfi_tables *t, uintptr_t pc)
{
	size_t low = 0, count = t->entries;

	while (count > 0) {
		size_t half = count / 2;

		if (table_field(t, 2 * (low + half)) <= pc) {
			low += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	DEBUG_ASSERT(low <= t->entries);
	return low;
}

/* A difference of addresses that cannot overflow. */
static int64_t distance(uintptr_t from, uintptr_t to)
{
	uint64_t far = to >= from ? to - from : from - to;

	if (far > INT64_MAX)
		far = INT64_MAX;
	return to >= from ? (int64_t)far : -(int64_t)far;
}

/* The same for the usual table: pairs of 32-bit offsets. The loop has no branch
 * to mispredict, which is half of a cold lookup. */
static size_t table_upper_small(const struct cfi_tables *t, uintptr_t pc)
{
	const uint8_t *entry = (const uint8_t *)t->table;
	int64_t wanted = distance(t->table_base, pc);
	size_t count = t->entries;
	int32_t code;

	while (count > 1) {
		size_t half = count / 2;

		__builtin_memcpy(&code, entry + 8 * half, 4);
		entry += code <= wanted ? 8 * half : 0;
		count -= half;
	}
	__builtin_memcpy(&code, entry, 4);
	entry += code <= wanted ? 8 : 0;
	return (size_t)(entry - (const uint8_t *)t->table) / 8;
}

/* Narrows the valid range around pc by an FDE that does not cover pc. */
static void keep_off(uintptr_t pc, uintptr_t start, uintptr_t end,
		     uintptr_t *low, uintptr_t *high)
{
	if (start > pc && start < *high)
		*high = start;
	if (end <= pc && end > *low)
		*low = end;
	DEBUG_ASSERT(*low <= pc && pc <= *high);
}

/* Records that no FDE covers [low, high). */
static int set_gap(struct cfi_fde *fde, uintptr_t low, uintptr_t high)
{
	DEBUG_ASSERT(low <= high);
	fde->valid_start = low;
	fde->valid_end = high;
	return -ENOENT;
}

static void set_valid(struct cfi_fde *fde, uintptr_t low, uintptr_t high)
{
	fde->valid_start = fde->start > low ? fde->start : low;
	fde->valid_end = fde->end < high ? fde->end : high;
	DEBUG_ASSERT(fde->valid_start < fde->valid_end);	/* I3 */
}

static int find_in_table(const struct cfi_tables *t, uintptr_t pc,
			 struct cfi_fde *fde)
{
	bool small = t->entry_encoding == (CFI_PE_DATAREL | CFI_PE_SDATA4);
	size_t i = small ? table_upper_small(t, pc) : table_upper(t, pc);
	uintptr_t low = 0, high = UINTPTR_MAX;
	unsigned int back;

	fde->cie_at = 0;
	if (i > 0)
		low = table_field(t, 2 * (i - 1));
	if (i < t->entries)
		high = table_field(t, 2 * i);
	if (low > pc || (i < t->entries && high <= pc))
		return -EINVAL;	/* not sorted */
	if (i == 0)
		return set_gap(fde, 0, high);
	DEBUG_ASSERT(low <= pc && pc <= high);
	for (back = 0; back < BACK_MAX && i > 0; back++, i--) {
		if (read_fde(t, table_field(t, 2 * i - 1), fde))
			return -EINVAL;
		if (pc >= fde->start && pc < fde->end) {
			DEBUG_ASSERT(low <= pc && pc <= high);	/* I3 */
			set_valid(fde, low, high);
			return 0;
		}
		keep_off(pc, fde->start, fde->end, &low, &high);
	}
	DEBUG_ASSERT(low <= pc && pc <= high);	/* I3 */
	return set_gap(fde, low, high);
}

/* Linkers may place .eh_frame in another segment than its header. */
static void find_frames_segment(struct cfi_tables *t,
				const struct rules_sections *s)
{
	unsigned int i;

	if (t->frames >= t->readable_start && t->frames < t->readable_end)
		return;
	for (i = 0; i < s->segments; i++)
		if (t->frames >= s->segment[i].start &&
		    t->frames < s->segment[i].end) {
			t->readable_start = s->segment[i].start;
			t->readable_end = s->segment[i].end;
			return;
		}
	t->frames = 0;
}

/* Whether the section consists of well-formed records from end to end. */
static bool all_records_read(const struct cfi_tables *t)
{
	uintptr_t address = t->frames;
	struct cfi_fde fde = { .cie_at = 0 };
	struct cfi_cie cie;
	unsigned int n;

	for (n = 0; n < RECORDS_MAX && address < t->frames_end; n++) {
		struct cfi_cursor c = cfi_cursor_make(address, t->frames_end);
		uintptr_t next = read_length(&c);
		int status;

		if (next == 0)
			return n > 0 && !c.failed;
		status = read_fde(t, address, &fde);
		if (status == -ENOENT)
			status = read_cie(t, address, &cie);
		if (status)
			return false;
		DEBUG_ASSERT(next > address && next <= t->frames_end);	/* I2 */
		address = next;
	}
	return n > 0 && address == t->frames_end;
}

void cfi_tables_init(struct cfi_tables *t, const struct rules_sections *s)
{
	*t = (struct cfi_tables){
		.readable_start = s->readable_start,
		.readable_end = s->readable_end,
		.frames = s->eh_frame,
		.text = s->text_start,
	};
	if (t->readable_end < t->readable_start)
		t->readable_end = t->readable_start;
	if (s->eh_frame_hdr)
		take_header(t, s);
	find_frames_segment(t, s);
	t->frames_end = t->readable_end;
	if (t->frames && s->eh_frame == t->frames && s->eh_frame_size &&
	    s->eh_frame_size < t->readable_end - t->frames)
		t->frames_end = t->frames + s->eh_frame_size;
	if (s->unverified && !all_records_read(t))
		t->frames = 0;
	DEBUG_ASSERT(!t->frames || (t->readable_start <= t->frames &&
				    t->frames <= t->frames_end &&
				    t->frames_end <= t->readable_end));
}

bool cfi_next(const struct cfi_tables *t, uintptr_t *record, uintptr_t *at,
	      struct cfi_fde *fde)
{
	uintptr_t address = *record ? *record : t->frames, next;
	unsigned int n;

	for (n = 0; n < RECORDS_MAX && address < t->frames_end; n++) {
		struct cfi_cursor c = cfi_cursor_make(address, t->frames_end);

		next = read_length(&c);
		if (next == 0)
			break;
		DEBUG_ASSERT(next > address && next <= t->frames_end);	/* I2 */
		if (read_fde(t, address, fde) == 0) {
			*at = address;
			*record = next;
			return true;
		}
		address = next;
	}
	*record = t->frames_end;
	return false;
}

static int find_by_pass(const struct cfi_tables *t, uintptr_t pc,
			struct cfi_fde *best)
{
	uintptr_t low = 0, high = UINTPTR_MAX, record = 0, at;
	struct cfi_fde fde = { .cie_at = 0 };
	bool found = false;

	while (cfi_next(t, &record, &at, &fde)) {
		if (pc < fde.start || pc >= fde.end) {
			keep_off(pc, fde.start, fde.end, &low, &high);
		} else if (!found || fde.start >= best->start) {
			*best = fde;
			found = true;
		}
	}
	DEBUG_ASSERT(low <= pc && pc <= high);	/* I3 */
	if (!found)
		return set_gap(best, low, high);
	set_valid(best, low, high);
	return 0;
}

bool cfi_span(const struct cfi_tables *t, uintptr_t *start,
	      uintptr_t *end)
{
	struct cfi_fde fde = { .cie_at = 0 };
	uintptr_t record = 0, at;

	*start = UINTPTR_MAX;
	*end = 0;
	while (cfi_next(t, &record, &at, &fde))
		if (fde.start) {
			*start = fde.start < *start ? fde.start : *start;
			*end = fde.end > *end ? fde.end : *end;
		}
	return *start < *end;
}

int cfi_find(const struct cfi_tables *t, uintptr_t pc, struct cfi_fde *fde)
{
	if (t->table)
		return find_in_table(t, pc, fde);
	if (t->frames)
		return find_by_pass(t, pc, fde);
	return set_gap(fde, 0, UINTPTR_MAX);
}
