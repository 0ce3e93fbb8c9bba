package evm

import (
	"encoding/hex"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

func TestPayInIsClaimedWithTheSecret(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	for _, token := range []common.Address{Native, k.Contracts().Token} {
		s := k.payIn(token, nil)
		auth := k.authorize(s, k.LP)
		ok(t, k.Network().VerifyInit(k.d, s, auth, k.User.Address, k.Time(), k.Time().Unix()))
		r := k.open(s, k.User)
		claim := k.one(k.d.ClaimBySecret(s, secret))
		paid := trial.Must(k.LP.Send(k.ctx, claim))(t)
		t.Logf("%s: init %d gas, claim %d of %d", token, r.GasUsed, paid.GasUsed, claim.Gas)
		e, isClaim := k.events(paid)[0].(wire.ClaimEvent)
		if !isClaim || hex.EncodeToString(e.Result) != hex.EncodeToString(secret[:]) {
			t.Errorf("event %+v", e)
		}
		if got := k.inContract(k.LP.Address, token); got.Cmp(s.Amount) != 0 {
			t.Errorf("the LP has %s in the contract", got)
		}
		if got := k.reputation(token, chains.HTLC); got.Successes != 1 || got.SuccessVolume.Cmp(s.Amount) != 0 {
			t.Errorf("reputation %+v", got)
		}
		k.wantState(s, chains.EscrowClaimed)
		if at := k.state(s); at.InitBlockheight != r.BlockNumber.Uint64() || at.FinishBlockheight != paid.BlockNumber.Uint64() {
			t.Errorf("heights %+v", at)
		}
	}
}

func TestPayOutIsClaimedByAThirdParty(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	token := k.Contracts().Token
	k.stock(Native, 2e9)
	k.stock(token, 2e9)
	tests := []struct {
		name           string
		token, deposit common.Address
		sequence       int64
	}{
		{"native", Native, Native, 1},
		{"token, native deposit", token, Native, 2},
		{"token, token deposit", token, token, 3},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			k := kit{t, k.Net, k.ctx, k.d}
			s := k.payOut(test.token, func(x *wire.Terms) {
				x.DepositToken, x.Sequence, x.Amount = test.deposit, big.NewInt(test.sequence), big.NewInt(1e9)
			})
			init := k.open(s, k.User)
			extra := new(big.Int).Sub(s.SecurityDeposit, s.ClaimerBounty).Int64()
			gain := s.Amount.Int64()
			if test.token == test.deposit {
				gain += extra
			}
			k.gained(k.User.Address, test.token, gain, func() {
				call := k.one(k.d.ClaimBySecret(s, secret))
				r := trial.Must(k.Watchtower.Send(k.ctx, call))(t)
				t.Logf("init %d gas, claim %d of %d", init.GasUsed, r.GasUsed, call.Gas)
			})
		})
	}
	// The bounty: the watchtower claimed one escrow with a deposit of tokens.
	want := new(big.Int).Exp(big.NewInt(10), big.NewInt(30), nil)
	if got := k.balance(k.Watchtower.Address, token); got.Sub(got, want).Int64() != 2e6 {
		t.Errorf("bounty %s", got)
	}
}

func TestLPOpensWithoutTheUser(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	k.stock(Native, 1e9)
	s := k.payOut(Native, func(x *wire.Terms) { x.SecurityDeposit, x.ClaimerBounty = big.NewInt(2e6), big.NewInt(5e6) })
	calls := trial.Must(k.d.Init(s, k.LP.Address, chains.Auth{Timeout: k.Time().Add(time.Minute).Unix()}))(t)
	trial.Must(k.LP.SendAll(k.ctx, calls))(t)
	k.wantState(s, chains.EscrowOpen)
}

