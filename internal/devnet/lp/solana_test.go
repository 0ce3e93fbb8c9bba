package lp_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math/big"
	"sync/atomic"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	btc "github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	devsolana "github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	lpwire "github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/lphttp"
	solwire "github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// solana is an LP on Solana alone, and a user.
type solana struct {
	*kit
	net      *devsolana.Net
	programs solwire.Programs
	bank     *bank.Bank
	user, me *devsolana.Party // the user, the LP
	mint     solwire.Key      // WBTC
	ahead    atomic.Int64
}

const rate = "8000;5000"

func newSolana(t *testing.T, version string, next bool) *solana {
	t.Helper()
	s := &solana{kit: &kit{T: t, ctx: t.Context()}, mint: devsolana.WBTC}
	now := func() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }
	s.net = trial.Must(devsolana.Start(devsolana.Options{Now: now, ConfirmedLag: 1, FinalizedLag: 2, SlotTime: 10 * time.Millisecond}))(t)
	t.Cleanup(func() { s.net.Close() })
	n := s.net.Bitcoin()
	s.programs = trial.Must(s.net.Network().Version(version))(t)
	s.bank = s.net.Bank()
	s.me = &devsolana.Party{Net: s.net, Account: s.net.LP, Programs: s.programs}
	s.user = &devsolana.Party{Net: s.net, Account: s.net.User, Programs: s.programs}
	s.ln = lightning.New(lightning.Options{Now: now, Height: func() uint32 { h, _ := n.Tip(); return h }})
	s.payer = trial.Must(s.ln.NewNode("payer", 10_000_000))(t)
	s.lp = trial.Must(lp.Start(t.Context(), lp.Options{Solana: s.me, Lightning: trial.Must(s.ln.NewNode("lp", 100_000_000))(t), Now: now, Next: next}))(t)
	t.Cleanup(func() {
		if err := s.lp.Close(); err != nil {
			t.Error(err)
		}
	})
	s.wallet = trial.Must(n.NewWallet(btc.P2WPKH))(t)
	if _, err := n.Faucet(s.wallet.Address, 10_000_000); err != nil {
		t.Fatal(err)
	}
	s.mine(1)
	s.client = lphttp.NewClient(lphttp.Options{AllowLocal: true, Now: now})
	return s
}

func (s *solana) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *solana) now() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }

// advance moves all clocks.
func (s *solana) advance(d time.Duration) {
	s.Helper()
	s.ahead.Add(int64(d))
	s.ln.Tick()
	s.net.Elapse(d)
}

func (s *solana) mine(blocks int) {
	s.Helper()
	if _, err := s.net.Bitcoin().Mine(blocks); err != nil {
		s.Fatal(err)
	}
}

// both runs a test on both versions of the program, with LPs of both versions.
func both(t *testing.T, run func(t *testing.T, s *solana)) {
	for version, next := range map[string]bool{solwire.V1: true, solwire.V2: false} {
		t.Run(version, func(t *testing.T) { run(t, newSolana(t, version, next)) })
	}
}

// data reads an LP's escrow, and open opens it as the user, who pays for the one
// transaction that was authorised.
func (s *solana) data(raw []byte) *solwire.SwapData {
	s.Helper()
	return trial.Must(solwire.ParseSwapData(raw))(s.T)
}

func (s *solana) open(d *solwire.SwapData, auth chains.Auth) {
	s.Helper()
	a := trial.Must(solwire.ParseInitAuth(auth))(s.T)
	fee := trial.Must(solwire.ParseFeeRate(rate))(s.T)
	var block *bank.Block
	s.bank.Read(bank.Processed, 0, func(v *bank.View) { block = v.Block(a.Slot) })
	s.ok(s.programs.VerifyInit(d, s.user.Address(), a, fee, block.Hash))
	txs := trial.Must(s.programs.OpenTxs(d, s.user.Address(), a, fee, solwire.SignedBlock{Hash: block.Hash, Height: block.Height}, nil))(s.T)
	trial.Must(s.user.Send(s.ctx, txs...))(s.T)
}

