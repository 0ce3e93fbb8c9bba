package devnet

import (
	"encoding/hex"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	btc "github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/single"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	lpwire "github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/verify"
	"github.com/swapper-go/swapper/internal/trial"
)

// opened is a swap to Bitcoin whose escrow is open.
func (k *kit) opened() (chains.Escrow, func() lpwire.Status) {
	k.Helper()
	q := trial.Must(k.client.ToBTC(k.ctx, k.url, k.toBTC(), lpwire.Early{}))(k.T)
	e := k.escrow(q.Escrow)
	k.do(chains.Step{Kind: chains.StepInit, Escrow: e, Auth: q.Auth})
	return e, func() lpwire.Status {
		return k.status(lpwire.ToBTC, lpwire.GetRefundAuthorization, k.contract.ClaimHashText(e.ClaimHash), e.Sequence)
	}
}

func TestLPsThatDoNotPay(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	for _, test := range []struct {
		name  string
		fault lp.Fault
		code  int
	}{
		{"never pays", lp.Fault{NeverPay: true}, lpwire.CodeProcessing},
		{"refuses refunds", lp.Fault{NotPayable: true, NoRefund: true}, lpwire.CodeProcessing},
		{"names a false payment", lp.Fault{NeverPay: true, FalsePayment: true}, lpwire.CodePaid},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := *k
			k.T = t
			k.lp().Misbehave(test.fault)
			before := k.Taproot.Balance()
			e, status := k.opened()
			k.eventually("answer", func() bool { return status().Code == test.code })
			time.Sleep(50 * time.Millisecond)
			if s := status(); s.Code != test.code || k.Taproot.Balance() != before || k.fact(e).State != chains.EscrowOpen {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestLPThatPaysAndDoesNotClaim(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	k.lp().Misbehave(lp.Fault{NeverClaim: true})
	e, status := k.opened()
	k.eventually("paid", func() bool { return status().Code == lpwire.CodePaid })
	k.ok(k.Mine(3))
	time.Sleep(100 * time.Millisecond)
	if k.fact(e).State != chains.EscrowOpen {
		t.Error("claimed")
	}
	k.lp().Misbehave(lp.Fault{})
	k.eventually("claimed", func() bool { return k.fact(e).State == chains.EscrowClaimed })
}

// A payment that a reorganisation takes out of its block is sent again.
func TestPayoutSurvivesReorganisation(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	e, status := k.opened()
	k.eventually("paid", func() bool { return status().Code == lpwire.CodePaid })
	k.ok(k.Mine(1))
	k.ok(k.Bitcoin.Reorg(1))
	k.Bitcoin.Evict(trial.Must(btc.ParseHash(status().TxID))(t))
	k.eventually("sent again", func() bool { return k.Bitcoin.InMempool(trial.Must(btc.ParseHash(status().TxID))(t)) })
	k.ok(k.Mine(2))
	k.eventually("claimed", func() bool { return k.fact(e).State == chains.EscrowClaimed })
}

// held is a swap from Lightning whose payment the LP holds.
func (k *kit) held(name string) (chains.Preimage, [32]byte, func() lpwire.Status) {
	k.Helper()
	r, secret := k.auto(name, k.user)
	q := trial.Must(k.client.FromBTCLNAuto(k.ctx, k.url, r, lpwire.Early{}))(k.T)
	k.ok(k.Payer.Start(q.Invoice, lightning.Limits{}))
	hash := [32]byte(trial.Must(hex.DecodeString(r.PaymentHash))(k.T))
	return secret, hash, func() lpwire.Status {
		return k.status(lpwire.FromBTCLNAuto, lpwire.GetInvoiceStatus, r.PaymentHash, nil)
	}
}

func TestLPsThatHoldPayments(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	k.lp().Misbehave(lp.Fault{NeverOpen: true})
	_, hash, status := k.held("never opens")
	time.Sleep(50 * time.Millisecond)
	if p, _ := k.Payer.Payment(hash); status().Code != lpwire.CodeUnpaid || p.State != lightning.Pending {
		t.Errorf("%+v %+v", status(), p)
	}

	k.lp().Misbehave(lp.Fault{NeverSettle: true, FalseEscrow: lp.EscrowLie{Terms: func(s *chains.Spec) { s.Amount = big.NewInt(1) }}})
	secret, hash, status := k.held("false escrow")
	k.eventually("answer", func() bool { return status().Code == lpwire.CodeDone })
	if e := k.escrow(status().Escrow); k.fact(e).State != chains.EscrowNone {
		t.Error("the escrow that is delivered was opened")
	}
	k.lp().Misbehave(lp.Fault{NeverSettle: true})
	e := k.escrow(status().Escrow)
	k.eventually("opened", func() bool { return k.fact(e).State == chains.EscrowOpen })
	k.do(chains.Step{Kind: chains.StepClaimSecret, Escrow: e, Preimage: secret})
	time.Sleep(50 * time.Millisecond)
	if p, _ := k.Payer.Payment(hash); p.State != lightning.Pending {
		t.Errorf("%+v", p)
	}
}

// Who does not claim in time gets the payment back by its time-out, the LP its
// escrow.
func TestUnclaimedEscrowIsRefunded(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	_, hash, status := k.held("")
	k.eventually("opened", func() bool { return status().Code == lpwire.CodeDone })
	e := k.escrow(status().Escrow)
	k.eventually("mined", func() bool { return k.fact(e).State == chains.EscrowOpen })
	k.ok(k.Advance(4 * time.Hour)) // beyond the escrows of both versions
	k.eventually("refunded", func() bool { return k.fact(e).State == chains.EscrowRefunded })
	if p, _ := k.Payer.Payment(hash); p.State != lightning.Pending {
		t.Errorf("%+v", p)
	}
	k.ok(k.Mine(80)) // beyond the final CLTV of both versions
	if p, _ := k.Payer.Payment(hash); p.State != lightning.Failed {
		t.Errorf("%+v", p)
	}
}

func TestPostedWithdrawalsGoAstray(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	for _, test := range []struct {
		name           string
		fault          lp.Fault
		answered, sent bool
	}{
		{"withheld", lp.Fault{Withhold: true}, true, false},
		{"answer lost", lp.Fault{LosePost: true}, false, true},
		{"refused after it was sent", lp.Fault{RefusePost: true}, false, true},
		{"double spent", lp.Fault{DoubleSpend: true}, true, false}, // the last: the vault is lost
	} {
		t.Run(test.name, func(t *testing.T) {
			k := *k
			k.T = t
			defer func() { k.ok(k.Mine(1)) }()
			k.lp().Misbehave(test.fault)
			to := k.recipient().Address.Hex()
			q := trial.Must(k.client.SPV(k.ctx, k.url, k.spv(to)))(t)
			_, err := k.client.PostSPV(k.ctx, k.url, k.chain.Info().ID, q.QuoteID, k.withdrawal(q, to))
			var refused *lpwire.RequestError
			if (err == nil) != test.answered || errors.As(err, &refused) != test.fault.RefusePost {
				t.Errorf("answer %v", err)
			}
			utxo := trial.Must(btc.ParseOutPoint(q.BTCUTXO))(t)
			_, unspent := k.Bitcoin.Unspent(utxo)
			if unspent == (test.sent || test.fault.DoubleSpend) {
				t.Errorf("unspent %v", unspent)
			}
		})
	}
}

// LiesAfterwards are those that an LP tells once a swap is under way; told is
// handed what each was refused with.
func LiesAfterwards(t *testing.T, told func(*testing.T, lpwire.Check, error)) {
	k := newKit(t, Options{})
	t.Run("payment on Bitcoin", func(t *testing.T) {
		k := *k
		k.T = t
		k.lp().Misbehave(lp.Fault{NeverPay: true, FalsePayment: true})
		e, status := k.opened()
		k.eventually("answer", func() bool { return status().Code == lpwire.CodePaid })
		// The transaction that is named does not exist; one that does pays somebody else.
		out := trial.Must(k.Bitcoin.Faucet(k.Wallet.Address, 100_000))(t)
		tx := trial.Must(single.Tx(k.ctx, k.backend, out.Hash))(t)
		_, err := verify.PayoutTx(k.contract, e, tx.Msg, 77, 2)
		told(t, lpwire.CheckPayout, err)
	})
	t.Run("payment on Lightning", func(t *testing.T) {
		k := *k
		k.T = t
		k.lp().Misbehave(lp.Fault{NeverPay: true, FalsePayment: true})
		text, hash := k.invoice("false payment", 50_000)
		r := k.toBTCLN(text)
		q := trial.Must(k.client.ToBTCLN(k.ctx, k.url, r, lpwire.Early{}))(t)
		e := k.escrow(q.Escrow)
		k.do(chains.Step{Kind: chains.StepInit, Escrow: e, Auth: q.Auth})
		var s lpwire.Status
		k.eventually("answer", func() bool {
			s = k.status(lpwire.ToBTCLN, lpwire.GetRefundAuthorization, hex.EncodeToString(hash[:]), e.Sequence)
			return s.Code == lpwire.CodePaid
		})
		told(t, lpwire.CheckSecret, verify.Secret(k.contract, e, s.Secret))
	})
	t.Run("refund", func(t *testing.T) {
		k := *k
		k.T = t
		k.lp().Misbehave(lp.Fault{NotPayable: true})
		e, status := k.opened()
		k.eventually("refund", func() bool { return status().Code == lpwire.CodeRefund })
		k.lp().Misbehave(lp.Fault{NotPayable: true, StrangeAuth: true})
		err := k.contract.VerifyRefund(k.ctx, e, *status().Auth)
		if _, forged := errors.AsType[*chains.AuthError](err); !forged {
			t.Errorf("a refund signed by a stranger: %v", err)
		}
	})
	t.Run("escrow for a held payment", func(t *testing.T) {
		k := *k
		k.T = t
		k.lp().Misbehave(lp.Fault{FalseEscrow: lp.EscrowLie{Terms: func(s *chains.Spec) { s.Amount = big.NewInt(1) }}})
		secret, hash := lightning.Preimage(t.Name())
		r, _ := k.auto(t.Name(), k.user)
		r.PaymentHash = hex.EncodeToString(hash[:])
		q := trial.Must(k.client.FromBTCLNAuto(k.ctx, k.url, r, lpwire.Early{}))(t)
		k.ok(k.Payer.Start(q.Invoice, lightning.Limits{}))
		status := func() lpwire.Status {
			return k.status(lpwire.FromBTCLNAuto, lpwire.GetInvoiceStatus, r.PaymentHash, nil)
		}
		k.eventually("answer", func() bool { return status().Code == lpwire.CodeDone })
		agreed := trial.Must(k.contract.Expect(chains.Spec{Kind: chains.HTLC, Offerer: k.lp().Account().Address.Hex(), Claimer: k.user, Token: r.Token, Amount: q.Total,
			Condition: chains.Condition{Kind: chains.HTLC, PaymentHash: hash}, PayOut: true, SecurityDeposit: big.NewInt(11e13), ClaimerBounty: big.NewInt(1e13), DepositToken: r.GasToken}))(t)
		_, err := verify.Delivered(k.contract, agreed, status().Escrow, false)
		told(t, lpwire.CheckEscrow, err)
		k.lp().Misbehave(lp.Fault{NeverSettle: true})
		e, err := verify.Delivered(k.contract, agreed, status().Escrow, false)
		k.ok(err)
		k.eventually("opened", func() bool { return k.fact(e).State == chains.EscrowOpen })
		told(t, lpwire.CheckTooLate, lpwire.Openable(e, chains.EscrowFact{}, nil, time.Unix(e.Expiry-599, 0)))
		k.do(chains.Step{Kind: chains.StepClaimSecret, Escrow: e, Preimage: chains.Preimage(secret)})
		told(t, lpwire.CheckCommitted, lpwire.Openable(e, k.fact(e), nil, k.Clock.Now()))
	})
}
