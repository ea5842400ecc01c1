/*
 * framehop.c: stacks by the Rust crate framehop.
 *
 * bench/framehop/ is a library that calls the crate. If cargo is installed it
 * is built, and copied beside the program (mk/bench.mk); it is opened at run
 * time, so that the bench is the same program without it.
 *
 * framehop needs a list of mapped modules and their unwind tables. In memory
 * only the start of .eh_frame is known, from the header of .eh_frame_hdr: its
 * end is taken as that of its segment. That is enough, as .eh_frame_hdr locates
 * each entry.
 */
#include "bench/framehop.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define FRAMEHOP_LIBRARY "$ORIGIN/libbench_framehop.so"
#define FRAMEHOP_MODULES_MAX 64
/* .eh_frame_hdr: a version, three encodings, the address of .eh_frame */
#define FRAMEHOP_HDR_SIZE 8
#define FRAMEHOP_HDR_VERSION 1
#define FRAMEHOP_PCREL_SDATA4 0x1b

/* As struct MappedModule in bench/framehop/src/lib.rs. */
struct framehop_module {
	uint64_t base, start, end;
	uint64_t eh_frame_hdr, eh_frame_hdr_size;
	uint64_t eh_frame, eh_frame_size;
};

static struct framehop_module framehop_modules[FRAMEHOP_MODULES_MAX];
static size_t framehop_module_count;
static void *framehop_walker;
static size_t (*framehop_walk_by)(void *walker, uint64_t ra, uint64_t sp,
				  uint64_t fp, void **frames, size_t max);

/* Where the segment that has this address ends; 0: none has. */
static uint64_t framehop_segment_end(const struct dl_phdr_info *info,
				     uint64_t address)
{
	int i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && address >= start &&
		    address < start + segment->p_memsz)
			return start + segment->p_memsz;
	}
	return 0;
}

/* Fills in the tables; false: there are none of the common form. */
static bool framehop_tables(const struct dl_phdr_info *info,
			    const ElfW(Phdr) *segment,
			    struct framehop_module *module)
{
	uint64_t at = info->dlpi_addr + segment->p_vaddr;
	const uint8_t *bytes = (const uint8_t *)(uintptr_t)at;
	int32_t distance;

	if (segment->p_memsz < FRAMEHOP_HDR_SIZE ||
	    bytes[0] != FRAMEHOP_HDR_VERSION ||
	    bytes[1] != FRAMEHOP_PCREL_SDATA4)
		return false;
	memcpy(&distance, bytes + 4, sizeof(distance));
	module->eh_frame_hdr = at;
	module->eh_frame_hdr_size = segment->p_memsz;
	module->eh_frame = at + 4 + (uint64_t)(int64_t)distance;
	module->eh_frame_size = framehop_segment_end(info, module->eh_frame) -
				module->eh_frame;
	return framehop_segment_end(info, module->eh_frame) != 0;
}

static int framehop_note(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct framehop_module module = { .base = info->dlpi_addr,
					  .start = UINT64_MAX };
	bool has_tables = false;
	int i;

	(void)size;
	(void)unused;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_GNU_EH_FRAME)
			has_tables = framehop_tables(info, segment, &module);
		if (segment->p_type != PT_LOAD)
			continue;
		if (start < module.start)
			module.start = start;
		if (start + segment->p_memsz > module.end)
			module.end = start + segment->p_memsz;
	}
	if (has_tables && framehop_module_count < FRAMEHOP_MODULES_MAX)
		framehop_modules[framehop_module_count++] = module;
	return 0;
}

int framehop_open(void)
{
	void *library = dlopen(FRAMEHOP_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	void *(*make)(const struct framehop_module *modules, size_t count);
	void *symbol;

	if (!library)
		return -1;
	symbol = dlsym(library, "bench_framehop_walk");
	memcpy(&framehop_walk_by, &symbol, sizeof(symbol));
	symbol = dlsym(library, "bench_framehop_new");
	memcpy(&make, &symbol, sizeof(symbol));
	if (!framehop_walk_by || !make)
		return -1;
	dl_iterate_phdr(framehop_note, NULL);
	framehop_walker = make(framehop_modules, framehop_module_count);
	return 0;
}

int framehop_walk(uintptr_t ra, uintptr_t sp, uintptr_t fp, void **frames,
		  int max)
{
	return (int)framehop_walk_by(framehop_walker, ra, sp, fp, frames,
				     (size_t)max);
}
