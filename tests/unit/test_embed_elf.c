/* test_embed_elf.c: reduced ELF files, of files that may hold anything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/recorder/embed/embed_elf.h"

#define PIECE 4099		/* no part of anything's size */
#define MUTATIONS 6000

static struct embed_elf reduced;

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

/* NULL: it was refused, or could not be read to its end. */
static uint8_t *reduce(int binary, int debug, uint64_t most, size_t *size)
{
	uint8_t *bytes;

	reduced.debug.fd = -1;
	if (embed_elf_load(&reduced.binary, binary))
		return NULL;
	if (debug >= 0 && embed_elf_load(&reduced.debug, debug))
		reduced.debug.fd = -1;
	if (embed_elf_plan(&reduced, most))
		return NULL;
	*size = reduced.size;
	/* one that claims too much would be found here */
	assert_true(reduced.size < 64 << 20);
	bytes = malloc(*size);
	for (size_t at = 0; at < *size; at += PIECE) {
		size_t n = *size - at < PIECE ? *size - at : PIECE;

		if (embed_elf_read(&reduced, at, bytes + at, n)) {
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
	uint8_t id[2][EMBED_ELF_ID_MAX];
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
	n = embed_elf_id(&reduced.binary, id[0]);
	assert_true(n > 1);
	copy = copy_of(bytes, size);
	assert_int_equal(embed_elf_load(&reduced.binary, copy), 0);
	assert_int_equal(embed_elf_id(&reduced.binary, id[1]), n);
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
	char folder[] = "/tmp/embed_elf.XXXXXX", command[1024];
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

/* ---- what is hostile ---- */

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

static void notices_a_file_that_has_shrunk(void **state)
{
	int self = open("/proc/self/exe", O_RDONLY);
	size_t size;
	uint8_t *bytes = all_of(self, &size), piece[PIECE];
	int fd = copy_of(bytes, size), failed = 0;

	(void)state;
	reduced.debug.fd = -1;
	assert_int_equal(embed_elf_load(&reduced.binary, fd), 0);
	assert_int_equal(embed_elf_plan(&reduced, UINT64_MAX), 0);
	assert_int_equal(ftruncate(fd, 4096), 0);
	for (size_t at = 0; at + PIECE < reduced.size; at += PIECE)
		failed += embed_elf_read(&reduced, at, piece, PIECE) != 0;
	assert_true(failed > 0);
	close(fd);
	close(self);
	free(bytes);
}

static void refuses_what_is_no_such_file(void **state)
{
	struct embed_elf_file *file = &reduced.binary;
	int pipes[2], folder = open("/", O_RDONLY), text;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	text = copy_of((const uint8_t *)"#!/bin/sh\n", 10);
	assert_true(embed_elf_load(file, pipes[0]) < 0);
	assert_true(embed_elf_load(file, folder) < 0);
	assert_true(embed_elf_load(file, text) < 0);
	assert_true(embed_elf_load(file, -1) < 0);
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
		cmocka_unit_test(leaves_out_what_lies_outside),
		cmocka_unit_test(survives_any_length),
		cmocka_unit_test(survives_any_table),
		cmocka_unit_test(notices_a_file_that_has_shrunk),
		cmocka_unit_test(refuses_what_is_no_such_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
