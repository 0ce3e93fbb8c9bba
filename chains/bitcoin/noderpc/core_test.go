package noderpc_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/backendtest"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/chains/bitcoin/noderpc"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/single"
	devnet "github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/trial"
)

// core answers the calls of Bitcoin Core that the backend makes, in Core's
// dialect, for a local network.
type core struct {
	net     *devnet.Net
	rest    *mempoolspace.Client
	cookie  atomic.Pointer[string] // user:password; nil: anybody
	warming atomic.Int32           // so many requests are answered with "loading"
	noIndex atomic.Bool
	old     atomic.Bool               // lacks gettxspendingprevout
	lies    atomic.Bool               // its blocks have another last transaction
	address func(skip, count int) any // if not nil: the node is btcd, and this its address index
	rates   [2]json.Number            // estimate and least, BTC/kvB; "": none, and 1 sat/vB
	waits   waits
	scans   chan chan struct{} // if not nil: each scan says that it began, and goes on when what it sent is closed
}

type coreError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *coreError) Error() string { return e.Message }

// patience is for a request to a node that this process plays itself, on a busy machine too.
const patience = 2 * time.Minute

func newCore(t *testing.T) (*core, *httptest.Server) {
	t.Helper()
	n := trial.Must(devnet.Start(devnet.Options{}))(t)
	t.Cleanup(func() { _ = n.Close() })
	rest := trial.Must(mempoolspace.New(mempoolspace.Options{Network: bitcoin.Regtest, URLs: []string{n.URL()}, TipAge: -1, Timeout: patience}))(t)
	c := &core{net: n, rest: rest}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	return c, server
}

func (c *core) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user, password, _ := r.BasicAuth()
	if want := c.cookie.Load(); want != nil && user+":"+password != *want {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var calls []struct {
		ID     int
		Method string
		Params []any
	}
	d := json.NewDecoder(r.Body)
	d.UseNumber()
	if err := d.Decode(&calls); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body) // so that the end of the connection is noticed
	warming := c.warming.Add(-1) >= 0
	list := []map[string]any{}
	for i := len(calls) - 1; i >= 0; i-- { // in any order
		call := calls[i]
		result, err := c.answer(r, call.Method, call.Params)
		if warming {
			err = &coreError{-28, "Loading block index…"}
		}
		answer := map[string]any{"id": call.ID, "result": result, "error": nil}
		if err != nil {
			code := &coreError{-1, err.Error()}
			if e, ok := errors.AsType[*coreError](err); ok {
				code = e
			}
			answer["result"], answer["error"] = nil, code
		}
		list = append(list, answer)
	}
	_ = json.NewEncoder(w).Encode(list)
}

// btc writes an amount as Core does.
func btc(sats int64) json.Number { return json.Number(fmt.Sprintf("%d.%08d", sats/1e8, sats%1e8)) }

func hashOf(v any) bitcoin.Hash {
	text, _ := v.(string)
	h, _ := bitcoin.ParseHash(text) // what is no hash is unknown
	return h
}

func intOf(v any) uint32 {
	n, _ := v.(json.Number)
	i, _ := n.Int64()
	return uint32(i)
}

