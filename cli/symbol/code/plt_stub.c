/*
 * plt_stub.c: see plt_stub.h.
 *
 *	x86-64	(endbr64) (bnd) jmp *slot(%rip)
 *	AArch64	(bti c) adrp x16, slot; ldr x17, [x16, slot]
 *	ARM	(bx pc; nop) add ip, pc, n; add ip, ip, n; ldr pc, [ip, n]!
 *
 * Instructions of the latter two are little-endian.
 */
#include "cli/symbol/code/plt_stub.h"

#include <elf.h>
#include <string.h>

static uint32_t word_at(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 |
		(uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static uint64_t x86_64_slot(uint64_t address, const uint8_t *bytes, size_t size)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t at = 0;

	if (size < 11)
		return 0;
	if (memcmp(bytes, endbr, sizeof(endbr)) == 0)
		at = sizeof(endbr);
	if (bytes[at] == 0xf2)
		at++;
	if (bytes[at] != 0xff || bytes[at + 1] != 0x25)
		return 0;
	return address + at + 6 +
		(uint64_t)(int64_t)(int32_t)word_at(bytes + at + 2);
}

static uint64_t aarch64_slot(uint64_t address, const uint8_t *bytes,
			     size_t size)
{
	uint32_t adrp, load;
	uint64_t page;

	if (size >= 12 && word_at(bytes) == 0xd503245f) {
		bytes += 4;
		address += 4;
	}
	if (size < 8)
		return 0;
	adrp = word_at(bytes);
	load = word_at(bytes + 4);
	if ((adrp & 0x9f00001f) != 0x90000010 ||
	    (load & 0xffc003ff) != 0xf9400211)
		return 0;
	page = (adrp >> 29 & 3) | (adrp >> 5 & 0x7ffff) << 2;
	if (page & 1 << 20)
		page |= ~UINT64_C(0) << 21;
	return (address & ~UINT64_C(0xfff)) + (page << 12) +
		8 * (load >> 10 & 0xfff);
}

/* An immediate operand: 8 bits, rotated right by twice the upper four. */
static uint32_t arm_immediate(uint32_t instruction)
{
	uint32_t value = instruction & 0xff;
	unsigned by = 2 * (instruction >> 8 & 0xf);

	return by == 0 ? value : value >> by | value << (32 - by);
}

static uint64_t arm_slot(uint64_t address, const uint8_t *bytes, size_t size)
{
	uint32_t first, second, load;

	/* for calls from Thumb code: switch to ARM state first */
	if (size >= 16 && word_at(bytes) == 0x46c04778) {
		bytes += 4;
		address += 4;
	}
	if (size < 12)
		return 0;
	first = word_at(bytes);
	second = word_at(bytes + 4);
	load = word_at(bytes + 8);
	if ((first & 0xfffff000) != 0xe28fc000 ||
	    (second & 0xfffff000) != 0xe28cc000 ||
	    (load & 0xfffff000) != 0xe5bcf000)
		return 0;
	return (uint32_t)(address + 8 + arm_immediate(first) +
			  arm_immediate(second) + (load & 0xfff));
}

uint64_t plt_stub_slot(const struct elf_kind *kind, uint64_t address,
		   const uint8_t *bytes, size_t size)
{
	switch (kind->machine) {
	case EM_X86_64:
		return x86_64_slot(address, bytes, size);
	case EM_AARCH64:
		return aarch64_slot(address, bytes, size);
	case EM_ARM:
		return arm_slot(address, bytes, size);
	default:
		return 0;
	}
}
