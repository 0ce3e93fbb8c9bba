package lp

import (
	"crypto/rand"
	"math/big"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/evm/evmwire"
)

// newEscrow builds what the LP agrees to, with the lies that are switched on.
func (l *LP) newEscrow(t evmwire.Terms) (evmwire.SwapData, error) {
	t.Amount = new(big.Int).Set(t.Amount) // a lie must not change what is answered beside the escrow
	s, err := l.evm.Deployment().NewSwapData(t)
	if err != nil {
		return s, err
	}
	if lie := l.faults().Escrow; lie != nil {
		lie(&s)
	}
	return s, nil
}

// authorizeInit lets the user open an escrow.
func (l *LP) authorizeInit(s evmwire.SwapData) (chains.Auth, error) {
	a := chains.Auth{Prefix: initPrefix(s), Timeout: l.now().Unix() + authTimeout}
	digest, err := l.evm.Network().InitDigest(l.evm.Deployment(), s, a.Timeout)
	if err != nil {
		return a, err
	}
	return l.sign(a, digest)
}

// authorizeRefund lets the user take an escrow back.
func (l *LP) authorizeRefund(s evmwire.SwapData) (chains.Auth, error) {
	a := chains.Auth{Prefix: "refund", Timeout: l.now().Unix() + refundTimeout}
	digest, err := l.evm.Network().RefundDigest(l.evm.Deployment(), s, a.Timeout)
	if err != nil {
		return a, err
	}
	return l.sign(a, digest)
}

func (l *LP) sign(a chains.Auth, digest [32]byte) (chains.Auth, error) {
	f, signer := l.faults(), l.account
	if f.SignKey != nil {
		signer = f.SignKey
	}
	var err error
	a.Signature, err = signer.SignDigest(digest)
	if err == nil && f.Auth != nil {
		f.Auth(&a)
	}
	return a, err
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
