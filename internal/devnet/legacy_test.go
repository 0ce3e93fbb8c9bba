package devnet

import (
	"encoding/hex"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	btc "github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/single"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	lpwire "github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/verify"
	"github.com/swapper-go/swapper/internal/trial"
)

// each runs a test with LPs that announce the legacy types: of the newer version, at full
// depth of both.
func each(t *testing.T, run func(t *testing.T, k *kit)) {
	for _, v := range trial.Of(1, []Version{Newer, Older}) {
		t.Run(v.String(), func(t *testing.T) {
			run(t, kitOf(t, Options{Version: v, LP: func(_ int, o *lp.Options) { o.Legacy = true }}))
		})
	}
}

// agreed is what the user wants of a legacy swap to WBTC.
func (k *kit) agreed(amount int64) verify.Agreed {
	token, native := k.Tokens()[1], k.Tokens()[0]
	return verify.Agreed{LP: k.lp().Account().Address.Hex(), BaseFee: big.NewInt(150), FeePPM: big.NewInt(3000), User: k.user, Token: token, Native: native,
		Amount: big.NewInt(amount), ExactIn: true, Contract: k.contract, Price: big.NewInt(1e14), NativePrice: big.NewInt(1e14), Now: k.Clock.Now(),
		Policy: verify.Policy{AnyNode: true}}
}

var bounty = lpwire.Bounty{FeePerBlock: big.NewInt(1e9), SafetyFactor: big.NewInt(1), AddBlock: big.NewInt(2), AddFee: big.NewInt(1e11)}

func (k *kit) fromBTC(sequence uint64) (lpwire.FromBTCQuote, verify.Accepted) {
	k.Helper()
	bounty := bounty
	bounty.StartTimestamp = k.Clock.Now().Unix()
	want := k.agreed(200_000)
	r := lpwire.FromBTCRequest{Chain: want.Token.Chain, DepositToken: want.Native.Address, Claimer: k.user, Amount: want.Amount, Token: want.Token.Address,
		Sequence: sequence, Bounty: async.Known(&bounty), FeeRate: async.Known("1,2")}
	q := trial.Must(k.client.FromBTC(k.ctx, k.url, r, lpwire.Early{}))(k.T)
	until, err := k.contract.VerifyInit(k.ctx, k.escrow(q.Escrow), q.Auth, "1,2", k.user)
	funds := trial.Must(k.contract.Liquidity(k.ctx, want.LP, want.Token.Address))(k.T).Balance
	return q, trial.Must(verify.FromBTC(verify.FromBTCExpected{Agreed: want, Network: btc.Regtest, Sequence: sequence, Bounty: bounty}, q,
		verify.Authorized{Until: until, Err: err}, funds))(k.T)
}

// wbtc is what the user has of it.
func (k *kit) wbtc() *big.Int {
	k.Helper()
	return trial.Must(k.chain.Balance(k.ctx, k.user, k.Tokens()[1].Address))(k.T)
}

func TestFromBTC(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k *kit) {
		q, a := k.fromBTC(7)
		if q.Confirmations != 2 || a.Deposit.Sign() <= 0 || q.Amount.Int64() != 200_000 {
			t.Errorf("%+v, deposit %s", q, a.Deposit)
		}
		before := k.wbtc()
		k.do(chains.Step{Kind: chains.StepInit, Escrow: *a.Escrow, Auth: q.Auth})
		tx := trial.Must(k.Wallet.Pay(2, wire.NewTxOut(a.Payment.Sats, a.Payment.Script)))(t)
		k.ok(k.Mine(2))
		id := tx.TxHash()
		_, merkle, err := k.Bitcoin.Proof(id)
		k.ok(err)
		found := trial.Must(single.Tx(k.ctx, k.backend, id))(t)
		raw := trial.Must(rawtx.Strip(found.Msg))(t)
		k.do(chains.Step{Kind: chains.StepClaimBitcoin, Escrow: *a.Escrow, Payment: &chains.Payment{Raw: raw, TxID: id, Block: found.BlockHash, Height: merkle.Height,
			Confirmations: a.Payment.Confirmations, Condition: chains.Condition{Kind: chains.Onchain, Script: a.Payment.Script, Sats: uint64(a.Payment.Sats), Confirmations: 2}}})
		if now := k.wbtc(); gained(now, before) != q.Total.Int64() {
			t.Errorf("the user got %d, agreed %s", gained(now, before), q.Total)
		}

		// What nobody pays for goes back to the LP.
		q, a = k.fromBTC(8)
		funds := k.funds(k.EVM.Contracts().Token)
		k.do(chains.Step{Kind: chains.StepInit, Escrow: *a.Escrow, Auth: q.Auth})
		k.ok(k.Advance(6*time.Hour + time.Minute))
		k.eventually("refunded", func() bool { return k.fact(*a.Escrow).State == chains.EscrowRefunded })
		if now := k.funds(k.EVM.Contracts().Token); now.Cmp(funds) != 0 {
			t.Errorf("the LP has %s in the contract, had %s", now, funds)
		}
	})
}