func (c *core) answer(r *http.Request, name string, p []any) (any, error) {
	ctx := r.Context()
	switch {
	case c.address == nil:
	case name == "version":
		return map[string]any{"btcdjsonrpcapi": map[string]any{}}, nil
	case name == "searchrawtransactions":
		return c.address(int(intOf(p[2])), int(intOf(p[3]))), nil
	}
	switch name {
	case "getindexinfo":
		if c.noIndex.Load() {
			return map[string]any{}, nil
		}
		return map[string]any{"txindex": map[string]any{"synced": true, "best_block_height": 5}}, nil
	case "waitforblockheight":
		return c.wait(r, intOf(p[0]), time.Duration(intOf(p[1]))*time.Millisecond)
	case "getblockcount":
		height, _ := c.net.Tip()
		return height, nil
	case "getblockhash":
		h, err := c.rest.BlockHash(ctx, intOf(p[0]))
		if err != nil {
			return nil, &coreError{-8, "Block height out of range"}
		}
		return h.String(), nil
	case "getblockheader":
		return c.header(r, hashOf(p[0]), p[1] == true)
	case "getblock":
		b, _, ok := c.net.Block(hashOf(p[0]))
		if !ok {
			return nil, &coreError{-5, "Block not found"}
		}
		if n, _ := p[1].(json.Number); n == "0" {
			var raw bytes.Buffer
			if err := b.Serialize(&raw); err != nil {
				return nil, err
			}
			if c.lies.Load() {
				raw.Bytes()[raw.Len()-1] ^= 1 // of the last transaction's lock time
			}
			return hex.EncodeToString(raw.Bytes()), nil
		}
		ids := []string{}
		for _, tx := range b.Transactions {
			ids = append(ids, tx.TxID())
		}
		return map[string]any{"tx": ids}, nil
	case "getrawtransaction":
		return c.transaction(r, hashOf(p[0]))
	case "gettxout", "gettxspendingprevout":
		return c.output(r, name, p)
	case "scantxoutset":
		return c.scan(r, p)
	case "sendrawtransaction":
		text, _ := p[0].(string)
		raw, err := hex.DecodeString(text)
		if err != nil {
			return nil, err
		}
		tx, err := rawtx.Decode(raw)
		if err != nil {
			return nil, &coreError{-22, "TX decode failed"}
		}
		id, err := c.net.Send(tx)
		if rejected, ok := errors.AsType[*bitcoin.RejectedError](err); ok {
			return nil, &coreError{rejected.Code, rejected.Reason}
		}
		return id.String(), err
	case "estimatesmartfee":
		if rate := c.rates[0]; rate != "" {
			return map[string]any{"feerate": rate, "blocks": 2}, nil
		}
		return map[string]any{"errors": []string{"Insufficient data or no feerate found"}, "blocks": 2}, nil
	case "getmempoolinfo":
		return map[string]any{"mempoolminfee": cmp.Or(c.rates[1], "0.00001000"), "minrelaytxfee": json.Number("0.00001000")}, nil
	case "getrawmempool", "getmempoolentry", "getmempoolancestors":
		return c.pool(ctx, name, p)
	}
	return nil, &coreError{-32601, "Method not found"}
}

func (c *core) header(r *http.Request, h bitcoin.Hash, verbose bool) (any, error) {
	b, height, ok := c.net.Block(h)
	if !ok {
		return nil, &coreError{-5, "Block not found"}
	}
	if !verbose {
		var raw strings.Builder
		if err := b.Header.Serialize(hex.NewEncoder(&raw)); err != nil {
			return nil, err
		}
		return raw.String(), nil
	}
	confirmations := int64(-1)
	if in, err := c.rest.InMainChain(r.Context(), h); err == nil && in {
		tip, _ := c.net.Tip()
		confirmations = int64(tip-height) + 1
	}
	return map[string]any{"hash": h.String(), "height": height, "confirmations": confirmations}, nil
}

func (c *core) transaction(r *http.Request, id bitcoin.Hash) (any, error) {
	tx, err := single.Tx(r.Context(), c.rest, id)
	if err != nil || c.noIndex.Load() && tx.Confirmed() {
		return nil, &coreError{-5, "No such mempool or blockchain transaction. Use gettransaction for wallet transactions."}
	}
	raw, err := rawtx.Encode(tx.Msg)
	if err != nil {
		return nil, err
	}
	ins := []any{}
	for _, out := range tx.Prevouts {
		in := map[string]any{}
		if out != nil {
			in["prevout"] = map[string]any{"value": btc(out.Value), "scriptPubKey": map[string]any{"hex": hex.EncodeToString(out.PkScript)}}
		}
		ins = append(ins, in)
	}
	j := map[string]any{"txid": id.String(), "hex": hex.EncodeToString(raw), "vin": ins}
	if tx.Confirmed() {
		j["blockhash"], j["confirmations"] = tx.BlockHash.String(), tx.Confirmations
	}
	return j, nil
}

func (c *core) output(r *http.Request, name string, p []any) (any, error) {
	if name == "gettxspendingprevout" {
		if c.old.Load() {
			return nil, &coreError{-32601, "Method not found"}
		}
		list := []any{}
		places, _ := p[0].([]any)
		for _, place := range places {
			m, _ := place.(map[string]any)
			spend, err := single.Outspend(r.Context(), c.rest, bitcoin.OutPoint{Hash: hashOf(m["txid"]), Index: intOf(m["vout"])})
			if err != nil {
				return nil, err
			}
			if spend.State == bitcoin.SpentInMempool {
				m["spendingtxid"] = spend.TxID.String()
			}
			list = append(list, m)
		}
		return list, nil
	}
	op := bitcoin.OutPoint{Hash: hashOf(p[0]), Index: intOf(p[1])}
	tx, err := single.Tx(r.Context(), c.rest, op.Hash)
	if err != nil || !tx.Confirmed() {
		return nil, nil
	}
	spend, err := single.Outspend(r.Context(), c.rest, op)
	if err != nil || spend.State == bitcoin.SpendUnknown || spend.State == bitcoin.SpentConfirmed {
		return nil, err
	}
	return map[string]any{"value": btc(tx.Msg.TxOut[op.Index].Value), "confirmations": tx.Confirmations}, nil
}

