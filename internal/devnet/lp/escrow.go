package lp

import (
	"context"
	"crypto/rand"
	"math/big"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/evm/wire"
	solwire "github.com/swapper-go/swapper/internal/solana/wire"
	starkwire "github.com/swapper-go/swapper/internal/starknet/wire"
)

// EscrowLie changes an escrow before it is signed, opened or answered: what it is
// built from, whatever the chain, or what was built for a chain of one family. The
// zero value changes nothing.
type EscrowLie struct {
	Terms    func(*chains.Spec)
	EVM      func(*wire.SwapData)
	Solana   func(*solwire.SwapData)
	Starknet func(*starkwire.SwapData)
}

// newEscrow builds what the LP agrees to, with the lie that is asked for.
func newEscrow(s *side, spec chains.Spec, lie EscrowLie) (chains.Escrow, error) {
	if lie.Terms != nil {
		spec.Amount = new(big.Int).Set(spec.Amount) // which is answered beside the escrow
		lie.Terms(&spec)
	}
	return s.escrow(spec, lie)
}

// of is another escrow than the one that stands, for the same terms.
func (lie EscrowLie) of(s *side, spec chains.Spec, truth chains.Escrow) (chains.Escrow, error) {
	if lie.Terms == nil && lie.EVM == nil && lie.Solana == nil && lie.Starknet == nil {
		return truth, nil
	}
	return newEscrow(s, spec, lie)
}

// authorizeInit lets the user open an escrow.
func (l *LP) authorizeInit(ctx context.Context, s *side, e chains.Escrow, feeRate string) (chains.Auth, error) {
	f := l.faults()
	a, err := s.authorizeInit(ctx, e, feeRate, l.now().Unix()+s.authTime(), f.StrangeAuth)
	if err == nil && f.Auth != nil {
		f.Auth(&a)
	}
	return a, err
}

// authorizeRefund lets the user take an escrow back.
func (l *LP) authorizeRefund(s *side, e chains.Escrow) (chains.Auth, error) {
	f := l.faults()
	a, err := s.authorizeRefund(e, l.now().Unix()+refundTimeout, f.StrangeAuth)
	if err == nil && f.Auth != nil {
		f.Auth(&a)
	}
	return a, err
}

// initPrefix is how an authorisation to open an escrow is named.
func initPrefix(e chains.Escrow) string {
	if e.PayIn {
		return "claim_initialize"
	}
	return "initialize"
}

// authFields are the members of an answer that carry an authorisation.
func authFields(a chains.Auth) object {
	return object{{"prefix", a.Prefix}, {"timeout", bigInt(a.Timeout).String()}, {"signature", a.Signature}}
}

// sequence makes escrows differ.
func sequence() *big.Int {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return new(big.Int).SetBytes(b[:])
}

// chainTime is the later of the LP's clock and the time of a block.
func (l *LP) chainTime(head chains.Block) time.Time {
	if at := time.Unix(head.Time, 0); at.After(l.now()) {
		return at
	}
	return l.now()
}
