package swap

import (
	"maps"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// spvPass is a pass over a vault swap in a state. From SIGNED on the provider has a
// transaction, which needs two confirmations. The deadline is in an hour.
func spvPass(state int) func() Decision {
	return func() Decision {
		r := &Record{
			Head:    Head{Type: SPVFromBTC, State: state, Signer: "me", Expiry: ago(-10 * time.Minute), CreatedAt: ago(time.Minute), Seen: Seen{Chain: 90, At: ago(time.Minute)}},
			Vault:   &VaultPart{Deadline: ago(-time.Hour), UTXO: bitcoin.OutPoint{}.String()},
			Bitcoin: &BitcoinPart{Confirmations: 2},
		}
		if state != SPVCreated && state != SPVSoftExpired && state != SPVExpired {
			r.Bitcoin.Posted, r.Bitcoin.TxID = true, bitcoin.Hash{9}
		}
		return Decision{R: r, Obs: &Observation{}, Now: noon}
	}
}

func notFound(in *Decision) { in.Obs.Payment = known[*bitcoin.Tx](nil) }

func spentOtherwise(in *Decision) {
	notFound(in)
	in.Obs.Spends = known([]bitcoin.Spend{{State: bitcoin.SpentConfirmed, TxID: bitcoin.Hash{8}}})
}

// twoInputs is a transaction of a vault swap: it spends the vault's output and a coin.
var twoInputs = func() []byte {
	tx := wire.NewMsgTx(2)
	for i := range uint32(2) {
		tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: i}, nil, nil))
	}
	raw, err := rawtx.Encode(tx)
	if err != nil {
		panic(err)
	}
	return raw
}()

// unspent is Bitcoin's word that nothing spends the inputs of a transaction that it does not
// show.
func unspent(in *Decision) {
	notFound(in)
	in.R.Bitcoin.Tx = twoInputs
	in.Obs.Spends = known([]bitcoin.Spend{{State: bitcoin.Unspent}, {State: bitcoin.Unspent}})
}

func passOf(pass func() Decision, change func(*Decision)) func() Decision {
	return func() Decision {
		in := pass()
		change(&in)
		return in
	}
}

func withdrawn(state chains.WithdrawalState) func(*Decision) {
	return func(in *Decision) {
		in.Obs.Withdrawal = known(chains.WithdrawalFact{State: state, Head: chains.Block{Height: 100, Time: noon.Unix()}})
	}
}

