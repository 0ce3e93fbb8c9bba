package explore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/tokens"
)

// The escrow of all stories, and the preimage behind it.
var (
	secret  = chains.Preimage{1, 2, 3}
	payHash = sha256.Sum256(secret[:])
)

func expiry() time.Time { return zero.Add(12 * hour) }

// expiry is when the escrow ends that the provider opens or authorises.
func (s *sim) expiry() time.Time {
	if len(s.ends) == 0 {
		return expiry()
	}
	return zero.Add(s.ends[s.w.ends])
}

// authUntil is until when, in Unix seconds, the provider's authorisation to open is good.
func (s *sim) authUntil() int64 { return zero.Add(s.authFor).Unix() }

func theEscrow() *chains.Escrow {
	return &chains.Escrow{Version: "v1", Offerer: "me", Claimer: "lp", Amount: big.NewInt(1000), ClaimHash: payHash[:], Hash: []byte{7}, Expiry: expiry().Unix(), Data: []byte(`"agreed"`)}
}

// firstRecord is what all swaps begin with.
func firstRecord(t swap.Type) *swap.Record {
	amount := func(n int64) tokens.Amount { return tokens.Amount{Token: tokens.BTC(), Raw: big.NewInt(n)} }
	return &swap.Record{
		Head: swap.Head{ID: swapID, Type: t, Chain: "CITREA", Contract: "v1", Signer: "me", LP: swap.LP{URL: "https://lp", Address: "lp"},
			CreatedAt: swap.At(zero), Expiry: swap.At(zero.Add(10 * time.Minute)), From: 90},
		Terms: swap.Terms{Input: amount(1000), Output: amount(990), SwapFee: amount(10), Recipient: "me"},
	}
}

// firstWorld is the world in which a quote has just been made.
func firstWorld() world { return world{height: 100, btc: btcWorld{height: 100}} }

// starts are the beginnings with a clock that is right, behind, or ahead.
func starts(r *swap.Record) (all []start) {
	for _, off := range []int8{0, -1, 1} {
		w := firstWorld()
		w.off = off
		all = append(all, start{w, r, max(off, -off)})
	}
	return all
}

// turns makes the provider say what it says at a fair end, where it may be gone, and reports
// whether it said something else.
func (s *sim) turns(honest mood, gone bool) bool {
	if gone {
		honest = silent
	}
	turned := s.w.mood != honest
	s.w.mood = honest
	return turned
}

func (a answer) Escrow(_ context.Context, _, _ string, q chains.EscrowQuery) (chains.EscrowFact, error) {
	if a.missing(aEscrow) && q.ClaimHash == nil || a.missing(aFound) && q.ClaimHash != nil {
		return chains.EscrowFact{}, errSilent
	}
	a.s.remembering.Lock()
	defer a.s.remembering.Unlock()
	head, h := a.s.head(a.o.lag)
	state, since := a.s.w.escrowAt(h)
	which, is := 0, a.s.w.escrow()
	if q.Escrow != nil && bytes.Equal(q.Escrow.Hash, shortHash) { // nobody opens what was announced falsely
		state, since = chains.EscrowNone, 0
		which, is = 1, chains.EscrowNone
	}
	result := a.s.claimResult()
	wrong, long := a.o.wrong, int16(0)
	if liar := a.s.w.liar; liar > 0 && q.Settled {
		if said := chains.EscrowState(liar - 1); said != state {
			return chains.EscrowFact{}, &chains.ContradictionError{About: "the escrow", Open: state == chains.EscrowOpen || said == chains.EscrowOpen}
		}
	} else if liar > 0 {
		wrong, long = liar, finalAfter
	}
	w := word{settled: a.s.w.liar == 0 || q.Settled, asked: a.s.clock(a.o.skew)}
	plain, known := a.s.w.liar == 0 || !q.Settled, a.s.recall()
	if wrong := chains.EscrowState(wrong - 1); wrong >= 0 && wrong != state {
		w.lie = true
		if state, since = wrong, h-long; a.s.flow.Type == swap.FromBTCLNAuto || a.s.flow.Type == swap.FromBTCLN {
			result = make([]byte, 32) // nobody can show a preimage that is not known
		}
	} else if _, searched := known.search.Hint(w.asked); plain && searched && q.ClaimHash != nil && state != chains.EscrowNone {
		w.lie = true
		state, since = chains.EscrowNone, 0
	}
	if q.ClaimHash != nil {
		a.s.noteSearch(w, state != chains.EscrowNone)
	}
	f := chains.EscrowFact{State: state}
	if state != chains.EscrowNone {
		f.InitTx, f.Opened = "init", chains.Block{Height: uint64(max(a.s.w.opened, 1))}
	}
	if state == chains.EscrowOpen {
		f.Opened.Height = uint64(since)
	}
	switch state {
	case chains.EscrowClaimed:
		f.ClaimTx, f.Result, f.Finished.Height = "claim", result, uint64(since)
	case chains.EscrowRefunded:
		f.RefundTx, f.Finished.Height = "refund", uint64(since)
	}
	if q.ClaimHash == nil || state != chains.EscrowNone {
		if kept, ended := known.escrows[which].Ended(); ended && plain {
			f, since = kept, int16(kept.Finished.Height)
		} else {
			a.s.noteEscrow(w, which, f, is, stays(h))
		}
	}
	f.Head, f.Unsettled = head, a.s.w.liar != 0 && !q.Settled
	f.Final = since+finalAfter <= h && !f.Unsettled
	if q.ClaimHash != nil && state != chains.EscrowNone {
		f.Escrow = a.s.inEscrow()
	}
	if q.Auth != nil {
		switch now := a.s.clock(a.o.skew).Unix(); {
		case head.Time > a.s.authUntil():
			f.Auth = chains.AuthOver
		case a.s.authUntil()-now >= 30:
			f.Auth = chains.AuthGood
		default:
			f.Auth = chains.AuthLate
		}
	}
	return f, nil
}

