/*
 * seccomp_verdict.h: which of our system calls a seccomp filter forbids that a
 * thread of the target is about to install (preload/process/seccomp.h).
 */
#ifndef GNOMON_SECCOMP_VERDICT_H
#define GNOMON_SECCOMP_VERDICT_H

#include <linux/filter.h>
#include <stdint.h>

/* Bits of ban.h. The filter comes from the program; the kernel has not checked
 * it. */
uint32_t seccomp_verdict(const struct sock_fprog *program);

/* A filter that arrives in parts, in order. */
struct seccomp_parts {
	int64_t asker;		/* identifies one of concurrent requests */
	uint32_t filled;
	struct sock_filter code[BPF_MAXINSNS];
};

/*
 * Adds the next part: n instructions of `count`, from number `from` on. Returns
 * the verdict after the last part, 0 before it; -EAGAIN: another request came
 * in between: start again.
 */
long seccomp_verdict_part(struct seccomp_parts *rotation, int64_t asker,
			  uint64_t count, uint64_t from,
			  const struct sock_filter *code, uint64_t n);

#endif
