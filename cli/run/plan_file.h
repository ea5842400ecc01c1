/*
 * plan_file.h: an ELF file for a patch plan: its bytes as they will be mapped,
 * and the functions that its symbols name. Hostile input. Called by the main
 * thread.
 */
#ifndef GNOMON_PLAN_FILE_H
#define GNOMON_PLAN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/run/plan_code.h"
#include "cli/symbol/elf/elffile.h"

struct plan_symbol {
	const char *name;	/* points into one of the files */
	uint64_t address;
	uint64_t size;		/* 0: unknown */
	bool exported;		/* found in .dynsym */
	bool indirect;		/* a resolver: STT_GNU_IFUNC */
};

struct plan_file {
	struct plan_memory memory;	/* the first member: I1 of plan_file.c */
	struct elffile *elf;
	struct elffile *debug;		/* with its symbols; or NULL */
	uint64_t code, code_end;	/* the executable segment */
	struct plan_symbol *symbols;	/* by address */
	size_t symbol_count, symbol_capacity;
	bool has_table;			/* .symtab, its own or its debug
					 * file's */
	char *interpreter;		/* NULL: none */
};

/* False: not an ELF file for this processor, or unreadable. To be closed in
 * either case. */
bool plan_file_open(struct plan_file *file, const char *path);
/* The same for a file of any processor, but without symbols and segments: not
 * for a patch plan. */
bool plan_file_open_any(struct plan_file *file, const char *path);
void plan_file_close(struct plan_file *file);

/* The first symbol whose address is at least `address`; symbol_count: none. */
size_t plan_file_symbol(const struct plan_file *file, uint64_t address);

/* Calls `visit` with each needed library and each run path, in order. */
enum plan_dynamic { PLAN_NEEDED, PLAN_RPATH, PLAN_RUNPATH };
void plan_file_dynamic(const struct plan_file *file,
		       void (*visit)(void *data, enum plan_dynamic what,
				     const char *text), void *data);

#endif
