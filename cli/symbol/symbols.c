/*
 * symbols.c: look-ups through libdwfl, one Dwfl for each image, opened when
 * the first of its addresses is asked for: images may have had the same
 * addresses at different times. Every answer is kept.
 *
 * Names come from DWARF where there is any, because only it knows inlined
 * functions; else from the symbol table or, in stripped files, the dynamic
 * one. Symbols that do not reach as far as the address are not taken: in a
 * stripped library "the nearest one before" is mostly a wrong name.
 *
 * Called by the main thread.
 */
#include "cli/symbol/symbols.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include "cli/base/grow.h"
#include "cli/base/intern.h"
#include "cli/base/table.h"
#include "cli/symbol/names.h"

#define INLINE_MAX 64		/* inlined functions at one address */

struct symbol_module {
	bool opened;
	struct symbol_image image;
	struct symbols *symbols;
	Dwfl *dwfl;
	Dwfl_Module *module;
	struct table places;	/* address * 2 + exact -> index below */
};

struct symbols {
	struct debugfile_places places;
	bool full;
	struct intern names;
	struct symbol_module **modules;	/* by image */
	size_t module_count;
	struct symbol_place **list;	/* each stays where it is */
	size_t count;
	size_t capacity;
	struct buffer scratch[2];
};

/* ---- opening ---- */

static int find_debug(Dwfl_Module *module, void **user_data,
		      const char *name, Dwarf_Addr base,
		      const char *file_name, const char *debuglink,
		      GElf_Word crc, char **found)
{
	struct symbol_module *owner = *user_data;

	(void)module, (void)name, (void)base, (void)file_name, (void)crc;
	if (owner == NULL)
		return -1;
	return debugfile_debug(&owner->symbols->places, &owner->image.file,
			       debuglink, found);
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = find_debug,
	.section_address = dwfl_offline_section_address,
};

static void open_module(struct symbols *symbols, struct symbol_module *module,
			const struct symbol_image *image)
{
	void **user_data;
	char *path;
	int fd;

	module->opened = true;
	module->image = *image;
	module->symbols = symbols;
	fd = debugfile_binary(&symbols->places, &image->file, &path);
	if (fd < 0)
		return;
	module->dwfl = dwfl_begin(&callbacks);
	if (module->dwfl == NULL) {
		close(fd);
		free(path);
		return;
	}
	dwfl_report_begin(module->dwfl);
	/* Takes over the descriptor if it succeeds. */
	module->module = dwfl_report_elf(module->dwfl, path, path, fd,
					 image->bias, true);
	dwfl_report_end(module->dwfl, NULL, NULL);
	if (module->module == NULL)
		close(fd);
	else if (dwfl_module_info(module->module, &user_data, NULL, NULL,
				  NULL, NULL, NULL, NULL) != NULL)
		*user_data = module;
	free(path);
}

static struct symbol_module *module_of(struct symbols *symbols,
				       uint32_t index)
{
	if (index >= symbols->module_count) {
		size_t count = (size_t)index + 64;

		symbols->modules = grow_resize(symbols->modules, count,
					       sizeof(*symbols->modules));
		memset(symbols->modules + symbols->module_count, 0,
		       (count - symbols->module_count) *
		       sizeof(*symbols->modules));
		symbols->module_count = count;
	}
	if (symbols->modules[index] == NULL)
		symbols->modules[index] =
			grow_zeroed(1, sizeof(struct symbol_module));
	return symbols->modules[index];
}

/* ---- looking up ---- */

static const char *pretty(struct symbols *symbols, const char *name)
{
	struct buffer *plain = &symbols->scratch[0];
	struct buffer *shorter = &symbols->scratch[1];

	if (name == NULL)
		return NULL;
	buffer_clear(plain);
	names_demangle(plain, name);
	if (symbols->full)
		return intern_string(&symbols->names, plain->data);
	buffer_clear(shorter);
	names_shorten(shorter, plain->data);
	return intern_string(&symbols->names,
			     shorter->data ? shorter->data : "");
}

static const char *die_name(Dwarf_Die *die)
{
	Dwarf_Attribute memory, *attribute;

	attribute = dwarf_attr_integrate(die, DW_AT_linkage_name, &memory);
	if (attribute == NULL)
		attribute = dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name,
						 &memory);
	if (attribute == NULL)
		attribute = dwarf_attr_integrate(die, DW_AT_name, &memory);
	return attribute ? dwarf_formstring(attribute) : NULL;
}

static unsigned die_number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute memory;
	Dwarf_Word value = 0;

	if (dwarf_attr(die, name, &memory) == NULL ||
	    dwarf_formudata(&memory, &value) != 0)
		return 0;
	return (unsigned)value;
}

/* The unit that holds an address. Some compilers write no .debug_aranges. */
static Dwarf_Die *unit_of(Dwfl_Module *module, uint64_t pc, Dwarf_Addr *bias)
{
	Dwarf_Die *unit = dwfl_module_addrdie(module, pc, bias);

	if (unit != NULL)
		return unit;
	while ((unit = dwfl_module_nextcu(module, unit, bias)) != NULL)
		if (dwarf_haspc(unit, pc - *bias) == 1)
			return unit;
	return NULL;
}

/* The innermost entry at `pc` and all entries around it. */
static int scopes_at(Dwarf_Die *unit, Dwarf_Addr pc, Dwarf_Die **scopes)
{
	Dwarf_Die *found = NULL, innermost;
	int count = dwarf_getscopes(unit, pc, &found);

	*scopes = NULL;
	if (count <= 0)
		return 0;
	/* Beyond an inlined function, that list goes on where it was defined;
	 * wanted is where it was called. */
	innermost = found[0];
	free(found);
	count = dwarf_getscopes_die(&innermost, scopes);
	return count > 0 ? count : 0;
}

