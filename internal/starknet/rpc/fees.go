package rpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Estimate is what a node reckons that a transaction uses, executed on the block that is
// being made. It is a guess: what a transaction costs at most are its own bounds.
type Estimate struct {
	Gas    wire.Gas
	Prices Prices
	Fee    *big.Int // fri
}

// UnmarshalJSON implements [json.Unmarshaler].
func (e *Estimate) UnmarshalJSON(data []byte) error {
	var j struct {
		L1          *felt  `json:"l1_gas_consumed"`
		L1Price     *felt  `json:"l1_gas_price"`
		L2          *felt  `json:"l2_gas_consumed"`
		L2Price     *felt  `json:"l2_gas_price"`
		L1Data      *felt  `json:"l1_data_gas_consumed"`
		L1DataPrice *felt  `json:"l1_data_gas_price"`
		Fee         *felt  `json:"overall_fee"`
		Unit        string `json:"unit"`

		// Before version 0.8, which knows two kinds of gas.
		Gas       *felt `json:"gas_consumed"`
		GasPrice  *felt `json:"gas_price"`
		Data      *felt `json:"data_gas_consumed"`
		DataPrice *felt `json:"data_gas_price"`
	}
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	if j.Fee == nil || j.Unit != "" && j.Unit != "FRI" {
		return errors.New("the estimate has no fee in fri")
	}
	if j.L1 == nil && j.Gas != nil {
		j.L1, j.L1Price, j.L1Data, j.L1DataPrice = j.Gas, j.GasPrice, j.Data, j.DataPrice
	}
	*e = Estimate{Fee: j.Fee.number(), Prices: Prices{L1: j.L1Price.number(), L2: j.L2Price.number(), L1Data: j.L1DataPrice.number()}}
	for _, g := range []struct {
		from *felt
		to   *uint64
	}{{j.L1, &e.Gas.L1}, {j.L2, &e.Gas.L2}, {j.L1Data, &e.Gas.L1Data}} {
		if g.from == nil {
			continue
		}
		n := g.from.number()
		if !n.IsUint64() {
			return errors.New("an amount of gas in the estimate is too large: it must be below 2^64")
		}
		*g.to = n.Uint64()
	}
	return nil
}

// bodies are signed transactions as nodes take them.
func bodies(txs []*wire.Transaction) ([]json.RawMessage, error) {
	all := make([]json.RawMessage, len(txs))
	for i, tx := range txs {
		var err error
		if _, _, all[i], err = tx.Broadcast(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// TrialRequest asks what invocations that are not signed yet, by accounts that are
// deployed, would use, one after the other, on the block that is being made. Nonces and
// balances are checked. What an account takes to check its signature is not in the answer.
// One that fails is an error that [IsReverted] knows, or one that [IsRefusal] knows. They
// are shown to the node: never one that reveals a secret.
func TrialRequest(txs []*wire.Transaction, result *[]Estimate) (Request, error) {
	trials := make([]*wire.Transaction, len(txs))
	for i, tx := range txs {
		trials[i] = tx.Trial()
	}
	return estimate(trials, result, "SKIP_VALIDATE")
}

func estimate(txs []*wire.Transaction, result *[]Estimate, flags ...string) (Request, error) {
	all, err := bodies(txs)
	if err != nil {
		return Request{}, err
	}
	return Request{Method: "starknet_estimateFee", Result: result, Check: func(got any) error { return checkCount(len(*got.(*[]Estimate)), len(txs)) },
		Form: func(v int) any {
			return object{"request": all, "simulation_flags": append([]string{}, flags...), "block_id": preConfirmed(v)}
		}}, nil
}

func checkCount(got, want int) error {
	if got != want {
		return fmt.Errorf("response has %d transactions, not %d", got, want)
	}
	return nil
}

// Simulation is what a transaction would do on the block that is being made.
type Simulation struct {
	Reverted bool
	Reason   string // of a revert
	Estimate Estimate
}

// UnmarshalJSON implements [json.Unmarshaler].
func (s *Simulation) UnmarshalJSON(data []byte) error {
	var j struct {
		Trace *struct {
			Type    string          `json:"type"`
			Execute json.RawMessage `json:"execute_invocation"`
		} `json:"transaction_trace"`
		Estimate *Estimate `json:"fee_estimation"`
	}
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	if j.Trace == nil || j.Estimate == nil {
		return errors.New("no outcome")
	}
	*s = Simulation{Estimate: *j.Estimate}
	if len(j.Trace.Execute) == 0 {
		return nil // of a deployment
	}
	var reverted struct {
		Reason json.RawMessage `json:"revert_reason"`
	}
	if err := json.Unmarshal(j.Trace.Execute, &reverted); err != nil {
		return err
	}
	if len(reverted.Reason) > 0 && string(reverted.Reason) != "null" {
		s.Reverted, s.Reason = true, wire.RevertReason(reverted.Reason)
	}
	return nil
}

// SimulateRequest asks what signed transactions would do, one after the other, on the
// block that is being made. What [TrialRequest] says of secrets holds here too. One
// that reverts is a [Simulation]; one that its account or the network does not take is
// an error that [IsRefusal] knows.
func SimulateRequest(txs []*wire.Transaction, result *[]Simulation) (Request, error) {
	all, err := bodies(txs)
	if err != nil {
		return Request{}, err
	}
	return Request{Method: "starknet_simulateTransactions", Result: result, Check: func(got any) error { return checkCount(len(*got.(*[]Simulation)), len(txs)) },
		Form: func(v int) any {
			return object{"transactions": all, "simulation_flags": []string{}, "block_id": preConfirmed(v)}
		}}, nil
}
