/*
 * group_probe.h: did a signal come to this process alone, or to its whole
 * process group? The kernel does not say: kill(pid) and kill(-group) look the
 * same to the receiver. So a probe process, which does nothing else, joins the
 * group. A signal that the probe received too was sent to the group.
 *
 * Called by the main thread of `gnomon run`.
 */
#ifndef GNOMON_GROUP_PROBE_H
#define GNOMON_GROUP_PROBE_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

enum probe_answer {
	PROBE_ALONE,	/* it was sent to this process */
	PROBE_GROUP,	/* it was sent to the group */
	PROBE_UNKNOWN	/* there is no probe: it failed, or was killed */
};

/* Start the probe. All signals are blocked. */
void probe_start(void);

/* Its pid, 0 if there is none. */
pid_t probe_pid(void);

/*
 * To whom was the signal sent that this process has just taken from its queue?
 * Call once per signal taken, however often the group received it meanwhile.
 */
enum probe_answer probe_take(int number);

/*
 * This process is about to stop because `program`, its child, has stopped. If
 * the program is continued alone, or ends, the probe continues this process,
 * until the next call of any of these functions.
 */
void probe_watch(pid_t program);
void probe_unwatch(void);

/* End the probe. */
void probe_end(void);

#endif