func (s *solana) state(d *solwire.SwapData) chains.EscrowState {
	return devsolana.Facts(s.bank, s.programs, []*solwire.SwapData{d})[0].State
}

func (s *solana) becomes(d *solwire.SwapData, want chains.EscrowState) {
	s.Helper()
	s.eventually(want.String(), func() bool { return s.state(d) == want })
}

// tokens are the user's WBTC.
func (s *solana) tokens() int64 { return int64(s.net.Tokens(s.mint, s.user.Address())) }

func (s *solana) funds() int64 {
	s.Helper()
	return int64(trial.Must(s.me.Funds(s.mint))(s.T))
}

func (s *solana) status(service lpwire.Service, endpoint string, id []byte, sequence uint64) lpwire.Status {
	s.Helper()
	return trial.Must(s.client.Status(s.ctx, lpwire.StatusQuery{URL: s.lp.URL() + service.Path(), Endpoint: endpoint, ID: hex.EncodeToString(id),
		Sequence: new(big.Int).SetUint64(sequence)}))(s.T)
}

func (s *solana) toBTC() lpwire.ToBTCQuote {
	s.Helper()
	return trial.Must(s.client.ToBTC(s.ctx, s.lp.URL(), lpwire.ToBTCRequest{Chain: "SOLANA", Address: s.wallet.Address.String(), Amount: big.NewInt(100_000),
		ConfirmationTarget: 3, Confirmations: 2, Nonce: trial.Must(rawtx.NewNonce(s.now(), uint32(time.Now().UnixNano())))(s.T), Token: s.mint.String(),
		Offerer: s.user.Address().String(), FeeRate: async.Known(rate)}, lpwire.Early{}))(s.T)
}

func TestInfoOnSolana(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *solana) {
		info := trial.Must(s.client.Info(s.ctx, s.lp.URL()))(t)
		c := info.Chains[0]
		if c.Chain != "SOLANA" || c.Version != s.programs.Version || c.Address != s.me.Address().String() {
			t.Errorf("%+v", c)
		}
		s.ok(solwire.VerifyData(s.me.Address(), info.Envelope, c.Signature))
		if _, auto := info.Services[lpwire.FromBTCLNAuto]; auto != (s.programs.Version == solwire.V2) {
			t.Errorf("FROM_BTCLN_AUTO is announced: %v", auto)
		}
		for _, service := range []lpwire.Service{lpwire.ToBTC, lpwire.ToBTCLN, lpwire.FromBTC, lpwire.FromBTCLN} {
			if _, ok := info.Services[service]; !ok {
				t.Errorf("%s is not announced", service)
			}
		}
		s.lp.Misbehave(lp.Fault{StrangeInfo: true})
		info = trial.Must(s.client.Info(s.ctx, s.lp.URL()))(t)
		if solwire.VerifyData(s.me.Address(), info.Envelope, info.Chains[0].Signature) == nil {
			t.Error("a stranger's signature is good")
		}
	})
}

func TestToBTCFromSolana(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *solana) {
		q := s.toBTC()
		d := s.data(q.Escrow)
		got, paid, funds := s.wallet.Balance(), s.tokens(), s.funds()
		s.open(d, q.Auth)
		s.eventually("bitcoin sent", func() bool { return s.wallet.Balance() == got+100_000 })
		if status := s.status(lpwire.ToBTC, lpwire.GetRefundAuthorization, d.ClaimHash().Bytes(), d.Sequence); status.Code != lpwire.CodePaid {
			t.Errorf("%+v", status)
		}
		s.mine(2)
		s.becomes(d, chains.EscrowClaimed)
		if total := q.Total.Int64(); paid-s.tokens() != total || s.funds()-funds != total {
			t.Errorf("the user paid %d, the LP got %d, agreed %d", paid-s.tokens(), s.funds()-funds, total)
		}

		// The LP lets go what it will never pay for.
		s.lp.Misbehave(lp.Fault{NotPayable: true})
		q = s.toBTC()
		d = s.data(q.Escrow)
		s.open(d, q.Auth)
		var auth *chains.Auth
		s.eventually("refund authorised", func() bool {
			status := s.status(lpwire.ToBTC, lpwire.GetRefundAuthorization, d.ClaimHash().Bytes(), d.Sequence)
			auth = status.Auth
			return status.Code == lpwire.CodeRefund
		})
		refund := trial.Must(d.VerifyRefund(*auth, s.now()))(t)
		tx := trial.Must(s.programs.RefundTx(d, s.user.Address(), &refund, nil, devsolana.FeeRate, solwire.ToATA{}))(t)
		trial.Must(s.user.Send(s.ctx, tx))(t)
		s.becomes(d, chains.EscrowRefunded)
	})
}

