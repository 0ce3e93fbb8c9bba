package wire

import (
	"fmt"
	"math"
	"math/big"

	"github.com/swapper-go/swapper/chains"
)

// reputationOrder is the order in which an LP's reputation is asked for (§12.3).
var reputationOrder = [4]chains.Kind{chains.HTLC, chains.OnchainTxID, chains.Onchain, chains.OnchainNonced}

// ReputationCall is what [EntryReputation] takes for an LP and a token.
func (d Deployment) ReputationCall(lp, token Felt) []Felt {
	w := felts(nil).uint(uint64(len(reputationOrder)))
	for _, k := range reputationOrder {
		w = w.add(lp, token, d.ClaimHandlers[k])
	}
	return w
}

// ReadReputation reads the answer to [Deployment.ReputationCall].
func ReadReputation(answer []Felt) (map[chains.Kind]chains.Reputation, error) {
	r := &reader{rest: answer}
	if n := r.uint(64); r.err == nil && n != uint64(len(reputationOrder)) {
		return nil, fmt.Errorf("reputation has %d kinds instead of %d", n, len(reputationOrder))
	}
	count := func() uint64 {
		n := r.u128()
		if !n.IsUint64() {
			return math.MaxUint64
		}
		return n.Uint64()
	}
	reputation := map[chains.Kind]chains.Reputation{}
	for _, k := range reputationOrder {
		reputation[k] = chains.Reputation{
			SuccessVolume: r.u256(), Successes: count(), CoopCloseVolume: r.u256(), CoopCloses: count(), FailureVolume: r.u256(), Failures: count(),
		}
	}
	if err := r.end(); err != nil {
		return nil, fmt.Errorf("reputation: %w", err)
	}
	return reputation, nil
}

// LPBalanceCall is what [EntryLPBalance] takes for the balance of an LP in a token.
func LPBalanceCall(lp, token Felt) []Felt { return felts(nil).uint(1).add(lp, token) }

// ReadLPBalance reads the answer to [LPBalanceCall].
func ReadLPBalance(answer []Felt) (*big.Int, error) {
	r := &reader{rest: answer}
	if n := r.uint(64); r.err == nil && n != 1 {
		return nil, fmt.Errorf("got %d balances instead of one", n)
	}
	n := r.u256()
	return n, r.end()
}

// ReadU256 reads an answer that is one amount: a token's balance.
func ReadU256(answer []Felt) (*big.Int, error) {
	r := &reader{rest: answer}
	n := r.u256()
	return n, r.end()
}
