//go:build unix

package scale

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	devbitcoin "github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	devlnurl "github.com/swapper-go/swapper/internal/devnet/lnurl"
	"github.com/swapper-go/swapper/internal/devnet/wallet"
	"github.com/swapper-go/swapper/internal/swapstate"
	"github.com/swapper-go/swapper/lnurl"
	"github.com/swapper-go/swapper/swap"
)

// Kinds of swaps of the chaos.
const (
	toInvoice   = "to an invoice"
	toBitcoin   = "to bitcoin"
	fromInvoice = "from an invoice"
	fromVoucher = "from a voucher"
	fromBitcoin = "from bitcoin"
)

// account is somebody who swaps on a chain, one swap at a time as long as it has to be signed.
type account struct {
	*wallet.Wallet
	land    *land
	address string
}

// driver makes and pays swaps, and leaves them alone then.
type driver struct {
	*ground
	cluster  *cluster
	tracker  *tracker
	services func() swapper.Service // any of the processes

	accounts map[string]chan *account // free ones, by chain
	all      []*account
	withdraw sync.Mutex         // who withdraws from a vault leaves nothing for the quotes of others
	paidTo   *devbitcoin.Wallet // by swaps to bitcoin

	mu      sync.Mutex
	made    []*job
	renewed int // swaps whose quote was over before they could begin
	nudged  int // that had to be asked about once more
}

// job is one swap of the driver's.
type job struct {
	kind   string
	land   *land
	by     *account
	id     string
	quote  swapper.SwapQuote
	wallet *devbitcoin.Wallet // with the coin of a swap from bitcoin
}

// begin makes a swap, pays for it, and leaves it when there is nothing left for the user to do.
func (d *driver) begin(ctx context.Context, kind string, l *land) error {
	var a *account
	select {
	case a = <-d.accounts[l.chain]:
		defer func() { d.accounts[l.chain] <- a }()
	case <-ctx.Done():
		return ctx.Err()
	}
	j := &job{kind: kind, land: l, by: a}
	if kind == fromBitcoin {
		d.withdraw.Lock()
		defer d.withdraw.Unlock()
		var err error
		if j.wallet, err = d.Bitcoin.NewWallet(bitcoin.P2WPKH); err != nil {
			return err
		}
		if _, err = d.Bitcoin.Faucet(j.wallet.Address, 1_000_000); err != nil {
			return err
		}
	}
	for {
		err := d.attempt(ctx, j)
		if errors.Is(err, errTooLate) {
			d.mu.Lock()
			d.renewed++
			d.mu.Unlock()
			continue
		}
		if err != nil {
			return fmt.Errorf("%s on %s, swap %s: %w", kind, l.chain, j.id, err)
		}
		d.mu.Lock()
		d.made = append(d.made, j)
		d.mu.Unlock()
		return nil
	}
}

// errTooLate: the quote was over before the swap could begin. Another one is made.
var errTooLate = errors.New("the quote is over")

func (d *driver) attempt(ctx context.Context, j *job) error {
	in, err := d.request(j)
	if err != nil {
		return err
	}
	var out *swapper.CreateSwapOutput
	if err := d.call(ctx, func(ctx context.Context, s swapper.Service) (err error) {
		out, err = s.CreateSwap(ctx, in)
		return err
	}); err != nil {
		return fmt.Errorf("createSwap: %w", err)
	}
	j.id, j.quote = out.SwapID, out.Quote
	if j.kind == fromVoucher { // the service is asked by the processes alone
		if err := d.call(ctx, func(ctx context.Context, s swapper.Service) error {
			_, err := s.SettleWithLnurl(ctx, swapper.SettleWithLnurlInput{SwapID: j.id})
			if swapper.CodeOf(err) == swapper.CodeInvalidState { // asked already, and the answer was lost
				return nil
			}
			return err
		}); err != nil {
			return fmt.Errorf("settleWithLnurl: %w", err)
		}
		d.tracker.leave(j.id)
		return nil
	}
	return d.act(ctx, j)
}