func TestToBTCLNFromSolana(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *solana) {
		recipient := trial.Must(s.ln.NewNode("recipient", 0))(t)
		preimage, _ := lightning.Preimage(t.Name())
		pr := trial.Must(recipient.NewInvoice(lightning.InvoiceOptions{Preimage: preimage, AmountMsat: 50_000_000}))(t)
		q := trial.Must(s.client.ToBTCLN(s.ctx, s.lp.URL(), lpwire.ToBTCLNRequest{Chain: "SOLANA", Invoice: pr, MaxFee: big.NewInt(200),
			Expiry: s.now().Unix() + 432_000, Token: s.mint.String(), Offerer: s.user.Address().String(), FeeRate: async.Known(rate)}, lpwire.Early{}))(t)
		d, funds := s.data(q.Escrow), s.funds()
		s.open(d, q.Auth)
		s.becomes(d, chains.EscrowClaimed)
		if recipient.BalanceSats() != 50_000 || s.funds()-funds != q.Total.Int64() {
			t.Errorf("the recipient has %d sats, the LP got %d", recipient.BalanceSats(), s.funds()-funds)
		}
	})
}

func (s *solana) fromBTC(sequence uint64) lpwire.FromBTCQuote {
	s.Helper()
	bounty := lpwire.Bounty{FeePerBlock: big.NewInt(50_000), SafetyFactor: big.NewInt(1), StartTimestamp: s.now().Unix(), AddBlock: big.NewInt(1), AddFee: big.NewInt(20_000)}
	return trial.Must(s.client.FromBTC(s.ctx, s.lp.URL(), lpwire.FromBTCRequest{Chain: "SOLANA", DepositToken: solwire.WSOL.String(),
		Claimer: s.user.Address().String(), Amount: big.NewInt(200_000), Token: s.mint.String(), Sequence: sequence, Bounty: async.Known(&bounty), FeeRate: async.Known(rate)}, lpwire.Early{}))(s.T)
}

func TestFromBTCToSolana(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *solana) {
		q := s.fromBTC(7)
		d := s.data(q.Escrow)
		if d.TxoHash == nil || d.ClaimerBounty == 0 || d.SecurityDeposit == 0 {
			t.Errorf("%+v", d)
		}
		before := s.tokens()
		s.open(d, q.Auth)
		to := trial.Must(btc.ParseAddress(q.BTCAddress, btc.Regtest))(t)
		tx := trial.Must(s.wallet.Pay(2, wire.NewTxOut(q.Amount.Int64(), to.Script())))(t)
		s.mine(2)
		trial.Must(s.user.ClaimBitcoin(s.ctx, d, tx.TxHash(), 0))(t)
		if got := s.tokens() - before; got != q.Total.Int64() {
			t.Errorf("the user got %d, agreed %s", got, q.Total)
		}

		q = s.fromBTC(8)
		d, funds := s.data(q.Escrow), s.funds()
		s.open(d, q.Auth)
		s.advance(6*time.Hour + time.Minute)
		s.becomes(d, chains.EscrowRefunded)
		if s.funds() != funds {
			t.Errorf("the LP has %d, had %d", s.funds(), funds)
		}
	})
}

func (s *solana) fromBTCLN(name string) (lpwire.FromBTCLNQuote, [32]byte, [32]byte) {
	s.Helper()
	preimage, hash := lightning.Preimage(s.Name() + name)
	q := trial.Must(s.client.FromBTCLN(s.ctx, s.lp.URL(), lpwire.FromBTCLNRequest{Chain: "SOLANA", DepositToken: solwire.WSOL.String(),
		PaymentHash: hex.EncodeToString(hash[:]), Amount: big.NewInt(50_000), Claimer: s.user.Address().String(), Token: s.mint.String(), FeeRate: async.Known(rate)}, lpwire.Early{}))(s.T)
	return q, preimage, hash
}

