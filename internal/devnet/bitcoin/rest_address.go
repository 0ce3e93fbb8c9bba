package bitcoin

import (
	"bytes"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

type statsJSON struct {
	FundedCount int   `json:"funded_txo_count"`
	FundedSum   int64 `json:"funded_txo_sum"`
	SpentCount  int   `json:"spent_txo_count"`
	SpentSum    int64 `json:"spent_txo_sum"`
	TxCount     int   `json:"tx_count"`
}

// script returns the script of the path's address.
func (c *call) script() ([]byte, error) {
	a, err := bitcoin.ParseAddress(c.PathValue("address"), bitcoin.Regtest)
	if err != nil {
		return nil, errBadAddress
	}
	return a.Script(), nil
}

func (c *call) address() (any, error) {
	script, err := c.script()
	if err != nil {
		return nil, err
	}
	var chain, pool statsJSON
	for _, e := range c.history(script) {
		stats := &pool
		if c.sees(e.block) {
			stats = &chain
		}
		stats.TxCount++
		for _, out := range e.tx.TxOut {
			if bytes.Equal(out.PkScript, script) {
				stats.FundedCount++
				stats.FundedSum += out.Value
			}
		}
		for _, in := range e.tx.TxIn {
			if out, ok := c.net.output(in.PreviousOutPoint); ok && bytes.Equal(out.PkScript, script) {
				stats.SpentCount++
				stats.SpentSum += out.Value
			}
		}
	}
	return map[string]any{"address": c.PathValue("address"), "chain_stats": chain, "mempool_stats": pool}, nil
}

func (c *call) utxos() (any, error) {
	script, err := c.script()
	if err != nil {
		return nil, err
	}
	type utxoJSON struct {
		TxID   string     `json:"txid"`
		Vout   uint32     `json:"vout"`
		Status statusJSON `json:"status"`
		Value  int64      `json:"value"`
	}
	list := []utxoJSON{}
	for _, u := range c.unspent(script) {
		e, _ := c.net.find(u.Hash)
		list = append(list, utxoJSON{u.Hash.String(), u.Index, c.status(e), u.Value})
	}
	return list, nil
}

// addressTxs answers up to 50 that wait and the newest 25 confirmed transactions,
// or the 25 after the last one of a page.
func (c *call) addressTxs() (any, error) {
	script, err := c.script()
	if err != nil {
		return nil, err
	}
	const page, mostWaiting = 25, 50
	waiting := 0
	after := c.PathValue("last")
	list := []txJSON{}
	confirmed, found := 0, after == ""
	for _, e := range c.history(script) {
		isConfirmed := c.sees(e.block)
		if !isConfirmed {
			if waiting++; waiting > mostWaiting {
				continue
			}
		}
		if found && (isConfirmed || after == "") && confirmed < page {
			list = append(list, c.txJSON(e))
			if isConfirmed {
				confirmed++
			}
		}
		found = found || e.id.String() == after
	}
	return list, nil
}
