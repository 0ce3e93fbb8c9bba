package recovery

import (
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// vaultCourse is what became of a vault swap in a case.
type vaultCourse struct {
	State                               int
	StateName                           string
	ClaimTxID, FrontTxID, SenderAddress string
	Changed                             bool
	BTCTxConfirmedAtSet                 bool
	RemovedOnSave                       bool
}

// check holds what the reference wrote against the state in which it ended: it
// looks at the transaction in some states only, and names what moved it. paid is
// the state that the contract's word leads to.
func (v vaultCourse) check(t *testing.T, operation string, from int, known, enough bool, paid int, by string) {
	t.Helper()
	row, _ := flowtest.Flow(swap.SPVFromBTC).State(v.State)
	want := vaultCourse{State: v.State, StateName: row.Name, RemovedOnSave: v.State == swap.SPVExpired}
	told := v.State == paid && v.State != from
	ended := []int{swap.SPVClosed, swap.SPVFailed, swap.SPVExpired, swap.SPVCreated}
	looked := known && map[string]bool{
		"sync":  !slices.Contains(append(ended, swap.SPVFronted, swap.SPVClaimed), from),
		"tick":  from == swap.SPVPosted || from == swap.SPVBroadcasted,
		"event": told && paid != swap.SPVClosed,
	}[operation]
	if looked {
		want.SenderAddress = "senderaddr"
		want.BTCTxConfirmedAtSet = enough && operation != "event" && from != swap.SPVConfirmed
	}
	if told || operation == "event" {
		switch paid {
		case swap.SPVClaimed:
			want.ClaimTxID = by
		case swap.SPVFronted:
			want.FrontTxID = by
		}
	}
	want.Changed = v.State != from || want.ClaimTxID+want.FrontTxID+want.SenderAddress != ""
	if v != want {
		t.Errorf("the reference says %+v, want %+v", v, want)
	}
}

func TestVectorsTransitions(t *testing.T) {
	t.Parallel()
	vectors.Each(t, "swap-flows-spv-and-core", "transitions", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Operation                     string
			Event                         *string
			State                         int
			Posted, HasWithdrawalData     bool
			BitcoinTxConfirmations        *uint32
			RequiredConfirmations         uint32
			UserInputDoubleSpentConfirmed bool
			Expired, SoftExpired          bool
			SmartChainWithdrawalState     string
		}
		c.Input(t, &in)
		var want vaultCourse
		c.Expected(t, &want)
		reference := want

		now := time.UnixMilli(1_788_000_000_000)
		tx := wire.NewMsgTx(2)
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: bitcoin.OutPoint{Hash: bitcoin.Hash{1}}})
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: bitcoin.OutPoint{Hash: bitcoin.Hash{2}}})
		tx.AddTxOut(&wire.TxOut{Value: 600})
		raw := trial.Must(rawtx.Encode(tx))(t)
		r := &swap.Record{Head: swap.Head{ID: "v", Type: swap.SPVFromBTC, State: in.State, CreatedAt: swap.At(now.Add(-time.Minute)), Expiry: swap.At(now.Add(time.Hour))},
			Bitcoin: &swap.BitcoinPart{Confirmations: in.RequiredConfirmations}, Vault: &swap.VaultPart{UTXO: bitcoin.OutPoint{Hash: bitcoin.Hash{1}}.String(), Deadline: swap.At(now.Add(time.Hour))}}
		// That a transaction was handed to the LP is one fact here, stored in one
		// write; the reference has a flag and the data, and cases in which they contradict.
		if in.HasWithdrawalData {
			r.Bitcoin.Posted, r.Bitcoin.Tx, r.Bitcoin.TxID = true, raw, tx.TxHash()
		}
		if in.SoftExpired {
			r.Expiry = swap.At(now.Add(-time.Second))
		}
		if in.Expired {
			r.Vault.Deadline = swap.At(now.Add(-time.Second))
		}
		if row, ok := flowtest.Flow(swap.SPVFromBTC).State(in.State); ok && row.Finished {
			r.Ended = swap.At(now)
		}
		all := &swap.Observation{}
		if n := in.BitcoinTxConfirmations; n != nil {
			all.Payment.Value = &bitcoin.Tx{ID: tx.TxHash(), Msg: tx, Confirmations: *n, Prevouts: []*wire.TxOut{{}, {PkScript: []byte{1}}}}
		}
		all.Spends.Value = []bitcoin.Spend{{State: bitcoin.Unspent}, {State: bitcoin.Unspent}}
		if in.UserInputDoubleSpentConfirmed {
			all.Spends.Value[1] = bitcoin.Spend{State: bitcoin.SpentConfirmed, TxID: bitcoin.Hash{9}}
		}
		all.Vault.Value.Vault.Open = false
		states := map[string]chains.WithdrawalState{"NOT_FOUND": chains.WithdrawalNone, "FRONTED": chains.WithdrawalFronted, "CLAIMED": chains.WithdrawalClaimed, "CLOSED": chains.WithdrawalClosed}
		all.Withdrawal.Value.State = states[in.SmartChainWithdrawalState]
		var input swap.Input
		if in.Operation == "event" {
			input = swap.Look{}
			all.Withdrawal.Value.State = map[string]chains.WithdrawalState{"front": chains.WithdrawalFronted, "claim": chains.WithdrawalClaimed, "close": chains.WithdrawalClosed}[*in.Event]
		}
		by := map[string]string{"sync": "0x" + map[chains.WithdrawalState]string{chains.WithdrawalFronted: "front", chains.WithdrawalClaimed: "claim"}[all.Withdrawal.Value.State], "event": "0xevent"}[in.Operation]
		switch all.Withdrawal.Value.State {
		case chains.WithdrawalFronted:
			all.Withdrawal.Value.FrontTx = by
		case chains.WithdrawalClaimed:
			all.Withdrawal.Value.ClaimTx = by
		}
		got := flowtest.Settle(t, flowtest.Flow(swap.SPVFromBTC), r, all, input, now)
		known := in.BitcoinTxConfirmations != nil
		enough := known && *in.BitcoinTxConfirmations >= in.RequiredConfirmations
		ends := map[chains.WithdrawalState]int{chains.WithdrawalFronted: swap.SPVFronted, chains.WithdrawalClaimed: swap.SPVClaimed, chains.WithdrawalClosed: swap.SPVClosed}
		paid, said := ends[all.Withdrawal.Value.State]
		reference.check(t, in.Operation, in.State, known && in.HasWithdrawalData, enough, map[bool]int{true: paid, false: in.State}[said], by)
		spent := in.UserInputDoubleSpentConfirmed && in.HasWithdrawalData && !known
		switch handed := in.Posted || in.HasWithdrawalData; {
		case (in.State == swap.SPVFailed || in.State == swap.SPVExpired) && in.HasWithdrawalData && (known || in.Operation == "event"):
			// What a conflict has ended goes on when a reorganisation undoes it.
			c.Differ(t, "spv-reorganisation")
			switch {
			case said:
				want.State = paid
			case enough:
				want.State = swap.SPVConfirmed
			default:
				want.State = swap.SPVBroadcasted
			}
		case in.State == swap.SPVCreated && in.HasWithdrawalData && (in.SoftExpired || in.Expired):
			// A swap whose PSBT may have left is followed, whatever state was stored.
			c.Differ(t, "spv-handed-over-never-expires")
			switch {
			case said && (known || in.Operation == "event"):
				want.State = paid
			case enough:
				want.State = swap.SPVConfirmed
			case known:
				want.State = swap.SPVBroadcasted
			case spent:
				want.State = swap.SPVExpired
			default:
				want.State = swap.SPVSoftExpired
			}
		case (in.State == swap.SPVBroadcasted || in.State == swap.SPVConfirmed) && spent && said:
			c.Differ(t, "spv-one-pass") // the contract's word counts more
			want.State = paid
		case in.Operation == "tick" && spent && (in.State == swap.SPVDeclined || in.State == swap.SPVSoftExpired || in.State == swap.SPVSigned || in.State == swap.SPVPosted):
			c.Differ(t, "spv-one-pass")
			want.State = swap.SPVExpired
		case in.Operation == "tick" && spent && in.State == swap.SPVConfirmed:
			c.Differ(t, "spv-one-pass")
			want.State = swap.SPVFailed
		case in.Operation == "sync" && in.SoftExpired && !in.Expired && !spent &&
			(!in.HasWithdrawalData && (in.State == swap.SPVCreated || in.State == swap.SPVSigned) || in.HasWithdrawalData && in.State == swap.SPVSigned && !known):
			c.Differ(t, "spv-one-pass")
			want.State = swap.SPVSoftExpired
		case in.State == swap.SPVConfirmed && known && !enough && in.HasWithdrawalData && all.Withdrawal.Value.State == chains.WithdrawalNone:
			c.Differ(t, "spv-reorganisation")
			want.State = swap.SPVBroadcasted
		case in.State == swap.SPVFronted && in.Operation == "sync" && in.SmartChainWithdrawalState == "CLAIMED" && in.HasWithdrawalData:
			c.Differ(t, "spv-fronted-followed")
			want.State = swap.SPVClaimed
		case in.State == swap.SPVCreated && handed && in.Expired && in.Operation == "sync":
			c.Differ(t, "spv-handed-over-never-expires")
			want.State = swap.SPVSoftExpired
		case in.State == swap.SPVSoftExpired && !handed && in.Expired && in.Operation == "sync":
			c.Differ(t, "spv-one-pass")
			want.State = swap.SPVExpired
		case in.Operation == "tick" && in.State == swap.SPVCreated && in.Expired && !handed, !in.HasWithdrawalData && in.Expired && (in.State == swap.SPVSigned || in.State == swap.SPVPosted):
			c.Differ(t, "spv-one-pass")
			want.State = swap.SPVExpired
		case in.Operation == "tick" && in.State == swap.SPVPosted && in.Expired && !known:
			c.Differ(t, "spv-one-pass")
			want.State = swap.SPVSoftExpired
		case in.Operation == "tick" && known && in.HasWithdrawalData && (in.State == swap.SPVDeclined || in.State == swap.SPVSoftExpired || in.State == swap.SPVSigned):
			c.Differ(t, "spv-one-pass")
			want.State = swap.SPVBroadcasted
			if enough {
				want.State = swap.SPVConfirmed
			}
		}
		if got.State != want.State {
			t.Errorf("%s from %d: state %d, want %d, the reference %d", in.Operation, in.State, got.State, want.State, reference.State)
		}
		looked := known && in.HasWithdrawalData && in.State != swap.SPVFronted && in.State != swap.SPVClaimed && in.State != swap.SPVClosed
		if is := len(got.Bitcoin.SenderScript) != 0; is != looked {
			t.Errorf("sender stored %v, want %v", is, looked)
		}
		// Where the contract's word comes at once, it counts before the confirmations do.
		atOnce := in.Operation == "event" || in.State == swap.SPVBroadcasted || in.State == swap.SPVFailed
		through := said && got.State == paid && !atOnce || got.State == swap.SPVConfirmed
		if reference.BTCTxConfirmedAtSet && !through {
			c.Differ(t, "spv-one-pass")
		}
		if is, want := got.Bitcoin.ConfirmedAt != 0, looked && through && enough && in.State != swap.SPVConfirmed; is != want {
			t.Errorf("confirmed since %d, want a time: %v", got.Bitcoin.ConfirmedAt, want)
		}
		if moved := got.State != in.State; moved && got.State == swap.SPVClaimed && got.Vault.ClaimTx != by || moved && got.State == swap.SPVFronted && got.Vault.FrontTx != by {
			t.Errorf("claimed by %q, advanced by %q, want %q", got.Vault.ClaimTx, got.Vault.FrontTx, by)
		}
		// A quote that was handed over is kept, however it ended.
		removed := got.State == swap.SPVExpired && !in.HasWithdrawalData
		if row, _ := flowtest.Flow(swap.SPVFromBTC).State(got.State); row.Hidden && got.MayPurge() != removed {
			t.Errorf("may be deleted: %v, want %v", !removed, removed)
		}
		if reference.RemovedOnSave && !removed {
			c.Differ(t, "spv-handed-over-never-expires")
		}
	})
}