func TestSPVRows(t *testing.T) {
	posted := func(o Outcome) func(*Decision) {
		return func(in *Decision) {
			in.Input = o
			in.R.Tried = map[string]Try{string(PostPSBT): {Started: 1}}
		}
	}
	took, refused := Outcome{Effect: PostPSBT, Done: true}, Outcome{Effect: PostPSBT, Refused: true, Reason: "no"}
	behind := changes{
		"the node is behind what was seen": func(in *Decision) { in.R.Seen.Chain = 101 },
		"it is not known what was seen":    func(in *Decision) { in.R.Seen = Seen{} },
		"the chain does not answer":        func(in *Decision) { in.Obs.Withdrawal = failed(in.Obs.Withdrawal.Value) },
	}
	closed := changes{"the payout was advanced": func(in *Decision) { in.Obs.Withdrawal.Value.FrontTx = "0xf" }}
	maps.Copy(closed, behind)
	signedPSBT := Submit{Action: ActionFund, PSBT: psbtOf()}
	checkRows(t, newSPVFromBTC(), []row{
		{why: "the provider accepted the transaction", pass: passOf(spvPass(SPVSigned), posted(took)), without: changes{
			"something else was done": posted(Outcome{Effect: SendTx, Done: true}),
			"it is not known":         posted(Outcome{Effect: PostPSBT}),
		}},
		{why: "the provider refused the transaction", pass: passOf(spvPass(SPVSigned), posted(refused)), without: changes{
			"it is not known": posted(Outcome{Effect: PostPSBT}),
			"an earlier attempt had no answer": func(in *Decision) {
				in.R.Tried = map[string]Try{string(PostPSBT): {Started: 1, Attempts: 1}}
			},
			"something else was refused": func(in *Decision) {
				in.Input = Outcome{Effect: SendTx, Refused: true}
				in.R.Tried = map[string]Try{string(PostPSBT): {Started: 1, Attempts: 1, Outcome: Refused}}
			},
		}},
		{why: "the quote expired and the transaction was not seen", pass: passOf(spvPass(SPVPosted), func(in *Decision) {
			notFound(in)
			in.Now = in.R.Vault.Deadline.Time().Add(time.Millisecond)
		}), without: changes{
			"it is the last moment":    func(in *Decision) { in.Now = in.R.Vault.Deadline.Time() },
			"Bitcoin was not asked":    func(in *Decision) { in.Obs.Payment = Fact[*bitcoin.Tx]{} },
			"Bitcoin does not answer":  func(in *Decision) { in.Obs.Payment = failed[*bitcoin.Tx](nil) },
			"the transaction is there": func(in *Decision) { in.Obs.Payment = known(&bitcoin.Tx{}) },
		}},
		{why: "the quote expired and the transaction was not seen", pass: passOf(spvPass(SPVSigned), func(in *Decision) {
			notFound(in)
			in.Now = in.R.Expiry.Time().Add(time.Millisecond)
		}), without: changes{
			"it is the last moment": func(in *Decision) { in.Now = in.R.Expiry.Time() },
			"the provider has it":   func(in *Decision) { in.R.State = SPVPosted },
		}},
		{why: "the quote expired unused", pass: passOf(spvPass(SPVSoftExpired), func(in *Decision) { in.Now = in.R.Vault.Deadline.Time().Add(time.Millisecond) }), without: changes{
			"it is the last moment":      func(in *Decision) { in.Now = in.R.Vault.Deadline.Time() },
			"the provider has a payment": func(in *Decision) { in.R.Bitcoin.Posted = true },
		}},
		{why: "the user signed", pass: submits(spvPass(SPVSoftExpired), signedPSBT), without: changes{
			"it is for another action":     otherAction,
			"there is no transaction":      func(in *Decision) { in.Input = Submit{Action: ActionFund} },
			"the provider has one already": func(in *Decision) { in.R.Bitcoin.Posted = true },
			"the deadline is over":         func(in *Decision) { in.Now = in.R.Vault.Deadline.Time().Add(time.Millisecond) },
		}, with: changes{"it is the last moment": func(in *Decision) { in.Now = in.R.Vault.Deadline.Time() }}},
		{why: "the user signed the claim", pass: submits(spvPass(SPVConfirmed), signed(actionClaim)), without: changes{
			"it is for another action":          otherAction,
			"what the user signed is under way": busyWith(actionClaim),
		}},
		{why: "the payout was advanced", pass: passOf(spvPass(SPVFailed), withdrawn(chains.WithdrawalFronted)), without: changes{
			"the chain does not answer": func(in *Decision) { in.Obs.Withdrawal = failed(in.Obs.Withdrawal.Value) },
			"the vault has not moved":   withdrawn(chains.WithdrawalNone),
		}},
		{why: "the Bitcoin transaction is confirmed", pass: passOf(spvPass(SPVBroadcasted), func(in *Decision) { in.Obs.Payment = known(&bitcoin.Tx{Confirmations: 2}) }), without: changes{
			"one confirmation is missing": func(in *Decision) { in.Obs.Payment = known(&bitcoin.Tx{Confirmations: 1}) },
			"Bitcoin does not answer":     func(in *Decision) { in.Obs.Payment = failed(&bitcoin.Tx{Confirmations: 2}) },
			"it is not found":             notFound,
		}},
		{why: "an input was spent by another transaction", pass: passOf(spvPass(SPVBroadcasted), spentOtherwise), without: changes{
			"that is not in a block":   func(in *Decision) { in.Obs.Spends.Value[0].State = bitcoin.SpentInMempool },
			"that is not known":        func(in *Decision) { in.Obs.Spends = failed(in.Obs.Spends.Value) },
			"the transaction is there": func(in *Decision) { in.Obs.Payment = known(&bitcoin.Tx{}) },
			"Bitcoin does not answer":  func(in *Decision) { in.Obs.Payment = failed[*bitcoin.Tx](nil) },
		}},
		{why: "the vault paid", pass: passOf(spvPass(SPVBroadcasted), withdrawn(chains.WithdrawalClaimed)), without: changes{
			"the chain does not answer": func(in *Decision) { in.Obs.Withdrawal = failed(in.Obs.Withdrawal.Value) },
		}},
		{why: "the vault paid, and did not close", pass: passOf(spvPass(SPVClosed), withdrawn(chains.WithdrawalClaimed)), without: behind},
		{why: "the vault closed, and did not pay", pass: passOf(spvPass(SPVClaimed), withdrawn(chains.WithdrawalClosed)), without: behind},
		{why: "a reorganisation undid what the vault did", pass: passOf(spvPass(SPVClaimed), withdrawn(chains.WithdrawalNone)), without: behind},
		{why: "the vault closed, and the payout was not advanced", pass: passOf(spvPass(SPVFronted), withdrawn(chains.WithdrawalClosed)), without: closed},
	})
}