func (c *core) scan(r *http.Request, p []any) (any, error) {
	if c.scans != nil {
		done := make(chan struct{})
		c.scans <- done
		<-done
	}
	objects, _ := p[1].([]any)
	text, _ := objects[0].(string)
	a, err := bitcoin.ParseAddress(strings.TrimSuffix(strings.TrimPrefix(text, "addr("), ")"), bitcoin.Regtest)
	if err != nil {
		return nil, &coreError{-5, "Invalid descriptor"}
	}
	unspents := []any{}
	for tx, err := range c.rest.AddressTxs(r.Context(), a) {
		if fault.CodeOf(err) == fault.Unsupported {
			break // more wait than are listed, of which a scan knows nothing
		}
		if err != nil {
			return nil, err
		}
		for i, out := range tx.Msg.TxOut {
			op := bitcoin.OutPoint{Hash: tx.ID, Index: uint32(i)}
			spend, err := single.Outspend(r.Context(), c.rest, op)
			if err != nil {
				return nil, err
			}
			if tx.Confirmed() && string(out.PkScript) == string(a.Script()) && spend.State != bitcoin.SpentConfirmed {
				unspents = append(unspents, map[string]any{"txid": tx.ID.String(), "vout": i, "amount": btc(out.Value), "height": tx.Height})
			}
		}
	}
	return map[string]any{"success": true, "unspents": unspents}, nil
}

func (c *core) pool(ctx context.Context, name string, p []any) (any, error) {
	entries := map[string]map[string]any{}
	for _, tx := range c.net.Waiting() {
		var fee int64
		depends := []string{}
		for _, in := range tx.TxIn {
			parent, err := single.Tx(ctx, c.rest, in.PreviousOutPoint.Hash)
			if err != nil {
				return nil, err
			}
			fee += parent.Msg.TxOut[in.PreviousOutPoint.Index].Value
			if !parent.Confirmed() {
				depends = append(depends, parent.ID.String())
			}
		}
		for _, out := range tx.TxOut {
			fee -= out.Value
		}
		vsize := (rawtx.Weight(tx) + 3) / 4
		entries[tx.TxID()] = map[string]any{"vsize": vsize, "fees": map[string]any{"base": btc(fee)}, "depends": depends}
	}
	if name == "getrawmempool" {
		return entries, nil
	}
	id := hashOf(p[0]).String()
	e, ok := entries[id]
	if !ok {
		return nil, &coreError{-5, "Transaction not in mempool"}
	}
	if name == "getmempoolentry" {
		return e, nil
	}
	ancestors := map[string]map[string]any{}
	var walk func(string)
	walk = func(id string) {
		for _, parent := range entries[id]["depends"].([]string) {
			ancestors[parent] = entries[parent]
			walk(parent)
		}
	}
	walk(id)
	return ancestors, nil
}

