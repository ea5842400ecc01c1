/* test_reduced.c: reduced ELF files, of files that may hold anything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/symbol/elf/reduced.h"
#include "tests/unit/elf_builder.h"

#define PIECE 4099		/* no part of anything's size */
#define MUTATIONS 6000
#define MANY 70000u		/* sections: more than a header can count */
#define SECONDS 20		/* for a million of them: it takes some tenths */

static struct reduced reduced;

static int copy_of(const uint8_t *bytes, size_t size)
{
	int fd = memfd_create("elf", 0);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	return fd;
}

static uint8_t *all_of(int fd, size_t *size)
{
	struct stat status;
	uint8_t *bytes;

	assert_int_equal(fstat(fd, &status), 0);
	*size = (size_t)status.st_size;
	bytes = malloc(*size);
	assert_int_equal(pread(fd, bytes, *size, 0), *size);
	return bytes;
}

/* In place of what was loaded before. */
static int load(struct elf_tables *tables, int fd)
{
	elf_tables_free(tables);
	return elf_tables_load(tables, fd);
}

/* NULL: it was refused, or could not be read to its end. */
static uint8_t *reduce(int binary, int debug, uint64_t most, size_t *size)
{
	uint8_t *bytes;

	reduced.debug.fd = -1;
	if (load(&reduced.binary, binary))
		return NULL;
	if (debug >= 0 && load(&reduced.debug, debug))
		reduced.debug.fd = -1;
	if (reduced_plan(&reduced, most))
		return NULL;
	*size = reduced.size;
	/* one that claims too much would be found here */
	assert_true(reduced.size < 64 << 20);
	bytes = malloc(*size);
	for (size_t at = 0; at < *size; at += PIECE) {
		size_t n = *size - at < PIECE ? *size - at : PIECE;

		if (reduced_read(&reduced, at, bytes + at, n)) {
			free(bytes);
			return NULL;
		}
	}
	return bytes;
}

static Elf_Data *section(Elf *elf, const char *name, GElf_Shdr *header)
{
	Elf_Scn *each = NULL;
	size_t names;

	assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
	while ((each = elf_nextscn(elf, each)) != NULL) {
		const char *other;

		assert_non_null(gelf_getshdr(each, header));
		other = elf_strptr(elf, names, header->sh_name);
		if (other != NULL && strcmp(other, name) == 0)
			return elf_rawdata(each, NULL);
	}
	return NULL;
}

static void assert_same(Elf *a, Elf *b, const char *name)
{
	GElf_Shdr ha, hb;
	Elf_Data *da = section(a, name, &ha), *db = section(b, name, &hb);

	assert_non_null(da);
	assert_non_null(db);
	assert_int_equal(ha.sh_size, hb.sh_size);
	assert_int_equal(ha.sh_addr, hb.sh_addr);
	assert_int_equal(ha.sh_type, hb.sh_type);
	assert_memory_equal(da->d_buf, db->d_buf, da->d_size);
}

static void keeps_what_names_addresses(void **state)
{
	static const char *const kept[] = {
		".symtab", ".strtab", ".dynsym", ".eh_frame", ".eh_frame_hdr",
		".debug_line", ".debug_info", ".note.gnu.build-id",
	};
	int self = open("/proc/self/exe", O_RDONLY);
	uint8_t id[2][ELF_TABLES_ID_MAX];
	size_t size, n, phdrs;
	uint8_t *bytes = reduce(self, -1, UINT64_MAX, &size);
	int copy;
	Elf *a, *b;
	GElf_Shdr header, frame;
	GElf_Phdr phdr;

	(void)state;
	assert_non_null(bytes);
	elf_version(EV_CURRENT);
	a = elf_begin(self, ELF_C_READ, NULL);
	b = elf_memory((char *)bytes, size);
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		assert_same(a, b, kept[i]);
	section(b, ".text", &header);
	assert_int_equal(header.sh_type, SHT_NOBITS);
	section(b, ".eh_frame_hdr", &header);
	section(b, ".eh_frame", &frame);
	assert_int_equal(frame.sh_offset - header.sh_offset,
			 frame.sh_addr - header.sh_addr);
	assert_int_equal(elf_getphdrnum(b, &phdrs), 0);
	for (size_t i = 0; i < phdrs; i++) {
		assert_non_null(gelf_getphdr(b, (int)i, &phdr));
		if (phdr.p_type == PT_GNU_EH_FRAME)
			assert_int_equal(phdr.p_offset, header.sh_offset);
	}
	elf_end(a);
	elf_end(b);
	n = elf_tables_id(&reduced.binary, id[0]);
	assert_true(n > 1);
	copy = copy_of(bytes, size);
	assert_int_equal(load(&reduced.binary, copy), 0);
	assert_int_equal(elf_tables_id(&reduced.binary, id[1]), n);
	assert_memory_equal(id[0], id[1], n);
	close(copy);
	close(self);
	free(bytes);
}

