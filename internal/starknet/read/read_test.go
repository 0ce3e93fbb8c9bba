package read

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/starknet/rpc"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// counted counts round trips.
type counted struct {
	Nodes
	trips atomic.Int32
}

func (c *counted) Batch(ctx context.Context, r []rpc.Request) error {
	c.trips.Add(1)
	return c.Nodes.Batch(ctx, r)
}

func (c *counted) Each(ctx context.Context, q func() []rpc.Request, take func([]rpc.Request)) error {
	c.trips.Add(1)
	return c.Nodes.Each(ctx, q, take)
}

// count has a reader's round trips counted.
func (r *Reader) count() *counted {
	c := &counted{Nodes: r.ledger.Nodes}
	r.ledger.Nodes = c
	return c
}

func (c *counted) expect(t *testing.T, what string, want int32) {
	t.Helper()
	if got := c.trips.Swap(0); got != want {
		t.Errorf("%s takes %d round trips, must take %d", what, got, want)
	}
}

// swap is an escrow of the deployment.
func swap(t testing.TB, d wire.Deployment, sequence uint64) wire.SwapData {
	t.Helper()
	s := trial.Must(d.NewSwapData(wire.Terms{Kind: chains.HTLC, Offerer: wire.FeltOf(0x11), Claimer: wire.FeltOf(0x22), Token: wire.STRK, Amount: big.NewInt(1000), ClaimData: wire.FeltOf(0xc1a1),
		Sequence: sequence, Expiry: stubNow + 100_000, PayOut: true}))(t)
	return s
}

func hashOfSwap(t testing.TB, s wire.SwapData) wire.Felt {
	t.Helper()
	return trial.Must(s.EscrowHash())(t)
}

// traceOf is the trace of a transaction that opens an escrow, through the account.
func traceOf(t testing.TB, d wire.Deployment, s wire.SwapData) json.RawMessage {
	t.Helper()
	struc := trial.Must(s.Felts())(t)
	calldata := append(slices.Clone(struc), wire.FeltOf(0), wire.FeltOf(stubNow+600), wire.FeltOf(0)) // no signature, timeout, no extra data
	init := map[string]any{"contract_address": wire.Hex(d.EscrowManager.Address), "entry_point_selector": wire.Hex(wire.Selector("initialize")), "calldata": hexes(calldata...), "calls": []any{}}
	return trial.Must(json.Marshal(map[string]any{"type": "INVOKE", "execute_invocation": map[string]any{"contract_address": "0x11", "entry_point_selector": "0x1", "calldata": []string{}, "calls": []any{init}}}))(t)
}

// open puts an opened escrow on the stub's chain.
func (s *stub) open(d wire.Deployment, data wire.SwapData, height uint64, tx string) {
	s.add(initialize(s.t, d, data, height, tx))
	s.traces[tx] = traceOf(s.t, d, data)
}

// Ten thousand escrows, two thousand at the usual depth, are read in two round trips: their states, and what happened to
// those that were opened. What is buried is not asked for again.
func TestManyEscrowsTakeTwoTrips(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	r := s.reader()
	d := r.Deployment
	many := uint64(2_000)
	if trial.Full() {
		many = 10_000
	}
	states := map[wire.Felt][3]uint64{}
	var queries []chains.EscrowQuery
	for i := range many {
		data := swap(t, d, i)
		queries = append(queries, chains.EscrowQuery{Escrow: escrowOf(t, d, data)})
		if i%50 == 0 { // 200 of ten thousand, four in each of fifty blocks
			height := 1000 + i/200
			s.open(d, data, height, fmt.Sprintf("%#x", i+1))
			states[hashOfSwap(t, data)] = [3]uint64{height, 0, 1}
		}
	}
	s.escrows(d, states)
	trips := r.count()
	check := func() {
		t.Helper()
		facts := trial.Must(r.Escrows(t.Context(), queries))(t)
		for i, f := range facts {
			opened := i%50 == 0
			if f.Err != nil || (f.State == chains.EscrowOpen) != opened || f.Final != opened || opened && (f.InitTx != fmt.Sprintf("%#x", i+1) || f.Opened.Time == 0) || f.Head.Height != s.height {
				t.Fatalf("%d: %+v", i, f)
			}
		}
	}
	check()
	trips.expect(t, "the first look", 2)
	check()
	trips.expect(t, "the second look", 1)
}

