package recovery

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"runtime/debug"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lp/verify"
	"github.com/swapper-go/swapper/internal/quote"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
)

// Adopter stores the swaps of the reference service's records.
type Adopter struct {
	Quoter *quote.Quoter
	Chain  chains.Chain
	DryRun bool // nothing is stored
	Log    *slog.Logger
}

// Adopt reads a record ([ImportRecord]), checks that it agrees with itself and with
// the configuration, and stores its swap, unless that is stored already: then known
// is true, and the stored one is returned. Where the two differ in their state, a
// stored one that is not looked at any more is looked at again: the chain decides
// which of them is right. No other network requests are made.
//
// Errors: *fault.Error, as those of ImportRecord, for a record that is refused; any
// other is a failure of the store or the end of ctx, which further records meet too.
func (a *Adopter) Adopt(ctx context.Context, body []byte) (r *swap.Record, known bool, err error) {
	if r, err = a.read(body); err != nil {
		return nil, false, err
	}
	have, err := a.stored(ctx, r)
	switch {
	case err != nil:
		return nil, false, err
	case have != nil && have.Settled && have.State != r.State && !a.DryRun:
		if res, err := a.Quoter.Engine.Doubt(ctx, have.ID); err == nil {
			have = res.Record
		}
		return have, true, nil
	case have != nil:
		return have, true, nil
	case a.DryRun:
		return r, false, nil
	}
	if _, err := io.ReadFull(a.Quoter.Rand, r.Seed[:]); err != nil {
		return nil, false, fmt.Errorf("random source: %w", err)
	}
	err = a.Quoter.Engine.Restore(ctx, r)
	switch {
	case errors.Is(err, storage.ErrExists): // somebody was faster
		return r, true, nil
	case errors.Is(err, storage.ErrInvalid):
		return nil, false, fault.Invalid("", "the record could not be stored: %w", err)
	case err != nil:
		return nil, false, err
	}
	return r, false, nil
}