static void leaves_out_debug_information_that_is_too_much(void **state)
{
	int self = open("/proc/self/exe", O_RDONLY);
	uint8_t *bytes;
	GElf_Shdr header;
	size_t size;
	Elf *elf;

	(void)state;
	bytes = reduce(self, -1, 100, &size);
	assert_true(reduced.cut);
	elf_version(EV_CURRENT);
	elf = elf_memory((char *)bytes, size);
	assert_null(section(elf, ".debug_info", &header));
	assert_non_null(section(elf, ".symtab", &header));
	elf_end(elf);
	close(self);
	free(bytes);
}

/* Of a file without symbols and one without code, as a whole file. */
static void joins_a_debug_file(void **state)
{
	static const char *const kept[] = {
		".symtab", ".eh_frame", ".debug_info", ".dynsym",
	};
	char folder[] = "/tmp/reduced.XXXXXX", command[1024];
	int self = open("/proc/self/exe", O_RDONLY), binary, debug;
	uint8_t *bytes;
	size_t size;
	Elf *a, *b;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(command, sizeof(command),
		 "objcopy --strip-all /proc/%d/exe %s/a && "
		 "objcopy --only-keep-debug /proc/%d/exe %s/b",
		 getpid(), folder, getpid(), folder);
	assert_int_equal(system(command), 0);
	snprintf(command, sizeof(command), "%s/a", folder);
	binary = open(command, O_RDONLY);
	unlink(command);
	snprintf(command, sizeof(command), "%s/b", folder);
	debug = open(command, O_RDONLY);
	unlink(command);
	rmdir(folder);
	bytes = reduce(binary, debug, UINT64_MAX, &size);
	assert_non_null(bytes);
	elf_version(EV_CURRENT);
	a = elf_begin(self, ELF_C_READ, NULL);
	b = elf_memory((char *)bytes, size);
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		assert_same(a, b, kept[i]);
	elf_end(a);
	elf_end(b);
	close(self);
	close(binary);
	close(debug);
	free(bytes);
}

/* Of a machine with narrower records, as a trace from there has it. */
static void keeps_the_class_of_a_file(void **state)
{
	char folder[] = "/tmp/reduced.XXXXXX", command[1024];
	GElf_Shdr header;
	GElf_Phdr phdr, before;
	size_t size, phdrs, notes = 0;
	uint8_t *bytes;
	int fd;
	Elf *a, *b;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(command, sizeof(command),
		 "cd %s && printf '.globl _start\\n_start: nop\\n' | "
		 "as --32 -o o - && ld -m elf_i386 --build-id -o a o", folder);
	if (system(command) != 0)
		skip();
	snprintf(command, sizeof(command), "%s/a", folder);
	fd = open(command, O_RDONLY);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
	bytes = reduce(fd, -1, UINT64_MAX, &size);
	assert_non_null(bytes);
	elf_version(EV_CURRENT);
	a = elf_begin(fd, ELF_C_READ, NULL);
	b = elf_memory((char *)bytes, size);
	assert_int_equal(gelf_getclass(b), ELFCLASS32);
	assert_same(a, b, ".symtab");
	assert_same(a, b, ".note.gnu.build-id");
	section(b, ".text", &header);
	assert_int_equal(header.sh_type, SHT_NOBITS);
	assert_int_equal(elf_getphdrnum(b, &phdrs), 0);
	section(b, ".note.gnu.build-id", &header);
	for (size_t i = 0; i < phdrs; i++) {
		assert_non_null(gelf_getphdr(a, (int)i, &before));
		assert_non_null(gelf_getphdr(b, (int)i, &phdr));
		assert_int_equal(phdr.p_vaddr, before.p_vaddr);
		assert_int_equal(phdr.p_memsz, before.p_memsz);
		notes += phdr.p_type == PT_NOTE &&
			 phdr.p_offset == header.sh_offset;
	}
	assert_int_equal(notes, 1);
	elf_end(a);
	elf_end(b);
	close(fd);
	free(bytes);
}

