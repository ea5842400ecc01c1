/*
 * own_late.c: a C program that loads the C++ runtime, and looks up its
 * operators by name.
 */
#include <dlfcn.h>

#include "tgt.h"

typedef void *new_function(size_t size);
typedef void delete_function(void *block);

static void tgt_use(new_function *make, delete_function *end)
{
	for (int i = 1; i < 100; i++) {
		void *p = make(10 * i);

		tgt_made(p, 10 * i);
		end(p);
		TGT_ADD(tgt_counts.frees, 1);
		TGT_ADD(tgt_counts.freed_bytes, 10 * i);
	}
}

static void use(void *from)
{
	void *make = dlsym(from, "_Znwm"), *end = dlsym(from, "_ZdlPv");

	tgt_print("found", make && end);
	if (make && end)
		tgt_use((new_function *)make, (delete_function *)end);
}

int main(void)
{
	void *library;

	use(RTLD_DEFAULT);
	library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_GLOBAL);
	tgt_print("loaded", library != NULL);
	use(RTLD_DEFAULT);
	use(library);
	tgt_report();
	return 0;
}
