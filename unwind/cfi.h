/*
 * cfi.h: the records of .eh_frame, and the way from a pc to the one that
 * covers it (Linux Standard Base Core 5.0, chapter 10; DWARF 5, 6.4).
 *
 * Nothing here allocates or writes; every read stays inside the bytes that
 * the tables were made with, whatever those bytes say. Any thread, also
 * signal handlers.
 */
#ifndef GNOMON_UNWIND_CFI_H
#define GNOMON_UNWIND_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/cfi_cursor.h"
#include "unwind/rules.h"

/* DW_EH_PE_*: how a pointer is written, and what is to be added to it. */
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

/* An image's tables, checked once. Addresses are run-time. */
struct cfi_tables {
	uintptr_t readable_start, readable_end;	/* around frames */
	uintptr_t frames, frames_end;	/* .eh_frame; 0: none */
	uintptr_t header;		/* what datarel counts from in .eh_frame */
	uintptr_t text;			/* what textrel counts from */
	uintptr_t table;		/* of the header; 0: pass linearly */
	uintptr_t table_base;		/* what datarel counts from in there */
	size_t entries;
	uint8_t entry_encoding;
	uint8_t field_size;		/* an entry is two fields */
};

/* What encoded pointers count from; 0 where there is nothing. Pointers to
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
	bool is_odd;			/* has letters unknown to us */
};

struct cfi_fde {
	struct cfi_cie cie;
	uintptr_t cie_at;		/* where that was read; 0: nowhere */
	uintptr_t start, end;		/* the code it covers */
	/* Around the pc asked for: no other FDE has a say here, so whatever
	 * pc in it is asked for, the answer is this FDE; or, all that counts
	 * here if none was found, that there is none. */
	uintptr_t valid_start, valid_end;
	uintptr_t program, program_end;
	struct cfi_bases bases;		/* of pointers in its program */
	uintptr_t data, data_end;	/* augmentation data: the LSDA's place */
};

/* Takes what the header says; reads that and, of hearsay, all records. Tables
 * that make no sense are left out, so that the next best way is used. */
void cfi_tables_init(struct cfi_tables *tables,
		     const struct rules_sections *sections);

/*
 * The FDE that covers pc. Where several do, the one that starts last; among
 * equals, the later one in the table. 0; -ENOENT: none does, and of *fde only
 * valid_start and valid_end mean something; or -EINVAL when a record on the
 * way makes no sense.
 */
int cfi_find(const struct cfi_tables *tables, uintptr_t pc,
	     struct cfi_fde *fde);

/*
 * The next FDE of .eh_frame whose record begins at or after *record (0: the
 * first); *record is then what follows it, *at where it is. False: there is no
 * more. *fde may hold one read before, or zeros.
 */
bool cfi_next(const struct cfi_tables *tables, uintptr_t *record,
	      uintptr_t *at, struct cfi_fde *fde);

/* From the lowest to the highest address that any FDE covers; those of code
 * that was left out (start 0) do not count. False: there is none. */
bool cfi_span(const struct cfi_tables *tables, uintptr_t *start,
	      uintptr_t *end);

/* One encoded pointer. Fails the cursor where the encoding has no meaning
 * here, or a pointer to the pointer (indirect) does not lie in bounds. */
uintptr_t cfi_pointer(struct cfi_cursor *c, uint8_t encoding,
		      const struct cfi_bases *bases);

#endif
