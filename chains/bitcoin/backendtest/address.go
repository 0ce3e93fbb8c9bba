package backendtest

import (
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire"
	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
)

func testAddresses(t *testing.T, s Setup) {
	for _, kind := range []bitcoin.AddressType{bitcoin.P2PKH, bitcoin.P2SH, bitcoin.P2WPKH, bitcoin.P2TR} {
		t.Run(kind.String(), func(t *testing.T) {
			a := s.Chain.Address(t, kind)
			holds(t, s, a)
			one, two := s.Chain.Pay(t, a, 100_000), s.Chain.Pay(t, a, 50_000)
			s.Chain.Mine(t, 1)
			height, _ := s.Chain.Tip(t)
			holds(t, s, a, bitcoin.UTXO{OutPoint: one, Value: 100_000, Height: height}, bitcoin.UTXO{OutPoint: two, Value: 50_000, Height: height})

			three := s.Chain.Pay(t, a, 7_000)
			spend := s.Chain.Spend(t, a, []bitcoin.OutPoint{one}, 2, wire.NewTxOut(60_000, s.Chain.Address(t, kind).Script()))
			broadcast(t, s, spend)
			change := spend.TxOut[1].Value
			waiting := []bitcoin.UTXO{{OutPoint: two, Value: 50_000, Height: height}}
			if !s.ConfirmedOnly {
				waiting = append(waiting, bitcoin.UTXO{OutPoint: three, Value: 7_000},
					bitcoin.UTXO{OutPoint: bitcoin.OutPoint{Hash: spend.TxHash(), Index: 1}, Value: change})
			}
			holds(t, s, a, waiting...)
			s.Chain.Mine(t, 1)
			holds(t, s, a,
				bitcoin.UTXO{OutPoint: two, Value: 50_000, Height: height},
				bitcoin.UTXO{OutPoint: three, Value: 7_000, Height: height + 1},
				bitcoin.UTXO{OutPoint: bitcoin.OutPoint{Hash: spend.TxHash(), Index: 1}, Value: change, Height: height + 1})

			index, ok := s.Backend.(bitcoin.AddressIndex)
			if !ok {
				return
			}
			if got := paying(t, index, a, 50_000); !slices.Equal(got, []bitcoin.OutPoint{two}) {
				t.Errorf("50000 sats are in outputs %v, want %v", got, two)
			}
		})
	}
}

// paying returns the outputs of a value among the transactions of an address.
func paying(t *testing.T, index bitcoin.AddressIndex, a bitcoin.Address, value int64) (all []bitcoin.OutPoint) {
	t.Helper()
	for tx, err := range index.AddressTxs(t.Context(), a) {
		if err != nil {
			t.Fatal(err)
		}
		for i, out := range tx.Msg.TxOut {
			if out.Value == value {
				all = append(all, bitcoin.OutPoint{Hash: tx.ID, Index: uint32(i)})
			}
		}
	}
	return all
}

// holds checks the unspent outputs of an address.
func holds(t *testing.T, s Setup, a bitcoin.Address, want ...bitcoin.UTXO) {
	t.Helper()
	got := trial.Must(s.Backend.AddressUTXOs(t.Context(), a))(t)
	byPlace := func(x, y bitcoin.UTXO) int {
		return slices.Compare([]byte(x.OutPoint.String()), []byte(y.OutPoint.String()))
	}
	got = slices.Clone(got)
	slices.SortFunc(got, byPlace)
	slices.SortFunc(want, byPlace)
	if diff := cmp.Diff(append([]bitcoin.UTXO{}, want...), append([]bitcoin.UTXO{}, got...)); diff != "" {
		t.Errorf("outputs differ (-want +got):\n%s", diff)
	}
}

// testAddressPages reads a history that needs several pages, in order and once each.
func testAddressPages(t *testing.T, s Setup) {
	index, ok := s.Backend.(bitcoin.AddressIndex)
	if !ok {
		t.Skip("the backend cannot list the transactions of an address")
	}
	a := s.Chain.Address(t, bitcoin.P2WPKH)
	want := make(map[bitcoin.Hash]bool)
	var first bitcoin.Hash
	for i := range int64(58) {
		id := s.Chain.Pay(t, a, 10_000+i).Hash
		if i == 0 {
			first = id
		}
		want[id] = true
		if i%7 == 0 {
			s.Chain.Mine(t, 1)
		}
	}
	seen := make(map[bitcoin.Hash]bool)
	var before *bitcoin.Tx
	for tx, err := range index.AddressTxs(t.Context(), a) {
		if err != nil {
			t.Fatal(err)
		}
		if seen[tx.ID] || !want[tx.ID] {
			t.Errorf("transaction %s is foreign or came twice", tx.ID)
		}
		if before != nil && before.Confirmed() && (!tx.Confirmed() || tx.Height > before.Height) {
			t.Errorf("height %d after %d", tx.Height, before.Height)
		}
		seen[tx.ID], before = true, tx
	}
	if len(seen) != len(want) {
		t.Errorf("%d of %d transactions", len(seen), len(want))
	}
	if got := paying(t, index, a, 10_000); len(got) != 1 || got[0].Hash != first {
		t.Errorf("10000 sats are in outputs %v, want one of %s", got, first)
	}
	s.Chain.Mine(t, 1)
}