// act does what a swap asks for until it waits for others.
func (d *driver) act(ctx context.Context, j *job) error {
	user := *j.by.Wallet
	user.Lightning, user.Bitcoin = d.payer, j.wallet
	for {
		var s *swapper.GetSwapStatusOutput
		if err := d.call(ctx, func(ctx context.Context, of swapper.Service) (err error) {
			mine := user
			mine.Swaps = of
			s, err = mine.Look(ctx, j.id)
			return err
		}); err != nil {
			return fmt.Errorf("getSwapStatus: %w", err)
		}
		a := s.CurrentAction
		var signed []string
		var err error
		switch {
		case s.IsExpired || s.IsFailed && j.kind == fromBitcoin:
			return errTooLate
		case s.IsFinished, a != nil && a.Wait != nil:
			d.tracker.leave(j.id)
			return nil
		case a == nil: // what was handed in is under way
		case a.SendToAddress != nil:
			if err := user.Do(ctx, j.id, a); err != nil {
				return err
			}
			d.tracker.leave(j.id)
			return nil
		case a.SignPSBT != nil:
			signed, err = user.SignPSBT(a.SignPSBT)
		case a.SignSmartChainTransaction != nil:
			signed, err = user.Sign(a.SignSmartChainTransaction)
		}
		if err != nil {
			return err
		}
		if signed != nil {
			if err := d.call(ctx, func(ctx context.Context, of swapper.Service) error {
				_, err := of.SubmitTransaction(ctx, swapper.SubmitTransactionInput{SwapID: j.id, SignedTxs: signed})
				return err
			}); err != nil && swapper.CodeOf(err) != swapper.CodeInvalidState { // somebody took it while the answer was lost, or the next look says why not
				return fmt.Errorf("submitTransaction: %w", err)
			}
			d.tracker.leave(j.id)
			if d.awaitOpen(ctx, j) {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w in state %s", context.Cause(ctx), s.State.Name)
		case <-time.After(time.Second):
		}
	}
}

// awaitOpen waits in the store until what was signed has done what it is for.
func (d *driver) awaitOpen(ctx context.Context, j *job) bool {
	for patience := time.Now().Add(3 * time.Minute); time.Now().Before(patience) && ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		r, row := d.tracker.record(j.id)
		switch {
		case r == nil:
		case row.Finished, r.Type == swap.SPVFromBTC && (r.State == swapstate.SPVBroadcasted || r.State == swapstate.SPVConfirmed):
			return !row.Expired && !(row.Failed && j.kind == fromBitcoin)
		case r.Type != swap.SPVFromBTC && r.Escrow != nil && r.Escrow.InitTx != "":
			return true
		}
	}
	d.mu.Lock()
	d.nudged++
	d.mu.Unlock()
	return false
}

func (d *driver) request(j *job) (in swapper.CreateSwapInput, err error) {
	in = swapper.CreateSwapInput{SrcToken: j.land.wbtc(), DstToken: j.land.wbtc(), AmountType: swapper.ExactIn, Amount: big.NewInt(20_000), IdempotencyKey: rand.Text()}
	switch j.kind {
	case toInvoice:
		preimage, _ := lightning.Preimage(rand.Text())
		in.DstToken, in.SrcAddress, in.AmountType, in.Amount = "LIGHTNING-BTC", j.by.address, swapper.ExactOut, big.NewInt(10_000)
		in.DstAddress, err = d.payee.NewInvoice(lightning.InvoiceOptions{Preimage: preimage, AmountMsat: 10_000_000, Expiry: 24 * time.Hour})
	case toBitcoin:
		in.DstToken, in.SrcAddress, in.DstAddress, in.AmountType = "BITCOIN-BTC", j.by.address, d.paidTo.Address.String(), swapper.ExactOut
	case fromInvoice:
		in.SrcToken, in.DstAddress = "LIGHTNING-BTC", j.by.address
	case fromVoucher:
		name := strings.ToLower(rand.Text())
		if _, err := d.shop.AddWithdraw(devlnurl.Withdraw{Name: name, MinMsat: 1000, MaxMsat: 1_000_000_000}); err != nil {
			return in, err
		}
		in.SrcToken, in.DstAddress = "LIGHTNING-BTC", j.by.address
		in.SrcAddress, err = lnurl.Encode(d.link + "/withdraw/" + name)
	case fromBitcoin:
		in.SrcToken, in.DstAddress, in.Amount = "BITCOIN-BTC", j.by.address, big.NewInt(100_000)
	}
	return in, err
}

// call asks any of the processes, and another one if that fails for no fault of the caller's.
func (d *driver) call(ctx context.Context, ask func(context.Context, swapper.Service) error) error {
	for began, pause := time.Now(), 100*time.Millisecond; ; pause = min(2*pause, 3*time.Second) {
		s := d.services()
		err := error(swapper.ErrClosed)
		if s != nil {
			once, cancel := context.WithTimeout(ctx, 40*time.Second)
			err = ask(once, s)
			cancel()
		}
		switch code := swapper.CodeOf(err); {
		case err == nil:
			return nil
		case code == swapper.CodeInvalidInput, code == swapper.CodeInvalidState, code == swapper.CodeUnsupported, code == swapper.CodeNotFound:
			return err
		case ctx.Err() != nil || time.Since(began) > 5*time.Minute:
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}
