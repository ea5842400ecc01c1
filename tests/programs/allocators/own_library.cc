// FLAGS: -std=c++17 -Wl,--no-as-needed -loperators
/*
 * own_library.cc: a program whose operators new and delete are a library's.
 */
#include <new>

#include "tgt.h"

#define EXTRA 32

extern "C" size_t operators_calls;

TGT_FUNCTION void tgt_work(void)
{
	int *p = new int;

	tgt_made(p, sizeof(int) + EXTRA);
	TGT_ADD(tgt_counts.frees, 1);
	TGT_ADD(tgt_counts.freed_bytes, sizeof(int) + EXTRA);
	delete p;
	char *array = new char[100];
	tgt_sink = array;
	delete[] array;
}

int main(void)
{
	for (int i = 0; i < 100; i++)
		tgt_work();
	tgt_print("calls", operators_calls);
	tgt_report();
	return 0;
}
