/*
 * object.c: which files an image's symbols come from.
 *
 *	binary ──▶ .eh_frame (fdes.h), .dynsym, .gnu_debugdata
 *	   │
 *	   ├── has .debug_info ─────────────┐
 *	   └── debug file (build-id) ──▶ .symtab, .debug_* ──▶ dwz's file
 *	                                    │
 *	                                    └──▶ .dwp, or a .dwo a unit
 */
#include "cli/symbol/names/object.h"

#include <assert.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/grow.h"
#include "cli/symbol/elf/minidebug.h"

static struct elffile *open_found(int fd, char *path)
{
	struct elffile *file = fd >= 0 ? elffile_open(fd, path) : NULL;

	free(path);
	return file;
}

static struct elffile *open_path(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	return fd >= 0 ? elffile_open(fd, path) : NULL;
}

static bool has_dwarf(struct elffile *file)
{
	return elffile_has_section(file, ".debug_info");
}

static void open_debug(struct object *object,
		       const struct debugfile_wanted *wanted)
{
	char *path, link[PATH_MAX];
	bool linked;
	int fd;

	assert(object->debug == NULL);
	if (has_dwarf(object->binary))
		return;
	linked = elf_tables_link(&object->binary->tables, link, sizeof(link));
	fd = debugfile_debug(object->places, wanted, linked ? link : NULL,
			     &path);
	object->debug = open_found(fd, path);
}

/* dwz's file, which several debug files of a package share. */
static void open_alt(struct object *object, struct elffile *file)
{
	struct span sections[DWARF_SECTIONS];
	uint8_t id[ELF_TABLES_ID_MAX];
	char *path, name[PATH_MAX];
	struct debugfile_wanted wanted = {
		name, id, elf_tables_alternate(&file->tables, name,
					       sizeof(name), id), 0,
	};
	int fd;

	if (wanted.build_id_size == 0)
		return;
	fd = debugfile_alt(object->places, &wanted, file->path, &path);
	object->shared = open_found(fd, path);
	if (object->shared == NULL)
		return;
	dwarf_sections(object->shared, false, sections);
	object->alt = dwarf_open(sections, NULL, NULL);
}

/* FILE.dwp beside the file, or in a directory of -d. */
static void open_package(struct object *object, struct elffile *file)
{
	char *name = grow_format("%s.dwp", file->path), *path;

	for (size_t i = 0; object->package == NULL &&
	     (path = debugfile_split(object->places, file->path, NULL, name,
				     i)) != NULL; i++) {
		object->package = dwarf_package_open(open_path(path));
		free(path);
	}
	free(name);
}

static bool has_split_units(const struct dwarf *dwarf)
{
	for (size_t i = 0; i < dwarf->unit_count; i++)
		if (dwarf->units[i].dwo_name != NULL)
			return true;
	return false;
}

static void open_dwarf(struct object *object, struct elffile *file)
{
	struct span sections[DWARF_SECTIONS];

	/* A stripped file may keep the link to dwz's file. */
	if (!has_dwarf(file))
		return;
	open_alt(object, file);
	dwarf_sections(file, false, sections);
	assert(object->dwarf == NULL);
	object->dwarf = dwarf_open(sections, object->alt, NULL);
	if (object->dwarf == NULL)
		return;
	dwarf_find_areas(object->dwarf);
	if (!has_split_units(object->dwarf))
		return;
	open_package(object, file);
	if (object->package == NULL && file != object->binary)
		open_package(object, object->binary);
}

static void read_symbols(struct object *object)
{
	struct symtab *symbols = &object->symbols;

	assert(object->binary != NULL);
	if (symtab_add(symbols, object->binary, SHT_SYMTAB) == 0 &&
	    (object->debug == NULL ||
	     symtab_add(symbols, object->debug, SHT_SYMTAB) == 0)) {
		symtab_add(symbols, object->binary, SHT_DYNSYM);
		object->mini = minidebug_open(object->binary);
		if (object->mini != NULL)
			symtab_add(symbols, object->mini, SHT_SYMTAB);
	}
	symtab_sort(symbols);
}