/* ---- what is hostile ---- */

/* Of this program. */
static int copy_self(void)
{
	int self = open("/proc/self/exe", O_RDONLY), copy;
	size_t size;
	uint8_t *bytes = all_of(self, &size);

	copy = copy_of(bytes, size);
	close(self);
	free(bytes);
	return copy;
}

static Elf_Scn *section_of(Elf *elf, const char *name, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	size_t names;

	assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
	while ((section = elf_nextscn(elf, section)) != NULL) {
		assert_non_null(gelf_getshdr(section, header));
		if (strcmp(elf_strptr(elf, names, header->sh_name), name) ==
		    0)
			return section;
	}
	fail_msg("no %s", name);
	return NULL;
}

/* .eh_frame claims such an alignment, and to lie that far behind its index. */
static int with_claims(uint64_t align, uint64_t distance)
{
	int fd = copy_self();
	GElf_Shdr index, header;
	GElf_Ehdr ehdr;
	Elf_Scn *section;
	size_t at;
	Elf *elf;

	elf = elf_begin(fd, ELF_C_READ, NULL);
	section_of(elf, ".eh_frame_hdr", &index);
	section = section_of(elf, ".eh_frame", &header);
	assert_non_null(gelf_getehdr(elf, &ehdr));
	at = ehdr.e_shoff + elf_ndxscn(section) * ehdr.e_shentsize;
	elf_end(elf);
	header.sh_addr = index.sh_addr + distance;
	header.sh_addralign = align;
	assert_int_equal(pwrite(fd, &header.sh_addr, 8, (off_t)at +
			 (off_t)offsetof(Elf64_Shdr, sh_addr)), 8);
	assert_int_equal(pwrite(fd, &header.sh_addralign, 8, (off_t)at +
			 (off_t)offsetof(Elf64_Shdr, sh_addralign)), 8);
	return fd;
}

static void stays_below_a_file_that_claims_more(void **state)
{
	static const struct { uint64_t align, distance; } list[] = {
		{ 8, 1 << 16 }, { UINT64_C(1) << 40, UINT64_C(1) << 33 },
		{ UINT64_C(1) << 63, UINT64_C(1) << 40 },
		{ UINT64_MAX, UINT64_MAX - 8 }, { 0, UINT64_MAX - 4096 },
		{ 3, 1 << 20 },
	};

	(void)state;
	elf_version(EV_CURRENT);
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		int fd = with_claims(list[i].align, list[i].distance);
		size_t size = 0;

		/* It may be refused; what is made of it has a bound. */
		free(reduce(fd, -1, UINT64_MAX, &size));
		if (size > reduced.binary.size)
			fail_msg("claim %zu: %zu bytes from %ju", i, size,
				 (uintmax_t)reduced.binary.size);
		close(fd);
	}
}

static void survives_any_length(void **state)
{
	int self = open("/proc/self/exe", O_RDONLY);
	size_t size, got;
	uint8_t *bytes = all_of(self, &size);

	(void)state;
	for (size_t n = 0; n < size; n += n < 4096 ? 7 : size / 97) {
		int fd = copy_of(bytes, n);

		free(reduce(fd, -1, UINT64_MAX, &got));
		close(fd);
	}
	close(self);
	free(bytes);
}

/* The rest of the file is as good as it was. */
static void leaves_out_what_lies_outside(void **state)
{
	int self = open("/proc/self/exe", O_RDONLY);
	size_t size, got;
	uint8_t *bytes = all_of(self, &size), *result;
	const ElfW(Ehdr) *header = (const void *)bytes;
	ElfW(Shdr) *sections = (void *)(bytes + header->e_shoff);
	const char *names = (const char *)bytes +
			    sections[header->e_shstrndx].sh_offset;
	GElf_Shdr found;
	int fd;
	Elf *elf;

	(void)state;
	for (unsigned i = 0; i < header->e_shnum; i++)
		if (strcmp(names + sections[i].sh_name, ".debug_info") == 0)
			sections[i].sh_offset = size - 1;
	fd = copy_of(bytes, size);
	result = reduce(fd, -1, UINT64_MAX, &got);
	assert_non_null(result);
	elf_version(EV_CURRENT);
	elf = elf_memory((char *)result, got);
	assert_null(section(elf, ".debug_info", &found));
	assert_non_null(section(elf, ".debug_line", &found));
	elf_end(elf);
	close(fd);
	close(self);
	free(bytes);
	free(result);
}

