package recovery

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// course is what became of a record in a case. Which of the flags there are
// depends on the file.
type course struct {
	State                   int
	StateName               string
	Changed, Saved, Removed *bool
	Fields                  map[string]json.RawMessage
	Calls                   [][]any
}

// check holds all that the reference says of a course against the state in which
// it ends: what was changed is stored, and a quote that has expired is removed.
func (c course) check(t *testing.T, st *stage) {
	t.Helper()
	r := st.Record
	// Two calls count as a change without one: of a status that is the same, and of
	// an LP that is not known.
	same := r.State == swap.OutRefundable && c.State == swap.OutRefundable && (r.Type == swap.ToBTC || r.Type == swap.ToBTCLN)
	moot := len(c.Fields) == 0 && (same || fromLightning(r.Type) && r.LP.URL == "")
	row, _ := st.Engine.Flows[r.Type].State(c.State)
	changed := c.State != r.State || len(c.Fields) > 0
	ended := c.State == hiddenState(r.Type)
	if row.Hidden != ended || c.StateName != "" && c.StateName != row.Name {
		t.Errorf("the reference calls state %d %s", c.State, c.StateName)
	}
	if moot && c.Changed != nil {
		changed = *c.Changed
	}
	says := func(what string, is *bool, want bool) {
		if is != nil && *is != want {
			t.Errorf("the reference says %s: %v, want %v", what, *is, want)
		}
	}
	says("changed", c.Changed, changed)
	says("saved", c.Saved, changed && !ended)
	says("removed", c.Removed, ended)
	var state *int
	if raw, ok := c.Fields["state"]; ok && json.Unmarshal(raw, &state) != nil || (state != nil) != (c.State != r.State) || state != nil && *state != c.State {
		t.Errorf("the reference stores the state %v, and ends in %d", state, c.State)
	}
	for _, call := range c.Calls {
		var want []any
		switch call[0] {
		case "broadcastSecret":
			want = []any{call[0], facts(r)["secret"]}
		case "getInvoiceStatus", "getPaymentAuthorization":
			want = []any{call[0], r.LPURL(), r.Lightning.Hash}
		case "getRefundAuthorization":
			id := hex.EncodeToString(r.Escrow.Real.ClaimHash)
			if r.Type == swap.ToBTCLN {
				id = r.Lightning.Hash
			}
			want = []any{call[0], r.LPURL(), id, r.Escrow.Real.Sequence.String()}
		}
		if diff := cmp.Diff(want, call); diff != "" {
			t.Errorf("the reference calls otherwise (-want +reference):\n%s", diff)
		}
	}
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
func compare(t *testing.T, c *vectors.Case, st *stage, before map[string]string, got *swap.Record, want course, d *rules) {
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
	want.check(t, st)
	if raw := want.Fields["data"]; raw != nil && got.Escrow.Real != nil {
		vectors.SameJSON(t, raw, got.Escrow.Real.Data)
	}
	if raw := want.Fields["vout"]; raw != nil && string(raw) != strconv.FormatUint(uint64(got.Bitcoin.Vout), 10) {
		t.Errorf("the payment is output %d, want %s", got.Bitcoin.Vout, raw)
	}
	if a := got.Escrow.Init; a != nil && want.Fields["prefix"] != nil { // the LP has authorised the opening
		event, _ := got.EventHash()
		for name, is := range map[string]any{"prefix": a.Prefix, "timeout": strconv.FormatInt(a.Timeout, 10), "signature": a.Signature,
			"escrowHash": hex.EncodeToString(event), "expiry": got.Expiry} {
			vectors.SameJSON(t, want.Fields[name], is)
		}
	}
	if raw, ok := wantFacts["btcTxConfirmedAt"]; ok && st.Record.State == swap.InConfirmed {
		// Confirmed before, without a time: it is not set afterwards here.
		if raw != strconv.FormatInt(st.World.Now().UnixMilli(), 10) {
			t.Errorf("the reference has confirmed the payment at %s", raw)
		}
		delete(wantFacts, "btcTxConfirmedAt")
	}
	if raw := want.Fields["amount"]; raw != nil && st.Record.Type == swap.FromBTC && string(raw) != `"`+strconv.FormatUint(got.Bitcoin.Sats, 10)+`"` {
		t.Errorf("the payment has %d sats, want %s", got.Bitcoin.Sats, raw)
	}
	if got.State != wantState {
		t.Errorf("state %d, want %d (the reference %d)", got.State, wantState, want.State)
	}
	if diff := cmp.Diff(wantFacts, facts(got)); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	if is := st.Acts.count(swap.Publish) > 0; is != publish {
		t.Errorf("preimage published: %v, want %v", is, publish)
	}
}

func to(state int) *int { return &state }

func TestVectorsSync(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sync_to_btc", "sync_to_btcln", "sync_from_btc", "sync_from_btcln", "sync_from_btcln_auto"} {
		t.Run(name, func(t *testing.T) {
			f := vectors.Load(t, "swap-flows-escrow", name)
			file := flowtest.Read(t, f)
			f.Each(t, func(t *testing.T, c *vectors.Case) {
				var in flowtest.Input
				c.Input(t, &in)
				var want course
				c.Expected(t, &want)
				s := file.Setup(t, in)
				s.Says(t, in.Env.CommitStatus, strings.HasPrefix(name, "sync_to_"))
				st := perform(t, s)
				before, from := facts(st.Record), st.Record.State
				got := st.advance(t, nil)
				d := syncRule(t, in, s.World.Now(), st.Record, from, want.Fields["data"] != nil)
				compare(t, c, st, before, got, want, alsoShown(t, st, in, before, want, d))
			})
		})
	}
}

