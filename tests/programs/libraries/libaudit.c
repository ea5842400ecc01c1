/*
 * libaudit.c: an auditing library (rtld-audit (7)): loaded before all others,
 * into a namespace of its own, where it allocates with another C library.
 */
#define _GNU_SOURCE
#include <link.h>
#include <stdlib.h>
#include <string.h>

static char *volatile last;

unsigned la_version(unsigned version)
{
	return version;
}

unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
	(void)space;
	(void)cookie;
	free(last);
	last = strdup(map->l_name);
	return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}
