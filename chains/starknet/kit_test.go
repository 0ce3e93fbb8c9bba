package starknet_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/starknet"
	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/jsonrpc/rpctest"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// scripted is a node whose answers a test writes out. What is not set is an account that
// is deployed and that signs with a plain key, and escrows that were never opened.
type scripted struct {
	mu       sync.Mutex
	time     int64
	prices   [3]int64 // L1, L2, L1 data
	mined    map[string]uint64
	pending  map[string]uint64
	absent   map[string]bool
	keys     map[string]contracts.Key // by account
	says     func(account string) any // what an account answers about signatures; nil: by its key
	states   map[string]int
	balance  *big.Int
	known    map[string]string // finality status by id
	sent     []string
	ids      map[[32]byte]string // of signed transactions, by the hash of what is sent
	refuse   func(id string) any // what the node says of a transaction that it is sent
	simulate func(n int) any
	calls    []string
}

type refusal struct {
	code int
	data any
}

func newScripted() *scripted {
	return &scripted{time: 1_800_000_000, prices: [3]int64{1000, 2000, 3000}, mined: map[string]uint64{}, pending: map[string]uint64{}, absent: map[string]bool{},
		keys: map[string]contracts.Key{}, states: map[string]int{}, balance: new(big.Int).Lsh(big.NewInt(1), 80), known: map[string]string{}, ids: map[[32]byte]string{}}
}

func (n *scripted) serve(t *testing.T) string {
	return rpctest.Serve(t, func(calls []rpctest.Call) any {
		n.mu.Lock()
		defer n.mu.Unlock()
		all := make([]any, len(calls))
		for i, c := range calls {
			n.calls = append(n.calls, c.Method)
			var p map[string]any
			_ = json.Unmarshal(c.Params, &p)
			switch answer := n.answer(c.Method, p).(type) {
			case refusal:
				all[i] = map[string]any{"jsonrpc": "2.0", "id": c.ID, "error": map[string]any{"code": answer.code, "message": "refused", "data": answer.data}}
			default:
				all[i] = rpctest.Result(c, answer)
			}
		}
		return all
	}).URL
}

func hexNumber(n int64) string { return fmt.Sprintf("%#x", n) }

func (n *scripted) answer(method string, p map[string]any) any {
	text := func(name string) string { s, _ := p[name].(string); return s }
	preConfirmed := p["block_id"] == "pre_confirmed"
	switch method {
	case "starknet_chainId":
		return wire.Hex(wire.ShortString(wire.Mainnet))
	case "starknet_specVersion":
		return "0.9.0"
	case "starknet_getBlockWithTxHashes":
		price := func(i int) any { return map[string]any{"price_in_fri": hexNumber(n.prices[i]), "price_in_wei": "0x1"} }
		block := map[string]any{"timestamp": n.time, "block_number": 1000, "l1_gas_price": price(0), "l2_gas_price": price(1), "l1_data_gas_price": price(2), "transactions": []string{}}
		if !preConfirmed {
			block["status"], block["block_hash"] = "ACCEPTED_ON_L2", "0x3e8"
		}
		return block
	case "starknet_getNonce":
		at := full(text("contract_address"))
		if n.absent[at] {
			return refusal{20, nil}
		}
		if preConfirmed {
			return fmt.Sprintf("%#x", max(n.pending[at], n.mined[at]))
		}
		return fmt.Sprintf("%#x", n.mined[at])
	case "starknet_getClassHashAt":
		if n.absent[full(text("contract_address"))] {
			return refusal{20, nil}
		}
		return "0x77"
	case "starknet_getTransactionStatus":
		if s, ok := n.known[full(text("transaction_hash"))]; ok {
			return map[string]any{"finality_status": s, "execution_status": "SUCCEEDED"}
		}
		return refusal{29, nil}
	case "starknet_getTransactionReceipt":
		return refusal{29, nil}
	case "starknet_addInvokeTransaction", "starknet_addDeployAccountTransaction":
		id := n.idOf(p)
		n.sent = append(n.sent, id)
		if n.refuse != nil {
			if r := n.refuse(id); r != nil {
				return r
			}
		}
		n.known[id] = "RECEIVED"
		return map[string]any{"transaction_hash": id}
	case "starknet_simulateTransactions":
		if n.simulate == nil {
			return refusal{-32601, nil}
		}
		return n.simulate(len(p["transactions"].([]any)))
	case "starknet_call":
		return n.call(p["request"].(map[string]any))
	}
	return refusal{-32601, nil}
}

