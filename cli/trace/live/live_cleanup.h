/*
 * live_cleanup.h: clean up live files whose recorder and program are dead.
 */
#ifndef GNOMON_LIVE_CLEANUP_H
#define GNOMON_LIVE_CLEANUP_H

/* For each live file of this user in `directory`: if its trace is in the
 * directory `traces`, append its events to the trace; if its trace is gone,
 * remove the file. Prints nothing; checks at most 1000 files. */
void live_cleanup_files(const char *directory, const char *traces);

#endif