// What happened lately is asked about along with the state, until it is buried.
func TestRecentEscrowTakesOneTrip(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	r := s.reader()
	d, data := r.Deployment, swap(t, r.Deployment, 1)
	query := []chains.EscrowQuery{{Escrow: escrowOf(t, d, data)}}
	states := map[wire.Felt][3]uint64{hashOfSwap(t, data): {4990, 0, 1}}
	s.escrows(d, states)
	s.open(d, data, 4990, "0x71")
	trips := r.count()
	look := func() chains.EscrowFact {
		t.Helper()
		facts, err := r.Escrows(t.Context(), query)
		if err != nil || facts[0].Err != nil {
			t.Fatal(err, facts[0].Err)
		}
		return facts[0]
	}
	look()
	trips.expect(t, "the first look", 2)
	if f := look(); f.State != chains.EscrowOpen || f.InitTx != "0x71" || f.Opened != (chains.Block{Height: 4990, Hash: hashOf(4990), Time: s.timeOf(4990)}) {
		t.Errorf("%+v", f)
	}
	trips.expect(t, "the second look", 1)
	s.add(ended(t, d, data, 4995, "0x72", make([]byte, 32)))
	states[hashOfSwap(t, data)] = [3]uint64{4990, 4995, 2}
	if f := look(); f.State != chains.EscrowClaimed || f.ClaimTx != "0x72" || len(f.Result) != 32 || !f.Final {
		t.Errorf("%+v", f)
	}
	trips.expect(t, "the look after the claim", 2)
	look()
	trips.expect(t, "the one after", 1)
	states[hashOfSwap(t, data)] = [3]uint64{4990, 0, 1} // the chain took another course
	if f := look(); f.State != chains.EscrowOpen || f.ClaimTx != "" {
		t.Errorf("a claim that was undone: %+v", f)
	}
	states[hashOfSwap(t, data)] = [3]uint64{4990, 4995, 2}
	look()
	trips.trips.Store(0)
	s.height += buried
	look()
	trips.expect(t, "the one after it was buried", 1)
	look()
	trips.expect(t, "the one right after that", 1)
	later := r.ledger.Now().Add(121 * time.Second)
	r.ledger.Now = func() time.Time { return later }
	look()
	trips.expect(t, "the one that confirms it", 1)
	s.contract, s.events = nil, nil // nothing more has to be asked
	if f := look(); f.State != chains.EscrowClaimed || f.Head.Height != s.height {
		t.Errorf("%+v", f)
	}
}

// A state without its event is an error of its escrow alone.
func TestEscrowWithoutEvent(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	r := s.reader()
	d, lost, there := r.Deployment, swap(t, r.Deployment, 1), swap(t, r.Deployment, 2)
	s.escrows(d, map[wire.Felt][3]uint64{hashOfSwap(t, lost): {100, 0, 1}, hashOfSwap(t, there): {100, 0, 1}})
	s.open(d, there, 100, "0x2")
	facts := trial.Must(r.Escrows(t.Context(), []chains.EscrowQuery{{Escrow: escrowOf(t, d, lost)}, {Escrow: escrowOf(t, d, there)}}))(t)
	if fault.CodeOf(facts[0].Err) != fault.Upstream || facts[0].Final || facts[1].Err != nil || facts[1].InitTx != "0x2" {
		t.Errorf("%+v", facts)
	}
}