// syncRule tells where a synchronisation ends elsewhere than the reference's, by
// what was stored and what was seen; delivered says that the LP has announced the
// agreed escrow.
func syncRule(t *testing.T, in flowtest.Input, now time.Time, r *swap.Record, from int, delivered bool) *rules {
	t.Helper()
	cs := in.Env.CommitStatus
	says := func(kinds ...string) bool { return cs != nil && slices.Contains(kinds, cs.Type) }
	refunded := cs != nil && cs.RefundTxID != ""
	switch r.Type {
	case swap.FromBTC:
		return fromBitcoinRule(t, in, now, r, from)
	case swap.FromBTCLN:
		return fromLightningRule(t, in, now, r, from)
	}
	if r.Type != swap.FromBTCLNAuto {
		switch {
		case from == swap.OutExpired && cs != nil:
			// The chain knows of the escrow of a quote that was given up.
			seen := func(f map[string]string) { takeIDs(f, cs) }
			switch {
			case says("COMMITED"):
				return &rules{id: "escrow-late-opening", state: to(swap.OutCommitted), facts: seen}
			case says("REFUNDABLE"):
				return &rules{id: "escrow-late-opening", state: to(swap.OutRefundable), facts: seen}
			case says("PAID"):
				return &rules{id: "escrow-late-opening", state: to(swap.OutClaimed), facts: func(f map[string]string) { seen(f); takeResult(t, f, r, cs) }}
			case refunded:
				return &rules{id: "escrow-late-opening", state: to(swap.OutRefunded), facts: seen}
			}
		case says("EXPIRED") && !refunded && (from == swap.OutCommitted || from == swap.OutSoftClaimed || from == swap.OutRefundable):
			return &rules{id: "escrow-kept-open", state: to(from)}
		case (from == swap.OutCreated || from == swap.OutSoftExpired) && cs == nil && in.Env.InitAuthorizationExpired:
			return &rules{id: "escrow-expiry-needs-chain", state: to(swap.OutSoftExpired)} // nobody has said that there is no escrow
		case says("PAID") && (strings.HasPrefix(cs.ClaimResult, "0x") || r.Type == swap.ToBTC && (r.Bitcoin == nil || r.Bitcoin.Address == "") && in.Env.BitcoinTx == nil):
			return &rules{id: "escrow-claim-result", facts: func(f map[string]string) {
				unread := map[swap.Type]string{swap.ToBTCLN: cs.ClaimResult}[r.Type]
				if name := resultOf[r.Type]; strings.HasPrefix(cs.ClaimResult, "0x") && f[name] != unread {
					t.Errorf("the reference has %s %q, want %q", name, f[name], unread)
				}
				takeResult(t, f, r, cs)
			}}
		}
		return nil
	}
	switch {
	case r.Escrow.Real == nil && lpCode(in) == lp.CodeExpired && !r.Lightning.EndsAt.Passed(now):
		// The invoice may have been paid, whatever the LP says.
		state := from
		if r.Expiry.Passed(now) {
			state = swap.LnSoftExpired
		}
		return &rules{id: "auto-lp-cannot-expire", state: &state}
	case says("EXPIRED") && !refunded && (from == swap.LnPaid || from == swap.LnHTLCExpired) && r.Escrow.InitTx == "" && cs.InitTxID == "" && r.Lightning.EndsAt.Passed(now):
		return nil // an escrow that nobody has seen, and for which no payment can come any more
	case says("EXPIRED") && !refunded && (from == swap.LnPaid || from == swap.LnCommitted || from == swap.LnHTLCExpired):
		return &rules{id: "escrow-kept-open", state: to(swap.LnHTLCExpired)}
	case from == swap.LnHTLCExpired && !late(r, now) && says("NOT_COMMITED") && !refunded && !r.Lightning.EndsAt.Passed(now):
		return &rules{id: "escrow-way-back", state: to(swap.LnPaid)}
	case from == swap.LnHTLCExpired && !late(r, now) && says("COMMITED", "REFUNDABLE"):
		return &rules{id: "escrow-way-back", state: to(swap.LnCommitted), publish: true}
	case says("REFUNDABLE") && from == swap.LnPaid:
		seen := func(f map[string]string) { takeIDs(f, cs) }
		if late(r, now) {
			return &rules{id: "auto-open-is-open", state: to(swap.LnHTLCExpired), facts: seen}
		}
		return &rules{id: "auto-open-is-open", state: to(swap.LnCommitted), facts: seen, publish: true}
	case delivered && lp.DutyOpen.TooLate(deliveredExpiry(t, in), chains.Block{}, now):
		return &rules{id: "lp-delivered-expiry", state: to(swap.LnSoftExpired), facts: func(f map[string]string) { delete(f, "data") }}
	case delivered && cs == nil && r.Lightning.EndsAt.Passed(now):
		return &rules{id: "escrow-expiry-needs-chain", state: to(swap.LnPaid)}
	case from == swap.LnPaid && cs == nil && r.Lightning.EndsAt.Passed(now) && !late(r, now):
		return &rules{id: "escrow-expiry-needs-chain", state: to(swap.LnPaid)}
	case from == swap.LnPaid && late(r, now) && (cs == nil || says("NOT_COMMITED") && !refunded && !r.Lightning.EndsAt.Passed(now)):
		return &rules{id: "escrow-one-pass", state: to(swap.LnHTLCExpired)} // what the reference leaves to its timer
	case from == swap.LnCommitted && (cs == nil || says("NOT_COMMITED")) && !refunded:
		return &rules{id: "auto-publish-when-seen", silent: true}
	}
	return nil
}

