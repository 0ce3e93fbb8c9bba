package swap

import (
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/vectors"
)

// answerFrom gives the facts that ask wants out of all.
func answerFrom(all *Observation, ask Ask, obs *Observation) (asked bool) {
	take(ask.Escrow != nil, &asked, all.Escrow, &obs.Escrow)
	take(ask.Found != nil, &asked, all.Found, &obs.Found)
	take(ask.LP != nil, &asked, all.LP, &obs.LP)
	take(ask.Delivered != nil, &asked, all.Delivered, &obs.Delivered)
	take(ask.Refund != nil, &asked, all.Refund, &obs.Refund)
	take(ask.Wait != nil, &asked, all.Wait, &obs.Wait)
	take(ask.Payment != nil, &asked, all.Payment, &obs.Payment)
	take(ask.Payout != nil, &asked, all.Payout, &obs.Payout)
	take(ask.Spends != nil, &asked, all.Spends, &obs.Spends)
	take(ask.Vault != nil, &asked, all.Vault, &obs.Vault)
	take(ask.Withdrawal != nil, &asked, all.Withdrawal, &obs.Withdrawal)
	take(ask.Txs != nil, &asked, all.Txs, &obs.Txs)
	return asked
}

func take[T any](wanted bool, asked *bool, from Fact[T], to *Fact[T]) {
	if !wanted {
		return
	}
	*asked = true
	*to = from
	to.Asked = true
}

// settle runs a whole pass over a record without a store.
func settle(t *testing.T, f *Flow, r *Record, all *Observation, input Input, now time.Time) *Record {
	t.Helper()
	obs := &Observation{}
	for range maxSteps {
		in := In{R: r, Obs: obs, Input: input, Now: now}
		for range maxRounds {
			if !answerFrom(all, f.Ask(in), obs) {
				break
			}
		}
		next, move := f.step(in)
		before, _ := encode(r)
		after, _ := encode(next)
		if move != nil && input != nil && move.On == input.Kind() {
			input = nil
		}
		r = next
		if string(before) == string(after) {
			return r
		}
	}
	t.Fatal("the pass does not come to rest")
	return nil
}

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
	row, _ := stateRow(spvStates, v.State)
	want := vaultCourse{State: v.State, StateName: row.Name, RemovedOnSave: v.State == spvExpired}
	told := v.State == paid && v.State != from
	ended := []int{spvClosed, spvFailed, spvExpired, spvCreated}
	looked := known && map[string]bool{
		"sync":  !slices.Contains(append(ended, spvFronted, spvClaimed), from),
		"tick":  from == spvPosted || from == spvBroadcasted,
		"event": told && paid != spvClosed,
	}[operation]
	if looked {
		want.SenderAddress = "senderaddr"
		want.BTCTxConfirmedAtSet = enough && operation != "event" && from != spvConfirmed
	}
	if told || operation == "event" {
		switch paid {
		case spvClaimed:
			want.ClaimTxID = by
		case spvFronted:
			want.FrontTxID = by
		}
	}
	want.Changed = v.State != from || want.ClaimTxID+want.FrontTxID+want.SenderAddress != ""
	if v != want {
		t.Errorf("the reference says %+v, want %+v", v, want)
	}
}

