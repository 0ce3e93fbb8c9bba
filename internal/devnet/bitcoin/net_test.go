package bitcoin

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/trial"
)

func start(t *testing.T, o Options) *Net {
	t.Helper()
	n := trial.Must(Start(o))(t)
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

func TestWalletsPayFromEveryAddressType(t *testing.T) {
	n := start(t, Options{})
	shop := trial.Must(n.NewWallet(bitcoin.P2WPKH))(t)
	for _, typ := range []bitcoin.AddressType{bitcoin.P2PKH, bitcoin.P2SH, bitcoin.P2WPKH, bitcoin.P2TR} {
		w := trial.Must(n.NewWallet(typ))(t)
		trial.Must(n.Fund(w.Address, 100_000))(t)
		trial.Must(n.Faucet(w.Address, 50_000))(t)
		if got := w.Balance(); got != 150_000 {
			t.Fatalf("%s: balance %d", typ, got)
		}
		tx := trial.Must(w.Pay(3, wire.NewTxOut(120_000, shop.Address.Script())))(t)
		if len(tx.TxIn) != 2 || !n.InMempool(tx.TxHash()) {
			t.Errorf("%s: %d inputs", typ, len(tx.TxIn))
		}
		trial.Must(n.Mine(1))(t)
		if n.InMempool(tx.TxHash()) {
			t.Errorf("%s: not mined", typ)
		}
	}
	if got := shop.Balance(); got != 4*120_000 {
		t.Errorf("shop has %d", got)
	}
	if _, err := n.NewWallet(bitcoin.P2WSH); err == nil {
		t.Error("a wallet for p2wsh")
	}
}

func TestHeadersHaveWorkAndTime(t *testing.T) {
	at := time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)
	n := start(t, Options{Now: func() time.Time { return at }, Blocks: 20})
	at = at.Add(time.Hour)
	trial.Must(n.Mine(3))(t)
	var chain []bitcoin.Header
	for h := range uint32(24) {
		chain = append(chain, trial.Must(n.Header(h))(t))
	}
	if err := bitcoin.CheckHeaders(bitcoin.Regtest, chain[0], chain[1:]); err != nil {
		t.Error(err)
	}
	if chain[0].Hash().String() != bitcoin.Regtest.Params().GenesisHash {
		t.Error("not regtest's genesis block")
	}
	if got := chain[20].Time; got != uint32(at.Add(-time.Hour).Unix()) {
		t.Errorf("the last of the first blocks is of %d", got)
	}
	if got := chain[21].Time; got != uint32(at.Unix()) {
		t.Errorf("a block mined at %d is of %d", at.Unix(), got)
	}
}

// A branch as long as what it replaces, or shorter, is the chain that is shown, and
// what was in the old blocks waits, also where branches were replaced before.
func TestBranchesOfAnyLength(t *testing.T) {
	n := start(t, Options{})
	w := trial.Must(n.NewWallet(bitcoin.P2TR))(t)
	trial.Must(n.Mine(2))(t)
	op := trial.Must(n.Fund(w.Address, 100_000))(t)
	for _, c := range []struct{ depth, length int }{ // the transaction is in the newest block each time
		{1, 1}, {3, 1}, {2, 2}, {1, 2}, {2, 1}, {3, 3}, {3, 2},
	} {
		height, old := n.Tip()
		if err := n.Branch(c.depth, c.length); err != nil {
			t.Fatalf("%d by %d: %v", c.depth, c.length, err)
		}
		if h, hash := n.Tip(); int(h) != int(height)-c.depth+c.length || hash == old {
			t.Errorf("%d by %d: tip %d %s after %d %s", c.depth, c.length, h, hash, height, old)
		}
		if !n.InMempool(op.Hash) || w.Balance() != 100_000 {
			t.Errorf("%d by %d: the transaction of the replaced block is lost", c.depth, c.length)
		}
		trial.Must(n.Mine(1))(t)
		if coins := w.Coins(); len(coins) != 1 || int(coins[0].Height) != int(height)-c.depth+c.length+1 {
			t.Errorf("%d by %d: coins %+v", c.depth, c.length, coins)
		}
	}
	for _, c := range []struct{ depth, length int }{{0, 1}, {1, 0}, {1000, 1}} {
		if err := n.Branch(c.depth, c.length); err == nil {
			t.Errorf("%d by %d: no error", c.depth, c.length)
		}
	}
}

func TestReorgReturnsTransactions(t *testing.T) {
	n := start(t, Options{})
	w := trial.Must(n.NewWallet(bitcoin.P2TR))(t)
	op := trial.Must(n.Fund(w.Address, 100_000))(t)
	height, old := n.Tip()
	trial.Do(t, n.Reorg(1))
	if h, hash := n.Tip(); h != height+1 || hash == old {
		t.Errorf("tip %d %s", h, hash)
	}
	if !n.InMempool(op.Hash) || w.Balance() != 100_000 {
		t.Error("the transaction of the replaced block is lost")
	}
	trial.Must(n.Mine(1))(t)
	if c := w.Coins(); len(c) != 1 || c[0].Height != height+2 {
		t.Errorf("coins %+v", c)
	}

	// A double spend in the new branch pushes the first one out for good.
	first := trial.Must(w.Spend(2, []bitcoin.OutPoint{op}, wire.NewTxOut(1000, w.Address.Script())))(t)
	second := trial.Must(w.Spend(2, []bitcoin.OutPoint{op}, wire.NewTxOut(2000, w.Address.Script())))(t)
	trial.Must(n.Send(first))(t)
	trial.Must(n.Mine(1))(t)
	trial.Do(t, n.Reorg(1, second))
	if n.InMempool(first.TxHash()) {
		t.Error("a double-spent transaction waits")
	}
	if _, err := n.Send(first); rejected(err) != -25 {
		t.Errorf("double spend: %v", err)
	}
	if _, err := n.Send(second); rejected(err) != -27 {
		t.Errorf("already in the chain: %v", err)
	}
	if err := n.Reorg(1000); err == nil {
		t.Error("a reorganisation below the genesis block")
	}
}