// read keeps a record that no check foresaw from ending the import of the others.
func (a *Adopter) read(body []byte) (r *swap.Record, err error) {
	defer func() {
		if p := recover(); p != nil {
			a.Log.Error("reading a record panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			r, err = nil, fault.New(fault.Internal, "internal error while reading the record")
		}
	}()
	if r, err = ImportRecord(a.Chain, body); err != nil {
		return nil, err
	}
	if err := a.check(r); err != nil {
		return nil, err
	}
	a.complete(r)
	return r, nil
}

// stored returns the swap if the store has it, under this id or, if it was recovered
// from the chain, under another one; else nil.
func (a *Adopter) stored(ctx context.Context, r *swap.Record) (*swap.Record, error) {
	store := a.Quoter.Engine.Store
	switch e, err := store.Get(ctx, r.ID); {
	case err == nil:
		return mine(r, e, nil)
	case errors.Is(err, storage.ErrCorrupt):
		return mine(r, e, err)
	case !errors.Is(err, storage.ErrNotFound):
		return nil, fmt.Errorf("read swap %s: %w", storage.Label(r.ID), err)
	}
	hash, unique := r.EventHash()
	if !unique {
		return nil, nil
	}
	for e, err := range store.Find(ctx, storage.Query{Index: swap.ByEvent, Value: swap.EventValue(r.Chain, hash)}) {
		if err != nil && e.ID == "" {
			return nil, fmt.Errorf("find the swap of an escrow: %w", err)
		}
		return mine(r, e, err)
	}
	return nil, nil
}

// mine reads the entry that holds a record's id or escrow.
func mine(r *swap.Record, e storage.Entry, err error) (*swap.Record, error) {
	var have *swap.Record
	if err == nil {
		have, err = swap.Decode(e.ID, e.Version, e.Body)
	}
	switch {
	case err != nil:
		return nil, fault.Invalid("id", "belongs to a stored swap that is unreadable: %w", err)
	case have.Type != r.Type || have.Chain != r.Chain || have.Signer != r.Signer:
		return nil, fault.Invalid("id", "is already used by another stored swap")
	}
	return have, nil
}

// maxMoment is the end of the year 9999, in milliseconds.
const maxMoment = 253_402_300_799_999

// check refuses a record that contradicts itself or the configuration: following it
// could move money otherwise than its user agreed to.
func (a *Adopter) check(r *swap.Record) error {
	f := a.Quoter.Engine.Flows[r.Type]
	if f == nil {
		return unsupported("type", "swaps of type %s are not supported", r.Type)
	}
	if _, ok := f.State(r.State); !ok {
		return fault.Invalid("state", "%d is not a state of swaps of type %s", r.State, r.Type)
	}
	for member, at := range map[string]swap.Millis{"createdAt": r.CreatedAt, "expiry": r.Expiry} {
		if at <= 0 || at > maxMoment {
			return fault.Invalid(member, "%d is not a time in milliseconds", at)
		}
	}
	if r.LP.URL != "" {
		base, err := a.Quoter.LPs.CheckURL(r.LP.URL)
		if err != nil {
			return of("url", err)
		}
		r.LP.URL = base
	}
	network := a.Quoter.Reader.Bitcoin.Network()
	if b := r.Bitcoin; b != nil && b.Address != "" {
		if _, err := bitcoin.ParseAddress(b.Address, network); err != nil {
			member := "address"
			if r.Vault != nil {
				member = "btcDestinationAddress"
			}
			return of(member, err)
		}
	}
	if l := r.Lightning; l != nil && l.Invoice != "" {
		inv, err := lightning.Decode(l.Invoice)
		if err == nil {
			err = inv.RequireNetwork(network)
		}
		if err != nil {
			return of("pr", err)
		}
	}
	return a.checkEscrow(r)
}

// checkEscrow builds the escrow anew from what the record says of the swap, with the
// contracts of the configuration, and compares.
func (a *Adopter) checkEscrow(r *swap.Record) error {
	if r.Escrow == nil {
		return nil
	}
	e, member, party := r.Escrow.Expected, "data", r.Escrow.Expected.Offerer
	condition := chains.Condition{Kind: chains.HTLC}
	incoming := r.Type == swap.FromBTC || r.Type == swap.FromBTCLN || r.Type == swap.FromBTCLNAuto
	switch r.Type {
	case swap.ToBTC:
		condition.Kind = chains.OnchainNonced
	case swap.FromBTC:
		condition.Kind, party = chains.Onchain, e.Claimer
	case swap.FromBTCLN, swap.FromBTCLNAuto:
		member, party = "initialSwapData", e.Claimer
	}
	switch {
	case party != r.Signer:
		return fault.Invalid("initiator", "%s is not the escrow's party %s", r.Signer, party)
	case e.Kind != condition.Kind:
		return fault.Invalid(member, "is an escrow of kind %s; swaps of type %s have %s", e.Kind, r.Type, condition.Kind)
	case incoming && !e.PayOut, !incoming && !e.PayIn:
		return fault.Invalid(member, "the escrow does not move the user's own tokens")
	}
	k, ok := a.Chain.Contract(r.Contract)
	if !ok {
		return unsupported("contractVersion", "%.20q is not configured", r.Contract)
	}
	if known, err := conditionOf(r, &condition); !known || err != nil {
		return err
	}
	if err := rebuilt(k, e, condition); err != nil {
		return of(member, err)
	}
	if (r.Type == swap.FromBTCLN || r.Type == swap.FromBTCLNAuto) && r.Escrow.Real != nil {
		if _, err := verify.Delivered(k, *e, r.Escrow.Real.Data, r.Type == swap.FromBTCLN); err != nil {
			return of("data", err)
		}
	}
	return nil
}

// conditionOf fills in what a swap's escrow pays for; known is false if an old
// record does not say all of it.
func conditionOf(r *swap.Record, c *chains.Condition) (known bool, err error) {
	if c.Kind == chains.HTLC {
		hash, err := hex.DecodeString(r.Lightning.Hash)
		if err != nil || len(hash) != len(c.PaymentHash) {
			return false, nil
		}
		c.PaymentHash = [32]byte(hash)
		return true, nil
	}
	b := r.Bitcoin
	if b.Nonce == 0 && c.Kind == chains.OnchainNonced || b.Confirmations == 0 || b.Confirmations > 0xffff {
		return false, nil
	}
	if c.Script, err = scriptOf(b.Address); err != nil {
		return false, of("address", err)
	}
	c.Sats, c.Nonce, c.Confirmations = b.Sats, b.Nonce, uint16(b.Confirmations)
	return true, nil
}

// rebuilt compares an escrow with the one that the contracts make of its terms.
func rebuilt(k chains.Contract, e *chains.Escrow, c chains.Condition) error {
	spec := chains.Spec{Kind: e.Kind, Offerer: e.Offerer, Claimer: e.Claimer, Token: e.Token, Amount: e.Amount, Condition: c, Sequence: e.Sequence, Expiry: e.Expiry,
		PayIn: e.PayIn, PayOut: e.PayOut, SecurityDeposit: e.SecurityDeposit, ClaimerBounty: e.ClaimerBounty, DepositToken: e.DepositToken}
	if spec.Sequence == nil {
		spec.Sequence = new(big.Int)
	}
	want, err := k.Expect(spec)
	if err != nil {
		return err
	}
	return k.Diff(want, *e, chains.Tolerance{AnyExtraData: true})
}

// complete fills in what the reference does not store for a swap in progress.
func (a *Adopter) complete(r *swap.Record) {
	now := swap.At(a.Quoter.Engine.Now())
	if row, _ := a.Quoter.Engine.Flows[r.Type].State(r.State); row.Hidden && r.Ended == 0 {
		r.Ended = now
	}
	// The reference gives the preimage to watchtowers as soon as it sees the escrow
	// open (protocol: swap-flows-escrow.md §8.5), or has the user send the claim right
	// after the opening (§7.6): from then on it may be known.
	if (r.Type == swap.FromBTCLN || r.Type == swap.FromBTCLNAuto) && !r.Lightning.Preimage.IsZero() && (r.Escrow.OpenedAt != 0 || r.State >= swap.LnCommitted) {
		r.Lightning.Revealed = max(r.Escrow.OpenedAt, r.CreatedAt)
	}
}
