package watchtower

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/storage"
)

// payments are others' escrows of a set of contracts that wait for a bitcoin payment. In the
// store is only the cursor that finds them again; see the blocks for what finds their payments.
type payments struct {
	next    chains.Cursor // up to which openings have been searched
	atEnd   bool          // there were none after that
	all     []*awaited    // in the order in which they were opened
	version uint64        // of the note
	kept    chains.Cursor // in it
}

// awaited is one of these escrows.
type awaited struct {
	chains.AwaitedPayment
	before   chains.Cursor // that finds it again
	pay      *big.Int      // what its claim earns, in base units of the native token
	pays     bool          // its claim does, at the current rates
	ended    bool          // by the word of one node
	looks    int           // how often it was looked at
	searched bool          // blocks that were read before have been searched
	found    *found
}

// found is what pays an escrow.
type found struct {
	block   bitcoin.Hash
	height  uint32
	payment Payment
}

// What others open costs them little, so there are bounds to what is kept of it, and to the blocks
// that are read for it.
const (
	maxAwaited  = 4096               // escrows of a set of contracts; those whose claims earn most are kept
	awaitedLife = 3 * 24 * time.Hour // of one
	maxParts    = 10                 // of the openings, that are read in a round
)

// findPayments looks for escrows of others that wait for a bitcoin payment, and for their payments.
func (c *claimer) findPayments(ctx context.Context, from bitcoin.BlockReader) (failed error) {
	var all []*awaited
	for _, v := range c.info.Versions {
		k, _ := c.chain.Contract(v.Name)
		list, ok := k.(chains.PaymentList)
		if !ok {
			continue
		}
		of, err := c.awaitedOf(ctx, list)
		if err != nil {
			return fmt.Errorf("escrows that wait for a bitcoin payment: %w", err)
		}
		if !of.atEnd { // a block is read once it is known what waits for it
			return nil
		}
		all = append(all, of.all...)
	}
	if failed = c.search(ctx, from, all); failed != nil {
		failed = fmt.Errorf("bitcoin payments to escrows: %w", failed)
	}
	for version, of := range c.awaits {
		if k, ok := c.chain.Contract(version); ok && !c.pressed() {
			failed = errors.Join(failed, c.proveSome(ctx, k, of))
		}
	}
	return failed
}

// awaitedOf returns those of a set of contracts, with those opened meanwhile.
func (c *claimer) awaitedOf(ctx context.Context, k chains.PaymentList) (*payments, error) {
	of, name := c.awaits[k.Version()], index+"/"+c.id+"/payments/"+k.Version()
	if of == nil {
		text, version, err := c.config.Store.Note(ctx, name)
		if err != nil {
			return nil, err
		}
		of = &payments{next: text, kept: text, version: version}
		c.awaits[k.Version()] = of
	}
	of.atEnd = false
	for n := 0; n < maxParts && !of.atEnd && !c.pressed(); n++ {
		opened, ended, next, err := k.AwaitedPayments(ctx, of.next)
		if err != nil {
			return nil, err
		}
		of.add(opened, ended)
		of.atEnd, of.next = bytes.Equal(next, of.next), next
	}
	if err := c.weigh(ctx, k, of); err != nil {
		return nil, err
	}
	begin := of.next
	if len(of.all) > 0 {
		begin = of.all[0].before
	}
	if bytes.Equal(begin, of.kept) {
		return of, nil
	}
	if err := c.config.Store.SetNote(ctx, name, begin, of.version); err != nil {
		delete(c.awaits, k.Version()) // it is read again
		return nil, err
	}
	of.version, of.kept = of.version+1, begin
	return of, nil
}

// add takes a part of what happened.
func (of *payments) add(opened []chains.AwaitedPayment, ended [][]byte) {
	known := map[string]bool{}
	for _, a := range of.all {
		known[string(a.Escrow.Data)] = true
	}
	for _, p := range opened {
		if !known[string(p.Escrow.Data)] {
			known[string(p.Escrow.Data)] = true
			of.all = append(of.all, &awaited{AwaitedPayment: p, before: of.next})
		}
	}
	over := map[string]bool{}
	for _, hash := range ended {
		over[string(hash)] = true
	}
	for _, a := range of.all {
		a.ended = a.ended || over[string(a.Escrow.Hash)]
	}
}

