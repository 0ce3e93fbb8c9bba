package read

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// One node says once that an open escrow was claimed long ago.
func TestALieOfOneNodeIsForgotten(t *testing.T) {
	t.Parallel()
	liar, honest := newStub(t), newStub(t)
	d := deployment(t)
	data := swap(t, d, 1)
	query := []chains.EscrowQuery{{Escrow: escrowOf(t, d, data)}}
	hash := hashOfSwap(t, data)
	for _, s := range []*stub{liar, honest} {
		s.open(d, data, 1000, "0x71")
	}
	lie := map[wire.Felt][3]uint64{hash: {1000, 2000, 2}}
	liar.escrows(d, lie)
	liar.add(ended(t, d, data, 2000, "0x72", make([]byte, 32)))
	honest.escrows(d, map[wire.Felt][3]uint64{hash: {1000, 0, 1}})
	now := time.Unix(stubNow, 0)
	for name, urls := range map[string][]string{"two nodes": {liar.serve(), honest.serve()}, "one node": {liar.serve()}} {
		l := connect(t, now, urls...)
		l.Now = func() time.Time { return now }
		r := New(d, l)
		look := func() chains.EscrowFact {
			t.Helper()
			facts, err := r.Escrows(t.Context(), query)
			if err != nil || facts[0].Err != nil {
				t.Fatal(err, facts[0].Err)
			}
			return facts[0]
		}
		for range 3 { // however often it is told within two minutes
			if f := look(); f.State != chains.EscrowClaimed || f.Unsettled != (len(urls) > 1) || f.Final == f.Unsettled {
				t.Errorf("%s, the lie: %+v", name, f)
			}
			now = now.Add(30 * time.Second)
		}
		liar.mu.Lock()
		lie[hash] = [3]uint64{1000, 0, 1}
		liar.mu.Unlock()
		if f := look(); f.State != chains.EscrowOpen {
			t.Errorf("%s: no node says any more that the escrow is %v", name, f.State)
		}
		liar.mu.Lock()
		lie[hash] = [3]uint64{1000, 2000, 2}
		liar.mu.Unlock()
	}
}

// pair are two nodes and what reads the chain through both.
func pair(t *testing.T) (first, second *stub, r *Reader) {
	first, second = newStub(t), newStub(t)
	return first, second, New(deployment(t), connect(t, time.Unix(stubNow, 0), first.serve(), second.serve()))
}

func contradicted(err error) bool {
	_, ok := errors.AsType[*chains.ContradictionError](err)
	return ok
}

// Neither the first nor the second of two nodes decides alone that an escrow is open, which
// is what a preimage is shown for.
func TestOneNodeDoesNotDecide(t *testing.T) {
	t.Parallel()
	d := deployment(t)
	data := swap(t, d, 1)
	hash := hashOfSwap(t, data)
	for name, c := range map[string]struct {
		liar      func(s *stub)
		second    bool // it is the second node
		contra    bool
		too       string // few, says the error
		plainOpen bool
	}{
		"in the past": {liar: func(s *stub) {
			s.open(d, data, 4990, "0x71")
			s.escrows(d, map[wire.Felt][3]uint64{hash: {4990, 0, 1}})
		}, contra: true, plainOpen: true},
		"in the past, second": {liar: func(s *stub) {
			s.open(d, data, 4990, "0x71")
			s.escrows(d, map[wire.Felt][3]uint64{hash: {4990, 0, 1}})
		}, second: true, contra: true},
		"in a block of the future": {liar: func(s *stub) {
			s.height = 9_000_000
			s.open(d, data, 8_999_990, "0x71")
			s.escrows(d, map[wire.Felt][3]uint64{hash: {8_999_990, 0, 1}})
		}, plainOpen: true, too: "newest block"},
		"in the next block": {liar: func(s *stub) {
			s.height = 5001
			s.open(d, data, 5001, "0x71")
			s.escrows(d, map[wire.Felt][3]uint64{hash: {5001, 0, 1}})
		}, plainOpen: true, too: "newest block"},
		"with a clock of an hour on": {liar: func(s *stub) {
			s.height, s.time = 5900, stubNow+3600
			s.open(d, data, 5890, "0x71")
			s.escrows(d, map[wire.Felt][3]uint64{hash: {5890, 0, 1}})
		}, plainOpen: true, too: "newest block"},
	} {
		first, second, r := pair(t)
		liar, honest := first, second
		if c.second {
			liar, honest = second, first
		}
		honest.escrows(d, nil)
		c.liar(liar)
		// One after the other: a contradiction takes the first node's place, also from a plain question under way.
		ask := func(settled bool) chains.EscrowFact {
			facts := trial.Must(r.Escrows(t.Context(), []chains.EscrowQuery{{Escrow: escrowOf(t, d, data), Settled: settled}}))(t)
			return facts[0]
		}
		if f := ask(false); f.Err != nil || !f.Unsettled || f.Final || (f.State == chains.EscrowOpen) != c.plainOpen {
			t.Errorf("%s: the word of one node: %+v", name, f)
		}
		f := ask(true)
		if contradicted(f.Err) != c.contra || f.State != chains.EscrowNone || f.Unsettled {
			t.Errorf("%s: %+v", name, f)
		}
		if !c.contra && (fault.CodeOf(f.Err) != fault.Upstream || !strings.Contains(f.Err.Error(), c.too)) {
			t.Errorf("%s: %v", name, f.Err)
		}
	}
}

