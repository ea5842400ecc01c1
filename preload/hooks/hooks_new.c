/*
 * hooks_new.c: hooks of an allocator's own operator new and delete.
 *
 * The C++ runtime's operators call malloc and free, and a program's own call
 * anything: these hooks never wrap them or change them. But libtcmalloc,
 * libjemalloc and libmimalloc have operators that do not call malloc. So these
 * names become visible only if the program would have found a definition in the
 * image that also provides malloc.
 *
 * An allocator's own C++ code may use them as any other code does, and the
 * program may own the result (a vector filled by MallocExtension): so they are
 * recorded for every caller.
 */
#include "preload/hooks/hooks_wrap.h"

#define NEW(name, parameters, arguments, alignment) \
	WRAP_THROWS(name, true, parameters, arguments, size)
#define DELETE(name, parameters, arguments) \
	WRAP_FREE(name, true, parameters, arguments)
#include "preload/interpose/hooked.def"
