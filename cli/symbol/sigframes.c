/*
 * sigframes.c: one pass over .eh_frame. A record is a CIE or an FDE, which
 * points back to its CIE; only those of signal frames are read further.
 */
#include "cli/symbol/sigframes.h"

#include <dwarf.h>
#include <string.h>

struct cie {
	uint64_t at;
	uint8_t encoding;
};

struct pass {
	struct span section;
	uint64_t address;
	unsigned pointer_size;
	struct cie cies[SIGFRAMES_MAX];
	size_t cie_count;
};

static uint64_t read_pointer(const struct pass *pass, struct bytes *bytes,
			     unsigned encoding, bool relative)
{
	uint64_t at = pass->address + (uint64_t)(bytes->at -
						 pass->section.data);
	uint64_t value;

	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
		value = bytes_number(bytes, pass->pointer_size);
		break;
	case DW_EH_PE_udata2:
		value = bytes_u16(bytes);
		break;
	case DW_EH_PE_sdata2:
		value = (uint64_t)(int16_t)bytes_u16(bytes);
		break;
	case DW_EH_PE_udata4:
		value = bytes_u32(bytes);
		break;
	case DW_EH_PE_sdata4:
		value = (uint64_t)(int32_t)bytes_u32(bytes);
		break;
	case DW_EH_PE_udata8: case DW_EH_PE_sdata8:
		value = bytes_u64(bytes);
		break;
	default:
		bytes_fail(bytes);
		return 0;
	}
	return relative && (encoding & 0x70) == DW_EH_PE_pcrel ? value + at :
		value;
}

/* How its FDEs write addresses. */
static bool read_cie(const struct pass *pass, struct bytes *bytes,
		     uint8_t *encoding)
{
	unsigned version = bytes_u8(bytes);
	const char *augmentation = bytes_string(bytes);

	if (strchr(augmentation, 'S') == NULL || augmentation[0] != 'z')
		return false;
	bytes_uleb(bytes);
	bytes_sleb(bytes);
	if (version == 1)
		bytes_u8(bytes);
	else
		bytes_uleb(bytes);
	bytes_uleb(bytes);
	*encoding = DW_EH_PE_absptr;
	for (const char *p = augmentation + 1; *p != 0; p++) {
		if (*p == 'R')
			*encoding = bytes_u8(bytes);
		else if (*p == 'L')
			bytes_u8(bytes);
		else if (*p == 'P')
			read_pointer(pass, bytes, bytes_u8(bytes), false);
	}
	return !bytes->bad;
}

static void read_fde(struct sigframes *frames, const struct pass *pass,
		     struct bytes *bytes, uint64_t cie)
{
	for (size_t i = 0; i < pass->cie_count; i++) {
		unsigned encoding = pass->cies[i].encoding;
		uint64_t low, size;

		if (pass->cies[i].at != cie ||
		    frames->count == SIGFRAMES_MAX)
			continue;
		low = read_pointer(pass, bytes, encoding, true);
		size = read_pointer(pass, bytes, encoding, false);
		if (bytes->bad)
			return;
		frames->list[frames->count].low = low;
		frames->list[frames->count++].high = low + size;
	}
}

void sigframes_read(struct sigframes *frames, struct elffile *file)
{
	struct pass pass = {
		.section = elffile_section(file, ".eh_frame"),
		.address = elffile_section_address(file, ".eh_frame"),
		.pointer_size = gelf_getclass(file->elf) == ELFCLASS32 ? 4 : 8,
	};
	struct bytes bytes = bytes_from(pass.section, 0);

	frames->count = 0;
	while (bytes_left(&bytes) >= 4) {
		uint64_t at = (uint64_t)(bytes.at - pass.section.data), id_at;
		struct bytes record;
		uint8_t offset_size, encoding;
		uint64_t length = bytes_length(&bytes, &offset_size);
		uint32_t id;

		record = bytes;
		bytes_skip(&bytes, length);
		if (bytes.bad || length == 0)
			return;
		record.end = bytes.at;
		id_at = (uint64_t)(record.at - pass.section.data);
		id = bytes_u32(&record);
		if (id != 0) {
			read_fde(frames, &pass, &record, id_at - id);
		} else if (pass.cie_count < SIGFRAMES_MAX &&
			   read_cie(&pass, &record, &encoding)) {
			pass.cies[pass.cie_count].at = at;
			pass.cies[pass.cie_count++].encoding = encoding;
		}
	}
}

bool sigframes_has(const struct sigframes *frames, uint64_t address)
{
	for (size_t i = 0; i < frames->count; i++)
		if (address >= frames->list[i].low &&
		    address < frames->list[i].high)
			return true;
	return false;
}