// The vault that a signed Bitcoin transaction is handed out for does not hold what one of
// two nodes says.
func TestOneNodeDoesNotFillAVault(t *testing.T) {
	t.Parallel()
	first, second, r := pair(t)
	d := r.Deployment
	vault := func(raw uint64) func(callJSON) any {
		return func(callJSON) any {
			return hexes(d.BtcRelay.Address, wire.STRK, wire.STRK, wire.FeltOf(1), wire.FeltOf(1), wire.FeltOf(5), wire.FeltOf(6), wire.FeltOf(0),
				wire.FeltOf(2), wire.FeltOf(7), wire.FeltOf(1), wire.FeltOf(raw), wire.FeltOf(0))
		}
	}
	first.contract, second.contract = vault(1_000_000_000), vault(0)
	q := chains.VaultID{Owner: "0x7", ID: big.NewInt(2)}
	facts, err := r.Vaults(t.Context(), []chains.VaultID{q})
	if err != nil {
		t.Fatal(err)
	}
	if f := facts[0]; !contradicted(f.Err) || f.Vault.Open {
		t.Errorf("%+v", f)
	}
	first.contract = vault(0)
	if facts, err = r.Vaults(t.Context(), []chains.VaultID{q}); err != nil || facts[0].Err != nil || !facts[0].Vault.Open || facts[0].Head.Height != 5000 {
		t.Errorf("%+v, %v", facts, err)
	}
}

// What vaults pay, and what other transactions do, is asked of both nodes.
func TestOneOfTwoNodesDoesNotPay(t *testing.T) {
	t.Parallel()
	first, _, r := pair(t)
	to := wire.FeltOf(0xbeef)
	first.receipts["0x77"] = map[string]any{"transaction_hash": "0x77", "execution_status": "SUCCEEDED", "finality_status": "ACCEPTED_ON_L2", "block_number": 4990, "block_hash": hashOf(4990),
		"events": []any{map[string]any{"from_address": wire.Hex(wire.STRK), "keys": []string{wire.Hex(wire.Selector("Transfer")), "0x1", wire.Hex(to)}, "data": []string{"0x5", "0x0"}}}}
	if got, err := r.ledger.Paid(t.Context(), wire.FeltOf(0x77), to); !contradicted(err) {
		t.Errorf("%v, %v", got, err)
	}
	w := chains.WithdrawalQuery{Vault: chains.VaultID{Owner: "0x7", ID: big.NewInt(2)}, Recipient: "0x8", TxID: bitcoin.Hash{1}, Settled: true}
	facts, err := r.Withdrawals(t.Context(), []chains.WithdrawalQuery{w})
	if err != nil || facts[0].Err != nil || facts[0].State != chains.WithdrawalNone || facts[0].Final {
		t.Errorf("%+v, %v", facts, err)
	}
}