// TestSPVFirstConfirmation keeps when enough confirmations were first seen.
func TestSPVFirstConfirmation(t *testing.T) {
	in := passOf(spvPass(SPVBroadcasted), func(in *Decision) {
		in.Obs.Payment = known(&bitcoin.Tx{Confirmations: 2, Prevouts: []*wire.TxOut{nil, {PkScript: []byte{3}}}})
		in.R.Bitcoin.ConfirmedAt = ago(time.Hour)
	})()
	next, _ := newSPVFromBTC().Step(in)
	if b := next.Bitcoin; b.ConfirmedAt != ago(time.Hour) || string(b.SenderScript) != "\x03" {
		t.Errorf("confirmed at %d, sender %x", b.ConfirmedAt, b.SenderScript)
	}
	for name, outs := range map[string][]*wire.TxOut{"one input": {{}}, "unknown": {nil, nil}} {
		in.Obs.Payment = known(&bitcoin.Tx{Confirmations: 2, Prevouts: outs})
		if next, _ := newSPVFromBTC().Step(in); next.Bitcoin.SenderScript != nil {
			t.Errorf("%s: sender %x", name, next.Bitcoin.SenderScript)
		}
	}
}

// TestSPVRests names until when a transaction that may still be sent is looked for.
func TestSPVRests(t *testing.T) {
	f := newSPVFromBTC()
	rests := func(in Decision) bool { next, _ := f.Step(in); return next.Settled }
	t.Run("with the provider", func(t *testing.T) {
		needs(t, passOf(spvPass(SPVSoftExpired), func(in *Decision) { in.R.Bitcoin.Posted, in.R.CreatedAt = true, ago(spvRest+time.Millisecond) }), rests, changes{
			"the time is not over": func(in *Decision) { in.R.CreatedAt = ago(spvRest) },
		})
	})
	for name, state := range map[string]int{"expired": SPVExpired, "failed": SPVFailed} {
		t.Run(name, func(t *testing.T) {
			needs(t, passOf(spvPass(state), func(in *Decision) { in.R.Bitcoin.Posted, in.R.Ended = true, ago(spvRest+time.Millisecond) }), rests, changes{
				"the time is not over":            func(in *Decision) { in.R.Ended = ago(spvRest) },
				"it is not known when it ended":   func(in *Decision) { in.R.Ended = 0 },
				"an input was spent a day ago":    func(in *Decision) { in.R.Ended = ago(spvFinal); spentOtherwise(in) },
				"nothing was spent for some days": func(in *Decision) { in.R.Ended = ago(2 * spvFinal); notFound(in) },
			})
			allows(t, spvPass(state), rests, changes{"an input was spent more than a day ago": func(in *Decision) {
				in.R.Bitcoin.Posted, in.R.Ended = true, ago(spvFinal+time.Millisecond)
				spentOtherwise(in)
			}})
		})
	}
	t.Run("paid in advance", func(t *testing.T) {
		needs(t, passOf(spvPass(SPVFronted), func(in *Decision) {
			withdrawn(chains.WithdrawalFronted)(in)
			in.Obs.Withdrawal.Value.Final, in.R.Ended = true, ago(spvRest+time.Millisecond)
		}), rests, changes{
			"the time is not over":          func(in *Decision) { in.R.Ended = ago(spvRest) },
			"it is not known when it ended": func(in *Decision) { in.R.Ended = 0 },
			"it is not final":               func(in *Decision) { in.Obs.Withdrawal.Value.Final = false },
			"the chain does not answer":     func(in *Decision) { in.Obs.Withdrawal = failed(in.Obs.Withdrawal.Value) },
		})
	})
}

