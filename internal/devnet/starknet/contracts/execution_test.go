package contracts

import (
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// scheduled is an escrow whose amount goes to calls, claimed.
func (k *kit) scheduled(calls []contractCall, tokens []Felt, fee int64) (salt Felt) {
	k.Helper()
	s := k.deal(user, lp)
	s.SecurityDeposit, s.ClaimerBounty = new(big.Int), new(big.Int)
	s.SuccessAction = &wire.SuccessAction{Hash: executionHash(calls, tokens), Expiry: k.clock() + 500, Fee: big.NewInt(fee)}
	c := trial.Must(k.d.Init(s, user, chains.Auth{Timeout: theFuture}))(k)
	k.sent(user, c...)
	all := trial.Must(s.Felts())(k)
	k.must(k.manager(tower, "claim", append(all, felts(nil).span(felts(nil).hash(secret)...)...)...))
	return wire.Poseidon(k.d.EscrowManager.Address, k.hash(s))
}

func callsArg(calls []contractCall) felts {
	w := felts(nil).uint(uint64(len(calls)))
	for _, c := range calls {
		w = w.add(c.to, c.selector).span(c.calldata...)
	}
	return w
}

func transferCall(to Felt, n int64) contractCall {
	return contractCall{coin, wire.Selector("transfer"), append([]Felt{to}, amount(n)...)}
}

func TestExecution(t *testing.T) {
	for _, c := range []struct {
		name    string
		calls   []contractCall
		ok      bool
		reason  string
		changes [3]int64 // of user, lp and tower, which executes for 500
	}{
		{"calls are made", []contractCall{transferCall(user, 40_000)}, true, "", [3]int64{40_000, 9_500, 500}},
		{"no calls", nil, true, "", [3]int64{0, 49_500, 500}},
		{"a call fails: the owner gets everything", []contractCall{transferCall(user, 1), transferCall(user, 49_999)}, false, "ERC20: insufficient balance", [3]int64{0, 49_500, 500}},
	} {
		for _, all := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				k := newKit(t)
				tokens := []Felt{gas}
				salt := k.scheduled(c.calls, tokens, 500)
				before := [3]int64{k.has(coin, user), k.has(coin, lp), k.has(coin, tower)}
				execute := append(append(felts{lp, salt}, callsArg(c.calls)...).span(tokens...), felts(nil).bool(all)...)
				other := append(append(felts{lp, salt}, callsArg(c.calls)...).span(), felts(nil).bool(all)...)
				_, err := k.try(tower, executionAddress, "execute", other...)
				reverts(t, err, "execute: Invalid calls/tokens")
				i := k.do(tower, executionAddress, "execute", execute...)
				after := [3]int64{k.has(coin, user) - before[0], k.has(coin, lp) - before[1], k.has(coin, tower) - before[2]}
				if after != c.changes {
					t.Errorf("the money moves %v, want %v", after, c.changes)
				}
				events := i.AllEvents()
				last := events[len(events)-1]
				r := &reader{rest: last.Data}
				reason, ok := readFelts(r), readBool(r)
				if last.Keys[0] != wire.Selector("ExecutionProcessed") || ok != c.ok || ok != (len(reason) == 0) || !ok && reason[0] != wire.ShortString(c.reason) {
					t.Errorf("the event is %v with %v, %v", last.Keys, reason, ok)
				}
				_, err = k.try(tower, executionAddress, "execute", execute...)
				reverts(t, err, "execute: Already processed")
				k.later(501 * time.Second)
				_, err = k.try(tower, executionAddress, "refund_expired", felts{lp, salt}.bool(false)...)
				reverts(t, err, "refund_exp: Already processed")
				_, err = k.try(lp, executionAddress, "refund", felts{salt}.bool(false)...)
				reverts(t, err, "refund: Already processed")
				there := k.ask(executionAddress, "get_execution", lp, salt)
				if cleared := slices.Equal(there, make([]Felt, 7)); cleared != all || !there[1].IsZero() {
					t.Errorf("there remains %v", there)
				}
			})
		}
	}
}

func TestExecutionRefunds(t *testing.T) {
	k := newKit(t)
	salt := k.scheduled(nil, nil, 500)
	expired := felts{lp, salt}.bool(true)
	_, err := k.try(tower, executionAddress, "refund_expired", expired...)
	reverts(t, err, "refund_exp: Not expired yet")
	_, err = k.try(tower, executionAddress, "refund", felts{salt}.bool(true)...)
	reverts(t, err, "refund: Already processed") // it is another's
	k.later(500 * time.Second)
	k.do(tower, executionAddress, "refund_expired", expired...)
	if k.has(coin, lp) != wealth+49_500 || k.has(coin, tower) != wealth+500 {
		t.Errorf("the owner has %d, the sender %d", k.has(coin, lp), k.has(coin, tower))
	}
	k = newKit(t)
	salt = k.scheduled(nil, nil, 500)
	k.do(lp, executionAddress, "refund", felts{salt}.bool(true)...)
	if k.has(coin, lp) != wealth+50_000 {
		t.Errorf("the owner has %d", k.has(coin, lp))
	}
}

func TestExecutionCreate(t *testing.T) {
	k := newKit(t)
	create := func(hash uint64) error {
		_, err := k.try(user, executionAddress, "create", felts{lp, wire.FeltOf(1), coin}.u256(big.NewInt(5)).u256(big.NewInt(2)).uint(hash).uint(9)...)
		return err
	}
	reverts(t, create(0), "create: execution_hash=0")
	reverts(t, create(1), "ERC20: insufficient allowance")
	k.do(user, coin, "approve", felts{executionAddress}.u256(big.NewInt(100))...)
	k.must(create(1))
	reverts(t, create(2), "create: Already initiated")
	salt := wire.Poseidon(user, wire.FeltOf(1))
	if diff := cmp.Diff([]Felt(felts{coin}.uint(1).u256(big.NewInt(5)).u256(big.NewInt(2)).uint(9)), k.ask(executionAddress, "get_execution", lp, salt)); diff != "" {
		t.Errorf("the execution (-want +got):\n%s", diff)
	}
}

// A fee above the amount: the claimer is paid as if there were no calls.
func TestExecutionFeeAboveAmount(t *testing.T) {
	k := newKit(t)
	k.scheduled(nil, nil, 50_001)
	if k.has(coin, lp) != wealth+50_000 {
		t.Errorf("the claimer has %d", k.has(coin, lp))
	}
	k = newKit(t)
	k.scheduled(nil, nil, 50_000) // all of it
	if k.has(coin, lp) != wealth || k.has(coin, executionAddress) != 50_000 {
		t.Errorf("the claimer has %d, the execution %d", k.has(coin, lp), k.has(coin, executionAddress))
	}
}
