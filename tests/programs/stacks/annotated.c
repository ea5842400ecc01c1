/*
 * annotated.c: allocates on marked lines: directly, through callees, through an
 * inlined function, recursively; some blocks are live at the end. FLAGS enables
 * inlining, unlike in the other targets.
 */
// FLAGS: -O2 -finline
#include <string.h>

#include "tgt.h"

struct item {
	struct item *next;
	char *text;
	char pad[48];
};

static inline __attribute__((always_inline)) char *tgt_copy(const char *from)
{
	size_t n = strlen(from) + 1;
	char *to = malloc(n);	/* LINE copy: ü und	tab */

	return memcpy(to, from, n);
}

TGT_FUNCTION struct item *tgt_add(struct item *list, const char *text)
{
	struct item *item = malloc(sizeof(*item));	/* LINE item */

	item->next = list;
	item->text = tgt_copy(text);	/* LINE inlined */
	return item;
}

TGT_FUNCTION struct item *tgt_fill(struct item *list, int depth)
{
	if (depth == 0)
		return list;
	for (int i = 0; i < 10; i++)
		list = tgt_add(list, "123456789");	/* LINE add */
	list = tgt_fill(list, depth - 1);	/* LINE deeper */
	tgt_sink = list;
	return list;
}

TGT_FUNCTION struct item *tgt_drop(struct item *list)
{
	struct item *next = list->next;

	free(list->text);
	free(list);
	return next;
}

int main(void)
{
	struct item *list = tgt_fill(NULL, 5);	/* LINE fill */

	for (int i = 0; i < 20; i++)
		list = tgt_drop(list);
	tgt_sink = list;
	return 0;
}
