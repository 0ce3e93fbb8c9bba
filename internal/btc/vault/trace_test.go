package vault

import (
	"context"
	"errors"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/trial"
)

// vaultChain returns n withdrawals, each on top of the one before, the first
// on start.
func vaultChain(t *testing.T, start bitcoin.OutPoint, n int) []*bitcoin.Tx {
	t.Helper()
	var chain []*bitcoin.Tx
	data := trial.Must(rawtx.OpReturn(make([]byte, 28)))(t)
	for range n {
		msg := wire.NewMsgTx(2)
		msg.AddTxIn(&wire.TxIn{PreviousOutPoint: start, Sequence: (1 << 31)})
		msg.AddTxIn(&wire.TxIn{PreviousOutPoint: bitcoin.OutPoint{Index: 7}, Sequence: (1 << 31)})
		msg.AddTxOut(wire.NewTxOut(600, nil))
		msg.AddTxOut(wire.NewTxOut(0, data))
		msg.AddTxOut(wire.NewTxOut(5000, nil))
		chain = append(chain, &bitcoin.Tx{ID: msg.TxHash(), Msg: msg})
		start = bitcoin.OutPoint{Hash: msg.TxHash()}
	}
	return chain
}

func TestTraceVault(t *testing.T) {
	onChain := bitcoin.OutPoint{Hash: bitcoin.Hash{5}, Index: 3}
	chain := vaultChain(t, onChain, 4)
	plain := smallTx(nil)
	known := map[bitcoin.Hash]*bitcoin.Tx{plain.TxHash(): {ID: plain.TxHash(), Msg: plain}}
	for _, tx := range chain {
		known[tx.ID] = tx
	}
	lying := bitcoin.Hash{0xbb}
	known[lying] = chain[0]
	asked := 0
	fetch := func(_ context.Context, id bitcoin.Hash) (*bitcoin.Tx, error) {
		asked++
		if tx, ok := known[id]; ok {
			return tx, nil
		}
		return nil, bitcoin.ErrNotFound
	}
	out := func(n int) bitcoin.OutPoint { return bitcoin.OutPoint{Hash: chain[n-1].ID} }
	for n := 1; n <= 4; n++ {
		path, err := Trace(t.Context(), fetch, onChain, out(n), n)
		if err != nil || len(path) != n {
			t.Fatalf("%d withdrawals: found %d, %v", n, len(path), err)
		}
		state := bitcoin.VaultState{UTXO: onChain}
		for i, w := range path {
			if w.Tx != chain[i] {
				t.Errorf("%d withdrawals: number %d is %s", n, i, w.TxID)
			}
			if state, err = After(state, Pending{Withdrawal: w.Withdrawal}); err != nil {
				t.Error(err)
			}
		}
		if state.UTXO != out(n) {
			t.Errorf("%d withdrawals end at %s", n, state.UTXO)
		}
		if _, err := Trace(t.Context(), fetch, onChain, out(n), n-1); err == nil {
			t.Errorf("%d withdrawals: walked further than allowed", n)
		}
	}
	asked = 0
	if path, err := Trace(t.Context(), fetch, onChain, onChain, 0); err != nil || len(path) != 0 || asked != 0 {
		t.Errorf("nothing pending: %d, %v, asked %d times", len(path), err, asked)
	}
	for name, c := range map[string]bitcoin.OutPoint{
		"not the vault's output":    {Hash: chain[1].ID, Index: 2},
		"no withdrawal":             {Hash: plain.TxHash()},
		"a transaction in disguise": {Hash: lying},
	} {
		if _, err := Trace(t.Context(), fetch, onChain, c, 9); err == nil {
			t.Errorf("traced %s", name)
		}
	}
	// From another vault the walk ends where that one's history does.
	if _, err := Trace(t.Context(), fetch, bitcoin.OutPoint{Hash: bitcoin.Hash{6}}, out(4), MaxPendingClaimed); !errors.Is(err, bitcoin.ErrNotFound) {
		t.Errorf("another vault: %v", err)
	}
}
