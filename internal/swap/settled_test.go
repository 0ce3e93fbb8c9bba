package swap

import (
	"slices"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
)

// flowOf returns a type as the engine uses it.
func flowOf(t *testing.T, typ Type) *Flow {
	t.Helper()
	all := Flows()
	i := slices.IndexFunc(all, func(f *Flow) bool { return f.Type == typ })
	if i < 0 {
		t.Fatalf("no type %s", typ)
	}
	return all[i]
}

// oneWord makes all that a pass was told of the chain the word of one of several nodes.
func oneWord(in *Decision) {
	for _, f := range []*chains.EscrowFact{&in.Obs.Escrow.Value, &in.Obs.Found.Value} {
		f.Unsettled, f.Final = true, false
	}
	in.Obs.Withdrawal.Value.Unsettled, in.Obs.Withdrawal.Value.Final = true, false
}

// contradicted is an escrow about which the nodes contradict each other.
func contradicted(open bool) Fact[chains.EscrowFact] {
	f := failed(chains.EscrowFact{})
	f.Err = &chains.ContradictionError{About: "escrow 01", Open: open}
	return f
}

// Whatever one of several nodes says of the chain, no type and no state comes to an end by
// it, nor is a swap left alone: all nodes are asked first.
func TestOneNodesWordEndsNothing(t *testing.T) {
	facts := []chains.EscrowFact{
		{State: chains.EscrowClaimed, Final: true, Result: autoPreimage[:], Finished: chains.Block{Height: 99}},
		{State: chains.EscrowRefunded, Final: true, Finished: chains.Block{Height: 99}},
		{State: chains.EscrowNone, Auth: chains.AuthOver},
	}
	ends := 0
	check := func(f *Flow, in Decision) {
		t.Helper()
		in.Obs.Txs, in.Obs.LP = known(map[string]chains.TxStatus{}), known(in.Obs.LP.Value)
		next, believed := f.Step(in)
		row, _ := f.State(next.State)
		was, _ := f.State(in.R.State)
		settles := next.Settled && !in.R.Settled || next.Ended > in.R.Ended
		if !settles && !(row.Finished && next.State != in.R.State) {
			return // nothing ends even if all nodes say so
		}
		ends++
		told := in
		o := *in.Obs
		told.Obs = &o
		oneWord(&told)
		after, move := f.Step(told)
		if end, _ := f.State(after.State); end.Finished && after.State != in.R.State || after.Settled && !in.R.Settled || after.Ended > in.R.Ended {
			t.Errorf("%s from %s: %v by the word of one node", f.Type, was.Name, move)
		}
		a := f.Ask(told)
		if a.Escrow == nil && a.Withdrawal == nil && a.Found == nil || a.Escrow != nil && !a.Escrow.Settled || a.Withdrawal != nil && !a.Withdrawal.Settled || a.Found != nil && !a.Found.Settled {
			t.Errorf("%s from %s, %v: the other nodes are not asked: %+v", f.Type, was.Name, believed, a)
		}
		if a := f.Ask(in); a.Escrow != nil || a.Withdrawal != nil || a.Found != nil {
			t.Errorf("%s from %s: what all nodes say is asked again", f.Type, was.Name)
		}
	}
	for _, typ := range []Type{ToBTC, ToBTCLN, FromBTC, FromBTCLN, FromBTCLNAuto} {
		f := flowOf(t, typ)
		for _, state := range f.States {
			for _, fact := range facts {
				var in Decision
				switch typ {
				case ToBTC, ToBTCLN:
					in = outPass(state.Number, fact)()
				case FromBTC:
					in = depositPass(state.Number)()
					fact.Head = in.Obs.Escrow.Value.Head
					in.Obs.Escrow = known(fact)
				case FromBTCLN:
					in = heldPass(state.Number, fact)()
				default:
					in = autoPass(state.Number, fact)()
				}
				in.R.Type = typ
				if in.R.Escrow.Real == nil {
					continue
				}
				for _, since := range []Millis{0, ago(time.Hour)} { // also when the end was heard once
					in := in
					in.R = in.R.Clone()
					in.R.Ended = since
					check(f, in)
				}
			}
		}
	}
	spv := flowOf(t, SPVFromBTC)
	for _, state := range spv.States {
		for _, fact := range []chains.WithdrawalState{chains.WithdrawalClaimed, chains.WithdrawalClosed, chains.WithdrawalFronted} {
			in := passOf(spvPass(state.Number), withdrawn(fact))()
			if !in.R.Posted() {
				continue
			}
			in.Obs.Withdrawal.Value.Final = true
			in.Obs.Payment = known(depositTx(6))
			in.Obs.Vault = known(chains.VaultFact{Vault: chains.Vault{}, Head: in.Obs.Withdrawal.Value.Head})
			in.R.Ended = ago(time.Hour)
			if !slices.Contains([]int{SPVBroadcasted, SPVConfirmed, SPVClaimed, SPVClosed, SPVFronted}, state.Number) {
				in.Input = Look{} // elsewhere only an event has the withdrawal looked for
			}
			check(spv, in)
		}
	}
	if ends < 60 {
		t.Errorf("only %d ends were tried", ends)
	}
}

