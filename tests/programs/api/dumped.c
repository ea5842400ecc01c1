/*
 * dumped.c: tests a dump's callbacks: an editor, called once for each address;
 * a writer, called with complete lines of any length.
 */
// FLAGS: -lgnomon-stub -Wl,-rpath,$ORIGIN/..
#include "tgt.h"

#include <errno.h>
#include <gnomon/gnomon.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define DEEP 300
#define EDITS 4096

static uint64_t edited[EDITS];
static unsigned edits, lines, breaks;
static size_t longest;
static char all[1 << 20], *end = all;
static volatile int sum;
static void *kept[8];

static void expect(int is, const char *what)
{
	if (is)
		return;
	printf("wrong: %s\n", what);
	exit(1);
}

static void deep(int n)
{
	if (n)
		deep(n - 1);
	else
		kept[0] = tgt_malloc(100);
	sum++;
}

static void hidden(void)
{
	deep(3);
	kept[1] = tgt_malloc(200);
	sum++;
}

static void outer(void)
{
	hidden();
	kept[2] = tgt_malloc(400);
	sum++;
}

/* Not one address comes twice; what it does itself is of no matter. */
static enum gnomon_edit edit(void *data, const struct gnomon_frame *frame,
			     char *name, size_t room)
{
	const char *symbol = frame->symbol;
	struct gnomon_summary now;
	unsigned i;

	free(malloc(edits));
	expect(data == &edits, "data");
	expect(edits < EDITS, "edits");
	for (i = 0; i < edits; i++)
		expect(edited[i] != frame->address, "once");
	edited[edits++] = frame->address;
	expect(room >= strlen(name) + 1 + 255, "room");
	expect(!symbol || strcmp(name, symbol) == 0, "name");
	expect(symbol || strstr(name, "+0x"), "no symbol");
	expect(frame->module[0] == '/' && frame->module_offset, "module");
	if (edits == 1) {
		expect(gnomon_dump(NULL, 1) == -EBUSY, "in a dump");
		expect(gnomon_summarize(GNOMON_ALL, &now) == 0, "numbers");
	}
	if (!symbol)
		return GNOMON_KEEP;
	if (strcmp(symbol, "hidden") == 0)
		return GNOMON_HIDE;
	if (strcmp(symbol, "deep") == 0) {
		memset(name, 'd', room);	/* no end: that is seen to */
		return GNOMON_CUT;
	}
	if (strcmp(symbol, "tgt_malloc") == 0)
		strcpy(name, "allocator");
	return GNOMON_KEEP;
}

static int take(void *data, const char *text, size_t size)
{
	const char *at, *next;

	expect(data == all, "writer's data");
	breaks += text[size - 1] != '\n';
	for (at = text; (next = memchr(at, '\n', text + size - at)); at = next + 1) {
		lines++;
		if ((size_t)(next - at) > longest)
			longest = next - at;
	}
	expect(end + size < all + sizeof(all), "all of it");
	memcpy(end, text, size);
	end += size;
	*end = '\0';
	return 0;
}

static int dump(const struct gnomon_dump *how)
{
	end = all;
	edits = lines = breaks = longest = 0;
	return gnomon_dump_to(how, take, all);
}

static int refuse(void *data, const char *text, size_t size)
{
	(void)data;
	(void)text;
	(void)size;
	return -EPIPE;
}

static void edits_frames(void)
{
	struct gnomon_dump how = { .edit = edit, .edit_data = &edits,
				   .from = "outer" };
	int printed = dump(&how);

	expect(printed == 2 && lines == 2 && !breaks, "two stacks");
	expect(edits > 8, "edits");
	expect(strncmp(all, "outer;allocator 600\nouter;dddd", 30) == 0, all);
	expect(strcmp(end - 5, " 100\n") == 0, "cut");
	how.from = "allocator";
	printed = dump(&how);
	expect(printed == 1 && strcmp(all, "allocator 700\n") == 0,
	       "what an editor calls so");
}

/* Lines and words that are longer than what goes at one time. */
static void long_ones(void)
{
	static char prefix[30000], between[5000];
	struct gnomon_dump how = { .prefix = prefix, .from = "deep",
				   .between_frames = between };
	size_t wanted;

	memset(prefix, 'p', sizeof(prefix) - 1);
	memset(between, 'b', 999);
	deep(DEEP);
	expect(dump(&how) == 2 && lines == 2 && !breaks, "two lines");
	wanted = strlen(prefix) + (DEEP + 2) * (strlen("deep") + 999) +
		 strlen("tgt_malloc") - strlen("deep");
	expect(longest > wanted - 999 && longest < wanted + 999, "long line");
	how.from = between;
	expect(dump(&how) == 0 && !lines, "a name that nothing has");
	how.from = prefix;
	expect(dump(&how) == 0, "nor this");
}

static void here(void)
{
	struct gnomon_dump how = { .from = GNOMON_HERE,
				   .fields = GNOMON_LIVE_COUNT };

	kept[3] = tgt_malloc(10);
	end = all;
	expect(gnomon_dump_to(&how, take, all) == 1, "one from here");
	expect(strcmp(all, "here;tgt_malloc 1\n") == 0, all);
}

static void refused(void)
{
	struct gnomon_dump how = { .reserved = { 0, 1 } };

	expect(gnomon_dump_to(NULL, refuse, NULL) == -EPIPE, "refused");
	expect(gnomon_dump_to(NULL, NULL, NULL) == -EINVAL, "no writer");
	expect(dump(&how) == -EINVAL, "reserved");
	how = (struct gnomon_dump){ .form = 2 };
	expect(dump(&how) == -EINVAL, "form");
	expect(dump(NULL) > 0, "as it was");
}

int main(void)
{
	outer();
	edits_frames();
	long_ones();
	here();
	refused();
	return 0;
}
