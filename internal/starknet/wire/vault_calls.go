package wire

import (
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// entryVaultClaim pays a withdrawal out of a vault (§15.1).
const entryVaultClaim = "claim"

// VaultClaim builds the claim of one withdrawal.
func (d Deployment) VaultClaim(v Vault, p BitcoinProof) (Call, error) {
	if !v.Open() {
		return Call{}, fault.New(fault.InvalidState, "vault %s of %s is closed", Decimal(v.ID), Hex64(v.Owner))
	}
	if v.Relay != d.BtcRelay.Address {
		return Call{}, fault.New(fault.InvalidState, "vault %s of %s uses a different relay", Decimal(v.ID), Hex64(v.Owner))
	}
	tx, err := rawtx.Decode(p.Tx)
	if err != nil {
		return Call{}, err
	}
	if _, err := ParseWithdrawal(tx); err != nil {
		return Call{}, err
	}
	stripped, err := rawtx.Strip(tx)
	if err != nil {
		return Call{}, err
	}
	w := v.felts().add(ByteArray(stripped)...).storedHeader(p.Header).merkle(p.Merkle)
	return Call{To: d.VaultManager.Address, Entry: entryVaultClaim, Calldata: w, Gas: gasVaultClaim.plus(proofGas(len(stripped), len(p.Merkle.Hashes)))}, nil
}

// Batches cuts claims of a vault into transactions: as many as the protocol puts into
// one, and as the public sequencers take the bounds of, which is fewer.
func Batches(claims []Call) (transactions [][]Call) {
	for len(claims) > 0 {
		n, gas := 1, claims[0].Gas.L2
		for n < min(len(claims), MaxVaultClaims) && gas+claims[n].Gas.L2 <= maxTxGas {
			gas += claims[n].Gas.L2
			n++
		}
		transactions = append(transactions, claims[:n:n])
		claims = claims[n:]
	}
	return transactions
}
