//go:build unix

package scale

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	devbitcoin "github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/control"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/lnurl"
	"github.com/swapper-go/swapper/internal/swap"
)

// Kinds of swaps of the chaos.
const (
	toInvoice    = "to an invoice"
	toLink       = "to a link"
	toBitcoin    = "to bitcoin"
	fromInvoice  = "from an invoice"
	fromVoucher  = "from a voucher"
	fromBitcoin  = "from bitcoin"
	gasLightning = "gas over Lightning"
	gasBitcoin   = "gas for bitcoin"
)

// account is somebody who swaps on a chain, one swap at a time as long as it has to be signed.
type account struct {
	*control.Wallet
	land    *land
	address string
}

// driver makes and pays swaps, and leaves them alone then.
type driver struct {
	*ground
	cluster *cluster
	tracker *tracker
	logf    func(format string, args ...any)

	accounts map[string]chan *account // free ones, by chain
	all      []*account
	paidTo   *devbitcoin.Wallet // by swaps to bitcoin

	mu      sync.Mutex
	made    []*job
	renewed int // swaps whose quote was over before they could begin
	nudged  int // that had to be asked about once more
	unsent  int // whose PSBT was lost with the process that was to post it
}

// job is one swap of the driver's.
type job struct {
	kind    string
	land    *land
	by      *account
	id      string
	quote   swapper.SwapQuote
	wallet  *devbitcoin.Wallet // with the coin of a swap from bitcoin
	voucher string             // the name of the service that a swap from a voucher is paid by
	asked   time.Time          // when the swap was told to be paid by it
	gasTo   string             // who gets the gas
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
	if kind == fromBitcoin || kind == gasBitcoin {
		var err error
		if j.wallet, err = d.Bitcoin.NewWallet(bitcoin.P2WPKH); err != nil {
			return err
		}
		if _, err = d.Bitcoin.Faucet(j.wallet.Address, coinSats); err != nil {
			return err
		}
	}
	for {
		err := d.attempt(ctx, j)
		if errors.Is(err, errTooLate) {
			d.tracker.forget(j.id)
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
	create, err := d.request(j)
	if err != nil {
		return err
	}
	var out *swapper.CreateSwapOutput
	if err := d.call(ctx, func(ctx context.Context, p *process) (err error) {
		out, err = create(ctx, p)
		return err
	}); err != nil {
		return fmt.Errorf("createSwap: %w", err)
	}
	j.id, j.quote = out.SwapID, out.Quote
	if j.kind == fromVoucher { // the service is asked by the processes alone
		if err := d.withdraw(ctx, j); err != nil || !j.land.opens {
			return err
		}
		if !d.awaitPaid(ctx, j) {
			return nil // what became of it is checked in the end
		}
	}
	return d.act(ctx, j)
}

// withdraw has a swap paid by its service. It is asked for once: a request whose answer
// was lost may still be heard, and each one that is has the service called again.
func (d *driver) withdraw(ctx context.Context, j *job) error {
	asking, stop := context.WithTimeout(ctx, 40*time.Second)
	defer stop()
	var able *process
	if err := d.call(ctx, func(ctx context.Context, p *process) error {
		_, err := p.GetSwapStatus(ctx, swapper.GetSwapStatusInput{SwapID: j.id})
		able = p
		return err
	}); err != nil {
		return fmt.Errorf("getSwapStatus: %w", err)
	}
	var done sync.WaitGroup
	defer done.Wait()
	defer stop()
	done.Go(func() {
		_, _ = able.SettleWithLnurl(asking, swapper.SettleWithLnurlInput{SwapID: j.id}) // the store says whether it was heard
	})
	for ctx.Err() == nil {
		r, _ := d.tracker.record(j.id)
		switch {
		case r == nil:
		case r.Lightning.Withdraw != nil && r.Lightning.Withdraw.Asked:
			j.asked = time.Now()
			d.tracker.leave(j.id)
			return nil
		case r.State == swap.LnSoftExpired, r.State == swap.LnExpired:
			return errTooLate
		}
		wait(ctx, 100*time.Millisecond)
	}
	return context.Cause(ctx)
}

// awaitPaid waits in the store until the LP holds a payment.
func (d *driver) awaitPaid(ctx context.Context, j *job) bool {
	for ; ctx.Err() == nil; wait(ctx, 200*time.Millisecond) {
		switch r, row := d.tracker.record(j.id); {
		case r == nil:
		case row.Finished, r.State == swap.LnSoftExpired:
			return false
		case r.State > 0:
			return true
		}
	}
	return false
}

// act does what a swap asks for until it waits for others.
func (d *driver) act(ctx context.Context, j *job) error {
	user := *j.by.Wallet
	user.Lightning, user.Bitcoin = d.payer, j.wallet
	opens := j.land.opens && (j.kind == fromBitcoin || j.kind == fromInvoice || j.kind == fromVoucher) // and then goes on
	paid := false
	for {
		var s *swapper.GetSwapStatusOutput
		if err := d.call(ctx, func(ctx context.Context, of *process) (err error) {
			mine := user
			mine.Swaps = of
			s, err = mine.Look(ctx, j.id)
			return err
		}); err != nil {
			return fmt.Errorf("getSwapStatus: %w", err)
		}
		a := s.CurrentAction
		_, waits := a.(*swapper.Wait)
		_, pays := a.(*swapper.SendToAddress)
		var signed []string
		var err error
		switch {
		case d.unposted(j):
			d.mu.Lock()
			d.unsent++
			d.mu.Unlock()
			return errTooLate
		case s.IsExpired || s.IsFailed && j.kind == fromBitcoin && !opens:
			return errTooLate
		case s.IsFinished, waits && !(opens && j.kind == fromBitcoin && !paid):
			d.tracker.leave(j.id)
			return nil
		case a == nil, waits, pays && paid: // what was handed in is under way
		case pays:
			if err := user.Do(ctx, j.id, a); err != nil {
				if r, _ := d.tracker.record(j.id); r != nil && r.Expiry.Reached(time.Now()) {
					return errTooLate
				}
				return err
			}
			if paid = true; !opens {
				d.tracker.leave(j.id)
				return nil
			}
		default:
			signed, err = user.SignAction(a)
		}
		if err != nil {
			return err
		}
		if signed != nil {
			err := d.call(ctx, func(ctx context.Context, of *process) error {
				_, err := of.SubmitTransaction(ctx, swapper.SubmitTransactionInput{SwapID: j.id, SignedTxs: signed})
				return err
			})
			taken := err == nil
			if !taken && fault.CodeOf(err) != fault.InvalidState && !strings.Contains(err.Error(), "sign the transactions that are handed out now") {
				return fmt.Errorf("submitTransaction: %w", err)
			}
			if taken {
				d.tracker.leave(j.id)
			}
			switch _, bitcoin := a.(*swapper.SignPSBT); {
			case !taken: // it was while an answer was lost, or it is too late: the next look says
			case bitcoin && (opens || j.kind == gasBitcoin):
				return nil
			case d.awaitOpen(ctx, j) && !(opens && j.kind == fromBitcoin):
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

// forgone reports whether a swap was never paid because what had to be done for it in time was lost
// with a process. Nobody gained or lost anything by it.
func (d *driver) forgone(j *job) bool { return d.unasked(j) || d.unposted(j) }

// unposted reports whether a swap's PSBT was lost with the process that was to post it, and
// the quote ended before another could post it again: the bitcoin is still the user's,
// who makes another swap.
func (d *driver) unposted(j *job) bool {
	r, _ := d.tracker.record(j.id)
	if j.kind != fromBitcoin || r == nil || r.Type != swap.SPVFromBTC || r.State != swap.SPVSoftExpired || !r.Vault.Deadline.Passed(time.Now()) || j.wallet.Balance() != coinSats {
		return false
	}
	post := r.Tried[string(swap.PostPSBT)]
	began := post.Started.Time()
	return !r.Posted() || post.Started == 0 || post.Outcome == "" && len(d.cluster.harmed("", began.Add(-time.Second), began.Add(attemptTime+recordTime))) > 0
}

// coinSats is what the coin holds that a swap from bitcoin is paid with.
const coinSats = 1_000_000

// awaitOpen waits in the store until what was signed has done what it is for.
func (d *driver) awaitOpen(ctx context.Context, j *job) bool {
	for patience := time.Now().Add(3 * time.Minute); time.Now().Before(patience) && ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		r, row := d.tracker.record(j.id)
		switch {
		case r == nil:
		case d.unposted(j):
			return false
		case row.Finished, r.Type == swap.SPVFromBTC && (r.State == swap.SPVBroadcasted || r.State == swap.SPVConfirmed):
			return !row.Expired && !(row.Failed && j.kind == fromBitcoin)
		case r.Type != swap.SPVFromBTC && r.Escrow != nil && r.Escrow.InitTx != "":
			return true
		}
	}
	d.mu.Lock()
	d.nudged++
	d.mu.Unlock()
	if r, row := d.tracker.record(j.id); r != nil {
		d.logf("%s on %s is still %s after three minutes: submission %+v, tried %+v", j.kind, j.land.chain, row.Name, r.Submission, r.Tried)
	}
	return false
}

// request returns what makes a job's swap. Whoever calls it again gets the same swap.
func (d *driver) request(j *job) (create func(context.Context, *process) (*swapper.CreateSwapOutput, error), err error) {
	if j.kind == gasLightning || j.kind == gasBitcoin {
		if j.gasTo, err = j.land.newcomer(); err != nil {
			return nil, err
		}
		in := swapper.CreateGasSwapInput{SrcToken: "LIGHTNING-BTC", ChainID: j.land.chain, Amount: j.land.gasWorth, DstAddress: j.gasTo, LP: d.lps[rand.IntN(len(d.lps))], IdempotencyKey: newKey()}
		if j.kind == gasBitcoin {
			in.SrcToken = "BITCOIN-BTC"
		}
		return func(ctx context.Context, p *process) (*swapper.CreateSwapOutput, error) { return p.createGas(ctx, in) }, nil
	}
	in, err := d.input(j)
	return func(ctx context.Context, p *process) (*swapper.CreateSwapOutput, error) { return p.CreateSwap(ctx, in) }, err
}

func (d *driver) input(j *job) (in swapper.CreateSwapInput, err error) {
	in = swapper.CreateSwapInput{SrcToken: j.land.wbtc(), DstToken: j.land.wbtc(), AmountType: swapper.ExactIn, Amount: big.NewInt(20_000), IdempotencyKey: newKey()}
	switch j.kind {
	case toInvoice:
		preimage, _ := lightning.Preimage(newKey())
		in.DstToken, in.SrcAddress, in.AmountType, in.Amount = "LIGHTNING-BTC", j.by.address, swapper.ExactOut, big.NewInt(10_000)
		in.DstAddress, err = d.payee.NewInvoice(lightning.InvoiceOptions{Preimage: preimage, AmountMsat: 10_000_000, Expiry: 24 * time.Hour})
	case toLink:
		in.DstToken, in.SrcAddress, in.DstAddress, in.AmountType, in.Amount = "LIGHTNING-BTC", j.by.address, d.till, swapper.ExactOut, big.NewInt(10_000)
	case toBitcoin:
		in.DstToken, in.SrcAddress, in.DstAddress, in.AmountType = "BITCOIN-BTC", j.by.address, d.paidTo.Address.String(), swapper.ExactOut
	case fromInvoice:
		in.SrcToken, in.DstAddress = "LIGHTNING-BTC", j.by.address
	case fromVoucher:
		j.voucher = strings.ToLower(newKey())
		if _, err := d.shop.AddWithdraw(lightning.Withdraw{Name: j.voucher, MinMsat: 1000, MaxMsat: 1_000_000_000}); err != nil {
			return in, err
		}
		in.SrcToken, in.DstAddress = "LIGHTNING-BTC", j.by.address
		in.SrcAddress, err = lnurl.Encode(d.link + "/withdraw/" + j.voucher)
	case fromBitcoin:
		in.SrcToken, in.DstAddress, in.Amount = "BITCOIN-BTC", j.by.address, big.NewInt(100_000)
	}
	return in, err
}

func newKey() string { return crand.Text() }

// patience is for how long a caller repeats a call: what one process has begun to send is left
// alone by the others for ninety seconds, and the next one may be killed too.
const patience = 15 * time.Minute

// call asks any of the processes, and another one if that fails for no fault of the caller's.
// One that does not answer is left alone for a while, as those who stand before
// processes do.
func (d *driver) call(ctx context.Context, ask func(context.Context, *process) error) error {
	for began, pause := time.Now(), 100*time.Millisecond; ; pause = min(2*pause, 3*time.Second) {
		m, p := d.cluster.any()
		err := error(swapper.ErrClosed)
		if p != nil {
			once, cancel := context.WithTimeout(ctx, 15*time.Second)
			if err = ask(once, p); err != nil && once.Err() != nil {
				m.avoid()
			}
			cancel()
		}
		switch code := fault.CodeOf(err); {
		case err == nil:
			return nil
		case code == fault.InvalidInput, code == fault.InvalidState, code == fault.Unsupported, code == fault.NotFound:
			return err
		case ctx.Err() != nil || time.Since(began) > patience:
			return err
		}
		wait(ctx, pause)
	}
}
