//go:build unix

package main

import (
	"os/signal"
	"sync"
	"syscall"
)

// before is the bound of this process before it was changed.
var before = sync.OnceValues(func() (l syscall.Rlimit, err error) {
	signal.Ignore(syscall.SIGXFSZ)
	return l, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &l)
})

func boundFiles(bytes uint64) error {
	limit, err := before()
	if err != nil {
		return err
	}
	if bytes != 0 {
		limit.Cur = bytes
	}
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
}
