package bolt

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/swapper-go/swapper/storage"
)

// The kernel hands system calls of a process over to whoever has asked for that
// (seccomp's user notifications), who may answer them in the kernel's place. So a
// process of its own can have a disk that fails at whatever moment is wanted, without
// rights and without anything to be mounted.

// machine has the numbers of the system calls that write to a file.
type machine struct {
	audit, seccomp                      uint32
	pwrite, fdatasync, fsync, ftruncate uint32
}

var machines = map[string]machine{
	"amd64": {audit: 0xc000003e, seccomp: 317, pwrite: 18, fdatasync: 75, fsync: 74, ftruncate: 77},
	"arm64": {audit: 0xc00000b7, seccomp: 277, pwrite: 68, fdatasync: 83, fsync: 82, ftruncate: 46},
}

// call is a system call that is about to be made.
type call struct {
	number uint32
	offset int64 // of a write
}

// judge has all writing system calls of this process answered by decide: 0 lets the
// kernel carry out the call, an error number is its outcome. It lasts as long as the process.
func judge(m machine, decide func(call) syscall.Errno) error {
	type instruction struct {
		code   uint16
		jt, jf uint8
		k      uint32
	}
	const (
		load, jump, ret = 0x20, 0x15, 0x06
		allow, notify   = 0x7fff0000, 0x7fc00000
	)
	program := []instruction{
		{load, 0, 0, 4}, {jump, 0, 6, m.audit}, {load, 0, 0, 0},
		{jump, 3, 0, m.pwrite}, {jump, 2, 0, m.fdatasync}, {jump, 1, 0, m.fsync}, {jump, 0, 1, m.ftruncate},
		{ret, 0, 0, notify}, {ret, 0, 0, allow},
	}
	filter := struct {
		size uint16
		_    [6]byte
		at   *instruction
	}{size: uint16(len(program)), at: &program[0]}
	const noNewPrivileges, setFilter, newListener, allThreads, allThreadsError = 38, 1, 1 << 3, 1, 1 << 4
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, noNewPrivileges, 1, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	listener, _, errno := syscall.RawSyscall(uintptr(m.seccomp), setFilter, newListener|allThreads|allThreadsError, uintptr(unsafe.Pointer(&filter)))
	runtime.KeepAlive(program)
	if errno != 0 {
		return errno
	}
	go func() {
		runtime.LockOSThread()
		for {
			var asked struct {
				id         uint64
				pid, flags uint32
				number     uint32
				audit      uint32
				at         uint64
				args       [6]uint64
			}
			const receive, send = 0xc0502100, 0xc0182101
			if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, listener, receive, uintptr(unsafe.Pointer(&asked))); errno != 0 {
				continue // the call was interrupted, and will be made again
			}
			answer := struct {
				id    uint64
				value int64
				error int32
				flags uint32
			}{id: asked.id, flags: 1} // go on
			if errno := decide(call{asked.number, int64(asked.args[3])}); errno != 0 {
				answer.flags, answer.error = 0, -int32(errno)
			}
			_, _, _ = syscall.Syscall(syscall.SYS_IOCTL, listener, send, uintptr(unsafe.Pointer(&answer))) // fails if the call was interrupted
		}
	}()
	return nil
}

// diskFault says which system calls of a store fail, by how many of their kind came
// before since it began to.
type diskFault struct {
	name  string
	fails func(m machine, c call, nth map[uint32]int) syscall.Errno
	// unknown: the outcome of a write may be, after which nothing is written any more.
	unknown bool
}

func diskFaults() (all []diskFault) {
	for n := range 6 {
		all = append(all, diskFault{name: fmt.Sprintf("sync %d fails", n+1), unknown: n%2 == 1, // those of the meta page
			fails: func(m machine, c call, nth map[uint32]int) syscall.Errno {
				if c.number == m.fdatasync && nth[c.number] == n {
					return syscall.EIO
				}
				return 0
			}})
	}
	for n := range 12 {
		all = append(all, diskFault{name: fmt.Sprintf("write %d fails", n+1), fails: func(m machine, c call, nth map[uint32]int) syscall.Errno {
			if c.number == m.pwrite && nth[c.number] == n {
				return syscall.EIO
			}
			return 0
		}})
	}
	return append(all,
		diskFault{name: "every sync fails", fails: func(m machine, c call, _ map[uint32]int) syscall.Errno {
			if c.number == m.fdatasync || c.number == m.fsync {
				return syscall.EIO
			}
			return 0
		}},
		diskFault{name: "full", fails: func(m machine, c call, _ map[uint32]int) syscall.Errno {
			if c.number == m.pwrite || c.number == m.ftruncate {
				return syscall.ENOSPC
			}
			return 0
		}},
		diskFault{name: "full, but for what the file has already", fails: func(m machine, c call, _ map[uint32]int) syscall.Errno {
			if c.number == m.ftruncate || c.number == m.pwrite && c.offset >= 256<<10 {
				return syscall.ENOSPC
			}
			return 0
		}},
		diskFault{name: "the meta pages cannot be written", fails: func(m machine, c call, _ map[uint32]int) syscall.Errno {
			if c.number == m.pwrite && c.offset < 8192 {
				return syscall.EIO
			}
			return 0
		}},
		diskFault{name: "every other call fails", fails: func(m machine, c call, nth map[uint32]int) syscall.Errno {
			if nth[c.number]%2 == 1 {
				return syscall.EIO
			}
			return 0
		}},
	)
}