static size_t frames_from_dwarf(struct symbols *symbols, Dwarf_Die *unit,
				Dwarf_Addr pc, struct symbol_frame *frames)
{
	struct symbol_frame *frame = frames;
	Dwarf_Line *line = dwarf_getsrc_die(unit, pc);
	Dwarf_Files *files = NULL;
	Dwarf_Die *scopes;
	int count = scopes_at(unit, pc, &scopes), number = 0;

	memset(frame, 0, sizeof(*frame));
	if (line != NULL) {
		const char *file = dwarf_linesrc(line, NULL, NULL);

		if (file != NULL)
			frame->file = intern_string(&symbols->names, file);
		if (dwarf_lineno(line, &number) == 0)
			frame->line = (unsigned)number;
		if (dwarf_linecol(line, &number) == 0)
			frame->column = (unsigned)number;
	}
	if (dwarf_getsrcfiles(unit, &files, NULL) != 0)
		files = NULL;
	for (int i = 0; i < count; i++) {
		Dwarf_Die *die = &scopes[i];
		int tag = dwarf_tag(die);
		const char *file;

		if (tag != DW_TAG_subprogram &&
		    tag != DW_TAG_inlined_subroutine)
			continue;
		frame->function = pretty(symbols, die_name(die));
		if (tag == DW_TAG_subprogram ||
		    frame - frames == INLINE_MAX - 1)
			break;
		frame->inlined = true;
		frame++;
		memset(frame, 0, sizeof(*frame));
		file = files ? dwarf_filesrc(files, die_number(die,
				DW_AT_call_file), NULL, NULL) : NULL;
		if (file != NULL)
			frame->file = intern_string(&symbols->names, file);
		frame->line = die_number(die, DW_AT_call_line);
		frame->column = die_number(die, DW_AT_call_column);
	}
	free(scopes);
	return (size_t)(frame - frames) + 1;
}

static bool is_signal_frame(Dwfl_Module *module, uint64_t address)
{
	Dwarf_Addr bias;
	Dwarf_CFI *cfi = dwfl_module_eh_cfi(module, &bias);
	Dwarf_Frame *frame;
	bool signal = false;

	if (cfi == NULL || dwarf_cfi_addrframe(cfi, address - bias,
					       &frame) != 0)
		return false;
	dwarf_frame_info(frame, NULL, NULL, &signal);
	free(frame);
	return signal;
}

static void look_up(struct symbols *symbols, struct symbol_module *module,
		    uint64_t address, bool exact, struct symbol_place *place)
{
	struct symbol_frame frames[INLINE_MAX] = { 0 };
	uint64_t pc = exact ? address : address - 1;
	struct symbol_frame *last;
	Dwarf_Addr bias;
	Dwarf_Die *unit;

	place->count = 1;
	place->signal = false;
	if (module->module != NULL) {
		place->signal = is_signal_frame(module->module, address);
		unit = unit_of(module->module, pc, &bias);
		if (unit != NULL)
			place->count = frames_from_dwarf(symbols, unit,
							 pc - bias, frames);
		last = &frames[place->count - 1];
		if (last->function == NULL) {
			GElf_Off offset;
			GElf_Sym symbol;

			last->function = pretty(symbols,
				dwfl_module_addrinfo(module->module, pc,
						     &offset, &symbol, NULL,
						     NULL, NULL));
		}
		if (place->signal)
			last->function = "<signal handler called>";
	}
	place->frames = grow_resize(NULL, place->count, sizeof(frames[0]));
	memcpy(place->frames, frames, place->count * sizeof(frames[0]));
}

const struct symbol_place *symbols_find(struct symbols *symbols,
					uint32_t index,
					const struct symbol_image *image,
					uint64_t address, bool exact)
{
	struct symbol_module *module = module_of(symbols, index);
	uint64_t key = address * 2 + exact;
	uint32_t at = table_get(&module->places, key);
	struct symbol_place *place;

	if (at != TABLE_NONE)
		return symbols->list[at];
	if (!module->opened)
		open_module(symbols, module, image);
	GROW(symbols->list, symbols->count, symbols->capacity);
	table_set(&module->places, key, (uint32_t)symbols->count);
	place = grow_alloc(sizeof(*place));
	look_up(symbols, module, address, exact, place);
	return symbols->list[symbols->count++] = place;
}

void symbols_prepare(struct symbols *symbols,
		     const struct symbol_request *requests, size_t count)
{
	for (size_t i = 0; i < count; i++)
		symbols_find(symbols, requests[i].index, &requests[i].image,
			     requests[i].address, requests[i].exact);
}

struct symbols *symbols_new(const struct debugfile_places *places, bool full)
{
	struct symbols *symbols = grow_zeroed(1, sizeof(*symbols));

	elf_version(EV_CURRENT);
	symbols->places = *places;
	symbols->full = full;
	return symbols;
}

void symbols_free(struct symbols *symbols)
{
	for (size_t i = 0; i < symbols->module_count; i++) {
		if (symbols->modules[i] == NULL)
			continue;
		table_free(&symbols->modules[i]->places);
		dwfl_end(symbols->modules[i]->dwfl);
		free(symbols->modules[i]);
	}
	for (size_t i = 0; i < symbols->count; i++) {
		free(symbols->list[i]->frames);
		free(symbols->list[i]);
	}
	free(symbols->list);
	free(symbols->modules);
	intern_free(&symbols->names);
	buffer_free(&symbols->scratch[0]);
	buffer_free(&symbols->scratch[1]);
	free(symbols);
}
