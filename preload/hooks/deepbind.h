/*
 * deepbind.h: libraries that would find the C library's own allocation
 * functions before ours.
 *
 * dlopen with RTLD_DEEPBIND (PHP opens its extensions so) lets a library and
 * what it needs look in themselves before the program, and so in the C
 * library before us; dlsym in the C library's own handle (as ctypes makes one)
 * never gets to us. Their blocks would not be seen, and blocks of others that
 * they free would seem to live for ever.
 */
#ifndef GNOMON_DEEPBIND_H
#define GNOMON_DEEPBIND_H

#include "preload/base/base.h"

/*
 * A thread is about to call the real dlopen with these: from the stub.
 */
BASE_HIDDEN void deepbind_note(const char *file, int flags);

#endif
