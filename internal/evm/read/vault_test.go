package read

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

func TestReadVaults(t *testing.T) {
	d := deploymentOf(t, "CITREA/MAINNET")
	params := wire.VaultParams{BtcRelayContract: d.BtcRelay.Address, Token0: wire.Native, Token1: wire.Native, Token0Multiplier: big.NewInt(1e10), Token1Multiplier: big.NewInt(1e10), Confirmations: big.NewInt(2)}
	stranger := params
	stranger.BtcRelayContract = common.Address{0xbb}
	state := func(p wire.VaultParams) wire.VaultState {
		commitment := trial.Must(p.Commitment())(t)
		return wire.VaultState{SpvVaultParametersCommitment: commitment, UtxoTxHash: common.Hash{1}, OpenBlockheight: 9, WithdrawCount: 3, Token0Amount: 5}
	}
	refs := []wire.VaultRef{{Owner: common.Address{1}, ID: big.NewInt(1)}, {Owner: common.Address{1}, ID: big.NewInt(2)}, {Owner: common.Address{1}, ID: big.NewInt(3)}, {Owner: common.Address{1}, ID: big.NewInt(4)}}
	lost := params
	lost.Confirmations = big.NewInt(99)
	states := map[int64]wire.VaultState{1: state(params), 2: state(stranger), 4: state(lost)}
	topics := func(r wire.VaultRef) []common.Hash {
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
	reads := trial.Must(Contracts{d}.ReadVaults(context.Background(), node, refs, chains.Block{}, func(common.Hash) (wire.VaultParams, bool) { return wire.VaultParams{}, false }))(t)
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
	again, err := Contracts{d}.ReadVaults(context.Background(), node, refs[:1], chains.Block{}, func(common.Hash) (wire.VaultParams, bool) { return params, true })
	if err != nil || node.trips != 1 || !again[0].Vault.Opened {
		t.Errorf("known parameters: %+v, %v after %d round trips", again, err, node.trips)
	}
}
