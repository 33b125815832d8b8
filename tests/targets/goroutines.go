// SPDX-License-Identifier: BSD-2-Clause

// Goroutines that call functions, change their threads within them, outgrow their stacks, panic, and end. Waits for
// a line, says then how often each function was called, and how often it returned, and waits for another line.
package main

import (
	"bufio"
	"encoding/json"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
)

const goroutines = 8

type count struct {
	Calls   int64 `json:"calls"`
	Returns int64 `json:"returns"`
}

var fibs, deeps, throws, catches, adds, maxima, leaves, waits, splits, halves, moves count

type Account struct{ total int }

//go:noinline
func (a *Account) Add(n int, name string) int {
	atomic.AddInt64(&adds.Calls, 1)
	a.total += n
	atomic.AddInt64(&adds.Returns, 1)
	return a.total + len(name)
}

//go:noinline
func Max[N int | int64](a, b N) N {
	atomic.AddInt64(&maxima.Calls, 1)
	atomic.AddInt64(&maxima.Returns, 1)
	if a > b {
		return a
	}
	return b
}

// Returns in another thread than it began in: Go's scheduler gives the others what a goroutine in a long system call had.
//
//go:noinline
func move() int {
	atomic.AddInt64(&moves.Calls, 1)
	tries, before := 0, syscall.Gettid()
	for syscall.Gettid() == before {
		syscall.Nanosleep(&syscall.Timespec{Nsec: 20000000}, nil)
		tries++
	}
	atomic.AddInt64(&moves.Returns, 1)
	return tries
}

// While others take the threads.
func moveAmongOthers(times int) {
	var stop int32
	for i := 0; i < 3; i++ {
		go func() {
			for atomic.LoadInt32(&stop) == 0 {
				runtime.Gosched()
			}
		}()
	}
	for i := 0; i < times; i++ {
		move()
	}
	atomic.StoreInt32(&stop, 1)
}

//go:noinline
func fib(n int) int {
	atomic.AddInt64(&fibs.Calls, 1)
	if n%5 == 2 {
		runtime.Gosched()
	}
	sum := n
	if n > 1 {
		sum = fib(n-1) + fib(n-2)
	}
	atomic.AddInt64(&fibs.Returns, 1)
	return sum
}

// Its stack is copied to a larger one again and again.
//
//go:noinline
func deep(n int) int {
	var room [64]int
	atomic.AddInt64(&deeps.Calls, 1)
	room[n%64] = n
	if n > 0 {
		room[n%64] += deep(n - 1)
	}
	atomic.AddInt64(&deeps.Returns, 1)
	return room[n%64]
}

//go:noinline
func throw(n int) int {
	atomic.AddInt64(&throws.Calls, 1)
	if n == 0 {
		panic("thrown")
	}
	n += throw(n - 1)
	atomic.AddInt64(&throws.Returns, 1)
	return n
}

//go:noinline
func catch(n int) (caught int) {
	atomic.AddInt64(&catches.Calls, 1)
	defer func() {
		if recover() != nil {
			caught = n
		}
		atomic.AddInt64(&catches.Returns, 1)
	}()
	return throw(n)
}

// Ends its goroutine, whose memory the next ones get.
//
//go:noinline
func leave(n int) int {
	atomic.AddInt64(&leaves.Calls, 1)
	if n == 0 {
		runtime.Goexit()
	}
	return leave(n-1) + 1
}

// Does not return before the program ends.
//
//go:noinline
func wait(begun chan<- int, until <-chan int) int {
	atomic.AddInt64(&waits.Calls, 1)
	begun <- 1
	return <-until
}

//go:noinline
func split(n int) (int, int) {
	atomic.AddInt64(&splits.Calls, 1)
	atomic.AddInt64(&splits.Returns, 1)
	return n / 2, n - n/2
}

//go:noinline
func half(of float64, n int) float64 {
	atomic.AddInt64(&halves.Calls, 1)
	atomic.AddInt64(&halves.Returns, 1)
	return of / 2 * float64(n)
}

func together(n int, run func(i int)) {
	var all sync.WaitGroup
	for i := 0; i < n; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			run(i)
		}(i)
	}
	all.Wait()
}

func main() {
	in := bufio.NewReader(os.Stdin)
	in.ReadString('\n')
	runtime.GOMAXPROCS(2)
	account, begun := &Account{}, make(chan int)
	moveAmongOthers(5)
	together(goroutines, func(i int) { fib(12) })
	for i := 0; i < 3; i++ {
		together(goroutines, func(i int) { leave(i) })
		together(goroutines, func(i int) { deep(100 * i) })
	}
	together(goroutines, func(i int) { catch(i) })
	for i := 0; i < 10; i++ {
		account.Add(i, []string{"", "one", "two words"}[i%3])
		Max(i, 5)
		split(i)
		half(float64(i), i)
	}
	for i := 0; i < 3; i++ {
		go wait(begun, make(chan int))
		<-begun
	}
	json.NewEncoder(os.Stdout).Encode(map[string]count{"fib": fibs, "deep": deeps, "throw": throws, "catch": catches,
		"(*Account).Add": adds, "Max[go.shape.int_0]": maxima, "leave": leaves, "wait": waits, "split": splits,
		"half": halves, "move": moves})
	in.ReadString('\n')
}
