package noderpc_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/backendtest"
	"github.com/swapper-go/swapper/chains/bitcoin/noderpc"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/single"
	devnet "github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/trial"
)

// btcd is a real btcd process on regtest.
type btcd struct {
	*noderpc.Indexed
	options noderpc.Options
	log     *words
	ended   chan struct{} // closed when the process has ended
}

// words are what a process says.
type words struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *words) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *words) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Bounds on what is waited for. A build on a machine that has none of the
// modules yet fetches some 20 MB.
const (
	buildTime = 8 * time.Minute
	startTime = time.Minute
	stopTime  = 20 * time.Second
)

// soon is a context that ends after d, or a minute before the test binary is
// killed if that comes first: then there is still time to say why.
func soon(t testing.TB, d time.Duration) (context.Context, context.CancelFunc) {
	end := time.Now().Add(d)
	if test, ok := t.(*testing.T); ok {
		if kill, ok := test.Deadline(); ok && kill.Add(-time.Minute).Before(end) {
			end = kill.Add(-time.Minute)
		}
	}
	return context.WithDeadlineCause(t.Context(), end, fmt.Errorf("not done within %s", time.Until(end).Round(time.Second)))
}

// built is the path of btcd, once it is built.
var built struct {
	sync.Mutex
	path string
}

// buildBtcd builds btcd, which is one of the tools of this module, unless the build cache
// has it, and returns the path of the program.
func buildBtcd(t testing.TB) string {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	if built.path != "" {
		return built.path
	}
	ctx, cancel := soon(t, buildTime)
	defer cancel()
	build := exec.CommandContext(ctx, "go", "tool", "-modfile="+filepath.Join("tools", "go.mod"), "-n", "github.com/btcsuite/btcd")
	build.Dir = moduleRoot(t)
	build.WaitDelay = stopTime
	build.Stderr = new(bytes.Buffer)
	out, err := build.Output()
	if err != nil {
		t.Fatalf("btcd cannot be built here, so the RPC backend stays untested: %v (%v)\n%s", err, context.Cause(ctx), build.Stderr)
	}
	built.path = strings.TrimSpace(string(out))
	return built.path
}

// startBtcd runs btcd with the given flags.
func startBtcd(t testing.TB, flags ...string) *btcd {
	t.Helper()
	dir, program := t.TempDir(), buildBtcd(t)
	address := trial.Must(loopback.FreeAddress())(t)
	config := filepath.Join(dir, "btcd.conf")
	trial.Do(t, os.WriteFile(config, nil, 0o600))
	b := &btcd{log: new(words), ended: make(chan struct{}), options: noderpc.Options{
		Network: bitcoin.Regtest, URL: "https://" + address, User: "user", Password: "secret",
		CertFile: filepath.Join(dir, "rpc.cert"), MempoolAge: -1,
	}}
	key := filepath.Join(dir, "rpc.key")
	if !trial.Full() {
		certify(t, b.options.CertFile, key)
	}
	cmd := exec.Command(program, append(flags, "--regtest", "--nolisten", "--nodnsseed", "--rpcuser=user", "--rpcpass=secret",
		"--rpclisten="+address, "--rpccert="+b.options.CertFile, "--rpckey="+key,
		"--configfile="+config, "--datadir="+filepath.Join(dir, "data"), "--logdir="+filepath.Join(dir, "log"))...)
	cmd.Env = append(os.Environ(), "HOME="+dir)
	cmd.Stdout, cmd.Stderr = b.log, b.log
	trial.Do(t, cmd.Start())
	go func() {
		defer close(b.ended)
		_ = cmd.Wait() // its exit status after an interrupt says nothing
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		select {
		case <-b.ended:
		case <-time.After(stopTime):
			_ = cmd.Process.Kill()
			<-b.ended
		}
		if t.Failed() {
			t.Logf("btcd said:\n%s", b.log)
		}
	})
	b.Indexed = b.connect(t).Indexed()
	return b
}

// certify writes a certificate like that which btcd makes for itself, but of a key that costs little: it ends
// every connection after one answer, and with its own key half of the tests' time would be that of handshakes.
func certify(t testing.TB, cert, key string) {
	t.Helper()
	private := trial.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true}
	public := trial.Must(x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private))(t)
	secret := trial.Must(x509.MarshalECPrivateKey(private))(t)
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: public}, key: {Type: "EC PRIVATE KEY", Bytes: secret}} {
		trial.Do(t, os.WriteFile(name, pem.EncodeToMemory(block), 0o600))
	}
}

