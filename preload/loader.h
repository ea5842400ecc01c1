/*
 * loader.h: listing what the loader has mapped, also in a child that was
 * forked while another thread held the loader's lock: that thread is not in
 * the child, and the lock would be waited for without end.
 */
#ifndef GNOMON_LOADER_H
#define GNOMON_LOADER_H

#include <link.h>

/* As dl_iterate_phdr; in such a child by the list for debuggers. */
int loader_iterate(int (*callback)(struct dl_phdr_info *info, size_t size,
				   void *data),
		   void *data);

/* In a forked child, before it asks for the first time. */
void loader_forked(void);

#endif
