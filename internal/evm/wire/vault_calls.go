package wire

import (
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// token returns the token with the given index, 0 or 1.
func (p VaultParams) token(i int) common.Address {
	if i == 0 {
		return p.Token0
	}
	return p.Token1
}

// ClaimVault builds what makes a vault pay a withdrawal. The proof's vout and
// confirmations do not matter. The contract pays in the order in which the
// withdrawals spend the vault's outputs, so those before must be claimed before.
func (d Deployment) ClaimVault(v Vault, w chains.Withdrawal, p BitcoinProof, sender common.Address) (Call, error) {
	if err := d.checkVault(v); err != nil {
		return Call{}, err
	}
	tx, err := rawtx.Decode(p.Tx)
	if err != nil {
		return Call{}, err
	}
	if id := tx.TxHash(); id != w.TxID {
		return Call{}, fmt.Errorf("the proof is for transaction %s, but the withdrawal is %s", id, w.TxID)
	}
	stripped, err := rawtx.Strip(tx)
	if err != nil {
		return Call{}, err
	}
	header := struct{ Data [5][32]byte }{p.Header.words()}
	siblings := make([][32]byte, len(p.Merkle.Hashes))
	for i, h := range p.Merkle.Hashes {
		siblings[i] = h
	}
	data, err := VaultABI().Pack("claim", v.Owner, v.ID, v.Params, stripped, header, siblings, new(big.Int).SetUint64(uint64(p.Merkle.Pos)))
	return Call{To: d.VaultManager.Address, Data: data, Gas: vaultClaimGas(v.Params, w, sender)}, err
}

// ParseCall is the call data by which the contract is asked how it reads a
// transaction, given without witnesses: an error means that a claim of it would
// close the vault.
func ParseCall(stripped []byte) ([]byte, error) { return VaultABI().Pack("parseBitcoinTx", stripped) }

func (d Deployment) checkVault(v Vault) error {
	if _, err := v.Params.Commitment(); err != nil {
		return err
	}
	if !InBits(v.ID, 96) {
		return fault.Invalid("vaultId", "must be from 0 to 2^96-1")
	}
	if v.Params.BtcRelayContract != d.BtcRelay.Address {
		return fault.Invalid("vault", "uses a different relay")
	}
	return nil
}

// vaultClaimGas is the gas limit of a vault claim.
func vaultClaimGas(p VaultParams, w chains.Withdrawal, sender common.Address) uint64 {
	gas := uint64(gasVaultClaim)
	for i, raw := range w.Raw {
		if raw == 0 {
			continue
		}
		one := payGas(p.token(i))
		gas += one
		if w.Shares.Fronting > 0 {
			gas += one
		}
		if w.Shares.Caller > 0 && sender != common.HexToAddress(w.Recipient) {
			gas += one
		}
	}
	if w.Execution != nil {
		gas += gasExecution
	}
	return gas
}