// idOf is the id of a transaction that is sent. Its body has all that is hashed.
func (n *scripted) idOf(p map[string]any) string {
	for _, body := range p {
		b, _ := json.Marshal(body)
		h := sha256.Sum256(b)
		return n.ids[h]
	}
	return ""
}

func (n *scripted) call(r map[string]any) any {
	at := full(r["contract_address"].(string))
	entry, _ := wire.ParseFelt(r["entry_point_selector"].(string))
	var calldata []wire.Felt
	for _, s := range r["calldata"].([]any) {
		f, _ := wire.ParseFelt(s.(string))
		calldata = append(calldata, f)
	}
	switch entry {
	case wire.Selector(wire.EntryBalanceOf):
		low, high, _ := wire.U256(n.balance)
		return []string{wire.Hex(low), wire.Hex(high)}
	case wire.Selector(wire.EntryHashStates):
		all := []string{wire.Hex(calldata[0])}
		for _, h := range calldata[1:] {
			state := n.states[wire.Hex64(h)]
			all = append(all, "0x1", "0x0", hexNumber(int64(state)))
		}
		return all
	case wire.EntryIsValidSignature, wire.EntryIsValidSignatureOld:
		if n.absent[at] {
			return refusal{20, nil}
		}
		if n.says != nil {
			return n.says(at)
		}
		if entry == wire.EntryIsValidSignatureOld {
			return refusal{21, nil}
		}
		if wire.SignedByKey(n.keys[at].Public(), calldata[0], calldata[2:]) {
			return []string{wire.Hex(wire.ShortString("VALID"))}
		}
		return []string{"0x0"}
	}
	return refusal{40, map[string]any{"revert_error": "unknown entry point"}}
}

func full(s string) string {
	f, err := wire.ParseFelt(s)
	if err != nil {
		return s
	}
	return wire.Hex64(f)
}

// scene is a chain at a scripted node, with a user and an LP.
type scene struct {
	t     *testing.T
	node  *scripted
	chain chains.Chain
	k     chains.VaultContract
	user  contracts.Key
	lp    contracts.Key
	skew  time.Duration // by which the local clock is ahead
	n     int64
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{t: t, node: newScripted(), user: contracts.KeyOf("user"), lp: contracts.KeyOf("lp")}
	for _, k := range []contracts.Key{s.user, s.lp} {
		s.node.keys[wire.Hex64(k.Address())] = k
	}
	s.chain = s.open(starknet.Mainnet(starknet.Options{RPC: []string{s.node.serve(t)}}))
	k, ok := s.chain.Contract("")
	if !ok {
		t.Fatal("no contracts")
	}
	s.k = k.(chains.VaultContract)
	return s
}

func (s *scene) open(f chains.Factory) chains.Chain {
	s.t.Helper()
	c := trial.Must(f.Open(s.t.Context(), s.env()))(s.t)
	return c
}

func (s *scene) env() chains.Env {
	return chains.Env{Network: bitcoin.Mainnet, Now: s.now, Rand: rand.Reader, HTTP: http.DefaultTransport, Log: slog.New(slog.DiscardHandler), Notes: noNotes{}}
}

func (s *scene) now() time.Time {
	s.node.mu.Lock()
	defer s.node.mu.Unlock()
	return time.Unix(s.node.time, 0).Add(s.skew)
}

// noNotes keeps nothing: the chain does without.
type noNotes struct{}

func (noNotes) Note(context.Context, string) ([]byte, uint64, error)  { return nil, 0, nil }
func (noNotes) SetNote(context.Context, string, []byte, uint64) error { return storage.ErrConflict }

const wbtc = "0x03fe2b97c1fd336e750087d68b9b867997fd64a2661ff3ca5a7c771641e8e7ac"

func secret(n int64) chains.Preimage { return sha256.Sum256(big.NewInt(n).Append(nil, 10)) }