// An escrow is found by its claim hash: the newest of this deployment. What cannot be
// read is an error and not nothing.
func TestFindByClaimHash(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	r := s.reader()
	d := r.Deployment
	older, newer, decoy := swap(t, d, 1), swap(t, d, 2), swap(t, d, 3)
	decoy.RefundHandler = wire.FeltOf(0x666)
	s.escrows(d, map[wire.Felt][3]uint64{hashOfSwap(t, older): {100, 0, 1}, hashOfSwap(t, newer): {200, 0, 1}, hashOfSwap(t, decoy): {300, 0, 1}})
	s.open(d, older, 100, "0x1")
	claim := newer.ClaimData.Bytes()
	query := []chains.EscrowQuery{{ClaimHash: claim[:], Offerer: wire.Hex64(newer.Offerer), Claimer: wire.Hex64(newer.Claimer)}}
	trips := r.count()
	look := func() chains.EscrowFact {
		t.Helper()
		facts := trial.Must(r.Escrows(t.Context(), query))(t)
		return facts[0]
	}
	if f := look(); f.Err != nil || f.State != chains.EscrowOpen || f.Escrow == nil || f.Escrow.Sequence.Uint64() != 1 {
		t.Errorf("%+v", f)
	}
	trips.expect(t, "the first look", 4)
	s.open(d, newer, 200, "0x2")
	s.open(d, decoy, 300, "0x3")
	if f := look(); f.Err != nil || f.Escrow == nil || f.Escrow.Sequence.Uint64() != 2 {
		t.Errorf("%+v", f)
	}

	hidden := newStub(t)
	r = hidden.reader()
	hidden.escrows(d, nil)
	hidden.add(initialize(t, d, newer, 200, "0x2"))
	if f := look(); fault.CodeOf(f.Err) != fault.Upstream || f.Escrow != nil {
		t.Errorf("an opening without a trace: %+v", f)
	}
	hidden.traces["0x2"] = traceOf(t, d, older)
	if f := look(); f.Err == nil || f.Escrow != nil {
		t.Errorf("a trace of another escrow: %+v", f)
	}
	delete(hidden.traces, "0x2")
	hidden.methods["starknet_traceBlockTransactions"] = func(p json.RawMessage) any {
		if !strings.Contains(string(p), hashOf(200)) {
			t.Errorf("%s is asked", p)
		}
		return []any{map[string]any{"transaction_hash": "0x2", "trace_root": traceOf(t, d, newer)}}
	}
	if f := look(); f.Err != nil || f.Escrow == nil || f.Escrow.Sequence.Uint64() != 2 {
		t.Errorf("a trace of its block: %+v", f)
	}

	empty := newStub(t)
	r = empty.reader()
	empty.escrows(d, nil)
	if f := look(); f.Err != nil || f.Escrow != nil || f.State != chains.EscrowNone {
		t.Errorf("%+v", f)
	}
	query[0].Offerer = "0x0"
	if f := look(); fault.CodeOf(f.Err) != fault.InvalidInput {
		t.Errorf("%+v", f)
	}
}

// An authorisation is over only if the escrow is not open at the very block that says so.
func TestAuthorisationOver(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	r := s.reader()
	d, data := r.Deployment, swap(t, r.Deployment, 1)
	s.escrows(d, nil)
	look := func(timeout int64) chains.EscrowFact {
		t.Helper()
		facts := trial.Must(r.Escrows(t.Context(), []chains.EscrowQuery{{Escrow: escrowOf(t, d, data), Auth: &chains.Auth{Timeout: timeout}}}))(t)
		return facts[0]
	}
	for timeout, want := range map[int64]chains.AuthState{s.time - 1: chains.AuthOver, s.time: chains.AuthLate, stubNow + 29: chains.AuthLate, stubNow + 30: chains.AuthGood, 1 << 62: chains.AuthGood} {
		if f := look(timeout); f.Auth != want || f.Err != nil {
			t.Errorf("timeout at head%+d: %v, %v", timeout-s.time, f.Auth, f.Err)
		}
	}
	none := s.contract
	s.contract = func(c callJSON) any { // another machine, asked for the block
		if c.at != `"latest"` {
			if c.at != `{"block_hash":"`+hashOf(s.height)+`"}` {
				t.Errorf("asked at %s", c.at)
			}
			return []string{"0x1", wire.Hex(wire.FeltOf(s.height)), "0x0", "0x1"}
		}
		return none(c)
	}
	if f := look(s.time - 1); fault.CodeOf(f.Err) != fault.Upstream || f.Auth == chains.AuthOver {
		t.Errorf("%+v", f)
	}
	s.contract = func(c callJSON) any {
		if c.at != `"latest"` {
			return refusal{Code: 24, Text: "Block not found"}
		}
		return none(c)
	}
	if f := look(s.time - 1); f.Err != nil || f.Auth != chains.AuthLate {
		t.Errorf("a block that nobody has: %+v", f)
	}
}