// connect waits until the node answers, as long as it runs.
func (b *btcd) connect(t testing.TB) *noderpc.Client {
	t.Helper()
	ctx, cancel := soon(t, startTime)
	defer cancel()
	for {
		c, err := noderpc.New(b.options)
		if err == nil {
			if _, err = c.TipHeight(ctx); err == nil {
				t.Cleanup(func() { _ = c.Close() })
				return c
			}
		}
		select {
		case <-b.ended:
			t.Fatalf("btcd has ended: %v", err)
		case <-ctx.Done():
			t.Fatalf("btcd does not answer: %v", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func moduleRoot(t testing.TB) string {
	t.Helper()
	dir := trial.Must(os.Getwd())(t)
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	t.Fatal("no go.mod above the test's folder")
	return ""
}

// mirror keeps the node and a local network in step: blocks are mined here and
// submitted there, transactions go both ways.
type mirror struct {
	net  *devnet.Net
	node *btcd
	tip  bitcoin.Hash // the last block that was submitted
}

func newMirror(t testing.TB, node *btcd) *mirror {
	t.Helper()
	n := trial.Must(devnet.Start(devnet.Options{Strict: true}))(t)
	t.Cleanup(func() { _ = n.Close() })
	genesis := trial.Must(bitcoin.ParseHash(bitcoin.Regtest.Params().GenesisHash))(t)
	m := &mirror{net: n, node: node, tip: genesis}
	m.push(t)
	return m
}

// push sends new blocks and waiting transactions to the node.
func (m *mirror) push(t testing.TB) {
	t.Helper()
	var blocks [][]any
	_, tip := m.net.Tip()
	for at := tip; at != m.tip; {
		b, height, ok := m.net.Block(at)
		if !ok || height == 0 {
			break
		}
		var raw bytes.Buffer
		trial.Do(t, b.Serialize(&raw))
		blocks = append(blocks, []any{hex.EncodeToString(raw.Bytes())})
		at = b.Header.PrevBlock
		if len(blocks) < 10 && m.known(t, at) {
			break
		}
	}
	slices.Reverse(blocks)
	for _, result := range m.node.call(t, "submitblock", blocks...) {
		if string(result) != "null" {
			t.Fatalf("submitblock: %s", result)
		}
	}
	m.tip = tip
	for _, tx := range m.net.Waiting() {
		raw := trial.Must(rawtx.Encode(tx))(t)
		if _, err := m.node.Broadcast(t.Context(), raw); err != nil {
			t.Fatal(err)
		}
	}
}

func (m *mirror) known(t testing.TB, block bitcoin.Hash) bool {
	_, err := m.node.Header(t.Context(), block)
	return err == nil
}

// pull takes transactions that were sent to the node.
func (m *mirror) pull(t testing.TB) {
	t.Helper()
	var ids []string
	trial.Do(t, json.Unmarshal(m.node.call(t, "getrawmempool", nil)[0], &ids))
	for range ids { // parents may come after their children
		again := false
		for _, text := range ids {
			id := trial.Must(bitcoin.ParseHash(text))(t)
			if m.net.InMempool(id) {
				continue
			}
			tx := trial.Must(single.Tx(t.Context(), m.node, id))(t)
			if _, err := m.net.Send(tx.Msg); err != nil {
				again = true
			}
		}
		if !again {
			return
		}
	}
}

// call makes a call that the backend has no use for, once for each list of parameters.
func (b *btcd) call(t testing.TB, method string, params ...[]any) []json.RawMessage {
	t.Helper()
	results, err := noderpc.Call(t.Context(), b.Client, method, params...)
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", method, err))
	}
	return results
}

func TestConformanceWithBtcd(t *testing.T) {
	t.Parallel()
	node := startBtcd(t, "--txindex", "--addrindex")
	m := newMirror(t, node)
	chain := devnet.NewPlayground(m.net)
	chain.Before = func(t *testing.T) { m.pull(t) }
	chain.After = func(t *testing.T) { m.push(t) }
	backendtest.Run(t, backendtest.Setup{Chain: chain, Backend: node})

	t.Run("stale header", func(t *testing.T) {
		height, stale := m.net.Tip()
		chain.Reorg(t, 3)
		fresh := trial.Must(noderpc.New(node.options))(t)
		defer fresh.Close()
		if h, err := fresh.Header(t.Context(), stale); err != nil || h.Height != height || h.Hash() != stale {
			t.Errorf("%+v, %v; want height %d", h, err, height)
		}
	})
	t.Run("another network", func(t *testing.T) {
		o := node.options
		o.Network = bitcoin.Testnet4
		wrong := trial.Must(noderpc.New(o))(t)
		defer wrong.Close()
		if _, err := wrong.TipHeight(t.Context()); fault.CodeOf(err) != fault.Upstream || !strings.Contains(err.Error(), "is not on Bitcoin") {
			t.Error(err)
		}
	})
	t.Run("wrong password", func(t *testing.T) {
		o := node.options
		o.Password = "guess"
		wrong := trial.Must(noderpc.New(o))(t)
		defer wrong.Close()
		if _, err := wrong.TipHeight(t.Context()); fault.CodeOf(err) != fault.Upstream || !strings.Contains(err.Error(), "401") {
			t.Error(err)
		}
	})
}

// TestBtcdWithoutIndexes: what the node cannot tell is said, not guessed.
func TestBtcdWithoutIndexes(t *testing.T) {
	t.Parallel()
	node := startBtcd(t)
	id := bitcoin.Hash{1}
	a := trial.Must(bitcoin.NewAddress(bitcoin.P2WPKH, make([]byte, 20), bitcoin.Regtest))(t)
	_, txErr := single.Tx(t.Context(), node, id)
	_, spendErr := single.Outspend(t.Context(), node, bitcoin.OutPoint{Hash: id})
	_, utxoErr := node.AddressUTXOs(t.Context(), a)
	for name, err := range map[string]error{"Txs": txErr, "Outspends": spendErr, "AddressUTXOs": utxoErr} {
		if fault.CodeOf(err) != fault.Unsupported {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A real btcd tells of blocks over its WebSocket, but not to whom it does not know.
func TestBtcdTellsOfBlocks(t *testing.T) {
	t.Parallel()
	node := startBtcd(t, "--txindex", "--addrindex")
	m := newMirror(t, node)
	w := trial.Must(m.net.NewWallet(bitcoin.P2WPKH))(t)
	o := node.options
	o.WebSocket = strings.Replace(o.URL, "https", "wss", 1) + "/ws"
	confirmed := make(chan bitcoin.Hash, 10)
	b := following(t, o, func(ids []bitcoin.Hash) {
		for _, id := range ids {
			confirmed <- id
		}
	})
	eventually(t, "something is heard", func() bool { return b.Heard() != 0 && b.Subscriptions()[0].Alive })
	op := trial.Must(m.net.Faucet(w.Address, 50_000))(t)
	m.push(t)
	tip := trial.Must(b.TipHeight(t.Context()))(t)
	var tx *bitcoin.Tx
	var heard uint64
	eventually(t, "a payment that waits is unchanged as of the newest block", func() bool { // once the blocks before it were told of
		heard, tx = b.Heard(), trial.Must(single.Tx(t.Context(), b, op.Hash))(t)
		asOf, unchanged := b.Unchanged(tx, heard)
		return unchanged && asOf == tip
	})
	if tx.Confirmed() {
		t.Fatalf("a payment that waits: %+v", tx)
	}
	messages := b.Subscriptions()[0].Messages
	if _, err := m.net.Mine(1); err != nil {
		t.Fatal(err)
	}
	m.push(t)
	select {
	case id := <-confirmed:
		if id != op.Hash {
			t.Errorf("told of %s, want %s", id, op.Hash)
		}
	case <-time.After(50 * time.Second): // it would be found after a minute without a message
		t.Error("not told of the payment")
	}
	if _, unchanged := b.Unchanged(tx, heard); unchanged || b.Subscriptions()[0].Messages == messages {
		t.Errorf("a payment that was confirmed is unchanged, %+v", b.Subscriptions())
	}

	o.Password = "guess"
	stranger := following(t, o, func([]bitcoin.Hash) {})
	eventually(t, "it is refused", func() bool { return stranger.Subscriptions()[0].Lost > 0 })
	if stranger.Heard() != 0 {
		t.Error("a stranger hears blocks")
	}
}
