//go:build unix

package e2e

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"math/big"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	solwire "github.com/swapper-go/swapper/internal/solana/wire"
)

// flow is a kind of swap, from the request to its end.
type flow struct {
	name    string
	on      string                                   // the chain, see the function on
	prepare func(ctx context.Context, l *life) error // makes the request
	// phases say when each part is over. Between two of them the process is
	// stopped, pass goes by, and another process begins.
	phases    []phase
	pass      time.Duration
	end       string   // the name of the final state if it is not a success
	fault     lp.Fault // of the LP
	noTower   bool     // nobody else settles
	withdraw  bool     // the invoice is paid by an LNURL-withdraw service
	blocks    bool     // Bitcoin's blocks are waited for
	vault     bool     // an LP serves one user at a time
	raced     bool     // somebody else may do at the same time what the user is asked to do
	batch     int      // how many lives there may be at a time; 0: any number
	gas       bool     // trusted gas swap
	forgotten bool     // the user asks for the swap, and never comes back
	check     func(ctx context.Context, l *life, end *swapper.GetSwapStatusOutput) error
}

type phase = func(*swapper.GetSwapStatusOutput) bool

func isOver(s *swapper.GetSwapStatusOutput) bool { return s.IsFinished }

func inState(name string) phase {
	return func(s *swapper.GetSwapStatusOutput) bool { return s.State.Name == name }
}

func awaitingOthers(s *swapper.GetSwapStatusOutput) bool {
	return nameOf(s.CurrentAction) == "Automatic settlement"
}

var (
	toTheEnd = []phase{isOver}
	whenOpen = []phase{inState("COMMITED"), isOver}
	never    = make([]phase, 3) // see life.forget
)

// create asks for the life's swap, with the same key each time. An own payment
// hash may be used up by an answer that was lost: then another one is taken.
func (f flow) create(ctx context.Context, l *life, p *process) (*swapper.CreateSwapOutput, error) {
	if f.gas {
		var s swapper.CreateSwapOutput
		return &s, p.beside(ctx, gasPath, swapper.CreateGasSwapInput{SrcToken: l.in.SrcToken, ChainID: "CITREA", Amount: l.in.Amount, DstAddress: l.in.DstAddress,
			LP: l.urls[0], IdempotencyKey: l.in.IdempotencyKey}, &s)
	}
	s, err := p.CreateSwap(ctx, l.in)
	if err != nil && l.in.PaymentHash != "" && l.count("createInvoice") > 0 && !p.gone() {
		l.ownHash()
		return p.CreateSwap(ctx, l.in)
	}
	return s, err
}

// ownHash makes a preimage that only the user knows, and the request for it.
func (l *life) ownHash() {
	preimage, hash := lightning.Preimage(rand.Text())
	l.in.PaymentHash, l.in.IdempotencyKey = hex.EncodeToString(hash[:]), rand.Text()
	l.Secret = func(string) swapper.Secret {
		if !l.revealed {
			return ""
		}
		return swapper.Secret(hex.EncodeToString(preimage[:]))
	}
}

func (l *life) request(source, destination string, amount int64, typ swapper.AmountType, to string) {
	l.in = swapper.CreateSwapInput{SrcToken: source, DstToken: destination, Amount: big.NewInt(amount), AmountType: typ, DstAddress: to, IdempotencyKey: rand.Text()}
	if source == l.wbtc() {
		l.in.SrcAddress = l.address()
	}
}

func toBitcoin(_ context.Context, l *life) error {
	l.request(l.wbtc(), "BITCOIN-BTC", 50_000, swapper.ExactOut, l.payee.Address.String())
	return nil
}

func toInvoice(_ context.Context, l *life) error {
	preimage, _ := lightning.Preimage(rand.Text())
	invoice, err := l.shop.NewInvoice(lightning.InvoiceOptions{Preimage: preimage, AmountMsat: 50_000_000})
	l.request(l.wbtc(), "LIGHTNING-BTC", 50_000, swapper.ExactOut, invoice)
	return err
}

func toLink(_ context.Context, l *life) error {
	service, err := l.serve(l.shop)
	if err != nil {
		return err
	}
	links, err := service.AddPay(lightning.Pay{Name: "shop", MinMsat: 1000, MaxMsat: 1_000_000_000})
	l.request(l.wbtc(), "LIGHTNING-BTC", 50_000, swapper.ExactIn, links.LNURL)
	return err
}

func fromLightning(_ context.Context, l *life) error {
	l.request("LIGHTNING-BTC", l.wbtc(), 100_000, swapper.ExactIn, l.address())
	return nil
}

