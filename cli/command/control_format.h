/*
 * control_format.h: what goes over the control socket, for the recorder and the
 * command. Its name is abstract: CONTROL_SOCKET_NAME, the process's id as it
 * knows itself, a dot, field 22 of its /proc/PID/stat (0 where it has none).
 *
 *	request  a line: a word, and perhaps a blank and a name
 *	answer   a line of fields between tabs:
 *	  state    ok; no (it is so already); error
 *	  on       1: is being recorded now; 0
 *	  name     that a snapshot got
 *	  trace    where it is written
 *	  message  what is wrong, to be read behind the process's id
 *
 * No control characters are in it but those. A connection may ask several
 * times, each when it has been answered: who sends a line and more gets an
 * error, nothing is done, and the connection ends.
 */
#ifndef GNOMON_CONTROL_FORMAT_H
#define GNOMON_CONTROL_FORMAT_H

#include "cli/trace/format/trace_format.h"

#define CONTROL_SOCKET_NAME "gnomon."
#define CONTROL_RECORDER "gnomon-recorder"	/* the recorder's name in ps */
#define CONTROL_SOCKET_NAME_MAX 64
#define CONTROL_REQUEST_MAX (GT_NAME_MAX + 32)
#define CONTROL_ANSWER_MAX (GT_PATH_MAX + GT_NAME_MAX + 512)
#define CONTROL_ANSWER_FIELDS 5
#define CONTROL_TOO_LONG "got a name that is too long (at most 255 bytes)"

#endif
