package mempoolspace

import (
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// txJSON is a transaction as the API writes it. It holds all that the id
// commits to, and the witnesses beside it.
type txJSON struct {
	TxID     string      `json:"txid"`
	Version  int64       `json:"version"`
	LockTime uint32      `json:"locktime"`
	In       []inputJSON `json:"vin"`
	Out      []outJSON   `json:"vout"`
	Status   statusJSON  `json:"status"`
}

type inputJSON struct {
	TxID      string   `json:"txid"`
	Vout      uint32   `json:"vout"`
	Prevout   *outJSON `json:"prevout"`
	ScriptSig string   `json:"scriptsig"`
	Witness   []string `json:"witness"`
	Sequence  uint32   `json:"sequence"`
}

type outJSON struct {
	Script string `json:"scriptpubkey"`
	Value  *int64 `json:"value"`
}

type statusJSON struct {
	Confirmed bool   `json:"confirmed"`
	Height    uint32 `json:"block_height"`
	Hash      string `json:"block_hash"`
	Time      int64  `json:"block_time"`
}

// status names the block of a transaction; the zero value is the mempool.
type status struct {
	confirmed bool
	height    uint32
	hash      bitcoin.Hash
	time      time.Time
}

func (j statusJSON) status() (status, error) {
	if !j.Confirmed {
		return status{}, nil
	}
	hash, err := bitcoin.ParseHash(j.Hash)
	if err != nil {
		return status{}, fmt.Errorf("block of a confirmed transaction: %w", err)
	}
	if j.Time < 0 || j.Time > 1<<32-1 {
		return status{}, fmt.Errorf("invalid block time %d", j.Time)
	}
	return status{true, j.Height, hash, time.Unix(j.Time, 0)}, nil
}

func (j outJSON) output() (*wire.TxOut, error) {
	script, err := hex.DecodeString(j.Script)
	if err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	if j.Value == nil || *j.Value < 0 || *j.Value > rawtx.MaxMoney {
		return nil, errors.New("the amount is missing or invalid")
	}
	return wire.NewTxOut(*j.Value, script), nil
}

// tx builds the transaction without checking its id. Confirmations stays 0.
func (j txJSON) tx() (*bitcoin.Tx, error) {
	if j.Version < -1<<31 || j.Version > 1<<32-1 {
		return nil, fmt.Errorf("invalid transaction version %d", j.Version)
	}
	id, err := bitcoin.ParseHash(j.TxID)
	if err != nil {
		return nil, err
	}
	m := &wire.MsgTx{Version: int32(j.Version), LockTime: j.LockTime}
	tx := &bitcoin.Tx{ID: id, Msg: m, Prevouts: make([]*wire.TxOut, len(j.In))}
	for i, in := range j.In {
		msg, err := in.input()
		if err != nil {
			return nil, fmt.Errorf("input %d: %w", i, err)
		}
		m.AddTxIn(msg)
		if in.Prevout == nil {
			continue
		}
		if tx.Prevouts[i], err = in.Prevout.output(); err != nil {
			return nil, fmt.Errorf("input %d spends: %w", i, err)
		}
	}
	for i, o := range j.Out {
		out, err := o.output()
		if err != nil {
			return nil, fmt.Errorf("output %d: %w", i, err)
		}
		m.AddTxOut(out)
	}
	st, err := j.Status.status()
	if err != nil {
		return nil, err
	}
	tx.Height, tx.BlockHash, tx.BlockTime = st.height, st.hash, st.time
	return tx, nil
}

func (j inputJSON) input() (*wire.TxIn, error) {
	id, err := bitcoin.ParseHash(j.TxID)
	if err != nil {
		return nil, err
	}
	script, err := hex.DecodeString(j.ScriptSig)
	if err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	in := &wire.TxIn{PreviousOutPoint: bitcoin.OutPoint{Hash: id, Index: j.Vout}, SignatureScript: script, Sequence: j.Sequence}
	for _, item := range j.Witness {
		w, err := hex.DecodeString(item)
		if err != nil {
			return nil, fmt.Errorf("witness: %w", err)
		}
		in.Witness = append(in.Witness, w)
	}
	return in, nil
}

// checkedTx returns the transaction if it hashes to its id and can exist.
func (j txJSON) checkedTx() (*bitcoin.Tx, error) {
	tx, err := j.tx()
	if err != nil {
		return nil, fmt.Errorf("transaction %.64q: %w", j.TxID, err)
	}
	if len(j.In) == 0 || len(j.Out) == 0 {
		return nil, fmt.Errorf("transaction %.64q has no inputs or no outputs", j.TxID)
	}
	if h := tx.Msg.TxHash(); h != tx.ID {
		return nil, fmt.Errorf("transaction hashes to %s instead of its id %s", h, tx.ID)
	}
	return tx, rawtx.CheckAmounts(tx.Msg)
}
