package explore

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/engine"
	"github.com/swapper-go/swapper/internal/swap"
)

// btcWorld is Bitcoin, and the vault that a withdrawal is of.
type btcWorld struct {
	height int16
	txs    [2]btx // of the user: 0 was handed to us, 1 was sent by a wallet of its own; for a vault, 1 is a stranger's

	posted, refused bool  // the provider has the PSBT; it says that it will not sign
	signs           int8  // how often the user signed
	fronted         int16 // heights on the smart chain
	claimed, shut   int16
}

// btx is a Bitcoin transaction: replaced is one of which another spends an input, in the
// block at.
type btx struct {
	state txState
	at    int16
	known bool // the process had it, or was shown it
}

func (b btcWorld) canonical(h func(int16) int16) btcWorld {
	for i := range b.txs {
		if at := b.txs[i].at; at != 0 {
			b.txs[i].at = max(at-b.height, -finalAfter) + 100
		}
	}
	b.height = 0
	b.fronted, b.claimed, b.shut = h(b.fronted), h(b.claimed), h(b.shut)
	return b
}

// payment is the user's transaction i; its first input is the vault where there is one.
func payment(i int) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	for n := range 2 {
		tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Hash: chainhash.Hash{byte(10 + i)}, Index: uint32(n)}, nil, nil))
	}
	tx.AddTxOut(wire.NewTxOut(990, depositScript))
	return tx
}

var (
	depositScript = []byte{0x51}
	payments      = [2]*wire.MsgTx{payment(0), payment(1)}
	paymentIDs    = [2]bitcoin.Hash{bitcoin.Hash(payments[0].TxHash()), bitcoin.Hash(payments[1].TxHash())}
)

func rawPayment(i int) []byte {
	raw, err := rawtx.Encode(payments[i])
	if err != nil {
		panic(err)
	}
	return raw
}

func (b *btcWorld) confirmations(i int, h int16) uint32 {
	if t := b.txs[i]; t.state == mined && t.at <= h {
		return uint32(h - t.at + 1)
	}
	return 0
}

func (s *sim) btcHeight(lag bool) int16 {
	if lag {
		return s.w.btc.height - finalAfter
	}
	return s.w.btc.height
}

// shownPayment is what a node shows of a payment, nil if nothing.
func (s *sim) shownPayment(i int, lag bool) *bitcoin.Tx {
	t, h := s.w.btc.txs[i], s.btcHeight(lag)
	if t.state != waiting && t.state != mined {
		return nil
	}
	tx := &bitcoin.Tx{ID: paymentIDs[i], Msg: payments[i], Confirmations: s.w.btc.confirmations(i, h)}
	if tx.Confirmations > 0 {
		tx.Height, tx.BlockTime = uint32(t.at), s.clock(0)
	}
	return tx
}

func (a answer) BitcoinTx(_ context.Context, id bitcoin.Hash) (*bitcoin.Tx, error) {
	if a.missing(aPayment) {
		return nil, errSilent
	}
	if i := slices.Index(paymentIDs[:], id); i >= 0 {
		return a.s.shownPayment(i, a.o.lag), nil
	}
	return nil, nil
}

func (a answer) Received(context.Context, swap.ReceivedAsk) ([]*bitcoin.Tx, error) {
	if a.missing(aPayment) {
		return nil, errSilent
	}
	all := []*bitcoin.Tx{}
	for i := range payments {
		if tx := a.s.shownPayment(i, a.o.lag); tx != nil {
			all = append(all, tx)
		}
	}
	return all, nil
}

func (a answer) Spends(_ context.Context, ops []bitcoin.OutPoint) ([]bitcoin.Spend, error) {
	if a.missing(aSpends) {
		return nil, errSilent
	}
	all := make([]bitcoin.Spend, len(ops))
	for n, op := range ops {
		i := int(op.Hash[0]) - 10
		h := a.s.btcHeight(a.o.lag)
		switch t := a.s.w.btc.txs[i]; {
		case t.state == mined && t.at <= h:
			all[n] = bitcoin.Spend{State: bitcoin.SpentConfirmed, TxID: paymentIDs[i], Height: uint32(t.at)}
		case t.state == mined, t.state == waiting:
			all[n] = bitcoin.Spend{State: bitcoin.SpentInMempool, TxID: paymentIDs[i]}
		case t.state == replaced && n == 1 && t.at <= h:
			all[n] = bitcoin.Spend{State: bitcoin.SpentConfirmed, TxID: bitcoin.Hash{0xee}, Height: uint32(t.at)}
		default:
			all[n] = bitcoin.Spend{State: bitcoin.Unspent}
		}
	}
	return all, nil
}

