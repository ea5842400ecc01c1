/*
 * socketless.c: forbids itself to make sockets (the call kills). With "allow"
 * its filter forbids nothing. Allocates 10 blocks in a forked child, and as the
 * same program executed again.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void tgt_make(void)
{
	for (int i = 0; i < 10; i++) {
		void *volatile block = malloc(50);

		(void)block;
	}
}

static int filter(unsigned verdict)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, verdict),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { 4, code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int wait_for(pid_t pid)
{
	int status = 1;

	waitpid(pid, &status, 0);
	return status;
}

int main(int argc, char **argv)
{
	int bad;
	pid_t pid;

	if (argc == 2 && strcmp(argv[1], "again") == 0) {
		tgt_make();
		return 0;
	}
	bad = filter(argc == 2 ? SECCOMP_RET_ALLOW : SECCOMP_RET_KILL_PROCESS);
	pid = fork();
	if (pid == 0) {
		tgt_make();
		exit(0);
	}
	bad |= wait_for(pid);
	pid = fork();
	if (pid == 0) {
		execl(argv[0], argv[0], "again", (char *)NULL);
		_exit(127);
	}
	bad |= wait_for(pid);
	return bad != 0;
}
