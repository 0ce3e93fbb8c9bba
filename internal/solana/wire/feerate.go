package wire

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/swapper-go/swapper/fault"
)

// FeeRate is what a transaction offers for being included (§11).
type FeeRate struct {
	Price  uint64 // micro-lamports per compute unit
	Static uint64 // lamports, whatever the transaction
	Bribe  Key    // zero, or who gets all of it by a transfer, in place of a price
	Wrap   *Wrap  // of escrows that are opened with SOL: whether the signed transaction wraps some
}

// Wrap is what a fee rate says of the payer's WSOL account.
type Wrap struct {
	Create  bool   // there is none
	Balance uint64 // lamports in it
}

// ParseFeeRate reads `price[;static[;bribe]][#create;balance]`. A missing static fee
// is 0. Errors have the code [fault.InvalidInput].
func ParseFeeRate(s string) (f FeeRate, err error) {
	bad := func(format string, args ...any) (FeeRate, error) {
		return FeeRate{}, fault.Invalid("feeRate", format, args...)
	}
	if len(s) > 256 {
		return bad("is longer than any fee rate")
	}
	fee, wrap, wraps := strings.Cut(s, "#")
	parts := strings.Split(fee, ";")
	if len(parts) > 3 {
		return bad("has more than a price, a base fee and an address: %q", s)
	}
	if f.Price, err = feeNumber(parts[0]); err != nil {
		return bad("price of a compute unit %q %w", parts[0], err)
	}
	if len(parts) > 1 {
		if f.Static, err = feeNumber(parts[1]); err != nil {
			return bad("base fee %q %w", parts[1], err)
		}
	}
	if len(parts) > 2 {
		if f.Bribe, err = ParseKey(parts[2]); err != nil || f.Bribe.IsZero() {
			return bad("address %q that is paid: %w", parts[2], ErrKeyForm)
		}
	}
	if wraps {
		create, balance, ok := strings.Cut(wrap, ";")
		if !ok || create != "0" && create != "1" {
			return bad("what follows # is not 0 or 1, a semicolon and a balance: %q", wrap)
		}
		f.Wrap = &Wrap{Create: create == "1"}
		if f.Wrap.Balance, err = feeNumber(balance); err != nil {
			return bad("balance %q %w", balance, err)
		}
	}
	return f, nil
}

func feeNumber(s string) (uint64, error) {
	if s == "" {
		return 0, errNumber
	}
	return parseNumber(s)
}

// String writes the fee rate with its static part.
func (f FeeRate) String() string {
	s := strconv.FormatUint(f.Price, 10) + ";" + strconv.FormatUint(f.Static, 10)
	if !f.Bribe.IsZero() {
		s += ";" + f.Bribe.String()
	}
	if f.Wrap != nil {
		create := "0"
		if f.Wrap.Create {
			create = "1"
		}
		s += "#" + create + ";" + strconv.FormatUint(f.Wrap.Balance, 10)
	}
	return s
}

// million turns micro-lamports into lamports.
var million = big.NewInt(1_000_000)

// computeFee is the part of the priority fee that grows with the compute units, in lamports.
func (f FeeRate) computeFee(units uint64) *big.Int {
	fee := new(big.Int).Mul(new(big.Int).SetUint64(f.Price), new(big.Int).SetUint64(units))
	return fee.Div(fee, million)
}

// PriorityFee is what a transaction of so many compute units pays beside its signatures, in lamports.
func (f FeeRate) PriorityFee(units uint64) *big.Int {
	fee := f.computeFee(units)
	return fee.Add(fee, new(big.Int).SetUint64(f.Static))
}

// defaultUnits is what an instruction gets where the transaction sets no limit.
const defaultUnits = 200_000

// Head returns the compute-budget instructions that come before a transaction's own.
// units is 0 where the transaction sets no limit; before is the number of
// instructions that come before these.
func (f FeeRate) Head(units uint32, before int) (head []Instruction, err error) {
	if units > 0 {
		head = append(head, SetLimit(units))
	}
	if !f.Bribe.IsZero() {
		return head, nil
	}
	divisor := uint64(units)
	if units == 0 {
		divisor = defaultUnits * uint64(before)
	}
	price := new(big.Int).SetUint64(f.Price)
	if f.Static > 0 {
		if divisor == 0 {
			return nil, fmt.Errorf("a base fee cannot be spread over a transaction without compute units")
		}
		static := new(big.Int).Mul(new(big.Int).SetUint64(f.Static), million)
		price.Add(price, static.Div(static, new(big.Int).SetUint64(divisor)))
	}
	if !price.IsUint64() {
		return nil, fmt.Errorf("the fee rate %s is more than a transaction can offer", f)
	}
	return append(head, SetPrice(price.Uint64())), nil
}

// tail returns what comes after a transaction's own instructions, of which before
// are no compute-budget instructions: the transfer of a bribe.
func (f FeeRate) tail(payer Key, units uint32, before int) ([]Instruction, error) {
	if f.Bribe.IsZero() {
		return nil, nil
	}
	all := uint64(units)
	if units == 0 {
		all = defaultUnits * uint64(before+1)
	}
	amount := f.PriorityFee(all)
	if !amount.IsUint64() {
		return nil, fmt.Errorf("the fee rate %s is more than a transaction can offer", f)
	}
	return []Instruction{Transfer(payer, f.Bribe, amount.Uint64())}, nil
}

// Action is what a transaction does, before it says what it pays.
type Action struct {
	First        *Instruction // must be instruction 0
	Units        uint32       // compute units to ask for; 0: no limit is set, which saves space
	Instructions []Instruction
}

// Tx makes the transaction of an action: what must be first, the compute budget, the
// instructions, a bribe (§11).
func (a Action) Tx(payer Key, f FeeRate) (*Tx, error) {
	var all []Instruction
	if a.First != nil {
		all = append(all, *a.First)
	}
	head, err := f.Head(a.Units, len(all))
	if err != nil {
		return nil, err
	}
	all = append(append(all, head...), a.Instructions...)
	count := 0
	for _, ix := range all {
		if ix.Program != BudgetProgram {
			count++
		}
	}
	tail, err := f.tail(payer, a.Units, count)
	if err != nil {
		return nil, err
	}
	return &Tx{Payer: payer, Instructions: append(all, tail...)}, nil
}