func (a answer) ETA(context.Context, swap.ETAAsk) (int, error) {
	if a.missing(aPayment) {
		return 0, errSilent
	}
	return 600, nil
}

// btcTick finds Bitcoin's blocks of a longer time. They hold a payment to an address,
// which is taken to bear a fee that gets it mined in that time.
func (s *sim) btcTick() {
	b := &s.w.btc
	for i := range b.txs {
		if s.flow.Type != swap.SPVFromBTC && b.txs[i].state == waiting {
			b.txs[i] = btx{mined, b.height + 1, b.txs[i].known}
		}
	}
	b.height += finalAfter + 1
}

// btcMine finds a Bitcoin block for what waits, or one more for what needs another.
func (s *sim) btcMine() bool {
	b := &s.w.btc
	for i := range b.txs {
		if b.txs[i].state == waiting {
			return s.mineBTC(i)
		}
	}
	for i := range b.txs {
		if n := b.confirmations(i, b.height); n == 1 {
			b.height++
			return true
		}
	}
	return false
}

func (s *sim) mineBTC(i int) bool {
	b := &s.w.btc
	if t := b.txs[i].state; t != waiting && t != dropped {
		return false
	}
	b.height++
	b.txs[i] = btx{mined, b.height, b.txs[i].known}
	return true
}

// bitcoinNature is what happens on Bitcoin.
func bitcoinNature(slots int) []action {
	all := []action{{"a Bitcoin block is found", 0, func(s *sim) bool {
		for i := range s.w.btc.txs {
			if n := s.w.btc.confirmations(i, s.w.btc.height); n > 0 && n < finalAfter {
				s.w.btc.height++
				return true
			}
		}
		return false
	}}}
	for i := range slots {
		of := func(s *sim) *btx { return &s.w.btc.txs[i] }
		name := [...]string{"the user's Bitcoin transaction", "the payment from the user's other wallet"}[i]
		all = append(all,
			action{name + " is mined", 0, func(s *sim) bool { return of(s).state == waiting && s.mineBTC(i) }},
			action{"Bitcoin nodes forget " + name, 1, func(s *sim) bool {
				if of(s).state != waiting {
					return false
				}
				of(s).state = dropped
				return true
			}},
			action{name + ", which was forgotten, is mined", 1, func(s *sim) bool {
				late := s.flow.Type == swap.FromBTC && s.w.escrow() == chains.EscrowRefunded // what was paid in time is taken to be mined in time
				return of(s).state == dropped && !late && s.mineBTC(i)
			}},
			action{"another transaction spends an input of " + name, 1, func(s *sim) bool {
				if st := of(s).state; st == absent || st == mined || st == replaced {
					return false
				}
				s.w.btc.height++
				*of(s) = btx{replaced, s.w.btc.height, of(s).known}
				return true
			}})
	}
	for d := int16(1); d <= finalAfter; d++ {
		back := func(s *sim, lost bool) bool {
			hit, from := false, s.w.btc.height-d
			for i := range s.w.btc.txs {
				t := &s.w.btc.txs[i]
				if t.at <= from || t.at == 0 {
					continue
				}
				hit = true
				switch *t = (btx{state: waiting, known: t.known}); {
				case s.flow.Type == swap.SPVFromBTC && i == 1: // a stranger's, which lacks the provider's signature
					t.state = signed
				case lost:
					t.state = dropped
				}
			}
			if hit {
				s.w.btc.height = from + 1
			}
			return hit
		}
		all = append(all,
			action{fmt.Sprintf("a reorganisation of Bitcoin takes back %d blocks", d), 1, func(s *sim) bool { return back(s, false) }},
			action{fmt.Sprintf("a reorganisation of Bitcoin takes back %d blocks, and their transactions are forgotten", d), 1, func(s *sim) bool { return back(s, true) }})
	}
	return all
}

