package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lnurl"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/tokens"
)

// terms are what was agreed when a swap was created: all that is kept of it.
type terms struct {
	Schema     int
	Type       swapper.SwapType
	Key        string // idempotency key of the request, "" for none
	Src, Dst   tokens.Token
	Payer      string // canonical; refunds go there too
	Recipient  string // address or invoice
	Input      *big.Int
	Output     *big.Int
	SwapFee    *big.Int
	NetworkFee *big.Int
	Expiry     swapper.Timestamp
	CreatedAt  swapper.Timestamp // by the wallet's clock
	Latest     int64             // Unix seconds at which an escrow for an invoice must have ended; 0: for Bitcoin
	Escrow     *chains.Escrow    // verified: the only one of this swap, once its opening was handed out, or the secret revealed for it; nil before

	// Of swaps with an LNURL link, which the swap service does not hear of.
	Link   string               // that is paid, or that pays; "" for none
	Thanks *lnurl.SuccessAction // of the service behind a link that is paid, nil for none

	// Of swaps from Lightning.
	Hash        [32]byte          // of the payment
	Preimage    chains.Preimage   // made here; zero: the wallet keeps it
	Description string            // of the invoice, as requested
	DescHash    string            // likewise
	Invoice     string            // verified: the only one of this swap; "" before
	From        uint64            // height of the smart chain before which nothing of the swap can have happened
	Revealed    swapper.Timestamp // when the secret was about to be told to the service; zero: never

	// Of swaps from Bitcoin.
	Seed    chains.Seed   // of all that is random in the transactions that are made here
	Deposit *depositTerms // of a FROM_BTC, once its opening was handed out; nil before
	Vault   *vaultTerms   // of a swap from Bitcoin through a vault, once its transaction was handed out; nil before
}

// receives reports whether the swap pays out on the smart chain.
func (t terms) receives() bool {
	return t.Type != swapper.SwapToBTC && t.Type != swapper.SwapToBTCLN
}

// smart is the token on the smart chain.
func (t terms) smart() tokens.Token {
	if t.receives() {
		return t.Dst
	}
	return t.Src
}

const termsSchema = 1

func entryID(swapID string) string { return "verify/swap/" + swapID }

// agree stores the terms of a new swap, before the wallet hears of it. An id that is
// known already is accepted only from a repeated request whose terms are the same.
func (v *verifier) agree(ctx context.Context, id string, t terms) (terms, error) {
	body, err := json.Marshal(t)
	if err != nil {
		return t, err
	}
	err = v.config.Store.Create(ctx, storage.Entry{ID: entryID(id), Body: body, Keys: t.keys()})
	if _, taken := errors.AsType[*storage.KeyTakenError](err); taken {
		return t, &RefusedError{Reason: reasonID, Field: "swapId", Said: id, True: "the id of the swap that was agreed on under this idempotency key"}
	}
	if !errors.Is(err, storage.ErrExists) {
		return t, err
	}
	known, _, err := v.agreed(ctx, id)
	if err != nil {
		return t, err
	}
	t.CreatedAt, t.Latest, t.Escrow = known.CreatedAt, known.Latest, known.Escrow
	t.Preimage, t.Invoice, t.From, t.Revealed, t.Seed, t.Vault, t.Deposit = known.Preimage, known.Invoice, known.From, known.Revealed, known.Seed, known.Vault, known.Deposit
	if body, err = json.Marshal(t); err != nil {
		return t, err
	}
	before, err := json.Marshal(known)
	if err != nil {
		return t, err
	}
	if t.Key == "" || string(before) != string(body) {
		return t, &RefusedError{Reason: reasonID, Field: "swapId", Said: id, True: "the id of a new swap"}
	}
	return known, nil
}

// agreed reads the terms of a swap, and the version under which they are stored.
func (v *verifier) agreed(ctx context.Context, id string) (t terms, version uint64, err error) {
	e, err := v.config.Store.Get(ctx, entryID(id))
	if errors.Is(err, storage.ErrNotFound) {
		return t, 0, fault.New(fault.NotFound, "no swap with this id was agreed on by this wallet")
	}
	if err != nil {
		return t, 0, err
	}
	if err := json.Unmarshal(e.Body, &t); err != nil {
		return t, 0, fmt.Errorf("%w: agreed terms: %w", storage.ErrCorrupt, err)
	}
	if t.Schema != termsSchema {
		return t, 0, fault.New(fault.Internal, "the agreed terms have schema %d, which this version does not know", t.Schema)
	}
	return t, e.Version, nil
}

