/*
 * jit_reuse.c: code made at run time at one and the same address, which means
 * another function each time, as /tmp/perf-PID.map says line by line. Each
 * allocates blocks of sizes of its own, in batches with pauses between them,
 * so that who reads the map now and then finds the line at some batch.
 */
#include <fcntl.h>
#include <time.h>

#include "jit_code.h"
#include "tgt.h"

#define FUNCTIONS 3
#define BATCHES 20
#define BLOCKS 50
#define PAUSE_NS 15000000

static int open_map(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	return open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
}

TGT_FUNCTION void *allocate(size_t size)
{
	void *p = malloc(size);

	tgt_sink = p;
	return p;
}

TGT_FUNCTION void batch(const uint8_t *code, size_t size)
{
	jit_call *jit = (jit_call *)(uintptr_t)code;
	struct timespec pause = { 0, PAUSE_NS };

	for (int i = 0; i < BLOCKS; i++)
		free(jit(allocate, size));
	nanosleep(&pause, NULL);
}

int main(void)
{
	uint8_t *code = mmap(NULL, CODE_PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int map = open_map();

	if (code == MAP_FAILED || map < 0)
		return 1;
	for (int i = 0; i < FUNCTIONS; i++) {
		char line[64];

		jit_make_code(code, 16);
		snprintf(line, sizeof(line), "%lx %x function %d\n",
			 (unsigned long)code, CODE_MAX, i);
		if (write(map, line, strlen(line)) < 0)
			return 1;
		for (int j = 0; j < BATCHES; j++)
			batch(code, 1000 + (size_t)(i * BATCHES + j));
	}
	close(map);
	tgt_print("functions", FUNCTIONS);
	tgt_print("batches", BATCHES);
	tgt_print("blocks", BLOCKS);
	return 0;
}