func fromLightningOwnHash(ctx context.Context, l *life) error {
	err := fromLightning(ctx, l)
	l.ownHash()
	return err
}

// fromVoucher has the link of an LNURL-withdraw service in the request.
func fromVoucher(ctx context.Context, l *life) error {
	if err := fromVoucherLater(ctx, l); err != nil {
		return err
	}
	l.in.SrcAddress, l.link = l.link, ""
	return nil
}

// fromVoucherLater gives the link when the invoice is to be paid.
func fromVoucherLater(ctx context.Context, l *life) error {
	service, err := l.serve(l.Lightning)
	if err != nil {
		return err
	}
	links, err := service.AddWithdraw(lightning.Withdraw{Name: "voucher", MinMsat: 1000, MaxMsat: 1_000_000_000})
	if err != nil {
		return err
	}
	l.link = links.LNURL
	return fromLightning(ctx, l)
}

func fromBitcoin(_ context.Context, l *life) error {
	l.request("BITCOIN-BTC", l.wbtc(), 200_000, swapper.ExactIn, l.address())
	return nil
}

func gasFor(source string) func(context.Context, *life) error {
	return func(_ context.Context, l *life) error {
		l.request(source, "CITREA-CBTC", gasWei, swapper.ExactOut, l.EVM.Address.Hex())
		return nil
	}
}

const gasWei int64 = 1e14 // wei

