/*
 * fuzz_jitdump.c: the bytes of a fuzzer as a compiler's description of code
 * that it made at run time (cli/symbol/jit/jitdump.h). Everything that was
 * understood is asked for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/symbol/jit/jitdump.h"

#define ASKED 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(struct jitdump *dump, uint64_t address)
{
	const struct jitdump_entry *entry = jitdump_find(dump, address, 1000);

	if (entry == NULL)
		return;
	jitdump_line(dump, entry, address);
	free(jitdump_code(dump, entry));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jitdump dump;
	char path[64];
	int fd = memfd_create("fuzz", 0);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (jitdump_open(&dump, path) == 0)
		for (size_t i = 0; i < dump.count && i < ASKED; i++)
			ask(&dump, dump.list[i].start);
	jitdump_free(&dump);
	close(fd);
	return 0;
}
