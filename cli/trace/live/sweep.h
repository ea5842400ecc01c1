/*
 * sweep.h: clean up live files whose recorder and program are dead.
 */
#ifndef GNOMON_SWEEP_H
#define GNOMON_SWEEP_H

/* For each live file of this user in `directory`: if its trace is in the
 * directory `traces`, append its events to the trace; if its trace is gone,
 * remove the file. Prints nothing; checks at most 1000 files. */
void sweep_live_files(const char *directory, const char *traces);

#endif