// flows are all ways to an end.
var flows = []flow{
	{name: "TO_BTC", prepare: toBitcoin, phases: toTheEnd, blocks: true, check: paidOut},
	{name: "TO_BTC refunded cooperatively, the LP slow", prepare: toBitcoin, phases: toTheEnd, end: "REFUNDED", fault: lp.Fault{NotPayable: true, On: "/getRefundAuthorization", Stall: 4200 * time.Millisecond}, check: paidBack},
	{name: "TO_BTC refunded by timelock", prepare: toBitcoin, phases: whenOpen, pass: 8 * 24 * time.Hour, end: "REFUNDED", fault: lp.Fault{NeverPay: true}, check: paidBack},
	{name: "TO_BTCLN to an invoice", prepare: toInvoice, phases: toTheEnd, check: paidOut},
	{name: "TO_BTCLN to a link", prepare: toLink, phases: toTheEnd, check: paidOut},
	{name: "TO_BTCLN refunded cooperatively", prepare: toInvoice, phases: toTheEnd, end: "REFUNDED", fault: lp.Fault{NotPayable: true}, check: paidBack},
	{name: "TO_BTCLN refunded by timelock", prepare: toInvoice, phases: whenOpen, pass: 8 * 24 * time.Hour, end: "REFUNDED", fault: lp.Fault{NeverPay: true}, check: paidBack},
	{name: "FROM_BTCLN_AUTO", prepare: fromLightning, phases: toTheEnd, check: paidIn},
	{name: "FROM_BTCLN_AUTO with an own hash", prepare: fromLightningOwnHash, phases: toTheEnd, check: paidIn},
	{name: "FROM_BTCLN_AUTO with a voucher", prepare: fromVoucher, phases: toTheEnd, withdraw: true, check: paidIn},
	{name: "FROM_BTCLN_AUTO with a voucher given later", prepare: fromVoucherLater, phases: toTheEnd, withdraw: true, check: paidIn},
	{name: "FROM_BTCLN_AUTO settled manually", prepare: fromLightning, phases: []phase{awaitingOthers, isOver}, pass: 2 * time.Minute, noTower: true, check: paidIn},
	{name: "SPV_VAULT_FROM_BTC", prepare: fromBitcoin, phases: toTheEnd, blocks: true, vault: true, check: paidIn},
	{name: "SPV_VAULT_FROM_BTC settled manually", prepare: fromBitcoin, phases: []phase{awaitingOthers, isOver}, pass: 2 * time.Minute, noTower: true,
		blocks: true, vault: true, batch: 2 * vaults, raced: true, check: paidInMore},
	{name: "TRUSTED_FROM_BTCLN", prepare: gasFor("LIGHTNING-BTC"), phases: toTheEnd, gas: true, check: paidGas},
	{name: "TRUSTED_FROM_BTC", prepare: gasFor("BITCOIN-BTC"), phases: toTheEnd, blocks: true, gas: true, check: paidGas},
	{name: "TO_BTC on Solana", on: solwire.V1, prepare: toBitcoin, phases: toTheEnd, blocks: true, check: paidOut},
	{name: "TO_BTC on Solana refunded by timelock", on: solwire.V2, prepare: toBitcoin, phases: whenOpen, pass: 8 * 24 * time.Hour, end: "REFUNDED", fault: lp.Fault{NeverPay: true}, check: paidBack},
	{name: "TO_BTCLN on Solana", on: solwire.V2, prepare: toInvoice, phases: toTheEnd, check: paidOut},
	{name: "TO_BTCLN on Solana refunded cooperatively", on: solwire.V1, prepare: toInvoice, phases: toTheEnd, end: "REFUNDED", fault: lp.Fault{NotPayable: true}, check: paidBack},
	{name: "FROM_BTC", on: solwire.V1, prepare: fromBitcoin, phases: toTheEnd, blocks: true, check: paidInBitcoin},
	{name: "FROM_BTC settled manually", on: solwire.V2, prepare: fromBitcoin, phases: []phase{awaitingOthers, isOver}, pass: 2 * time.Minute, noTower: true, blocks: true, batch: 4, raced: true, check: paidInBitcoin},
	{name: "FROM_BTCLN", on: solwire.V1, prepare: fromLightning, phases: toTheEnd, check: paidIn},
	{name: "FROM_BTCLN with an own hash", on: solwire.V1, prepare: fromLightningOwnHash, phases: toTheEnd, check: paidIn},
	{name: "FROM_BTCLN_AUTO on Solana", on: solwire.V2, prepare: fromLightning, phases: toTheEnd, check: paidIn},
	{name: "TO_BTC on Starknet", on: starknetName, prepare: toBitcoin, phases: toTheEnd, blocks: true, check: paidOut},
	{name: "TO_BTC on Starknet refunded by timelock", on: starknetName, prepare: toBitcoin, phases: whenOpen, pass: 8 * 24 * time.Hour, end: "REFUNDED", fault: lp.Fault{NeverPay: true}, check: paidBack},
	{name: "TO_BTCLN on Starknet", on: starknetName, prepare: toInvoice, phases: toTheEnd, check: paidOut},
	{name: "TO_BTCLN on Starknet refunded cooperatively", on: starknetName, prepare: toInvoice, phases: toTheEnd, end: "REFUNDED", fault: lp.Fault{NotPayable: true}, check: paidBack},
	{name: "FROM_BTCLN_AUTO on Starknet", on: starknetName, prepare: fromLightning, phases: toTheEnd, check: paidIn},
	{name: "FROM_BTCLN_AUTO on Starknet settled manually", on: starknetName, prepare: fromLightning, phases: []phase{awaitingOthers, isOver}, pass: 2 * time.Minute, noTower: true, check: paidIn},
	{name: "SPV_VAULT_FROM_BTC on Starknet", on: starknetName, prepare: fromBitcoin, phases: toTheEnd, blocks: true, vault: true, check: paidIn},
	{name: "SPV_VAULT_FROM_BTC on Starknet settled manually", on: starknetName, prepare: fromBitcoin, phases: []phase{awaitingOthers, isOver}, pass: 2 * time.Minute, noTower: true,
		blocks: true, vault: true, batch: 2 * vaults, raced: true, check: paidInMore},
	{name: "TO_BTC never begun", prepare: toBitcoin, phases: never, pass: 30 * 24 * time.Hour, forgotten: true},
	{name: "TO_BTCLN never begun", prepare: toInvoice, phases: never, pass: 30 * 24 * time.Hour, forgotten: true},
	{name: "FROM_BTCLN_AUTO never begun", prepare: fromLightning, phases: never, pass: 30 * 24 * time.Hour, forgotten: true},
	{name: "SPV_VAULT_FROM_BTC never begun", prepare: fromBitcoin, phases: never, pass: 30 * 24 * time.Hour, forgotten: true},
}

// paidOut checks a swap from the chain: what was agreed was paid, once, and came.
func paidOut(ctx context.Context, l *life, _ *swapper.GetSwapStatusOutput) error {
	return l.counted(ctx, -l.quote.InputAmount.RawAmount.Int64(), l.quote.OutputAmount.RawAmount.Int64(), 0)
}

// paidBack checks a swap from the chain that did not take place.
func paidBack(ctx context.Context, l *life, _ *swapper.GetSwapStatusOutput) error {
	return l.counted(ctx, 0, 0, 0)
}

