// lang_go.go: a program without the C library, where nothing can be recorded:
// it must run as if nothing were asked.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"strings"
	"sync"
)

func deep(depth int) int {
	var room [600]byte
	if depth == 0 {
		return 1
	}
	return deep(depth-1) + int(room[depth%600]) + len(strings.Repeat("x", depth%3))
}

func guarded(depth int) (result string) {
	defer func() { result = fmt.Sprint(recover()) }()
	if depth == 0 {
		panic(fmt.Sprintf("at the bottom of %d", depth))
	}
	return guarded(depth-1) + fmt.Sprint([]int{}[depth])
}

func main() {
	var group sync.WaitGroup
	results := make([]int, 50)
	for number := range results {
		number := number
		group.Add(1)
		go func() {
			defer group.Done()
			results[number] = deep(number * 200)
			runtime.Gosched()
		}()
	}
	group.Wait()
	sort.Ints(results)
	fmt.Println(results[len(results)-1], guarded(10))
	os.Exit(3)
}
