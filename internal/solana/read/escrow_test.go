package read

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

var begin = time.Unix(1_756_278_357, 0)

// someEscrow describes an escrow of v1 that its offerer pays into.
func someEscrow(t testing.TB, n uint64) *wire.SwapData {
	t.Helper()
	var seed [8]byte
	binary.LittleEndian.PutUint64(seed[:], n)
	d := trial.Must(programs(t, wire.V1).NewSwapData(wire.Spec{Kind: chains.HTLC, Claim: wire.ClaimHash{PaymentHash: sha256.Sum256(seed[:])}, Offerer: wire.Key{1}, Claimer: wire.Key{2},
		Token: wire.Key{3}, Amount: 1000 + n, Sequence: n, Expiry: uint64(begin.Unix()) + 3600, PayIn: true, DepositToken: wire.WSOL}))(t)
	return d
}

func escrowQuery(t testing.TB, d *wire.SwapData) chains.EscrowQuery {
	t.Helper()
	e := trial.Must(d.Escrow())(t)
	return chains.EscrowQuery{Escrow: &e}
}

func idOf(n int) string {
	var sig wire.Signature
	binary.BigEndian.PutUint64(sig[:], uint64(n)+1<<60)
	return sig.String()
}

func logsOf(p wire.Programs, events ...wire.Event) []string {
	lines := []string{"Program " + p.Swap.String() + " invoke [1]"}
	for _, e := range events {
		lines = append(lines, "Program data: "+base64.StdEncoding.EncodeToString(e.Bytes()))
	}
	return append(lines, "Program "+p.Swap.String()+" success")
}

// happens adds a transaction in front of an address's history.
func (s *stub) happens(at wire.Key, n int, p wire.Programs, events ...wire.Event) {
	s.t.Helper()
	slot := uint64(1000 + n)
	s.history[at] = append([]sigJSON{{Signature: idOf(n), Slot: slot}}, s.history[at]...)
	s.add(idOf(n), txJSON{Slot: slot, BlockTime: 5, Logs: logsOf(p, events...)})
}

func (s *stub) opens(p wire.Programs, d *wire.SwapData) {
	s.accounts[p.Escrow(d.PaymentHash)] = wire.AccountReply{Owner: p.Swap, Lamports: 1, Data: p.EncodeEscrow(wire.EscrowState{Data: d.Terms(), Offerer: d.Offerer, OffererATA: *d.OffererATA, Claimer: d.Claimer, Mint: d.Token})}
}

func eventOf(kind wire.EventKind, d *wire.SwapData) wire.Event {
	return wire.Event{Kind: kind, Hash: d.PaymentHash, Sequence: d.Sequence}
}

func escrowFact(t *testing.T, r *Reader, q chains.EscrowQuery) chains.EscrowFact {
	t.Helper()
	all := trial.Must(r.Escrows(t.Context(), []chains.EscrowQuery{q}))(t)
	return all[0]
}

