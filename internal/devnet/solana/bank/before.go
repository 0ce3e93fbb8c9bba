package bank

import (
	"bytes"
	"encoding/binary"

	"github.com/swapper-go/swapper/internal/solana/wire"
)

// What the swap program believes because the first instruction of the transaction has
// checked it: that a Bitcoin transaction is confirmed, that Bitcoin has a height, that
// the claimer has signed. That instruction has been executed: its data is complete.

var (
	verifyID = wire.NameOf("global", "verify_transaction")
	heightID = wire.NameOf("global", "block_height")
)

// verifiedBefore demands that the relay has checked a Bitcoin transaction.
func verifiedBefore(first wire.Instruction, p wire.Programs, txid [32]byte, confirmations uint32) error {
	d := first.Data
	switch {
	case first.Program != p.Relay:
		return verifyProgram
	case !bytes.HasPrefix(d, verifyID[:]):
		return verifyInstruction
	case [32]byte(d[8:40]) != txid:
		return verifyTxID
	case binary.LittleEndian.Uint32(d[40:]) != confirmations:
		return verifyConfirmations
	}
	return nil
}

// heightBefore demands that the relay has compared its height.
func heightBefore(first wire.Instruction, p wire.Programs, height uint32, op wire.HeightOp) error {
	d := first.Data
	switch {
	case first.Program != p.Relay:
		return heightProgram
	case !bytes.HasPrefix(d, heightID[:]):
		return heightInstruction
	case binary.LittleEndian.Uint32(d[8:]) != height:
		return heightValue
	case wire.HeightOp(binary.LittleEndian.Uint32(d[12:])) != op:
		return heightOperation
	}
	return nil
}

// signatureForm is how the data of a check of one signature begins, where everything
// is in the instruction itself: key, signature, message (§14).
var signatureForm = []byte{1, 0, 48, 0, 0xff, 0xff, 16, 0, 0xff, 0xff, 112, 0, 32, 0, 0xff, 0xff}

// signedBefore demands that the network has checked a key's signature of a hash.
func signedBefore(first wire.Instruction, key wire.Key, hash [32]byte) error {
	d := first.Data
	switch {
	case first.Program != wire.Ed25519Program:
		return signatureProgram
	case len(first.Accounts) != 0:
		return signatureAccounts
	case len(d) != 16+32+64+len(hash):
		return signatureLength
	case !bytes.HasPrefix(d, signatureForm):
		return signatureHeader
	case wire.Key(d[16:48]) != key || [32]byte(d[112:]) != hash:
		return signatureData
	}
	return nil
}