// failingDisk is the process with the disk. It prints what became of each write.
func failingDisk(text string) {
	if err := tryFailingDisk(context.Background(), text); err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
}

// Writes of the process: before the fault, during, and once it is over.
const beforeFault, duringFault, afterFault = 5, 30, 10

func tryFailingDisk(ctx context.Context, text string) error {
	path, name, _ := strings.Cut(text, " ")
	var fault diskFault
	for _, f := range diskFaults() {
		if f.name == name {
			fault = f
		}
	}
	s, err := Open(ctx, path, Options{})
	if err != nil {
		return err
	}
	m := machines[runtime.GOARCH]
	var mu sync.Mutex
	active, nth := false, map[uint32]int{}
	if err := judge(m, func(c call) syscall.Errno {
		mu.Lock()
		defer mu.Unlock()
		if !active {
			return 0
		}
		defer func() { nth[c.number]++ }()
		return fault.fails(m, c, nth)
	}); err != nil {
		fmt.Println("none", err)
		return nil
	}
	set := func(on bool) { mu.Lock(); active = on; mu.Unlock() }
	stopped := false
	for i := range beforeFault + duringFault + afterFault {
		switch i {
		case beforeFault:
			set(true)
		case beforeFault + duringFault:
			set(false)
		}
		e := swap(i)
		err := s.Create(ctx, e)
		what := "refused"
		switch {
		case err == nil:
			what = "done"
		case errors.Is(err, storage.ErrUnknown):
			what = "unknown"
		}
		if stopped && err == nil {
			return fmt.Errorf("write %d: the store goes on after an outcome that it could not tell", i)
		}
		stopped = stopped || what == "unknown"
		if i >= beforeFault+duringFault && err != nil && !stopped {
			return fmt.Errorf("write %d: with a disk that works again: %w", i, err)
		}
		// What was written is read, what was refused is not, while the disk fails and after.
		switch got, err := s.Get(ctx, e.ID); {
		case what == "done" && (err != nil || string(got.Body) != string(e.Body)):
			return fmt.Errorf("write %d is done, and reads as %w", i, err)
		case what == "refused" && !errors.Is(err, storage.ErrNotFound):
			return fmt.Errorf("write %d was refused, and reads as %w", i, err)
		}
		fmt.Println(what, i)
	}
	return s.Close()
}

// TestFailingDisk has writes and syncs of the disk fail at one moment after the other,
// and all of them for a while. Whatever was acknowledged is there afterwards, whatever
// was refused is not, and the store goes on by itself, unless the disk failed where it
// cannot tell any more what counts: then it has said so, and writes nothing until it is
// opened anew.
func TestFailingDisk(t *testing.T) {
	if _, known := machines[runtime.GOARCH]; !known {
		t.Skipf("the disk is made to fail at system calls, whose numbers on %s the test does not know", runtime.GOARCH)
	}
	for _, fault := range diskFaults() {
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "swaps")
			command := exec.Command(os.Args[0])
			command.Env = append(os.Environ(), faultStore+"="+path+" "+fault.name, "GODEBUG=asyncpreemptoff=1")
			out, err := command.CombinedOutput()
			if err != nil {
				t.Fatalf("%v:\n%s", err, out)
			}
			s := openTest(t, path, Options{})
			if err := s.Verify(t.Context()); err != nil {
				t.Error(err)
			}
			counts := map[string]int{}
			for lines := bufio.NewScanner(strings.NewReader(string(out))); lines.Scan(); {
				var what string
				var i int
				if strings.HasPrefix(lines.Text(), "none ") {
					t.Skipf("this system has no notifications of system calls: %s", lines.Text())
				}
				if _, err := fmt.Sscan(lines.Text(), &what, &i); err != nil {
					t.Fatalf("the process said %q", lines.Text())
				}
				counts[what]++
				e := swap(i)
				got, err := s.Get(t.Context(), e.ID)
				there := err == nil && string(got.Body) == string(e.Body) && got.Version == 1
				if what == "done" && !there || what == "refused" && !errors.Is(err, storage.ErrNotFound) || what == "unknown" && !there && !errors.Is(err, storage.ErrNotFound) {
					t.Errorf("write %d is %s, and reads as version %d, %v", i, what, got.Version, err)
				}
			}
			t.Logf("%v", counts)
			switch all := beforeFault + duringFault + afterFault; {
			case counts["done"]+counts["refused"]+counts["unknown"] != all:
				t.Errorf("%v are not %d writes", counts, all)
			case counts["done"] == all:
				t.Error("nothing failed: the test has shown nothing")
			case (counts["unknown"] == 1) != fault.unknown:
				t.Errorf("%v: the outcome of a write was not known", counts)
			case counts["unknown"] == 0 && counts["done"] < beforeFault+afterFault:
				t.Errorf("%v: the store did not go on", counts)
			}
			if err := s.Create(t.Context(), storage.Entry{ID: "after"}); err != nil {
				t.Error(err)
			}
		})
	}
}