// Anybody can make an escrow's history long. It is read in parts, page by page, and no
// part of it twice.
func TestLongHistories(t *testing.T) {
	s := newStub(t)
	r := s.reader(wire.V1, begin)
	r.ledger.pageSize = 40
	d := someEscrow(t, 1)
	at := r.Programs.Escrow(d.PaymentHash)
	s.happens(at, 0, r.Programs, eventOf(wire.Initialized, d))
	s.happens(at, 1, r.Programs, eventOf(wire.Claimed, d))
	for n := range 150 {
		s.happens(at, 2+n, r.Programs)
		if n%10 == 0 { // those that failed are not even read
			s.history[at][0].Err = json.RawMessage(`{"InstructionError":[0,"x"]}`)
			delete(s.txs, idOf(2+n))
		}
	}
	f := escrowFact(t, r, escrowQuery(t, d))
	if f.Err != nil || f.State != chains.EscrowClaimed || f.InitTx != idOf(0) || f.ClaimTx != idOf(1) {
		t.Fatalf("%+v", f)
	}
	s.asked()
	if f := escrowFact(t, r, escrowQuery(t, d)); f.State != chains.EscrowClaimed || f.InitTx != idOf(0) {
		t.Errorf("again: %+v", f)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains(s.calls, "getTransaction") || s.trips != 4 { // a trip for each page
		t.Errorf("asked again: %v in %d trips", s.calls, s.trips)
	}
}

// What lies beyond the bound of one look is read by the next.
func TestHistoriesBeyondTheBound(t *testing.T) {
	s := newStub(t)
	r := s.reader(wire.V1, begin)
	d := someEscrow(t, 1)
	at := r.Programs.Escrow(d.PaymentHash)
	s.happens(at, 0, r.Programs, eventOf(wire.Initialized, d))
	s.happens(at, 1, r.Programs, eventOf(wire.Refunded, d))
	spam := make([]sigJSON, historyTxs+500)
	for n := range spam {
		spam[len(spam)-1-n] = sigJSON{Signature: idOf(n + 2), Slot: uint64(n) + 2000}
		s.txs[idOf(n+2)] = s.result(idOf(n+2), txJSON{Slot: uint64(n) + 2000, BlockTime: 5}, nil)
	}
	s.history[at] = append(spam, s.history[at]...)
	other := someEscrow(t, 2)
	ask := func() []chains.EscrowFact {
		all, err := r.Escrows(t.Context(), []chains.EscrowQuery{escrowQuery(t, d), escrowQuery(t, other)})
		if err != nil || all[1].Err != nil || all[1].State != chains.EscrowNone {
			t.Fatalf("%v, the other escrow: %+v", err, all[1])
		}
		return all
	}
	if f := ask()[0]; fault.CodeOf(f.Err) != fault.Upstream || !strings.Contains(f.Err.Error(), "is long") {
		t.Fatalf("first look: %+v", f)
	}
	if f := ask()[0]; f.Err != nil || f.State != chains.EscrowRefunded || f.RefundTx != idOf(1) {
		t.Errorf("second look: %+v", f)
	}
}

// Trouble with one escrow is told of that one alone; what cannot be read is passed over.
func TestEscrowsWithTrouble(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *stub, p wire.Programs, d *wire.SwapData, at wire.Key)
		state  chains.EscrowState
		says   string // error; "" for none
	}{
		"good": {func(*stub, wire.Programs, *wire.SwapData, wire.Key) {}, chains.EscrowClaimed, ""},
		"a transaction that is listed and not there": {func(s *stub, _ wire.Programs, _ *wire.SwapData, _ wire.Key) { delete(s.txs, idOf(1)) }, 0, "does not have it"},
		"a transaction in another slot":              {func(s *stub, _ wire.Programs, _ *wire.SwapData, at wire.Key) { s.history[at][0].Slot++ }, 0, "does not have it"},
		"a transaction of another version": {func(s *stub, p wire.Programs, _ *wire.SwapData, at wire.Key) {
			s.happens(at, 7, p)
			s.methods["getTransaction"] = func(params []json.RawMessage) any {
				if string(params[0]) == `"`+idOf(7)+`"` {
					return refusal{-32015, "Transaction version (1) is not supported by the requesting client"}
				}
				return s.txs[strings.Trim(string(params[0]), `"`)]
			}
		}, chains.EscrowClaimed, ""},
		"a transaction that cannot be read": {func(s *stub, p wire.Programs, _ *wire.SwapData, at wire.Key) {
			s.happens(at, 7, p)
			s.txs[idOf(7)] = json.RawMessage(`{"slot":1007,"blockTime":5,"meta":{"err":null},"transaction":["AQ==","base64"]}`)
		}, chains.EscrowClaimed, ""},
		"a transaction without its outcome": {func(s *stub, _ wire.Programs, _ *wire.SwapData, _ wire.Key) {
			s.txs[idOf(1)] = json.RawMessage(`{"slot":1001,"blockTime":5,"meta":null,"transaction":["","base64"]}`)
		}, 0, "what became of it"},
		"no history": {func(s *stub, _ wire.Programs, _ *wire.SwapData, at wire.Key) {
			s.methods["getSignaturesForAddress"] = func(params []json.RawMessage) any {
				if string(params[0]) == `"`+at.String()+`"` {
					return refusal{-32011, "Transaction history is not available from this node"}
				}
				return []any{}
			}
		}, 0, "not available"},
		"open, and its history is lost": {func(s *stub, p wire.Programs, d *wire.SwapData, at wire.Key) {
			s.opens(p, d)
			delete(s.history, at)
		}, chains.EscrowOpen, ""},
		"open, and what opened it is not there": {func(s *stub, p wire.Programs, d *wire.SwapData, at wire.Key) {
			s.opens(p, d)
			s.history[at] = s.history[at][1:]
			delete(s.txs, idOf(0))
		}, chains.EscrowOpen, ""},
		"an account of another program": {func(s *stub, _ wire.Programs, _ *wire.SwapData, at wire.Key) {
			s.accounts[at] = wire.AccountReply{Owner: wire.Key{7}, Lamports: 1, Data: []byte{1}}
			delete(s.history, at)
		}, 0, "belongs to"},
		"an account that is no escrow": {func(s *stub, p wire.Programs, _ *wire.SwapData, at wire.Key) {
			s.accounts[at] = wire.AccountReply{Owner: p.Swap, Lamports: 1, Data: []byte("something else")}
		}, 0, "not an escrow"},
		"lamports at its address": {func(s *stub, _ wire.Programs, _ *wire.SwapData, at wire.Key) {
			s.accounts[at] = wire.AccountReply{Owner: wire.SystemProgram, Lamports: 5}
		}, chains.EscrowClaimed, ""},
		"opened, not there and not ended": {func(s *stub, _ wire.Programs, _ *wire.SwapData, at wire.Key) { s.history[at] = s.history[at][1:] }, 0, "contradict"},
	} {
		s := newStub(t)
		r := s.reader(wire.V1, begin)
		d, other := someEscrow(t, 1), someEscrow(t, 2)
		at := r.Programs.Escrow(d.PaymentHash)
		s.happens(at, 0, r.Programs, eventOf(wire.Initialized, d))
		s.happens(at, 1, r.Programs, eventOf(wire.Claimed, d))
		s.opens(r.Programs, other)
		c.change(s, r.Programs, d, at)
		all, err := r.Escrows(t.Context(), []chains.EscrowQuery{escrowQuery(t, d), escrowQuery(t, other), {ClaimHash: []byte{1}}, {Escrow: &chains.Escrow{Data: json.RawMessage(`{}`)}}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if all[1].Err != nil || all[1].State != chains.EscrowOpen || !all[1].Final {
			t.Errorf("%s: the other escrow: %+v", name, all[1])
		}
		if fault.CodeOf(all[2].Err) != fault.InvalidInput || all[3].Err == nil {
			t.Errorf("%s: queries that are none: %v, %v", name, all[2].Err, all[3].Err)
		}
		f := all[0]
		if f.State != c.state || (f.Err == nil) != (c.says == "") || f.Err != nil && !strings.Contains(f.Err.Error(), c.says) {
			t.Errorf("%s: %v, %v; want %v, %q", name, f.State, f.Err, c.state, c.says)
		}
	}
}

// What happens between the answers of one batch is no contradiction the next time.
func TestOpenedWhileItIsRead(t *testing.T) {
	s := newStub(t)
	r := s.reader(wire.V1, begin)
	d := someEscrow(t, 1)
	at := r.Programs.Escrow(d.PaymentHash)
	s.happens(at, 0, r.Programs, eventOf(wire.Initialized, d))
	s.methods["getTransaction"] = func([]json.RawMessage) any { // after its account was read
		s.opens(r.Programs, d)
		return s.txs[idOf(0)]
	}
	if f := escrowFact(t, r, escrowQuery(t, d)); f.Err != nil || f.State != chains.EscrowOpen || f.InitTx != idOf(0) {
		t.Errorf("%+v", f)
	}
}

// An authorisation is not called over on the word of a machine that is late, and not if
// something happens meanwhile.
func TestOverIsLookedAtTwice(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *stub, again bool, at wire.Key, p wire.Programs, d *wire.SwapData)
		state  chains.AuthState
		err    bool
	}{
		"nothing": {func(*stub, bool, wire.Key, wire.Programs, *wire.SwapData) {}, chains.AuthOver, false},
		"late": {func(s *stub, again bool, _ wire.Key, _ wire.Programs, _ *wire.SwapData) {
			s.slots["confirmed"] = s.clock.Slot - 10
		}, chains.AuthLate, false},
		"opened meanwhile": {func(s *stub, again bool, _ wire.Key, p wire.Programs, d *wire.SwapData) {
			if again {
				s.opens(p, d)
			}
		}, 0, true},
		"something happened meanwhile": {func(s *stub, again bool, at wire.Key, p wire.Programs, d *wire.SwapData) {
			if again {
				s.history[at] = []sigJSON{{Signature: idOf(5), Slot: 1005}}
			}
		}, 0, true},
	} {
		s := newStub(t)
		r := s.reader(wire.V1, begin)
		d := someEscrow(t, 1)
		at := r.Programs.Escrow(d.PaymentHash)
		var reads atomic.Int64
		s.methods["getLatestBlockhash"] = func([]json.RawMessage) any {
			c.change(s, reads.Add(1) > 2, at, r.Programs, d) // asked for in both states at each look
			return map[string]any{"context": map[string]any{"slot": s.clock.Slot}, "value": map[string]any{"blockhash": wire.Key{5}.String(), "lastValidBlockHeight": 5000}}
		}
		q := escrowQuery(t, d)
		q.Auth = &chains.Auth{Prefix: wire.PrefixPayIn, Timeout: begin.Unix() - 3600}
		f := escrowFact(t, r, q)
		if (f.Err != nil) != c.err || !c.err && f.Auth != c.state || f.State != chains.EscrowNone {
			t.Errorf("%s: %+v, %v", name, f, f.Err)
		}
	}
}

