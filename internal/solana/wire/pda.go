package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/gagliardetto/solana-go"
)

// derive returns the program-derived address of seeds. Seeds here are short and few,
// and one of 256 bumps always fits.
func derive(program Key, seeds ...[]byte) Key {
	k, _, err := solana.FindProgramAddress(seeds, program)
	if err != nil {
		panic(fmt.Sprintf("no program-derived address of %s: %v", program, err))
	}
	return k
}

// ATA returns the associated token account of owner, who may be off the curve, for a mint.
func ATA(owner, mint Key) Key {
	return derive(ATAProgram, owner[:], TokenProgram[:], mint[:])
}

// Authority returns the owner of the vaults of v1. In v2 each vault owns itself.
func (p Programs) Authority() Key { return derive(p.Swap, []byte("authority")) }

// Vault returns the token account that holds the locked and deposited funds of a mint.
func (p Programs) Vault(mint Key) Key { return derive(p.Swap, []byte("vault"), mint[:]) }

// UserVault returns the account of a user's balance and reputation in a mint.
func (p Programs) UserVault(user, mint Key) Key {
	return derive(p.Swap, []byte("uservault"), user[:], mint[:])
}

// Escrow returns the account of the escrow of a payment hash. It depends on nothing
// else: a program has one live escrow per hash.
func (p Programs) Escrow(paymentHash [32]byte) Key {
	return derive(p.Swap, []byte("state"), paymentHash[:])
}

// RelayState returns the account of the relay's main chain.
func (p Programs) RelayState() Key { return derive(p.Relay, []byte("state")) }

// RelayHeader returns the address under which stored headers of a block are found.
// No account exists there: it is an index. The hash is in internal order.
func (p Programs) RelayHeader(blockHash [32]byte) Key {
	return derive(p.Relay, []byte("header"), blockHash[:])
}

// RelayFork returns the account of a fork that submitter builds.
func (p Programs) RelayFork(id uint64, submitter Key) Key {
	return derive(p.Relay, []byte("fork"), binary.LittleEndian.AppendUint64(nil, id), submitter[:])
}