static uint64_t noise = 88172645463325252;

static uint64_t any(uint64_t below)
{
	noise ^= noise << 13;
	noise ^= noise >> 7;
	noise ^= noise << 17;
	return noise % below;
}

/* Numbers in the tables become others, above all very large ones. */
static void survives_any_table(void **state)
{
	static const uint8_t values[] = { 0, 1, 7, 0x7f, 0x80, 0xff };
	int self = open("/proc/self/exe", O_RDONLY);
	size_t size, got, good = 0;
	uint8_t *bytes = all_of(self, &size), *result;
	const ElfW(Ehdr) *header = (const void *)bytes;
	int fd = copy_of(bytes, size);

	(void)state;
	for (unsigned i = 0; i < MUTATIONS; i++) {
		size_t count = 1 + any(4), at[4], n[4];

		for (size_t k = 0; k < count; k++) {
			uint8_t value[8];

			at[k] = any(3) ? header->e_shoff +
					 any(header->e_shnum * sizeof(ElfW(Shdr))) :
					 any(1024);
			n[k] = 1 + any(8);
			if (n[k] > size - at[k])
				n[k] = size - at[k];
			memset(value, values[any(sizeof(values))],
			       sizeof(value));
			assert_int_equal(pwrite(fd, value, n[k], at[k]), n[k]);
		}
		result = reduce(fd, fd, i % 2 ? UINT64_MAX : 1000, &got);
		good += result != NULL;
		free(result);
		for (size_t k = 0; k < count; k++)
			assert_int_equal(pwrite(fd, bytes + at[k], n[k],
						at[k]), n[k]);
	}
	/* else nothing behind the first check would have been tried */
	assert_true(good > MUTATIONS / 20);
	close(fd);
	close(self);
	free(bytes);
}

/* A file of many sections; what has to be found in the last of them, two at each
 * address, is in the binary only. */
static int build_many(bool debug)
{
	const Elf64_Shdr code = { .sh_type = debug ? SHT_NOBITS : SHT_PROGBITS,
				  .sh_flags = SHF_ALLOC | SHF_EXECINSTR };
	const Elf64_Shdr bits = { .sh_type = SHT_PROGBITS };
	Elf64_Shdr frame = code;
	struct elf_builder b;
	char name[32];
	int fd;

	elf_builder_begin(&b);
	for (uint32_t i = 1; i < MANY; i++) {
		snprintf(name, sizeof(name), ".text.f%u", i);
		elf_builder_section(&b, &code, name, "\xc3", 1);
	}
	for (uint64_t i = 0; i < 6; i++) {
		char bytes[] = { 'f', 'r', (char)('0' + i) };

		frame.sh_addr = 0x1000 * (i % 3 + 1);
		elf_builder_section(&b, &frame, i < 3 ? ".eh_frame" : ".opd",
				    bytes, 3);
	}
	if (debug)
		elf_builder_section(&b, &bits, ".debug_info", "info", 4);
	elf_builder_end(&b);
	fd = copy_of(b.bytes, b.size);
	elf_builder_free(&b);
	return fd;
}

static void keeps_more_sections_than_a_header_can_count(void **state)
{
	int binary = build_many(false), debug = build_many(true);
	uint8_t *bytes;
	GElf_Shdr header;
	Elf_Data *data;
	size_t size, count;
	Elf *elf;

	(void)state;
	bytes = reduce(binary, debug, UINT64_MAX, &size);
	assert_non_null(bytes);
	elf_version(EV_CURRENT);
	elf = elf_memory((char *)bytes, size);
	assert_int_equal(elf_getshdrnum(elf, &count), 0);
	assert_int_equal(count, MANY + 8);
	data = section(elf, ".debug_info", &header);
	assert_int_equal(data->d_size, 4);
	assert_memory_equal(data->d_buf, "info", 4);
	for (uint32_t i = 0; i < 6; i++) {
		char wanted[] = { 'f', 'r', (char)('0' + i) };

		assert_non_null(gelf_getshdr(elf_getscn(elf, MANY + i),
					     &header));
		data = elf_rawdata(elf_getscn(elf, MANY + i), NULL);
		assert_int_equal(header.sh_addr, 0x1000 * (i % 3 + 1));
		assert_int_equal(data->d_size, 3);
		assert_memory_equal(data->d_buf, wanted, 3);
	}
	assert_non_null(gelf_getshdr(elf_getscn(elf, 5), &header));
	assert_int_equal(header.sh_type, SHT_NOBITS);
	assert_string_equal(elf_strptr(elf, MANY + 7, header.sh_name),
			    ".text.f5");
	elf_end(elf);
	free(bytes);
	close(binary);
	close(debug);
}

