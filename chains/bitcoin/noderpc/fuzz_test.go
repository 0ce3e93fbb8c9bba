package noderpc

import (
	"context"
	"encoding/hex"
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

// anyResult answers every call with the same result or error, but shows the right
// genesis block and, if told to, btcd's version.
type anyResult struct {
	btcd   bool
	result string
	code   int
}

func (a anyResult) RoundTrip(r *http.Request) (*http.Response, error) {
	var calls []call
	if err := json.NewDecoder(r.Body).Decode(&calls); err != nil {
		return nil, err
	}
	var parts []string
	for _, c := range calls {
		body := `"result":` + a.result
		switch {
		case c.Method == "getblockhash" && len(calls) == 3:
			body = `"result":"` + bitcoin.Regtest.Params().GenesisHash + `"`
		case c.Method == "version" && a.btcd:
			body = `"result":{"btcdjsonrpcapi":{}}`
		case c.Method == "version", c.Method == "getindexinfo":
			body = `"error":{"code":-32601,"message":""}`
		case a.code != 0:
			text, _ := json.Marshal(map[string]any{"code": a.code, "message": a.result})
			body = `"error":` + string(text)
		}
		id, _ := json.Marshal(c.ID)
		parts = append(parts, `{"id":`+string(id)+`,`+body+`}`)
	}
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("[" + strings.Join(parts, ",") + "]")), ContentLength: -1}, nil
}

// FuzzResults feeds any result to every call: none panics, and what comes out
// keeps the promises of the interface.
func FuzzResults(f *testing.F) {
	hash := strings.Repeat("ab", 32)
	for _, seed := range []string{
		"5", "-1", "null", "{}", "[]", "[{}]", `""`, `"` + hash + `"`, `{"height":3,"confirmations":-1}`, `{"tx":["` + hash + `"]}`,
		`{"hex":"0200","blockhash":"` + hash + `","confirmations":3,"vin":[{"prevout":{"value":1e-08,"scriptPubKey":{"hex":"00"}}}]}`,
		`[{"spendingtxid":"` + hash + `"}]`, `{"success":true,"unspents":[{"txid":"` + hash + `","vout":1,"amount":0.5,"height":3}]}`,
		`{"feerate":0.00002,"mempoolminfee":0.00001,"relayfee":0.00001}`, `{"vsize":100,"fees":{"base":0.0001},"depends":["` + hash + `"]}`,
		`{"` + hash + `":{"vsize":100,"fee":1e-05,"depends":["` + hash + `"]}}`, `{"feerate":1e999}`,
	} {
		f.Add(true, seed, 0)
		f.Add(false, seed, 0)
	}
	f.Add(true, "No information available", -5)
	f.Add(false, "Block height out of range", -8)
	address := trial.Must(bitcoin.NewAddress(bitcoin.P2WPKH, make([]byte, 20), bitcoin.Regtest))(f)
	nonsense := trial.Must(hex.DecodeString("02000000" + "01" + hash + "0000000000ffffffff" + "01" + "e803000000000000" + "00" + "00000000"))(f)
	f.Fuzz(func(t *testing.T, btcd bool, result string, code int) {
		c := trial.Must(New(Options{Network: bitcoin.Regtest, URL: "http://node.example", MempoolAge: -1, Attempts: 1,
			HTTP: &http.Client{Transport: anyResult{btcd, result, code}}}))(t)
		ctx := context.Background()
		id := bitcoin.Hash{1}
		coded := func(call string, err error) {
			t.Helper()
			_, rejected := errors.AsType[*bitcoin.RejectedError](err)
			if code := fault.CodeOf(err); err != nil && !rejected && !errors.Is(err, bitcoin.ErrNotFound) && code != fault.Upstream && code != fault.Unsupported {
				t.Errorf("%s: code %s of %v", call, code, err)
			}
		}
		_, err := c.TipHeight(ctx)
		coded("TipHeight", err)
		_, err = c.BlockHash(ctx, 7)
		coded("BlockHash", err)
		_, err = c.InMainChain(ctx, id)
		coded("InMainChain", err)
		h, err := c.Header(ctx, id)
		if coded("Header", err); err == nil {
			t.Errorf("a header for an id that nothing hashes to: %+v", h)
		}
		_, err = c.HeadersFrom(ctx, 0, 3)
		coded("HeadersFrom", err)
		tx, err := single.Tx(ctx, c, id)
		if coded("Txs", err); err == nil {
			t.Errorf("a transaction for an id that nothing hashes to: %+v", tx)
		}
		p, err := c.MerkleProof(ctx, id, id)
		if coded("MerkleProof", err); err == nil {
			t.Errorf("a proof of nothing: %+v", p)
		}
		for tx, err := range c.Indexed().AddressTxs(ctx, address) {
			if coded("AddressTxs", err); err == nil && tx.Msg.TxHash() != tx.ID {
				t.Errorf("%+v", tx)
			}
			break
		}
		_, err = single.Outspend(ctx, c, bitcoin.OutPoint{Hash: id})
		coded("Outspends", err)
		utxos, err := c.AddressUTXOs(ctx, address)
		coded("AddressUTXOs", err)
		for _, u := range utxos {
			if err != nil || u.Value < 0 || u.Value > rawtx.MaxMoney {
				t.Errorf("%+v, %v", u, err)
			}
		}
		_, err = c.FeeRates(ctx)
		coded("FeeRates", err)
		standing, err := single.CPFP(ctx, c, id)
		if coded("CPFPs", err); err == nil && standing != nil && !(standing.AdjustedVSize > 0 && standing.EffectiveFeeRate >= 0) {
			t.Errorf("%+v", standing)
		}
		_, err = c.ProjectedBlocks(ctx)
		coded("ProjectedBlocks", err)
		_, err = c.Broadcast(ctx, nonsense)
		coded("Broadcast", err)
	})
}
