//go:build unix

package scale

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

// process is one of the processes that share the swaps.
type process struct {
	swapper.Service // of its service
	url             string
	cmd             *exec.Cmd
	stdin           io.Closer
	log             *tail
	ended           chan struct{} // closed when it is gone and all that it said was read
	err             error         // how it ended, once ended is closed
}

// spawn starts a process and waits until it is ready or gone. looked hears of each pass,
// remembered, which may be nil, of its memory.
func spawn(ctx context.Context, o child, looked, remembered func(string)) (*process, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(os.Args[0]), ended: make(chan struct{}), log: new(tail)}
	p.cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	p.cmd.Stderr = p.log
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
			if id, ok := strings.CutPrefix(lines.Text(), sayLook); ok {
				looked(id)
			}
			if text, ok := strings.CutPrefix(lines.Text(), sayMuch); ok && remembered != nil {
				remembered(text)
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
		return nil, fmt.Errorf("the process did not start: %w\n%s", p.err, p.log)
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), p.stop())
	}
}

// createGas makes a gas swap.
func (p *process) createGas(ctx context.Context, in swapper.CreateGasSwapInput) (*swapper.CreateSwapOutput, error) {
	text, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+gasPath, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		reason, err := io.ReadAll(answer.Body)
		return nil, errors.Join(fmt.Errorf("createGasSwap: %s", reason), err)
	}
	out := new(swapper.CreateSwapOutput)
	return out, json.NewDecoder(answer.Body).Decode(out)
}

// kill ends the process as a crash would, and waits for it.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may be gone
	<-p.ended
}

func (p *process) pause() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }
func (p *process) goOn() error  { return p.cmd.Process.Signal(syscall.SIGCONT) }
func (p *process) isGone() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// stop ends the process and waits for it. One that does not end is killed.
func (p *process) stop() error {
	_ = p.stdin.Close() // it is closed already if the process is gone
	select {
	case <-p.ended:
	case <-time.After(time.Minute):
		p.kill()
		return fmt.Errorf("the process did not stop\n%s", p.log)
	}
	if p.err != nil {
		return fmt.Errorf("the process stopped badly: %w\n%s", p.err, p.log)
	}
	return nil
}

// tail keeps the end of a log, and how often each of its warnings came.
type tail struct {
	mu   sync.Mutex
	last bytes.Buffer
}

const tailBytes = 1 << 16

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last.Len()+len(b) > tailBytes {
		t.last.Next(min(t.last.Len(), tailBytes/2))
	}
	return t.last.Write(b)
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last.String()
}