func TestReplacementAndEviction(t *testing.T) {
	n := start(t, Options{})
	w := trial.Must(n.NewWallet(bitcoin.P2WPKH))(t)
	op := trial.Must(n.Fund(w.Address, 100_000))(t)
	cheap := trial.Must(w.Spend(1, []bitcoin.OutPoint{op}, wire.NewTxOut(5000, w.Address.Script())))(t)
	dear := trial.Must(w.Spend(10, []bitcoin.OutPoint{op}, wire.NewTxOut(5000, w.Address.Script())))(t)
	trial.Must(n.Send(cheap))(t)
	trial.Must(n.Send(cheap))(t) // known: fine
	trial.Must(n.Send(dear))(t)
	if n.InMempool(cheap.TxHash()) || !n.InMempool(dear.TxHash()) {
		t.Error("not replaced")
	}
	if _, err := n.Send(cheap); rejected(err) != -26 {
		t.Errorf("replacement that pays less: %v", err)
	}
	if !n.Evict(dear.TxHash()) || n.Evict(dear.TxHash()) || n.InMempool(dear.TxHash()) {
		t.Error("not evicted once")
	}
	free := trial.Must(w.Spend(0, []bitcoin.OutPoint{op}))(t)
	if _, err := n.Send(free); rejected(err) != -26 {
		t.Errorf("without a fee: %v", err)
	}
	dear.TxIn[0].Witness[0][5] ^= 1
	if _, err := n.Send(dear); rejected(err) != -26 {
		t.Errorf("bad signature: %v", err)
	}
}

func rejected(err error) int {
	if r, ok := errors.AsType[*bitcoin.RejectedError](err); ok {
		return r.Code
	}
	return 0
}

func TestErrorsOfTheRESTServer(t *testing.T) {
	n := start(t, Options{Blocks: 3})
	unknown := strings.Repeat("ab", 32)
	tests := []struct {
		path   string
		status int
		body   string
	}{
		{"blocks/tip/height", 200, "3"},
		{"block-height/0", 200, bitcoin.Regtest.Params().GenesisHash},
		{"block-height/4", 404, "Block not found"},
		{"block/" + unknown, 404, "Block not found"},
		{"block/" + unknown + "/status", 200, `{"in_best_chain":false}`},
		{"tx/" + unknown, 404, "Transaction not found"},
		{"tx/zz", 400, "Invalid hex string"},
		{"tx/" + unknown + "/hex", 404, "Transaction not found"},
		{"tx/" + unknown + "/outspends", 404, "Transaction not found"},
		{"tx/" + unknown + "/merkle-proof", 404, "Transaction not found or is unconfirmed"},
		{"address/xyz", 400, "Invalid Bitcoin address"},
		{"address/xyz/utxo", 400, "Invalid Bitcoin address"},
		{"v1/cpfp/" + unknown, 200, `{"ancestors":[]}`},
		{"v1/lightning/nodes/02ab", 404, "This node does not exist, or our node is not seeing it yet"},
		{"v1/fees/mempool-blocks", 200, "[]"},
	}
	for _, test := range tests {
		if status, body := get(t, n.URL()+test.path); status != test.status || body != test.body {
			t.Errorf("%s: %d %q, want %d %q", test.path, status, body, test.status, test.body)
		}
	}
	resp := trial.Must(http.Post(n.URL()+"tx", "", strings.NewReader("zz")))(t)
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); resp.StatusCode != 400 || !strings.HasPrefix(string(body), `sendrawtransaction RPC error: {"code":-22,`) {
		t.Errorf("broadcast of nonsense: %d %q", resp.StatusCode, body)
	}
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	resp := trial.Must(http.Get(url))(t)
	defer resp.Body.Close()
	body := trial.Must(io.ReadAll(resp.Body))(t)
	return resp.StatusCode, strings.TrimSpace(string(body))
}

func TestProof(t *testing.T) {
	n := start(t, Options{})
	w := trial.Must(n.NewWallet(bitcoin.P2WPKH))(t)
	op := trial.Must(n.Faucet(w.Address, 10_000))(t)
	if _, _, err := n.Proof(op.Hash); err == nil {
		t.Error("a proof of a transaction that waits")
	}
	trial.Must(n.Mine(1))(t)
	tx, proof, err := n.Proof(op.Hash)
	if err != nil || tx.TxHash() != op.Hash {
		t.Fatal(err)
	}
	if err := proof.Verify(trial.Must(n.Header(proof.Height))(t)); err != nil {
		t.Error(err)
	}
}