// Pages, pages without events, and tokens that a node has forgotten.
func TestEventPages(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	s.pageSize = 3
	r := s.reader()
	d := r.Deployment
	for i := range uint64(10) {
		s.open(d, swap(t, d, i), 100+i, fmt.Sprintf("%#x", i+1))
	}
	filter := rpc.Filter{From: d.EscrowManager.Address, Keys: [][]wire.Felt{{wire.SelectorInitialize}}, Blocks: rpc.Range{First: 101, Last: 108}}
	read := func() *scan {
		t.Helper()
		one := newScan(filter)
		trial.Do(t, r.ledger.run(t.Context(), nil, []*scan{one}))
		return one
	}
	trips := r.count()
	if got := read(); got.err != nil || len(got.found) != 8 || got.found[0].Height != 101 || got.found[7].Height != 108 {
		t.Errorf("%+v, %v", got.found, got.err)
	}
	trips.expect(t, "three pages", 3)
	forgot := 0
	s.methods["starknet_getEvents"] = func(p json.RawMessage) any {
		var q struct{ Filter filterJSON }
		_ = json.Unmarshal(p, &q)
		if q.Filter.Token == "token-6" && forgot > 0 {
			forgot--
			return refusal{Code: 33, Text: "The supplied continuation token is invalid or unknown"}
		}
		if q.Filter.Token == "" {
			return map[string]any{"events": []any{}, "continuation_token": "token-0"} // nothing in the part that was looked at
		}
		return s.page(q.Filter)
	}
	for forgot = range 3 {
		if got := read(); got.err != nil || len(got.found) != 8 {
			t.Errorf("%d events, %v", len(got.found), got.err)
		}
	}
	forgot = 3
	if got := read(); fault.CodeOf(got.err) != fault.Upstream {
		t.Errorf("%d events, %v", len(got.found), got.err)
	}
	n := 0
	s.methods["starknet_getEvents"] = func(json.RawMessage) any {
		n++
		return map[string]any{"events": []any{}, "continuation_token": fmt.Sprint(n)}
	}
	if got := read(); fault.CodeOf(got.err) != fault.Upstream || n > scanPages {
		t.Errorf("%d pages, %v", n, got.err)
	}
}