// deliveredExpiry is when the escrow ends that an LP delivers.
func deliveredExpiry(t *testing.T, in flowtest.Input) int64 {
	t.Helper()
	var answer struct {
		Data struct{ Data struct{ RefundData string } } // of Starknet, on which the cases are
	}
	trial.Do(t, json.Unmarshal(in.Env.LPResponse, &answer))
	expiry, err := strconv.ParseInt(answer.Data.Data.RefundData, 0, 64)
	if err != nil {
		t.Fatalf("the expiry of what the LP delivers: %v", err)
	}
	return expiry
}

// fromBitcoinRule is syncRule for swaps whose escrow the user opens before paying bitcoin.
func fromBitcoinRule(t *testing.T, in flowtest.Input, now time.Time, r *swap.Record, from int) *rules {
	t.Helper()
	cs := in.Env.CommitStatus
	says := func(kinds ...string) bool { return cs != nil && slices.Contains(kinds, cs.Type) }
	refunded := cs != nil && cs.RefundTxID != ""
	seen := func(f map[string]string) { takeIDs(f, cs) }
	open := says("COMMITED", "REFUNDABLE")
	paid := uint32(0)
	if p := in.Env.BitcoinPayment; p != nil {
		paid = p.Tx.Confirmations
	}
	switch {
	case from == swap.InQuoteOver && open:
		return &rules{id: "escrow-late-opening", state: to(swap.InCommitted), facts: seen}
	case from == swap.InQuoteOver && says("PAID"):
		return &rules{id: "escrow-late-opening", state: to(swap.InClaimed), facts: func(f map[string]string) { seen(f); takeResult(t, f, r, cs) }}
	case from == swap.InQuoteOver && refunded:
		return &rules{id: "escrow-late-opening", state: to(swap.InFailed), facts: seen}
	case says("PAID") && in.Env.BitcoinTx == nil && from != swap.InClaimed && from != swap.InFailed:
		return &rules{id: "btc-claim-names-payment", facts: func(f map[string]string) { takeResult(t, f, r, cs) }}
	case says("REFUNDABLE") && (from == swap.InCreated || from == swap.InSoftExpired):
		return &rules{id: "auto-open-is-open", state: to(swap.InCommitted), facts: seen}
	case from == swap.InExpired && open && paid < r.Bitcoin.Confirmations:
		return &rules{id: "escrow-way-back", state: to(swap.InCommitted)}
	case from == swap.InConfirmed && open && paid < r.Bitcoin.Confirmations:
		return &rules{id: "btc-payment-can-go", state: to(swap.InCommitted)}
	case (from == swap.InCreated || from == swap.InSoftExpired) && cs == nil && in.Env.InitAuthorizationExpired:
		return &rules{id: "escrow-expiry-needs-chain", state: to(swap.InSoftExpired)}
	case says("EXPIRED") && !refunded && (from == swap.InCommitted || from == swap.InConfirmed || from == swap.InExpired):
		return &rules{id: "escrow-kept-open", state: to(from)}
	}
	return nil
}

