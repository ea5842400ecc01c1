/*
 * encoded.c: see encoded.h.
 */
#include "cli/symbol/elf/encoded.h"

#include <dwarf.h>

#define FORMAT 0x0f

uint64_t encoded_number(struct bytes *bytes, unsigned encoding,
			unsigned address_size)
{
	switch (encoding & FORMAT) {
	case DW_EH_PE_absptr: case DW_EH_PE_signed:
		return bytes_number(bytes, address_size);
	case DW_EH_PE_uleb128:
		return bytes_uleb(bytes);
	case DW_EH_PE_sleb128:
		return (uint64_t)bytes_sleb(bytes);
	case DW_EH_PE_udata2:
		return bytes_u16(bytes);
	case DW_EH_PE_sdata2:
		return (uint64_t)(int16_t)bytes_u16(bytes);
	case DW_EH_PE_udata4:
		return bytes_u32(bytes);
	case DW_EH_PE_sdata4:
		return (uint64_t)(int32_t)bytes_u32(bytes);
	case DW_EH_PE_udata8: case DW_EH_PE_sdata8:
		return bytes_u64(bytes);
	default:
		bytes_fail(bytes);
		return 0;
	}
}