// fund hands in a signed Bitcoin transaction.
func (s *sim) fund(r *swap.Record, o opts) bool {
	b := &s.w.btc
	s.paysAgain(0)
	if len(r.Bitcoin.Void) > 0 { // a second transaction of this wallet would be another one
		return false
	}
	sub := swap.Submit{Action: swap.ActionFund, PSBT: &swap.SignedPSBT{TxID: paymentIDs[0], Tx: rawPayment(0), Posted: []byte{1}}, ByOwner: true}
	switch b.txs[0].state {
	case absent, signed, replaced:
		b.txs[0] = btx{state: signed, known: true}
	}
	if len(r.Bitcoin.Declined) == 0 { // what was refused and is signed again spends the same: one of them can be mined
		b.signs++
	}
	switch _, _, err := s.turn(sub, o); {
	case err == nil && !s.rec.Submitted([]string{paymentIDs[0].String()}) && !(s.rec.Posted() && s.rec.Bitcoin.TxID == paymentIDs[0]):
		s.broken("what was signed is taken, and not kept")
	case err == nil && s.rec.Submission != nil && s.rec.Submission.Closed:
		s.broken("what was signed is taken, and not sent")
	case err != nil && err != errDied:
		s.broken("what was offered for signing is refused: %v", err)
	}
	return true
}

// intrude has a stranger hand in a transaction that pays nothing: he spends its coin
// elsewhere at once, or the provider will refuse it.
func (s *sim) intrude(spent bool) bool {
	b := &s.w.btc
	if s.w.asleep || b.txs[1].state != absent {
		return false
	}
	b.txs[1] = btx{state: signed}
	sub := swap.Submit{Action: swap.ActionFund, PSBT: &swap.SignedPSBT{TxID: paymentIDs[1], Tx: rawPayment(1), Posted: []byte{2}}}
	_, _, err := s.turn(sub, opts{})
	if err == nil && spent {
		b.height++
		b.txs[1] = btx{state: replaced, at: b.height}
	}
	return err == nil
}

// paysAgain notes that the user is asked for a payment, with transaction i: none may be
// able to be mined beside it.
func (s *sim) paysAgain(i int) {
	for j, t := range s.w.btc.txs {
		forgotten := t.state == dropped && t.known && i != j && s.flow.Type == swap.FromBTC // a trusted provider says whether it has seen it
		if t.state == waiting || t.state == mined || forgotten {
			s.broken("the user is asked for a payment, while another is on its way")
		}
	}
}

func (s *sim) performMore(r *swap.Record, e swap.Effect) (done, no bool) {
	b := &s.w.btc
	switch e.Kind {
	case swap.Broadcast:
		switch b.txs[0].state {
		case signed, dropped:
			b.txs[0].state = waiting
		case replaced:
			return false, true
		}
		return true, false
	case swap.PostPSBT:
		if r.Vault.Deadline.Passed(s.clock(0)) && s.o.skew == 0 {
			s.broken("the signed transaction is posted after the quote's end")
		}
		switch {
		case r.Bitcoin.TxID == paymentIDs[1]: // a stranger's, which is no good
			return false, s.w.mood != silent
		case s.w.mood == silent:
			b.posted = true
			return false, false
		case s.w.mood == liesRefund: // it refuses, and keeps what it was given
			b.posted, b.refused = true, true
			return false, true
		}
		b.posted = true
		return true, false
	case swap.SetRefund:
		if s.w.mood == silent {
			return false, false
		}
		s.w.gas.told = true
		return true, false
	}
	return false, false
}

// The vault.

func (s *sim) vaultClaim() bool {
	b := &s.w.btc
	if b.claimed != 0 || b.shut != 0 || b.confirmations(0, b.height) < 2 {
		return false
	}
	b.claimed = s.w.height
	return true
}

func (s *sim) vaultBack(back func(*int16) bool) {
	back(&s.w.btc.fronted)
	back(&s.w.btc.claimed)
	back(&s.w.btc.shut)
}

func (s *sim) withdrawalAt(h int16) (chains.WithdrawalState, int16) {
	b := &s.w.btc
	switch {
	case b.shut != 0 && b.shut <= h:
		return chains.WithdrawalClosed, b.shut
	case b.claimed != 0 && b.claimed <= h:
		return chains.WithdrawalClaimed, b.claimed
	case b.fronted != 0 && b.fronted <= h:
		return chains.WithdrawalFronted, b.fronted
	}
	return chains.WithdrawalNone, 0
}