func TestTimelockRefund(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	token := k.Contracts().Token
	paid := k.payIn(token, nil)
	k.open(paid, k.User)
	k.stock(token, 1e9)
	offered := k.payOut(token, func(x *wire.Terms) { x.SecurityDeposit, x.ClaimerBounty = big.NewInt(2e6), big.NewInt(5e6) })
	k.open(offered, k.User)

	later := time.Unix(paid.Expiry(), 0)
	refund := k.one(k.d.Refund(paid, later))
	k.refused("timestampLock: not expired", k.User, refund)
	ok(t, k.advanceTo(later.Add(-time.Second)))
	k.refused("timestampLock: not expired", k.User, refund) // at the very second of the expiry
	witness := k.one(CallOf("EscrowManager", k.d.EscrowManager.Address, "refund", tupleOf(paid), []byte{1}))
	ok(t, k.Mine(1))
	k.refused("timestampLock: witness len!=0", k.User, witness)

	k.gained(k.User.Address, token, 1e9, func() {
		r := trial.Must(k.Watchtower.Send(k.ctx, refund))(t) // by anybody
		t.Logf("refund %d gas of %d", r.GasUsed, refund.Gas)
		e, isRefund := k.events(r)[0].(wire.RefundEvent)
		if !isRefund || e.RefundHandler != k.d.RefundHandler || common.BytesToHash(e.Result) != paid.RefundData {
			t.Errorf("event %+v", e)
		}
	})
	k.wantState(paid, chains.EscrowRefunded)
	if got := k.reputation(token, chains.HTLC); got.Failures != 1 || got.FailureVolume.Cmp(paid.Amount) != 0 {
		t.Errorf("reputation %+v", got)
	}
	// The LP gets amount and security deposit back, the claimer what the bounty was above it.
	ok(t, k.Advance(time.Minute))
	k.gained(k.User.Address, Native, 3e6, func() {
		trial.Must(k.Watchtower.Send(k.ctx, k.one(k.d.Refund(offered, later.Add(time.Minute)))))(t)
	})
	if got := k.inContract(k.LP.Address, token); got.Int64() != 1e9 {
		t.Errorf("the LP has %s", got)
	}
	k.refused("_finalize: Not committed", k.User, refund)
	again := trial.Must(k.d.Init(paid, k.User.Address, k.authorize(paid, k.LP)))(t)
	k.refused("_commit: Already committed", k.User, again...)
}

func TestCooperativeRefund(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	s := k.payIn(Native, nil)
	k.open(s, k.User)
	auth := k.authorizeRefund(s, k.LP)
	ok(t, k.Network().VerifyRefund(k.d, s, auth, k.Time()))

	call := k.one(k.d.RefundAuthorized(s, k.authorizeRefund(s, k.User)))
	k.refused("coopRefund: invalid signature", k.User, call)
	late := auth
	late.Timeout = k.Time().Unix()
	k.refused("coopRefund: Auth expired", k.User, k.one(k.d.RefundAuthorized(s, late)))
	longer := auth
	longer.Timeout++
	k.refused("coopRefund: invalid signature", k.User, k.one(k.d.RefundAuthorized(s, longer)))

	call = k.one(k.d.RefundAuthorized(s, auth))
	k.gained(k.User.Address, Native, s.Amount.Int64(), func() {
		r := trial.Must(k.LP.Send(k.ctx, call))(t)
		t.Logf("cooperative refund %d gas of %d", r.GasUsed, call.Gas)
		e, isRefund := k.events(r)[0].(wire.RefundEvent)
		if !isRefund || e.RefundHandler != (common.Address{}) || len(e.Result) != 0 {
			t.Errorf("event %+v", e)
		}
	})
	if got := k.reputation(Native, chains.HTLC); got.CoopCloses != 1 || got.Failures != 0 {
		t.Errorf("reputation %+v", got)
	}
	k.refused("_finalize: Not committed", k.User, call)
}

