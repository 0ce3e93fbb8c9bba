package read

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/jsonrpc/rpctest"
	"github.com/swapper-go/swapper/internal/starknet/rpc"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// stub is a node of Starknet that knows what a test tells it. It answers over a socket.
type stub struct {
	t testing.TB

	mu       sync.Mutex
	version  string
	height   uint64 // of the newest accepted block
	time     int64  // of that block
	onL1     uint64
	times    map[uint64]int64 // of other blocks
	events   []eventJSON
	pageSize int // of answers with events
	contract func(c callJSON) any
	classes  map[string]string
	nonces   map[string]uint64 // at both blocks
	pending  map[string]uint64 // at the block that is being made
	receipts map[string]any
	progress map[string]any
	traces   map[string]json.RawMessage
	methods  map[string]func(json.RawMessage) any
	trips    int
	calls    []string
}

// refusal is an error that a node answers a call with.
type refusal struct {
	Code int             `json:"code"`
	Text string          `json:"message"`
	Data json.RawMessage `json:"data,omitempty"`
}

type eventJSON struct {
	Block  string   `json:"block_hash,omitempty"`
	Height *uint64  `json:"block_number,omitempty"`
	Tx     string   `json:"transaction_hash"`
	From   string   `json:"from_address"`
	Keys   []string `json:"keys"`
	Data   []string `json:"data"`
}

type callJSON struct {
	Contract string   `json:"contract_address"`
	Entry    string   `json:"entry_point_selector"`
	Calldata []string `json:"calldata"`
	at       string
}

const stubNow = 1_791_014_147

func newStub(t testing.TB) *stub {
	return &stub{t: t, version: "0.9.0", height: 5000, time: stubNow - 5, onL1: 4000, times: map[uint64]int64{}, pageSize: 100, classes: map[string]string{}, nonces: map[string]uint64{},
		pending: map[string]uint64{}, receipts: map[string]any{}, progress: map[string]any{}, traces: map[string]json.RawMessage{}, methods: map[string]func(json.RawMessage) any{}}
}

// serve starts the node.
func (s *stub) serve() string {
	s.t.Helper()
	return rpctest.Serve(s.t, func(calls []rpctest.Call) any {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.trips++
		var all []any
		for _, c := range calls {
			s.calls = append(s.calls, c.Method)
			switch answer := s.answer(c.Method, c.Params).(type) {
			case refusal:
				all = append(all, map[string]any{"jsonrpc": "2.0", "id": c.ID, "error": answer})
			default:
				all = append(all, rpctest.Result(c, answer))
			}
		}
		return all
	}).URL
}

// connect connects to nodes as a client whose clock shows a time.
func connect(t testing.TB, now time.Time, urls ...string) *Ledger {
	t.Helper()
	n, ok := wire.NetworkFor(bitcoin.Mainnet)
	if !ok {
		t.Fatal("no preset")
	}
	clock := func() time.Time { return now }
	nodes := trial.Must(rpc.Dial(n.CheckChainID, urls, http.DefaultTransport, clock))(t)
	nodes.Retry = httpx.RetryPolicy{Calls: 1}
	t.Cleanup(nodes.Close)
	return NewLedger(nodes, clock, slog.New(slog.DiscardHandler))
}

// reader starts the node and reads the deployment of mainnet from it, from block 0 on.
func (s *stub) reader() *Reader {
	s.t.Helper()
	return New(deployment(s.t), connect(s.t, time.Unix(stubNow, 0), s.serve()))
}

func deployment(t testing.TB) wire.Deployment {
	t.Helper()
	n, ok := wire.NetworkFor(bitcoin.Mainnet)
	if !ok {
		t.Fatal("no preset")
	}
	d := n.Deployments[0]
	d.EscrowManager.Height, d.VaultManager.Height, d.BtcRelay.Height = 0, 0, 0
	return d
}

// asked returns how many HTTP requests came since it was called last.
func (s *stub) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.trips
	s.trips, s.calls = 0, nil
	return n
}

// old reports whether the node is of before version 0.9.
func (s *stub) old() bool { return s.version[:3] == "0.7" || s.version[:3] == "0.8" }

// hashOf is the hash of a block on the stub's chain.
func hashOf(height uint64) string { return fmt.Sprintf("0xb10c%08x", height) }

func (s *stub) timeOf(height uint64) int64 {
	if t, ok := s.times[height]; ok {
		return t
	}
	return s.time - int64(s.height) + int64(height)
}

func (s *stub) block(id json.RawMessage) any {
	var tag string
	var named struct {
		Number *uint64 `json:"block_number"`
		Hash   string  `json:"block_hash"`
	}
	height := s.height
	switch {
	case json.Unmarshal(id, &tag) == nil:
		switch tag {
		case "latest":
		case "l1_accepted":
			if s.old() {
				return refusal{Code: -32602, Text: "Invalid params"}
			}
			height = s.onL1
		case "pre_confirmed", "pending":
			if (tag == "pending") != s.old() {
				return refusal{Code: -32602, Text: "Invalid params"}
			}
			return map[string]any{"block_number": s.height + 1, "timestamp": s.time + 2, "l1_gas_price": price(3), "l2_gas_price": price(5), "l1_data_gas_price": price(7)}
		default:
			return refusal{Code: -32602, Text: "Invalid params"}
		}
	case json.Unmarshal(id, &named) == nil && named.Number != nil:
		height = *named.Number
	default:
		height = s.height + 1
		for h := range s.height + 1 {
			if hashOf(h) == named.Hash {
				height = h
			}
		}
	}
	if height > s.height {
		return refusal{Code: 24, Text: "Block not found"}
	}
	status := "ACCEPTED_ON_L2"
	if height <= s.onL1 {
		status = "ACCEPTED_ON_L1"
	}
	return map[string]any{"status": status, "block_number": height, "block_hash": hashOf(height), "timestamp": s.timeOf(height), "transactions": []string{},
		"l1_gas_price": price(3), "l2_gas_price": price(5), "l1_data_gas_price": price(7)}
}