func TestFromBTCLNToSolana(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, s *solana) {
		promised := func(hash [32]byte) (*solwire.SwapData, chains.Auth) {
			var status lpwire.Status
			s.eventually("authorised", func() bool {
				status = s.status(lpwire.FromBTCLN, lpwire.GetInvoicePaymentAuth, hash[:], 0)
				return status.Code == lpwire.CodeDone
			})
			return s.data(status.Escrow), *status.Auth
		}
		q, preimage, hash := s.fromBTCLN("claimed")
		before := s.tokens()
		s.ok(s.payer.Start(q.Invoice, lightning.Limits{}))
		d, auth := promised(hash)
		s.open(d, auth)
		trial.Must(s.user.ClaimSecret(s.ctx, d, preimage))(t)
		s.eventually("settled", func() bool {
			return s.status(lpwire.FromBTCLN, lpwire.GetInvoicePaymentAuth, hash[:], 0).Code == lpwire.CodeSettled
		})
		if got := s.tokens() - before; got != q.Total.Int64() {
			t.Errorf("the user got %d, agreed %s", got, q.Total)
		}

		// Opened and not claimed: everything goes back.
		q, _, hash = s.fromBTCLN("left")
		payer := s.payer.BalanceSats()
		s.ok(s.payer.Start(q.Invoice, lightning.Limits{}))
		d, auth = promised(hash)
		s.open(d, auth)
		s.advance(4 * time.Hour)
		s.becomes(d, chains.EscrowRefunded)
		s.eventually("given back", func() bool { return s.payer.BalanceSats() == payer })
	})
}

func TestAutoOnSolana(t *testing.T) {
	t.Parallel()
	for version, offered := range map[string]bool{solwire.V1: false, solwire.V2: true} {
		s := newSolana(t, version, false)
		preimage, hash := lightning.Preimage(t.Name())
		q, err := s.client.FromBTCLNAuto(s.ctx, s.lp.URL(), lpwire.FromBTCLNAutoRequest{Chain: "SOLANA", PaymentHash: hex.EncodeToString(hash[:]), Amount: big.NewInt(50_000),
			Claimer: s.user.Address().String(), Token: s.mint.String(), GasToken: solwire.WSOL.String(), GasAmount: big.NewInt(1e6)}, lpwire.Early{})
		if !offered {
			if refused, ok := errors.AsType[*lpwire.RequestError](err); !ok || refused.Code != 20299 {
				t.Errorf("%s: %v", version, err)
			}
			continue
		}
		s.ok(err)
		s.ok(s.payer.Start(q.Invoice, lightning.Limits{}))
		var status lpwire.Status
		s.eventually("opened", func() bool {
			status = s.status(lpwire.FromBTCLNAuto, lpwire.GetInvoiceStatus, hash[:], 0)
			return status.Code == lpwire.CodeDone
		})
		d := s.data(status.Escrow)
		s.becomes(d, chains.EscrowOpen)
		trial.Must(s.user.ClaimSecret(s.ctx, d, preimage))(t)
		s.eventually("settled", func() bool {
			return s.status(lpwire.FromBTCLNAuto, lpwire.GetInvoiceStatus, hash[:], 0).Code == lpwire.CodeSettled
		})
	}
}

func TestGasOnSolana(t *testing.T) {
	t.Parallel()
	s := newSolana(t, solwire.V1, false)
	to := solwire.DataKey([]byte("somebody"), sha256.Sum256(nil)).PublicKey()
	q := trial.Must(s.client.TrustedLN(s.ctx, s.lp.URL(), lpwire.TrustedRequest{Chain: "SOLANA", Address: to.String(), Amount: big.NewInt(2e7), Token: solwire.WSOL.String()}))(t)
	s.ok(s.payer.Start(q.Invoice, lightning.Limits{}))
	s.eventually("paid out", func() bool {
		return s.net.Lamports(to) == 2e7
	})
}