func TestOpeningIsGuarded(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	token := k.Contracts().Token
	init := func(s wire.SwapData, sender *Account, auth chains.Auth) []wire.Call {
		return trial.Must(k.d.Init(s, sender.Address, auth))(t)
	}
	s := k.payIn(Native, nil)
	good := k.authorize(s, k.LP)

	t.Run("authorisation over", func(t *testing.T) {
		k := kit{t, k.Net, k.ctx, k.d}
		a := good
		a.Timeout = k.Time().Unix() + 1 // the next block's time
		k.refused("init: Authorization expired", k.User, init(s, k.User, a)...)
	})
	t.Run("signatures", func(t *testing.T) {
		k := kit{t, k.Net, k.ctx, k.d}
		const bad = "init: invalid signature"
		k.refused(bad, k.User, init(s, k.User, k.authorize(s, k.User))...)
		k.refused(bad, k.User, init(s, k.User, nilSignature(good))...)
		for name, tamper := range map[string]func([]byte){
			"high s": highS, "v 0": func(b []byte) { b[64] -= 27 }, "other v": func(b []byte) { b[64] ^= 7 }, "flipped": func(b []byte) { b[5] ^= 1 },
		} {
			a := good
			a.Signature = tampered(t, a.Signature, tamper)
			k.refused(bad, k.User, init(s, k.User, a)...)
			if k.Network().VerifyInit(k.d, s, a, k.User.Address, k.Time(), k.Time().Unix()) == nil {
				t.Errorf("%s: the client accepts what the contract refuses", name)
			}
		}
		for _, length := range []int{0, 64, 66} {
			call := k.one(CallOf("EscrowManager", k.d.EscrowManager.Address, "initialize", tupleOf(s), make([]byte, length), big.NewInt(good.Timeout), []byte{}))
			call.Value = s.Amount
			k.refused(bad, k.User, call)
		}
		longer, extra := good, s
		longer.Timeout++
		k.refused(bad, k.User, init(s, k.User, longer)...)
		extra.ExtraData = []byte{1}
		k.refused(bad, k.User, init(extra, k.User, good)...)
		for i, other := range []wire.SwapData{
			k.payIn(Native, func(x *wire.Terms) { x.Amount = big.NewInt(1e9 + 1) }),
			k.payIn(Native, func(x *wire.Terms) { x.Sequence = big.NewInt(8) }),
			k.payIn(Native, func(x *wire.Terms) { x.Expiry++ }),
			k.payIn(Native, func(x *wire.Terms) { x.PayOut = true }),
			k.payIn(Native, func(x *wire.Terms) { x.ClaimData[0] ^= 1 }),
		} {
			if _, err := k.User.Send(k.ctx, init(other, k.User, good)[0]); err == nil {
				t.Errorf("escrow %d opened with the authorisation of another", i)
			}
		}
	})
	t.Run("strangers", func(t *testing.T) {
		k := kit{t, k.Net, k.ctx, k.d}
		k.refused("init: Caller address", k.Watchtower, init(s, k.User, good)...)
	})
	t.Run("funds", func(t *testing.T) {
		k := kit{t, k.Net, k.ctx, k.d}
		short := init(s, k.User, good)[0]
		short.Value = new(big.Int).Sub(short.Value, big.NewInt(1))
		k.refused("transferIn: value too low", k.User, short)
		stolen := k.one(CallOf("EscrowManager", k.d.EscrowManager.Address, "initialize", tupleOf(s), trial.Must(hex.DecodeString(k.authorize(s, k.User).Signature[2:]))(t), big.NewInt(k.authorize(s, k.User).Timeout), []byte{}))
		stolen.Value = s.Amount
		k.refused("transferIn: sender not src", k.LP, stolen)
		offered := k.payOut(token, nil)
		k.refused("_xferIn: not enough balance", k.User, init(offered, k.User, k.authorize(offered, k.LP))...)
		unapproved := k.payIn(token, nil)
		calls := init(unapproved, k.User, k.authorize(unapproved, k.LP))
		k.refused("execution reverted 0x5274afe7"+hex.EncodeToString(common.LeftPadBytes(token[:], 32)), k.User, calls[len(calls)-1])
	})
	t.Run("twice", func(t *testing.T) {
		k := kit{t, k.Net, k.ctx, k.d}
		k.open(s, k.User)
		k.refused("_commit: Already committed", k.User, init(s, k.User, good)...)
		trial.Must(k.LP.Send(k.ctx, k.one(k.d.ClaimBySecret(s, secret))))(t)
		k.refused("_commit: Already committed", k.User, init(s, k.User, good)...)
	})
}

func TestClaimingIsGuarded(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	s := k.payIn(Native, nil)
	claim := func(witness []byte) wire.Call {
		return k.one(CallOf("EscrowManager", k.d.EscrowManager.Address, "claim", tupleOf(s), witness))
	}
	k.refused("_finalize: Not committed", k.LP, claim(secret[:]))
	k.open(s, k.User)
	k.refused("hashlock: Invalid witness len", k.LP, claim(secret[:31]))
	k.refused("hashlock: Invalid witness len", k.LP, claim(append(secret[:], 0)))
	k.refused("hashlock: Invalid witness", k.LP, claim(make([]byte, 32)))
	trial.Must(k.LP.Send(k.ctx, claim(secret[:])))(t)
	k.refused("_finalize: Not committed", k.LP, claim(secret[:]))

	tuple := tupleOf(k.payIn(Native, func(x *wire.Terms) { x.Sequence = big.NewInt(99) }))
	tuple.SuccessActionCommitment = common.Hash{1}
	k.refused("claim: has success action", k.LP, k.one(CallOf("EscrowManager", k.d.EscrowManager.Address, "claim", tuple, secret[:])))
}