// A node that answers nothing gives an error, not facts.
func TestNodesWithoutAnswers(t *testing.T) {
	s := newStub(t)
	r := s.reader(wire.V1, begin)
	d := someEscrow(t, 1)
	s.methods["getMultipleAccounts"] = func([]json.RawMessage) any { return refusal{-32603, "internal"} }
	if all, err := r.Escrows(t.Context(), []chains.EscrowQuery{escrowQuery(t, d)}); err == nil {
		t.Errorf("%+v", all)
	}
	if _, err := r.ledger.Heads(t.Context()); fault.CodeOf(err) != fault.Upstream {
		t.Error(err)
	}
	s.methods["getMultipleAccounts"] = func([]json.RawMessage) any {
		return map[string]any{"context": map[string]any{"slot": 5}, "value": []any{nil}} // no clock
	}
	if _, err := r.ledger.Heads(t.Context()); fault.CodeOf(err) != fault.Upstream || !strings.Contains(err.Error(), "clock") {
		t.Error(err)
	}
	if none, err := r.Escrows(t.Context(), nil); err != nil || none != nil {
		t.Error(none, err)
	}
}

// Positions that another version wrote are kept; what is none is an error.
func TestCursors(t *testing.T) {
	for _, text := range []string{`{"v1":{"signature":"x","slot":1}}`, `[]`, `{"v1":5}`, `{"signature":5,"slot":1}`, `{"v1":{"signature":"` + strings.Repeat("1", 64) + `","slot":-1}}`} {
		if c, err := ParseCursor([]byte(text)); err == nil {
			t.Errorf("%s: %v", text, c)
		}
	}
	c, err := ParseCursor([]byte(fmt.Sprintf(`{"v3":{"signature":%q,"slot":7},"v1":null}`, idOf(3))))
	if err != nil || len(c) != 1 || c["v3"].Slot != 7 {
		t.Fatal(c, err)
	}
	s := newStub(t)
	l := s.ledger(begin)
	p := programs(t, wire.V1)
	s.happens(p.Swap, 4, p, eventOf(wire.Refunded, someEscrow(t, 1)))
	stop := errors.New("stop")
	delivered := 0
	if err := l.Poll(t.Context(), []*Reader{New(p, l)}, c, 1, func(news []News, next Cursor) error {
		delivered++
		if len(news) != 1 || next["v3"].Slot != 7 || next[wire.V1].Signature.String() != idOf(4) {
			t.Errorf("%+v, %+v", news, next)
		}
		return stop
	}); !errors.Is(err, stop) || delivered != 1 {
		t.Error(delivered, err)
	}
}

