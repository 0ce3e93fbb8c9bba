package wire

import (
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
)

// reputationOrder is the order in which an LP's reputation is asked for.
func reputationOrder() []chains.Kind {
	return []chains.Kind{chains.HTLC, chains.OnchainTxID, chains.Onchain, chains.OnchainNonced}
}

// ReputationCall is the call data that asks for an LP's reputation with a token
// (protocol: chain-evm.md §12).
func (d Deployment) ReputationCall(lp, token common.Address) ([]byte, error) {
	type query struct{ Owner, Token, ClaimHandler common.Address }
	var queries []query
	for _, k := range reputationOrder() {
		queries = append(queries, query{lp, token, d.ClaimHandlers[k]})
	}
	return EscrowABI().Pack("getReputation", queries)
}

// DecodeReputation reads the answer to [Deployment.ReputationCall].
func DecodeReputation(answer []byte) (map[chains.Kind]chains.Reputation, error) {
	type entry struct {
		Amount *big.Int
		Count  uint32
	}
	var all [][3]entry // successes, cooperative closes, failures
	if err := Unpack(EscrowABI(), "getReputation", answer, &all); err != nil {
		return nil, err
	}
	order := reputationOrder()
	if len(all) != len(order) {
		return nil, fmt.Errorf("reputation has %d kinds instead of %d", len(all), len(order))
	}
	reputation := map[chains.Kind]chains.Reputation{}
	for i, k := range order {
		reputation[k] = chains.Reputation{
			Successes: uint64(all[i][0].Count), SuccessVolume: all[i][0].Amount,
			CoopCloses: uint64(all[i][1].Count), CoopCloseVolume: all[i][1].Amount,
			Failures: uint64(all[i][2].Count), FailureVolume: all[i][2].Amount,
		}
	}
	return reputation, nil
}

// FundsCall is the call data that asks for an LP's balance of a token in the
// contract.
func FundsCall(lp, token common.Address) ([]byte, error) {
	return EscrowABI().Pack("getBalance", []struct{ Owner, Token common.Address }{{lp, token}})
}

// DecodeFunds reads the answer to [FundsCall].
func DecodeFunds(answer []byte) (*big.Int, error) {
	var balances []*big.Int
	if err := Unpack(EscrowABI(), "getBalance", answer, &balances); err != nil {
		return nil, err
	}
	if len(balances) != 1 {
		return nil, fmt.Errorf("got %d balances instead of one", len(balances))
	}
	return balances[0], nil
}

// BalanceCall is the call data that asks a token contract for a balance.
func BalanceCall(owner common.Address) ([]byte, error) { return ERC20ABI().Pack("balanceOf", owner) }

// AllowanceCall is the call data that asks a token contract for an allowance.
func AllowanceCall(owner, spender common.Address) ([]byte, error) {
	return ERC20ABI().Pack("allowance", owner, spender)
}

// DecodeAmount reads the answer to [BalanceCall] or [AllowanceCall].
func DecodeAmount(answer []byte) (*big.Int, error) {
	if len(answer) != 32 {
		return nil, fmt.Errorf("amount has %d bytes instead of 32", len(answer))
	}
	return new(big.Int).SetBytes(answer), nil
}
