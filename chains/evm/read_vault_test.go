package evm

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
)

// vaultLog makes a log of the vault manager.
func vaultLog(t *testing.T, d Deployment, height uint64, event string, topics []common.Hash, values ...any) types.Log {
	t.Helper()
	e := vaultABI().Events[event]
	data, err := e.Inputs.NonIndexed().Pack(values...)
	if err != nil {
		t.Fatal(err)
	}
	return types.Log{Address: d.VaultManager.Address, Topics: append([]common.Hash{e.ID}, topics...), Data: data,
		BlockNumber: height, BlockHash: common.Hash{byte(height)}, TxHash: common.Hash{0xaa, byte(height), event[0], event[1]}}
}

func TestOutcome(t *testing.T) {
	d := deploymentOf(t, "CITREA/MAINNET")
	ours := WithdrawalLookup{Vault: VaultRef{common.Address{1}, big.NewInt(7)}, Recipient: common.Address{2}, TxID: bitcoin.Hash{3}}
	foreign := VaultRef{common.Address{9}, big.NewInt(7)}
	topics := func(v VaultRef, recipient common.Address) []common.Hash {
		return []common.Hash{packVaultRef(v), common.BytesToHash(recipient[:]), common.Hash(ours.TxID)}
	}
	front := func(height uint64, v VaultRef, recipient common.Address) types.Log {
		return vaultLog(t, d, height, "Fronted", topics(v, recipient), common.Address{5}, common.Hash{}, uint64(1), uint64(0))
	}
	claim := func(height uint64, v VaultRef, recipient common.Address) types.Log {
		return vaultLog(t, d, height, "Claimed", topics(v, recipient), common.Address{5}, common.Hash{}, common.Address{5}, uint32(1), uint64(1), uint64(0))
	}
	closing := func(height uint64, v VaultRef) types.Log {
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
			facts, err := d.ReadWithdrawals(context.Background(), node, []WithdrawalLookup{ours}, BlockRange{0, 5 * LogRange})
			if err != nil || facts[0].State != c.want {
				t.Errorf("got %+v, %v; want state %d", facts, err, c.want)
			}
			if node.trips != 2 {
				t.Errorf("%d round trips for 6 ranges", node.trips)
			}
		})
	}
}

func TestReadVaults(t *testing.T) {
	d := deploymentOf(t, "CITREA/MAINNET")
	params := VaultParams{d.BtcRelay.Address, Native, Native, big.NewInt(1e10), big.NewInt(1e10), big.NewInt(2)}
	stranger := params
	stranger.BtcRelayContract = common.Address{0xbb}
	state := func(p VaultParams) VaultState {
		commitment, err := p.Commitment()
		if err != nil {
			t.Fatal(err)
		}
		return VaultState{SpvVaultParametersCommitment: commitment, UtxoTxHash: common.Hash{1}, OpenBlockheight: 9, WithdrawCount: 3, Token0Amount: 5}
	}
	refs := []VaultRef{{common.Address{1}, big.NewInt(1)}, {common.Address{1}, big.NewInt(2)}, {common.Address{1}, big.NewInt(3)}, {common.Address{1}, big.NewInt(4)}}
	lost := params
	lost.Confirmations = big.NewInt(99)
	states := map[int64]VaultState{1: state(params), 2: state(stranger), 4: state(lost)}
	topics := func(r VaultRef) []common.Hash {
		return []common.Hash{common.BytesToHash(r.Owner[:]), common.BigToHash(r.ID), {1}}
	}
	node := &cannedNode{t: t, view: func(_ common.Address, m *abi.Method, args []any, _ []byte) ([]byte, error) {
		if m.Name != "getVault" {
			return nil, errors.New("execution reverted")
		}
		return pack(t, m, states[args[1].(*big.Int).Int64()]), nil
	}, logs: []types.Log{
		vaultLog(t, d, 9, "Opened", topics(refs[0]), uint32(0), params),
		vaultLog(t, d, 9, "Opened", topics(refs[1]), uint32(0), stranger),
		vaultLog(t, d, 9, "Opened", topics(refs[3]), uint32(0), params), // not those that it was opened with
	}}
	reads, err := d.ReadVaults(context.Background(), node, refs, chains.Block{}, func(common.Hash) (VaultParams, bool) { return VaultParams{}, false })
	if err != nil {
		t.Fatal(err)
	}
	if node.trips != 2 {
		t.Errorf("%d round trips", node.trips)
	}
	if r := reads[0]; r.Err != nil || !r.Vault.Opened || !r.OurRelay || r.Vault.Raw[0] != 5 {
		t.Errorf("our vault: %+v", r)
	}
	if f := reads[0].Fact(chains.Block{Height: 1}); !f.Vault.Open || f.Vault.Confirmations != 2 || f.Vault.Withdrawals != 3 {
		t.Errorf("in neutral form: %+v", f)
	}
	if r := reads[1]; r.Err != nil || r.OurRelay {
		t.Errorf("vault with another relay: %+v", r)
	}
	if r := reads[2]; r.Err != nil || r.Vault.Opened {
		t.Errorf("no vault: %+v", r)
	}
	if r := reads[3]; r.Err == nil {
		t.Errorf("vault with forged parameters: %+v", r)
	}
	node.trips = 0
	again, err := d.ReadVaults(context.Background(), node, refs[:1], chains.Block{}, func(common.Hash) (VaultParams, bool) { return params, true })
	if err != nil || node.trips != 1 || !again[0].Vault.Opened {
		t.Errorf("known parameters: %+v, %v after %d round trips", again, err, node.trips)
	}
}
