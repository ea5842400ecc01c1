/*
 * predict.c: see predict.h.
 */
#include "unwind/base/memory.h"
#include "unwind/predict.h"

struct recent *recent_stacks;

int predict_init(void)
{
	recent_stacks = unwind_alloc(sizeof(*recent_stacks) << RECENT_BITS);
	return recent_stacks ? 0 : -12;		/* ENOMEM */
}