/* A million sections of which each is wanted, and is nowhere, at any address
 * and at one. */
static void does_not_compare_all_with_all(void **state)
{
	static const char *const names[] = { ".eh_frame", ".debug_x", "" };
	Elf64_Shdr bits = { .sh_type = SHT_NOBITS, .sh_flags = SHF_ALLOC };
	uint8_t piece[PIECE];

	(void)state;
	alarm(SECONDS);
	for (size_t i = 0; i < 6; i++) {
		struct elf_builder b;
		int fd;

		elf_builder_begin(&b);
		for (uint32_t n = 2; n < ELF_TABLES_SECTIONS; n++) {
			bits.sh_addr = i < 3 ? n : 0;
			elf_builder_section(&b, &bits, "", NULL, 0);
			b.sections[n - 1].sh_name = 1;
		}
		memcpy(b.text + 1, names[i % 3], strlen(names[i % 3]) + 1);
		elf_builder_end(&b);
		fd = copy_of(b.bytes, b.size);
		elf_builder_free(&b);
		assert_int_equal(load(&reduced.binary, fd), 0);
		assert_int_equal(load(&reduced.debug, fd), 0);
		assert_int_equal(reduced_plan(&reduced, UINT64_MAX), 0);
		for (uint64_t at = 0; at + PIECE < reduced.size; at += PIECE)
			assert_int_equal(reduced_read(&reduced, at, piece,
						      PIECE), 0);
		close(fd);
	}
	alarm(0);
}

static void notices_a_file_that_has_shrunk(void **state)
{
	int self = open("/proc/self/exe", O_RDONLY);
	size_t size;
	uint8_t *bytes = all_of(self, &size), piece[PIECE];
	int fd = copy_of(bytes, size), failed = 0;

	(void)state;
	reduced.debug.fd = -1;
	assert_int_equal(load(&reduced.binary, fd), 0);
	assert_int_equal(reduced_plan(&reduced, UINT64_MAX), 0);
	assert_int_equal(ftruncate(fd, 4096), 0);
	for (size_t at = 0; at + PIECE < reduced.size; at += PIECE)
		failed += reduced_read(&reduced, at, piece, PIECE) != 0;
	assert_true(failed > 0);
	close(fd);
	close(self);
	free(bytes);
}

static void refuses_what_is_no_such_file(void **state)
{
	struct elf_tables *file = &reduced.binary;
	int pipes[2], folder = open("/", O_RDONLY), text;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	text = copy_of((const uint8_t *)"#!/bin/sh\n", 10);
	assert_true(load(file, pipes[0]) < 0);
	assert_true(load(file, folder) < 0);
	assert_true(load(file, text) < 0);
	assert_true(load(file, -1) < 0);
	close(pipes[0]);
	close(pipes[1]);
	close(folder);
	close(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_what_names_addresses),
		cmocka_unit_test(leaves_out_debug_information_that_is_too_much),
		cmocka_unit_test(joins_a_debug_file),
		cmocka_unit_test(keeps_the_class_of_a_file),
		cmocka_unit_test(leaves_out_what_lies_outside),
		cmocka_unit_test(stays_below_a_file_that_claims_more),
		cmocka_unit_test(survives_any_length),
		cmocka_unit_test(survives_any_table),
		cmocka_unit_test(keeps_more_sections_than_a_header_can_count),
		cmocka_unit_test(does_not_compare_all_with_all),
		cmocka_unit_test(notices_a_file_that_has_shrunk),
		cmocka_unit_test(refuses_what_is_no_such_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
