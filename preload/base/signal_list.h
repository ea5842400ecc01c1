/*
 * signal_list.h: parses --signal: NAME=ACTION, several separated by commas.
 * Usable from the freestanding library and from the command. No state; any
 * thread.
 */
#ifndef GNOMON_SIGNAL_LIST_H
#define GNOMON_SIGNAL_LIST_H

#include "preload/base/control_request.h"

#define SIGNAL_LIST_MAX 32

struct signal_action_wanted {
	int number;		/* of the signal */
	enum control_what what;
};

/*
 * NAME: as for kill(1), with SIG or without: USR1, RTMIN+3. Invalid are signals
 * that a process gets for its own actions (SEGV, CHLD), and signals that cannot
 * be handled. ACTION: toggle, snapshot, report, clear. Returns the number of
 * entries, or -1.
 */
int signal_list_read(const char *text,
		     struct signal_action_wanted list[SIGNAL_LIST_MAX]);

#endif