func (a answer) Txs(_ context.Context, _ string, txs []chains.Signed) ([]chains.TxStatus, error) {
	if a.missing(aTxs) {
		return nil, errSilent
	}
	_, h := a.s.head(a.o.lag)
	all := make([]chains.TxStatus, len(txs))
	if a.o.blank {
		return all, nil
	}
	for i := range a.s.w.txs {
		for j, asked := range txs {
			if asked.ID != txID(i) {
				continue
			}
			t := a.s.w.txs[i]
			st := chains.TxStatus{Block: chains.Block{Height: uint64(t.at)}, Final: t.at+finalAfter <= h}
			switch {
			case (t.state == mined || t.state == reverted) && t.at > h:
				st = chains.TxStatus{State: chains.TxPending}
			case t.state == mined:
				st.State = chains.TxConfirmed
			case t.state == reverted:
				st.State, st.Reason = chains.TxReverted, "reverted"
			case t.state == replaced:
				st = chains.TxStatus{State: chains.TxReplaced, Reason: "replaced"}
			case t.state == waiting:
				st = chains.TxStatus{State: chains.TxPending}
			default:
				st = chains.TxStatus{}
			}
			all[j] = st
		}
	}
	return all, nil
}

// looks returns all that can be wrong with one look of the process at the world.
func looks(facts map[fact]string, wrong map[int8]string) []look {
	all := []look{
		{name: "the process dies before it does what is due", passOnly: true},
		{name: "the process dies after its first write", o: opts{die: 1}, passOnly: true},
		{name: "the process dies after its second write", o: opts{die: 2}, passOnly: true},
		{name: "nobody answers", o: opts{miss: ^fact(0)}},
		{name: "the nodes are three blocks behind", o: opts{lag: true}},
		{name: "what is due is lost on its way", ends: lostBefore},
		{name: "what is due is done, and the answer is lost", ends: lostAfter},
		{name: "the process dies once it has noted what it begins", ends: diedBefore},
		{name: "the process does what is due, and dies before it notes that", ends: diedAfter},
		{name: "what is due is refused", ends: refused},
	}
	for f := fact(1); f != 0; f <<= 1 {
		if name := facts[f]; name != "" {
			all = append(all, look{name: "there is no answer about " + name, o: opts{miss: f}})
		}
	}
	if facts[aTxs] != "" {
		all = append(all, look{name: "a node knows none of the transactions", o: opts{blank: true}})
	}
	for n := int8(1); n < 8; n++ {
		if name := wrong[n]; name != "" {
			all = append(all, look{name: "a node says wrongly that " + name, o: opts{wrong: n}})
		}
	}
	for _, h := range []int8{-3, 3} {
		all = append(all,
			look{name: fmt.Sprintf("its clock is off by %+d h", h), o: opts{skew: h}},
			look{name: fmt.Sprintf("its clock is off by %+d h, and nobody answers", h), o: opts{skew: h, miss: ^fact(0)}})
	}
	return all
}

