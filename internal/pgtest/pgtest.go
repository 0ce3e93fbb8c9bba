//go:build unix

package pgtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// variable is the environment variable with the connection string of a server
// for tests. Each test makes a schema of its own there and drops it.
const variable = "SWAPPER_POSTGRES"

var shared = sync.OnceValues(func() (*Server, error) { return start(false) })

// DSN returns the connection string of the server that the tests of this process
// share. Without one the test is skipped.
func DSN(t testing.TB) string {
	t.Helper()
	if dsn := os.Getenv(variable); dsn != "" {
		return dsn
	}
	s, err := shared()
	skip(t, err)
	return s.DSN()
}

// With returns a connection string, in either form, with one more parameter.
func With(t testing.TB, dsn, key, value string) string {
	t.Helper()
	if !strings.Contains(dsn, "://") {
		return dsn + " " + key + "=" + value
	}
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatalf("%s is not a URL: %v", variable, err)
	}
	q := u.Query()
	q.Set(key, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// errNone: the machine has no PostgreSQL.
var errNone = errors.New("no PostgreSQL found in $PATH and /usr/lib/postgresql/*/bin")

func skip(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, errNone) {
		t.Skipf("NOT TESTED against PostgreSQL: %v. Install Debian's postgresql, or set %s to the connection string of a server for tests.", err, variable)
	} else if err != nil {
		t.Fatalf("PostgreSQL is installed, but cannot be started: %v", err)
	}
}

// Schema returns the name of a schema that is dropped after the test.
func Schema(t testing.TB, dsn string) string {
	t.Helper()
	name := "test_" + strings.ToLower(rand.Text())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		c, err := pgx.Connect(ctx, dsn)
		if err != nil {
			t.Errorf("drop schema %s: %v", name, err)
			return
		}
		defer c.Close(ctx)
		if _, err := c.Exec(ctx, "drop schema if exists "+name+" cascade"); err != nil {
			t.Errorf("drop schema %s: %v", name, err)
		}
	})
	return name
}

// Server is a server that a test has to itself, to kill it.
type Server struct {
	dir     string
	bin     string
	as      *syscall.Credential // nil: ourselves
	durable bool
	cmd     *exec.Cmd
	stop    io.Closer // closed, or lost with this process: the server is shut down
}

// Start starts a server that forces what it acknowledges to disk, and that ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	s, err := start(true)
	skip(t, err)
	t.Cleanup(func() {
		_ = s.stop.Close()
		_ = s.cmd.Wait() // the guard ends when the server has
		_ = os.RemoveAll(s.dir)
	})
	return s
}

// programs returns the folder with initdb and postgres.
func programs() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), "postgres")); err == nil {
				return filepath.Dir(path), nil
			}
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is valid
	if len(found) == 0 {
		return "", errNone
	}
	slices.SortFunc(found, func(a, b string) int { return len(a) - len(b) + strings.Compare(a, b) })
	return filepath.Dir(found[len(found)-1]), nil
}

// start makes a database in a new folder. PostgreSQL refuses to run as root: for
// root it runs as the user postgres or, without one, as the unprivileged user of Unix.
func start(durable bool) (_ *Server, err error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pgtest")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, bin: bin, durable: durable}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir) // err says what went wrong
		}
	}()
	if os.Getuid() == 0 {
		if s.as, err = another(); err != nil {
			return nil, err
		}
		if err := os.Chown(dir, int(s.as.Uid), int(s.as.Gid)); err != nil {
			return nil, err
		}
	}
	initdb := s.command(filepath.Join(bin, "initdb"), "--no-sync", "--username=test", "--auth=trust", "--encoding=UTF8", "--locale=C", "-D", s.data())
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, bytes.TrimSpace(out))
	}
	return s, s.run()
}

// another returns a user of the system to run PostgreSQL as: its own, or the one that has no rights.
func another() (*syscall.Credential, error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(uidErr, gidErr); err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("PostgreSQL refuses to run as root, and there is no other user to run it as: create the user postgres")
}

func (s *Server) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir = s.dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.as, Setpgid: true}
	return c
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// Socket is the path of the unix socket that the server listens on.
func (s *Server) Socket() string { return filepath.Join(s.dir, ".s.PGSQL.5432") }

// DSN is the connection string of the server.
func (s *Server) DSN() string { return "host=" + s.dir + " port=5432 user=test dbname=postgres" }

// guard runs the server until its input ends, which it does with this process, however that ends.
const guard = `"$@" >>log 2>&1 </dev/null & server=$!; echo $server; cat >/dev/null; kill -INT $server 2>/dev/null; wait $server; [ "$keep" = 1 ] || { dir=$PWD; cd /; rm -rf "$dir"; }`

func (s *Server) run() error {
	fsync := "off"
	if s.durable {
		fsync = "on"
	}
	s.cmd = s.command("sh", "-c", guard, "sh", filepath.Join(s.bin, "postgres"), "-D", s.data(), "-k", s.dir,
		"-c", "listen_addresses=", "-c", "fsync="+fsync, "-c", "max_connections=200", "-c", "log_min_messages=fatal")
	if s.durable {
		s.cmd.Env = append(s.cmd.Env, "keep=1") // it is started again after it was killed
	}
	in, err := s.cmd.StdinPipe()
	if err != nil {
		return err
	}
	s.stop = in
	if err := s.cmd.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		c, err := pgx.Connect(ctx, s.DSN())
		if err == nil {
			return c.Close(ctx)
		}
		if ctx.Err() != nil {
			log, _ := os.ReadFile(filepath.Join(s.dir, "log")) // what there is of it
			return errors.Join(fmt.Errorf("the server does not come up: %w: %s", err, bytes.TrimSpace(log)), in.Close())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Kill kills the server and all its processes at once, as a crash would.
func (s *Server) Kill() error {
	text, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	if err != nil {
		return err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	master, err := strconv.Atoi(line)
	if err != nil {
		return err
	}
	if err := syscall.Kill(master, syscall.SIGSTOP); err != nil { // it starts no other
		return err
	}
	if err := until(master, "T"); err != nil {
		return err
	}
	children, err := childrenOf(master)
	if err != nil {
		return err
	}
	all := append(children, master)
	for _, pid := range all {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	for _, pid := range all { // a server does not start while one of an earlier one has its memory
		if err := until(pid, "Z"); err != nil {
			return err
		}
	}
	_ = s.stop.Close()
	_ = s.cmd.Wait() // says that it was killed
	return nil
}

// Restart starts the server again after Kill.
func (s *Server) Restart() error { return s.run() }

// state returns the state of a process and its parent, from /proc: pid (name) state parent ...
func state(pid int) (is string, parent int, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0, false
	}
	f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(f) < 2 {
		return "", 0, false
	}
	parent, err = strconv.Atoi(f[1])
	return f[0], parent, err == nil
}

// until waits until a process is in a state, or is not there.
func until(pid int, want string) error {
	for range 2000 {
		if is, _, ok := state(pid); !ok || is == want {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return fmt.Errorf("process %d does not come to state %s", pid, want)
}

// childrenOf lists the processes that another has started.
func childrenOf(parent int) ([]int, error) {
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	var children []int
	for _, folder := range folders {
		pid, err := strconv.Atoi(filepath.Base(folder))
		if err != nil {
			return nil, err
		}
		if _, of, ok := state(pid); ok && of == parent {
			children = append(children, pid)
		}
	}
	return children, nil
}
