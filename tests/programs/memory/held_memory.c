/*
 * held_memory.c MEBIBYTES COUNT: allocates MEBIBYTES in small blocks and uses
 * each. It stores the number of blocks in the file COUNT, a 64-bit word, after
 * each one: also for the case that it is killed for lack of memory.
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "tgt.h"

#define BLOCK 4000
#define PER_MEBIBYTE 256

int main(int argc, char **argv)
{
	volatile uint64_t *count;
	long blocks;
	int fd;

	if (argc < 3)
		return 2;
	blocks = atol(argv[1]) * PER_MEBIBYTE;
	fd = open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*count)))
		return 1;
	count = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED,
		     fd, 0);
	if (count == MAP_FAILED)
		return 1;
	for (long i = 0; i < blocks; i++) {
		memset(tgt_malloc(BLOCK), 1, BLOCK);
		*count = i + 1;
	}
	tgt_report();
	return 0;
}
