/*
 * control_format.h: the protocol of the control socket, between recorder and
 * command. The socket's name is abstract: CONTROL_SOCKET_NAME, the process's id
 * in its own namespace, a dot, field 22 of its /proc/PID/stat (0: no file).
 *
 *	request  a line: a word, optionally a blank and a name
 *	answer   a line of fields between tabs:
 *	  state    ok; no (already in that state); error
 *	  on       1: being recorded now; 0: not
 *	  name     of the snapshot that was taken
 *	  trace    path of the trace
 *	  message  the error, to be printed after the process's id
 *
 * There are no other control characters. A connection may send several
 * requests, each after the previous answer. More bytes after a request's line
 * are an error: the request is not handled, and the connection is closed.
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