// process is what becomes of the process itself.
func process() []action {
	return []action{
		{"the process looks", 0, func(s *sim) bool { return !s.w.asleep }},
		{"the process stops", 1, func(s *sim) bool {
			if s.w.asleep {
				return false
			}
			s.w.asleep = true
			s.forget()
			return true
		}},
		{"the process starts again", 0, func(s *sim) bool {
			if !s.w.asleep {
				return false
			}
			s.w.asleep = false
			return true
		}},
	}
}

var wrongEscrow = map[int8]string{
	1 + int8(chains.EscrowNone):     "the escrow was never opened",
	1 + int8(chains.EscrowOpen):     "the escrow is open",
	1 + int8(chains.EscrowClaimed):  "the escrow was claimed",
	1 + int8(chains.EscrowRefunded): "the escrow was refunded",
}

// lies are a provider's that has the first of two nodes: it says so for as long as the
// provider likes.
func lies(wrong map[int8]string) []action {
	all := []action{{"the provider's node says what is true, or is not asked any more", 0, func(s *sim) bool {
		if s.w.liar <= 0 {
			return false
		}
		s.reform()
		return true
	}}}
	for n := int8(1); n < 8; n++ {
		if name := wrong[n]; name != "" {
			all = append(all, action{"the first of two nodes is the provider's: it says that " + name, 1, func(s *sim) bool {
				if s.w.liar == n {
					return false
				}
				if s.w.liar <= 0 { // what one honest node said
					s.forget()
				}
				s.w.liar = n
				return true
			}})
		}
	}
	return all
}

// nature is what happens to the chain and to those who sign.
func nature() []action {
	all := []action{
		{"the user signs what is asked for", 0, func(s *sim) bool { return !s.w.asleep && s.user(owner, opts{}) }},
		{"a stranger signs what is asked for", 1, func(s *sim) bool { return !s.w.asleep && s.user(stranger, opts{}) }},
		{"the user signs what is asked for, and the process dies when it is stored", 1, func(s *sim) bool {
			s.quiet = true
			return !s.w.asleep && s.user(owner, opts{die: 1})
		}},
		{"the user signs what is asked for, and a node knows none of the transactions", 1, func(s *sim) bool {
			return !s.w.asleep && s.user(owner, opts{blank: true})
		}},
		handsIn(),
		{"time passes", 0, func(s *sim) bool { return s.explored() && s.tick(false) }},
		{"time passes, and no block is found", 1, func(s *sim) bool { return s.explored() && s.tick(true) }},
	}
	for i := range slots {
		of := func(s *sim) *tx { return &s.w.txs[i] }
		all = append(all,
			action{fmt.Sprintf("transaction %d is mined", i), 0, func(s *sim) bool { return of(s).state == waiting && s.mine(i) }},
			action{fmt.Sprintf("transaction %d, which the nodes had forgotten, is mined", i), 1, func(s *sim) bool { return of(s).state == dropped && s.mine(i) }},
			action{fmt.Sprintf("transaction %d is mined without effect", i), 1, func(s *sim) bool {
				if of(s).state != waiting {
					return false
				}
				s.block()
				of(s).state, of(s).at = reverted, s.w.height
				if of(s).reveal {
					s.w.public = true
				}
				return true
			}},
			action{fmt.Sprintf("the nodes forget transaction %d", i), 1, func(s *sim) bool {
				if of(s).state != waiting {
					return false
				}
				of(s).state = dropped
				return true
			}})
	}
	for d := int16(1); d <= finalAfter; d++ {
		all = append(all,
			action{fmt.Sprintf("a reorganisation takes back %d blocks", d), 1, func(s *sim) bool { return s.reorganise(d, false) }},
			action{fmt.Sprintf("a reorganisation takes back %d blocks, and their transactions are forgotten", d), 1, func(s *sim) bool { return s.reorganise(d, true) }})
	}
	return all
}

// explored reports whether the time of the exploration goes on: what comes later is the
// same for ever.
func (s *sim) explored() bool { return int(s.w.now) < len(s.moments) }

// speak sets what the provider says.
func speak(name string, m mood, cost int8, when func(w *world) bool) action {
	return action{name, cost, func(s *sim) bool {
		if s.w.mood == m || when != nil && !when(&s.w) {
			return false
		}
		s.w.mood = m
		return true
	}}
}

func (s *sim) settled(r *swap.Record, gone bool) bool {
	row, _ := s.flow.State(r.State)
	return r.Settled || row.Expired || s.rests != nil && s.rests(s, r, gone)
}

func hexHash() string { return hex.EncodeToString(payHash[:]) }