func price(n int) any {
	return map[string]any{"price_in_fri": fmt.Sprintf("%#x", n), "price_in_wei": "0x1"}
}

func (s *stub) answer(method string, params json.RawMessage) any {
	if f := s.methods[method]; f != nil {
		return f(params)
	}
	var p struct {
		BlockID  json.RawMessage `json:"block_id"`
		Request  callJSON
		Address  string `json:"contract_address"`
		Tx       string `json:"transaction_hash"`
		Filter   filterJSON
		BlockTag string
	}
	_ = json.Unmarshal(params, &p)
	var named string
	_ = json.Unmarshal(p.BlockID, &named)
	if len(p.BlockID) > 0 {
		if refused, ok := s.block(p.BlockID).(refusal); ok {
			return refused
		}
	}
	switch method {
	case "starknet_chainId":
		return "0x534e5f4d41494e"
	case "starknet_specVersion":
		return s.version
	case "starknet_getBlockWithTxHashes":
		return s.block(p.BlockID)
	case "starknet_call":
		p.Request.at = string(p.BlockID)
		if s.contract != nil {
			return s.contract(p.Request)
		}
		return refusal{Code: 20, Text: "Contract not found"}
	case "starknet_getClassHashAt":
		if c, ok := s.classes[p.Address]; ok {
			return c
		}
		return refusal{Code: 20, Text: "Contract not found"}
	case "starknet_getNonce":
		if n, ok := s.pending[p.Address]; ok && named != "latest" {
			return fmt.Sprintf("%#x", n)
		}
		if n, ok := s.nonces[p.Address]; ok {
			return fmt.Sprintf("%#x", n)
		}
		return refusal{Code: 20, Text: "Contract not found"}
	case "starknet_getEvents":
		return s.page(p.Filter)
	case "starknet_getTransactionReceipt":
		return known(s.receipts, p.Tx)
	case "starknet_getTransactionStatus":
		return known(s.progress, p.Tx)
	case "starknet_traceTransaction":
		if t, ok := s.traces[p.Tx]; ok {
			return t
		}
		return refusal{Code: 29, Text: "Transaction hash not found"}
	}
	return refusal{Code: -32601, Text: "Method not found: " + method}
}

func known(all map[string]any, id string) any {
	if v, ok := all[id]; ok {
		return v
	}
	return refusal{Code: 29, Text: "Transaction hash not found"}
}

type filterJSON struct {
	Address string `json:"address"`
	From    struct {
		Number uint64 `json:"block_number"`
	} `json:"from_block"`
	To    json.RawMessage `json:"to_block"`
	Keys  [][]string      `json:"keys"`
	Chunk int             `json:"chunk_size"`
	Token string          `json:"continuation_token"`
}

// page is a part of the events that a filter finds, as a node finds them.
func (s *stub) page(f filterJSON) any {
	to := s.height
	var named struct {
		Number uint64 `json:"block_number"`
	}
	if json.Unmarshal(f.To, &named) == nil {
		to = min(to, named.Number)
	}
	var found []eventJSON
	for _, e := range s.events {
		if e.Height == nil || *e.Height < f.From.Number || *e.Height > to || number(e.From).Cmp(number(f.Address)) != 0 {
			continue
		}
		ok := true
		for i, some := range f.Keys {
			ok = ok && (len(some) == 0 || i < len(e.Keys) && slices.ContainsFunc(some, func(k string) bool { return number(k).Cmp(number(e.Keys[i])) == 0 }))
		}
		if ok {
			found = append(found, e)
		}
	}
	slices.SortStableFunc(found, func(a, b eventJSON) int { return int(int64(*a.Height) - int64(*b.Height)) })
	first := 0
	if f.Token != "" {
		var err error
		if first, err = strconv.Atoi(strings.TrimPrefix(f.Token, "token-")); err != nil || first > len(found) {
			return refusal{Code: 33, Text: "The supplied continuation token is invalid or unknown"}
		}
	}
	last := min(first+min(s.pageSize, f.Chunk), len(found))
	out := map[string]any{"events": append([]eventJSON{}, found[first:last]...)}
	if last < len(found) {
		out["continuation_token"] = fmt.Sprintf("token-%d", last)
	}
	return out
}

func number(text string) *big.Int {
	n, ok := new(big.Int).SetString(text, 0)
	if !ok {
		return big.NewInt(-1)
	}
	return n
}

// add puts events into blocks of the stub's chain, each once.
func (s *stub) add(events ...eventJSON) {
	for _, e := range events {
		if e.Height == nil {
			continue
		}
		e.Block = hashOf(*e.Height)
		if !slices.ContainsFunc(s.events, func(o eventJSON) bool { return cmp.Equal(o, e) }) {
			s.events = append(s.events, e)
		}
	}
}

func felt(t testing.TB, text string) wire.Felt {
	t.Helper()
	f, err := wire.ParseFelt(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return f
}

func hexes(all ...wire.Felt) []string {
	texts := make([]string, len(all))
	for i, f := range all {
		texts[i] = wire.Hex(f)
	}
	return texts
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b *big.Int) bool {
		return a == b || a != nil && b != nil && a.Cmp(b) == 0
	})); d != "" {
		t.Errorf("%s (- wanted, + got):\n%s", what, d)
	}
}
