package settle

import (
	"bytes"
	"fmt"
	"math/big"
	"slices"

	"github.com/swapper-go/swapper/chains"
)

// flip is the relation the other way round.
func (r relation) flip() relation {
	switch r {
	case firstLags:
		return secondLags
	case secondLags:
		return firstLags
	}
	return r
}

// behind is the relation of a first fact that lacks what a second one saw in a block.
func behind(head chains.Block, height uint64) relation {
	if head.Height < height {
		return firstLags
	}
	return contradicts
}

// differ reports whether two texts name two things; an empty one names none.
func differ(a, b string) bool { return a != "" && b != "" && a != b }

var escrowRules = rules[chains.EscrowFact]{
	head: func(f *chains.EscrowFact) chains.Block { return f.Head },
	err:  func(f *chains.EscrowFact) *error { return &f.Err },
	open: func(f *chains.EscrowFact) bool { return f.State == chains.EscrowOpen },
	says: func(f *chains.EscrowFact) string {
		return fmt.Sprintf("%s, opened by %q in block %d, ended by %q in block %d, as of block %d", f.State, f.InitTx, f.Opened.Height, f.ClaimTx+f.RefundTx, f.Finished.Height, f.Head.Height)
	},
	compare: compareEscrows,
	merge:   mergeEscrows,
	count:   func(f *chains.EscrowFact) *int { return &f.Witnesses },
}

// reached is how far an escrow has come since it was opened: there is no way back.
func reached(s chains.EscrowState) int {
	switch s {
	case chains.EscrowNone:
		return 0
	case chains.EscrowOpen:
		return 1
	}
	return 2
}

func compareEscrows(a, b *chains.EscrowFact) relation {
	switch {
	case otherOpening(a, b) && a.Opened.Height > b.Opened.Height:
		return behind(b.Head, a.Opened.Height).flip()
	case otherOpening(a, b):
		return behind(a.Head, b.Opened.Height)
	case reached(a.State) > reached(b.State):
		return compareEscrows(b, a).flip()
	}
	if differ(a.ClaimTx, b.ClaimTx) || differ(a.RefundTx, b.RefundTx) {
		return contradicts
	}
	switch {
	case reached(a.State) == reached(b.State):
		if a.State != b.State || len(a.Result) > 0 && len(b.Result) > 0 && !bytes.Equal(a.Result, b.Result) {
			return contradicts
		}
		return same
	case a.State == chains.EscrowNone && b.Opened.Height != 0:
		return behind(a.Head, b.Opened.Height)
	}
	return behind(a.Head, b.Finished.Height)
}

// otherOpening reports whether two facts are about two openings: of several escrows with one
// claim hash the newest counts, and on some chains one that was refunded can be opened again.
func otherOpening(a, b *chains.EscrowFact) bool {
	return differ(a.InitTx, b.InitTx) || a.Escrow != nil && b.Escrow != nil && !bytes.Equal(a.Escrow.Hash, b.Escrow.Hash)
}

func mergeEscrows(agree []*chains.EscrowFact) chains.EscrowFact {
	f := *agree[0]
	for _, o := range agree[1:] {
		f.Final = f.Final && o.Final && sameBlock(f.Opened, o.Opened) && sameBlock(f.Finished, o.Finished)
		if f.Auth != o.Auth {
			f.Auth = chains.AuthLate
		}
		if f.Escrow == nil {
			f.Escrow = o.Escrow
		}
		if len(f.Result) == 0 {
			f.Result = o.Result
		}
		for _, id := range []struct{ to, from *string }{{&f.InitTx, &o.InitTx}, {&f.ClaimTx, &o.ClaimTx}, {&f.RefundTx, &o.RefundTx}} {
			if *id.to == "" {
				*id.to = *id.from
			}
		}
		for _, at := range []struct{ to, from *chains.Block }{{&f.Opened, &o.Opened}, {&f.Finished, &o.Finished}} {
			if at.to.Height == 0 {
				*at.to = *at.from
			}
		}
	}
	return f
}

// sameBlock reports whether two nodes saw something in one block, as far as they name it.
func sameBlock(a, b chains.Block) bool {
	return (a.Height == 0 || b.Height == 0 || a.Height == b.Height) && !differ(a.Hash, b.Hash)
}

var withdrawalRules = rules[chains.WithdrawalFact]{
	head: func(f *chains.WithdrawalFact) chains.Block { return f.Head },
	err:  func(f *chains.WithdrawalFact) *error { return &f.Err },
	says: func(f *chains.WithdrawalFact) string {
		return fmt.Sprintf("state %d, advanced by %q, ended by %q, in block %d, as of block %d", f.State, f.FrontTx, f.ClaimTx+f.Close, f.Height, f.Head.Height)
	},
	compare: compareWithdrawals,
	merge:   mergeWithdrawals,
	count:   func(f *chains.WithdrawalFact) *int { return &f.Witnesses },
}