var vaultUTXO = bitcoin.OutPoint{Hash: chainhash.Hash{10}, Index: 0}

func (a answer) Vault(context.Context, string, string, chains.VaultID) (chains.VaultFact, error) {
	if a.missing(aVault) {
		return chains.VaultFact{}, errSilent
	}
	head, h := a.s.head(a.o.lag)
	state, _ := a.s.withdrawalAt(h)
	if liar := a.s.w.liar; liar > 0 && chains.WithdrawalState(liar-1) != state {
		return chains.VaultFact{}, &chains.ContradictionError{About: "the vault"}
	}
	f := chains.VaultFact{Head: head, Vault: chains.Vault{Open: state != chains.WithdrawalClosed}}
	f.Vault.UTXO = vaultUTXO
	if state == chains.WithdrawalClaimed {
		f.Vault.UTXO = bitcoin.OutPoint{Hash: chainhash.Hash(paymentIDs[0]), Index: 0}
	}
	return f, nil
}

func (a answer) Withdrawal(_ context.Context, _, _ string, q chains.WithdrawalQuery) (chains.WithdrawalFact, error) {
	if a.missing(aWithdrawal) {
		return chains.WithdrawalFact{}, errSilent
	}
	a.s.remembering.Lock()
	defer a.s.remembering.Unlock()
	head, h := a.s.head(a.o.lag)
	state, since := a.s.withdrawalAt(h)
	wrong, long := a.o.wrong, int16(0)
	if liar := a.s.w.liar; liar > 0 && q.Settled {
		if said := chains.WithdrawalState(liar - 1); said != state {
			return chains.WithdrawalFact{}, &chains.ContradictionError{About: "the withdrawal"}
		}
	} else if liar > 0 {
		wrong, long = liar, finalAfter
	}
	w := word{settled: a.s.w.liar == 0 || q.Settled, asked: a.s.clock(a.o.skew)}
	plain, known := a.s.w.liar == 0 || !q.Settled, a.s.recall().vault
	if wrong := chains.WithdrawalState(wrong - 1); wrong >= 0 && wrong != state {
		w.lie = true
		state, since = wrong, h-long
	} else if _, searched := known.From(w.asked); plain && searched && state != chains.WithdrawalNone {
		w.lie = true
		state, since = chains.WithdrawalNone, 0
	}
	f := chains.WithdrawalFact{State: state, Height: uint64(since)}
	if a.s.w.btc.fronted != 0 && a.s.w.btc.fronted <= h || state == chains.WithdrawalFronted {
		f.FrontTx = "front"
	}
	switch state {
	case chains.WithdrawalClaimed:
		f.ClaimTx = "claim"
	case chains.WithdrawalClosed:
		f.Close = "close"
	}
	if done, ok := known.Done(); ok && plain {
		f, since = done, int16(done.Height)
	} else {
		is, _ := a.s.withdrawalAt(a.s.w.height)
		a.s.noteVault(w, f, is, stays(h))
	}
	f.Head, f.Unsettled = head, a.s.w.liar != 0 && !q.Settled
	f.Final = since+finalAfter <= h && !f.Unsettled
	return f, nil
}

