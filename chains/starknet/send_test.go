package starknet_test

import (
	"slices"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// What a node says of a transaction that it has already, or whose nonce it finds used
// because it has it, does not make it look lost (protocol: chain-starknet.md §20.13).
func TestSentTwice(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	tx := s.ready(s.opening(s.in(1)))[0]
	id := full(tx.ID)
	for name, c := range map[string]struct {
		says  any
		known bool
		want  fault.Code
	}{
		"taken":                            {nil, false, ""},
		"a duplicate":                      {refusal{59, nil}, false, ""},
		"a nonce that itself has used":     {refusal{52, nil}, true, ""},
		"a nonce that another one used":    {refusal{52, nil}, false, fault.InvalidState},
		"a balance that is too low":        {refusal{54, nil}, false, fault.InvalidState},
		"a signature that is not the user": {refusal{55, "argent/invalid-signature"}, false, fault.InvalidState},
		"bounds that are too low":          {refusal{53, nil}, false, fault.InvalidState},
		"something that passes":            {refusal{66, nil}, false, fault.Upstream},
	} {
		t.Run(name, func(t *testing.T) {
			s.node.mu.Lock()
			s.node.known = map[string]string{}
			if c.known {
				s.node.known[id] = "ACCEPTED_ON_L2"
			}
			s.node.refuse = func(string) any { return c.says }
			s.node.mu.Unlock()
			err := s.chain.Send(t.Context(), tx)
			if c.want == "" && err != nil || c.want != "" && fault.CodeOf(err) != c.want {
				t.Errorf("%v", err)
			}
		})
	}
	if err := s.chain.Send(t.Context(), chains.Signed{ID: "0x1", Raw: []byte("nothing")}); fault.CodeOf(err) != fault.InvalidState {
		t.Errorf("garbage: %v", err)
	}
}

// A preimage is not shown to a node that cannot execute the claim any more.
func TestAPreimageInVain(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	user := wire.Hex64(s.user.Address())
	e := s.out(1)
	s.setState(e, chains.EscrowOpen)
	tx := s.ready(s.claim(e, 1))[0]
	if !tx.Reveals {
		t.Fatal("the claim does not say that it reveals")
	}
	s.node.mined[user] = 3
	if err := s.chain.Send(t.Context(), tx); fault.CodeOf(err) != fault.InvalidState || len(s.node.sent) != 0 {
		t.Errorf("sent %d times, %v", len(s.node.sent), err)
	}
	s.node.known[full(tx.ID)] = "ACCEPTED_ON_L2" // by somebody else, or by us before
	if err := s.chain.Send(t.Context(), tx); err != nil || len(s.node.sent) != 0 {
		t.Errorf("of what is executed: sent %d times, %v", len(s.node.sent), err)
	}
	s.node.known, s.node.mined[user] = map[string]string{}, 0
	trial.Do(t, s.chain.Send(t.Context(), tx))
	s.node.mu.Lock()
	defer s.node.mu.Unlock()
	if slices.Contains(s.node.calls, "starknet_simulateTransactions") || slices.Contains(s.node.calls, "starknet_estimateFee") {
		t.Errorf("shown in %v", s.node.calls)
	}
}

// A transaction that comes before others that are missing would wait for ever.
func TestANonceThatIsAhead(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	plan := s.opening(s.in(1))
	tx := s.build(plan)[0]
	tx.Nonce = 5
	signed := trial.Must(s.k.Check(plan, s.sign(tx)))(t)
	if err := s.chain.Send(t.Context(), signed[0]); fault.CodeOf(err) != fault.Upstream {
		t.Errorf("at first: %v", err)
	}
	s.node.mu.Lock()
	s.node.time += 181
	s.node.mu.Unlock()
	if err := s.chain.Send(t.Context(), signed[0]); fault.CodeOf(err) != fault.InvalidState {
		t.Errorf("after a while: %v", err)
	}
	if len(s.node.sent) != 0 {
		t.Error("it was sent")
	}
	wants(t, "a nonce ahead", s.k.Admit(t.Context(), plan, signed), "signedTxs[0]", "from nonce 0 on are missing")
}

func outcome(reverted ...string) any {
	var all []any
	for _, why := range reverted {
		execute := map[string]any{"calls": []any{}}
		if why != "" {
			execute = map[string]any{"revert_reason": why}
		}
		all = append(all, map[string]any{"transaction_trace": map[string]any{"type": "INVOKE", "execute_invocation": execute},
			"fee_estimation": map[string]any{"overall_fee": "0x1", "unit": "FRI"}})
	}
	return all
}

// What comes back from a wallet is tried before it is sent, signatures with it: the
// account alone knows its own.
func TestAdmission(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	plan := s.opening(s.in(1))
	tx := s.ready(plan)
	admit := func(says any) error {
		s.node.mu.Lock()
		s.node.simulate = func(int) any { return says }
		s.node.mu.Unlock()
		return s.k.Admit(t.Context(), plan, tx)
	}
	trial.Do(t, admit(outcome("")))
	trial.Do(t, admit(refusal{-32601, nil})) // a node that tries nothing
	wants(t, "a signature that is not the account's", admit(refusal{41, map[string]any{"transaction_index": 0, "execution_error": "0x617267656e742f696e76616c69642d7369676e6174757265"}}), "signedTxs[0]", "not signed by its account")
	wants(t, "a balance that is too low", admit(refusal{54, nil}), "signedTxs[0]")
	if err := admit(outcome("init: _verify_sig")); fault.CodeOf(err) != fault.InvalidState {
		t.Errorf("what the contract refuses: %v", err)
	}
	bare := s.build(plan)[0]
	bare.Calls = bare.Calls[1:]
	whole := tx
	tx = trial.Must(s.k.Check(plan, s.sign(bare)))(t)
	wants(t, "an opening without its approval", admit(outcome("ERC20: insufficient allowance")), "signedTxs[0]", "approval")
	trial.Do(t, admit(outcome(""))) // there may be one from before
	tx = whole

	s.node.prices = [3]int64{1000, 2501, 3000}
	wants(t, "prices below the block's", admit(outcome("")), "signedTxs[0]", "L2 gas")
	s.node.prices = [3]int64{1000, 2000, 3751}
	wants(t, "prices below the block's", admit(outcome("")), "signedTxs[0]", "L1 data gas")
	s.node.prices = [3]int64{9000, 2000, 3000} // of which it may use none
	trial.Do(t, admit(outcome("")))
	has := s.node.balance
	s.node.balance = wire.Number(wire.FeltOf(1000))
	wants(t, "bounds beyond the balance", admit(outcome("")), "signedTxs[0]", "the account has 1000")
	s.node.balance = has
	user := wire.Hex64(s.user.Address())
	s.node.mined[user] = 2
	wants(t, "a used nonce", admit(outcome("")), "signedTxs[0]", "next nonce is 2")
	s.node.known[full(tx[0].ID)] = "ACCEPTED_ON_L2"
	trial.Do(t, admit(outcome("no"))) // it is there
	s.node.known, s.node.mined = map[string]string{}, map[string]uint64{}

	s.node.absent[user] = true
	wants(t, "an account that is not deployed", admit(outcome("")), "signedTxs[0]", "not deployed")
	both := s.ready(plan)
	tx = both
	trial.Do(t, admit(outcome("", "")))
	wants(t, "the second of two that its account refuses", admit(refusal{41, map[string]any{"transaction_index": 1, "execution_error": "out of gas"}}), "signedTxs[1]")
	trial.Do(t, s.k.Admit(t.Context(), plan, nil))
}
