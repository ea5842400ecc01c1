/*
 * changing.c: the same functions, with other amounts for each argument:
 *
 *	changing before		and after: tgt_same as it is; tgt_grown 10, then
 *	changing after		30 blocks of 100 bytes; tgt_shrunk 5, then 2 of
 *				1000; tgt_gone only before, tgt_new only after,
 *				one block of 64 and of 48 bytes
 *	changing phases		first tgt_grown 10 blocks; 400 ms later half of
 *				them freed and tgt_new; 400 ms later tgt_gone
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *kept[100];
static size_t kept_count;

__attribute__((noinline)) void tgt_grown(int count)
{
	for (int i = 0; i < count; i++)
		kept[kept_count++] = malloc(100);
}

__attribute__((noinline)) void tgt_shrunk(int count)
{
	for (int i = 0; i < count; i++)
		kept[kept_count++] = malloc(1000);
}

__attribute__((noinline)) void tgt_same(void)
{
	free(malloc(500));
	kept[kept_count++] = malloc(500);
}

__attribute__((noinline)) void tgt_gone(void)
{
	kept[kept_count++] = malloc(64);
}

__attribute__((noinline)) void tgt_new(void)
{
	kept[kept_count++] = malloc(48);
}

static void phases(void)
{
	tgt_grown(10);
	usleep(400000);
	for (int i = 0; i < 5; i++)
		free(kept[--kept_count]);
	tgt_new();
	usleep(400000);
	tgt_gone();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "before";
	int before;

	if (strcmp(what, "phases") == 0) {
		phases();
		return 0;
	}
	before = strcmp(what, "before") == 0;
	tgt_same();
	tgt_grown(before ? 10 : 30);
	tgt_shrunk(before ? 5 : 2);
	if (before)
		tgt_gone();
	else
		tgt_new();
	return 0;
}
