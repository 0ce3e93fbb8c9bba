//go:build unix

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/httpapi"
)

// process is a client in a process of its own. Its service is spoken to over HTTP,
// so that nothing of the user is lost with it.
type process struct {
	swapper.Service // of its service; nil if it died before it was ready
	url             string
	cmd             *exec.Cmd
	stdin           io.Closer
	log             bytes.Buffer  // read once ended is closed
	ended           chan struct{} // closed when it is gone and all that it said was read
	err             error         // how it ended, once ended is closed

	mu     sync.Mutex
	passed []string // points
}

// spawn starts a process and waits until it is ready or gone.
func spawn(ctx context.Context, o mortal) (*process, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(os.Args[0]), ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), mortalEnv+"="+string(text))
	p.cmd.Stderr = &p.log
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	ready := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			if point, ok := strings.CutPrefix(lines.Text(), sayPoint); ok {
				p.mu.Lock()
				p.passed = append(p.passed, point)
				p.mu.Unlock()
			}
			if url, ok := strings.CutPrefix(lines.Text(), sayReady); ok {
				ready <- url
			}
		}
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	select {
	case p.url = <-ready:
		p.Service, err = httpapi.NewClient(p.url, httpapi.ClientOptions{})
		return p, err
	case <-p.ended:
		if !p.killed() {
			return nil, fmt.Errorf("the process did not start: %w\n%s", p.err, p.log.Bytes())
		}
		return p, nil
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), p.stop())
	}
}

// beside calls what the process serves beside the operations.
func (p *process) beside(ctx context.Context, path string, in, out any) error {
	text, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		reason, err := io.ReadAll(answer.Body)
		return errors.Join(fmt.Errorf("%s: %s", path, reason), err)
	}
	return json.NewDecoder(answer.Body).Decode(out)
}

// points returns the points that were passed so far.
func (p *process) points() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.passed...)
}

// killed reports whether a process that has ended was killed.
func (p *process) killed() bool {
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// gone reports whether the process has died, which is why a call failed, or does
// so within a moment.
func (p *process) gone() bool {
	select {
	case <-p.ended:
		return true
	case <-time.After(time.Second):
		return false
	}
}

// stop ends the process and waits for it. One that does not end is killed.
func (p *process) stop() error {
	_ = p.stdin.Close() // it is closed already if the process is gone
	select {
	case <-p.ended:
	case <-time.After(30 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.ended
		return fmt.Errorf("the process did not stop\n%s", p.log.Bytes())
	}
	if p.err != nil && !p.killed() {
		return fmt.Errorf("the process stopped badly: %w\n%s", p.err, p.log.Bytes())
	}
	return nil
}
