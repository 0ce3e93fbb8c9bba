package recovery

import (
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
)

// TestVaultSwapAfterADoubleSpend follows a transaction that was handed to the LP
// and whose input somebody else's transaction spent: what a reorganisation can
// still undo is watched, and what comes back is believed.
func TestVaultSwapAfterADoubleSpend(t *testing.T) {
	t.Parallel()
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: 1}, nil, nil))
	raw := trial.Must(rawtx.Encode(tx))(t)
	start := time.UnixMilli(1_700_000_000_000)
	hour := time.Hour
	unseen, seen := &swap.Observation{}, &swap.Observation{}
	unseen.Spends.Value = []bitcoin.Spend{{State: bitcoin.SpentConfirmed, TxID: bitcoin.Hash{9}}}
	seen.Payment.Value = &bitcoin.Tx{ID: tx.TxHash(), Msg: tx}
	quiet := &swap.Observation{}
	quiet.Spends.Value = []bitcoin.Spend{{State: bitcoin.Unspent}}
	for _, o := range []*swap.Observation{unseen, seen, quiet} {
		o.Withdrawal.Value.State = chains.WithdrawalNone
	}
	type look struct {
		after   time.Duration
		world   *swap.Observation
		state   int
		settled bool
	}
	for _, c := range []struct {
		name  string
		from  int
		looks []look
	}{
		{"never seen, then spent otherwise for good", swap.SPVPosted, []look{
			{hour, unseen, swap.SPVExpired, false}, {24 * hour, unseen, swap.SPVExpired, false}, {26 * hour, unseen, swap.SPVExpired, true}, {40 * hour, unseen, swap.SPVExpired, true}}},
		{"spent otherwise, then reorganised", swap.SPVPosted, []look{
			{hour, unseen, swap.SPVExpired, false}, {2 * hour, seen, swap.SPVBroadcasted, false}}},
		{"replaced after it was seen", swap.SPVBroadcasted, []look{
			{hour, unseen, swap.SPVFailed, false}, {2 * hour, seen, swap.SPVBroadcasted, false}, {3 * hour, unseen, swap.SPVFailed, false},
			{27 * hour, unseen, swap.SPVFailed, false}, {28 * hour, unseen, swap.SPVFailed, true}}},
		{"final only while it is seen spent", swap.SPVBroadcasted, []look{
			{hour, unseen, swap.SPVFailed, false}, {30 * hour, quiet, swap.SPVFailed, false}, {16 * 24 * hour, quiet, swap.SPVFailed, true}}},
		{"rests, and is found when asked for", swap.SPVSoftExpired, []look{
			{24 * hour, quiet, swap.SPVSoftExpired, false}, {15 * 24 * hour, quiet, swap.SPVSoftExpired, true}, {16 * 24 * hour, seen, swap.SPVBroadcasted, false}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &swap.Record{Head: swap.Head{ID: "v", Type: swap.SPVFromBTC, State: c.from, CreatedAt: swap.At(start), Expiry: swap.At(start)},
				Bitcoin: &swap.BitcoinPart{Confirmations: 3, Posted: true, Tx: raw, TxID: tx.TxHash()}, Vault: &swap.VaultPart{UTXO: bitcoin.OutPoint{}.String(), Deadline: swap.At(start)},
				Tried: map[string]swap.Try{string(swap.PostPSBT): {Attempts: 1, Outcome: swap.Done}}}
			for _, l := range c.looks {
				r = flowtest.Settle(t, flowtest.Flow(swap.SPVFromBTC), r, l.world, nil, start.Add(l.after))
				if r.State != l.state || r.Settled != l.settled {
					t.Fatalf("after %s: state %d, settled %t; want %d, %t", l.after, r.State, r.Settled, l.state, l.settled)
				}
				if row, _ := flowtest.Flow(swap.SPVFromBTC).State(r.State); !row.Watched {
					t.Fatalf("after %s: nobody looks at state %s", l.after, row.Name)
				}
			}
		})
	}
}
