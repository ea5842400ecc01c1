/* sample.c: see sample.h. */
#include "preload/sample/sample.h"

#include "preload/ring/area.h"

struct sample *sample;

void sample_alloc(void)
{
	sample = area_place(sizeof(*sample));
}
