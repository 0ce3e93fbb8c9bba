package wire

import (
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
)

// WithdrawalLookup names a withdrawal to look for.
type WithdrawalLookup struct {
	Vault     VaultRef
	Recipient common.Address
	TxID      bitcoin.Hash
}

// Outcome reads what became of a withdrawal from logs in ascending order
// (protocol: chain-evm.md §11.4). That it was advanced is overridden by its
// claim or by the closing of the vault. Logs name a Bitcoin transaction that
// anybody can choose, so those of another vault or recipient do not count.
func (d Deployment) Outcome(l WithdrawalLookup, logs []types.Log) chains.WithdrawalFact {
	var f chains.WithdrawalFact
	if !InBits(l.Vault.ID, 96) {
		return f
	}
	want := PackVaultRef(l.Vault)
	for _, log := range logs {
		e, err := d.DecodeLog(log)
		if err != nil {
			continue
		}
		tx := log.TxHash.Hex()
		switch e := e.(type) {
		case VaultFrontEvent:
			if PackVaultRef(e.VaultRef) == want && e.Recipient == l.Recipient && e.BitcoinTx == l.TxID {
				f.FrontTx = tx
				if f.State == chains.WithdrawalNone {
					f.State, f.Height = chains.WithdrawalFronted, log.BlockNumber
				}
			}
		case VaultClaimEvent:
			if PackVaultRef(e.VaultRef) == want && e.Recipient == l.Recipient && e.BitcoinTx == l.TxID {
				f.State, f.ClaimTx, f.Height = chains.WithdrawalClaimed, tx, log.BlockNumber
			}
		case VaultCloseEvent:
			if PackVaultRef(e.VaultRef) == want && e.BitcoinTx == l.TxID {
				f.State, f.Close, f.Height = chains.WithdrawalClosed, tx, log.BlockNumber
			}
		}
	}
	return f
}
