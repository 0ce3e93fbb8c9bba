package wire

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"math/big"
	"slices"
)

// Part is one instruction of a transaction that was asked for.
type Part struct {
	Name     string
	Optional bool // it may have become unnecessary
	// Is refuses an instruction that is not the one, saying in what it differs. It
	// returns the instruction with the flags that its accounts should have.
	Is func(ix Instruction) (Instruction, error)
}

// exactly is the part that has to be this very instruction.
func (p Programs) exactly(want Instruction) Part {
	return Part{Name: p.Name(want), Is: func(got Instruction) (Instruction, error) { return want, sameInstruction(want, got) }}
}

// maybeExactly is [Programs.exactly] for what may be missing.
func (p Programs) maybeExactly(want Instruction) Part {
	part := p.exactly(want)
	part.Optional = true
	return part
}

func sameInstruction(want, got Instruction) error {
	if want.Program != got.Program {
		return fmt.Errorf("it calls the program %s, not %s", got.Program, want.Program)
	}
	if !bytes.Equal(want.Data, got.Data) {
		at := 0
		for at < min(len(want.Data), len(got.Data)) && want.Data[at] == got.Data[at] {
			at++
		}
		return fmt.Errorf("its data differs from byte %d on", at)
	}
	if len(want.Accounts) != len(got.Accounts) {
		return fmt.Errorf("it has %d accounts, not %d", len(got.Accounts), len(want.Accounts))
	}
	for i, a := range want.Accounts {
		if got.Accounts[i].PublicKey != a.PublicKey {
			return fmt.Errorf("account %d is %s, not %s", i, got.Accounts[i].PublicKey, a.PublicKey)
		}
	}
	return nil
}

// WantTx is a transaction that a wallet was asked to sign, as far as it is known
// without asking the chain again.
type WantTx struct {
	Name     string
	Optional bool // it may have been sent before, or have become unnecessary
	Repeats  bool // there may be several
	Payer    Key
	Parts    []Part

	// Cosigner is set where another party signed the transaction too: then nothing may
	// differ from what it signed, and its very signature must be there.
	Cosigner  Key
	Signature Signature
	// MaxFee bounds what the transaction offers beside its signatures, in lamports.
	MaxFee uint64
}

// MaxUnits is the most compute units that a transaction can ask for.
const MaxUnits = 1_400_000

// Match checks that a transaction is the one that was asked for. Nothing may be
// added, changed or missing but the offer for compute units, within its bound, and
// what a wallet asserts of the outcome at the end.
func (w WantTx) Match(got *Parsed) error {
	if got.Payer != w.Payer {
		return fmt.Errorf("it is paid by %s, not by %s", got.Payer, w.Payer)
	}
	if got.Blockhash.IsZero() {
		return errors.New("it has no block hash")
	}
	expected, err := w.parts(got.Instructions)
	if err != nil {
		return err
	}
	if w.Cosigner.IsZero() {
		return sameAccounts(got, expected)
	}
	return w.sameMessage(got, expected)
}

// sameMessage checks that a transaction is to the byte the one that the other party
// signed. Which block's hash it carries its signature says.
func (w WantTx) sameMessage(got *Parsed, expected []Instruction) error {
	m, err := Compile(got.Payer, got.Blockhash, expected)
	if err != nil {
		return err
	}
	want, err := m.MarshalBinary()
	if err != nil {
		return err
	}
	raw, err := got.Message.MarshalBinary()
	if err != nil {
		return err
	}
	switch {
	case !bytes.Equal(raw, want):
		return errors.New("the order or the rights of its accounts are not those that the other party has signed")
	case got.Signatures[w.Cosigner] != w.Signature:
		return fmt.Errorf("the signature of %s is not the one that it gave", w.Cosigner)
	case !ed25519.Verify(w.Cosigner[:], raw, w.Signature[:]):
		return fmt.Errorf("it has another block hash than the one that %s has signed", w.Cosigner)
	}
	return nil
}

// parts pairs instructions with the parts, in their order.
func (w WantTx) parts(got []Instruction) (expected []Instruction, err error) {
	next, assertions, offer := 0, 0, feeOffer{}
	for i, ix := range got {
		if ix.Program == BudgetProgram && w.Cosigner.IsZero() {
			if err := offer.read(ix); err != nil {
				return nil, fmt.Errorf("instruction %d: %w", i, err)
			}
			expected = append(expected, ix)
			continue
		}
		for {
			if next == len(w.Parts) && w.Cosigner.IsZero() && assertions < maxAssertions && isAssertion(ix) {
				assertions++
				expected = append(expected, harmless(ix))
				break
			}
			if next == len(w.Parts) {
				return nil, fmt.Errorf("instruction %d was added: nothing more was to come", i)
			}
			part := w.Parts[next]
			next++
			want, err := part.Is(ix)
			if err == nil {
				expected = append(expected, want)
				break
			}
			if !part.Optional {
				return nil, fmt.Errorf("instruction %d, which should be %s: %w", i, part.Name, err)
			}
		}
	}
	for ; next < len(w.Parts); next++ {
		if !w.Parts[next].Optional {
			return nil, fmt.Errorf("the instruction %s is missing", w.Parts[next].Name)
		}
	}
	return expected, offer.check(len(got), w.MaxFee)
}

