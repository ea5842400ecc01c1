/*
 * truncated_map.c: see truncated_map.h.
 *
 * Traces are read by pread. But binaries and debug files are mapped
 * (cli/symbol/elf/elffile.c), and a build may truncate them meanwhile: reading
 * a page past a file's new end then raises SIGBUS. The handler maps a page of
 * zeroes there and lets the thread continue. (A copy of each file instead would
 * cost the memory and time of gigabytes for the few pages that are read.)
 *
 *  I1  The handler makes only calls that are safe in a handler: mmap is a bare
 *      system call. errno is kept.
 *  I2  Any other SIGBUS (a machine check, a misaligned access) ends the command
 *      as usual.
 */
#include "cli/base/truncated_map.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static uintptr_t page_size;

static void patch_page(int number, siginfo_t *info, void *context)
{
	uintptr_t at = (uintptr_t)info->si_addr & -page_size;
	int error = errno;

	(void)context;
	if (info->si_code != BUS_ADRERR ||
	    mmap((void *)at, page_size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) == MAP_FAILED) {
		signal(number, SIG_DFL);
		raise(number);
	}
	errno = error;
}

void truncated_map_survive(void)
{
	struct sigaction action = { .sa_sigaction = patch_page,
				    .sa_flags = SA_SIGINFO | SA_NODEFER };

	page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
	sigemptyset(&action.sa_mask);
	/* on failure, SIGBUS ends the command as by default */
	sigaction(SIGBUS, &action, NULL);
}
