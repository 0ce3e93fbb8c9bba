package solana_test

import (
	"context"
	"crypto/sha256"
	"math/big"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/single"
	devnet "github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// scene is the network with a contract and a user.
type scene struct {
	*localNet
	k    chains.Contract
	user account
	n    int64
}

// played is what the local network plays: a version of the program, and how it lays data
// accounts out.
type played struct {
	version string
	data    wire.DataLayout
}

// each runs a test with all that the network plays. Short of full depth, v1 stands for
// the plain layout of data accounts.
func each(t *testing.T, run func(t *testing.T, p played)) {
	for name, p := range map[string]played{"v1": {wire.V1, wire.DataPlain}, "v2": {wire.V2, wire.DataPlain}, "v2_tagged": {wire.V2, wire.DataTagged}} {
		if name == "v2" && !trial.Full() {
			continue
		}
		t.Run(name, func(t *testing.T) { run(t, p) })
	}
}

func newScene(t *testing.T, version string) *scene {
	t.Helper()
	return newPlayed(t, played{version: version})
}

func newPlayed(t *testing.T, p played) *scene {
	t.Helper()
	version := p.version
	l := newNet(t, version, devnet.Options{FinalizedLag: 4, DataV2: p.data})
	k, ok := l.chain.Contract(version)
	if !ok {
		t.Fatal("no contract")
	}
	return &scene{localNet: l, k: k, user: l.Account(t).(account)}
}

// poor is a user with SOL alone.
func (s *scene) poor() account {
	s.t.Helper()
	a := s.NewAccount()
	trial.Do(s.t, s.Fund(s.t.Context(), a.Address, devnet.SOL(10)))
	return account{s.localNet, a}
}

func secret(n int64) chains.Preimage { return sha256.Sum256(big.NewInt(n).Append(nil, 10)) }

func lock(n int64) chains.Condition {
	s := secret(n)
	return chains.Condition{Kind: chains.HTLC, PaymentHash: sha256.Sum256(s[:])}
}

func (s *scene) expect(spec chains.Spec) chains.Escrow {
	s.t.Helper()
	s.n++
	spec.Kind, spec.Sequence = spec.Condition.Kind, big.NewInt(s.n)
	if spec.Amount == nil {
		spec.Amount = big.NewInt(50_000_000)
	}
	if spec.Expiry == 0 {
		spec.Expiry = s.Time().Add(5 * 24 * time.Hour).Unix()
	}
	e := trial.Must(s.k.Expect(spec))(s.t)
	return e
}

// in is an escrow that the user pays in, out one that an LP offers.
func (s *scene) in(user account, c chains.Condition, token wire.Key) chains.Escrow {
	s.t.Helper()
	return s.expect(chains.Spec{Offerer: user.Address(), Claimer: s.lp.Address(), Token: token.String(), Condition: c, PayIn: true})
}

func (s *scene) out(user account, c chains.Condition, token wire.Key) chains.Escrow {
	s.t.Helper()
	return s.expect(chains.Spec{Offerer: s.lp.Address(), Claimer: user.Address(), Token: token.String(), Condition: c, PayOut: true,
		SecurityDeposit: big.NewInt(6_000_000), ClaimerBounty: big.NewInt(2_000_000)})
}

const someRate = "9000;0"

// opening is a plan for which the LP has signed.
func (s *scene) opening(user account, e chains.Escrow) chains.Plan {
	s.t.Helper()
	auth := s.lp.AuthorizeInit(s.t, e, someRate, user.Address(), s.Time().Add(10*time.Minute))
	return chains.Plan{SwapID: "swap", Seed: chains.Seed{7}, Signer: user.Address(), FeeRate: someRate, Steps: []chains.Step{{Kind: chains.StepInit, Escrow: e, Auth: auth}}}
}

func (s *scene) plan(user account, steps ...chains.Step) chains.Plan {
	return chains.Plan{SwapID: "swap", Seed: chains.Seed{7}, Signer: user.Address(), Steps: steps}
}

func (s *scene) build(plan chains.Plan) chains.Unsigned {
	s.t.Helper()
	u := trial.Must(s.k.Build(s.t.Context(), plan))(s.t)
	return u
}

// check signs what was built and hands it in.
func (s *scene) check(by account, plan chains.Plan, u chains.Unsigned) []chains.Signed {
	s.t.Helper()
	txs := trial.Must(s.k.Check(plan, by.Sign(s.t, u)))(s.t)
	return txs
}

// send carries transactions out, one after the other.
func (s *scene) send(txs ...chains.Signed) {
	s.t.Helper()
	for _, tx := range txs {
		trial.Do(s.t, s.chain.Send(s.t.Context(), tx))
		s.settle(tx, chains.TxConfirmed)
	}
}

// run builds, signs, checks and sends a plan.
func (s *scene) run(by account, plan chains.Plan) []chains.Signed {
	s.t.Helper()
	txs := s.check(by, plan, s.build(plan))
	trial.Do(s.t, s.k.Admit(s.t.Context(), plan, txs))
	s.send(txs...)
	return txs
}

func (s *scene) status(c chains.Chain, tx chains.Signed) chains.TxStatus {
	s.t.Helper()
	all := trial.Must(c.Status(s.t.Context(), []chains.Signed{tx}))(s.t)
	return all[0]
}

func (s *scene) settle(tx chains.Signed, want chains.TxState) {
	s.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		switch got := s.status(s.chain, tx); {
		case got.State == want:
			return
		case time.Now().After(end) || got.State == chains.TxReverted || got.State == chains.TxReplaced:
			s.t.Fatalf("transaction %s is %s (%s), want %s", tx.ID, got.State, got.Reason, want)
		}
	}
}

func (s *scene) state(e chains.Escrow) chains.EscrowState {
	s.t.Helper()
	facts := trial.Must(s.k.Escrows(s.t.Context(), []chains.EscrowQuery{{Escrow: &e}}))(s.t)
	trial.Do(s.t, facts[0].Err)
	return facts[0].State
}

func (s *scene) want(e chains.Escrow, want chains.EscrowState) {
	s.t.Helper()
	if got := s.state(e); got != want {
		s.t.Fatalf("the escrow is %s, want %s", got, want)
	}
}

// sent returns how many calls of a method the nodes have got since the last time.
func (s *scene) sent(method string) (n int) {
	for _, node := range s.nodes {
		for _, trip := range node.Requests() {
			for _, m := range trip {
				if m == method {
					n++
				}
			}
		}
	}
	return n
}

func refusedWith(t *testing.T, what string, err error, says string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("%s: %v, want an error that says %q", what, err, says)
	}
}

// payment reads a mined Bitcoin transaction as the engine does.
func (s *scene) payment(op bitcoin.OutPoint, c chains.Condition) *chains.Payment {
	s.t.Helper()
	tx := trial.Must(single.Tx(s.t.Context(), s.backend, op.Hash))(s.t)
	raw := trial.Must(rawtx.Encode(tx.Msg))(s.t)
	return &chains.Payment{Raw: raw, TxID: tx.ID, Vout: op.Index, Block: tx.BlockHash, Height: tx.Height, Confirmations: c.Confirmations, Condition: c}
}

// memoryNotes count what is noted.
type memoryNotes struct {
	storage.Memory
	writes atomic.Int32
}

func (n *memoryNotes) SetNote(ctx context.Context, name string, value []byte, version uint64) error {
	err := n.Memory.SetNote(ctx, name, value, version)
	if err == nil {
		n.writes.Add(1)
	}
	return err
}