func TestSPVHandsOverAndShows(t *testing.T) {
	f := newSPVFromBTC()
	t.Run("to the provider", func(t *testing.T) {
		needs(t, passOf(spvPass(SPVSigned), unspent), func(in Decision) bool { return len(f.Effects(in)) == 1 }, changes{
			"it has answered":      func(in *Decision) { in.R.Tried = map[string]Try{string(PostPSBT): {Outcome: Refused}} },
			"the deadline is over": func(in *Decision) { in.Now = in.R.Vault.Deadline.Time().Add(time.Millisecond) },
			"it has it":            func(in *Decision) { in.R.State = SPVPosted },
			"nothing was signed":   func(in *Decision) { in.R.State, in.R.Bitcoin.Posted = SPVSoftExpired, false },

			"Bitcoin was not asked":         func(in *Decision) { in.Obs.Payment = Fact[*bitcoin.Tx]{} },
			"Bitcoin does not answer":       func(in *Decision) { in.Obs.Payment = failed[*bitcoin.Tx](nil) },
			"its inputs were not asked for": func(in *Decision) { in.Obs.Spends = Fact[[]bitcoin.Spend]{} },
			"nobody knows of its inputs":    func(in *Decision) { in.Obs.Spends = failed(in.Obs.Spends.Value) },
			"an input is spent elsewhere":   spentOtherwise,
			"an input is about to be spent": func(in *Decision) {
				in.Obs.Spends.Value[1] = bitcoin.Spend{State: bitcoin.SpentInMempool, TxID: bitcoin.Hash{8}}
			},
			"an input is spent, by an unnamed": func(in *Decision) { in.Obs.Spends.Value[1] = bitcoin.Spend{State: bitcoin.SpentConfirmed} },
		})
	})
	t.Run("a late payment", func(t *testing.T) {
		needs(t, spvPass(SPVSoftExpired), func(in Decision) bool { return f.View(in).Late != nil }, changes{
			"the provider has one": func(in *Decision) { in.R.Bitcoin.Posted = true },
			"the deadline is over": func(in *Decision) { in.Now = in.R.Vault.Deadline.Time().Add(time.Millisecond) },
		})
	})
	t.Run("a claim", func(t *testing.T) {
		blind := func(in *Decision) { busyWith(actionClaim)(in); in.R.Submission.Since = ago(time.Hour) }
		needs(t, passOf(spvPass(SPVConfirmed), func(in *Decision) { in.R.Bitcoin.ConfirmedAt = ago(automaticWindow + time.Millisecond) }),
			func(in Decision) bool { _, sign := f.View(in).Action.(*Sign); return sign }, changes{
				"a watchtower has some time":          func(in *Decision) { in.R.Bitcoin.ConfirmedAt = ago(automaticWindow) },
				"what the user signed is under way":   busyWith(actionClaim),
				"nothing is known of what was signed": blind,
			})
		in := spvPass(SPVConfirmed)()
		blind(&in)
		if v := f.View(in); v.Blocked == nil {
			t.Error("the reason is not told")
		}
	})
	t.Run("asks for the withdrawal", func(t *testing.T) {
		elsewhere := func(in *Decision) {
			in.Obs.Vault = known(chains.VaultFact{Vault: chains.Vault{Open: true}})
			in.R.Vault.UTXO = bitcoin.OutPoint{Index: 1}.String()
		}
		needs(t, passOf(spvPass(SPVBroadcasted), elsewhere), func(in Decision) bool { return f.Ask(in).Withdrawal != nil }, changes{
			"the vault is where it was":     func(in *Decision) { in.R.Vault.UTXO = bitcoin.OutPoint{}.String() },
			"the vault was not asked for":   func(in *Decision) { in.Obs.Vault = Fact[chains.VaultFact]{} },
			"the provider has nothing":      func(in *Decision) { in.R.Bitcoin.Posted = false },
			"the swap rests":                func(in *Decision) { in.R.Settled = true },
			"the payment is not on its way": func(in *Decision) { in.R.State = SPVPosted },
		})
		allows(t, spvPass(SPVBroadcasted), func(in Decision) bool { return f.Ask(in).Withdrawal != nil }, changes{
			"the nodes do not agree on where it is": func(in *Decision) { in.Obs.Vault = failed(in.Obs.Vault.Value) },
			"the vault is closed": func(in *Decision) {
				elsewhere(in)
				in.R.Vault.UTXO = bitcoin.OutPoint{}.String()
				in.Obs.Vault.Value.Vault.Open = false
			},
			"an event hints": func(in *Decision) { in.Input = Look{} },
		})
	})
}

// A claim of a payment that Bitcoin does not show any more fails, and costs its fee each
// time: after a reorganisation nobody is asked to sign one, and one that was signed before
// is not taken.
func TestVaultIsClaimedWithAConfirmedPaymentAlone(t *testing.T) {
	pass := passOf(spvPass(SPVConfirmed), func(in *Decision) {
		in.R.Bitcoin.ConfirmedAt = ago(time.Hour)
		in.Obs.Payment = known(&bitcoin.Tx{ID: in.R.Bitcoin.TxID, Confirmations: 2})
	})
	claims := func(in Decision) bool {
		s, ok := newSPVFromBTC().View(in).Action.(*Sign)
		return ok && s.For == actionClaim
	}
	without := changes{
		"the payment is not found":  notFound,
		"a confirmation is missing": func(in *Decision) { in.Obs.Payment.Value.Confirmations = 1 },
	}
	needs(t, pass, claims, without)
	for name, change := range without {
		in := pass()
		change(&in)
		if newSPVFromBTC().View(in).Blocked == nil {
			t.Errorf("%s, and nobody is told", name)
		}
	}
	needs(t, submits(pass, signed(actionClaim)), takesRow(newSPVFromBTC(), "the user signed the claim"), without)
}
