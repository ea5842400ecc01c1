/*
 * paced_blocks.c WAY: blocks at times that the program states itself, in
 * seconds since the start of the recording, so far apart that no machine is too
 * slow. WAY:
 *   plateau  next to nothing until 500, two large blocks until 800, one of
 *            them until the end at 1600
 *   burst    many large blocks from 100 to 200, more than those together from
 *            500 on: the peak; of the short-lived ones, one small is live then
 */
// FLAGS: -lgnomon-stub -Wl,-rpath,$ORIGIN/..
#include "tgt.h"

#include <gnomon/gnomon.h>

#define SECOND UINT64_C(1000000000)
#define LARGE ((size_t)30 << 20)
#define BURST 8
#define BURST_SIZE ((size_t)1 << 20)
#define SMALL 100

static void at_second(uint64_t seconds)
{
	if (gnomon_set_timestamp(seconds * SECOND))
		abort();
}

static void plateau(void)
{
	void *small, *one, *other;

	at_second(1);
	small = tgt_malloc(SMALL);
	at_second(500);
	one = tgt_malloc(LARGE);
	other = tgt_malloc(LARGE);
	at_second(800);
	tgt_free(other, LARGE);
	at_second(1600);
	tgt_free(one, LARGE);
	tgt_free(small, SMALL);
}

static void burst(void)
{
	void *large, *small, *p[BURST];
	int i;

	at_second(100);
	for (i = 0; i < BURST; i++)
		p[i] = tgt_malloc(BURST_SIZE);
	at_second(200);
	for (i = 0; i < BURST; i++)
		tgt_free(p[i], BURST_SIZE);
	at_second(500);
	small = tgt_malloc(SMALL);
	large = tgt_malloc(LARGE);
	at_second(501);
	tgt_free(small, SMALL);
	at_second(1000);
	tgt_free(large, LARGE);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "burst"))
		burst();
	else
		plateau();
	return 0;
}
