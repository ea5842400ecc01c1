/*
 * exidx_dump.c: prints the rules that unwind/rules/exidx.c makes for each function of
 * an ARM ELF file, a line each. tests/system/test_exidx.py compares them with
 * readelf:
 *	ADDRESS cantunwind
 *	ADDRESS [add N | set N | pop N,N,… | skip N | refuse]…
 *
 * usage: exidx_dump FILE
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unwind/rules/exidx.h"

static bool find_index(Elf *elf, struct exidx_image *image)
{
	GElf_Shdr header;
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section)) != NULL)
		if (gelf_getshdr(section, &header) != NULL &&
		    header.sh_type == SHT_ARM_EXIDX) {
			image->index = (uint32_t)header.sh_addr;
			image->index_end = (uint32_t)(header.sh_addr +
						      header.sh_size);
			return true;
		}
	return false;
}

/* The segment that it lies in. */
static bool find_bytes(Elf *elf, const uint8_t *file, size_t size,
		       struct exidx_image *image)
{
	GElf_Phdr header;
	size_t count = 0;

	elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < count; i++) {
		if (gelf_getphdr(elf, (int)i, &header) == NULL ||
		    header.p_type != PT_LOAD ||
		    image->index < header.p_vaddr ||
		    image->index >= header.p_vaddr + header.p_filesz ||
		    header.p_offset + header.p_filesz > size)
			continue;
		image->bytes = file + header.p_offset;
		image->start = (uint32_t)header.p_vaddr;
		image->end = (uint32_t)(header.p_vaddr + header.p_filesz);
		return true;
	}
	return false;
}

static void print_mask(uint16_t mask)
{
	const char *comma = "";

	printf(" pop ");
	for (unsigned i = 0; i < EXIDX_REGISTERS; i++)
		if (mask >> i & 1) {
			printf("%s%u", comma, i);
			comma = ",";
		}
}

static void print_entry(const struct exidx_entry *entry)
{
	static const char *const words[] = {
		[EXIDX_ADD] = "add", [EXIDX_SET] = "set", [EXIDX_SKIP] = "skip",
	};
	struct exidx_program program = entry->program;
	struct exidx_op op;

	printf("%x", entry->start);
	if (entry->cannot) {
		printf(" cantunwind\n");
		return;
	}
	for (;;) {
		if (exidx_next(&program, &op) != 0) {
			printf(" bad");
			break;
		}
		if (op.kind == EXIDX_FINISH)
			break;
		if (op.kind == EXIDX_REFUSE)
			printf(" refuse");
		else if (op.kind == EXIDX_POP)
			print_mask(op.mask);
		else
			printf(" %s %d", words[op.kind], op.amount);
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	struct exidx_image image = { 0 };
	struct exidx_entry entry, found;
	struct stat status;
	const uint8_t *file;
	Elf *elf;
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1, error;

	elf_version(EV_CURRENT);
	if (fd < 0 || fstat(fd, &status) != 0)
		return 2;
	file = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd,
		    0);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (file == MAP_FAILED || elf == NULL || !find_index(elf, &image) ||
	    !find_bytes(elf, file, (size_t)status.st_size, &image))
		return 2;
	for (uint32_t i = 0; (error = exidx_at(&image, i, &entry)) != -ENOENT;
	     i++) {
		if (error != 0)
			return 1;
		print_entry(&entry);
		/* and whoever looks for an address in it finds it */
		if (entry.end > entry.start &&
		    (exidx_find(&image, entry.end - 1, &found) != 0 ||
		     found.start != entry.start))
			return 1;
	}
	elf_end(elf);
	return 0;
}
