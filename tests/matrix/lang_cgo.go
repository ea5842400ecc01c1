// lang_cgo.go: C functions called from many goroutines, with allocations in
// all of them; goroutine stacks that grow (are copied) with C calls below;
// C that calls back into Go, which panics and recovers across the C frames;
// signals meanwhile. Prints what was counted.
package main

/*
#cgo CFLAGS: -O1 -g
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

extern int64_t goBack(int64_t depth, int64_t what);

static int64_t held_bytes;

static __attribute__((noinline)) int64_t descend(int64_t depth, int64_t what)
{
	void *block = malloc(64 + depth);
	int64_t below;

	memset(block, 1, 64 + depth);
	__atomic_fetch_add(&held_bytes, 64 + depth, __ATOMIC_RELAXED);
	if (depth)
		below = descend(depth - 1, what);
	else
		below = what < 0 ? 0 : goBack(what / 8, what % 8);
	block = realloc(block, 128 + depth);
	free(block);
	return below + 1;
}

static void *run(void *argument)
{
	return (void *)descend((intptr_t)argument, 8 * 3);
}

// A thread that Go did not make calls into Go.
static int64_t foreign(int64_t depth)
{
	pthread_t thread;
	void *result = NULL;

	if (pthread_create(&thread, NULL, run, (void *)depth))
		return -1;
	pthread_join(thread, &result);
	return (intptr_t)result;
}

static int64_t held(void) { return held_bytes; }
*/
import "C"

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
)

var calls, recovered, grown, signals int64

//export goBack
func goBack(depth, what C.int64_t) C.int64_t {
	atomic.AddInt64(&calls, 1)
	var room [512]byte
	if depth > 0 {
		return goBack(depth-1, what) + C.int64_t(room[depth%512])
	}
	if what == 1 {
		panic("below C")
	}
	if what == 2 {
		runtime.GC()
	}
	return C.descend(5, -1)
}

// Recurses in Go until the stack has been copied several times, calling C on
// the way down and on the way up.
//
//go:noinline
func grow(depth int) int64 {
	var room [1024]byte
	room[depth%1024] = byte(depth)
	total := int64(C.descend(C.int64_t(depth%20), -1))
	if depth > 0 {
		total += grow(depth - 1)
	}
	atomic.AddInt64(&grown, 1)
	return total + int64(room[(depth+1)%1024])
}

func guarded(depth int64) (result int64) {
	defer func() {
		if recover() != nil {
			atomic.AddInt64(&recovered, 1)
			result = int64(C.descend(3, -1))
		}
	}()
	return int64(C.descend(C.int64_t(depth), 8*5+1))
}

func crash() (result string) {
	defer func() { result = fmt.Sprint(recover()) }()
	var missing *int
	return fmt.Sprint(*missing)
}

func main() {
	debug.SetGCPercent(20)
	received := make(chan os.Signal, 100)
	signal.Notify(received, syscall.SIGUSR1, syscall.SIGUSR2)
	var group sync.WaitGroup
	var total int64
	for number := 0; number < 60; number++ {
		number := number
		group.Add(1)
		go func() {
			defer group.Done()
			for round := int64(0); round < 8; round++ {
				sum := int64(C.descend(C.int64_t(number), C.int64_t(8*(number%30))))
				sum += grow(number * 4)
				sum += guarded(round * 5)
				atomic.AddInt64(&total, sum)
			}
		}()
	}
	for number := 0; number < 20; number++ {
		syscall.Kill(os.Getpid(), syscall.SIGUSR1)
		<-received
		signals++
		total += int64(C.foreign(C.int64_t(number * 7)))
	}
	group.Wait()
	fmt.Println("total", total)
	fmt.Println("calls", calls)
	fmt.Println("recovered", recovered)
	fmt.Println("grown", grown)
	fmt.Println("signals", signals)
	fmt.Println("held", C.held())
	fmt.Println(crash())
	if len(os.Args) > 1 {
		panic("at the end")
	}
}