// assertionProgram is Lighthouse, by whose instructions wallets make a transaction fail
// if it does not do what they have shown to their user. They add some at the end of
// transactions without another signature.
var assertionProgram = MustKey("L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95")

// maxAssertions is how many a wallet may add.
const maxAssertions = 3

// isAssertion reports whether an instruction only looks at accounts. The program's first
// two instructions keep notes in an account of its own.
func isAssertion(ix Instruction) bool {
	return ix.Program == assertionProgram && len(ix.Data) > 0 && ix.Data[0] >= 2 && ix.Data[0] <= 16
}

// harmless returns an instruction that gives no account any right.
func harmless(ix Instruction) Instruction {
	ix.Accounts = slices.Clone(ix.Accounts)
	for i := range ix.Accounts {
		ix.Accounts[i].IsSigner, ix.Accounts[i].IsWritable = false, false
	}
	return ix
}

// feeOffer is what a transaction's compute-budget instructions offer.
type feeOffer struct{ units, price *uint64 }

func (o *feeOffer) read(ix Instruction) error {
	r := reader{data: ix.Data}
	kind := r.u8()
	var to **uint64
	var v uint64
	switch kind {
	case 2:
		to, v = &o.units, uint64(r.u32())
	case 3:
		to, v = &o.price, r.u64()
	default:
		return fmt.Errorf("it changes the compute budget in another way than by limit and price (%d)", kind)
	}
	if err := r.end(); err != nil || len(ix.Accounts) != 0 {
		return errors.New("it is not a well-formed compute-budget instruction")
	}
	if *to != nil {
		return errors.New("limit or price of compute units is set twice")
	}
	*to = &v
	return nil
}

func (o feeOffer) check(instructions int, maxFee uint64) error {
	if o.price == nil {
		return nil
	}
	units := min(uint64(instructions)*defaultUnits, MaxUnits)
	if o.units != nil {
		units = min(*o.units, MaxUnits)
	}
	if fee := (FeeRate{Price: *o.price}).PriorityFee(units); fee.Cmp(new(big.Int).SetUint64(maxFee)) > 0 {
		return fmt.Errorf("it offers %s lamports for compute units, at most %d are accepted", fee, maxFee)
	}
	return nil
}

// sameAccounts checks that a message gives no account more or less than its
// instructions need, and names no other account.
func sameAccounts(got *Parsed, instructions []Instruction) error {
	want, err := Compile(got.Payer, got.Blockhash, instructions)
	if err != nil {
		return err
	}
	if len(want.AccountKeys) != len(got.Message.AccountKeys) {
		return fmt.Errorf("it names %d accounts, its instructions %d", len(got.Message.AccountKeys), len(want.AccountKeys))
	}
	rights := map[Key][2]bool{}
	for i, k := range want.AccountKeys {
		rights[k] = right(&want, i)
	}
	for i, k := range got.Message.AccountKeys {
		r, ok := rights[k]
		if !ok {
			return fmt.Errorf("it names the account %s, which no instruction needs", k)
		}
		if g := right(&got.Message, i); g != r {
			return fmt.Errorf("account %s: signs %v, is written to %v; it should be %v, %v", k, g[0], g[1], r[0], r[1])
		}
	}
	return nil
}

// right says whether the i-th account of a message signs, and whether it can be written to.
func right(m *Message, i int) [2]bool {
	signed := int(m.Header.NumRequiredSignatures)
	if i < signed {
		return [2]bool{true, i < signed-int(m.Header.NumReadonlySignedAccounts)}
	}
	return [2]bool{false, i < len(m.AccountKeys)-int(m.Header.NumReadonlyUnsignedAccounts)}
}

// matchAll pairs transactions with those that were asked for, in their order. It
// returns for each the index of what it is; an error names the transaction, by its
// index, that is not what should come there.
func matchAll(want []WantTx, got []*Parsed) (is []int, at int, err error) {
	next := 0
	for i, tx := range got {
		found := false
		for from := next; from < len(want) && !found; from++ {
			err := want[from].Match(tx)
			switch {
			case err == nil:
				is, found, next = append(is, from), true, from+1
				if want[from].Repeats {
					next = from
				}
			case !want[from].Optional:
				return nil, i, fmt.Errorf("it should be %s: %w", want[from].Name, err)
			}
		}
		if !found {
			return nil, i, errors.New("it was not asked for, or comes in the wrong place")
		}
	}
	for i, w := range want {
		if !w.Optional && !slices.Contains(is, i) {
			return nil, len(got), fmt.Errorf("%s is missing", w.Name)
		}
	}
	return is, 0, nil
}

// SameMessage reports whether two messages are the same to the byte.
func SameMessage(a, b Message) bool {
	x, err := a.MarshalBinary()
	if err != nil {
		return false
	}
	y, err := b.MarshalBinary()
	return err == nil && bytes.Equal(x, y)
}