func compareWithdrawals(a, b *chains.WithdrawalFact) relation {
	rank := func(s chains.WithdrawalState) int { return min(int(s), int(chains.WithdrawalClaimed)) }
	switch {
	case rank(a.State) > rank(b.State):
		return compareWithdrawals(b, a).flip()
	case differ(a.FrontTx, b.FrontTx) || differ(a.ClaimTx, b.ClaimTx) || differ(a.Close, b.Close):
		return contradicts
	case a.State == b.State:
		return same
	case rank(a.State) == rank(b.State):
		return contradicts
	}
	return behind(a.Head, b.Height)
}

func mergeWithdrawals(agree []*chains.WithdrawalFact) chains.WithdrawalFact {
	f := *agree[0]
	for _, o := range agree[1:] {
		f.Final = f.Final && o.Final && f.Height == o.Height
		for _, id := range []struct{ to, from *string }{{&f.FrontTx, &o.FrontTx}, {&f.ClaimTx, &o.ClaimTx}, {&f.Close, &o.Close}} {
			if *id.to == "" {
				*id.to = *id.from
			}
		}
	}
	return f
}

var vaultRules = rules[chains.VaultFact]{
	head: func(f *chains.VaultFact) chains.Block { return f.Head },
	err:  func(f *chains.VaultFact) *error { return &f.Err },
	says: func(f *chains.VaultFact) string {
		return fmt.Sprintf("open: %t, output %s, balances %d, withdrawals %d, as of block %d", f.Vault.Open, f.Vault.UTXO, f.Vault.Raw, f.Vault.Withdrawals, f.Head.Height)
	},
	compare: compareVaults,
	merge:   func(agree []*chains.VaultFact) chains.VaultFact { return *agree[0] },
}

// aheadOfHead is how many blocks newer than the head that goes with it a vault may be: the
// head is read before it.
const aheadOfHead = 3

// compareVaults explains differences by what changes a vault: it is opened, paid into,
// pays out, which is counted, and is closed.
func compareVaults(a, b *chains.VaultFact) relation {
	if a.Head.Height > b.Head.Height {
		return compareVaults(b, a).flip()
	}
	x, y := &a.Vault, &b.Vault
	older := func() relation { // the lower head, if it is one
		if a.Head.Height < b.Head.Height {
			return firstLags
		}
		return contradicts
	}
	switch {
	case !x.Open && !y.Open:
		return same
	case x.Open != y.Open:
		return older()
	case x.Tokens != y.Tokens || x.Confirmations != y.Confirmations || x.OurRelay != y.OurRelay || !slices.EqualFunc(x.Multipliers[:], y.Multipliers[:], equal):
		return contradicts
	case x.Withdrawals < y.Withdrawals:
		return firstLags
	case x.Withdrawals > y.Withdrawals:
		if b.Head.Height-a.Head.Height <= aheadOfHead {
			return secondLags
		}
		return contradicts
	case x.UTXO != y.UTXO:
		return contradicts
	case x.Raw == y.Raw:
		return same
	case x.Raw[0] <= y.Raw[0] && x.Raw[1] <= y.Raw[1]: // paid into
		return older()
	}
	return contradicts
}

func equal(a, b *big.Int) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Cmp(b) == 0
}

// Payment is what one node says that an executed transaction pays.
type Payment struct {
	Amount *big.Int // base units
	Height uint64   // of the block in which it was executed; 0: it was not
	Head   chains.Block

	witnesses int
	err       error
}

var paymentRules = rules[Payment]{
	head: func(p *Payment) chains.Block { return p.Head },
	err:  func(p *Payment) *error { return &p.err },
	says: func(p *Payment) string {
		return fmt.Sprintf("pays %v in block %d, as of block %d", p.Amount, p.Height, p.Head.Height)
	},
	compare: func(a, b *Payment) relation {
		switch {
		case a.Height == 0 && b.Height == 0:
			return same
		case a.Height == 0:
			return behind(a.Head, b.Height)
		case b.Height == 0:
			return behind(b.Head, a.Height).flip()
		case equal(a.Amount, b.Amount):
			return same
		}
		return contradicts
	},
	merge: func(agree []*Payment) Payment { return *agree[0] },
	count: func(p *Payment) *int { return &p.witnesses },
}

// Signature is what one node says of a signature that an account of the chain judges.
type Signature struct {
	Good bool
	Head chains.Block

	witnesses int
	err       error
}

var signatureRules = rules[Signature]{
	head: func(s *Signature) chains.Block { return s.Head },
	err:  func(s *Signature) *error { return &s.err },
	says: func(s *Signature) string { return fmt.Sprintf("good: %t, as of block %d", s.Good, s.Head.Height) },
	compare: func(a, b *Signature) relation {
		if a.Good == b.Good {
			return same
		}
		return contradicts
	},
	merge: func(agree []*Signature) Signature { return *agree[0] },
	count: func(s *Signature) *int { return &s.witnesses },
}