// A preimage is shown only when no node objects to the open escrow that it is for. Once it
// is public the claim waits for nothing, not even for nodes that contradict each other.
func TestPreimageWaitsForAllNodes(t *testing.T) {
	open := chains.EscrowFact{State: chains.EscrowOpen, Final: true, Opened: chains.Block{Height: 90}}
	for _, typ := range []Type{FromBTCLNAuto, FromBTCLN} {
		f := flowOf(t, typ)
		pass := func() Decision {
			in := autoPass(LnCommitted, open)()
			in.R.Type, in.R.Escrow.OpenedAt = typ, ago(time.Hour)
			in.R.Submission = &Submission{Action: actionClaim, Since: At(in.Now), Txs: []SignedTx{{Signed: chains.Signed{ID: "0x2", From: "me", Reveals: true}}}}
			return in
		}
		reveals := func(in Decision) (n int) {
			for _, e := range f.Effects(in) {
				if e.Reveals || e.Kind == Publish {
					n++
				}
			}
			return n
		}
		offered := func(in Decision) bool {
			in.R.Submission = nil
			s, ok := f.View(in).Action.(*Sign)
			return ok && s.For == actionClaim
		}
		in := pass()
		if reveals(in) == 0 || !offered(in) || f.Ask(in).Escrow != nil {
			t.Errorf("%s: nothing is shown for an escrow that all nodes show open: %v, %v, %v", typ, reveals(in), offered(in), f.Ask(in).Escrow)
		}
		in = pass()
		oneWord(&in)
		if reveals(in) != 0 || offered(in) {
			t.Errorf("%s: the preimage is shown by the word of one node", typ)
		}
		in = pass()
		oneWord(&in)
		if q := f.Ask(in).Escrow; q == nil || !q.Settled {
			t.Errorf("%s: the other nodes are not asked: %+v", typ, q)
		}
		in = pass()
		in.Obs.Escrow = contradicted(true)
		if reveals(in) != 0 || offered(in) {
			t.Errorf("%s: the preimage is shown while nodes contradict each other", typ)
		}
		if v := f.View(in); v.Blocked == nil {
			t.Errorf("%s: the contradiction is not shown", typ)
		}
		for name, fact := range map[string]Fact[chains.EscrowFact]{"one node says it is open": in.Obs.Escrow, "the first node says so": func() Fact[chains.EscrowFact] { p := pass(); oneWord(&p); return p.Obs.Escrow }()} {
			in = pass()
			in.R.Lightning.Revealed = ago(time.Minute)
			in.Obs.Escrow = fact
			if reveals(in) == 0 {
				t.Errorf("%s: %s, the preimage is public, and it is not claimed", typ, name)
			}
			if q := f.Ask(in).Escrow; fact.Known() && q != nil {
				t.Errorf("%s: %s, the preimage is public, and the other nodes are asked first", typ, name)
			}
		}
		in = pass()
		in.R.Lightning.Revealed = ago(time.Minute)
		if in.Obs.Escrow = contradicted(false); reveals(in) != 0 {
			t.Errorf("%s: it is claimed though no node says that it is open", typ)
		}
	}
}

// The user is asked for a bitcoin payment, and a signed one is taken, only when no node
// objects to the open escrow that it is for.
func TestPaymentWaitsForAllNodes(t *testing.T) {
	f := flowOf(t, FromBTC)
	asked := func(in Decision) bool { _, ok := f.View(in).Action.(*Pay); return ok }
	pay := Submit{Action: ActionFund, PSBT: psbtOf()}
	in := depositPass(InCommitted)()
	if !asked(in) || f.Ask(in).Escrow != nil {
		t.Fatal("the user is not asked to pay for an escrow that all nodes show open")
	}
	if _, move := f.Step(submits(func() Decision { return in }, pay)()); move == nil {
		t.Fatal("the signed payment is not taken")
	}
	oneWord(&in)
	if asked(in) {
		t.Error("the user is asked to pay by the word of one node")
	}
	if q := f.Ask(in).Escrow; q == nil || !q.Settled {
		t.Errorf("the other nodes are not asked: %+v", q)
	}
	if _, move := f.Step(submits(func() Decision { return in }, pay)()); move != nil {
		t.Errorf("a signed payment is taken by the word of one node: %s", move.Why)
	}
	if q := f.Ask(submits(func() Decision { return in }, pay)()).Escrow; q == nil || !q.Settled {
		t.Errorf("the other nodes are not asked for a signed payment: %+v", q)
	}
	in.Obs.Escrow = contradicted(true)
	if asked(in) || f.View(in).Blocked == nil {
		t.Error("the user is asked to pay while nodes contradict each other, or not told")
	}
}

// What can be undone needs no second node: no question more is asked.
func TestOneNodeIsEnoughForTheRest(t *testing.T) {
	for name, c := range map[string]struct {
		typ  Type
		pass func() Decision
	}{
		"a quote":                {ToBTCLN, outPass(OutCreated, chains.EscrowFact{Auth: chains.AuthGood})},
		"an opened escrow":       {ToBTCLN, outPass(OutCreated, chains.EscrowFact{State: chains.EscrowOpen, Final: true})},
		"an escrow that waits":   {ToBTCLN, outPass(OutCommitted, chains.EscrowFact{State: chains.EscrowOpen, Final: true})},
		"an escrow to be opened": {FromBTCLNAuto, autoPass(LnPaid, chains.EscrowFact{})},
		"an invoice to be paid":  {FromBTCLNAuto, autoPass(LnCreated, chains.EscrowFact{})},
		"a payment confirms":     {FromBTC, passOf(depositPass(InCommitted), func(in *Decision) { in.Obs.Received.Value = append(in.Obs.Received.Value, depositTx(1, 1000)) })},
	} {
		in := c.pass()
		in.R.Type = c.typ
		oneWord(&in)
		a := flowOf(t, c.typ).Ask(in)
		if a.Escrow != nil && a.Escrow.Settled || a.Found != nil && a.Found.Settled {
			t.Errorf("%s: all nodes are asked: %+v", name, a)
		}
	}
}
