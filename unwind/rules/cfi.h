/*
 * cfi.h: reads the CIEs and FDEs of .eh_frame and finds the FDE that covers a
 * pc (Linux Standard Base Core 5.0, chapter 10; DWARF 5, 6.4).
 *
 * Nothing here allocates or writes; every read stays inside the bytes that the
 * tables were made with, whatever their content. Any thread, also signal
 * handlers.
 */
#ifndef GNOMON_UNWIND_CFI_H
#define GNOMON_UNWIND_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/rules/cfi_cursor.h"
#include "unwind/rules/rules.h"

/* DW_EH_PE_*: how a pointer is encoded, and which base is added to it. */
enum cfi_encoding {
	CFI_PE_ABSPTR = 0x00,
	CFI_PE_ULEB128 = 0x01,
	CFI_PE_UDATA2 = 0x02,
	CFI_PE_UDATA4 = 0x03,
	CFI_PE_UDATA8 = 0x04,
	CFI_PE_SLEB128 = 0x09,
	CFI_PE_SDATA2 = 0x0a,
	CFI_PE_SDATA4 = 0x0b,
	CFI_PE_SDATA8 = 0x0c,
	CFI_PE_FORMAT = 0x0f,
	CFI_PE_PCREL = 0x10,
	CFI_PE_TEXTREL = 0x20,
	CFI_PE_DATAREL = 0x30,
	CFI_PE_FUNCREL = 0x40,
	CFI_PE_ALIGNED = 0x50,
	CFI_PE_BASE = 0x70,
	CFI_PE_INDIRECT = 0x80,
	CFI_PE_OMIT = 0xff
};

/* An image's unwind tables, checked once. Addresses are run-time. */
struct cfi_tables {
	uintptr_t readable_start, readable_end;	/* around frames */
	uintptr_t frames, frames_end;	/* .eh_frame; 0: none */
	uintptr_t header;		/* base of datarel pointers in
					 * .eh_frame */
	uintptr_t text;			/* base of textrel pointers */
	uintptr_t table;		/* binary search table of .eh_frame_hdr;
					 * 0: search linearly */
	uintptr_t table_base;		/* base of datarel pointers in it */
	size_t entries;
	uint8_t entry_encoding;
	uint8_t field_size;		/* an entry is two fields */
};

/* Base addresses of encoded pointers; 0: there is no such base. Pointers to
 * pointers are followed within [low, high). */
struct cfi_bases {
	uintptr_t text, data, function;
	uintptr_t low, high;
};

struct cfi_cie {
	uint64_t code_align;
	int64_t data_align;
	uintptr_t program, program_end;
	uint8_t ra_column;
	uint8_t pointer_encoding;	/* of FDE addresses and set_loc */
	uint8_t lsda_encoding;		/* 'L'; CFI_PE_OMIT: FDEs have none */
	bool has_size;			/* 'z': FDEs have augmentation data */
	bool has_personality;		/* 'P' */
	bool is_signal;			/* 'S' */
	bool unknown_augmentation;	/* has augmentation letters that we do
					 * not know */
};

struct cfi_fde {
	struct cfi_cie cie;
	uintptr_t cie_at;		/* address of the CIE; 0: none read */
	uintptr_t start, end;		/* the code it covers */
	/* Around the requested pc: no other FDE covers a pc of this range, so
	 * the result for each of them is this FDE. If cfi_find found none, no
	 * FDE covers the range. */
	uintptr_t valid_start, valid_end;
	uintptr_t program, program_end;
	struct cfi_bases bases;		/* of pointers in its program */
	uintptr_t data, data_end;	/* augmentation data: holds the LSDA
					 * pointer */
};

/* Initialises the tables from .eh_frame_hdr: reads the header and, if the
 * sections are unverified, all records. Malformed tables are left out, so that
 * the next best method is used. */
void cfi_tables_init(struct cfi_tables *tables,
		     const struct rules_sections *sections);

/*
 * The FDE that covers pc. If several do: the one that starts last; if they
 * start together, the later one in the table. Returns 0; -ENOENT: no FDE covers
 * pc, and only valid_start and valid_end of *fde are set; or -EINVAL: a record
 * on the way is malformed.
 */
int cfi_find(const struct cfi_tables *tables, uintptr_t pc,
	     struct cfi_fde *fde);

/*
 * The next FDE of .eh_frame whose record begins at or after *record (0: the
 * first). Sets *record to the end of that record, *at to its start. False:
 * there is no further FDE. *fde must hold an FDE read before, or zeros.
 */
bool cfi_next(const struct cfi_tables *tables, uintptr_t *record,
	      uintptr_t *at, struct cfi_fde *fde);

/* From the lowest to the highest address that any FDE covers; FDEs of discarded
 * code (start 0) do not count. False: there is none. */
bool cfi_span(const struct cfi_tables *tables, uintptr_t *start,
	      uintptr_t *end);

/* Reads one encoded pointer. Fails the cursor if the encoding has no meaning
 * here, or if an indirect pointer does not lie in bounds. */
uintptr_t cfi_pointer(struct cfi_cursor *c, uint8_t encoding,
		      const struct cfi_bases *bases);

#endif
