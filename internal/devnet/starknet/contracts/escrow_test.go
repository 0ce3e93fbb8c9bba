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

// manager calls the escrow manager.
func (k *kit) manager(as Felt, entry string, calldata ...Felt) error {
	_, err := k.try(as, k.d.EscrowManager.Address, entry, calldata...)
	return err
}

func (k *kit) hash(s wire.SwapData) Felt {
	k.Helper()
	return trial.Must(s.EscrowHash())(k)
}

func (k *kit) claimCall(s wire.SwapData) wire.Call {
	k.Helper()
	return trial.Must(k.d.ClaimBySecret(s, secret))(k)
}

func (k *kit) refundCall(s wire.SwapData) wire.Call {
	k.Helper()
	return trial.Must(k.d.Refund(s, time.Unix(1<<40, 0)))(k)
}

// held is what everybody has: tokens, fee tokens, balance in the contract.
func (k *kit) held() map[string][3]int64 {
	k.Helper()
	all := map[string][3]int64{}
	for name, who := range map[string]Felt{"user": user, "lp": lp, "tower": tower} {
		all[name] = [3]int64{k.has(coin, who), k.has(gas, who), k.balance(who)}
	}
	all["contract"] = [3]int64{k.has(coin, k.d.EscrowManager.Address), k.has(gas, k.d.EscrowManager.Address)}
	return all
}

// moved is how held changes while something is done.
func (k *kit) moved(what func()) map[string][3]int64 {
	k.Helper()
	before := k.held()
	what()
	changed := map[string][3]int64{}
	for name, after := range k.held() {
		for i := range after {
			after[i] -= before[name][i]
		}
		if after != ([3]int64{}) {
			changed[name] = after
		}
	}
	return changed
}

// fill gives somebody a balance in the escrow manager.
func (k *kit) fill(who Felt, n int64) {
	k.Helper()
	k.sent(who, fillBalance(k.d, coin, big.NewInt(n))...)
}

