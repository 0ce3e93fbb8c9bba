package swapper

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/engine"
	"github.com/swapper-go/swapper/internal/swap"
)

// Account is a signer on a smart chain.
type Account struct {
	Chain  string // identifier, as CITREA
	Signer string // the address in the chain's canonical form
}

// Change is one change of a swap.
type Change struct {
	Swap    ListSwapOutput
	From    int       // previous state number, as far as this process knows; equal to Swap's if only details changed
	Account Account   // whose swap it is
	Version uint64    // of the stored swap: grows with every change, whichever process makes it
	At      Timestamp // when the change was stored; zero for a swap stored by a version that did not note it
}

// Subscribe yields every change of a swap from the moment at which the iteration begins.
// It waits for the next one until ctx ends or the client is closed, and yields the reason
// last: ctx's cause or [ErrClosed]. Changes that arrive while the loop's body is running
// are merged per swap: the latest one is never lost. What other processes change in the same
// store, which is then a storage.Leaser, is yielded about a second later, and at the
// latest half a minute later if their clocks are behind. [Client.Changes] finds what
// changed while no caller was subscribed.
//
// A swap that moves on has several changes, of which those of details alone have From
// equal to Swap.State.Number.
func (c *Client) Subscribe(ctx context.Context) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		err := error(ErrClosed)
		if !c.life.over() {
			err = c.engine.Subscribe(ctx, func(ch engine.Change) bool { return yield(c.change(ctx, ch.Record, ch.From), nil) })
		}
		if err != nil { // nil: the loop was left
			yield(Change{}, err)
		}
	}
}

func (c *Client) change(ctx context.Context, r *swap.Record, from int) Change {
	return Change{Swap: c.listed(ctx, r), From: from, Account: Account{Chain: r.Chain, Signer: r.Signer}, Version: r.Version, At: timestampOf(r.Changed)}
}

// Changes yields the swaps that were changed at since or later, the oldest change
// first, each once and as it is now; From is its present state. With the zero Account
// it yields everybody's. It reads only the store. A change that another process, or
// another call, is just storing may appear with a time a little in the past: who goes
// on from where an iteration ended begins some seconds earlier and drops by Version
// what is known. Swaps that were last stored before changes were dated are left out.
//
// A program that must miss nothing reads Changes when it starts and at every change that
// [Client.Subscribe] yields, and in addition every minute, say, because a change may
// come before the iteration of Subscribe has begun. Where it has got to is the greatest
// At, which it keeps beside its own data.
//
// Errors end the iteration; a stored swap that cannot be read is logged and left out.
func (c *Client) Changes(ctx context.Context, of Account, since time.Time) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		ctx, end, err := c.life.begin(ctx)
		if err != nil {
			yield(Change{}, err)
			return
		}
		var failed error
		more := true
		for r, err := range c.engine.Changes(ctx, of.Chain, of.Signer, swap.At(since)) {
			if errors.Is(err, engine.ErrUnreadable) {
				c.config.Logger.Error("stored swap is unreadable; left out of the changes", "err", err)
				continue
			}
			if failed = err; failed != nil {
				break
			}
			if more = yield(c.change(ctx, r, r.State), nil); !more {
				break
			}
		}
		end(&failed)
		if failed != nil && more {
			yield(Change{}, failed)
		}
	}
}

// Accounts returns what an address is on the configured chains: its canonical form on
// each that takes it as a signer's, or on chainID alone if that is not empty. The error
// names the field signer or chainId, as those of [Client.ListSwaps] do.
func (c *Client) Accounts(signer, chainID string) ([]Account, error) {
	if c.life.over() {
		return nil, ErrClosed
	}
	in := ListSwapsInput{Signer: signer, ChainID: chainID}
	if err := in.Validate(); err != nil {
		return nil, err
	}
	if chainID != "" && c.byID[chainID] == nil {
		return nil, fault.Invalid("chainId", "%s is not configured", chainID)
	}
	var all []Account
	refused := error(fault.Invalid("signer", "is not an address on any configured chain"))
	for _, ch := range c.chains {
		id := ch.Info().ID
		if chainID != "" && chainID != id {
			continue
		}
		canonical, err := ch.Address(signer)
		if err != nil {
			if len(c.chains) == 1 || chainID != "" {
				refused = fault.At("signer", err)
			}
			continue
		}
		all = append(all, Account{Chain: id, Signer: canonical})
	}
	if len(all) == 0 {
		return nil, refused
	}
	return all, nil
}

// Progress is how a swap stands, for those who are told without having asked.
type Progress struct {
	Account Account
	Version uint64    // of the stored swap, as in [Change]
	At      Timestamp // when that was stored
	// Status is what [Client.GetSwapStatus] shows to others than the swap's owner, whoever
	// asks: without an LNURL-withdraw link and what an LNURL service tells its payer. As it
	// is told to those who did not ask, a transaction that carries a preimage is never in it
	// (the action is there, its Txs are empty).
	Status *GetSwapStatusOutput
}

// Progress brings a swap up to date and returns how it stands, as events carry it. The
// errors are those of [Client.GetSwapStatus].
func (c *Client) Progress(ctx context.Context, swapID string) (_ *Progress, err error) {
	ctx, end, err := c.life.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end(&err)
	in := GetSwapStatusInput{SwapID: swapID}
	if err := in.Validate(); err != nil {
		return nil, err
	}
	s, err := c.engine.Status(ctx, c.reader, engine.StatusRequest{ID: swapID, Pushed: true,
		Caller: func(*swap.Record) (swap.Caller, error) { return swap.Caller{Discreet: true}, nil }})
	if err != nil {
		return nil, err
	}
	return &Progress{Account: Account{Chain: s.Record.Chain, Signer: s.Record.Signer}, Version: s.Record.Version, At: timestampOf(s.Record.Changed), Status: c.status(s, false)}, nil
}

// Fingerprint returns 16 hexadecimal digits that are the same for two statuses in which
// a user would see no difference. Left out is what is made anew with every look:
// transactions to sign, fee rates and expected times.
func (p *Progress) Fingerprint() string {
	s := *p.Status
	s.Steps = slices.Clone(s.Steps)
	for i := range s.Steps {
		if n := s.Steps[i].Confirmations; n != nil {
			s.Steps[i].Confirmations = &Confirmations{Current: n.Current, Target: n.Target}
		}
	}
	type payment SendToAddress // without its type, which Asks is
	// Of an action what is asked for and of whom, not what it is asked with.
	shown := struct {
		Status *GetSwapStatusOutput
		Asks   string
		What   string
		Who    string
		Pay    *payment
	}{Status: &s}
	if a := s.CurrentAction; a != nil {
		shown.Asks, s.CurrentAction = a.Type(), nil
	}
	switch a := p.Status.CurrentAction.(type) { // s has none any more
	case *SendToAddress:
		shown.Pay = (*payment)(a)
	case *SignPSBT:
		shown.What = a.Name + a.Description
	case *SignSmartChainTransaction:
		shown.What, shown.Who = a.Name+a.Description, a.RequiredSigner
	case *Wait:
		shown.What = a.Name + a.Description
	}
	text, err := json.Marshal(&shown)
	if err != nil { // of an escrow that is not JSON, which no chain makes: never the same
		text = fmt.Append(nil, p.Version, p.At)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
