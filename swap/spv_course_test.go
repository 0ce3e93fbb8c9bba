package swap

import (
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
)

// TestVaultSwapAfterADoubleSpend follows a transaction that was handed to the LP
// and whose input somebody else's transaction spent: what a reorganisation can
// still undo is watched, and what comes back is believed.
func TestVaultSwapAfterADoubleSpend(t *testing.T) {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: 1}, nil, nil))
	raw, err := bitcoin.EncodeTx(tx)
	if err != nil {
		t.Fatal(err)
	}
	start := time.UnixMilli(1_700_000_000_000)
	hour := time.Hour
	unseen, seen := &Observation{}, &Observation{}
	unseen.Spends.Value = []bitcoin.Spend{{State: bitcoin.SpentConfirmed, TxID: bitcoin.Hash{9}}}
	seen.Payment.Value = &bitcoin.Tx{ID: tx.TxHash(), Msg: tx}
	quiet := &Observation{}
	quiet.Spends.Value = []bitcoin.Spend{{State: bitcoin.Unspent}}
	for _, o := range []*Observation{unseen, seen, quiet} {
		o.Withdrawal.Value.State = chains.WithdrawalNone
	}
	type look struct {
		after   time.Duration
		world   *Observation
		state   int
		settled bool
	}
	for _, c := range []struct {
		name  string
		from  int
		looks []look
	}{
		{"never seen, then spent otherwise for good", spvPosted, []look{
			{hour, unseen, spvExpired, false}, {24 * hour, unseen, spvExpired, false}, {26 * hour, unseen, spvExpired, true}, {40 * hour, unseen, spvExpired, true}}},
		{"spent otherwise, then reorganised", spvPosted, []look{
			{hour, unseen, spvExpired, false}, {2 * hour, seen, spvBroadcasted, false}}},
		{"replaced after it was seen", spvBroadcasted, []look{
			{hour, unseen, spvFailed, false}, {2 * hour, seen, spvBroadcasted, false}, {3 * hour, unseen, spvFailed, false},
			{27 * hour, unseen, spvFailed, false}, {28 * hour, unseen, spvFailed, true}}},
		{"final only while it is seen spent", spvBroadcasted, []look{
			{hour, unseen, spvFailed, false}, {30 * hour, quiet, spvFailed, false}, {16 * 24 * hour, quiet, spvFailed, true}}},
		{"rests, and is found when asked for", spvSoftExpired, []look{
			{24 * hour, quiet, spvSoftExpired, false}, {15 * 24 * hour, quiet, spvSoftExpired, true}, {16 * 24 * hour, seen, spvBroadcasted, false}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &Record{Head: Head{ID: "v", Type: SPVFromBTC, State: c.from, CreatedAt: At(start), Expiry: At(start)},
				Bitcoin: &BitcoinPart{Confirmations: 3, Posted: true, Tx: raw, TxID: tx.TxHash()}, Vault: &VaultPart{UTXO: bitcoin.OutPoint{}.String(), Deadline: At(start)},
				Tried: map[string]Try{string(PostPSBT): {Attempts: 1, Outcome: Done}}}
			for _, l := range c.looks {
				r = settle(t, NewSPVFromBTC(), r, l.world, nil, start.Add(l.after))
				if r.State != l.state || r.Settled != l.settled {
					t.Fatalf("after %s: state %d, settled %t; want %d, %t", l.after, r.State, r.Settled, l.state, l.settled)
				}
				if row, _ := stateRow(spvStates, r.State); !row.Watched {
					t.Fatalf("after %s: nobody looks at state %s", l.after, row.Name)
				}
			}
		})
	}
}
