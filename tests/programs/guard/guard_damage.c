/*
 * guard_damage.c WHAT: damages blocks in ways that --guard must find, and
 * prints for each the expected "damage OFFSET SIZE WHEN MAKER ENDER": the
 * functions that allocated and freed the block ("-": nobody did).
 */
// FLAGS: -no-pie -pthread
#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>

#include "tgt.h"

static unsigned char *volatile block;

/* Not inlined, and each its own frame. */
TGT_FUNCTION void made_here(size_t size)
{
	block = malloc(size);
	tgt_sink = block;
}

TGT_FUNCTION void made_aligned(size_t size)
{
	block = aligned_alloc(4096, size);
	tgt_sink = block;
}

TGT_FUNCTION void ended_here(void)
{
	free(block);
	tgt_sink = NULL;
}

TGT_FUNCTION void grown_here(size_t size)
{
	block = realloc(block, size);
	tgt_sink = block;
}

static void expect(long offset, unsigned size, const char *rest)
{
	printf("damage %ld %u %s\n", offset, size, rest);
}

static void over(void)
{
	made_here(33);
	block[33] = 1;
	ended_here();
	expect(33, 33, "free made_here ended_here");
	made_aligned(4096);
	block[4100] = 1;
	ended_here();
	expect(4100, 4096, "free made_aligned ended_here");
}

static void under(void)
{
	made_here(50);
	block[-1] ^= 1;
	ended_here();
	expect(-1, 50, "free made_here ended_here");
	/* the whole header */
	made_here(51);
	memset(block - 40, 0x55, 40);
	ended_here();
	expect(-40, 51, "free made_here ended_here");
	/* beyond it */
	made_here(52);
	block[-41] = 1;
	ended_here();
	expect(-41, 52, "free made_here ended_here");
}

static void both(void)
{
	made_here(10);
	block[-50] = block[10] = 1;
	ended_here();
	expect(-50, 10, "free made_here ended_here");
	expect(10, 10, "free made_here ended_here");
}

static void moved(void)
{
	made_here(60);
	block[61] = 1;
	grown_here(600);
	expect(61, 60, "realloc made_here grown_here");
	/* once is enough */
	ended_here();
	made_here(70);
	grown_here(700);
	block[705] = 1;
	ended_here();
	expect(705, 700, "free grown_here ended_here");
}

static void last(void)
{
	made_here(80);
	block[80] = 1;
	expect(80, 80, "end made_here -");
	made_here(200000);
	block[-44] = 1;
	expect(-44, 200000, "end made_here -");
	made_here(90);
	memset(block - 40, 0x55, 40);
	expect(-40, 90, "end made_here -");
}

static void *by_thread(void *arg)
{
	ended_here();
	return arg;
}

static void across(void)
{
	pthread_t thread;

	made_here(40);
	block[40] = 1;
	if (pthread_create(&thread, NULL, by_thread, NULL))
		exit(1);
	pthread_join(thread, NULL);
	expect(40, 40, "free made_here ended_here");
}

/* The parent's block, and one of its own. The first one's stack is in the
 * parent's trace. */
static void forked(void)
{
	int status = 1;
	pid_t pid;

	made_here(44);
	block[44] = 1;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		ended_here();
		expect(44, 44, "free - ended_here");
		made_here(45);
		block[45] = 1;
		expect(45, 45, "end made_here -");
		fflush(stdout);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		exit(1);
	expect(44, 44, "end made_here -");
}

/* What it ends with is the allocator's business. */
static void twice(void)
{
	made_here(20);
	ended_here();
	expect(0, 20, "free made_here ended_here");
	fflush(stdout);
	ended_here();
}

static void nothing(void)
{
	unsigned i;

	for (i = 0; i < 10000; i++) {
		made_here(i % 700);
		memset(block, 1, i % 700);
		if (i % 3 == 0)
			grown_here(i % 900 + 1);
		if (i % 16)
			ended_here();
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} kinds[] = {
	{ "over", over },	{ "under", under },   { "both", both },
	{ "moved", moved },	{ "last", last },     { "across", across },
	{ "forked", forked },	{ "twice", twice },   { "nothing", nothing },
};

int main(int argc, char **argv)
{
	static char buffer[4096];
	unsigned i;

	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (argc == 2 && strcmp(argv[1], kinds[i].name) == 0)
			kinds[i].run();
	return 0;
}
