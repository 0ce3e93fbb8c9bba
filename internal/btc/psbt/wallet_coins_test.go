package psbt

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// coinBackend answers only what WalletCoins asks.
type coinBackend struct {
	utxos []bitcoin.UTXO
	err   error
	cpfp  map[bitcoin.Hash]bitcoin.Result[*bitcoin.CPFP]
	asked [][]bitcoin.Hash
}

func (b *coinBackend) AddressUTXOs(context.Context, bitcoin.Address) ([]bitcoin.UTXO, error) {
	return b.utxos, b.err
}

func (b *coinBackend) CPFPs(_ context.Context, ids []bitcoin.Hash) []bitcoin.Result[*bitcoin.CPFP] {
	b.asked = append(b.asked, ids)
	var out []bitcoin.Result[*bitcoin.CPFP]
	for _, id := range ids {
		out = append(out, b.cpfp[id])
	}
	return out
}

func (b *coinBackend) ProjectedBlocks(context.Context) ([]bitcoin.ProjectedBlock, error) {
	return nil, nil
}

func TestWalletCoins(t *testing.T) {
	a := trial.Must(bitcoin.NewAddress(bitcoin.P2TR, vectors.Unhex(t, "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"), bitcoin.Regtest))(t)
	low := &bitcoin.CPFP{EffectiveFeeRate: 1, AdjustedVSize: 200}
	at := func(id byte, index uint32) bitcoin.OutPoint {
		return bitcoin.OutPoint{Hash: bitcoin.Hash{id}, Index: index}
	}
	b := &coinBackend{
		utxos: []bitcoin.UTXO{{OutPoint: at(1, 0), Value: 5}, {OutPoint: at(2, 0), Value: 6, Height: 9}, {OutPoint: at(1, 1), Value: 7}, {OutPoint: at(3, 0), Value: 8}},
		cpfp:  map[bitcoin.Hash]bitcoin.Result[*bitcoin.CPFP]{{1}: {Value: low}},
	}
	got := trial.Must(WalletCoins(t.Context(), b, a))(t)
	want := []Coin{{at(1, 0), 5, bitcoin.P2TR, low}, {at(2, 0), 6, bitcoin.P2TR, nil}, {at(1, 1), 7, bitcoin.P2TR, low}, {at(3, 0), 8, bitcoin.P2TR, nil}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][]bitcoin.Hash{{{1}, {3}}}, b.asked); diff != "" {
		t.Errorf("questions: %s", diff)
	}
	b.cpfp[bitcoin.Hash{3}] = bitcoin.Result[*bitcoin.CPFP]{Err: errors.New("down")}
	if _, err := WalletCoins(t.Context(), b, a); err == nil {
		t.Error("an unknown parent was taken for none")
	}
	if got, err := WalletCoins(t.Context(), struct{ coinLister }{b}, a); err != nil || len(got) != len(b.utxos) || got[0].CPFP != nil {
		t.Errorf("of a backend that does not know the mempool: %v, %v", got, err)
	}
	b.err, b.asked = bitcoin.ErrNotFound, nil
	if _, err := WalletCoins(t.Context(), b, a); !errors.Is(err, bitcoin.ErrNotFound) || b.asked != nil {
		t.Errorf("error %v, questions %v", err, b.asked)
	}
	b.err, b.utxos = nil, nil
	if got, err := WalletCoins(t.Context(), b, a); err != nil || len(got) != 0 || b.asked != nil {
		t.Errorf("no coins: %v, error %v, questions %v", got, err, b.asked)
	}
}
