/*
 * encoded.h: numbers in the encodings of unwind tables (DW_EH_PE_*; Linux
 * Standard Base Core 5.0, 10.5.1).
 */
#ifndef GNOMON_ENCODED_H
#define GNOMON_ENCODED_H

#include <stdint.h>

#include "cli/symbol/elf/bytes.h"

/*
 * A number in the format of an encoding (its low 4 bits), without its base,
 * which the caller adds. If the format is invalid, or bytes are missing, it
 * returns 0 and sets `bad`. address_size: bytes of an absptr.
 */
uint64_t encoded_number(struct bytes *bytes, unsigned encoding,
			unsigned address_size);

#endif
