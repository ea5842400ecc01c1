/*
 * lost_page.c: see lost_page.h.
 *
 * The handler maps private memory over the page and all pages after it, as a
 * file is truncated at its end. Then the instruction is repeated. So the
 * interrupted code completes; a longjmp out of the handler would leave half a
 * chunk. The recorder finds the damage in its next round.
 *
 * The handler only runs synchronously, on access to the mapping. So its changes
 * are ordered as if the interrupted code had made them.
 */
#include "cli/recorder/live/lost_page.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/recorder/base/recording.h"
#include "cli/recorder/live/live.h"

static struct {
	struct recording *r;
	const struct live *live;	/* size 0: not mapped yet */
	size_t page;
} lost_page;

static void lost_page_met(int number, siginfo_t *info, void *context)
{
	uintptr_t address = (uintptr_t)info->si_addr;
	uintptr_t page = address & ~(lost_page.page - 1);
	uintptr_t at = (uintptr_t)lost_page.live->header;
	uint64_t size = lost_page.live->size;

	(void)context;
	if (info->si_code > 0 && address - at < size &&
	    mmap((void *)page, at + size - page,
		 PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1,
		 0) != MAP_FAILED) {
		recording_damage(lost_page.r, "its file was cut short");
		return;
	}
	/* the repeated access kills the recorder */
	signal(number, SIG_DFL);
}

void lost_page_watch(struct recording *r, const struct live *live)
{
	struct sigaction action = { .sa_flags = SA_SIGINFO };
	sigset_t signals;

	lost_page.r = r;
	lost_page.live = live;
	lost_page.page = (size_t)sysconf(_SC_PAGESIZE);
	action.sa_sigaction = lost_page_met;
	sigfillset(&action.sa_mask);
	sigaction(SIGBUS, &action, NULL);
	/* a blocked SIGBUS would kill the recorder immediately */
	sigemptyset(&signals);
	sigaddset(&signals, SIGBUS);
	sigprocmask(SIG_UNBLOCK, &signals, NULL);
}
