/*
 * encoded.h: numbers as unwind tables write them (DW_EH_PE_*; Linux Standard
 * Base Core 5.0, 10.5.1).
 */
#ifndef GNOMON_ENCODED_H
#define GNOMON_ENCODED_H

#include <stdint.h>

#include "cli/symbol/elf/bytes.h"

/*
 * A number in the format of an encoding (its low 4 bits); what it counts from is
 * the caller's to add. Of a format that is none, or without enough bytes, 0, and
 * the bytes are bad. address_size: of an absptr, in bytes.
 */
uint64_t encoded_number(struct bytes *bytes, unsigned encoding,
			unsigned address_size);

#endif
