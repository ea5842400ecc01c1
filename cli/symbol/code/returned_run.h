/*
 * returned_run.h: for returned.c, what a function of ARM or MIPS returns: its
 * instructions are followed with what registers have.
 *
 *	ARM	ldr r3, [pc, n]; add r3, pc; mov r0, r3; movs r0, n
 *	MIPS64	lui v1, n; daddu v1, v1, t9; daddiu v1, v1, n; ld v0, n(v1);
 *		daddiu v0, v0, n
 *
 * Of the latter's loads those of words of the table of addresses that no symbol
 * decides (mips_table.h). In between what keeps the frame pointer.
 */
#ifndef GNOMON_RETURNED_RUN_H
#define GNOMON_RETURNED_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/symbol/elf/elf_tables.h"

/* `code` is that of the function at this address of the file, of so many bytes at
 * most; of ARM's with the lowest bit set, that of Thumb. *absolute: what it returns
 * is a number, which does not move with the file in memory. False: it does more. */
bool returned_run(const struct elf_tables *elf, const uint8_t *code, size_t size,
		  uint64_t address, uint64_t *value, bool *absolute);

#endif
