package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/lightningnetwork/lnd/lnwire"
	"github.com/lightningnetwork/lnd/zpay32"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lnurl"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
)

// links answers every link with the same.
type links struct {
	details lnurl.Details
	err     error
}

func (l links) Resolve(context.Context, string) (lnurl.Details, error) { return l.details, l.err }

func paysOut(low, high int64) links {
	return links{details: &lnurl.Withdraw{Params: lnurl.WithdrawParams{K1: "k", Callback: "https://pays/cb", MinWithdrawable: low, MaxWithdrawable: high, URL: "lnurlw://pays"}}}
}

// anyOwner is for calls that the swap's owner makes.
func anyOwner(*swap.Record) bool { return true }

// invoiceOf makes an invoice of an amount, 0 for none.
func invoiceOf(t *testing.T, msat lnwire.MilliSatoshi) string {
	t.Helper()
	key, _ := btcec.PrivKeyFromBytes([]byte{31: 7})
	more := []func(*zpay32.Invoice){zpay32.Description("swap"), zpay32.PaymentAddr([32]byte{1})}
	if msat != 0 {
		more = append(more, zpay32.Amount(msat))
	}
	inv := trial.Must(zpay32.NewInvoice(&chaincfg.RegressionNetParams, [32]byte{11}, time.Now(), more...))(t)
	text := trial.Must(inv.Encode(zpay32.MessageSigner{SignCompact: func(msg []byte) ([]byte, error) {
		return ecdsa.SignCompact(key, chainhash.HashB(msg), true), nil
	}}))(t)
	return text
}

// caller is somebody who gives a link.
type caller int

const (
	byStranger caller = iota
	byOwner
	afterRefusal // a stranger, after the service of the link before has refused
)

// A link pays an invoice if the invoice's amount is one that it pays out, to the
// millisatoshi. A swap that was made with one takes no other; one that was given later
// yields to the owner's, and to anybody's once its service has refused.
func TestWhichLinksPayAnInvoice(t *testing.T) {
	const msat = 100_000
	own := &swap.Withdraw{}
	given := &swap.Withdraw{Given: true, Asked: true, Params: swap.WithdrawParams{URL: "lnurlw://another"}}
	same := &swap.Withdraw{Given: true, Asked: true, Params: swap.WithdrawParams{URL: "lnurlw://pays"}}
	for name, c := range map[string]struct {
		amount lnwire.MilliSatoshi
		own    *swap.Withdraw
		link   string
		links  links
		says   string // "" if it pays
		by     caller
	}{
		"exactly":                            {msat, nil, "x", paysOut(msat, msat), "", byStranger},
		"the least is more":                  {msat, nil, "x", paysOut(msat+1, msat+1), "does not include", byStranger},
		"the most is less":                   {msat, nil, "x", paysOut(msat-1, msat-1), "does not include", byStranger},
		"an invoice of no amount":            {0, nil, "x", paysOut(0, msat), "does not include", byStranger},
		"none":                               {msat, nil, "", paysOut(0, msat), "is required", byStranger},
		"the swap's own":                     {msat, own, "", links{err: errGone}, "", byStranger},
		"beside the swap's own":              {msat, own, "x", paysOut(0, msat), "must be empty", byStranger},
		"a link to pay":                      {msat, nil, "x", links{details: &lnurl.Pay{}}, "not an LNURL-withdraw", byStranger},
		"no answer":                          {msat, nil, "x", links{err: fault.New(fault.InvalidInput, "is not a link")}, "not a link", byStranger},
		"beside one that was given":          {msat, given, "x", paysOut(0, msat), "must be empty", byStranger},
		"the owner's for one that was given": {msat, given, "x", paysOut(0, msat), "", byOwner},
		"one for one that was refused":       {msat, given, "x", paysOut(0, msat), "", afterRefusal},
		"the owner's that cannot pay":        {msat, given, "x", paysOut(msat+1, msat+1), "does not include", byOwner},
		"the same once more":                 {msat, same, "x", paysOut(0, msat), "", byOwner},
		"the owner's beside the swap's own":  {msat, own, "x", paysOut(0, msat), "must be empty", byOwner},
	} {
		r := newToy("a")
		r.Lightning = &swap.LightningPart{Invoice: invoiceOf(t, c.amount), Withdraw: c.own}
		if c.by == afterRefusal {
			r.Tried = map[string]swap.Try{string(swap.CallWithdraw): {Started: 1, Attempts: 1, Outcome: swap.Refused}}
		}
		use, err := withdrawal(t.Context(), c.links, r, c.link, c.by == byOwner)
		switch e, _ := errors.AsType[*fault.Error](err); {
		case c.says == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.says == "":
			if (use.With == nil) != (c.own == own || c.own == same) || use.With != nil && (use.Link != "lnurlw://pays" || use.With.Params.K1 != "k") {
				t.Errorf("%s: %+v", name, use)
			}
		case e == nil || e.Code != fault.InvalidInput || e.Field != "lnurlWithdraw" || !strings.Contains(err.Error(), c.says) || use.With != nil:
			t.Errorf("%s: %+v, %v", name, use, err)
		}
	}
	r := newToy("a")
	r.Lightning = &swap.LightningPart{Invoice: "lnbc1"}
	if _, err := withdrawal(t.Context(), paysOut(0, msat), r, "x", true); err == nil {
		t.Error("an invoice that cannot be read is paid")
	}
}