// fromLightningRule is syncRule for swaps whose escrow the user opens once the LP holds
// the payment.
func fromLightningRule(t *testing.T, in flowtest.Input, now time.Time, r *swap.Record, from int) *rules {
	t.Helper()
	cs := in.Env.CommitStatus
	says := func(kinds ...string) bool { return cs != nil && slices.Contains(kinds, cs.Type) }
	refunded := cs != nil && cs.RefundTxID != ""
	var answer struct {
		Data struct{ Data struct{ Claimer string } }
	}
	_ = json.Unmarshal(in.Env.LPResponse, &answer)
	switch {
	case r.Escrow.Real == nil && lpCode(in) == lp.CodeExpired && !r.Lightning.EndsAt.Passed(now):
		state := from
		if r.Expiry.Passed(now) {
			state = swap.LnSoftExpired
		}
		return &rules{id: "auto-lp-cannot-expire", state: &state}
	case r.Escrow.Real == nil && lpCode(in) == lp.CodeDone && answer.Data.Data.Claimer != r.Signer:
		return &rules{id: "btcln-claimer-is-the-user", state: to(from), facts: func(f map[string]string) { delete(f, "data") }}
	case says("EXPIRED") && !refunded && (from == swap.LnPaid || from == swap.LnHTLCExpired) && r.Escrow.InitTx != "":
		return &rules{id: "escrow-kept-open", state: to(from)}
	case says("EXPIRED") && !refunded && from == swap.LnCommitted:
		return &rules{id: "escrow-kept-open", state: to(swap.LnHTLCExpired)}
	case from == swap.LnHTLCExpired && !late(r, now) && says("COMMITED", "REFUNDABLE"):
		return &rules{id: "escrow-way-back", state: to(swap.LnCommitted)}
	case says("REFUNDABLE") && from == swap.LnPaid:
		return &rules{id: "auto-open-is-open", state: to(swap.LnCommitted), facts: func(f map[string]string) { takeIDs(f, cs) }}
	}
	return nil
}

// late reports whether it is too late to claim a record's escrow.
func late(r *swap.Record, now time.Time) bool {
	return time.Unix(r.Escrow.Real.Expiry, 0).Before(now.Add(chains.ClaimGrace))
}

