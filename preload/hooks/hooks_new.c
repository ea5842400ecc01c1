/*
 * hooks_new.c: operator new and delete of an allocator's own.
 *
 * Those of the C++ runtimes come back to malloc and free, and a program's own
 * to whatever it likes: they are never met here, nor by a word changed. But
 * libtcmalloc, libjemalloc and libmimalloc bring operators that do not. So
 * these names appear only where the program would have reached a definition in
 * the image that also provides malloc.
 *
 * An allocator's own C++ code may use them as any other code does, and the
 * program may own the result (a vector filled by MallocExtension): so they are
 * recorded whoever calls them.
 */
#include "preload/hooks/hooks_wrap.h"

#define NEW(name, parameters, arguments, alignment) \
	WRAP_THROWS(name, true, parameters, arguments, size)
#define DELETE(name, parameters, arguments) \
	WRAP_FREE(name, true, parameters, arguments)
#include "preload/interpose/hooked.def"