// What a node cannot have meant is no answer: the next node is asked.
func TestMisbehavingNode(t *testing.T) {
	t.Parallel()
	d := deployment(t)
	data := swap(t, d, 1)
	hash := hashOfSwap(t, data)
	good := func() *stub {
		s := newStub(t)
		s.escrows(d, map[wire.Felt][3]uint64{hash: {100, 0, 1}})
		s.open(d, data, 100, "0x2")
		return s
	}
	event := func(change func(e map[string]any)) func(s *stub) {
		return func(s *stub) {
			s.methods["starknet_getEvents"] = func(json.RawMessage) any {
				text, _ := json.Marshal(s.events[0])
				var e map[string]any
				_ = json.Unmarshal(text, &e)
				change(e)
				return map[string]any{"events": []any{e}}
			}
		}
	}
	keys := func(e map[string]any) []any { return e["keys"].([]any) }
	block := func(change func(b map[string]any)) func(s *stub) {
		return func(s *stub) {
			s.methods["starknet_getBlockWithTxHashes"] = func(p json.RawMessage) any {
				var q struct {
					ID json.RawMessage `json:"block_id"`
				}
				_ = json.Unmarshal(p, &q)
				b := s.block(q.ID)
				if m, ok := b.(map[string]any); ok {
					change(m)
				}
				return b
			}
		}
	}
	for name, spoil := range map[string]func(s *stub){
		"another network": func(s *stub) {
			s.methods["starknet_chainId"] = func(json.RawMessage) any { return "0x534e5f5345504f4c4941" }
		},
		"a version that is too old":              func(s *stub) { s.version = "0.6.0" },
		"no version":                             func(s *stub) { s.version = "new" },
		"the head of a block that is being made": block(func(b map[string]any) { b["status"] = "PRE_CONFIRMED" }),
		"a head without a hash":                  block(func(b map[string]any) { delete(b, "block_hash") }),
		"a head without a time":                  block(func(b map[string]any) { delete(b, "timestamp") }),
		"a hash beyond the prime": block(func(b map[string]any) {
			b["block_hash"] = "0x800000000000011000000000000000000000000000000000000000000000001"
		}),
		"a hash without 0x":              block(func(b map[string]any) { b["block_hash"] = "1234" }),
		"a height beyond all":            block(func(b map[string]any) { b["block_number"] = uint64(1 << 63) }),
		"another block":                  block(func(b map[string]any) { b["block_number"] = b["block_number"].(uint64) + 1 }),
		"an event of another contract":   event(func(e map[string]any) { e["from_address"] = "0x5" }),
		"an event of another escrow":     event(func(e map[string]any) { keys(e)[4] = "0x5" }),
		"an event of another kind":       event(func(e map[string]any) { keys(e)[0] = "0x5" }),
		"an event with too few keys":     event(func(e map[string]any) { e["keys"] = keys(e)[:3] }),
		"an event of another block":      event(func(e map[string]any) { e["block_number"] = 101 }),
		"an event without a transaction": event(func(e map[string]any) { delete(e, "transaction_hash") }),
		"no list of events":              func(s *stub) { s.methods["starknet_getEvents"] = func(json.RawMessage) any { return map[string]any{} } },
		"a page that leads to itself": func(s *stub) {
			s.methods["starknet_getEvents"] = func(json.RawMessage) any { return map[string]any{"events": []any{}, "continuation_token": "x"} }
		},
		"an internal error": func(s *stub) {
			s.contract = func(callJSON) any { return refusal{Code: -32603, Text: "Internal error"} }
		},
		"a rate limit": func(s *stub) {
			s.contract = func(callJSON) any { return refusal{Code: -32602, Text: "Too many requests"} }
		},
		"an old head": func(s *stub) { s.time -= 600 },
	} {
		t.Run(name, func(t *testing.T) {
			bad, honest := good(), good()
			spoil(bad)
			r := New(d, connect(t, time.Unix(stubNow, 0), bad.serve(), honest.serve()))
			facts, err := r.Escrows(t.Context(), []chains.EscrowQuery{{Escrow: escrowOf(t, d, data)}})
			if err != nil || facts[0].Err != nil || facts[0].State != chains.EscrowOpen || facts[0].InitTx != "0x2" || facts[0].Head.Time != honest.time || facts[0].Opened.Time == 0 {
				t.Errorf("%+v, %v", facts, err)
			}
			if honest.asked() == 0 {
				t.Error("the other node was not asked")
			}
		})
	}
	// Alone it is an error, and never an escrow that is not there.
	for name, spoil := range map[string]func(s *stub){
		"states of fewer escrows": func(s *stub) { s.contract = func(callJSON) any { return []string{"0x0"} } },
		"a state of 4":            func(s *stub) { s.contract = func(callJSON) any { return []string{"0x1", "0x64", "0x0", "0x4"} } },
		"nothing":                 func(s *stub) { s.contract = func(callJSON) any { return []string{} } },
		"no manager":              func(s *stub) { s.contract = nil },
	} {
		t.Run(name, func(t *testing.T) {
			bad := good()
			spoil(bad)
			r := New(d, connect(t, time.Unix(stubNow, 0), bad.serve()))
			if facts, err := r.Escrows(t.Context(), []chains.EscrowQuery{{Escrow: escrowOf(t, d, data)}}); fault.CodeOf(err) != fault.Upstream {
				t.Errorf("%+v, %v", facts, err)
			}
		})
	}
}

// Accounts that are deployed, that are not, and that are being deployed; those that a
// contract made have the nonce 0.
func TestAccount(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"0.7.1", "0.8.1", "0.9.0", "0.10.0"} {
		s := newStub(t)
		s.version = version
		r := s.reader()
		trips := r.count()
		s.classes["0x5"], s.nonces["0x5"], s.pending["0x5"] = "0xc1a55", 7, 9
		s.classes["0x6"], s.nonces["0x6"] = "0xc1a55", 0
		s.pending["0x7"] = 1
		for address, want := range map[uint64]Account{
			5: {Deployed: true, Class: wire.FeltOf(0xc1a55), Nonce: 7, Next: 9},
			6: {Deployed: true, Class: wire.FeltOf(0xc1a55)},
			7: {Next: 1},
			8: {},
		} {
			got, err := r.ledger.Account(t.Context(), wire.FeltOf(address))
			want.Head = chains.Block{Height: s.height, Hash: hashOf(s.height), Time: s.time}
			if err != nil || got != want {
				t.Errorf("%s: account %d is %+v, %v", version, address, got, err)
			}
		}
		trips.expect(t, "four accounts", 4)
		if at, err := r.ledger.BlockTime(t.Context()); err != nil || at != s.time {
			t.Errorf("%d, %v", at, err)
		}
	}
}

