package starknet_test

import (
	"errors"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// Whoever poses as an LP, or signs in its place, must not get through because an account
// says no in one of the ways there are (protocol: chain-starknet.md §20.1, §20.2).
func TestAnAccountThatDoesNotSayYes(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	lp, data := wire.Hex64(s.lp.Address()), []byte(`{"nonce":"17"}`)
	n, _ := wire.NetworkFor(bitcoin.Mainnet)
	signature := trial.Must(s.lp.SignMessage(n.DataMessage(data)))(t)
	trial.Do(t, s.chain.VerifyData(t.Context(), lp, data, signature))
	reverted := func(reason string) any { return refusal{40, map[string]any{"revert_error": reason}} }
	for name, c := range map[string]struct {
		says any
		good bool
		open bool // the question stays open: nothing is said against the LP
	}{
		"VALID":                  {[]string{"0x56414c4944"}, true, false},
		"1":                      {[]string{"0x1"}, true, false},
		"0":                      {[]string{"0x0"}, false, false},
		"2":                      {[]string{"0x2"}, false, false},
		"another text":           {[]string{"0x494e56414c4944"}, false, false},
		"nothing":                {[]string{}, false, true},
		"two felts":              {[]string{"0x1", "0x1"}, false, true},
		"a revert that says no":  {reverted("0x617267656e742f696e76616c69642d7369676e6174757265"), false, false},
		"a revert over gas":      {reverted("out of gas"), false, true},
		"no such entry point":    {refusal{21, nil}, false, false},
		"no contract":            {refusal{20, nil}, false, false},
		"an error of the node's": {refusal{40, map[string]any{"revert_error": "Class with hash is not declared"}}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			s.node.says = func(string) any { return c.says }
			err := s.chain.VerifyData(t.Context(), lp, data, signature)
			_, refused := errors.AsType[*chains.AuthError](err)
			if c.good != (err == nil) || !c.good && c.open == refused {
				t.Errorf("%v", err)
			}
		})
	}
	s.node.says = nil
	for name, text := range map[string]string{"none": "", "no list": "0x1", "an empty list": "[]", "no felts": `["a","b"]`, "a felt beyond the prime": `["0x800000000000011000000000000000000000000000000000000000000000001","0x1"]`} {
		if _, ok := errors.AsType[*chains.AuthError](s.chain.VerifyData(t.Context(), lp, data, text)); !ok {
			t.Errorf("a signature that is %s passes", name)
		}
	}
}

// An LP whose account is not deployed has signed nothing, whatever it sends.
func TestAnLPWithoutAnAccount(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	e := s.out(1)
	auth := s.auth(e)
	user := wire.Hex64(s.user.Address())
	if _, err := s.k.VerifyInit(t.Context(), e, auth, someRate, user); err != nil {
		t.Fatal(err)
	}
	s.node.absent[wire.Hex64(s.lp.Address())] = true
	_, err := s.k.VerifyInit(t.Context(), e, auth, someRate, user)
	if _, ok := errors.AsType[*chains.AuthError](err); !ok {
		t.Errorf("%v", err)
	}
}

// The contract goes by the time of its block: an authorisation that is over by the chain's
// clock is refused, be ours behind (protocol: chain-starknet.md §20.17).
func TestOurClockIsBehind(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	e := s.out(1)
	auth := s.auth(e)
	user := wire.Hex64(s.user.Address())
	s.node.time += 601
	s.skew = -601e9
	_, err := s.k.VerifyInit(t.Context(), e, auth, someRate, user)
	if late, ok := errors.AsType[*chains.AuthError](err); !ok || !late.Late {
		t.Errorf("an authorisation that is over by the chain's clock: %v", err)
	}
	claim := s.claim(e, 1)
	s.setState(e, chains.EscrowOpen)
	s.build(claim)
	s.node.time = e.Expiry - 599
	s.skew = -3600e9
	if _, err := s.k.Build(t.Context(), claim); fault.CodeOf(err) != fault.InvalidState {
		t.Errorf("a claim that is late by the chain's clock: %v", err)
	}
	claim.Steps[0].Public = true
	s.build(claim)
	in := s.in(2)
	s.setState(in, chains.EscrowOpen)
	s.node.time, s.skew = in.Expiry, 3600e9
	if _, err := s.k.Build(t.Context(), s.plan(chains.Step{Kind: chains.StepRefund, Escrow: in})); fault.CodeOf(err) != fault.InvalidState {
		t.Errorf("a refund that is early by the chain's clock: %v", err)
	}
	s.node.time++
	s.build(s.plan(chains.Step{Kind: chains.StepRefund, Escrow: in}))
}
