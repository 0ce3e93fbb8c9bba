package read

import (
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mr-tron/base58"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/jsonrpc/rpctest"
	"github.com/swapper-go/swapper/internal/solana/rpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// stub is a node of Solana that knows what a test tells it. It answers over a socket.
type stub struct {
	t testing.TB

	mu        sync.Mutex
	clock     wire.Clock // at all commitments
	slots     map[string]uint64
	accounts  map[wire.Key]wire.AccountReply
	finalized map[wire.Key]wire.AccountReply // nil: the same
	history   map[wire.Key][]sigJSON         // newest first
	txs       map[string]json.RawMessage     // results of getTransaction
	methods   map[string]func(params []json.RawMessage) any
	trips     int
	calls     []string
}

// refusal is an error that a node answers a call with.
type refusal struct {
	code int
	text string
}

// sigJSON is an entry of a history.
type sigJSON struct {
	Signature string          `json:"signature"`
	Slot      uint64          `json:"slot"`
	Err       json.RawMessage `json:"err"`
	BlockTime int64           `json:"blockTime"`
	Status    string          `json:"confirmationStatus,omitempty"`
}

func newStub(t testing.TB) *stub {
	s := &stub{t: t, clock: wire.Clock{Slot: 1 << 20, Unix: 1_756_278_357}, slots: map[string]uint64{}, accounts: map[wire.Key]wire.AccountReply{},
		history: map[wire.Key][]sigJSON{}, txs: map[string]json.RawMessage{}, methods: map[string]func([]json.RawMessage) any{}}
	s.methods["getLatestBlockhash"] = func([]json.RawMessage) any {
		return map[string]any{"context": map[string]any{"slot": s.clock.Slot}, "value": map[string]any{"blockhash": wire.Key{7}.String(), "lastValidBlockHeight": 1000}}
	}
	return s
}

// ledger starts the node and connects to it.
func (s *stub) ledger(now time.Time) *Ledger {
	s.t.Helper()
	server := rpctest.Serve(s.t, func(calls []rpctest.Call) any {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.trips++
		var all []any
		for _, c := range calls {
			s.calls = append(s.calls, c.Method)
			var params []json.RawMessage
			_ = json.Unmarshal(c.Params, &params)
			switch answer := s.answer(c.Method, params).(type) {
			case refusal:
				all = append(all, rpctest.Refusal(c, answer.code, answer.text))
			default:
				all = append(all, rpctest.Result(c, answer))
			}
		}
		return all
	})
	nodes, err := rpc.Dial(func(string) error { return nil }, []string{server.URL}, http.DefaultTransport, func() time.Time { return now })
	if err != nil {
		s.t.Fatal(err)
	}
	nodes.Retry = httpx.RetryPolicy{Calls: 1}
	s.t.Cleanup(nodes.Close)
	return NewLedger(nodes, func() time.Time { return now }, slog.New(slog.DiscardHandler))
}

// asked returns how many HTTP requests came since it was called last.
func (s *stub) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.trips
	s.trips, s.calls = 0, nil
	return n
}

type optionsJSON struct {
	Commitment, Before, Until string
	Limit                     int
	MinContextSlot            uint64
}

func (s *stub) answer(method string, params []json.RawMessage) any {
	var o optionsJSON
	if len(params) > 0 {
		_ = json.Unmarshal(params[len(params)-1], &o)
	}
	if f := s.methods[method]; f != nil {
		return f(params)
	}
	inContext := func(v any) any {
		return map[string]any{"context": map[string]any{"slot": s.slot(o.Commitment)}, "value": v}
	}
	if s.slot(o.Commitment) < o.MinContextSlot {
		return refusal{-32016, "Minimum context slot has not been reached"}
	}
	switch method {
	case "getGenesisHash":
		return "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG"
	case "getSlot":
		return s.slot(o.Commitment)
	case "getMultipleAccounts":
		var keys []string
		s.decode(params[0], &keys)
		all := make([]any, len(keys))
		for i, k := range keys {
			all[i] = s.account(key(s.t, k), o.Commitment)
		}
		return inContext(all)
	case "getSignaturesForAddress":
		var of string
		s.decode(params[0], &of)
		return page(s.history[key(s.t, of)], o)
	case "getTransaction":
		var id string
		s.decode(params[0], &id)
		return s.txs[id]
	}
	return refusal{-32601, "Method not found: " + method}
}

