package swap

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/vectors"
	"github.com/swapper-go/swapper/swap/lp"
)

const noLegacy = "the legacy escrow types come with Solana"

// course is what became of a record in a case.
type course struct {
	State  int
	Fields map[string]json.RawMessage
	Calls  [][]any
}

func (c course) called(name string) bool {
	return slices.ContainsFunc(c.Calls, func(call []any) bool { return len(call) > 0 && call[0] == name })
}

// rules are the intended differences of one case: what our answer is instead.
type rules struct {
	id              string
	state           *int
	facts           func(map[string]string)
	silent, publish bool // the preimage is not published, or is, other than in the reference
}

// compare runs the comparison that all files about a record's course share.
func compare(t *testing.T, c *vectors.Case, st *stage, before map[string]string, got *Record, want course, d *rules) {
	t.Helper()
	wantFacts, wantState, publish := wanted(before, want.Fields), want.State, want.called("broadcastSecret")
	if d != nil {
		c.Differ(t, d.id)
		if d.state != nil {
			wantState = *d.state
		}
		if d.facts != nil {
			d.facts(wantFacts)
		}
		publish = publish && !d.silent || d.publish
	}
	if got.State != wantState {
		t.Errorf("state %d, want %d (the reference %d)", got.State, wantState, want.State)
	}
	if diff := cmp.Diff(wantFacts, facts(got)); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	if is := st.Acts.count(Publish) > 0; is != publish {
		t.Errorf("preimage published: %v, want %v", is, publish)
	}
}

func to(state int) *int { return &state }

func TestVectorsSync(t *testing.T) {
	for _, name := range []string{"sync_to_btc", "sync_to_btcln", "sync_from_btcln_auto"} {
		t.Run(name, func(t *testing.T) {
			f := vectors.Load(t, "swap-flows-escrow", name)
			file := flowtest.Read(t, f)
			f.Each(t, func(t *testing.T, c *vectors.Case) {
				var in flowtest.Input
				c.Input(t, &in)
				var want course
				c.Expected(t, &want)
				s := file.Setup(t, in)
				s.Says(t, in.Env.CommitStatus, name != "sync_from_btcln_auto")
				st := perform(t, s)
				before, from := facts(st.Record), st.Record.State
				got := st.advance(t, nil)
				compare(t, c, st, before, got, want, syncRule(in, s.World.Now(), st.Record, from, got))
			})
		})
	}
}

// syncRule tells where a synchronisation ends elsewhere than the reference's, by
// what was stored and what was seen.
func syncRule(in flowtest.Input, now time.Time, r *Record, from int, got *Record) *rules {
	cs := in.Env.CommitStatus
	says := func(kinds ...string) bool { return cs != nil && slices.Contains(kinds, cs.Type) }
	refunded := cs != nil && cs.RefundTxID != ""
	if r.Type != FromBTCLNAuto {
		switch {
		case from == outExpired && cs != nil:
			// The chain knows of the escrow of a quote that was given up.
			seen := func(f map[string]string) { takeIDs(f, cs) }
			switch {
			case says("COMMITED"):
				return &rules{id: "escrow-late-opening", state: to(outCommitted), facts: seen}
			case says("REFUNDABLE"):
				return &rules{id: "escrow-late-opening", state: to(outRefundable), facts: seen}
			case says("PAID"):
				return &rules{id: "escrow-late-opening", state: to(outClaimed), facts: func(f map[string]string) { seen(f); takeResult(f, got, cs) }}
			case refunded:
				return &rules{id: "escrow-late-opening", state: to(outRefunded), facts: seen}
			}
		case says("EXPIRED") && !refunded && (from == outCommitted || from == outSoftClaimed || from == outRefundable):
			return &rules{id: "escrow-kept-open", state: to(from)}
		case (from == outCreated || from == outSoftExpired) && cs == nil && in.Env.InitAuthorizationExpired:
			return &rules{id: "escrow-expiry-needs-chain", state: to(outSoftExpired)} // nobody has said that there is no escrow
		case says("PAID") && strings.HasPrefix(cs.ClaimResult, "0x"):
			return &rules{id: "escrow-claim-result", facts: func(f map[string]string) {
				delete(f, "txId")
				delete(f, "secret")
				takeResult(f, got, cs)
			}}
		}
		return nil
	}
	switch {
	case r.Escrow.Real == nil && lpCode(in) == lp.CodeExpired && !r.Lightning.EndsAt.Passed(now):
		// The invoice may have been paid, whatever the LP says.
		state := from
		if r.Expiry.Passed(now) {
			state = lnSoftExpired
		}
		return &rules{id: "auto-lp-cannot-expire", state: &state}
	case says("EXPIRED") && !refunded && (from == lnPaid || from == lnCommitted || from == lnHTLCExpired):
		return &rules{id: "escrow-kept-open", state: to(lnHTLCExpired)}
	case says("REFUNDABLE") && from == lnPaid:
		return &rules{id: "auto-open-is-open", state: to(lnCommitted), publish: true}
	case from == lnCommitted && (cs == nil || says("NOT_COMMITED")) && !refunded:
		return &rules{id: "auto-publish-when-seen", silent: true}
	}
	return nil
}

func lpCode(in flowtest.Input) int {
	var answer struct{ Code int }
	_ = json.Unmarshal(in.Env.LPResponse, &answer)
	return answer.Code
}

