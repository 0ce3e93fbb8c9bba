package starknet_test

import (
	"math/big"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// An account that is not deployed is deployed by the first transaction of its plan, at
// the present fee rate; nothing else tells it than that there is no class (protocol:
// chain-starknet.md §10.2, §20.10).
func TestTheAccountIsNotDeployed(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	user := wire.Hex64(s.user.Address())
	s.node.absent[user] = true
	plan := s.opening(s.in(1))
	plan.FeeRate = "9000,9000,9000;v3"
	txs := s.build(plan)
	if len(txs) != 2 || txs[0].Type != wire.DeployAccount || txs[1].Type != wire.Invoke || txs[0].Nonce != 0 || txs[1].Nonce != 1 || !txs[0].Deploy.ClassHash.IsZero() {
		t.Fatalf("%d transactions, %+v", len(txs), txs[0])
	}
	if txs[0].Bounds.L2.MaxPrice.Int64() != 2500 || txs[1].Bounds.L2.MaxPrice.Int64() != 9000 {
		t.Errorf("at %s and %s", txs[0].Bounds.L2.MaxPrice, txs[1].Bounds.L2.MaxPrice)
	}
	signed, err := s.k.Check(plan, s.sign(txs...))
	if err != nil || len(signed) != 2 || signed[0].Step != 0 || signed[1].Step != 0 || signed[0].Nonce != 0 {
		t.Fatalf("%+v, %v", signed, err)
	}
	_, err = s.k.Check(plan, s.sign(txs[0]))
	wants(t, "a deployment alone", err, "missing")
	_, err = s.k.Check(plan, s.sign(txs[1]))
	trial.Do(t, err) // it may have been deployed meanwhile
	_, err = s.k.Check(plan, s.sign(txs[1], txs[0]))
	wants(t, "the deployment at last", err, "signedTxs[1]")
	stranger := contracts.KeyOf("stranger")
	other := *txs[0]
	other.Sender = stranger.Address()
	trial.Do(t, stranger.SignTransaction(&other))
	_, err = s.k.Check(plan, []string{other.String(), s.sign(txs[1])[0]})
	wants(t, "the deployment of another account", err, "signedTxs[0]")
	mine := *txs[0]
	mine.Deploy, mine.Signed, mine.Signature = stranger.Deploy(), true, []wire.Felt{wire.FeltOf(1)}
	_, err = s.k.Check(plan, []string{mine.String(), s.sign(txs[1])[0]})
	wants(t, "a deployment that makes another account", err, "signedTxs[0]", "must deploy")
	empty := *txs[0]
	empty.Deploy, empty.Signed, empty.Signature = wire.Deploy{}, true, []wire.Felt{wire.FeltOf(1)}
	_, err = s.k.Check(plan, []string{empty.String(), s.sign(txs[1])[0]})
	wants(t, "a deployment as it was handed out", err, "signedTxs[0]", "class")

	// Deployed by a factory it has the nonce 0 too.
	s.node.absent[user] = false
	if txs := s.build(plan); len(txs) != 1 || txs[0].Nonce != 0 || txs[0].Type != wire.Invoke {
		t.Errorf("of an account with the nonce 0: %d transactions, %+v", len(txs), txs[0])
	}
	// Its deployment is in the block that is being made.
	s.node.absent[user], s.node.pending[user] = false, 1
	if txs := s.build(plan); len(txs) != 1 || txs[0].Nonce != 1 {
		t.Errorf("while it is deployed: %d transactions, %+v", len(txs), txs[0])
	}
}

// While a deployment waits in the pools, which no node tells, another swap's transactions
// follow it, and the same swap signed again replaces it.
func TestADeploymentThatWaits(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.node.absent[wire.Hex64(s.user.Address())] = true
	plan := s.opening(s.in(1))
	trial.Do(t, s.chain.Send(t.Context(), s.ready(plan)[0]))
	other := s.opening(s.in(2))
	other.SwapID = "other"
	if txs := s.build(other); len(txs) != 1 || txs[0].Nonce != 1 {
		t.Errorf("another swap: %d transactions from nonce %d", len(txs), txs[0].Nonce)
	}
	again := s.build(plan)
	if len(again) != 2 || again[0].Type != wire.DeployAccount || again[0].Nonce != 0 || again[0].Bounds.L2.MaxPrice.Int64() < 2500*11/10 {
		t.Errorf("the same swap: %d transactions, %+v", len(again), again[0])
	}
}

// A deposit and an amount in one token are approved together: the second approval would
// overwrite the first, and the opening revert (protocol: chain-starknet.md §20.8).
func TestDepositAndAmountInOneToken(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	e := s.escrow(1, func(spec *chains.Spec) {
		spec.PayIn, spec.Token, spec.SecurityDeposit = true, wire.Hex64(wire.STRK), big.NewInt(700)
	})
	tx := s.build(s.opening(e))[0]
	if len(tx.Calls) != 2 || tx.Calls[0].Entry != "approve" || tx.Calls[0].Calldata[1] != wire.FeltOf(50_700) || tx.Calls[1].Entry != "initialize" {
		t.Errorf("%+v", tx.Calls)
	}
}

// What a wallet keeps in reserve covers the bounds of what it will sign, approvals and
// deployment included: nodes refuse a transaction whose bounds exceed the balance
// (protocol: chain-starknet.md §20.9).
func TestTheReserveCoversTheBounds(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	user := wire.Hex64(s.user.Address())
	e := s.escrow(1, func(spec *chains.Spec) { spec.PayIn, spec.SecurityDeposit = true, big.NewInt(700) }) // two approvals
	for _, absent := range []bool{false, true} {
		s.node.absent[user] = absent
		reserve := trial.Must(s.k.Estimate(t.Context(), chains.Cost{Kind: chains.StepInit, Token: wbtc, Payer: user}, someRate))(t)
		most := new(big.Int)
		for _, tx := range s.build(s.opening(e)) {
			most.Add(most, tx.Bounds.MaxFee())
		}
		if reserve.Cmp(most) < 0 {
			t.Errorf("not deployed %v: %s are kept, up to %s are needed", absent, reserve, most)
		}
	}
}

// The wallet of an account that several swaps use at once gets numbers that do not
// collide, and the same ones for the same question.
func TestNoncesOfSeveralSwaps(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	user := wire.Hex64(s.user.Address())
	s.node.mined[user] = 7
	one, two := s.opening(s.in(1)), s.opening(s.in(2))
	two.SwapID = "two"
	first := s.ready(one)
	if n := s.build(two)[0].Nonce; n != 7 || first[0].Nonce != 7 {
		t.Errorf("before anything is sent: %d and %d", first[0].Nonce, n)
	}
	trial.Do(t, s.chain.Send(t.Context(), first[0]))
	if n := s.build(two)[0].Nonce; n != 8 {
		t.Errorf("after a transaction with the nonce 7: %d", n)
	}
	trial.Do(t, s.chain.Send(t.Context(), s.ready(two)[0]))
	if n := s.build(one)[0].Nonce; n != 7 {
		t.Errorf("of the first again: %d", n)
	}
	s.node.mined[user] = 8
	if n := s.build(two)[0].Nonce; n != 8 {
		t.Errorf("of the second again: %d", n)
	}
	s.node.time += 181 // what was sent so long ago and is not known was dropped
	three := s.opening(s.in(3))
	three.SwapID = "three"
	if n := s.build(three)[0].Nonce; n != 8 {
		t.Errorf("of a third, later: %d", n)
	}
}

// A resubmission has the same nonce and a fresh bound that nodes prefer, so that one of
// the two is executed at most.
func TestAResubmissionReplacesTheFirst(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.node.mined[wire.Hex64(s.user.Address())] = 7
	plan := s.opening(s.in(1))
	first := s.ready(plan)
	trial.Do(t, s.chain.Send(t.Context(), first[0]))
	plan.Replaces = first
	again := s.build(plan)
	old := trial.Must(wire.ParseTransaction(string(first[0].Raw)))(s.t)
	if again[0].Nonce != 7 || again[0].Bounds.L2.MaxPrice.Cmp(new(big.Int).Div(new(big.Int).Mul(old.Bounds.L2.MaxPrice, big.NewInt(11)), big.NewInt(10))) < 0 {
		t.Fatalf("nonce %d at %s", again[0].Nonce, again[0].Bounds.L2.MaxPrice)
	}
	_, err := s.k.Check(plan, s.sign(again...))
	trial.Do(t, err)
	same := *again[0]
	same.Bounds = old.Bounds
	_, err = s.k.Check(plan, s.sign(&same))
	wants(t, "the same bound", err, "signedTxs[0]", "to replace")
	beside := *again[0]
	beside.Nonce = 8
	_, err = s.k.Check(plan, s.sign(&beside))
	wants(t, "beside the first", err, "signedTxs[0]", "must have 7")
	below := *again[0]
	below.Nonce = 6
	_, err = s.k.Check(plan, s.sign(&below))
	wants(t, "before the first", err, "signedTxs[0]", "must have 7")

	tipped := *again[0]
	tipped.Tip = 1000
	old = trial.Must(wire.ParseTransaction(s.sign(&tipped)[0]))(t)
	plan.Replaces = []chains.Signed{{ID: "0x1", Raw: []byte(old.String()), From: plan.Signer, Nonce: 7}}
	if tx := s.build(plan)[0]; tx.Tip < 1100 {
		t.Errorf("a tip of %d in the place of 1000", tx.Tip)
	}
}

// A claim does not wait for what was sent before it and hangs.
func TestAClaimPassesWhatHangs(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.node.mined[wire.Hex64(s.user.Address())] = 7
	hangs := s.opening(s.in(1))
	hangs.SwapID = "hangs"
	trial.Do(t, s.chain.Send(t.Context(), s.ready(hangs)[0]))
	e := s.out(2)
	s.setState(e, chains.EscrowOpen)
	claim := s.claim(e, 2)
	first := s.ready(claim)
	if first[0].Nonce != 8 {
		t.Fatalf("nonce %d", first[0].Nonce)
	}
	claim.Replaces = first
	txs := s.build(claim)
	if txs[0].Nonce != 7 || txs[0].Bounds.L2.MaxPrice.Int64() < 2500*11/10 {
		t.Errorf("nonce %d at %s", txs[0].Nonce, txs[0].Bounds.L2.MaxPrice)
	}
	_, err := s.k.Check(claim, s.sign(txs...))
	trial.Do(t, err)
}

// What the contract is bound to refuse is not handed out.
func TestNothingThatTheContractRefuses(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	in, out := s.in(1), s.out(2)
	refused := func(what string, plan chains.Plan, code fault.Code) {
		t.Helper()
		if _, err := s.k.Build(t.Context(), plan); fault.CodeOf(err) != code {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, state := range []chains.EscrowState{chains.EscrowOpen, chains.EscrowClaimed, chains.EscrowRefunded} {
		s.setState(in, state)
		refused("opening what is "+state.String(), s.opening(in), fault.InvalidState)
	}
	for _, state := range []chains.EscrowState{chains.EscrowNone, chains.EscrowClaimed, chains.EscrowRefunded} {
		s.setState(out, state)
		refused("claiming what is "+state.String(), s.claim(out, 2), fault.InvalidState)
	}
	s.setState(out, chains.EscrowOpen)
	refused("a claim by another secret", s.claim(out, 3), fault.InvalidInput)
	refused("a refund before the expiry", s.plan(chains.Step{Kind: chains.StepRefund, Escrow: out}), fault.InvalidState)
	refused("a bad signer", chains.Plan{Signer: "me"}, fault.InvalidInput)
	refused("a bad fee rate", chains.Plan{Signer: s.plan().Signer, FeeRate: "cheap"}, fault.InvalidInput)
	refused("an unknown step", s.plan(chains.Step{Kind: 99, Escrow: out}), fault.Unsupported)
	refused("a Bitcoin claim without a payment", s.plan(chains.Step{Kind: chains.StepClaimBitcoin, Escrow: out}), fault.InvalidInput)
	refused("a vault claim without a vault", s.plan(chains.Step{Kind: chains.StepVaultClaim}), fault.InvalidInput)
}
