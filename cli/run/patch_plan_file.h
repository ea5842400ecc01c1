/*
 * patch_plan_file.h: an ELF file for a patch plan: its bytes as they will be
 * mapped, and the functions that its symbols name. Hostile input. Called by the
 * main thread.
 */
#ifndef GNOMON_PATCH_PLAN_FILE_H
#define GNOMON_PATCH_PLAN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/run/patch_plan_code.h"
#include "cli/symbol/elf/elffile.h"

struct patch_plan_symbol {
	const char *name;	/* points into one of the files */
	uint64_t address;
	uint64_t size;		/* 0: unknown */
	bool exported;		/* found in .dynsym */
	bool indirect;		/* a resolver: STT_GNU_IFUNC */
};

struct patch_plan_file {
	struct patch_plan_memory
		memory; /* the first member: I1 of patch_plan_file.c */
	struct elffile *elf;
	struct elffile *debug;		/* with its symbols; or NULL */
	uint64_t code, code_end;	/* the executable segment */
	struct patch_plan_symbol *symbols;	/* by address */
	size_t symbol_count, symbol_capacity;
	bool has_table;			/* .symtab, its own or its debug
					 * file's */
	char *interpreter;		/* NULL: none */
};

/* False: not an ELF file for this processor, or unreadable. To be closed in
 * either case. */
bool patch_plan_file_open(struct patch_plan_file *file, const char *path);
/* The same for a file of any processor, but without symbols and segments: not
 * for a patch plan. */
bool patch_plan_file_open_any(struct patch_plan_file *file, const char *path);
void patch_plan_file_close(struct patch_plan_file *file);

/* The first symbol whose address is at least `address`; symbol_count: none. */
size_t patch_plan_file_symbol(const struct patch_plan_file *file,
			      uint64_t address);

/* Calls `visit` with each needed library and each run path, in order. */
enum patch_plan_dynamic {
	PATCH_PLAN_NEEDED,
	PATCH_PLAN_RPATH,
	PATCH_PLAN_RUNPATH
};
void patch_plan_file_dynamic(const struct patch_plan_file *file,
			     void (*visit)(void *data,
					   enum patch_plan_dynamic what,
					   const char *text),
			     void *data);

#endif
