/*
 * section.c: searches an ELF file's section headers linearly.
 *
 * The file may have been replaced since it was mapped; callers must bound the
 * result by the mapping (the unwinder reads tables only inside the image's
 * segments, and expects hostile ones).
 *
 * I1  Only regular files are opened: opening a device may have an effect, and
 *     opening a pipe waits. The path may lead elsewhere a moment later, so the
 *     opened descriptor is checked again.
 * I2  Files are only read by pread, which stops at their end, never mapped: any
 *     process may truncate a mapped file at any time.
 *
 * Thread context: any, at the first use of an image.
 */
#include "unwind/elf/section.h"

#include <asm/unistd.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "arch.h"
#include "unwind/base/memory.h"
#include "unwind/elf/elfmap.h"

#define SECTION_NAME_MAX 32	/* longer names are not found */
#define SECTION_FILE_MAX (UINT64_C(1) << 40)

/* Follows links; for a descriptor pass "" and AT_EMPTY_PATH. */
static bool section_is_file(int fd, const char *path, int flags)
{
	ARCH_STAT st;

	return arch_syscall4(ARCH_NR_FSTATAT, fd, (long)path, (long)&st,
			     flags) == 0 && S_ISREG(st.st_mode);
}

int section_open(const char *path)
{
	int fd;

	/* not /proc/self, whose thread, the first, may have ended */
	if (!*path)
		path = "/proc/thread-self/exe";
	if (!section_is_file(AT_FDCWD, path, 0))
		return -EINVAL;
	fd = arch_syscall4(__NR_openat, AT_FDCWD, (long)path,
			   O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0 || section_is_file(fd, "", AT_EMPTY_PATH))
		return fd;
	arch_syscall1(__NR_close, fd);
	return -EINVAL;
}

size_t section_read(int fd, uint64_t offset, void *to, size_t n)
{
	size_t done = 0;
	long got;

	do {
		got = arch_pread(fd, (char *)to + done, n - done,
				 offset + done);
		if (got > 0)
			done += got;
	} while ((got > 0 && done < n) || got == -EINTR);
	return done;
}

static bool section_header(int fd, const ElfW(Ehdr) *e, unsigned i,
			   ElfW(Shdr) *s)
{
	return section_read(fd, e->e_shoff + i * sizeof(*s), s, sizeof(*s)) ==
	       sizeof(*s);
}

/* Ensures that sums never wrap. */
static bool section_is_near(uint64_t offset)
{
	return offset <= SECTION_FILE_MAX;
}

static bool section_file_is_sane(const ElfW(Ehdr) *e)
{
	return memcmp(e->e_ident, ELFMAG, SELFMAG) == 0 &&
	       e->e_ident[EI_CLASS] == ELFMAP_CLASS &&
	       e->e_machine == ARCH_ELF_MACHINE &&
	       e->e_shentsize == sizeof(ElfW(Shdr)) &&
	       section_is_near(e->e_shoff) &&
	       e->e_shstrndx < e->e_shnum;
}

static bool section_named(int fd, const ElfW(Shdr) *names,
			  const ElfW(Shdr) *s, const char *name)
{
	char found[SECTION_NAME_MAX];
	size_t n = 0;

	/* the library for other programs must not use strlen */
	while (n < sizeof(found) && name[n])
		n++;
	n++;	/* with its NUL */
	return n <= sizeof(found) && s->sh_name < names->sh_size &&
	       section_read(fd, names->sh_offset + s->sh_name, found, n) == n &&
	       memcmp(found, name, n) == 0;
}

static bool section_search(int fd, const char *name, uint64_t *address,
			   uint64_t *size)
{
	ElfW(Shdr) names, s;
	ElfW(Ehdr) e;
	unsigned i;

	if (section_read(fd, 0, &e, sizeof(e)) < sizeof(e) ||
	    !section_file_is_sane(&e) ||
	    !section_header(fd, &e, e.e_shstrndx, &names) ||
	    !section_is_near(names.sh_offset) ||
	    /* the last header must be readable */
	    !section_header(fd, &e, e.e_shnum - 1u, &s))
		return false;
	for (i = 0; i < e.e_shnum && section_header(fd, &e, i, &s); i++) {
		if (!(s.sh_flags & SHF_ALLOC) || s.sh_type == SHT_NOBITS ||
		    !section_named(fd, &names, &s, name))
			continue;
		*address = s.sh_addr;
		*size = s.sh_size;
		return true;
	}
	return false;
}

bool section_find(const char *path, const char *name, uint64_t *address,
		  uint64_t *size)
{
	int fd = unwind_may(UNWIND_NO_FILES | UNWIND_NO_READ) ?
			 section_open(path) : -EPERM;
	bool found;

	if (fd < 0)
		return false;
	found = section_search(fd, name, address, size);
	arch_syscall1(__NR_close, fd);
	return found;
}
