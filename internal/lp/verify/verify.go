package verify

import (
	"encoding/json"
	"math/big"
	"strings"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/tokens"
)

// Agreed is what the verification of every answer starts from: the request, the
// market, and what the LP has announced. Nothing of it comes from the answer.
// Values are not changed.
type Agreed struct {
	LP       string   // address that the LP has proven to hold on the chain
	BaseFee  *big.Int // announced, sats; nil is 0
	FeePPM   *big.Int // announced; nil is 0
	User     string   // canonical address of who pays in or is paid out
	Token    tokens.Token
	Native   tokens.Token // of the chain, in which deposits and bounties are
	Amount   *big.Int     // requested; of the input if ExactIn, else of the output
	ExactIn  bool
	Contract chains.Contract // of the LP's version

	Price       *big.Int // the market's, micro-sats per whole token
	NativePrice *big.Int // the same for Native; needed where a deposit, a bounty or gas is valued

	Now    time.Time
	Policy Policy
}

// Accepted is an answer that passed every check: what can be shown, stored and
// acted on. Parts that a type lacks are nil or zero.
type Accepted struct {
	Input, Output *big.Int // sats or base units
	SwapFee       *big.Int // base units of the token
	SwapFeeSats   *big.Int
	NetworkFee    *big.Int // of a payout, base units of the token
	NetworkSats   *big.Int // or of the claim, which the user of a legacy swap from Bitcoin pays besides
	Price         PriceResult
	GasPrice      *PriceResult // of gas drop and bounty
	Deposit       *big.Int     // security deposit of the legacy types, native base units: to be shown
	Expires       time.Time    // of the quote

	Escrow *chains.Escrow // agreed in full if Auth is set, else what the LP has to open, without expiry
	Auth   *chains.Auth

	Invoice    *lightning.Invoice // to be paid by the user, or by the LP
	Confidence float64            // of the LP that it can pay Invoice, 0 to 1

	Payment *Payment // on Bitcoin, to the LP
	Vault   *AcceptedVault
}

// Payment is what is to be paid on Bitcoin.
type Payment struct {
	Address       string
	Script        []byte
	Sats          int64
	Confirmations uint16
}

// ReadEscrow decodes the escrow of an answer, so that the facts about it can be
// asked for. It is judged by the verification.
func ReadEscrow(k chains.Contract, data json.RawMessage) (chains.Escrow, error) {
	e, err := k.Decode(data)
	if err != nil {
		return chains.Escrow{}, lp.Lie(lp.CheckEscrow, "escrow data: %w", err)
	}
	if e.Expiry > lp.LatestExpiry {
		return chains.Escrow{}, lp.Lie(lp.CheckExpiry, "the escrow ends at %d, after the year 9999", e.Expiry)
	}
	return e, nil
}

// twoParties refuses an escrow between an LP and itself, whose status would mean
// nothing: the rights of either side are the other's (protocol: chain-evm.md
// §13.16). field is where the user's address came from.
func (a Agreed) twoParties(field string) error {
	if sameAddress(a.User, a.LP) {
		return fault.Invalid(field, "is the liquidity provider's own address")
	}
	return nil
}

// sameEscrow decodes an answer's escrow and compares it with the one that spec
// builds; the sequence and the expiry in the spec are the answer's own unless
// the caller replaces them.
func (a Agreed) sameEscrow(data json.RawMessage, spec func(got chains.Escrow) chains.Spec, may chains.Tolerance) (chains.Escrow, error) {
	got, err := ReadEscrow(a.Contract, data)
	if err != nil {
		return chains.Escrow{}, err
	}
	s := spec(got)
	field := "srcAddress"
	if s.PayOut {
		field = "dstAddress"
	}
	if err := a.twoParties(field); err != nil {
		return chains.Escrow{}, err
	}
	want, err := a.Contract.Expect(s)
	if err != nil {
		return chains.Escrow{}, lp.Lie(lp.CheckEscrow, "the escrow's terms are invalid: %w", err)
	}
	err = a.Contract.Diff(want, got, may)
	if err != nil && !s.Hints && s.Condition.Kind == chains.OnchainNonced {
		// LPs may publish the payout's hints beside the escrow, and nothing else.
		s.Hints = true
		if hinted, e := a.Contract.Expect(s); e == nil && a.Contract.Diff(hinted, got, may) == nil {
			err = nil
		}
	}
	if err != nil {
		return chains.Escrow{}, lp.Lie(lp.CheckEscrow, "%w", err)
	}
	return got, nil
}

// Authorized is the answer of [chains.Contract.VerifyInit] about the escrow and
// the authorisation of a quote.
type Authorized struct {
	Until time.Time
	Err   error
}

func (a Agreed) authorized(f Authorized) error {
	if err := lp.AuthError(f.Err); err != nil {
		return err
	}
	if !f.Until.After(a.Now) {
		return lp.Late(lp.CheckAuth, "the authorization has expired")
	}
	return nil
}

// covers checks that the LP can pay out an amount.
func covers(funds, amount *big.Int) error {
	switch {
	case funds == nil:
		return errUnknown("the liquidity provider's balance is")
	case funds.Cmp(amount) < 0:
		return doubt(lp.CheckFunds, "the payout of %s exceeds the liquidity provider's balance of %s", amount, funds)
	}
	return nil
}

// requested checks the amount that the request fixed.
func (a Agreed) requested(input, output *big.Int) error {
	got, side := output, "output"
	if a.ExactIn {
		got, side = input, "input"
	}
	if !same(got, a.Amount) {
		return lp.Lie(lp.CheckRequested, "%s is %s, requested was %s", side, got, a.Amount)
	}
	return nil
}

// sameAddress compares addresses of a smart chain by value: hexadecimal ones
// whatever their case and leading zeros, others as text.
func sameAddress(a, b string) bool {
	if x, ok := hexAddress(a); ok {
		y, ok := hexAddress(b)
		return ok && x == y
	}
	return a != "" && a == b
}

func hexAddress(s string) (string, bool) {
	digits, ok := strings.CutPrefix(s, "0x")
	if !ok || digits == "" || strings.Trim(strings.ToLower(digits), "0123456789abcdef") != "" {
		return "", false
	}
	return strings.TrimLeft(strings.ToLower(digits), "0"), true
}