// A transaction that a node does not have stops the poll of its program for a while, and
// not for ever, and not that of another program.
func TestPollWithoutATransaction(t *testing.T) {
	for age, delivered := range map[time.Duration]int{time.Minute: 2, time.Hour: 3} {
		s := newStub(t)
		l := s.ledger(begin)
		first, second := programs(t, wire.V1), programs(t, wire.V2)
		for n := range 3 {
			s.happens(first.Swap, n, first, eventOf(wire.Refunded, someEscrow(t, uint64(n))))
			s.history[first.Swap][0].BlockTime = begin.Add(-age).Unix()
		}
		delete(s.txs, idOf(1))
		s.happens(second.Swap, 9, second, eventOf(wire.Refunded, someEscrow(t, 9)))
		sig := trial.Must(wire.ParseSignature(idOf(999)))(t)
		at := Cursor{wire.V1: {sig, 0}, wire.V2: {sig, 0}}
		var got []string
		trial.Do(t, l.Poll(t.Context(), []*Reader{New(first, l), New(second, l)}, at, 1, func(news []News, next Cursor) error {
			for _, n := range news {
				got = append(got, n.Tx)
			}
			at = next
			return nil
		}))
		want := []string{idOf(0), idOf(2), idOf(9)}
		if delivered == 2 {
			want = []string{idOf(0), idOf(9)}
			same(t, "position", idOf(0), at[wire.V1].Signature.String())
		}
		same(t, "news", want, got)
		same(t, "position of the other", idOf(9), at[wire.V2].Signature.String())
	}
}