// paidIn checks a swap to the chain.
func paidIn(ctx context.Context, l *life, end *swapper.GetSwapStatusOutput) error {
	var fee int64
	if l.flow.vault {
		if l.claims { // where the watchtower is slow
			return paidInMore(ctx, l, end)
		}
		var err error
		if fee, err = l.minerFee(end.Steps[0].InitTxID); err != nil {
			return err
		}
	}
	if calls := l.count("pay "); calls > 2*l.settling {
		return fmt.Errorf("the service was called at %d points for %d requests", calls, l.settling)
	}
	return l.counted(ctx, l.quote.OutputAmount.RawAmount.Int64(), 0, -l.quote.InputAmount.RawAmount.Int64()-fee)
}

// paidInBitcoin checks a swap that was paid for by the user's own transaction, which
// costs the user a fee.
func paidInBitcoin(ctx context.Context, l *life, _ *swapper.GetSwapStatusOutput) error {
	in := l.quote.InputAmount.RawAmount.Int64()
	fee := startSats - l.Bitcoin.Balance() - in
	if fee <= 0 || fee > 10_000 {
		return fmt.Errorf("the fee of the Bitcoin transaction would be %d", fee)
	}
	return l.counted(ctx, l.quote.OutputAmount.RawAmount.Int64(), 0, -in-fee)
}

// counted compares what the user has with what there was: base units of WBTC;
// sats that came out of swaps; sats that swaps were paid with.
func (l *life) counted(ctx context.Context, token, out, in int64) error {
	now, err := l.land.tokens(ctx, l.address())
	if err != nil {
		return err
	}
	if got := now.Int64() - startTokens; got != token {
		return fmt.Errorf("the user's tokens changed by %d instead of %d", got, token)
	}
	if got := l.payee.Balance() + l.shop.BalanceSats(); got != out {
		return fmt.Errorf("%d sats were paid out instead of %d", got, out)
	}
	if got := l.Lightning.BalanceSats() + l.Bitcoin.Balance() - 2*startSats; got != in {
		return fmt.Errorf("the user's bitcoin changed by %d instead of %d", got, in)
	}
	return nil
}

// minerFee is what the user's Bitcoin transaction paid to the miners, which must
// be the only one that spends the user's coin.
func (l *life) minerFee(id string) (int64, error) {
	hash, err := bitcoin.ParseHash(id)
	if err != nil {
		return 0, err
	}
	tx, _, err := l.net.Bitcoin.Proof(hash)
	if err != nil {
		return 0, err
	}
	if len(tx.TxIn) != 2 || tx.TxIn[1].PreviousOutPoint != wire.OutPoint(l.coin) {
		return 0, fmt.Errorf("the transaction %s spends %d outputs", id, len(tx.TxIn))
	}
	fee := startSats
	for _, out := range tx.TxOut[1:] { // the first one is the vault's, which goes in and out
		fee -= out.Value
	}
	return fee, nil
}

// paidInMore checks a withdrawal from a vault that the user claimed: whoever does
// gets what was set aside for a watchtower, of others' withdrawals, too.
func paidInMore(ctx context.Context, l *life, end *swapper.GetSwapStatusOutput) error {
	fee, err := l.minerFee(end.Steps[0].InitTxID)
	if err != nil {
		return err
	}
	now, err := l.land.tokens(ctx, l.address())
	if err != nil {
		return err
	}
	got, least := now.Int64()-startTokens, l.quote.OutputAmount.RawAmount.Int64()
	if got < least {
		return fmt.Errorf("the user's tokens changed by %d instead of %d", got, least)
	}
	return l.counted(ctx, got, 0, -l.quote.InputAmount.RawAmount.Int64()-fee)
}

// paidGas checks a trusted gas swap. The user, who sends nothing on the chain, gets
// exactly that. On Bitcoin the miners get something, too.
func paidGas(ctx context.Context, l *life, _ *swapper.GetSwapStatusOutput) error {
	has, err := l.balanceAt(ctx)
	if err != nil {
		return err
	}
	if got := has.Sub(has, startWei).Int64(); got != gasWei {
		return fmt.Errorf("the user got %d wei instead of %d", got, gasWei)
	}
	var fee int64
	if l.in.SrcToken == "BITCOIN-BTC" {
		fee = startSats - l.Bitcoin.Balance() - l.quote.InputAmount.RawAmount.Int64()
		if fee <= 0 || fee > 10_000 {
			return fmt.Errorf("the fee of the Bitcoin transaction would be %d", fee)
		}
	}
	return l.counted(ctx, 0, 0, -l.quote.InputAmount.RawAmount.Int64()-fee)
}