void object_open_found(struct object *object,
		       const struct debugfile_places *places,
		       const struct debugfile_wanted *wanted, int fd,
		       char *path)
{
	memset(object, 0, sizeof(*object));
	object->places = places;
	object->binary = open_found(fd, path);
	if (object->binary == NULL)
		return;
	open_debug(object, wanted);
	open_dwarf(object, object->debug ? object->debug : object->binary);
	read_symbols(object);
	fdes_open(&object->fdes, object->binary);
}

void object_open(struct object *object, const struct debugfile_places *places,
		 const struct debugfile_wanted *wanted)
{
	char *path;
	int fd = debugfile_binary(places, wanted, &path);

	object_open_found(object, places, wanted, fd, path);
}

void object_close(struct object *object)
{
	dwarf_close(object->dwarf);
	dwarf_close(object->alt);
	dwarf_package_close(object->package);
	symtab_free(&object->symbols);
	if (object->binary != NULL)
		fdes_free(&object->fdes);
	elffile_close(object->mini);
	elffile_close(object->shared);
	elffile_close(object->debug);
	elffile_close(object->binary);
}

/* Bytes from a MIPS call to its return address, with the delay slot. */
#define MIPS_CALL_SIZE 8

uint64_t object_call(const struct object *object, uint64_t address)
{
	return address - (object->binary != NULL &&
			  object->binary->tables.header.e_machine == EM_MIPS ?
			  MIPS_CALL_SIZE : 1);
}

struct dwarf_unit *object_unit_at(struct object *object, uint64_t address)
{
	return object->dwarf ? dwarf_unit_at(object->dwarf, address) : NULL;
}

/* ---- split units ---- */

static void report_missing(struct object *object, const char *wanted,
			   const char *wrong, uint64_t found, uint64_t id)
{
	if (atomic_exchange(&object->reported, true))
		return;
	if (wrong != NULL)
		notes_hint(object->places->notes, "%s: from another "
			   "compilation than the program: its id is %016llx, "
			   "the program has %016llx: inlined functions are "
			   "missing: build both again, or give the right one "
			   "with -d", wrong,
			   (unsigned long long)found, (unsigned long long)id);
	else
		notes_hint(object->places->notes, "%s: not found, so inlined "
			   "functions of %s are missing: give the directory "
			   "of its .dwo files, or a .dwp, with -d", wanted,
			   object->binary->path);
}

static void open_split(struct object *object, struct dwarf_unit *unit,
		       struct object_unit *opened)
{
	const char *sidecar = object->debug ? object->debug->path :
		object->binary->path;
	char *path, *wrong = NULL;
	uint64_t other = 0, found;

	assert(unit->dwo_name != NULL && opened->split == NULL);
	if (object->package != NULL)
		opened->split = dwarf_package_find(object->package, unit);
	for (size_t i = 0; opened->split == NULL &&
	     (path = debugfile_split(object->places, sidecar, unit->directory,
				     unit->dwo_name, i)) != NULL; i++) {
		opened->file = open_path(path);
		if (opened->file != NULL)
			opened->split = dwarf_split_open(opened->file, unit,
							 &found);
		if (opened->split == NULL && opened->file != NULL) {
			elffile_close(opened->file);
			opened->file = NULL;
			free(wrong);
			wrong = path;
			other = found;
			continue;
		}
		free(path);
	}
	assert(opened->file == NULL || opened->split != NULL);
	if (opened->split == NULL)
		report_missing(object, unit->dwo_name, wrong, other,
			       unit->dwo_id);
	free(wrong);
}

bool object_unit_open(struct object *object, struct dwarf_unit *unit,
		      struct object_unit *opened)
{
	struct dwarf_unit *entries = NULL;

	memset(opened, 0, sizeof(*opened));
	if (unit->dwo_name != NULL)
		open_split(object, unit, opened);
	if (opened->split != NULL)
		entries = dwarf_split_unit(opened->split);
	if (dwarf_lookup_open(&opened->lookup, unit,
			      entries ? entries : unit))
		return true;
	object_unit_close(opened);
	return false;
}

void object_unit_close(struct object_unit *opened)
{
	dwarf_lookup_close(&opened->lookup);
	dwarf_close(opened->split);
	elffile_close(opened->file);
	memset(opened, 0, sizeof(*opened));
}
