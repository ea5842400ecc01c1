/*
 * seccomp_verdict.h: what a filter of system calls that a thread of the target
 * is about to install (preload/process/seccomp.h) forbids of what we call.
 */
#ifndef GNOMON_SECCOMP_VERDICT_H
#define GNOMON_SECCOMP_VERDICT_H

#include <linux/filter.h>
#include <stdint.h>

/* Bits of ban.h. The filter is what the program gave, not yet the kernel's. */
uint32_t seccomp_verdict(const struct sock_fprog *program);

/* A filter comes in parts, in order. */
struct seccomp_parts {
	int64_t asker;		/* differs for two that ask at a time */
	uint32_t filled;
	struct sock_filter code[BPF_MAXINSNS];
};

/*
 * The next part: n instructions of `count`, those from number `from` on. The
 * verdict after the last one, 0 before; -EAGAIN: another asker has come in
 * between, so that it has to be begun again.
 */
long seccomp_verdict_part(struct seccomp_parts *parts, int64_t asker,
			  uint64_t count, uint64_t from,
			  const struct sock_filter *code, uint64_t n);

#endif
