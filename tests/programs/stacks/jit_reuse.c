/*
 * jit_reuse.c [dump]: code made at run time at one address, which is another
 * function each time, as the lines of /tmp/perf-PID.map or, with "dump", of
 * ./jit-PID.dump say. Each function allocates blocks of its own sizes, in
 * batches with pauses, so that an occasional reader of the map finds the line
 * at some batch.
 */

#include "jit_code.h"
#include "jit_write.h"
#include "tgt.h"

#define FUNCTIONS 3
#define BATCHES 20
#define BLOCKS 50
#define PAUSE_NS 15000000

static int open_map(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	unlink(path);	/* of an earlier process with our number */
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

/* Whether it got out. */
static int tell(int map, const uint8_t *code, size_t size, int number)
{
	char name[32], line[96];

	snprintf(name, sizeof(name), "function %d", number);
	if (map < 0) {
		jit_put_load(code, size, (uint64_t)number, name);
		return 1;
	}
	snprintf(line, sizeof(line), "%lx %x %s\n", (unsigned long)code,
		 CODE_MAX, name);
	return write(map, line, strlen(line)) > 0;
}

int main(int argc, char **argv)
{
	uint8_t *code = mmap(NULL, CODE_PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int dumps = argc > 1 && !strcmp(argv[1], "dump");
	int map = dumps ? -1 : open_map();

	if (code == MAP_FAILED || (map < 0 && !dumps))
		return 1;
	if (dumps)
		jit_open_dump();
	for (int i = 0; i < FUNCTIONS; i++) {
		size_t size = jit_make_code(code, 16);

		if (!tell(map, code, size, i))
			return 1;
		for (int j = 0; j < BATCHES; j++)
			batch(code, 1000 + (size_t)(i * BATCHES + j));
	}
	tgt_print("functions", FUNCTIONS);
	tgt_print("batches", BATCHES);
	tgt_print("blocks", BLOCKS);
	return 0;
}
