package read

import (
	"context"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// vaultLog makes a log of the vault manager.
func vaultLog(t *testing.T, d wire.Deployment, height uint64, event string, topics []common.Hash, values ...any) types.Log {
	t.Helper()
	e := wire.VaultABI().Events[event]
	data := trial.Must(e.Inputs.NonIndexed().Pack(values...))(t)
	return types.Log{Address: d.VaultManager.Address, Topics: append([]common.Hash{e.ID}, topics...), Data: data,
		BlockNumber: height, BlockHash: common.Hash{byte(height)}, TxHash: common.Hash{0xaa, byte(height), event[0], event[1]}}
}

func TestOutcome(t *testing.T) {
	d := deploymentOf(t, "CITREA/MAINNET")
	ours := wire.WithdrawalLookup{Vault: wire.VaultRef{Owner: common.Address{1}, ID: big.NewInt(7)}, Recipient: common.Address{2}, TxID: bitcoin.Hash{3}}
	foreign := wire.VaultRef{Owner: common.Address{9}, ID: big.NewInt(7)}
	topics := func(v wire.VaultRef, recipient common.Address) []common.Hash {
		return []common.Hash{wire.PackVaultRef(v), common.BytesToHash(recipient[:]), common.Hash(ours.TxID)}
	}
	front := func(height uint64, v wire.VaultRef, recipient common.Address) types.Log {
		return vaultLog(t, d, height, "Fronted", topics(v, recipient), common.Address{5}, common.Hash{}, uint64(1), uint64(0))
	}
	claim := func(height uint64, v wire.VaultRef, recipient common.Address) types.Log {
		return vaultLog(t, d, height, "Claimed", topics(v, recipient), common.Address{5}, common.Hash{}, common.Address{5}, uint32(1), uint64(1), uint64(0))
	}
	closing := func(height uint64, v wire.VaultRef) types.Log {
		return vaultLog(t, d, height, "Closed", []common.Hash{common.BytesToHash(v.Owner[:]), common.BigToHash(v.ID), common.Hash(ours.TxID)}, []byte("no"))
	}
	removed := claim(4, ours.Vault, ours.Recipient)
	removed.Removed = true
	for _, c := range []struct {
		name string
		logs []types.Log
		want chains.WithdrawalState
	}{
		{"nothing", nil, chains.WithdrawalNone},
		{"advanced", []types.Log{front(1, ours.Vault, ours.Recipient)}, chains.WithdrawalFronted},
		{"advanced, then claimed", []types.Log{front(1, ours.Vault, ours.Recipient), claim(2, ours.Vault, ours.Recipient)}, chains.WithdrawalClaimed},
		{"claimed, then an advance is said to follow", []types.Log{claim(1, ours.Vault, ours.Recipient), front(2, ours.Vault, ours.Recipient)}, chains.WithdrawalClaimed},
		{"closed over it", []types.Log{front(1, ours.Vault, ours.Recipient), closing(2, ours.Vault)}, chains.WithdrawalClosed},
		{"advanced from a vault of a stranger", []types.Log{front(1, foreign, ours.Recipient)}, chains.WithdrawalNone},
		{"claimed from a vault of a stranger", []types.Log{claim(1, foreign, ours.Recipient)}, chains.WithdrawalNone},
		{"paid to a stranger", []types.Log{claim(1, ours.Vault, common.Address{8})}, chains.WithdrawalNone},
		{"a stranger's vault closed", []types.Log{closing(1, foreign)}, chains.WithdrawalNone},
		{"claim undone by a reorganisation", []types.Log{removed}, chains.WithdrawalNone},
	} {
		t.Run(c.name, func(t *testing.T) {
			node := &cannedNode{t: t, logs: c.logs}
			facts, err := Contracts{d}.ReadWithdrawals(context.Background(), node, []wire.WithdrawalLookup{ours}, rpc.BlockRange{From: 0, To: 5 * rpc.LogRange})
			if err != nil || facts[0].State != c.want {
				t.Errorf("got %+v, %v; want state %d", facts, err, c.want)
			}
			if node.trips != 2 {
				t.Errorf("%d round trips for 6 ranges", node.trips)
			}
		})
	}
}