// byPayment is the index of the payment that claims an escrow: one payment counts for one
// swap, whatever its chain.
const byPayment = "verify/payment"

// byKey is the index of idempotency keys: one leads to one swap.
const byKey = "verify/key"

// keys are what an entry is unique by, for as long as it is stored.
func (t terms) keys() []storage.Key {
	if t.Key == "" {
		return nil
	}
	return []storage.Key{{Index: byKey, Value: keyHash(t.Key), Unique: true}}
}

// keyHash is short for an idempotency key, which may be long.
func keyHash(key string) string {
	hash := sha256.Sum256([]byte(key))
	return hex.EncodeToString(hash[:])
}

// now is the time as it is stored.
func (v *verifier) now() swapper.Timestamp {
	return swapper.Timestamp{Time: v.config.Now().Truncate(time.Millisecond)}
}

// keep stores what was agreed on since.
func (v *verifier) keep(ctx context.Context, id string, version uint64, t terms) error {
	body, err := json.Marshal(t)
	if err != nil {
		return err
	}
	err = v.config.Store.Update(ctx, storage.Entry{ID: entryID(id), Version: version, Body: body, Keys: t.keys()})
	if err == nil {
		v.noteRecent(ctx, id, t)
	}
	return err
}

// settleOn stores the escrow of a swap before its opening is handed out. From then on the
// swap has no other one, and no other swap the same payment: a provider could claim two
// escrows with one preimage, or with one bitcoin payment.
func (v *verifier) settleOn(ctx context.Context, id string, version uint64, t terms, payment string) error {
	body, err := json.Marshal(t)
	if err != nil {
		return err
	}
	e := storage.Entry{ID: entryID(id), Version: version, Body: body, Keys: append(t.keys(), storage.Key{Index: byPayment, Value: payment, Unique: true})}
	err = v.config.Store.Update(ctx, e)
	if taken, ok := errors.AsType[*storage.KeyTakenError](err); ok {
		return &RefusedError{Reason: reasonAgreed, Field: "currentAction.txs", Said: "an opening for a payment", True: "none: " + taken.Error() + ", which pays for it already"}
	}
	if err == nil {
		v.noteRecent(ctx, id, t)
	}
	return err
}

// wordOfService marks what is the service's word.
const wordOfService = "Told by the service, not verified: "

// asTold marks a state as the service's word.
func asTold(s swapper.SwapState) swapper.SwapState {
	s.Description = wordOfService + s.Description
	return s
}

// stateTold is the state that the service tells, if it did not refuse.
func stateTold(got *swapper.GetSwapStatusOutput, refused error) swapper.SwapState {
	if refused != nil {
		return swapper.SwapState{Name: "UNKNOWN"}
	}
	return asTold(got.State)
}

// base shows a swap by what was agreed, in a state.
func (t terms) base(id string, s swapper.SwapState) swapper.SwapOutputBase {
	fees := swapper.SwapQuoteFees{Swap: swapper.AmountOf(tokens.NewAmount(t.SwapFee, t.Src))}
	if !t.receives() { // else it is the service's word, and part of the price
		network := swapper.AmountOf(tokens.NewAmount(t.NetworkFee, t.Src))
		fees.NetworkOutput = &network
	}
	return swapper.SwapOutputBase{
		SwapID: id, SwapType: t.Type, State: s, CreatedAt: t.CreatedAt, LNURL: t.link(nil),
		Quote: swapper.SwapQuote{
			InputAmount: swapper.AmountOf(tokens.NewAmount(t.Input, t.Src)), OutputAmount: swapper.AmountOf(tokens.NewAmount(t.Output, t.Dst)),
			Fees: fees, Expiry: t.Expiry, OutputAddress: t.Recipient,
		},
	}
}
