// FLAGS: -rdynamic
/*
 * fuzz_jit.c: tables that a program registers at run time, and ELF objects
 * that it shows to debuggers, from hostile bytes. The first byte chooses. The
 * bytes lie against memory that cannot be read, and some of their words are
 * taken for distances within them, so that pointers lead somewhere.
 */
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/unit/test_unwinder.h"
#include "unwind/image/gdbjit.h"
#include "unwind/image/jit.h"

#define ROOM 65536
#define AROUND (256u << 20)	/* further than records may lead */
#define POINTERS_MAX 16

struct entry {
	uintptr_t next, previous, object;
	uint64_t size;
};

struct {
	uint32_t version, action;
	struct entry *relevant, *first;
} __jit_debug_descriptor = { .version = 1 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t *area;
static struct entry whole;

/* Nothing else may be met: a sanitizer's own memory can be read, but not by
 * code that it watches. */
static bool is_here(uintptr_t address)
{
	return address - (uintptr_t)area <= ROOM - 8 ||
	       address - (uintptr_t)&whole <= sizeof(whole) - 8;
}

static uint8_t *place(void)
{
	if (area)
		return area + ROOM;
	unwind_request = is_here;
	unwind_ban = UNWIND_NO_PROBE;
	area = mmap(NULL, 2 * AROUND + ROOM, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (area == MAP_FAILED)
		abort();
	area += AROUND;
	if (mprotect(area, ROOM, PROT_READ | PROT_WRITE) ||
	    test_unwinder_init(CAPTURE_AUTO, 0))
		abort();
	return area + ROOM;
}

/* Words at the places that the first bytes name become addresses. What they
 * name is then read as what it is, too. */
static void make_pointers(uint8_t *bytes, size_t size)
{
	unsigned i;

	for (i = 0; i < POINTERS_MAX && i < size / 16; i++) {
		size_t at = (size_t)bytes[i] * 8;
		uint64_t value;

		if (at + 8 > size)
			continue;
		memcpy(&value, bytes + at, 8);
		value = (uintptr_t)bytes + value % size;
		memcpy(bytes + at, &value, 8);
	}
}

static bool read_here(void *ctx, uintptr_t address, uint64_t *value)
{
	(void)ctx;
	if (!is_here(address))
		return false;
	memcpy(value, (const void *)address, sizeof(*value));
	return true;
}

/* Before, in and behind the bytes. */
static void ask(uintptr_t around)
{
	uintptr_t pc;

	for (pc = around - 2048; pc < around + 2048; pc += 61) {
		struct arch_regs regs;
		bool constant, is_signal;
		unsigned i;

		if (jit_find(pc, &constant) == 0)
			continue;
		for (i = 0; i < ARCH_REG_COUNT; i++)
			regs.r[i] = around + 8 * i;
		regs.r[ARCH_REG_PC] = pc;
		jit_step(&regs, true, &is_signal, read_here, NULL);
	}
}

#define NAMES "\0.shstrtab\0.eh_frame"
#define HEADER (sizeof(Elf64_Ehdr) + sizeof(NAMES) + 3)	/* a whole of words */

/* What would be found by nobody's chance. Its sections lie behind it. */
static void make_header(uint8_t *bytes, size_t size)
{
	Elf64_Ehdr header;

	memcpy(&header, bytes, sizeof(header));
	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_machine = ARCH_ELF_MACHINE;
	header.e_shentsize = sizeof(Elf64_Shdr);
	header.e_shoff = HEADER + (header.e_shoff % size & ~7ul);
	header.e_shnum %= 8;
	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + sizeof(header), NAMES, sizeof(NAMES));
}

static void show(uint8_t *bytes, size_t size, bool header, bool listed)
{
	struct entry *list = (struct entry *)(((uintptr_t)bytes + 7) & ~7ul);
	struct entry *first = &whole;
	size_t left = (uintptr_t)bytes + size - (uintptr_t)list;

	whole = (struct entry){ 0, 0, (uintptr_t)bytes, size };
	if (listed && left >= sizeof(*list) + 8)
		first = list;
	if (header && left >= sizeof(*list) + HEADER) {
		first->object = (uintptr_t)(first == list ? list + 1 : list);
		first->size = (uintptr_t)bytes + size - first->object;
		make_header((uint8_t *)first->object, first->size);
	}
	__jit_debug_descriptor.first = first;
	__jit_debug_descriptor.action++;
	gdbjit_check();
	ask((uintptr_t)bytes);
	__jit_debug_descriptor.first = NULL;
	gdbjit_check();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *end = place(), *bytes;
	struct jit_tables tables = { 0 };
	uint8_t way;

	if (size < 2 || size > ROOM)
		return 0;
	way = data[0];
	size--;
	bytes = end - size;
	memcpy(bytes, data + 1, size);
	if (way & 1)
		make_pointers(bytes, size);
	if (way & 2) {
		show(bytes, size, way & 8, way & 16);
		return 0;
	}
	tables.key = (uintptr_t)bytes;
	tables.frames = (uintptr_t)bytes;
	tables.size = way & 4 ? size : 0;
	if (jit_register(&tables))
		ask((uintptr_t)bytes);
	jit_deregister(tables.key);
	jit_sweep();
	return 0;
}