// SPV_VAULT_FROM_BTC: one Bitcoin transaction pays the provider and makes a vault pay.
func spvStory() *story {
	deadline := zero.Add(15 * time.Minute)
	st := &story{
		name: swap.SPVFromBTC.String(), flow: flowOf(swap.SPVFromBTC),
		moments: []time.Duration{0, 4 * time.Minute, 12 * time.Minute, 20 * time.Minute, 2 * hour, 30 * hour, 15 * 24 * hour},
		begin: func() []start {
			r := firstRecord(swap.SPVFromBTC)
			r.Bitcoin = &swap.BitcoinPart{Address: "bc1q", Sats: 990, Confirmations: 2, Script: depositScript}
			r.Vault = &swap.VaultPart{QuoteID: "q", Owner: "lp", VaultID: big.NewInt(1), Multipliers: [2]*big.Int{big.NewInt(1), big.NewInt(1)},
				UTXO: vaultUTXO.String(), UTXOSats: 600, Deadline: swap.At(deadline)}
			return starts(r)
		},
		answers: func(s *sim, o opts) engine.Reader { return answer{s: s, o: o} },
		truth:   spvTruth,
		rests: func(s *sim, r *swap.Record, gone bool) bool { // what nobody sends stays valid, and is not spent
			b := &s.w.btc
			t := b.txs[0].state
			head, _ := s.head(false)
			return r.State == swap.SPVDeclined && t != mined && t != waiting ||
				gone && t == dropped && r.Seen.Reached(head) && s.clock(0).Sub(deadline) > 20*24*hour
		},
	}
	sends := func(s *sim) bool {
		t := &s.w.btc.txs[0]
		if !s.w.btc.posted || t.state != signed && t.state != dropped {
			return false
		}
		t.state = waiting
		return true
	}
	claims := func(s *sim) bool {
		b := &s.w.btc
		if b.claimed != 0 || b.shut != 0 || b.confirmations(0, b.height) < 2 {
			return false
		}
		s.block()
		return s.vaultClaim()
	}
	st.fair = func(s *sim, gone bool) bool {
		switch {
		case s.turns(working, gone):
			return true
		case claims(s): // a watchtower
			return true
		}
		return !gone && !s.w.btc.refused && sends(s)
	}
	st.ended = func(s *sim, r *swap.Record, _ bool) string {
		b := &s.w.btc
		state, _ := s.withdrawalAt(s.w.height)
		switch {
		case b.signs > 1:
			return "the user has signed twice"
		case b.txs[0].state == mined && state == chains.WithdrawalNone:
			return fmt.Sprintf("the user has paid, and the vault has not; shown as %s", row(s.flow, r.State))
		case b.txs[0].state != mined && state != chains.WithdrawalNone && r.Posted():
			// A reorganisation of Bitcoin took back what the vault had paid for: the user has both.
		case state == chains.WithdrawalClaimed && (r.State == swap.SPVExpired || r.State == swap.SPVFailed) && r.Posted():
			// A reorganisation took back the double spend for which it was given up, after weeks of rest.
		case state == chains.WithdrawalClaimed && r.State != swap.SPVClaimed && r.State != swap.SPVFronted,
			state == chains.WithdrawalClosed && r.State != swap.SPVClosed && r.State != swap.SPVFronted,
			state == chains.WithdrawalNone && (r.State == swap.SPVClaimed || r.State == swap.SPVFronted || r.State == swap.SPVClosed):
			return fmt.Sprintf("it is shown as %s, and the vault's withdrawal is %d", row(s.flow, r.State), state)
		}
		return ""
	}
	wrong := map[int8]string{1: "the vault has done nothing", 2: "the payout was advanced", 3: "the vault has paid", 4: "the vault has closed"}
	st.faults = looks(map[fact]string{aPayment: "the Bitcoin transaction", aSpends: "its inputs", aVault: "the vault", aWithdrawal: "the withdrawal", aTxs: "transactions"}, wrong)
	st.actions = append(append(append(process(), nature()...), lies(wrong)...), bitcoinNature(1)...)
	hint := func(s *sim) bool {
		if s.w.asleep {
			return false
		}
		was := s.rec
		res, _, err := s.turn(swap.Look{}, opts{})
		if err != nil {
			s.broken("a hint is not taken: %v", err)
			return true
		}
		head, _ := s.head(false)
		if state, _ := s.withdrawalAt(s.w.height); state == chains.WithdrawalFronted && s.w.liar == 0 && !s.misled() && was.Seen.Reached(head) && res.Record.State != swap.SPVFronted && !res.Record.Settled {
			s.broken("the payout was advanced, the process has heard of it, and the swap is %s", row(s.flow, res.Record.State))
		}
		return was != s.rec
	}
	st.actions = append(st.actions,
		action{"the provider sends the transaction", 0, func(s *sim) bool { return !s.w.btc.refused && s.w.mood == working && sends(s) }},
		action{"the provider sends the transaction after all", 1, sends},
		action{"a watchtower has the vault pay", 0, claims},
		action{"somebody advances the payout", 1, func(s *sim) bool {
			b := &s.w.btc
			if b.fronted != 0 || b.claimed != 0 || b.shut != 0 || b.txs[0].state != waiting && b.txs[0].state != mined {
				return false
			}
			s.block()
			b.fronted = s.w.height
			return true
		}},
		action{"the vault closes over the transaction", 1, func(s *sim) bool {
			b := &s.w.btc
			if b.claimed != 0 || b.shut != 0 || b.confirmations(0, b.height) < 2 {
				return false
			}
			s.block()
			b.shut = s.w.height
			return true
		}},
		action{"the process hears of an event of the vault", 0, hint},
		action{"a stranger hands in a transaction, and spends its coin elsewhere", 1, func(s *sim) bool { return s.intrude(true) }},
		action{"a stranger hands in a transaction that the provider will refuse", 1, func(s *sim) bool { return s.intrude(false) }},
		speak("the provider speaks again", working, 0, nil),
		speak("the provider falls silent", silent, 1, nil),
		speak("the provider refuses whatever it is asked to sign", liesRefund, 1, nil),
	)
	return st
}

