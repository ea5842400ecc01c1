/*
 * api.c: common part of the functions of gnomon/gnomon.h: whether there is a
 * recorder, and whether it records.
 *
 * Threads of the target, outside of hooks; also before our own constructor has
 * run, and in a forked child before its first hook.
 */
#include "preload/api/api.h"

#include <errno.h>

#include "preload/api/api_init.h"
#include "preload/ring/area.h"
#include "preload/ring/request.h"
#include "preload/sample/skip.h"

struct pools *api_pools;
_Atomic uint32_t *api_dumps;

void api_alloc(void)
{
	api_pools = area_place(API_POOLS_BYTES);
	api_dumps = area_place(sizeof(*api_dumps));
}

struct producer *api_producer(void)
{
	struct producer *p = producer;

	if (likely(producer_is_on(p)))
		return p;
	if (!real.malloc && !real_resolve())
		return NULL;
	producer_join();
	p = producer;
	return producer_is_on(p) ? p : NULL;
}

int api_may_request(void)
{
	if (!api_producer())
		return -ENODEV;
	return request_interrupted((uintptr_t)__builtin_dwarf_cfa()) ?
		       -EBUSY :
		       0;
}

API(int, loaded, (void))
{
	return 1;
}

API(const char *, version, (void))
{
	return GNOMON_VERSION;
}

API(int, enabled, (void))
{
	return api_producer() && !skip_dormant();
}