// takeIDs are the transactions that the chain names.
func takeIDs(f map[string]string, cs *flowtest.Status) {
	for name, id := range map[string]string{"commitTxId": cs.InitTxID, "claimTxId": cs.ClaimTxID, "refundTxId": cs.RefundTxID} {
		if id != "" {
			f[name] = id
		}
	}
}

// takeResult is what the claim shows: the payment, verified where it can be.
func takeResult(f map[string]string, got *Record, cs *flowtest.Status) {
	for _, name := range []string{"txId", "secret"} {
		if v := facts(got)[name]; v != "" && v == shownResult(got.Type, cs.ClaimResult) {
			f[name] = v
		}
	}
}

func TestVectorsTick(t *testing.T) {
	f := vectors.Load(t, "swap-flows-escrow", "tick")
	file := flowtest.Read(t, f)
	f.Each(t, func(t *testing.T, c *vectors.Case) {
		var in flowtest.Input
		c.Input(t, &in)
		var want course
		c.Expected(t, &want)
		s := file.Setup(t, in)
		if legacy(s) {
			c.NotRun(t, noLegacy)
		}
		s.Says(t, nil, false) // a timer asks nobody
		st := perform(t, s)
		before, from := facts(st.Record), st.Record.State
		got := st.advance(t, nil)
		var d *rules
		switch {
		case st.Record.Type == FromBTCLNAuto && from == lnCommitted && want.State == lnCommitted && want.called("broadcastSecret"):
			d = &rules{id: "auto-publish-when-seen", silent: true}
		case st.Record.Type == FromBTCLNAuto && from == lnCreated && st.Record.Lightning.EndsAt.Passed(s.World.Now()):
			d = &rules{id: "escrow-one-pass", state: to(lnExpired)}
		}
		compare(t, c, st, before, got, want, d)
	})
}

// legacy reports whether a case is about FROM_BTC or FROM_BTCLN.
func legacy(s *flowtest.Setup) bool {
	var typ Type
	_ = json.Unmarshal(s.Record["type"], &typ)
	return typ == FromBTC || typ == FromBTCLN
}

func TestVectorsEvents(t *testing.T) {
	f := vectors.Load(t, "swap-flows-escrow", "events")
	file := flowtest.Read(t, f)
	type event struct {
		Type, EscrowHash, TxID, Result string
		Data                           json.RawMessage
	}
	type input struct {
		flowtest.Input
		Event event
	}
	f.Each(t, func(t *testing.T, c *vectors.Case) {
		var in input
		c.Input(t, &in)
		var want course
		c.Expected(t, &want)
		s := file.Setup(t, in.Input)
		if legacy(s) {
			c.NotRun(t, noLegacy)
		}
		ev := in.Event
		says := flowtest.Status{Type: "COMMITED", InitTxID: ev.TxID}
		switch ev.Type {
		case "Claim":
			says = flowtest.Status{Type: "PAID", ClaimTxID: ev.TxID, ClaimResult: ev.Result}
		case "Refund":
			says = flowtest.Status{Type: "NOT_COMMITED", RefundTxID: ev.TxID}
		}
		s.Says(t, &says, false)
		data := ev.Data
		if data == nil { // an event without data is of the agreed escrow, which the chain knows
			data = s.Agreed(t)
		}
		answer := s.World.Escrow
		s.World.Escrow = func(q chains.EscrowQuery) (chains.EscrowFact, error) {
			fact, err := answer(q)
			if q.Escrow == nil && err == nil && data != nil {
				k, _ := s.Chain.Contract("v1")
				e, err := k.Decode(data)
				if err != nil {
					return fact, err
				}
				fact.Escrow = &e
			}
			return fact, err
		}
		st := perform(t, s)
		before, from := facts(st.Record), st.Record.State
		got := st.advance(t, Look{})
		var d *rules
		known := got.Escrow.Real != nil
		seen := func(f map[string]string) { takeIDs(f, &says) }
		switch {
		case st.Record.Settled:
			d = &rules{id: "escrow-settled-rests", facts: func(f map[string]string) {
				clear(f)
				for k, v := range before {
					f[k] = v
				}
			}}
		case from == hiddenState(st.Record.Type) && ev.Type == "Initialize":
			late := outCommitted
			if st.Record.Type == FromBTCLNAuto {
				late = lnCommitted
			}
			d = &rules{id: "escrow-late-opening", state: to(late), facts: func(f map[string]string) { seen(f); f["data"] = "known" }}
			d.publish = st.Record.Type == FromBTCLNAuto
		case st.Record.Type == FromBTCLNAuto && from == lnCommitted && ev.Type == "Initialize":
			d = &rules{id: "auto-publish-when-seen", publish: true} // every look publishes while it is due
		case !known:
			d = &rules{id: "escrow-foreign-event", facts: func(f map[string]string) { delete(f, "commitTxId") }}
		case st.Record.Type == FromBTCLNAuto && st.Record.Escrow.Real == nil && ev.Type != "Initialize":
			// The escrow is found by its claim hash, and compared, before what became of it counts.
			want.Fields["data"] = nil
		}
		compare(t, c, st, before, got, want, d)
	})
}

func hiddenState(t Type) int {
	if t == FromBTCLNAuto {
		return lnExpired
	}
	return outExpired
}