// Nobody can hold the other side up by refusing money.
func TestRefusedNativePayoutsArriveWrapped(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	wallet := trial.Must(k.Deploy(k.ctx, "ContractWallet", k.User.Address))(t)
	k.stock(Native, 1e9)
	s := k.payOut(Native, func(x *wire.Terms) { x.Claimer, x.SecurityDeposit, x.ClaimerBounty = wallet, nil, nil })
	trial.Must(k.LP.SendAll(k.ctx, trial.Must(k.d.Init(s, k.LP.Address, k.authorize(s, k.LP)))(t)))(t)
	k.gained(wallet, k.Contracts().Wrapped, 1e9, func() {
		trial.Must(k.Watchtower.Send(k.ctx, k.one(k.d.ClaimBySecret(s, secret))))(t)
	})
}

func TestContractWalletsAuthorise(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	wallet := trial.Must(k.Deploy(k.ctx, "ContractWallet", k.LP.Address))(t)
	s := k.payIn(Native, func(x *wire.Terms) { x.Claimer = wallet })
	k.refused("init: invalid signature", k.User, trial.Must(k.d.Init(s, k.User.Address, k.authorize(s, k.User)))(t)...)
	init := trial.Must(k.d.Init(s, k.User.Address, k.authorize(s, k.LP)))(t)[0]
	init.Gas = 0 // asking a contract costs more than the protocol's limit allows
	trial.Must(k.User.Send(k.ctx, init))(t)
	trial.Must(k.User.Send(k.ctx, k.one(k.d.RefundAuthorized(s, k.authorizeRefund(s, k.LP)))))(t)
	k.wantState(s, chains.EscrowRefunded)
}

func TestLPBalance(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	for _, token := range []common.Address{Native, k.Contracts().Dollar} {
		k.stock(token, 1000)
		k.refused("withdraw: not enough balance", k.LP, k.one(k.Withdraw(token, big.NewInt(1001), k.LP.Address)))
		k.refused("withdraw: not enough balance", k.User, k.one(k.Withdraw(token, big.NewInt(1), k.User.Address)))
		k.gained(k.Watchtower.Address, token, 400, func() {
			trial.Must(k.LP.Send(k.ctx, k.one(k.Withdraw(token, big.NewInt(400), k.Watchtower.Address))))(t)
		})
		if got := k.inContract(k.LP.Address, token); got.Int64() != 600 {
			t.Errorf("balance %s", got)
		}
	}
}

// A reorganisation takes the escrow with it, and its hash is free again.
func TestReorganisedEscrow(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	s := k.payIn(Native, nil)
	k.open(s, k.User)
	ok(t, k.Reorg(1))
	k.wantState(s, chains.EscrowNone)
	ok(t, k.Mine(1)) // the transaction is mined again
	k.wantState(s, chains.EscrowOpen)
}

// escrowTuple is the contract's form of swap data.
type escrowTuple struct {
	Offerer, Claimer        common.Address
	Amount                  *big.Int
	Token                   common.Address
	Flags                   *big.Int
	ClaimHandler            common.Address
	ClaimData               common.Hash
	RefundHandler           common.Address
	RefundData              common.Hash
	SecurityDeposit         *big.Int
	ClaimerBounty           *big.Int
	DepositToken            common.Address
	SuccessActionCommitment common.Hash
}

func tupleOf(s wire.SwapData) escrowTuple {
	return escrowTuple{s.Offerer, s.Claimer, s.Amount, s.Token, s.Flags(), s.ClaimHandler, s.ClaimData, s.RefundHandler,
		s.RefundData, s.SecurityDeposit, s.ClaimerBounty, s.DepositToken, s.SuccessAction}
}

func nilSignature(a chains.Auth) chains.Auth {
	a.Signature = "0x" + hex.EncodeToString(make([]byte, 65))
	return a
}

func tampered(t *testing.T, signature string, how func([]byte)) string {
	b := trial.Must(hex.DecodeString(signature[2:]))(t)
	how(b)
	return "0x" + hex.EncodeToString(b)
}

// highS is the other signature that the same key could have made.
func highS(b []byte) {
	s := new(big.Int).SetBytes(b[32:64])
	new(big.Int).Sub(crypto.S256().Params().N, s).FillBytes(b[32:64])
	b[64] ^= 27 ^ 28
}