func TestVectorsTransitions(t *testing.T) {
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
		raw, err := bitcoin.EncodeTx(tx)
		if err != nil {
			t.Fatal(err)
		}
		r := &Record{Head: Head{ID: "v", Type: SPVFromBTC, State: in.State, CreatedAt: At(now.Add(-time.Minute)), Expiry: At(now.Add(time.Hour))},
			Bitcoin: &BitcoinPart{Confirmations: in.RequiredConfirmations}, Vault: &VaultPart{UTXO: bitcoin.OutPoint{Hash: bitcoin.Hash{1}}.String(), Deadline: At(now.Add(time.Hour))}}
		// That a transaction was handed to the LP is one fact here, stored in one
		// write; the reference has a flag and the data, and cases in which they contradict.
		if in.HasWithdrawalData {
			r.Bitcoin.Posted, r.Bitcoin.Tx, r.Bitcoin.TxID = true, raw, tx.TxHash()
		}
		if in.SoftExpired {
			r.Expiry = At(now.Add(-time.Second))
		}
		if in.Expired {
			r.Vault.Deadline = At(now.Add(-time.Second))
		}
		if row, ok := stateRow(spvStates, in.State); ok && row.Finished {
			r.Ended = At(now)
		}
		all := &Observation{}
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
		var input Input
		if in.Operation == "event" {
			input = Look{}
			all.Withdrawal.Value.State = map[string]chains.WithdrawalState{"front": chains.WithdrawalFronted, "claim": chains.WithdrawalClaimed, "close": chains.WithdrawalClosed}[*in.Event]
		}
		by := map[string]string{"sync": "0x" + map[chains.WithdrawalState]string{chains.WithdrawalFronted: "front", chains.WithdrawalClaimed: "claim"}[all.Withdrawal.Value.State], "event": "0xevent"}[in.Operation]
		switch all.Withdrawal.Value.State {
		case chains.WithdrawalFronted:
			all.Withdrawal.Value.FrontTx = by
		case chains.WithdrawalClaimed:
			all.Withdrawal.Value.ClaimTx = by
		}
		got := settle(t, NewSPVFromBTC(), r, all, input, now)
		known := in.BitcoinTxConfirmations != nil
		enough := known && *in.BitcoinTxConfirmations >= in.RequiredConfirmations
		ends := map[chains.WithdrawalState]int{chains.WithdrawalFronted: spvFronted, chains.WithdrawalClaimed: spvClaimed, chains.WithdrawalClosed: spvClosed}
		paid, said := ends[all.Withdrawal.Value.State]
		reference.check(t, in.Operation, in.State, known && in.HasWithdrawalData, enough, map[bool]int{true: paid, false: in.State}[said], by)
		spent := in.UserInputDoubleSpentConfirmed && in.HasWithdrawalData && !known
		switch handed := in.Posted || in.HasWithdrawalData; {
		case (in.State == spvFailed || in.State == spvExpired) && in.HasWithdrawalData && (known || in.Operation == "event"):
			// What a conflict has ended goes on when a reorganisation undoes it.
			c.Differ(t, "spv-reorganisation")
			switch {
			case said:
				want.State = paid
			case enough:
				want.State = spvConfirmed
			default:
				want.State = spvBroadcasted
			}
		case in.State == spvCreated && in.HasWithdrawalData && (in.SoftExpired || in.Expired):
			// A swap whose PSBT may have left is followed, whatever state was stored.
			c.Differ(t, "spv-handed-over-never-expires")
			switch {
			case said && (known || in.Operation == "event"):
				want.State = paid
			case enough:
				want.State = spvConfirmed
			case known:
				want.State = spvBroadcasted
			case spent:
				want.State = spvExpired
			default:
				want.State = spvSoftExpired
			}
		case (in.State == spvBroadcasted || in.State == spvConfirmed) && spent && said:
			c.Differ(t, "spv-one-pass") // the contract's word counts more
			want.State = paid
		case in.Operation == "tick" && spent && (in.State == spvDeclined || in.State == spvSoftExpired || in.State == spvSigned || in.State == spvPosted):
			c.Differ(t, "spv-one-pass")
			want.State = spvExpired
		case in.Operation == "tick" && spent && in.State == spvConfirmed:
			c.Differ(t, "spv-one-pass")
			want.State = spvFailed
		case in.Operation == "sync" && in.SoftExpired && !in.Expired && !spent &&
			(!in.HasWithdrawalData && (in.State == spvCreated || in.State == spvSigned) || in.HasWithdrawalData && in.State == spvSigned && !known):
			c.Differ(t, "spv-one-pass")
			want.State = spvSoftExpired
		case in.State == spvConfirmed && known && !enough && in.HasWithdrawalData && all.Withdrawal.Value.State == chains.WithdrawalNone:
			c.Differ(t, "spv-reorganisation")
			want.State = spvBroadcasted
		case in.State == spvFronted && in.Operation == "sync" && in.SmartChainWithdrawalState == "CLAIMED" && in.HasWithdrawalData:
			c.Differ(t, "spv-fronted-followed")
			want.State = spvClaimed
		case in.State == spvCreated && handed && in.Expired && in.Operation == "sync":
			c.Differ(t, "spv-handed-over-never-expires")
			want.State = spvSoftExpired
		case in.State == spvSoftExpired && !handed && in.Expired && in.Operation == "sync":
			c.Differ(t, "spv-one-pass")
			want.State = spvExpired
		case in.Operation == "tick" && in.State == spvCreated && in.Expired && !handed, !in.HasWithdrawalData && in.Expired && (in.State == spvSigned || in.State == spvPosted):
			c.Differ(t, "spv-one-pass")
			want.State = spvExpired
		case in.Operation == "tick" && in.State == spvPosted && in.Expired && !known:
			c.Differ(t, "spv-one-pass")
			want.State = spvSoftExpired
		case in.Operation == "tick" && known && in.HasWithdrawalData && (in.State == spvDeclined || in.State == spvSoftExpired || in.State == spvSigned):
			c.Differ(t, "spv-one-pass")
			want.State = spvBroadcasted
			if enough {
				want.State = spvConfirmed
			}
		}
		if got.State != want.State {
			t.Errorf("%s from %d: state %d, want %d, the reference %d", in.Operation, in.State, got.State, want.State, reference.State)
		}
		looked := known && in.HasWithdrawalData && in.State != spvFronted && in.State != spvClaimed && in.State != spvClosed
		if is := len(got.Bitcoin.SenderScript) != 0; is != looked {
			t.Errorf("sender stored %v, want %v", is, looked)
		}
		// Where the contract's word comes at once, it counts before the confirmations do.
		atOnce := in.Operation == "event" || in.State == spvBroadcasted || in.State == spvFailed
		through := said && got.State == paid && !atOnce || got.State == spvConfirmed
		if reference.BTCTxConfirmedAtSet && !through {
			c.Differ(t, "spv-one-pass")
		}
		if is, want := got.Bitcoin.ConfirmedAt != 0, looked && through && enough && in.State != spvConfirmed; is != want {
			t.Errorf("confirmed since %d, want a time: %v", got.Bitcoin.ConfirmedAt, want)
		}
		if moved := got.State != in.State; moved && got.State == spvClaimed && got.Vault.ClaimTx != by || moved && got.State == spvFronted && got.Vault.FrontTx != by {
			t.Errorf("claimed by %q, advanced by %q, want %q", got.Vault.ClaimTx, got.Vault.FrontTx, by)
		}
		// A quote that was handed over is kept, however it ended.
		removed := got.State == spvExpired && !in.HasWithdrawalData
		if row, _ := stateRow(spvStates, got.State); row.Hidden && got.mayPurge() != removed {
			t.Errorf("may be deleted: %v, want %v", !removed, removed)
		}
		if reference.RemovedOnSave && !removed {
			c.Differ(t, "spv-handed-over-never-expires")
		}
	})
}
