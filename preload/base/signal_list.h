/*
 * signal_list.h: the values of --signal: NAME=ACTION, several between commas.
 * Usable from the freestanding library and from the command. No state; any
 * thread.
 */
#ifndef GNOMON_SIGNAL_LIST_H
#define GNOMON_SIGNAL_LIST_H

#include "preload/base/control_request.h"

#define SIGNAL_LIST_MAX 32

struct signal_wish {
	int number;		/* of the signal */
	enum control_what what;
};

/*
 * NAME: as kill(1) has it, with SIG or without: USR1, RTMIN+3. Those that a
 * process gets for what it does itself (SEGV, CHLD), and those that cannot be
 * handled, are none. ACTION: toggle, snapshot, report, clear.
 * How many there are, or -1.
 */
int signal_list_read(const char *text,
		     struct signal_wish list[SIGNAL_LIST_MAX]);

#endif