func (s *stub) decode(raw json.RawMessage, v any) {
	if err := json.Unmarshal(raw, v); err != nil {
		s.t.Error(err)
	}
}

func (s *stub) slot(commitment string) uint64 {
	if n, ok := s.slots[commitment]; ok {
		return n
	}
	return s.clock.Slot
}

func (s *stub) account(k wire.Key, commitment string) any {
	if k == wire.ClockData {
		return accountJSON(wire.AccountReply{Owner: wire.SysvarProgram, Lamports: 1, Data: s.clock.Bytes()})
	}
	of := s.accounts
	if commitment == "finalized" && s.finalized != nil {
		of = s.finalized
	}
	if a, ok := of[k]; ok {
		return accountJSON(a)
	}
	return nil
}

func accountJSON(a wire.AccountReply) any {
	return map[string]any{"owner": a.Owner.String(), "lamports": a.Lamports, "executable": false, "rentEpoch": uint64(1<<64 - 1), "space": len(a.Data), "data": []string{base64.StdEncoding.EncodeToString(a.Data), "base64"}}
}

// page is the part of a history that is asked for.
func page(all []sigJSON, o optionsJSON) []sigJSON {
	at := func(id string) int { return slices.IndexFunc(all, func(s sigJSON) bool { return s.Signature == id }) }
	if i := at(o.Before); o.Before != "" {
		all = all[i+1:]
	}
	if i := at(o.Until); o.Until != "" && i >= 0 {
		all = all[:i]
	}
	return append([]sigJSON{}, all[:min(len(all), o.Limit)]...)
}

// ixJSON is an instruction of a transaction in the vectors.
type ixJSON struct {
	ProgramID string
	Accounts  []string
	Data      string // base58
}

// txJSON is a transaction in the vectors.
type txJSON struct {
	Slot         uint64
	BlockTime    int64
	Err          json.RawMessage
	Logs         []string
	Instructions []ixJSON
}

// add makes a transaction known under its id, as nodes tell it.
func (s *stub) add(id string, tx txJSON) {
	s.t.Helper()
	var all []wire.Instruction
	for _, ix := range tx.Instructions {
		data, err := base58.Decode(ix.Data)
		if err != nil {
			s.t.Fatal(err)
		}
		out := wire.Instruction{Program: key(s.t, ix.ProgramID), Data: data}
		for _, a := range ix.Accounts {
			out.Accounts = append(out.Accounts, wire.Account{PublicKey: key(s.t, a)})
		}
		all = append(all, out)
	}
	s.txs[id] = s.result(id, tx, all)
}

func (s *stub) result(id string, tx txJSON, all []wire.Instruction) json.RawMessage {
	s.t.Helper()
	if len(tx.Err) == 0 {
		tx.Err = json.RawMessage("null")
	}
	sig, err := wire.ParseSignature(id)
	if err != nil {
		s.t.Fatal(err)
	}
	payer := wire.Key{9, 9, 9}
	full := wire.Tx{Payer: payer, Blockhash: wire.Hash{1}, Instructions: all, Signatures: map[wire.Key]wire.Signature{payer: sig}}
	raw, err := full.Bytes()
	if err != nil {
		s.t.Fatal(err)
	}
	return mustJSON(s.t, map[string]any{"slot": tx.Slot, "blockTime": tx.BlockTime, "version": "legacy", "transaction": []string{base64.StdEncoding.EncodeToString(raw), "base64"},
		"meta": map[string]any{"err": tx.Err, "logMessages": tx.Logs, "innerInstructions": []any{}}})
}

func mustJSON(t testing.TB, v any) json.RawMessage {
	t.Helper()
	return trial.Must(json.Marshal(v))(t)
}

func key(t testing.TB, s string) wire.Key {
	t.Helper()
	k, err := wire.ParseKey(s)
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return k
}

// programs returns the deployment that the vectors of a version were made with.
func programs(t testing.TB, version string) wire.Programs {
	t.Helper()
	n, ok := wire.NetworkFor(bitcoin.Testnet3)
	if !ok {
		t.Fatal("no deployments")
	}
	return trial.Must(n.Version(version))(t)
}

func same[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