// opening is a ledger on which a swap's escrow is found from a time on.
type opening struct {
	*ledger
	at    time.Time
	opens bool
}

func (o *opening) Escrow(ctx context.Context, chain, contract string, q chains.EscrowQuery) (chains.EscrowFact, error) {
	f, err := o.ledger.Escrow(ctx, chain, contract, q)
	if o.opens && !time.Now().Before(o.at) {
		f.State, f.Escrow = chains.EscrowOpen, &chains.Escrow{Data: []byte(`"paid"`)}
	}
	return f, err
}

// Who has a swap paid from a link hears that it is paid, refused, too late, or still
// awaited; the link's service is called once.
func TestHowASettlementEnds(t *testing.T) {
	for name, c := range map[string]struct {
		outcome  swap.Outcome
		opens    bool // after a while, the escrow
		patience time.Duration
		code     fault.Code // "" if it is paid
		says     string
	}{
		"paid":          {swap.Outcome{Done: true}, true, time.Hour, "", ""},
		"refused":       {swap.Outcome{Refused: true, Reason: "no money"}, false, time.Hour, fault.Upstream, "no money"},
		"still awaited": {swap.Outcome{Done: true}, false, time.Minute, fault.Timeout, "has not arrived"},
		"too late":      {swap.Outcome{Done: true}, false, 24 * time.Hour, fault.InvalidState, "expired before it was paid"},
	} {
		inBubble(t, name, func(t *testing.T) {
			calls := 0
			l, g := engineOn(t, func(_ *swap.Record, e swap.Effect) swap.Outcome {
				if e.Kind == swap.CallWithdraw {
					calls++
					return c.outcome
				}
				return swap.Outcome{Done: true}
			})
			r := quoted(t, g, swap.FromBTCLNAuto, "a", "11")
			next := r.Clone()
			next.Lightning.Invoice = invoiceOf(t, 100_000)
			write(t, g, r, next)
			g.reader = &opening{l, time.Now().Add(5 * time.Second), c.opens}
			ctx, cancel := context.WithTimeout(t.Context(), c.patience)
			defer cancel()
			hash, err := g.Settle(ctx, paysOut(0, 100_000), "a", "x", anyOwner)
			synctest.Wait()
			switch {
			case c.code == "" && (err != nil || hash != "11"):
				t.Errorf("%q, %v", hash, err)
			case c.code != "" && (fault.CodeOf(err) != c.code || hash != "" || !strings.Contains(err.Error(), c.says)):
				t.Errorf("%q, %v", hash, err)
			}
			if calls != 1 {
				t.Errorf("the service was called %d times", calls)
			}
		})
	}
}