// testCrowdedAddress counts what comes and goes at an address with more unconfirmed
// transactions than fit on any page, above confirmed ones.
func testCrowdedAddress(t *testing.T, s Setup) {
	const many, each = 130, int64(5_000)
	a, elsewhere := s.Chain.Address(t, bitcoin.P2WPKH), s.Chain.Address(t, bitcoin.P2WPKH)
	op := s.Chain.Pay(t, a, 2*many*each)
	s.Chain.Mine(t, 1)
	outs := make([]*wire.TxOut, many)
	for i := range outs {
		outs[i] = wire.NewTxOut(each, a.Script())
	}
	fan := s.Chain.Spend(t, a, []bitcoin.OutPoint{op}, 2, outs...) // the change is the last output
	broadcast(t, s, fan)
	s.Chain.Mine(t, 1)
	height, _ := s.Chain.Tip(t)
	change := fan.TxOut[many].Value
	utxos := []bitcoin.UTXO{{OutPoint: bitcoin.OutPoint{Hash: fan.TxHash(), Index: many}, Value: change, Height: height}}
	want := map[bitcoin.Hash]bool{op.Hash: true, fan.TxHash(): true}
	for i := range uint32(many) {
		tx := s.Chain.Spend(t, a, []bitcoin.OutPoint{{Hash: fan.TxHash(), Index: i}}, 2, wire.NewTxOut(1_000, elsewhere.Script()))
		id := broadcast(t, s, tx)
		want[id] = true
		if !s.ConfirmedOnly {
			utxos = append(utxos, bitcoin.UTXO{OutPoint: bitcoin.OutPoint{Hash: id, Index: 1}, Value: tx.TxOut[1].Value})
		}
	}
	index, indexed := s.Backend.(bitcoin.AddressIndex)
	for range 3 { // nodes may list them in another order each time
		holds(t, s, a, utxos...)
		if !indexed {
			continue
		}
		listed := many
		if s.MostWaiting > 0 {
			listed = s.MostWaiting
		}
		seen := map[bitcoin.Hash]bool{}
		var end error
		for tx, err := range index.AddressTxs(t.Context(), a) {
			if end = err; err != nil {
				continue // it is the last turn
			}
			if seen[tx.ID] || !want[tx.ID] || tx.Confirmed() && len(seen) < listed {
				t.Errorf("transaction %s (height %d, after %d) is foreign, came twice or too early", tx.ID, tx.Height, len(seen))
			}
			seen[tx.ID] = true
		}
		if len(seen) != len(want)-many+listed || (end != nil) != (listed < many) || end != nil && fault.CodeOf(end) != fault.Unsupported {
			t.Errorf("%d of %d transactions, %v", len(seen), len(want), end)
		}
	}
	s.Chain.Mine(t, 1)
}

func testFees(t *testing.T, s Setup) {
	rates, err := s.Backend.FeeRates(t.Context())
	if err != nil || rates.Fastest <= 0 || rates.Minimum <= 0 || rates.Check() != nil {
		t.Errorf("fee rates %+v, error %v", rates, err)
	}
}

// testMempool tests a backend that is a bitcoin.MempoolReader.
func testMempool(t *testing.T, s Setup) {
	mempool, ok := s.Backend.(bitcoin.MempoolReader)
	if !ok {
		t.Skip("the backend does not know the mempool")
	}
	a := s.Chain.Address(t, bitcoin.P2WPKH)
	op := s.Chain.Pay(t, a, 100_000)
	s.Chain.Mine(t, 1)
	if blocks, err := mempool.ProjectedBlocks(t.Context()); err != nil || len(blocks) != 0 {
		t.Errorf("blocks of an empty mempool: %+v, %v", blocks, err)
	}
	parent := broadcast(t, s, s.Chain.Spend(t, a, []bitcoin.OutPoint{op}, 2, wire.NewTxOut(20_000, a.Script())))
	child := broadcast(t, s, s.Chain.Spend(t, a, []bitcoin.OutPoint{{Hash: parent}}, 10))
	answers := mempool.CPFPs(t.Context(), []bitcoin.Hash{op.Hash, child, unknown, parent})
	for i, r := range answers {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		if (r.Value != nil) != (i == 1 || i == 3) {
			t.Fatalf("answer %d: %+v", i, r.Value)
		}
	}
	// The child pays 10 for itself, but less together with its parent, which pays 2.
	if p := answers[3].Value; p.EffectiveFeeRate < 1.9 || p.EffectiveFeeRate > 2.2 || p.AdjustedVSize < 100 || p.AdjustedVSize > 200 {
		t.Errorf("parent %+v", p)
	}
	if c := answers[1].Value; c.EffectiveFeeRate < 3 || c.EffectiveFeeRate > 8 || c.AdjustedVSize < 80 || c.AdjustedVSize > 400 {
		t.Errorf("child %+v", c)
	}
	blocks, err := mempool.ProjectedBlocks(t.Context())
	if err != nil || len(blocks) != 1 || blocks[0].VSize < 200 || blocks[0].VSize > 400 || blocks[0].MinFeeRate < 1.9 || blocks[0].MinFeeRate > 8 {
		t.Errorf("projected blocks %+v, %v", blocks, err)
	}
	s.Chain.Mine(t, 1)
}
