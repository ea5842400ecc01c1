/*
 * no_new_code.c: runs a program that may not make memory executable
 * (PR_SET_MDWE). Status 77: the kernel cannot forbid it.
 */
#include <sys/prctl.h>
#include <unistd.h>

#define SET_MDWE 65
#define REFUSE_EXEC_GAIN 1

int main(int argc, char **argv)
{
	if (argc < 2 || prctl(SET_MDWE, REFUSE_EXEC_GAIN, 0, 0, 0))
		return 77;
	execv(argv[1], argv + 1);
	return 1;
}