func TestEscrowPaysWhomItMust(t *testing.T) {
	for _, c := range []struct {
		name            string
		payIn, payOut   bool
		opener          Felt
		deposit, bounty int64
		opened          map[string][3]int64
		claimed         map[string][3]int64 // by the tower
		refunded        map[string][3]int64
		agreed          map[string][3]int64 // refunded with the claimer's signature
	}{
		{"wallet to wallet, by the offerer", true, true, user, 300, 200,
			map[string][3]int64{"user": {-50_000, -300, 0}, "contract": {50_000, 300, 0}},
			map[string][3]int64{"contract": {-50_000, -300, 0}, "lp": {50_000, 100, 0}, "tower": {0, 200, 0}},
			map[string][3]int64{"contract": {-50_000, -300, 0}, "user": {50_000, 300, 0}},
			map[string][3]int64{"contract": {-50_000, -300, 0}, "user": {50_000, 0, 0}, "lp": {0, 300, 0}}},
		{"wallet to wallet, by the claimer", true, true, lp, 300, 200,
			map[string][3]int64{"user": {-50_000, 0, 0}, "lp": {0, -300, 0}, "contract": {50_000, 300, 0}},
			map[string][3]int64{"contract": {-50_000, -300, 0}, "lp": {50_000, 100, 0}, "tower": {0, 200, 0}},
			map[string][3]int64{"contract": {-50_000, -300, 0}, "user": {50_000, 300, 0}},
			map[string][3]int64{"contract": {-50_000, -300, 0}, "user": {50_000, 0, 0}, "lp": {0, 300, 0}}},
		{"balance to wallet", false, true, lp, 200, 300,
			map[string][3]int64{"user": {0, 0, -50_000}, "lp": {0, -300, 0}, "contract": {0, 300, 0}},
			map[string][3]int64{"contract": {-50_000, -300, 0}, "lp": {50_000, 0, 0}, "tower": {0, 300, 0}},
			map[string][3]int64{"contract": {0, -300, 0}, "user": {0, 200, 50_000}, "lp": {0, 100, 0}},
			map[string][3]int64{"contract": {0, -300, 0}, "user": {0, 0, 50_000}, "lp": {0, 300, 0}}},
		{"wallet to balance", true, false, user, 0, 0,
			map[string][3]int64{"user": {-50_000, 0, 0}, "contract": {50_000, 0, 0}},
			map[string][3]int64{"lp": {0, 0, 50_000}},
			map[string][3]int64{"contract": {-50_000, 0, 0}, "user": {50_000, 0, 0}},
			map[string][3]int64{"contract": {-50_000, 0, 0}, "user": {50_000, 0, 0}}},
		{"balance to balance", false, false, lp, 0, 5,
			map[string][3]int64{"user": {0, 0, -50_000}, "lp": {0, -5, 0}, "contract": {0, 5, 0}},
			map[string][3]int64{"contract": {0, -5, 0}, "lp": {0, 0, 50_000}, "tower": {0, 5, 0}},
			map[string][3]int64{"contract": {0, -5, 0}, "lp": {0, 5, 0}, "user": {0, 0, 50_000}},
			map[string][3]int64{"contract": {0, -5, 0}, "lp": {0, 5, 0}, "user": {0, 0, 50_000}}},
	} {
		for end, want := range map[string]map[string][3]int64{"claimed": c.claimed, "refunded": c.refunded, "agreed": c.agreed} {
			t.Run(c.name+", "+end, func(t *testing.T) {
				k := newKit(t)
				k.fill(user, 100_000)
				s := k.deal(user, lp)
				s.PayIn, s.PayOut, s.SecurityDeposit, s.ClaimerBounty = c.payIn, c.payOut, big.NewInt(c.deposit), big.NewInt(c.bounty)
				if c.payIn && c.opener == lp { // the offerer allows it before
					k.do(user, coin, "approve", felts{k.d.EscrowManager.Address}.u256(s.Amount)...)
				}
				if diff := cmp.Diff(c.opened, k.moved(func() { k.sent(c.opener, k.initBy(s, c.opener)...) })); diff != "" {
					t.Errorf("opening (-want +got):\n%s", diff)
				}
				if got := k.state(s); got.State != chains.EscrowOpen || got.InitHeight == 0 || got.FinishHeight != 0 {
					t.Errorf("opened, it is recorded as %+v", got)
				}
				state := chains.EscrowRefunded
				if diff := cmp.Diff(want, k.moved(func() {
					switch end {
					case "claimed":
						state = chains.EscrowClaimed
						k.sent(tower, k.claimCall(s))
					case "refunded":
						k.later(1001 * time.Second)
						k.sent(tower, k.refundCall(s))
					case "agreed":
						k.sent(tower, k.agreedCall(s, theFuture))
					}
				})); diff != "" {
					t.Errorf("ending (-want +got):\n%s", diff)
				}
				if got := k.state(s); got.State != state || got.FinishHeight == 0 {
					t.Errorf("ended, it is recorded as %+v", got)
				}
				for name, call := range map[string]wire.Call{"claim": k.claimCall(s), "refund": k.refundCall(s), "cooperative_refund": k.agreedCall(s, theFuture)} {
					if _, err := k.send(tower, call); err == nil {
						t.Errorf("%s of an escrow that is over succeeds", name)
					} else {
						reverts(t, err, "_finalize: Not committed")
					}
				}
				_, err := k.send(c.opener, k.initBy(s, c.opener)...)
				reverts(t, err, "_commit: Already committed")
			})
		}
	}
}

// agreedCall is a refund with the claimer's signature.
func (k *kit) agreedCall(s wire.SwapData, timeout int64) wire.Call {
	k.Helper()
	m := trial.Must(k.n.RefundMessage(k.hash(s), timeout))(k)
	h := trial.Must(m.Hash(s.Claimer))(k)
	return trial.Must(k.d.RefundAuthorized(s, chains.Auth{Timeout: timeout, Signature: wire.FormatSignature(k.sign(s.Claimer, h))}))(k)
}