// alsoShown adds to a rule what the LP shows in the pass in which the chain shows
// that the escrow has ended, or was opened late: the reference asks one of them only.
func alsoShown(t *testing.T, st *stage, in flowtest.Input, before map[string]string, want course, d *rules) *rules {
	t.Helper()
	r := st.Record
	late := d != nil && d.state != nil && *d.state == swap.OutCommitted
	open := r.State == swap.OutCommitted || r.State == swap.OutSoftClaimed || r.State == swap.OutRefundable || late
	if r.Type != swap.ToBTC && r.Type != swap.ToBTCLN || !open || r.LP.URL == "" || r.Escrow.Real.Expiry < st.World.Now().Add(-chains.RefundGrace).Unix() {
		return d
	}
	if valid := in.Env.RefundAuthorizationValid; late && lpCode(in) == lp.CodeRefund && (valid == nil || *valid) {
		d.state = to(swap.OutRefundable)
	}
	if lpCode(in) != lp.CodePaid {
		return d
	}
	var answer struct{ Data struct{ TxID, Secret string } }
	_ = json.Unmarshal(in.Env.LPResponse, &answer)
	shown := map[string]string{}
	if r.Type == swap.ToBTCLN {
		if secret, err := hex.DecodeString(answer.Data.Secret); err == nil {
			if hash := sha256.Sum256(secret); hex.EncodeToString(hash[:]) == r.Lightning.Hash {
				shown["secret"] = answer.Data.Secret
			}
		}
	} else if tx := in.Env.BitcoinTx; tx != nil && tx.TxID == answer.Data.TxID {
		k, _ := st.Chain.Contract("v1")
		id := trial.Must(bitcoin.ParseHash(tx.TxID))(t)
		for _, out := range st.World.Txs[id].Msg.TxOut {
			is, err := k.ClaimHash(chains.Condition{Kind: chains.OnchainNonced, Script: out.PkScript, Sats: uint64(out.Value), Nonce: r.Bitcoin.Nonce, Confirmations: uint16(r.Bitcoin.Confirmations)})
			if err == nil && bytes.Equal(is, r.Escrow.Real.ClaimHash) {
				shown["txId"] = tx.TxID
				if a, err := bitcoin.AddressFromScript(out.PkScript, bitcoin.Mainnet); err == nil {
					shown["address"] = a.String()
				}
			}
		}
	}
	f := wanted(before, want.Fields)
	if d != nil && d.facts != nil {
		d.facts(f)
	}
	added := false
	for name, v := range shown {
		if f[name] == "" {
			f[name], added = v, true
		}
	}
	if !added {
		return d
	}
	if d == nil {
		d = &rules{id: "escrow-one-pass"}
	}
	if late {
		d.state = to(swap.OutSoftClaimed)
	}
	d.facts = func(have map[string]string) { clear(have); maps.Copy(have, f) }
	return d
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

// resultOf names the fact that a claim of each type shows.
var resultOf = map[swap.Type]string{swap.ToBTC: "txId", swap.FromBTC: "txId", swap.ToBTCLN: "secret"}

// takeResult sets what the claim shows about the payment of a record, as it was
// before: a transaction's id in display order, or the preimage of its hash.
func takeResult(t *testing.T, f map[string]string, r *swap.Record, cs *flowtest.Status) {
	t.Helper()
	name := resultOf[r.Type]
	delete(f, name)
	if was := facts(r)[name]; was != "" {
		f[name] = was
	}
	b := trial.Must(hex.DecodeString(strings.TrimPrefix(cs.ClaimResult, "0x")))(t)
	if len(b) != 32 {
		return
	}
	switch hash := sha256.Sum256(b); {
	case r.Type == swap.ToBTC || r.Type == swap.FromBTC:
		slices.Reverse(b)
		f[name] = hex.EncodeToString(b)
	case r.Lightning == nil || hex.EncodeToString(hash[:]) == r.Lightning.Hash:
		f[name] = hex.EncodeToString(b)
	}
}

func TestVectorsTick(t *testing.T) {
	t.Parallel()
	f := vectors.Load(t, "swap-flows-escrow", "tick")
	file := flowtest.Read(t, f)
	f.Each(t, func(t *testing.T, c *vectors.Case) {
		var in flowtest.Input
		c.Input(t, &in)
		var want course
		c.Expected(t, &want)
		s := file.Setup(t, in)
		s.Says(t, nil, false) // a timer asks nobody
		st := perform(t, s)
		before, from := facts(st.Record), st.Record.State
		got := st.advance(t, nil)
		var d *rules
		switch {
		case st.Record.Type == swap.FromBTCLNAuto && from == swap.LnCommitted && want.State == swap.LnCommitted && want.called("broadcastSecret"):
			d = &rules{id: "auto-publish-when-seen", silent: true}
		case st.Record.Type == swap.FromBTCLNAuto && from == swap.LnCreated && st.Record.Lightning.EndsAt.Passed(s.World.Now()):
			d = &rules{id: "escrow-one-pass", state: to(swap.LnExpired)}
		case st.Record.Type == swap.FromBTCLN && st.Record.Escrow.Real == nil && (from == swap.LnCreated || from == swap.LnSoftExpired) && st.Record.Lightning.EndsAt.Passed(s.World.Now()):
			d = &rules{id: "escrow-one-pass", state: to(swap.LnExpired)}
		}
		compare(t, c, st, before, got, want, d)
	})
}

func TestVectorsEvents(t *testing.T) {
	t.Parallel()
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
		got := st.advance(t, swap.Look{})
		var d *rules
		known := got.Escrow.Real != nil
		seen := func(f map[string]string) { takeIDs(f, &says) }
		switch {
		case st.Record.Settled:
			d = &rules{id: "escrow-settled-rests", facts: func(f map[string]string) {
				clear(f)
				maps.Copy(f, before)
			}}
		case from == hiddenState(st.Record.Type) && ev.Type == "Initialize" && known:
			late := swap.OutCommitted
			if fromLightning(st.Record.Type) {
				late = swap.LnCommitted
			}
			d = &rules{id: "escrow-late-opening", state: to(late), facts: func(f map[string]string) { seen(f); f["data"] = "known" }}
			d.publish = st.Record.Type == swap.FromBTCLNAuto
		case from == swap.LnHTLCExpired && fromLightning(st.Record.Type) && ev.Type == "Initialize" && known && !late(st.Record, s.World.Now()):
			d = &rules{id: "escrow-way-back", state: to(swap.LnCommitted), publish: st.Record.Type == swap.FromBTCLNAuto}
		case st.Record.Type == swap.FromBTC && ev.Type == "Initialize" && from == swap.InExpired:
			d = &rules{id: "escrow-way-back", state: to(swap.InCommitted)}
		case st.Record.Type == swap.FromBTC && ev.Type == "Initialize" && from == swap.InConfirmed:
			d = &rules{id: "btc-payment-can-go", state: to(swap.InCommitted)}
		case st.Record.Type == swap.FromBTC && ev.Type == "Claim":
			d = &rules{id: "btc-claim-names-payment", facts: func(f map[string]string) { takeResult(t, f, st.Record, &says) }}
		case st.Record.Type == swap.FromBTCLN && st.Record.Escrow.Real == nil:
			if ev.Type != "Initialize" {
				d = &rules{id: "btcln-only-the-user-opens", state: to(from), facts: func(f map[string]string) { delete(f, "claimTxId"); delete(f, "refundTxId") }}
			} else if want.Fields["commitTxId"] != nil {
				d = &rules{id: "btcln-only-the-user-opens", state: to(from), facts: func(f map[string]string) { delete(f, "commitTxId") }}
			}
		case st.Record.Type == swap.FromBTCLNAuto && from == swap.LnCommitted && ev.Type == "Initialize":
			d = &rules{id: "auto-publish-when-seen", publish: true} // every look publishes while it is due
		case !known:
			d = &rules{id: "escrow-foreign-event", facts: func(f map[string]string) { delete(f, "commitTxId") }}
		case st.Record.Type == swap.FromBTCLNAuto && st.Record.Escrow.Real == nil && ev.Type != "Initialize":
			// The escrow is found by its claim hash, and compared, before what became of it counts.
			want.Fields["data"] = nil
		}
		compare(t, c, st, before, got, want, d)
	})
}

func fromLightning(t swap.Type) bool { return t == swap.FromBTCLN || t == swap.FromBTCLNAuto }

func hiddenState(t swap.Type) int {
	if fromLightning(t) {
		return swap.LnExpired
	}
	return swap.OutExpired
}
