/*
 * count_plugin.c: a qemu plugin that counts a program's instructions between
 * two marks. A mark is any system call whose first argument is COUNT_MARK; it
 * ends a translated block, so the count is exact. Written to standard error
 * when the program ends: "instructions N".
 *
 * The declarations are those of qemu's plugin interface, version 1
 * (qemu-plugin.h), which Debian does not package.
 *
 * Called in the thread of the emulated processor; programs have one.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bench/count_mark.h"

#define EXPORT __attribute__((visibility("default")))
#define NO_REGISTERS 0

typedef uint64_t plugin_id;
struct qemu_plugin_tb;

void qemu_plugin_register_vcpu_tb_trans_cb(
	plugin_id id, void (*call)(plugin_id, struct qemu_plugin_tb *));
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block,
					  void (*call)(unsigned, void *),
					  int flags, void *data);
void qemu_plugin_register_vcpu_syscall_cb(
	plugin_id id,
	void (*call)(plugin_id, unsigned, int64_t, uint64_t, uint64_t, uint64_t,
		     uint64_t, uint64_t, uint64_t, uint64_t, uint64_t));
void qemu_plugin_register_atexit_cb(plugin_id id,
				    void (*call)(plugin_id, void *),
				    void *data);
int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv);

EXPORT int qemu_plugin_version = 1;

static bool counting;
static uint64_t instructions;

static void executed(unsigned processor, void *count)
{
	(void)processor;
	if (counting)
		instructions += (uintptr_t)count;
}

static void translated(plugin_id id, struct qemu_plugin_tb *block)
{
	(void)id;
	qemu_plugin_register_vcpu_tb_exec_cb(
		block, executed, NO_REGISTERS,
		(void *)qemu_plugin_tb_n_insns(block));
}

static void called(plugin_id id, unsigned processor, int64_t number,
		   uint64_t first, uint64_t b, uint64_t c, uint64_t d,
		   uint64_t e, uint64_t f, uint64_t g, uint64_t h)
{
	(void)id, (void)processor, (void)number;
	(void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
	if (first == COUNT_MARK)
		counting = !counting;
}

static void ended(plugin_id id, void *data)
{
	(void)id, (void)data;
	fprintf(stderr, "instructions %" PRIu64 "\n", instructions);
}

EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc,
			       char **argv)
{
	(void)info, (void)argc, (void)argv;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_vcpu_syscall_cb(id, called);
	qemu_plugin_register_atexit_cb(id, ended, NULL);
	return 0;
}
