package wire

import (
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// commitment is what the claim handlers of Bitcoin proofs hash into the claim data
// and find at the start of the witness: what must be proven, how deep it must be
// buried, and the relay that says so (§7).
type commitment []Felt

func newCommitment(subject []Felt, confirmations uint32, relay Felt) commitment {
	return commitment(felts(subject).uint(uint64(confirmations)).add(relay))
}

func (c commitment) claimData() Felt { return Poseidon(c...) }

// ClaimDataHTLC is the claim data of a hash lock. hash is the SHA-256 of the secret.
func ClaimDataHTLC(hash [32]byte) Felt { return Poseidon(felts(nil).words(hash[:])...) }

// txidSubject is what the commitment of [chains.OnchainTxID] is about.
func txidSubject(id bitcoin.Hash) []Felt { return make(felts, 0, 10).words(id[:]) }

// outputSubject is what the commitment of [chains.Onchain] is about, and with a nonce
// that of [chains.OnchainNonced].
func outputSubject(script []byte, sats, nonce uint64) []Felt {
	var w felts
	if nonce != 0 {
		w = w.uint(nonce)
	}
	return make(felts, 0, 3).add(Poseidon(w.uint(sats).add(Poseidon(Chunks(script)...))...))
}

// ClaimHash returns the claim data that stands for a condition. It commits to this
// deployment's relay.
func (d Deployment) ClaimHash(c chains.Condition) (Felt, error) {
	relay, confirmations := d.BtcRelay.Address, uint32(c.Confirmations)
	switch c.Kind {
	case chains.HTLC:
		return ClaimDataHTLC(c.PaymentHash), nil
	case chains.Onchain:
		return newCommitment(outputSubject(c.Script, c.Sats, 0), confirmations, relay).claimData(), nil
	case chains.OnchainNonced:
		if c.Nonce == 0 {
			return Felt{}, fault.Invalid("nonce", "must not be zero")
		}
		return newCommitment(outputSubject(c.Script, c.Sats, c.Nonce), confirmations, relay).claimData(), nil
	case chains.OnchainTxID:
		return newCommitment(txidSubject(c.TxID), confirmations, relay).claimData(), nil
	}
	return Felt{}, fault.Invalid("kind", "has unknown kind %d", c.Kind)
}

// ClaimHashText is how swap ids and LPs write a claim hash: 64 hex digits without 0x.
func ClaimHashText(claimData Felt) string { return Digits64(claimData) }

// extraData is what is published with an escrow for a Bitcoin output, 42 bytes: see
// [rawtx.TxoHint]. Unlike the claim data it uses SHA-256.
func extraData(c chains.Condition) []byte {
	h := rawtx.TxoHint{Txo: rawtx.TxoHash(int64(c.Sats), c.Script), Confirmations: c.Confirmations}
	if c.Kind == chains.OnchainNonced {
		h.Nonce = c.Nonce
	}
	return h.Bytes()
}

// preimageWitness is what the handler of hash locks takes.
func preimageWitness(secret [32]byte) []Felt { return make(felts, 0, 8).words(secret[:]) }