// A chain that took another course no longer has the last transaction that was read: no
// more of the past than its slot is read again.
func TestPollAfterAnotherCourse(t *testing.T) {
	s := newStub(t)
	l := s.ledger(begin)
	l.pageSize = 5
	p := programs(t, wire.V1)
	for n := range 20 {
		s.happens(p.Swap, n, p, eventOf(wire.Refunded, someEscrow(t, uint64(n))))
	}
	sig := trial.Must(wire.ParseSignature(idOf(999)))(t)
	at := Cursor{wire.V1: {sig, 1012}}
	var got []string
	trial.Do(t, l.Poll(t.Context(), []*Reader{New(p, l)}, at, 1, func(news []News, _ Cursor) error {
		for _, n := range news {
			got = append(got, n.Tx)
		}
		return nil
	}))
	var want []string
	for n := 12; n < 20; n++ {
		want = append(want, idOf(n))
	}
	same(t, "news", want, got)
}

// A node that once lists a transaction in a slot that no chain has does not cost the events of
// all the time until the chain is so high.
func TestPollAfterALie(t *testing.T) {
	s := newStub(t)
	l := s.ledger(begin)
	p := programs(t, wire.V1)
	s.happens(p.Swap, 1, p, eventOf(wire.Refunded, someEscrow(t, 1)))
	sig := trial.Must(wire.ParseSignature(idOf(999)))(t)
	at := Cursor{wire.V1: {sig, 1 << 60}}
	seen := map[string]bool{}
	poll := func() {
		t.Helper()
		trial.Do(t, l.Poll(t.Context(), []*Reader{New(p, l)}, at, 1, func(news []News, next Cursor) error {
			for _, n := range news {
				seen[n.Tx] = true
			}
			at = next
			return nil
		}))
	}
	for range 11 {
		poll()
	}
	same(t, "news while the node may be behind", map[string]bool{}, seen)
	poll()
	s.happens(p.Swap, 2, p, eventOf(wire.Refunded, someEscrow(t, 2)))
	poll()
	same(t, "news", map[string]bool{idOf(1): true, idOf(2): true}, seen)
}