func spvTruth(s *sim, was *swap.Record, res *engine.Result) string {
	r, b := res.Record, &s.w.btc
	head, _ := s.head(false)
	if r.State == swap.SPVExpired && !r.Posted() && b.posted && b.txs[0].state != replaced { // with a provider that has refused it, and keeps it
		return "the quote counts as unused, and a signed transaction can be sent"
	}
	if was.Settled || r.Settled || !was.Seen.Reached(head) {
		return ""
	}
	in := func(states ...int) bool { return slices.Contains(states, r.State) }
	state, _ := s.withdrawalAt(s.w.height)
	ok := true
	n := b.confirmations(0, b.height)
	switch {
	case !r.Posted():
		sent := b.txs[0].state == waiting || b.txs[0].state == mined
		ok = in(swap.SPVCreated, swap.SPVSoftExpired, swap.SPVExpired) && !(sent && len(r.Bitcoin.Declined) > 0)
		if in(swap.SPVExpired) && !r.Vault.Deadline.Passed(s.clock(0)) && s.w.off == 0 && was.State != swap.SPVExpired {
			ok = false
		}
	case r.Bitcoin.TxID == paymentIDs[1]: // nobody sends it
		ok = in(swap.SPVSigned, swap.SPVSoftExpired, swap.SPVExpired, swap.SPVDeclined)
		if in(swap.SPVExpired, swap.SPVDeclined) && !r.Expiry.Passed(s.clock(0)) && was.State != r.State && s.w.mood == working {
			return "a stranger has ended the swap"
		}
	case in(swap.SPVFronted):
		ok = state == chains.WithdrawalFronted || state == chains.WithdrawalClosed && b.fronted != 0
	case state == chains.WithdrawalClaimed && b.txs[0].state == mined:
		ok = in(swap.SPVClaimed)
	case state == chains.WithdrawalClosed && b.txs[0].state == mined:
		ok = in(swap.SPVClosed) && (was.State != swap.SPVFronted || b.fronted == 0)
	case state != chains.WithdrawalNone: // advanced: the process hears of that by an event
		ok = state != chains.WithdrawalFronted || !in(swap.SPVClaimed, swap.SPVClosed)
	case n >= 2:
		ok = in(swap.SPVConfirmed)
	case b.txs[0].state == mined || b.txs[0].state == waiting:
		ok = in(swap.SPVBroadcasted)
	case b.txs[0].state == replaced:
		ok = in(swap.SPVExpired, swap.SPVFailed) ||
			in(swap.SPVDeclined) && was.State == swap.SPVCreated && was.Expiry.Passed(s.clock(0)) // followed again from now on, its inputs are asked for at the next look
	default: // given up for a double spend, it is watched on: it may be mined after a reorganisation
		ok = !in(swap.SPVClaimed, swap.SPVFronted, swap.SPVClosed) &&
			(!in(swap.SPVExpired, swap.SPVFailed) || was.State == r.State)
	}
	if !ok {
		return fmt.Sprintf("the swap is %s; the Bitcoin transaction is %d with %d confirmations, the vault's withdrawal %d", row(s.flow, r.State), b.txs[0].state, n, state)
	}
	return spvInTime(s, was, r)
}
