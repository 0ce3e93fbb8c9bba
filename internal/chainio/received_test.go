package chainio

import (
	"context"
	"iter"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
)

// crowd is a backend on which many transactions pay to one address.
type crowd struct {
	bitcoin.Backend
	txs    []*bitcoin.Tx
	looked int
}

func (b *crowd) Network() bitcoin.Network { return bitcoin.Testnet4 }

func (b *crowd) AddressTxs(context.Context, bitcoin.Address) iter.Seq2[*bitcoin.Tx, error] {
	return func(yield func(*bitcoin.Tx, error) bool) {
		for _, tx := range b.txs {
			if b.looked++; !yield(tx, nil) {
				return
			}
		}
	}
}

// Dust that strangers send to an address does not hide a payment of the agreed amount,
// and makes nobody read without end.
func TestDustHidesNoPayment(t *testing.T) {
	const to = "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx"
	a := trial.Must(bitcoin.ParseAddress(to, bitcoin.Testnet4))(t)
	pays := func(n uint32, sats ...int64) *bitcoin.Tx {
		tx := wire.NewMsgTx(2)
		tx.LockTime = n
		for _, s := range sats {
			tx.AddTxOut(wire.NewTxOut(s, a.Script()))
		}
		return &bitcoin.Tx{ID: tx.TxHash(), Msg: tx}
	}
	b := &crowd{}
	for n := range uint32(300) {
		b.txs = append(b.txs, pays(n, 546))
	}
	split, exact := pays(1000, 400, 600), pays(1001, 546, 1000)
	b.txs = append(b.txs, split, exact)
	rd := New(nil, b, nil)
	defer rd.Close()
	got, err := rd.Received(t.Context(), swap.ReceivedAsk{Address: to, Sats: 1000})
	if err != nil || !slices.Contains(got, exact) || slices.Contains(got, split) || len(got) != mostPayments+1 {
		t.Errorf("%d transactions, %v", len(got), err)
	}
	if all, err := rd.Received(t.Context(), swap.ReceivedAsk{Address: to}); err != nil || len(all) != mostPayments {
		t.Errorf("of any amount: %d, %v", len(all), err)
	}
	for n := range uint32(3 * mostLooked) {
		b.txs = append(b.txs, pays(2000+n, 546))
	}
	b.looked = 0
	if _, err := rd.Received(t.Context(), swap.ReceivedAsk{Address: to, Sats: 1000}); err != nil || b.looked > mostLooked+1 {
		t.Errorf("looked at %d transactions, %v", b.looked, err)
	}
}