// weigh says which claims pay at the current rates, and forgets escrows that offer nothing, have
// expired, or offer least where there are too many.
func (c *claimer) weigh(ctx context.Context, k chains.Contract, of *payments) error {
	now := c.now()
	left := of.all[:0:0]
	for _, a := range of.all {
		_, known := c.token(a.Escrow.Token)
		if end := time.Unix(a.Escrow.Expiry, 0); !known || now.After(end) || a.Opened.Time != 0 && now.Sub(time.Unix(a.Opened.Time, 0)) > awaitedLife {
			continue
		}
		made, v, err := c.estimate(ctx, k, outlook{pay: bounty(a.Escrow), cost: []expense{c.proof(a.Escrow)}}, false)
		if err != nil {
			return err
		}
		if a.pay, a.pays = made.pay, v == claim; v != leave {
			left = append(left, a)
		}
	}
	if n := len(left) - maxAwaited; n > 0 {
		c.log.Warn("escrows that wait for a bitcoin payment are not watched: there are too many", "left", n)
		least := slices.SortedFunc(slices.Values(left), func(a, b *awaited) int { return a.pay.Cmp(b.pay) })[:n]
		drop := map[*awaited]bool{}
		for _, a := range least {
			drop[a] = true
		}
		left = slices.DeleteFunc(left, func(a *awaited) bool { return drop[a] })
	}
	of.all = left
	return nil
}

// proveSome asks the chain about escrows that are paid or are said to have ended, those first that were looked
// at least often, and stores those that can be claimed, if that pays.
func (c *claimer) proveSome(ctx context.Context, k chains.Contract, of *payments) (failed error) {
	var some []*awaited
	for _, a := range of.all {
		if a.ended || a.found != nil && c.blocks.deep(a.found.height, a.Confirmations) {
			some = append(some, a)
		}
	}
	slices.SortStableFunc(some, func(a, b *awaited) int { return cmp.Compare(a.looks, b.looks) })
	var escrows []chains.Escrow
	asked := some[:0:0]
	for _, a := range some[:min(len(some), perLook)] {
		a.looks++
		if !a.ended {
			r := record{Version: k.Version()}
			if _, err := c.config.Store.Get(ctx, c.recordID(&r, a.Escrow.Hash)); err == nil {
				continue // it is known
			} else if !errors.Is(err, storage.ErrNotFound) {
				return err
			}
		}
		asked, escrows = append(asked, a), append(escrows, a.Escrow)
	}
	if len(asked) == 0 {
		return nil
	}
	all, err := c.outlooks(ctx, k, escrows)
	if err != nil {
		return err
	}
	for i, a := range asked {
		switch {
		case c.pressed():
			return failed
		case all[i].state == over:
			of.all = slices.DeleteFunc(of.all, func(b *awaited) bool { return a == b })
		case all[i].state == open && a.ended: // it was opened anew, or it is not true
			a.ended = false
		case all[i].state == open:
			failed = errors.Join(failed, c.proveOne(ctx, k, a, all[i]))
		}
	}
	return failed
}

// proveOne stores the claim of an escrow that is paid.
func (c *claimer) proveOne(ctx context.Context, k chains.Contract, a *awaited, o outlook) error {
	p := a.found.payment
	r := record{Version: k.Version(), Escrow: a.Escrow.Data, Payment: &p}
	o, err := c.paid(ctx, k, &r, o)
	if err != nil || o.state != open {
		return err
	}
	if _, v, err := c.estimate(ctx, k, o, false); err != nil || v != claim {
		return err
	}
	_, err = c.adoptForeign(ctx, r, a.Escrow.Hash)
	return err
}
