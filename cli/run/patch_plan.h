/*
 * patch_plan.h: makes the patch plan: how to redirect functions of static
 * allocators, linked into a program or one of its libraries
 * (preload/base/patch_format.h). Called by the main thread.
 */
#ifndef GNOMON_PATCH_PLAN_H
#define GNOMON_PATCH_PLAN_H

#include "cli/run/patch_plan_libraries.h"

/*
 * Returns the value of PATCH_VARIABLE for the program at this path, to be
 * freed; NULL: nothing to patch. Prints a message if an allocator cannot be
 * patched. A program may run another program that its arguments name (env,
 * timeout): the plan covers these programs too, without messages. Adds all
 * files read to `files`.
 */
char *patch_plan_make(const char *program, char *const *arguments,
		      struct patch_plan_libraries *files);

#endif
