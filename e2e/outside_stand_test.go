package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/trial"
)

var folder string // of the programs; "" if no test has built them

var build = sync.OnceValue(func() (err error) {
	if folder, err = os.MkdirTemp("", "outside"); err != nil {
		return err
	}
	programs := []string{"devnet", "server", "cli"}
	args := []string{"build", "-ldflags=-s -w", "-o", folder + "/"}
	for _, name := range programs {
		args = append(args, "github.com/swapper-go/swapper/examples/"+name)
	}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
})

// stand is a local network and a service, each a process of its own.
type stand struct {
	*testing.T
	dir  string // of the files that the documents name
	base string // of the service
	says struct {
		Control string
		Bitcoin struct{ REST string }
		EVM     struct{ RPC string }
		Users   struct {
			EVM, Solana, Starknet, Bitcoin, Taproot struct{ Address, PublicKey string }
		}
		LNURL struct{ Pay, Withdraw, Address string }
	}
}

// newStand starts both, the network with one version of Solana's swap program.
func newStand(t *testing.T, solana string) *stand {
	t.Helper()
	trial.Do(t, build())
	s := &stand{T: t, dir: t.TempDir()}
	local := trial.Must(os.Create(filepath.Join(s.dir, "local.json")))(t)
	defer local.Close()
	s.start(local, "devnet", "-mine", "500ms", "-solana", solana, "-starknet")
	s.eventually("the network", func() error {
		text, err := os.ReadFile(local.Name())
		if err != nil {
			return err
		}
		return json.Unmarshal(text, &s.says)
	})
	settings, err := os.ReadFile("../examples/server/config.local.yaml")
	if err == nil {
		err = os.WriteFile(filepath.Join(s.dir, "config.yaml"), settings, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	address := trial.Must(loopback.FreeAddress())(t)
	s.start(nil, "server", "-config", "config.yaml", "-listen", address)
	s.base = "http://" + address
	s.eventually("the service", func() error { return get(s.base+"/readyz", nil) })
	return s
}

// start starts a program, which the test's end interrupts.
func (s *stand) start(out io.Writer, name string, args ...string) {
	s.Helper()
	var said bytes.Buffer
	c := exec.Command(filepath.Join(folder, name), args...)
	c.Dir, c.Stdout, c.Stderr = s.dir, out, &said
	trial.Do(s, c.Start())
	s.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM) // or it is gone, which Wait says
		if err := c.Wait(); err != nil || s.Failed() {
			s.Errorf("%s: %v\n%s", name, err, said.Bytes())
		}
	})
}

// eventually waits until something works.
func (s *stand) eventually(what string, works func() error) {
	s.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		err := works()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			s.Fatalf("%s: %v", what, err)
		}
	}
}

// post makes a control call.
func (s *stand) post(path string, query url.Values, body any) (answer map[string]json.RawMessage) {
	s.Helper()
	text := trial.Must(json.Marshal(body))(s)
	trial.Do(s, ask(http.MethodPost, s.says.Control+path+"?"+query.Encode(), text, &answer))
	return answer
}

func get(url string, into any) error { return ask(http.MethodGet, url, nil, into) }

// ask makes a request and reads its JSON.
func ask(method, url string, body []byte, into any) error {
	r, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	client := http.Client{Timeout: time.Minute}
	resp, err := client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("%s %s: %s: %s", method, url, resp.Status, text)
	case into == nil:
		return nil
	}
	return json.Unmarshal(text, into)
}

// read reads a part of an answer.
func (s *stand) read(raw json.RawMessage, into any) {
	s.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		s.Fatalf("%s: %v", raw, err)
	}
}
