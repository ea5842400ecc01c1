/*
 * fdes.c: passes over .eh_frame. A record is a CIE, or an FDE, which refers
 * back to its CIE for the encoding of its addresses. The pass for every file
 * collects only signal frames. The list of all functions is made only for files
 * with an address without a name.
 *
 *  I1  The CIEs of a pass are sorted by offset: the pass goes forward.
 *  I2  An invalid record is skipped; an invalid length ends the pass. The
 *      memory of both lists is at most the size of the section.
 */
#include "cli/symbol/elf/fdes.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/base/search.h"
#include "cli/symbol/elf/encoded.h"
#include "unwind/base/assertion.h"

struct cie {
	uint64_t at;
	uint8_t encoding;
};

struct pass {
	struct fdes *fdes;
	bool signals;		/* collect only signal frames */
	struct cie *cies;
	size_t cie_count;
	size_t cie_capacity;
	size_t capacity;	/* of fdes->list */
};

static uint64_t read_pointer(const struct fdes *fdes, struct bytes *bytes,
			     unsigned encoding, bool relative)
{
	uint64_t at = fdes->address + (uint64_t)(bytes->at -
						 fdes->section.data);
	uint64_t value = encoded_number(bytes, encoding, fdes->pointer_size);

	return relative && (encoding & 0x70) == DW_EH_PE_pcrel ? value + at :
		value;
}

/* The encoding of its FDEs; false: unknown, or not needed. */
static bool read_cie(const struct pass *pass, struct bytes *bytes,
		     uint8_t *encoding)
{
	unsigned version = bytes_u8(bytes);
	const char *augmentation = bytes_string(bytes);

	*encoding = DW_EH_PE_absptr;
	if (pass->signals && strchr(augmentation, 'S') == NULL)
		return false;
	if (augmentation[0] == 0)
		return !bytes->bad;
	if (augmentation[0] != 'z')
		return false;
	bytes_uleb(bytes);
	bytes_sleb(bytes);
	if (version == 1)
		bytes_u8(bytes);
	else
		bytes_uleb(bytes);
	bytes_uleb(bytes);
	for (const char *p = augmentation + 1; *p != 0; p++) {
		if (*p == 'R')
			*encoding = bytes_u8(bytes);
		else if (*p == 'L')
			bytes_u8(bytes);
		else if (*p == 'P')
			read_pointer(pass->fdes, bytes, bytes_u8(bytes),
				     false);
	}
	return !bytes->bad;
}

static bool lies_at_or_behind(const void *list, size_t i, uint64_t at)
{
	return ((const struct cie *)list)[i].at >= at;
}

static void read_fde(struct pass *pass, struct bytes *bytes, uint64_t at)
{
	size_t i = search_first(pass->cies, pass->cie_count,
				lies_at_or_behind, at);
	struct fdes *fdes = pass->fdes;
	struct fdes_range range;
	uint8_t encoding;

	if (i == pass->cie_count || pass->cies[i].at != at)
		return;
	encoding = pass->cies[i].encoding;
	range.low = read_pointer(fdes, bytes, encoding, true);
	range.high = range.low +
		read_pointer(fdes, bytes, encoding, false);
	if (bytes->bad || range.high <= range.low)
		return;
	if (!pass->signals) {
		GROW(fdes->list, fdes->count, pass->capacity);
		fdes->list[fdes->count++] = range;
	} else if (fdes->signal_count < FDES_SIGNAL_MAX) {
		fdes->signals[fdes->signal_count++] = range;
	}
}

static void read_section(struct pass *pass)
{
	const struct span section = pass->fdes->section;
	struct bytes bytes = bytes_from(section, 0);

	while (bytes_left(&bytes) >= 4) {
		uint64_t at = (uint64_t)(bytes.at - section.data), id_at;
		struct bytes record;
		uint8_t offset_size, encoding;
		uint64_t length = bytes_length(&bytes, &offset_size);
		uint32_t id;

		record = bytes;
		bytes_skip(&bytes, length);
		if (bytes.bad || length == 0)
			return;
		record.end = bytes.at;
		id_at = (uint64_t)(record.at - section.data);
		id = bytes_u32(&record);
		if (id != 0) {
			read_fde(pass, &record, id_at - id);
		} else if (read_cie(pass, &record, &encoding)) {
			GROW(pass->cies, pass->cie_count, pass->cie_capacity);
			pass->cies[pass->cie_count++] =
				(struct cie){ at, encoding };
			DEBUG_ASSERT(pass->cie_count == 1 ||
				     pass->cies[pass->cie_count - 2].at < at);
		}
	}
}

void fdes_open(struct fdes *fdes, struct elffile *file)
{
	struct pass pass = { .fdes = fdes, .signals = true };

	memset(fdes, 0, sizeof(*fdes));
	pthread_mutex_init(&fdes->lock, NULL);
	fdes->section = elffile_section(file, ".eh_frame");
	fdes->address = elffile_section_address(file, ".eh_frame");
	fdes->pointer_size = file->tables.header.e_ident[EI_CLASS] ==
		ELFCLASS32 ? 4 : 8;
	read_section(&pass);
	free(pass.cies);
}

void fdes_free(struct fdes *fdes)
{
	pthread_mutex_destroy(&fdes->lock);
	free(fdes->list);
}

bool fdes_is_signal(const struct fdes *fdes, uint64_t address)
{
	for (size_t i = 0; i < fdes->signal_count; i++)
		if (address >= fdes->signals[i].low &&
		    address < fdes->signals[i].high)
			return true;
	return false;
}

static int by_low(const void *a, const void *b)
{
	const struct fdes_range *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->high < y->high ? -1 : x->high > y->high;
}

static void make_list(struct fdes *fdes)
{
	struct pass pass = { .fdes = fdes };

	read_section(&pass);
	free(pass.cies);
	if (fdes->count > 1)
		qsort(fdes->list, fdes->count, sizeof(*fdes->list), by_low);
}

static bool begins_above(const void *list, size_t i, uint64_t address)
{
	return ((const struct fdes_range *)list)[i].low > address;
}

bool fdes_find(struct fdes *fdes, uint64_t address, struct fdes_range *found)
{
	size_t above;

	pthread_mutex_lock(&fdes->lock);
	if (!fdes->made)
		make_list(fdes);
	fdes->made = true;
	pthread_mutex_unlock(&fdes->lock);
	above = search_first(fdes->list, fdes->count, begins_above, address);
	if (above == 0 || fdes->list[above - 1].high <= address)
		return false;
	*found = fdes->list[above - 1];
	return true;
}