// The time of the block that is being made, in the words of each version.
func TestBlockTime(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"0.7.1", "0.8.1", "0.9.0"} {
		s := newStub(t)
		s.version = version
		ledger := s.reader().ledger
		if at, err := ledger.BlockTime(t.Context()); err != nil || at != s.time+2 {
			t.Errorf("%s: %d, %v", version, at, err)
		}
	}
}

var errStop = errors.New("stop")

// Polls go on where they were, also when the chain took another course and after a pause.
func TestPoll(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	r := s.reader()
	d := r.Deployment
	trips := r.count()
	at := Cursor{}
	poll := func() (got []uint64) {
		t.Helper()
		err := r.ledger.Poll(t.Context(), []*Reader{r}, at, func(news []News, next Cursor) error {
			for _, n := range news {
				if n.Version != "v1" {
					t.Errorf("%+v", n)
				}
				got = append(got, n.Height)
			}
			at = next
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	poll()
	trips.expect(t, "the first poll", 2)
	s.height += 10
	s.open(d, swap(t, d, 1), 5003, "0x1")
	s.open(d, swap(t, d, 2), 5007, "0x2")
	same(t, "news", []uint64{5003, 5007}, poll())
	trips.expect(t, "a poll", 1)
	same(t, "news", []uint64(nil), poll())
	trips.expect(t, "a poll without news", 1)

	// The last event is in another block now, and another stands before it.
	s.events = nil
	s.open(d, swap(t, d, 3), 5001, "0x3")
	s.height += 2
	same(t, "news after a reorganisation", []uint64{5001}, poll())
	trips.expect(t, "that", 2)

	s.height += 25_000
	s.open(d, swap(t, d, 4), 5009, "0x4")
	s.open(d, swap(t, d, 5), 29_000, "0x5")
	poll() // learns how high the chain is
	s.open(d, swap(t, d, 6), 30_000, "0x6")
	same(t, "news", []uint64{30_000}, poll())

	at["v1"] = [2]Position{{Block: 5009}, {Block: 5009}}
	trips.expect(t, "two polls", 2)
	same(t, "news after a pause", []uint64{5009, 29_000, 30_000}, poll())
	trips.expect(t, "twenty-five thousand blocks", 3)

	kept := at
	s.height++
	s.open(d, swap(t, d, 7), s.height, "0x7")
	if err := r.ledger.Poll(t.Context(), []*Reader{r}, at, func([]News, Cursor) error { return errStop }); !errors.Is(err, errStop) {
		t.Error(err)
	}
	same(t, "cursor", true, at["v1"][0].equal(kept["v1"][0]))
	for _, text := range []string{`{"v1":[]}`, `{"v1":[{},{},{}]}`, `{"v1":[{"lastBlockNumber":-1},{}]}`, `{"v1":[{"lastTxHash":"x"},{}]}`, `7`, `[1,2]`, `{`} {
		if _, err := ParseCursor([]byte(text)); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}

// A node that once names a height that no chain has does not cost the events of all the time
// until the chain is so high.
func TestPollAfterALie(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	r := s.reader()
	at := Cursor{}
	poll := func() (got []uint64) {
		t.Helper()
		trial.Do(t, r.ledger.Poll(t.Context(), []*Reader{r}, at, func(news []News, next Cursor) error {
			for _, n := range news {
				got = append(got, n.Height)
			}
			at = next
			return nil
		}))
		return got
	}
	poll()
	height := s.height
	for _, lie := range []uint64{1 << 50, 1} {
		s.height = lie
		poll()
		s.height = height
		var got []uint64
		for n := range 20 {
			if s.height++; n == 15 {
				s.open(r.Deployment, swap(t, r.Deployment, 1), s.height, "0x1")
			}
			got = append(got, poll()...)
		}
		same(t, "news", []uint64{height + 16}, got)
		height, s.events = s.height, nil
	}
}

// A header that was stored long ago is found in few trips, and not looked for before it
// can have been stored.
func TestRelaySearchGoesBack(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	s.height, s.onL1 = 1_000_000, 999_000
	r := s.reader()
	r.BtcRelay.Height = 10_000
	h := wire.StoredHeader{Header: bitcoin.Header{Height: 800_000, Bits: 0x1d00ffff, Time: 1_700_000_000}, Work: big.NewInt(1 << 40)}
	block := h.Header.Hash()
	commit := h.CommitHash()
	height := uint64(500_000)
	s.add(eventJSON{Height: &height, Tx: "0x9", From: wire.Hex64(r.BtcRelay.Address), Keys: hexes(wire.SelectorStored, commit, wire.BlockHashPoseidon(block)), Data: hexes(h.Felts()...)})
	held := true
	s.contract = func(c callJSON) any {
		switch felt(t, c.Entry) {
		case wire.Selector(wire.EntryBlockHeight):
			return []string{"0xc3505"}
		case wire.Selector(wire.EntryTipCommitHash):
			return hexes(commit)
		case wire.Selector(wire.EntryCommitHash):
			if held {
				return hexes(commit)
			}
			return refusal{Code: 40, Text: "Contract error", Data: json.RawMessage(`{"revert_error":"above the tip"}`)}
		}
		return refusal{Code: 21, Text: "no entry point"}
	}
	trips := r.count()
	got, tip, found, err := r.Header(t.Context(), block, 0)
	if err != nil || !found || tip != 800_005 || got.CommitHash() != commit {
		t.Fatalf("%+v, %d, %v, %v", got, tip, found, err)
	}
	trips.expect(t, "half a million blocks", 1+5+1) // the head, stretches of 2000 to half a million, the relay
	if _, _, found, err = r.Header(t.Context(), block, 0); err != nil || !found {
		t.Error(found, err)
	}
	trips.expect(t, "a header that was read before", 1)
	if tip, err := r.TipHeader(t.Context()); err != nil || tip.CommitHash() != commit {
		t.Error(err)
	}
	trips.trips.Store(0)
	if _, err := r.TipHeader(t.Context()); err != nil {
		t.Error(err)
	}
	trips.expect(t, "a tip that was read before", 1)

	held = false
	if _, _, found, err = r.Header(t.Context(), block, 0); err != nil || found {
		t.Error(found, err)
	}
	held = true
	r.memory = newMemory()
	trips.trips.Store(0)
	// A block is a second here.
	if _, tip, found, err = r.Header(t.Context(), block, s.timeOf(995_000)); err != nil || found || tip != 800_005 {
		t.Error(found, tip, err)
	}
	trips.expect(t, "what can have been stored lately only", 3)
	if latest, err := r.LatestHeader(t.Context(), func(_ context.Context, b bitcoin.Hash) (bool, error) { return b == block, nil }); err != nil || latest.CommitHash() != commit {
		t.Error(err)
	}
	if _, err := r.LatestHeader(t.Context(), func(context.Context, bitcoin.Hash) (bool, error) { return false, nil }); !errors.Is(err, bitcoin.ErrNotFound) {
		t.Error(err)
	}
	if _, err := r.LatestHeader(t.Context(), func(context.Context, bitcoin.Hash) (bool, error) { return false, errStop }); !errors.Is(err, errStop) {
		t.Error(err)
	}
}

// How far the relay is most nodes say, the higher of two.
func TestRelayTipOfSeveralNodes(t *testing.T) {
	t.Parallel()
	d := deployment(t)
	for _, c := range []struct {
		said []string
		want uint32
	}{{[]string{"0x5"}, 5}, {[]string{"0x5", "0x9"}, 9}, {[]string{"0xffffffff", "0x5", "0x6"}, 6}, {[]string{"0x100000000", "0x5", ""}, 5}} {
		var urls []string
		for _, tip := range c.said {
			s := newStub(t)
			s.contract = func(callJSON) any {
				if tip == "" {
					return refusal{Code: 20, Text: "Contract not found"}
				}
				return []string{tip}
			}
			urls = append(urls, s.serve())
		}
		got, err := New(d, connect(t, time.Unix(stubNow, 0), urls...)).RelayTip(t.Context())
		if err != nil || got != c.want {
			t.Errorf("%v: %d, %v", c.said, got, err)
		}
	}
}

// A reader is shared by all swaps.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	r := s.reader()
	d := r.Deployment
	states := map[wire.Felt][3]uint64{}
	var queries []chains.EscrowQuery
	for i := range uint64(20) {
		data := swap(t, d, i)
		s.open(d, data, 1000+200*i, fmt.Sprintf("%#x", i+1))
		states[hashOfSwap(t, data)] = [3]uint64{1000 + 200*i, 0, 1}
		claim := data.ClaimData.Bytes()
		queries = append(queries, chains.EscrowQuery{Escrow: escrowOf(t, d, data)}, chains.EscrowQuery{ClaimHash: claim[:], Offerer: wire.Hex64(data.Offerer), Claimer: wire.Hex64(data.Claimer)})
	}
	s.escrows(d, states)
	var workers errgroup.Group
	for range 8 {
		workers.Go(func() error {
			facts, err := r.Escrows(t.Context(), queries)
			for _, f := range facts {
				err = errors.Join(err, f.Err)
			}
			return err
		})
		workers.Go(func() error {
			_, err := r.ledger.FeeRate(t.Context())
			return err
		})
		workers.Go(func() error {
			return r.ledger.Poll(t.Context(), []*Reader{r}, Cursor{"v1": {{Block: 900}, {Block: 900}}}, func([]News, Cursor) error { return nil })
		})
		workers.Go(func() error {
			_, err := r.ledger.BlockTime(t.Context())
			return err
		})
		workers.Go(func() error {
			for _, err := range r.ledger.History(t.Context(), []*Reader{r}, wire.FeltOf(0x22), 0) {
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := workers.Wait(); err != nil {
		t.Error(err)
	}
}

// What became of a withdrawal is remembered once it is buried and was read twice, not before.
func TestWithdrawalIsRemembered(t *testing.T) {
	t.Parallel()
	s := newStub(t)
	r := s.reader()
	tx, recipient := bitcoin.Hash{1, 2, 3}, wire.FeltOf(0x77)
	low, high := wire.TxIDKeys(tx)
	height := uint64(4990)
	query := []chains.WithdrawalQuery{{Vault: chains.VaultID{Owner: "0x7", ID: big.NewInt(2)}, Recipient: wire.Hex64(recipient), TxID: tx}}
	claim := eventJSON{Height: &height, Tx: "0x9", From: wire.Hex64(r.VaultManager.Address), Data: hexes(wire.FeltOf(5), wire.FeltOf(6), wire.FeltOf(1), wire.Felt{}),
		Keys: hexes(wire.SelectorClaimed, low, high, wire.FeltOf(7), wire.FeltOf(2), recipient, wire.Felt{}, wire.FeltOf(0x62))}
	look := func(what string, state chains.WithdrawalState) {
		t.Helper()
		facts, err := r.Withdrawals(t.Context(), query)
		if err != nil || facts[0].Err != nil {
			t.Fatal(err, facts[0].Err)
		}
		if f := facts[0]; f.State != state || f.Final != (state != chains.WithdrawalNone) || f.Head.Height != s.height {
			t.Errorf("%s: %+v", what, f)
		}
	}
	look("nothing", chains.WithdrawalNone)
	s.add(claim)
	look("a claim", chains.WithdrawalClaimed)
	s.events = nil
	look("a claim that was undone", chains.WithdrawalNone)
	s.add(claim)
	s.height += buried
	look("a claim that is buried", chains.WithdrawalClaimed)
	s.events = nil
	look("a lie, or the claim was one", chains.WithdrawalNone)
	s.add(claim)
	later := r.ledger.Now()
	r.ledger.Now = func() time.Time { return later }
	for _, what := range []string{"the first time after a lie", "the second"} {
		later = later.Add(121 * time.Second)
		look(what, chains.WithdrawalClaimed)
	}
	s.events = nil
	look("it once more", chains.WithdrawalClaimed)
}
