package solana

import (
	"slices"

	"github.com/gagliardetto/solana-go"

	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

const (
	maxStatuses = 256
	maxHistory  = 1000
)

func parseID(text string) (wire.Signature, *NodeError) {
	id, err := solana.SignatureFromBase58(text)
	if err != nil {
		return id, &NodeError{Code: -32602, Message: "Invalid param: Invalid"}
	}
	return id, nil
}

func (q *request) id(at int) (id wire.Signature, err *NodeError) {
	var text string
	if err := q.param(at, &text); err != nil {
		return id, err
	}
	return parseID(text)
}

func (q *request) getTransaction() (any, *NodeError) {
	id, err := q.id(0)
	if err != nil {
		return nil, err
	}
	c, err := q.config(1)
	if err != nil {
		return nil, err
	}
	return q.sure(c, func(v *bank.View) (any, *NodeError) {
		tx := v.Tx(id)
		if tx == nil {
			return nil, nil
		}
		out, err := encodeTx(v, tx, c, false)
		if err != nil {
			return nil, err
		}
		out["slot"], out["blockTime"] = tx.Block.Slot, tx.Block.Time
		return out, nil
	})
}

func (q *request) getSignatureStatuses() (any, *NodeError) {
	var texts []string
	if err := q.param(0, &texts); err != nil {
		return nil, err
	}
	if len(texts) > maxStatuses {
		return nil, &NodeError{Code: -32602, Message: "Too many inputs provided; max 256"}
	}
	var ids []wire.Signature
	for _, text := range texts {
		id, err := parseID(text)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return q.read(config{Commitment: "processed"}, func(v *bank.View) (any, *NodeError) {
		all := []any{}
		for _, id := range ids {
			all = append(all, status(v, v.Tx(id)))
		}
		return in(v, all), nil
	})
}

// status says how far a transaction has got, nil if the node does not know it.
func status(v *bank.View, tx *bank.Executed) any {
	if tx == nil {
		return nil
	}
	level := v.Commitment(tx.Block)
	var confirmations any
	if level != bank.Finalized {
		confirmations = v.Depth(tx.Block)
	}
	return map[string]any{"slot": tx.Block.Slot, "confirmations": confirmations, "err": errorOf(tx.Err), "status": statusOf(tx.Err), "confirmationStatus": level.String()}
}

// errorOf is a failure as JSON takes it: a nil *TxError is null.
func errorOf(err *bank.TxError) any {
	if err == nil {
		return nil
	}
	return err
}

// statusOf is the older form of it.
func statusOf(err *bank.TxError) any {
	if err == nil {
		return map[string]any{"Ok": nil}
	}
	return map[string]any{"Err": err}
}

func (q *request) getSignaturesForAddress() (any, *NodeError) {
	k, err := q.key(0)
	if err != nil {
		return nil, err
	}
	c, err := q.config(1)
	if err != nil {
		return nil, err
	}
	limit := maxHistory
	if c.Limit != nil {
		limit = *c.Limit
	}
	if limit < 1 || limit > maxHistory {
		return nil, &NodeError{Code: -32602, Message: "Invalid limit; max 1000"}
	}
	var before, until wire.Signature
	for _, bound := range []struct {
		text string
		to   *wire.Signature
	}{{c.Before, &before}, {c.Until, &until}} {
		if bound.text == "" {
			continue
		}
		if *bound.to, err = parseID(bound.text); err != nil {
			return nil, err
		}
	}
	return q.sure(c, func(v *bank.View) (any, *NodeError) {
		// What lies between the bounds is told by their place in the chain: they need not
		// name the address.
		after := func(tx, bound *bank.Executed) bool {
			return tx.Block.Slot > bound.Block.Slot || tx.Block == bound.Block && tx.Index > bound.Index
		}
		from, to := v.Tx(before), v.Tx(until)
		out := []any{}
		if c.Before != "" && from == nil {
			return out, nil
		}
		for tx := range v.History(k) {
			if from != nil && !after(from, tx) {
				continue
			}
			if to != nil && !after(tx, to) || len(out) == limit {
				break
			}
			out = append(out, map[string]any{"signature": tx.ID.String(), "slot": tx.Block.Slot, "err": errorOf(tx.Err), "memo": memoOf(tx),
				"blockTime": tx.Block.Time, "confirmationStatus": v.Commitment(tx.Block).String()})
		}
		return out, nil
	})
}

// memoOf is the text of a transaction's memos, as lists of transactions show it.
func memoOf(tx *bank.Executed) any {
	var text string
	for _, ix := range tx.Instructions {
		if slices.Contains([]wire.Key{bank.MemoProgram, bank.MemoProgramOld}, ix.Program) {
			if text != "" {
				text += "; "
			}
			text += "[" + decimal(uint64(len(ix.Data)), 0) + "] " + string(ix.Data)
		}
	}
	if text == "" {
		return nil
	}
	return text
}
