/*
 * plan.h: how the entry points of an allocator that is linked into a program,
 * or into one of its libraries, can be patched (preload/base/patch_format.h).
 * Called by the main thread.
 */
#ifndef GNOMON_PLAN_H
#define GNOMON_PLAN_H

#include "cli/run/plan_libraries.h"

/*
 * For the program at this path: the value of PATCH_VARIABLE, to be freed; NULL
 * where there is nothing to patch. Says it where an allocator is found and
 * cannot be patched. A program may run another that its arguments name (env,
 * timeout): what they name is planned for too, without a word. All that was
 * looked at is added to `files`.
 */
char *plan_make(const char *program, char *const *arguments,
		struct plan_libraries *files);

#endif
