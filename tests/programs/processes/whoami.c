/*
 * whoami.c: prints its user and rights, its environment and descriptors, and
 * whether the C library uses secure mode; and allocates. The test copies it and
 * gives it to another user.
 */
#include <fcntl.h>
#include <sys/auxv.h>

#include "tgt.h"

#define BLOCKS 1000
#define DESCRIPTORS 64

extern char **environ;

int main(void)
{
	tgt_print("secure", getauxval(AT_SECURE));
	tgt_print("uid", getuid());
	tgt_print("euid", geteuid());
	tgt_print("gid", getgid());
	tgt_print("egid", getegid());
	for (char **each = environ; *each; each++) {
		tgt_write(*each);
		tgt_write("\n");
	}
	for (int fd = 0; fd < DESCRIPTORS; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			tgt_print("open", fd);
	for (int i = 0; i < BLOCKS; i++)
		tgt_free(tgt_malloc(i + 1), i + 1);
	tgt_report();
	return 7;
}
