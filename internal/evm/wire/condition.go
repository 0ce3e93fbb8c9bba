package wire

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// commitment is what the claim handlers of Bitcoin proofs hash into the claim
// data and find at the start of the witness, 56 bytes: what must be proven, how
// deep it must be buried, and the relay that says so (protocol: chain-evm.md §4).
type commitment [56]byte

func newCommitment(subject common.Hash, confirmations uint32, relay common.Address) (c commitment) {
	copy(c[:32], subject[:])
	binary.BigEndian.PutUint32(c[32:36], confirmations)
	copy(c[36:], relay[:])
	return c
}

func (c commitment) claimData() common.Hash { return crypto.Keccak256Hash(c[:]) }

// ClaimDataTxID is the claim data of [chains.OnchainTxID]. txid is in internal order.
func ClaimDataTxID(txid [32]byte, confirmations uint32, relay common.Address) common.Hash {
	return newCommitment(txid, confirmations, relay).claimData()
}

// ClaimDataOutput is the claim data of [chains.OnchainNonced], or of [chains.Onchain] if
// the nonce is 0. The claim data of [chains.HTLC] is the payment hash itself.
func ClaimDataOutput(script []byte, sats, nonce uint64, confirmations uint32, relay common.Address) common.Hash {
	return newCommitment(outputHash(script, sats, nonce), confirmations, relay).claimData()
}

func outputHash(script []byte, sats, nonce uint64) common.Hash {
	var packed []byte
	if nonce != 0 {
		packed = binary.BigEndian.AppendUint64(packed, nonce)
	}
	packed = binary.BigEndian.AppendUint64(packed, sats)
	return crypto.Keccak256Hash(append(packed, crypto.Keccak256(script)...))
}

// ExtraData is what is published with an escrow for a Bitcoin output, 42 bytes:
// see [OutputHint]. Unlike the claim data it uses SHA-256 and a little-endian
// amount.
func ExtraData(script []byte, sats, nonce uint64, confirmations uint16) []byte {
	txo := sha256.Sum256(append(binary.LittleEndian.AppendUint64(nil, sats), script...))
	extra := binary.BigEndian.AppendUint64(txo[:], nonce)
	return binary.BigEndian.AppendUint16(extra, confirmations)
}