func coreClient(t *testing.T, o noderpc.Options) *noderpc.Client {
	t.Helper()
	o.Network, o.MempoolAge, o.Timeout = bitcoin.Regtest, -1, cmp.Or(o.Timeout, patience)
	c := trial.Must(noderpc.New(o))(t)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestConformanceWithCoreDialect(t *testing.T) {
	t.Parallel()
	c, server := newCore(t)
	backendtest.Run(t, backendtest.Setup{Chain: devnet.NewPlayground(c.net), Backend: coreClient(t, noderpc.Options{URL: server.URL}),
		NoSpenders: true, ConfirmedOnly: true,
		Listening: func(t *testing.T) (bitcoin.Backend, func(backendtest.Trouble)) {
			return coreClient(t, noderpc.Options{URL: server.URL, LongPoll: true}), c.spoil
		}})
}

// A block whose transactions are not those of its header is refused.
func TestABlockThatIsALie(t *testing.T) {
	t.Parallel()
	c, server := newCore(t)
	b := coreClient(t, noderpc.Options{URL: server.URL, Attempts: 1})
	_, hash := c.net.Tip()
	if _, err := b.Block(t.Context(), hash); err != nil {
		t.Fatal(err)
	}
	c.lies.Store(true)
	if whole, err := b.Block(t.Context(), hash); err == nil || errors.Is(err, bitcoin.ErrNotFound) {
		t.Errorf("block %v, error %v", whole, err)
	}
}

func TestCookieIsReadAgain(t *testing.T) {
	t.Parallel()
	c, server := newCore(t)
	path := filepath.Join(t.TempDir(), ".cookie")
	b := coreClient(t, noderpc.Options{URL: server.URL, CookieFile: path, Attempts: 1})
	if _, err := b.TipHeight(t.Context()); fault.CodeOf(err) != fault.Upstream {
		t.Errorf("without a cookie: %v", err)
	}
	for _, secret := range []string{"__cookie__:aa", "__cookie__:bb"} { // the node was restarted in between
		c.cookie.Store(&secret)
		trial.Do(t, os.WriteFile(path, []byte(secret+"\n"), 0o600))
		if _, err := b.TipHeight(t.Context()); err != nil {
			t.Errorf("cookie %s: %v", secret, err)
		}
	}
	wrong := "__cookie__:cc"
	c.cookie.Store(&wrong)
	if _, err := b.TipHeight(t.Context()); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("wrong cookie: %v", err)
	}
}

func TestNodeThatStarts(t *testing.T) {
	t.Parallel()
	c, server := newCore(t)
	b := coreClient(t, noderpc.Options{URL: server.URL, Attempts: 3, RetryDelay: time.Millisecond})
	c.warming.Store(2)
	if _, err := b.TipHeight(t.Context()); err != nil {
		t.Errorf("after two refusals: %v", err)
	}
	c.warming.Store(10)
	if _, err := b.TipHeight(t.Context()); err == nil || !strings.Contains(err.Error(), "Loading block index") {
		t.Errorf("never ready: %v", err)
	}
}

func TestCoreCannotTell(t *testing.T) {
	t.Parallel()
	c, server := newCore(t)
	b := coreClient(t, noderpc.Options{URL: server.URL})
	w := trial.Must(c.net.NewWallet(bitcoin.P2WPKH))(t)
	op := trial.Must(c.net.Fund(w.Address, 10_000))(t)
	c.noIndex.Store(true)
	if _, err := single.Tx(t.Context(), b, op.Hash); fault.CodeOf(err) != fault.Unsupported {
		t.Errorf("without -txindex: %v", err)
	}
	c.noIndex.Store(false)
	if _, err := single.Tx(t.Context(), b, op.Hash); err != nil {
		t.Errorf("the index is complete now: %v", err)
	}
	c.old.Store(true)
	if _, err := single.Outspend(t.Context(), b, op); fault.CodeOf(err) != fault.Unsupported {
		t.Errorf("without gettxspendingprevout: %v", err)
	}
}

// TestScansQueue: Core scans for one address at a time; who waits for his turn
// can give up.
func TestScansQueue(t *testing.T) {
	t.Parallel()
	c, server := newCore(t)
	c.scans = make(chan chan struct{})
	b := coreClient(t, noderpc.Options{URL: server.URL})
	var wallets [2]bitcoin.Address
	for i := range wallets {
		w := trial.Must(c.net.NewWallet(bitcoin.P2WPKH))(t)
		wallets[i] = w.Address
	}
	first := make(chan error)
	go func() { _, err := b.AddressUTXOs(t.Context(), wallets[0]); first <- err }()
	scan := <-c.scans
	ctx, cancel := context.WithCancel(t.Context())
	second := make(chan error)
	go func() { _, err := b.AddressUTXOs(ctx, wallets[1]); second <- err }()
	cancel()
	select {
	case err := <-second:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("gave up: %v", err)
		}
	case <-c.scans:
		t.Error("two scans at once")
	case <-time.After(time.Minute):
		t.Error("who has given up waits all the same")
	}
	close(scan)
	if err := <-first; err != nil {
		t.Error(err)
	}
}

func TestFallbackFeeRate(t *testing.T) {
	t.Parallel()
	_, server := newCore(t)
	if rates, err := coreClient(t, noderpc.Options{URL: server.URL}).FeeRates(t.Context()); err != nil || rates.Fastest != 1 || rates.Minimum != 1 {
		t.Errorf("regtest: %+v, %v", rates, err)
	}
	b := coreClient(t, noderpc.Options{URL: server.URL, FallbackFeeRate: 7})
	if rates, err := b.FeeRates(t.Context()); err != nil || rates.Fastest != 7 {
		t.Errorf("fallback: %+v, %v", rates, err)
	}
}

