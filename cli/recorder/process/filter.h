/*
 * filter.h: what a seccomp filter (classic BPF, as prctl(2) takes it) says of
 * a system call. No state; any thread.
 */
#ifndef GNOMON_FILTER_H
#define GNOMON_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The filter's answer, a SECCOMP_RET_* with its data. A program that the
 * kernel would not have taken answers SECCOMP_RET_KILL_PROCESS.
 */
uint32_t filter_run(const struct sock_fprog *program,
		    const struct seccomp_data *data);

/* Whether the call goes through as if there were no filter. */
bool filter_allows(const struct sock_fprog *program,
		   const struct seccomp_data *data);

#endif