func TestEscrowEvents(t *testing.T) {
	k := newKit(t)
	s := k.deal(user, lp)
	of := wire.EscrowEvent{Offerer: user, Claimer: lp, ClaimData: s.ClaimData, EscrowHash: k.hash(s)}
	for _, c := range []struct {
		call []wire.Call
		want wire.Event
	}{
		{k.initBy(s, user), wire.InitializeEvent{EscrowEvent: of, Kind: chains.HTLC, RefundHandler: k.d.RefundHandler}},
		{[]wire.Call{k.claimCall(s)}, wire.ClaimEvent{EscrowEvent: of, Kind: chains.HTLC, Result: secret}},
	} {
		if diff := cmp.Diff([]wire.Event{c.want}, k.told(k.sent(user, c.call...))); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	}
	for _, agreed := range []bool{false, true} {
		s.Sequence++
		of.EscrowHash = k.hash(s)
		k.sent(user, k.initBy(s, user)...)
		call, want := k.agreedCall(s, theFuture), wire.RefundEvent{EscrowEvent: of}
		if !agreed {
			k.later(1001 * time.Second)
			call, want.RefundHandler = k.refundCall(s), k.d.RefundHandler
		}
		if diff := cmp.Diff([]wire.Event{want}, k.told(k.sent(user, call))); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	}
}

func TestInitializeReverts(t *testing.T) {
	k := newKit(t)
	k.do(user, coin, "approve", felts{k.d.EscrowManager.Address}.u256(big.NewInt(wealth))...)
	k.do(user, gas, "approve", felts{k.d.EscrowManager.Address}.u256(big.NewInt(wealth))...)
	k.do(lp, gas, "approve", felts{k.d.EscrowManager.Address}.u256(big.NewInt(wealth))...)
	last := func(calls []wire.Call) wire.Call { return calls[len(calls)-1] }
	deal := func(change func(*wire.SwapData)) wire.SwapData {
		s := k.deal(user, lp)
		if change != nil {
			change(&s)
		}
		return s
	}
	reputed := func(s *wire.SwapData) { s.Reputation = true }
	by := func(as Felt, s wire.SwapData) wire.Call { return last(k.initBy(s, as)) }
	authorized := func(as Felt, s wire.SwapData, signed wire.SwapData, timeout int64) wire.Call {
		signer := s.Offerer
		if as == s.Offerer {
			signer = s.Claimer
		}
		calls := trial.Must(k.d.Init(s, as, k.auth(signed, signer, timeout)))(k)
		return last(calls)
	}
	for _, c := range []struct {
		name   string
		as     Felt
		call   wire.Call
		reason string
	}{
		{"too late", user, authorized(user, deal(nil), deal(nil), k.now.Unix()), "init: Authorization expired"},
		{"a stranger", tower, by(user, deal(nil)), "init: caller_address"},
		{"another's signature, by the claimer", lp, authorized(lp, deal(nil), deal(func(s *wire.SwapData) { s.Amount = big.NewInt(1) }), theFuture), "verify_sig: Invalid response"},
		{"another's signature, with reputation", user, authorized(user, deal(reputed), deal(nil), theFuture), "verify_sig: Invalid response"},
		{"too poor", user, by(user, deal(func(s *wire.SwapData) { s.Amount = big.NewInt(wealth + 1) })), "ERC20: insufficient allowance"},
		{"no balance", user, by(user, deal(func(s *wire.SwapData) { s.PayIn = false })), "_xfer_in: not enough balance"},
		{"no token", user, by(user, deal(func(s *wire.SwapData) { s.Token = wire.FeltOf(77) })), "CONTRACT_NOT_DEPLOYED"},
		{"no account", lp, func() wire.Call {
			s := deal(nil)
			c := authorized(lp, s, s, theFuture)
			c.Calldata = slices.Clone(c.Calldata)
			c.Calldata[0] = wire.FeltOf(78) // the offerer
			return c
		}(), "CONTRACT_NOT_DEPLOYED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := k.held()
			_, err := k.send(c.as, c.call)
			reverts(t, err, c.reason)
			if diff := cmp.Diff(before, k.held()); diff != "" {
				t.Errorf("it reverted and moved money (-before +after):\n%s", diff)
			}
		})
	}
	// What may not be refused: the offerer needs no signature without reputation, and any
	// with it is the claimer's; flags that nobody knows make an escrow unique.
	c := by(user, deal(nil))
	c.Calldata = slices.Clone(c.Calldata)
	c.Calldata[5] = wire.MustFelt("0xfffffffffffffffffffffffffffffffb")
	k.sent(user, c)
	k.sent(user, by(user, deal(reputed)))
}