// A node's rates are multiplied with a user's transaction: what cannot be is no rate.
func TestRatesThatCannotBe(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		rates [2]json.Number
		want  float64 // -1: refused
	}{
		"usual":             {[2]json.Number{"0.00012", ""}, 12},
		"the highest":       {[2]json.Number{"0.1", ""}, bitcoin.HighestFeeRate},
		"above the highest": {[2]json.Number{"0.10001", ""}, -1},
		"all the bitcoin":   {[2]json.Number{"21000000", ""}, -1},
		"beyond a number":   {[2]json.Number{"1e400", ""}, -1},
		"least":             {[2]json.Number{"0.00012", "0.1"}, bitcoin.HighestFeeRate},
		"least above":       {[2]json.Number{"0.00012", "0.10001"}, -1},
		"least below zero":  {[2]json.Number{"0.00012", "-0.00001"}, -1},
		"no estimate":       {[2]json.Number{"-1", "0.00002"}, 2},
	} {
		c, server := newCore(t)
		c.rates = tt.rates
		rates, err := coreClient(t, noderpc.Options{URL: server.URL}).FeeRates(t.Context())
		if tt.want < 0 {
			if fault.CodeOf(err) != fault.Upstream {
				t.Errorf("%s: %+v, %v", name, rates, err)
			}
			continue
		}
		if err != nil || math.Abs(rates.Fastest-tt.want) > 1e-9 {
			t.Errorf("%s: %+v, %v; want %v", name, rates, err, tt.want)
		}
	}
}

func TestBadAnswers(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"nothing":         "",
		"garbage":         "<html>",
		"one refusal":     `{"id":null,"result":null,"error":{"code":-32700,"message":"Parse error"}}`,
		"too few":         `[{"id":0,"result":"x","error":null}]`,
		"twice":           `[{"id":0,"result":1},{"id":0,"result":1},{"id":1,"result":1}]`,
		"foreign":         `[{"id":7,"result":1},{"id":1,"result":1},{"id":2,"result":1}]`,
		"without numbers": `[{"result":1},{"result":1},{"result":1}]`,
		"wrong types":     `[{"id":0,"result":{}},{"id":1,"result":[]},{"id":2,"result":"x"}]`,
		"another network": `[{"id":0,"result":"` + bitcoin.Mainnet.Params().GenesisHash + `"},{"id":1,"error":{"code":-32601}},{"id":2,"error":{"code":-32601}}]`,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }))
		b := coreClient(t, noderpc.Options{URL: server.URL, Attempts: 1})
		if _, err := b.TipHeight(t.Context()); fault.CodeOf(err) != fault.Upstream {
			t.Errorf("%s: %v", name, err)
		}
		server.Close()
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]noderpc.Options{
		"no such network":  {Network: 9, URL: "http://127.0.0.1:8332"},
		"no URL":           {Network: bitcoin.Mainnet},
		"user in the URL":  {Network: bitcoin.Mainnet, URL: "http://u:p@127.0.0.1:8332"},
		"cookie and user":  {Network: bitcoin.Mainnet, URL: "http://127.0.0.1:8332", User: "u", CookieFile: "x"},
		"no certificate":   {Network: bitcoin.Mainnet, URL: "https://127.0.0.1:8334", CertFile: "/no/such/file"},
		"cert and client":  {Network: bitcoin.Mainnet, URL: "https://127.0.0.1:8334", CertFile: "x", HTTP: http.DefaultClient},
		"another protocol": {Network: bitcoin.Mainnet, URL: "ws://127.0.0.1:8334"},
		"a rate below 0":   {Network: bitcoin.Mainnet, URL: "http://127.0.0.1:8332", FallbackFeeRate: -1},
		"a huge rate":      {Network: bitcoin.Mainnet, URL: "http://127.0.0.1:8332", FallbackFeeRate: bitcoin.HighestFeeRate + 1},
		"a rate of NaN":    {Network: bitcoin.Mainnet, URL: "http://127.0.0.1:8332", FallbackFeeRate: math.NaN()},
	} {
		if _, err := noderpc.New(o); fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("%s: %v", name, err)
		}
	}
}
