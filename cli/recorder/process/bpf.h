/*
 * bpf.h: evaluates a seccomp filter (classic BPF, as prctl(2) takes it) for
 * a system call. No state; any thread.
 */
#ifndef GNOMON_BPF_H
#define GNOMON_BPF_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The filter's result, a SECCOMP_RET_* with its data. A program that the kernel
 * would reject gives SECCOMP_RET_KILL_PROCESS.
 */
uint32_t bpf_run(const struct sock_fprog *program,
		 const struct seccomp_data *data);

/* Whether the filter allows the call. */
bool bpf_allows(const struct sock_fprog *program,
		const struct seccomp_data *data);

#endif