func TestFromBTCRefusals(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{LP: func(_ int, o *lp.Options) { o.Legacy = true }})
	good := lpwire.FromBTCRequest{Chain: "CITREA", DepositToken: k.Tokens()[0].Address, Claimer: k.user, Amount: big.NewInt(200_000), Token: k.Tokens()[1].Address, Bounty: async.Known(&bounty)}
	for want, change := range map[int]func(r *lpwire.FromBTCRequest){
		20190: func(r *lpwire.FromBTCRequest) { r.DepositToken = r.Token },
		20100: func(r *lpwire.FromBTCRequest) { r.Token = k.user },
		20043: func(r *lpwire.FromBTCRequest) { r.Bounty = nil },
		20003: func(r *lpwire.FromBTCRequest) { r.Amount = big.NewInt(9999) },
	} {
		r := good
		change(&r)
		_, err := k.client.FromBTC(k.ctx, k.url, r, lpwire.Early{})
		if refused, ok := errors.AsType[*lpwire.RequestError](err); !ok || refused.Code != want {
			t.Errorf("got %v, want code %d", err, want)
		}
	}
}

func (k *kit) fromBTCLN(name string) (lpwire.FromBTCLNQuote, verify.Accepted, [32]byte) {
	k.Helper()
	preimage, hash := lightning.Preimage(k.Name() + name)
	want := k.agreed(50_000)
	want.BaseFee = big.NewInt(10)
	r := lpwire.FromBTCLNRequest{Chain: want.Token.Chain, DepositToken: want.Native.Address, PaymentHash: hex.EncodeToString(hash[:]), Amount: want.Amount, Claimer: k.user,
		Token: want.Token.Address, Description: "for me", FeeRate: async.Known("1,2")}
	q := trial.Must(k.client.FromBTCLN(k.ctx, k.url, r, lpwire.Early{}))(k.T)
	return q, trial.Must(verify.FromBTCLN(verify.FromBTCLNExpected{Agreed: want,
		InvoiceExpected: verify.InvoiceExpected{Network: btc.Regtest, PaymentHash: hash, Description: "for me"}}, q, k.funds(k.EVM.Contracts().Token),
		verify.NodeFact{}))(k.T), preimage
}

func (k *kit) heldAt(a verify.Accepted, endpoint string) lpwire.Status {
	k.Helper()
	return k.status(lpwire.FromBTCLN, endpoint, hex.EncodeToString(a.Invoice.PaymentHash[:]), nil)
}

// promised waits until the LP lets the escrow be opened.
func (k *kit) promised(a verify.Accepted) (e chains.Escrow, s lpwire.Status) {
	k.Helper()
	k.eventually("authorised", func() bool { s = k.heldAt(a, lpwire.GetInvoicePaymentAuth); return s.Code == lpwire.CodeDone })
	e = trial.Must(verify.Delivered(k.contract, *a.Escrow, s.Escrow, true))(k.T)
	trial.Must(k.contract.VerifyInit(k.ctx, e, *s.Auth, "1,2", k.user))(k.T)
	return e, s
}

func TestFromBTCLN(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, k *kit) {
		q, a, preimage := k.fromBTCLN("claimed")
		for _, endpoint := range []string{lpwire.GetInvoiceStatus, lpwire.GetInvoicePaymentAuth} {
			if s := k.heldAt(a, endpoint); s.Code != lpwire.CodeUnpaid {
				t.Errorf("%s before it is paid: %+v", endpoint, s)
			}
		}
		before := k.wbtc()
		node := k.lp().Node().BalanceSats()
		k.ok(k.Payer.Start(q.Invoice, lightning.Limits{}))
		e, s := k.promised(a)
		if s.Auth.Prefix != "initialize" || k.heldAt(a, lpwire.GetInvoiceStatus).Code != lpwire.CodeDone {
			t.Errorf("%+v", s)
		}
		if again := k.heldAt(a, lpwire.GetInvoicePaymentAuth); *again.Auth != *s.Auth || string(again.Escrow) != string(s.Escrow) {
			t.Error("a second authorisation for one payment")
		}
		k.do(chains.Step{Kind: chains.StepInit, Escrow: e, Auth: *s.Auth})
		k.eventually("committed", func() bool { return k.heldAt(a, lpwire.GetInvoicePaymentAuth).Code == lpwire.CodeCommitted })
		k.do(chains.Step{Kind: chains.StepClaimSecret, Escrow: e, Preimage: chains.Preimage(preimage)})
		k.eventually("settled", func() bool { return k.lp().Node().BalanceSats() == node+50_000 })
		if now := k.wbtc(); gained(now, before) != q.Total.Int64() {
			t.Errorf("the user got %d, agreed %s", gained(now, before), q.Total)
		}
		if s := k.heldAt(a, lpwire.GetInvoicePaymentAuth); s.Code != lpwire.CodeSettled {
			t.Errorf("at the end: %+v", s)
		}
	})
}

// A payment whose escrow is not opened in time, or not claimed, goes back.
func TestFromBTCLNGivesPaymentsBack(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{LP: func(_ int, o *lp.Options) { o.Legacy = true }})
	for _, opens := range []bool{false, true} {
		q, a, _ := k.fromBTCLN(map[bool]string{true: "opened", false: "left"}[opens])
		payer := k.Payer.BalanceSats()
		k.ok(k.Payer.Start(q.Invoice, lightning.Limits{}))
		e, s := k.promised(a)
		if opens {
			k.do(chains.Step{Kind: chains.StepInit, Escrow: e, Auth: *s.Auth})
			k.ok(k.Advance(time.Until(time.Unix(e.Expiry, 0)) + 2*time.Hour))
			k.eventually("refunded", func() bool { return k.fact(e).State == chains.EscrowRefunded })
		} else {
			k.ok(k.Advance(20 * time.Minute))
		}
		k.eventually("given back", func() bool { return k.Payer.BalanceSats() == payer })
		if s := k.heldAt(a, lpwire.GetInvoicePaymentAuth); s.Code != lpwire.CodeExpired {
			t.Errorf("opened %v: %+v", opens, s)
		}
	}
}