func TestSignaturesAreBoundToNetworkAndParty(t *testing.T) {
	k := newKit(t)
	s := k.deal(user, lp)
	k.do(user, coin, "approve", felts{k.d.EscrowManager.Address}.u256(s.Amount)...)
	k.do(lp, gas, "approve", felts{k.d.EscrowManager.Address}.u256(big.NewInt(wealth))...)
	other := k.n
	other.ChainID = wire.Mainnet
	for name, hash := range map[string]func() Felt{
		"another network": func() Felt {
			m := trial.Must(other.InitMessage(s, theFuture))(k)
			return trial.Must(m.Hash(user))(k)
		},
		"another account": func() Felt {
			m := trial.Must(k.n.InitMessage(s, theFuture))(k)
			return trial.Must(m.Hash(lp))(k)
		},
		"another timeout": func() Felt {
			m := trial.Must(k.n.InitMessage(s, theFuture+1))(k)
			return trial.Must(m.Hash(user))(k)
		},
	} {
		calls, err := k.d.Init(s, lp, chains.Auth{Timeout: theFuture, Signature: wire.FormatSignature(k.sign(user, hash()))})
		k.must(err)
		_, err = k.send(lp, calls[len(calls)-1])
		if err == nil {
			t.Errorf("%s: a signature for it opens the escrow", name)
			continue
		}
		reverts(t, err, "verify_sig: Invalid response")
	}
	k.sent(lp, k.initBy(s, lp)...)
}

func TestClaimAndRefundRevert(t *testing.T) {
	k := newKit(t)
	s := k.deal(user, lp)
	k.sent(user, k.initBy(s, user)...)
	all, err := s.Felts()
	k.must(err)
	with := func(witness ...Felt) []Felt { return append(slices.Clone(all), felts(nil).span(witness...)...) }
	wrong := felts(nil).hash([32]byte{9})
	right := felts(nil).hash(secret)
	for _, c := range []struct {
		name, entry string
		calldata    []Felt
		reason      string
	}{
		{"wrong secret", "claim", with(wrong...), "hashlock: Invalid witness"},
		{"short secret", "claim", with(right[:7]...), "hashlock: Deserialize witness"},
		{"long secret", "claim", with(append(slices.Clone(right), Felt{})...), "hashlock: Large witness"},
		{"no words", "claim", with(append(slices.Clone(right[:7]), wire.MustFelt("0x100000000"))...), "hashlock: Deserialize witness"},
		{"not expired", "refund", with(), "timestamp_lock: Not expired"},
		{"a witness for the time", "refund", with(Felt{}), "timestamp_lock: witness len!=0"},
		{"authorisation too late", "cooperative_refund", append(slices.Clone(all), felts(nil).span().uint(k.clock())...), "coop_refund: Auth expired"},
		{"nobody's authorisation", "cooperative_refund", append(slices.Clone(all), felts(nil).span().uint(k.clock()+1)...), "verify_sig: Invalid response"},
		{"no witness", "claim", all, "Failed to deserialize param #2"},
		{"no escrow", "claim", nil, "Failed to deserialize param #1"},
	} {
		t.Run(c.name, func(t *testing.T) { reverts(t, k.manager(tower, c.entry, c.calldata...), c.reason) })
	}
	k.later(1000 * time.Second)
	_, err = k.send(user, k.refundCall(s))
	reverts(t, err, "timestamp_lock: Not expired") // it must be later than the expiry
	k.later(5000 * time.Second)
	k.sent(tower, k.claimCall(s)) // claims have no expiry

	s.Sequence, s.RefundData = 8, wire.MustFelt("0x10000000000000000")
	k.sent(user, k.initBy(s, user)...)
	_, err = k.send(user, k.refundCall(s))
	reverts(t, err, "timestamp_lock: u64 parse")
	s.Sequence, s.ClaimHandler, s.RefundHandler = 9, coin, coin
	k.sent(user, k.initBy(s, user)...)
	all = trial.Must(s.Felts())(k)
	reverts(t, k.manager(user, "claim", with(right...)...), "ENTRYPOINT_NOT_FOUND")
	reverts(t, k.manager(user, "refund", with()...), "ENTRYPOINT_NOT_FOUND")
}

