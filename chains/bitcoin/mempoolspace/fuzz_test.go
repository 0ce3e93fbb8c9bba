package mempoolspace

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/single"
	"github.com/swapper-go/swapper/internal/trial"
)

// anyBody answers every request with the same status and body, but shows the
// right genesis block.
type anyBody struct {
	status int
	body   string
}

func (a anyBody) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body := a.status, a.body
	if strings.HasSuffix(r.URL.Path, "/block-height/0") {
		status, body = http.StatusOK, bitcoin.Mainnet.Params().GenesisHash
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: -1}, nil
}

// FuzzBodies feeds any body to every call: none panics, and what comes out keeps
// the promises of the interface.
func FuzzBodies(f *testing.F) {
	for _, seed := range []string{
		"865123", "-1", "4294967296", "abc", "", "null", "{}", "[]", "[{}]", `"x"`, "<html>", "Transaction not found", "Block not found",
		strings.Repeat("ab", 32), `{"in_best_chain":true}`, `[{"spent":false},{"spent":true,"txid":"` + strings.Repeat("cd", 32) + `","status":{"confirmed":true,"block_height":5,"block_hash":"` + strings.Repeat("ef", 32) + `"}}]`,
		`{"block_height":1,"merkle":["` + strings.Repeat("ab", 32) + `"],"pos":1}`,
		`{"chain_stats":{"funded_txo_sum":5,"spent_txo_sum":1},"mempool_stats":{"funded_txo_sum":0,"spent_txo_sum":9}}`,
		`[{"txid":"` + strings.Repeat("ab", 32) + `","vout":1,"value":2100000000000001,"status":{"confirmed":false}}]`,
		`{"fastestFee":1e308,"minimumFee":-1}`, `{"effectiveFeePerVsize":1.5,"adjustedVsize":1e300}`, `[{"blockVSize":1e6,"feeRange":[1,2]}]`,
		`{"public_key":"02` + strings.Repeat("ab", 32) + `","capacity":"123456789","active_channel_count":17}`,
	} {
		f.Add(200, seed)
	}
	f.Add(404, "Transaction not found")
	f.Add(400, `sendrawtransaction RPC error: {"code":-27,"message":"Transaction already in block chain"}`)
	genesis := trial.Must(json.Marshal(blockJSON{ID: bitcoin.Mainnet.Params().GenesisHash, Version: 1, Timestamp: 1231006505,
		MerkleRoot: "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b", Nonce: 2083236893, Bits: 0x1d00ffff}))(f)
	f.Add(200, string(genesis))
	f.Add(200, "["+string(genesis)+"]")
	address := trial.Must(bitcoin.NewAddress(bitcoin.P2WPKH, make([]byte, 20), bitcoin.Mainnet))(f)
	f.Fuzz(func(t *testing.T, status int, body string) {
		c := trial.Must(New(Options{Network: bitcoin.Mainnet, URLs: []string{"https://a.example/api/"}, TipAge: -1, Attempts: 1,
			HTTP: &http.Client{Transport: anyBody{status, body}}}))(t)
		everyCall(t, c, address)
	})
}

func everyCall(t *testing.T, c *Client, address bitcoin.Address) {
	ctx := context.Background()
	id := bitcoin.Hash{1}
	coded := func(call string, err error) {
		t.Helper()
		_, rejected := errors.AsType[*bitcoin.RejectedError](err)
		if code := fault.CodeOf(err); err != nil && !rejected && !errors.Is(err, bitcoin.ErrNotFound) && code != fault.Upstream {
			t.Errorf("%s: code %s of %v", call, code, err)
		}
	}
	_, err := c.TipHeight(ctx)
	coded("TipHeight", err)
	_, err = c.BlockHash(ctx, 7)
	coded("BlockHash", err)
	_, err = c.InMainChain(ctx, id)
	coded("InMainChain", err)
	h, err := c.Header(ctx, c.genesis)
	if coded("Header", err); err == nil && h.Hash() != c.genesis {
		t.Errorf("another header: %+v", h)
	}
	whole, err := c.Block(ctx, c.genesis)
	if coded("Block", err); err == nil && whole.BlockHash() != c.genesis {
		t.Errorf("another block: %+v", whole.Header)
	}
	list, err := c.HeadersFrom(ctx, 0, 3)
	if coded("HeadersFrom", err); len(list) > 3 {
		t.Errorf("%d headers", len(list))
	}
	tx, err := single.Tx(ctx, c, id)
	if coded("Txs", err); err == nil {
		t.Errorf("a transaction for an id that nothing hashes to: %+v", tx)
	}
	p, err := c.MerkleProof(ctx, id, c.genesis)
	if coded("MerkleProof", err); err == nil {
		t.Errorf("a proof of nothing: %+v", p)
	}
	for tx, err := range c.AddressTxs(ctx, address) {
		if coded("AddressTxs", err); err == nil && tx.Msg.TxHash() != tx.ID {
			t.Errorf("%+v", tx)
		}
		break
	}
	spend, err := single.Outspend(ctx, c, bitcoin.OutPoint{Hash: id, Index: 1})
	if coded("Outspends", err); err == nil && spend.State <= bitcoin.Unspent && spend.TxID != (bitcoin.Hash{}) {
		t.Errorf("%+v", spend)
	}
	utxos, err := c.AddressUTXOs(ctx, address)
	coded("AddressUTXOs", err)
	for _, u := range utxos {
		if err != nil || u.Value < 0 || u.Value > rawtx.MaxMoney {
			t.Errorf("%+v, %v", u, err)
		}
	}
	sums, err := c.addressSums(ctx, address)
	if coded("addressSums", err); err == nil && (sums.confirmed < 0 || sums.confirmed > rawtx.MaxMoney || sums.unconfirmed < -rawtx.MaxMoney || sums.unconfirmed > rawtx.MaxMoney) {
		t.Errorf("%+v", sums)
	}
	rates, err := c.FeeRates(ctx)
	if coded("FeeRates", err); err == nil && !(believable(rates.Fastest) && believable(rates.Minimum)) {
		t.Errorf("%+v", rates)
	}
	standing, err := single.CPFP(ctx, c, id)
	if coded("CPFPs", err); err == nil && standing != nil && !(standing.AdjustedVSize > 0 && standing.EffectiveFeeRate >= 0) {
		t.Errorf("%+v", standing)
	}
	_, err = c.ProjectedBlocks(ctx)
	coded("ProjectedBlocks", err)
	_, err = c.NodeLiquidity(ctx, "02"+strings.Repeat("ab", 32))
	coded("NodeLiquidity", err)
	_ = c.sources[0].broadcast(ctx, id, nil) // which words are a refusal is not a matter of codes
}
