/* api_begin.c: see api_begin.h. */
#include "preload/api/api_begin.h"

#include "preload/ring/area.h"

struct pools *api_pools;
_Atomic uint32_t *api_dumps;

void api_place(void)
{
	api_pools = area_place(API_POOLS_BYTES);
	api_dumps = area_place(sizeof(*api_dumps));
}
