/* processor.c: see processor.h. */
#include "cli/run/processor.h"

#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/terminal/log.h"
#include "cli/base/text/buffer.h"

#define MACHINE_AT 18		/* of e_machine, in all files */
#define COUNT(table) (sizeof(table) / sizeof(*(table)))

static const struct processor processors[] = {
	{ EM_X86_64, ELFCLASS64, ELFDATA2LSB, "x86_64", "x86_64-linux-gnu" },
	{ EM_AARCH64, ELFCLASS64, ELFDATA2LSB, "aarch64",
	  "aarch64-linux-gnu" },
	{ EM_ARM, ELFCLASS32, ELFDATA2LSB, "arm", "arm-linux-gnueabihf" },
	{ EM_MIPS, ELFCLASS64, ELFDATA2LSB, "mips64el",
	  "mips64el-linux-gnuabi64" },
	{ EM_MIPS, ELFCLASS64, ELFDATA2MSB, "mips64",
	  "mips64-linux-gnuabi64" },
};

/* Since glibc 2.33 */
#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif

/* Names of other processors, for a message. */
static const struct {
	uint16_t machine;
	const char *name;
} others[] = {
	{ EM_386, "i386" }, { EM_X86_64, "x86" }, { EM_AARCH64, "AArch64" },
	{ EM_ARM, "ARM" }, { EM_MIPS, "MIPS" }, { EM_PPC, "PowerPC" },
	{ EM_PPC64, "PowerPC" }, { EM_S390, "S/390" }, { EM_RISCV, "RISC-V" },
	{ EM_SPARCV9, "SPARC" }, { EM_LOONGARCH, "LoongArch" },
};

/* Fields of the ELF header. */
struct header {
	uint16_t machine;
	uint8_t class, order;
};

static bool read_header(const char *path, struct header *header)
{
	uint8_t start[MACHINE_AT + 2];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd >= 0 ? pread(fd, start, sizeof(start), 0) : -1;
	bool big;

	if (fd >= 0)
		close(fd);
	if (n != (ssize_t)sizeof(start) || memcmp(start, ELFMAG, SELFMAG) != 0)
		return false;
	big = start[EI_DATA] == ELFDATA2MSB;
	header->machine = (uint16_t)(start[MACHINE_AT + !big] << 8 |
				     start[MACHINE_AT + big]);
	header->class = start[EI_CLASS];
	header->order = start[EI_DATA];
	return true;
}

static const struct processor *port_to(const struct header *header)
{
	for (size_t i = 0; i < COUNT(processors); i++) {
		const struct processor *p = &processors[i];

		if (p->machine == header->machine &&
		    p->class == header->class && p->order == header->order)
			return p;
	}
	return NULL;
}

const struct processor *processor_of(const char *path)
{
	struct header header;

	return read_header(path, &header) ? port_to(&header) : NULL;
}

bool processor_report_unported(const char *path, const char *so)
{
	struct buffer ports = { 0 };
	const char *name = "another processor";
	struct header header;

	if (!read_header(path, &header) || port_to(&header) != NULL)
		return false;
	for (size_t i = 0; i < COUNT(others); i++)
		if (others[i].machine == header.machine)
			name = others[i].name;
	for (size_t i = 0; i < COUNT(processors); i++) {
		buffer_string(&ports, i > 0 ? ", " : "");
		buffer_string(&ports, processors[i].name);
	}
	log_error("%s: is for %s (machine %u, %s bits, %s-endian), and gnomon "
		  "has no port to it, so %s: build it for one of %s",
		  path, name, header.machine,
		  header.class == ELFCLASS32 ? "32" : "64",
		  header.order == ELFDATA2MSB ? "big" : "little", so,
		  ports.data);
	buffer_free(&ports);
	return true;
}