// in is an escrow that the user pays in, out one that the LP offers.
func (s *scene) in(n int64) chains.Escrow {
	return s.escrow(n, func(spec *chains.Spec) { spec.PayIn = true })
}

func (s *scene) out(n int64) chains.Escrow {
	return s.escrow(n, func(spec *chains.Spec) {
		spec.Offerer, spec.Claimer, spec.PayOut = spec.Claimer, spec.Offerer, true
	})
}

func (s *scene) escrow(n int64, change func(*chains.Spec)) chains.Escrow {
	s.t.Helper()
	s.n++
	secret := secret(n)
	spec := chains.Spec{Kind: chains.HTLC, Condition: chains.Condition{Kind: chains.HTLC, PaymentHash: sha256.Sum256(secret[:])}, Offerer: wire.Hex64(s.user.Address()), Claimer: wire.Hex64(s.lp.Address()),
		Token: wbtc, Amount: big.NewInt(50_000), Sequence: big.NewInt(s.n), Expiry: s.now().Add(5 * 24 * time.Hour).Unix()}
	change(&spec)
	e := trial.Must(s.k.Expect(spec))(s.t)
	return e
}

// auth is the LP's authorisation to open an escrow.
func (s *scene) auth(e chains.Escrow) chains.Auth {
	s.t.Helper()
	d := trial.Must(wire.SwapDataOf(e))(s.t)
	n, _ := wire.NetworkFor(bitcoin.Mainnet)
	until := s.now().Add(10 * time.Minute).Unix()
	m := trial.Must(n.InitMessage(d, until))(s.t)
	signature := trial.Must(s.lp.SignMessage(m))(s.t)
	return chains.Auth{Prefix: map[bool]string{true: "claim_initialize", false: "initialize"}[e.PayIn], Timeout: until, Signature: signature}
}

const someRate = "1250,2500,3750;v3"

func (s *scene) plan(steps ...chains.Step) chains.Plan {
	return chains.Plan{SwapID: "swap", Signer: wire.Hex64(s.user.Address()), FeeRate: someRate, Steps: steps}
}

func (s *scene) opening(e chains.Escrow) chains.Plan {
	return s.plan(chains.Step{Kind: chains.StepInit, Escrow: e, Auth: s.auth(e)})
}

func (s *scene) claim(e chains.Escrow, n int64) chains.Plan {
	return s.plan(chains.Step{Kind: chains.StepClaimSecret, Escrow: e, Preimage: secret(n)})
}

func (s *scene) build(plan chains.Plan) []*wire.Transaction {
	s.t.Helper()
	u := trial.Must(s.k.Build(s.t.Context(), plan))(s.t)
	all := make([]*wire.Transaction, len(u.Txs))
	for i, text := range u.Txs {
		all[i] = trial.Must(wire.ParseTransaction(text))(s.t)
	}
	return all
}

// sign signs transactions as the user, whatever they say.
func (s *scene) sign(txs ...*wire.Transaction) []string {
	s.t.Helper()
	all := make([]string, len(txs))
	for i, tx := range txs {
		trial.Do(s.t, s.user.SignTransaction(tx))
		all[i] = tx.String()
		_, _, body, err := tx.Broadcast()
		trial.Do(s.t, err)
		var canonical any
		trial.Do(s.t, json.Unmarshal(body, &canonical))
		body = trial.Must(json.Marshal(canonical))(s.t)
		h := trial.Must(tx.Hash())(s.t)
		s.node.mu.Lock()
		s.node.ids[sha256.Sum256(body)] = wire.Hex64(h)
		s.node.mu.Unlock()
	}
	return all
}

// ready builds, signs and checks a plan.
func (s *scene) ready(plan chains.Plan) []chains.Signed {
	s.t.Helper()
	txs := trial.Must(s.k.Check(plan, s.sign(s.build(plan)...)))(s.t)
	return txs
}

func (s *scene) setState(e chains.Escrow, state chains.EscrowState) {
	s.node.mu.Lock()
	defer s.node.mu.Unlock()
	s.node.states[fmt.Sprintf("0x%x", e.Hash)] = int(state)
}

// wants demands an error that says something.
func wants(t *testing.T, what string, err error, says ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s passes", what)
		return
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("%s: %v does not say %q", what, err, s)
		}
	}
}