func TestLPVault(t *testing.T) {
	k := newKit(t)
	calls := fillBalance(k.d, coin, big.NewInt(500))
	if diff := cmp.Diff(map[string][3]int64{"user": {-500, 0, 500}, "contract": {500, 0, 0}}, k.moved(func() { k.sent(user, calls...) })); diff != "" {
		t.Errorf("deposit (-want +got):\n%s", diff)
	}
	withdraw := func(n int64) error {
		_, err := k.send(user, takeBalance(k.d, coin, big.NewInt(n), tower))
		return err
	}
	reverts(t, withdraw(501), "withdraw: not enough balance")
	if diff := cmp.Diff(map[string][3]int64{"user": {0, 0, -200}, "tower": {200, 0, 0}, "contract": {-200, 0, 0}}, k.moved(func() { k.must(withdraw(200)) })); diff != "" {
		t.Errorf("withdrawal (-want +got):\n%s", diff)
	}
	reverts(t, k.manager(lp, "deposit", felts{coin}.u256(big.NewInt(1))...), "ERC20: insufficient allowance")
	reverts(t, k.manager(user, "deposit", felts{coin}.u256(maxU256)...), "u256_add Overflow")
}

func TestReputation(t *testing.T) {
	k := newKit(t)
	s := k.deal(user, lp)
	s.Reputation, s.SecurityDeposit, s.ClaimerBounty = true, new(big.Int), new(big.Int)
	read := func() (got []int64) {
		answer := k.ask(k.d.EscrowManager.Address, "get_reputation", felts(nil).uint(1).add(lp, coin, k.d.ClaimHandlers[chains.HTLC])...)
		r := &reader{rest: answer[1:]}
		for range 3 {
			got = append(got, readU256(r).Int64(), int64(readU64(r)))
		}
		return got
	}
	open := func() {
		s.Sequence++
		s.Amount = new(big.Int).Add(s.Amount, big.NewInt(1))
		k.sent(user, k.initBy(s, user)...)
	}
	open() // 50,001
	k.sent(user, k.claimCall(s))
	open()
	k.sent(user, k.claimCall(s))
	open()
	k.sent(user, k.agreedCall(s, theFuture))
	open()
	k.later(1001 * time.Second)
	k.sent(user, k.refundCall(s))
	s.Reputation = false
	open()
	k.sent(user, k.claimCall(s))
	if diff := cmp.Diff([]int64{100_003, 2, 50_003, 1, 50_004, 1}, read()); diff != "" {
		t.Errorf("reputation (-want +got):\n%s", diff)
	}
}

func TestStates(t *testing.T) {
	k := newKit(t)
	s, never := k.deal(user, lp), k.deal(user, tower)
	k.sent(user, k.initBy(s, user)...)
	records := trial.Must(wire.ReadEscrowStates(k.ask(k.d.EscrowManager.Address, wire.EntryHashStates, wire.EscrowStatesCall([]Felt{k.hash(s), k.hash(never)})...), 2))(k)
	if records[0] != k.state(s) || records[0].State != chains.EscrowOpen || records[1] != (wire.EscrowRecord{}) {
		t.Errorf("records %+v", records)
	}
	all := trial.Must(s.Felts())(k)
	if whole, byHash := k.ask(k.d.EscrowManager.Address, "get_state", all...), k.ask(k.d.EscrowManager.Address, wire.EntryHashState, k.hash(s)); !slices.Equal(whole, byHash) {
		t.Errorf("asked with the whole escrow, it is %v, with its hash %v", whole, byHash)
	}
}

// Anybody's account contract decides what is its signature: here Argent's, with a
// guardian, in both forms.
func TestEscrowSignedByArgentAccount(t *testing.T) {
	k := newKit(t)
	owner, guardian := keys[user], keys[tower]
	account := k.argent(owner, &guardian)
	k.do(minter, coin, "permissioned_mint", felts{account}.u256(big.NewInt(wealth))...)
	k.do(account, coin, "approve", felts{k.d.EscrowManager.Address}.u256(big.NewInt(wealth))...)
	s := k.deal(account, lp)
	m, err := k.n.InitMessage(s, theFuture)
	k.must(err)
	h := trial.Must(m.Hash(account))(k)
	calls := trial.Must(k.d.Init(s, lp, chains.Auth{Timeout: theFuture, Signature: wire.FormatSignature(k.sign(user, h))}))(k)
	_, err = k.send(lp, calls...)
	reverts(t, err, "argent/invalid-signature-length")
	calls = trial.Must(k.d.Init(s, lp, chains.Auth{Timeout: theFuture, Signature: wire.FormatSignature(append(k.sign(user, h), k.sign(tower, h)...))}))(k)
	k.sent(lp, calls...)
}
