package members

import (
	"math/big"
	"strconv"

	"github.com/swapper-go/swapper/chains"
)

// Diff compares two escrows, and keeps the first difference.
type Diff struct{ first *chains.DiffError }

// Text compares a member.
func (d *Diff) Text(name, want, got string, tolerated bool) {
	if want != got && !tolerated && d.first == nil {
		d.first = &chains.DiffError{Member: name, Want: want, Got: got}
	}
}

// Flag compares a member that is true or false.
func (d *Diff) Flag(name string, want, got bool) {
	d.Text(name, strconv.FormatBool(want), strconv.FormatBool(got), false)
}

// Number compares a member that is a number.
func (d *Diff) Number(name string, want, got *big.Int, tolerated bool) {
	d.Text(name, want.String(), got.String(), tolerated)
}

// Err is the difference as a *[chains.DiffError], or nil.
func (d *Diff) Err() error {
	if d.first == nil {
		return nil
	}
	return d.first
}