// A node that is down or slow keeps the others from nothing for longer than a second.
func TestANodeThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	d := deployment(t)
	data := swap(t, d, 1)
	query := []chains.EscrowQuery{{Escrow: escrowOf(t, d, data), Settled: true}}
	honest := newStub(t)
	honest.escrows(d, map[wire.Felt][3]uint64{hashOfSwap(t, data): {4990, 0, 1}})
	honest.open(d, data, 4990, "0x71")
	silent := newStub(t)
	release := make(chan struct{})
	silent.contract = func(callJSON) any { <-release; return nil }
	slow := silent.serve()
	t.Cleanup(func() { close(release) })
	for name, other := range map[string]string{"down": "http://127.0.0.1:1", "slow": slow} {
		l := connect(t, time.Unix(stubNow, 0), other, honest.serve())
		for _, all := range []bool{false, true} {
			l.AllNodes = all
			began := time.Now()
			patience := 8 * time.Second // in which no request to a silent node ends
			if all && name == "slow" {  // until whose end it waits
				patience = 500 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			facts, err := New(d, l).Escrows(ctx, query)
			took := time.Since(began)
			cancel()
			switch {
			case !all && (err != nil || facts[0].Err != nil || facts[0].State != chains.EscrowOpen || !facts[0].Final || facts[0].Unsettled):
				t.Errorf("%s: after %v %+v, %v", name, took, facts, err)
			case all && err == nil && (fault.CodeOf(facts[0].Err) != fault.Upstream || !strings.Contains(facts[0].Err.Error(), "1 of 2 nodes of the chain answered and 2 have to") || strings.Contains(facts[0].Err.Error(), "127.0.0.1")):
				t.Errorf("%s, all nodes: after %v %+v", name, took, facts)
			case all && err == nil && name == "slow":
				t.Errorf("%s: a node that has to answer is not waited for", name)
			}
		}
	}
}

// An account's no to a signature is proven by two nodes, and never by one: another that
// objects, is silent, or does not exist leaves it open.
func TestOneNodeDoesNotProveAForgery(t *testing.T) {
	t.Parallel()
	answers := func(good bool) func(callJSON) any {
		return func(callJSON) any {
			if good {
				return hexes(wire.ShortString("VALID"))
			}
			return hexes(wire.FeltOf(0))
		}
	}
	down := func(callJSON) any { return refusal{Code: -32603, Text: "Internal error"} }
	q := wire.SignatureCheck{Account: wire.FeltOf(0x5), Hash: wire.FeltOf(6), Signature: []wire.Felt{wire.FeltOf(7), wire.FeltOf(8)}}
	for name, c := range map[string]struct {
		nodes           []func(callJSON) any
		refused, proven bool
		contra          bool
	}{
		"both say no":                  {[]func(callJSON) any{answers(false), answers(false)}, true, true, false},
		"the second one objects":       {[]func(callJSON) any{answers(false), answers(true)}, false, false, true},
		"the second one does not know": {[]func(callJSON) any{answers(false), down}, true, false, false},
		"the only one says no":         {[]func(callJSON) any{answers(false)}, true, false, false},
		"the first one says yes":       {[]func(callJSON) any{answers(true), answers(false)}, false, false, false},
	} {
		var urls []string
		for _, says := range c.nodes {
			s := newStub(t)
			s.contract = says
			urls = append(urls, s.serve())
		}
		err := connect(t, time.Unix(stubNow, 0), urls...).Signed(t.Context(), q)
		bad, refused := errors.AsType[*chains.AuthError](err)
		if refused != c.refused || refused && bad.Proven != c.proven || contradicted(err) != c.contra {
			t.Errorf("%s: %v", name, err)
		}
	}
}
