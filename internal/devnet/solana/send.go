package solana

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	"github.com/gagliardetto/solana-go"
	"github.com/mr-tron/base58"

	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Most characters of a transaction in text.
const (
	maxBase64Tx = 1644
	maxBase58Tx = 1683
)

// transaction reads the transaction that is the first parameter.
func (q *request) transaction(encoding string) (*bank.Tx, *NodeError) {
	var text string
	if err := q.param(0, &text); err != nil {
		return nil, err
	}
	const what = "solana_transaction::versioned::VersionedTransaction"
	var raw []byte
	var err error
	switch encoding {
	case "base64":
		if len(text) > maxBase64Tx {
			return nil, &NodeError{Code: -32602, Message: fmt.Sprintf("base64 encoded %s too large: %d bytes (max: encoded/raw %d/%d)", what, len(text), maxBase64Tx, wire.MaxTxSize)}
		}
		raw, err = base64.StdEncoding.DecodeString(text)
	case "", "base58":
		if len(text) > maxBase58Tx {
			return nil, &NodeError{Code: -32602, Message: fmt.Sprintf("base58 encoded %s too large: %d bytes (max: encoded/raw %d/%d)", what, len(text), maxBase58Tx, wire.MaxTxSize)}
		}
		raw, err = base58.Decode(text)
	default:
		return nil, &NodeError{Code: -32602, Message: "unsupported encoding: " + encoding + ". Supported encodings: base58, base64"}
	}
	if err != nil {
		return nil, &NodeError{Code: -32602, Message: fmt.Sprintf("invalid %s encoding: %v", encoding, err)}
	}
	if len(raw) > wire.MaxTxSize {
		return nil, &NodeError{Code: -32602, Message: fmt.Sprintf("decoded %s too large: %d bytes (max: %d bytes)", what, len(raw), wire.MaxTxSize)}
	}
	tx, err := bank.Parse(raw)
	if refused := (*bank.TxError)(nil); errors.As(err, &refused) {
		return nil, &NodeError{Code: -32602, Message: "invalid transaction: " + refused.Error()}
	}
	if err != nil {
		return nil, &NodeError{Code: -32602, Message: err.Error()}
	}
	return tx, nil
}

func (q *request) sendTransaction() (any, *NodeError) {
	c, err := q.config(1)
	if err != nil {
		return nil, err
	}
	tx, err := q.transaction(c.Encoding)
	if err != nil {
		return nil, err
	}
	if !c.SkipPreflight {
		if q.fault.Unhealthy {
			return nil, unhealthy
		}
		if tx.Verify() != nil {
			return nil, &NodeError{Code: -32003, Message: "Transaction signature verification failure"}
		}
		if c.Commitment = c.PreflightCommitment; c.Commitment == "" {
			c.Commitment = "finalized"
		}
		_, err := q.read(c, func(v *bank.View) (any, *NodeError) {
			result, _, err := v.Simulate(tx, false)
			out := simulation(tx, result, err, false)
			if failure := failureOf(result, err); failure != nil {
				return nil, &NodeError{Code: -32002, Message: "Transaction simulation failed: " + failure.Error(), Data: out}
			}
			return nil, nil
		})
		if err != nil {
			return nil, err
		}
	}
	if !q.fault.LoseTransaction {
		_, _ = q.bank().Send(tx.Raw) // a transaction that no block can take is taken by nodes all the same
	}
	return tx.ID.String(), nil
}

func failureOf(r *bank.Result, err error) *bank.TxError {
	if refused := (*bank.TxError)(nil); errors.As(err, &refused) {
		return refused
	}
	if r != nil {
		return r.Err
	}
	return nil
}

// simulation writes what a transaction would do.
func simulation(tx *bank.Tx, r *bank.Result, err error, inner bool) map[string]any {
	out := map[string]any{"err": errorOf(failureOf(r, err)), "accounts": nil, "logs": []string{}, "unitsConsumed": 0, "returnData": nil,
		"innerInstructions": nil, "replacementBlockhash": nil, "loadedAccountsDataSize": 0}
	if r != nil {
		if r.Logs != nil {
			out["logs"] = r.Logs
		}
		out["unitsConsumed"], out["returnData"] = r.Units, returned(r)
		if inner {
			out["innerInstructions"] = innerInstructions(tx, r.Inner, true)
		}
	}
	return out
}

func (q *request) simulateTransaction() (any, *NodeError) {
	c, err := q.config(1)
	if err != nil {
		return nil, err
	}
	tx, err := q.transaction(c.Encoding)
	if err != nil {
		return nil, err
	}
	switch {
	case c.SigVerify && c.ReplaceRecentBlockhash:
		return nil, &NodeError{Code: -32602, Message: "sigVerify may not be used with replaceRecentBlockhash"}
	case c.SigVerify && tx.Verify() != nil:
		return nil, &NodeError{Code: -32003, Message: "Transaction signature verification failure"}
	}
	return q.read(c, func(v *bank.View) (any, *NodeError) {
		result, after, err := v.Simulate(tx, c.ReplaceRecentBlockhash)
		out := simulation(tx, result, err, c.InnerInstructions)
		if c.ReplaceRecentBlockhash {
			out["replacementBlockhash"] = map[string]any{"blockhash": v.Head().Hash.String(), "lastValidBlockHeight": bank.LastValid(v.Head())}
		}
		if c.Accounts != nil {
			all, err := simulated(v, tx, after, config{Encoding: c.Accounts.Encoding}, c.Accounts.Addresses)
			if err != nil {
				return nil, err
			}
			out["accounts"] = all
		}
		return in(v, out), nil
	})
}

// simulated writes the accounts that a simulation was asked for.
func simulated(v *bank.View, tx *bank.Tx, after []bank.Account, c config, addresses []string) ([]any, *NodeError) {
	if c.Encoding == "" {
		c.Encoding = "base64"
	}
	if c.Encoding == "base58" || c.Encoding == "binary" {
		return nil, &NodeError{Code: -32602, Message: "base58 encoding not supported"}
	}
	all := []any{}
	for _, text := range addresses {
		k, err := parseKey(text)
		if err != nil {
			return nil, err
		}
		i := slices.Index(tx.Message.AccountKeys, k)
		if i < 0 || i >= len(after) || after[i].Lamports == 0 {
			all = append(all, nil)
			continue
		}
		a, err := encodeAccount(v, k, after[i], c)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

func (q *request) getFeeForMessage() (any, *NodeError) {
	var text string
	if err := q.param(0, &text); err != nil {
		return nil, err
	}
	c, err := q.config(1)
	if err != nil {
		return nil, err
	}
	var m solana.Message
	if e := m.UnmarshalBase64(text); e != nil {
		return nil, &NodeError{Code: -32602, Message: "invalid base64 encoding"}
	}
	raw, e := (&solana.Transaction{Message: m, Signatures: make([]wire.Signature, m.Header.NumRequiredSignatures)}).MarshalBinary()
	if e != nil {
		return nil, &NodeError{Code: -32602, Message: e.Error()}
	}
	tx, e := bank.Parse(raw)
	if e != nil {
		return nil, &NodeError{Code: -32602, Message: "invalid transaction: " + e.Error()}
	}
	return q.read(c, func(v *bank.View) (any, *NodeError) {
		budget, e := tx.Budget()
		if e != nil || !v.Valid(m.RecentBlockhash) {
			return in(v, nil), nil
		}
		return in(v, budget.Fee), nil
	})
}
