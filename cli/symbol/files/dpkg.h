/*
 * dpkg.h: finds the Debian packages of installed files. Only reads; any thread.
 */
#ifndef GNOMON_DPKG_H
#define GNOMON_DPKG_H

#include <stddef.h>

/*
 * Fills packages[i] with the name of the package that installed paths[i]; the
 * caller frees it. NULL: no package did, or this is no Debian system. `root`:
 * the system's root directory, "" for the host. Reads the file lists of all
 * packages once: some 10 MB, 10 ms.
 */
void dpkg_owners(const char *root, const char *const *paths, size_t count,
		 char **packages);

#endif
