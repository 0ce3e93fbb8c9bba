package swap

import (
	"encoding/hex"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// newToBTC returns the type TO_BTC: the user opens an escrow on a smart chain,
// an LP pays a Bitcoin address and claims by the proof of that payment.
func newToBTC() *Flow {
	return outgoingFlow(outgoing{
		typ:   ToBTC,
		chain: onBitcoin,
		id:    func(r *Record) string { return hex.EncodeToString(r.Escrow.Real.ClaimHash) },
		proof: func(in Decision) *PayoutAsk {
			id, err := bitcoin.ParseHash(in.Obs.LP.Value.TxID)
			if err != nil {
				return nil
			}
			ask := &PayoutAsk{Escrow: *in.R.Escrow.Real, TxID: id}
			if b := in.R.Bitcoin; b != nil {
				ask.Nonce, ask.Confirmations = b.Nonce, b.Confirmations
			}
			return ask
		},
		keep: keepPayout,
		// The contract has checked the payment, so its word serves for showing
		// the transaction; nothing is decided on it.
		fromChain: func(result []byte, next *Record) {
			if id, ok := hashFromClaim(result); ok {
				if next.Bitcoin == nil {
					next.Bitcoin = &BitcoinPart{}
				}
				if next.Bitcoin.TxID != id {
					next.Bitcoin.TxID, next.Bitcoin.Vout = id, 0
				}
			}
		},
		output: func(r *Record) string {
			if r.Bitcoin == nil || isZero(r.Bitcoin.TxID) {
				return ""
			}
			return r.Bitcoin.TxID.String()
		},
	})
}

// keepPayout stores a proven payment, and what it shows that a recovered swap did not
// know.
func keepPayout(in Decision, next *Record) {
	p := in.Obs.Payout.Value
	b := dup(next.Bitcoin)
	if b == nil {
		b = &BitcoinPart{}
	}
	b.TxID, b.Vout = p.TxID, p.Vout
	if b.Address == "" {
		b.Address = p.Address
	}
	if b.Sats == 0 {
		b.Sats = p.Sats
	}
	if b.Nonce == 0 {
		b.Nonce = p.Nonce
	}
	if b.Confirmations == 0 {
		b.Confirmations = p.Confirmations
	}
	next.Bitcoin = b
}