// Who waits for a payment hears of it when another pass has seen it, and not of other swaps.
func TestASettlementEndsWithThePassThatSeesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, g := engineOn(t, done)
		r := quoted(t, g, swap.FromBTCLNAuto, "a", "11")
		next := r.Clone()
		next.Lightning.Invoice = invoiceOf(t, 100_000)
		trial.Do(t, g.write(t.Context(), r, next, nil))
		const paid = settlePoll * 3 / 4
		g.reader = &opening{l, time.Now().Add(paid), true}
		began := time.Now()
		time.AfterFunc(paid/2, func() { quoted(t, g, swap.FromBTCLNAuto, "b", "12") })
		time.AfterFunc(paid, func() {
			if _, err := g.Advance(t.Context(), "a", nil); err != nil {
				t.Error(err)
			}
		})
		if hash, err := g.Settle(t.Context(), paysOut(0, 100_000), "a", "x", anyOwner); err != nil || hash != "11" || time.Since(began) != paid {
			t.Errorf("%q, %v after %s, want 11 after %s", hash, err, time.Since(began), paid)
		}
		synctest.Wait()
	})
}

// An invoice that its LP has cancelled is handed to no service, and who waits for its
// payment does not wait on.
func TestCancelledInvoiceIsNotSettled(t *testing.T) {
	for name, c := range map[string]struct {
		since time.Duration // when the LP says so
		calls int
	}{"before": {0, 0}, "while it is awaited": {5 * time.Second, 1}} {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			l, g := engineOn(t, func(*swap.Record, swap.Effect) swap.Outcome { calls++; return swap.Outcome{Done: true} })
			r := quoted(t, g, swap.FromBTCLNAuto, "a", "11")
			next := r.Clone()
			next.Lightning.Invoice, next.LP.URL = invoiceOf(t, 100_000), "https://lp"
			write(t, g, r, next)
			g.reader = &cancels{l, time.Now().Add(c.since)}
			began := time.Now()
			hash, err := g.Settle(t.Context(), paysOut(0, 100_000), "a", "x", anyOwner)
			synctest.Wait()
			if took := time.Since(began); !errors.Is(err, swap.ErrCancelled) || hash != "" || calls != c.calls || took > c.since+2*settlePoll {
				t.Errorf("%s: %q, %v after %s and %d calls of the service; want %d calls, and soon %q", name, hash, err, took, calls, c.calls, swap.ErrCancelled.Message)
			}
		})
	}
}

// cancels is an LP that cancels its invoice at a moment.
type cancels struct {
	*ledger
	at time.Time
}

func (c *cancels) LPStatus(context.Context, lp.StatusQuery) (lp.Status, error) {
	if time.Now().Before(c.at) {
		return lp.Status{Code: lp.CodeUnpaid}, nil
	}
	return lp.Status{Code: lp.CodeExpired}, nil
}

// Only what awaits a payment over Lightning is paid from a link.
func TestWhatIsNotSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, g := engineOn(t, func(*swap.Record, swap.Effect) swap.Outcome {
			t.Error("something is done")
			return swap.Outcome{}
		})
		quoted(t, g, swap.ToBTCLN, "out", "11")
		r := quoted(t, g, swap.FromBTCLNAuto, "paid", "12")
		next := r.Clone()
		next.State = swap.LnClaimed
		write(t, g, r, next)
		for id, want := range map[string]fault.Code{"out": fault.Unsupported, "paid": fault.InvalidState, "none": fault.NotFound} {
			if hash, err := g.Settle(t.Context(), paysOut(0, 1<<40), id, "x", anyOwner); fault.CodeOf(err) != want || hash != "" {
				t.Errorf("%s: %q, %v", id, hash, err)
			}
		}
		quoted(t, g, swap.FromBTCLNAuto, "open", "13")
		if _, err := g.Settle(t.Context(), paysOut(0, 1<<40), "open", "", anyOwner); fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("without a link: %v", err)
		}
	})
}
