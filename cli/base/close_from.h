/*
 * close_from.h: closes descriptors, as BSD's closefrom(3).
 */
#ifndef GNOMON_CLOSE_FROM_H
#define GNOMON_CLOSE_FROM_H

/* Close all descriptors from `first` on. For a child process with one thread. */
void close_from(int first);

#endif
