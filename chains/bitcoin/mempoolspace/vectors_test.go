package mempoolspace

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/single"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// apiCase is one call of the reference's client and the canned answers to its requests.
type apiCase struct {
	*vectors.Case
	want   json.RawMessage // expected
	result json.RawMessage // expected.result
	fails  bool            // expected.error
	base   string
	method string
	args   []json.RawMessage
	http   *canned
	client *Client
}

func TestVectorsMempoolAPI(t *testing.T) {
	vectors.Each(t, "bitcoin", "mempool_api", func(t *testing.T, c *vectors.Case) {
		synctest.Test(t, func(t *testing.T) { // the waits between tries take no time
			a := newAPICase(t, c)
			check, ok := map[string]func(*testing.T, *apiCase){
				"getTipHeight":       checkTipHeight,
				"getBlockhash":       checkBlockHash,
				"getBlockHeader":     checkHeader,
				"isInMainChain":      checkInMainChain,
				"getMerkleProof":     checkMerkleProof,
				"getFeeRate":         checkFeeRate,
				"getAddressBalances": checkBalances,
				"getAddressUTXOs":    checkUTXOs,
				"getCPFPData":        checkCPFP,
				"isSpent":            checkSpent,
				"getLNNodeLiquidity": checkNode,
				"sendRawTransaction": checkBroadcast,
				"getTransaction":     checkTransaction,
				"checkAddressTxos":   func(t *testing.T, a *apiCase) { a.NotOurs(t, "address-payment") },
			}[a.method]
			if !ok {
				t.Fatalf("no such method: %s", a.method)
			}
			check(t, a)
			checkRequests(t, a)
		})
	})
}

// checkRequests compares what was asked, in which order, and how often where the
// service fails, with what the reference asked. That asks for a transaction's bytes
// too, which are rebuilt here from its members; it asks for the height of the tip only
// after a transaction that is confirmed, for no header to a proof, and in vain with
// arguments that are refused here at once. An answer that proves to be wrong is asked
// for again here, but not once more what a node is said to be unknown by an error.
func checkRequests(t *testing.T, a *apiCase) {
	t.Helper()
	var want struct {
		Requests      []struct{ Request, Body string }
		RetryDelaysMs []int64
	}
	a.Expected(t, &want)
	var theirs, ours []string
	var raw string
	for _, r := range want.Requests {
		theirs = append(theirs, r.Request)
		raw += r.Body
	}
	time.Sleep(time.Second) // for what is still under way when the answer is there
	ours = a.http.requests()
	if len(ours) == 0 { // refused at once
		last := theirs[0][strings.LastIndexByte(theirs[0], '/')+1:]
		var arg string
		_ = json.Unmarshal(a.args[0], &arg)
		if len(theirs) != 1 || last != arg && raw != arg {
			t.Errorf("nothing was asked; the reference asks %q", want.Requests)
		}
		return
	}
	own := func(line string) bool { // asked by one of the two alone
		return a.method == "getTransaction" && strings.HasSuffix(line, "/hex") || strings.HasSuffix(line, "/blocks/tip/height") && a.method != "getTipHeight"
	}
	for i, line := range theirs {
		if own(line) && strings.HasSuffix(line, "/hex") && line != theirs[0]+"/hex" || own(line) && i == 0 {
			t.Errorf("the reference asks %q", theirs)
		}
	}
	header := func(line string) bool { return a.method == "getMerkleProof" && strings.Contains(line, "/block/") }
	theirs, ours = slices.DeleteFunc(theirs, own), slices.DeleteFunc(slices.DeleteFunc(ours, own), header)
	if again := slices.Compact(slices.Clone(theirs)); len(again) < len(theirs) && a.method != "getLNNodeLiquidity" {
		if len(ours) != len(theirs) {
			t.Errorf("%d requests, the reference sends %d", len(ours), len(theirs))
		}
	}
	if len(want.RetryDelaysMs) > 0 && len(want.RetryDelaysMs) != len(theirs)-1 {
		t.Errorf("the reference waits %v between %d requests", want.RetryDelaysMs, len(theirs))
	}
	if diff := cmp.Diff(slices.Compact(theirs), slices.Compact(ours)); diff != "" {
		t.Errorf("requests (-the reference +ours):\n%s", diff)
	}
	for i, ms := range want.RetryDelaysMs {
		if ms != 500<<i {
			t.Errorf("the reference waits %v", want.RetryDelaysMs)
		}
	}
}

func newAPICase(t *testing.T, c *vectors.Case) *apiCase {
	var in struct {
		BaseURLs []string
		Call     struct {
			Method string
			Args   []json.RawMessage
		}
		Responses map[string]json.RawMessage
	}
	c.Input(t, &in)
	a := &apiCase{Case: c, want: c.Want(t), base: in.BaseURLs[0], method: in.Call.Method, args: in.Call.Args}
	a.fails = vectors.Refused(a.want)
	var expected struct{ Result json.RawMessage }
	trial.Do(t, json.Unmarshal(a.want, &expected))
	a.result = expected.Result
	network := a.network(in.Call.Args)
	a.http = &canned{network: network, answers: make(map[string][]answer)}
	if a.method != "getTipHeight" { // asked beside the rest; its failure must not decide who is asked that
		a.http.slow = "/blocks/tip/height"
	}
	for line, raw := range in.Responses {
		var list []answer
		if json.Unmarshal(raw, &list) != nil {
			list = make([]answer, 1)
			trial.Do(t, json.Unmarshal(raw, &list[0]))
		}
		a.http.answers[line] = list
	}
	a.client = trial.Must(New(Options{Network: network, URLs: in.BaseURLs, HTTP: &http.Client{Transport: a.http}}))(t)
	return a
}

func (a *apiCase) arg(t *testing.T, i int, v any) {
	t.Helper()
	trial.Do(t, json.Unmarshal(a.args[i], v))
}

// hash reads an argument; a text that is no hash is refused before any request.
func (a *apiCase) hash(t *testing.T, i int) (bitcoin.Hash, error) {
	t.Helper()
	var s string
	a.arg(t, i, &s)
	return bitcoin.ParseHash(s)
}

func (a *apiCase) address(t *testing.T) (bitcoin.Address, error) {
	t.Helper()
	var s string
	a.arg(t, 0, &s)
	return bitcoin.ParseAddress(s, a.client.network)
}

// network is the one that an address among the arguments is of; the vectors do not name it.
func (*apiCase) network(args []json.RawMessage) bitcoin.Network {
	for n := bitcoin.Mainnet; n.Valid() && len(args) > 0; n++ {
		var s string
		if json.Unmarshal(args[0], &s) != nil {
			break
		}
		if _, err := bitcoin.ParseAddress(s, n); err == nil {
			return n
		}
	}
	return bitcoin.Mainnet
}

// same compares our answer, as the reference would write it, with its own.
func (a *apiCase) same(t *testing.T, got any, err error) {
	t.Helper()
	if a.fails || err != nil {
		if (err != nil) != a.fails {
			t.Errorf("error %v, the reference's answer is %s", err, a.want)
		}
		return
	}
	vectors.SameJSON(t, a.result, got)
}

// body decodes the first answer to a request.
func (a *apiCase) body(t *testing.T, path string, v any) bool {
	t.Helper()
	list := a.http.answers["GET "+a.base+path]
	if len(list) == 0 {
		return false
	}
	if err := json.Unmarshal(list[0].Body, v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return true
}

func checkTipHeight(t *testing.T, a *apiCase) {
	height, err := a.client.TipHeight(t.Context())
	if string(a.result) == `"NaN"` { // what the server sent is no number
		a.Differ(t, "tip-height-not-a-number")
		if err == nil {
			t.Errorf("height %d", height)
		}
		return
	}
	a.same(t, height, err)
}

func checkBlockHash(t *testing.T, a *apiCase) {
	var height uint32
	a.arg(t, 0, &height)
	h, err := a.client.BlockHash(t.Context(), height)
	a.same(t, h.String(), err)
}

func checkHeader(t *testing.T, a *apiCase) {
	id := trial.Must(a.hash(t, 0))(t)
	h, err := a.client.Header(t.Context(), id)
	var j blockJSON
	if a.fails || !a.body(t, "block/"+id.String(), &j) {
		a.same(t, h, err)
		return
	}
	decoded, decodeErr := j.header()
	if decodeErr != nil {
		t.Fatal(decodeErr)
	}
	if decoded.Hash() != id || decoded.CheckWork(a.client.network) != nil {
		a.Differ(t, "header-hash")
		if err == nil {
			t.Error("a header that does not hash to its id, or lacks the work it claims, was accepted")
		}
	} else if err != nil || h != decoded {
		t.Errorf("header %+v, error %v", h, err)
	}
	var want struct {
		Height, Timestamp, Nonce, Bits uint32
		Version                        int32
		MerkleRoot                     string `json:"merkle_root"`
		Previous                       string `json:"previousblockhash"`
	}
	trial.Do(t, json.Unmarshal(a.result, &want))
	if decoded.Height != want.Height || decoded.Time != want.Timestamp || decoded.Nonce != want.Nonce || decoded.Bits != want.Bits ||
		decoded.Version != want.Version || decoded.MerkleRoot.String() != want.MerkleRoot || decoded.PrevBlock.String() != want.Previous {
		t.Errorf("decoded %+v, want %+v", decoded, want)
	}
}

func checkInMainChain(t *testing.T, a *apiCase) {
	id := trial.Must(a.hash(t, 0))(t)
	in, err := a.client.InMainChain(t.Context(), id)
	a.same(t, in, err)
}

func checkMerkleProof(t *testing.T, a *apiCase) {
	id := trial.Must(a.hash(t, 0))(t)
	block := trial.Must(a.hash(t, 1))(t)
	_, err := a.client.MerkleProof(t.Context(), id, block)
	if a.fails {
		a.same(t, nil, err)
		return
	}
	var header blockJSON
	if !a.body(t, "block/"+block.String(), &header) {
		a.Differ(t, "merkle-proof-verified") // no header to compare with: nothing is proven
		if err == nil {
			t.Error("a proof without a header was accepted")
		}
	}
	var j proofJSON
	a.body(t, "tx/"+id.String()+"/merkle-proof", &j)
	p, err := j.proof(id)
	merkle := []string{}
	for _, h := range p.Hashes {
		merkle = append(merkle, hex.EncodeToString(h[:]))
	}
	a.same(t, map[string]any{"reversedTxId": hex.EncodeToString(p.TxID[:]), "pos": p.Pos, "merkle": merkle, "blockheight": p.Height}, err)
}

func checkFeeRate(t *testing.T, a *apiCase) {
	rates, err := a.client.FeeRates(t.Context())
	a.same(t, rates.Fastest, err)
}

func checkBalances(t *testing.T, a *apiCase) {
	var sums addressSums
	address, err := a.address(t)
	if err == nil {
		sums, err = a.client.addressSums(t.Context(), address)
	}
	a.same(t, map[string]string{
		"confirmedBalance": strconv.FormatInt(sums.confirmed, 10), "unconfirmedBalance": strconv.FormatInt(sums.unconfirmed, 10),
	}, err)
}

func checkUTXOs(t *testing.T, a *apiCase) {
	var utxos []bitcoin.UTXO
	address, err := a.address(t)
	if err == nil {
		utxos, err = a.client.AddressUTXOs(t.Context(), address)
	}
	if a.fails || err != nil {
		a.same(t, nil, err)
		return
	}
	var want []struct {
		TxID      string
		Vout      uint32
		Confirmed bool
		Height    uint32 `json:"block_height"`
		Value     string
	}
	trial.Do(t, json.Unmarshal(a.result, &want))
	if len(utxos) != len(want) {
		t.Fatalf("%d outputs, want %d", len(utxos), len(want))
	}
	for i, u := range utxos {
		w := want[i]
		if u.Hash.String() != w.TxID || u.Index != w.Vout || (u.Height > 0) != w.Confirmed || u.Height != w.Height || strconv.FormatInt(u.Value, 10) != w.Value {
			t.Errorf("output %d: %+v, want %+v", i, u, w)
		}
	}
}

func checkCPFP(t *testing.T, a *apiCase) {
	id := trial.Must(a.hash(t, 0))(t)
	got, err := single.CPFP(t.Context(), a.client, id)
	if a.fails || err != nil {
		a.same(t, nil, err)
		return
	}
	var want *struct {
		Rate  float64 `json:"effectiveFeePerVsize"`
		VSize float64 `json:"adjustedVsize"`
	}
	trial.Do(t, json.Unmarshal(a.result, &want))
	if (got == nil) != (want == nil) || got != nil && *got != (bitcoin.CPFP{EffectiveFeeRate: want.Rate, AdjustedVSize: want.VSize}) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func checkSpent(t *testing.T, a *apiCase) {
	var text string
	a.arg(t, 0, &text)
	op := trial.Must(bitcoin.ParseOutPoint(text))(t)
	var confirmedOnly bool
	if len(a.args) > 1 {
		a.arg(t, 1, &confirmedOnly)
	}
	spend, err := single.Outspend(t.Context(), a.client, op)
	var first answer
	if list := a.http.answers["GET "+a.base+"tx/"+op.Hash.String()+"/outspends"]; len(list) > 0 {
		first = list[0]
	}
	var outputs []json.RawMessage
	if first.Status == http.StatusNotFound && strings.Contains(string(first.Body), noTx[0]) ||
		json.Unmarshal(first.Body, &outputs) == nil && uint64(op.Index) >= uint64(len(outputs)) {
		a.Differ(t, "unknown-output") // neither spent nor an error, but unknown
		if err != nil || spend != (bitcoin.Spend{}) {
			t.Errorf("%+v, %v", spend, err)
		}
		return
	}
	a.same(t, spend.State == bitcoin.SpentConfirmed || !confirmedOnly && spend.State == bitcoin.SpentInMempool, err)
}

func checkNode(t *testing.T, a *apiCase) {
	var key string
	a.arg(t, 0, &key)
	node, err := a.client.NodeLiquidity(t.Context(), key)
	if errors.Is(err, bitcoin.ErrNotFound) {
		a.same(t, nil, nil)
		return
	}
	if err != nil {
		a.same(t, nil, err)
		return
	}
	a.same(t, map[string]any{"publicKey": node.PublicKey, "capacity": strconv.FormatInt(node.Capacity, 10), "numChannels": node.Channels}, nil)
}

func checkBroadcast(t *testing.T, a *apiCase) {
	var body string
	a.arg(t, 0, &body)
	raw := trial.Must(hex.DecodeString(body))(t)
	tx, decodeErr := rawtx.Decode(raw)
	_, err := a.client.Broadcast(t.Context(), raw)
	if decodeErr != nil {
		// Not sent at all; what the server would have said is tried below.
		a.Differ(t, "broadcast-checked")
		if fault.CodeOf(err) != fault.InvalidInput || len(a.http.requests()) != 0 {
			t.Errorf("nonsense was sent: %v", err)
		}
	}
	var id string
	if !a.fails {
		trial.Do(t, json.Unmarshal(a.result, &id))
	}
	sent, parseErr := bitcoin.ParseHash(id)
	if !a.fails && parseErr != nil {
		t.Fatal(parseErr)
	}
	if tx != nil {
		sent = tx.TxHash()
	}
	err = a.client.sources[0].broadcast(t.Context(), sent, []byte(body))
	rejected, ok := errors.AsType[*bitcoin.RejectedError](err)
	var first answer
	if list := a.http.answers["POST "+a.base+"tx"]; len(list) > 0 {
		first = list[0]
	}
	var words string
	_ = json.Unmarshal(first.Body, &words) // an answer that is no text has no words
	switch {
	case !a.fails && id == sent.String():
		if err != nil {
			t.Error(err)
		}
	case !a.fails:
		a.Differ(t, "broadcast-checked") // the server names another transaction
		if err == nil {
			t.Error("another id was accepted")
		}
	case first.Status == http.StatusBadRequest && rejection(words).AlreadyKnown():
		a.Differ(t, "broadcast-checked") // as good as sent
		if err != nil {
			t.Error(err)
		}
	case err == nil || first.Status == http.StatusBadRequest && (!ok || rejected.Reason == ""):
		t.Errorf("refused broadcast: %v", err)
	}
}

// txWant is a transaction as the reference gives it.
type txWant struct {
	TxID          string
	Version       int32
	LockTime      uint32 `json:"locktime"`
	BlockHeight   uint32
	BlockHash     string
	Confirmations uint32
	Outs          []struct {
		Value        int64
		ScriptPubKey struct{ Hex string }
	}
	Ins []struct {
		TxID      string
		Vout      uint32
		ScriptSig struct{ Hex string }
		Sequence  uint32
		Witness   []string `json:"txinwitness"`
	}
}

// sameTx compares a decoded transaction with the reference's.
func sameTx(t *testing.T, tx *bitcoin.Tx, w txWant) {
	t.Helper()
	block := ""
	if tx.Confirmations > 0 {
		block = tx.BlockHash.String()
	}
	if tx.ID.String() != w.TxID || tx.Msg.Version != w.Version || tx.Msg.LockTime != w.LockTime || tx.Height != w.BlockHeight ||
		block != w.BlockHash || tx.Confirmations != w.Confirmations || len(tx.Msg.TxOut) != len(w.Outs) || len(tx.Msg.TxIn) != len(w.Ins) {
		t.Fatalf("got %+v %+v, want %+v", tx, tx.Msg, w)
	}
	for i, out := range tx.Msg.TxOut {
		if out.Value != w.Outs[i].Value || hex.EncodeToString(out.PkScript) != w.Outs[i].ScriptPubKey.Hex {
			t.Errorf("output %d is %+v, want %+v", i, out, w.Outs[i])
		}
	}
	for i, in := range tx.Msg.TxIn {
		want := w.Ins[i]
		if in.PreviousOutPoint.Hash.String() != want.TxID || in.PreviousOutPoint.Index != want.Vout ||
			in.Sequence != want.Sequence || hex.EncodeToString(in.SignatureScript) != want.ScriptSig.Hex || len(in.Witness) != len(want.Witness) {
			t.Fatalf("input %d is %+v, want %+v", i, in, want)
		}
		for k, item := range in.Witness {
			if hex.EncodeToString(item) != want.Witness[k] {
				t.Errorf("witness %d of input %d is %x", k, i, item)
			}
		}
	}
}

// unchecked decodes a transaction without comparing it with its id.
func (a *apiCase) unchecked(t *testing.T, j txJSON) *bitcoin.Tx {
	t.Helper()
	tx := trial.Must(j.tx())(t)
	tip := uint32(0)
	if j.Status.Confirmed {
		tip = trial.Must(a.client.TipHeight(t.Context()))(t)
	}
	tx = trial.Must(a.client.confirm(tx, func() (uint32, error) { return tip, nil }))(t)
	return tx
}

func checkTransaction(t *testing.T, a *apiCase) {
	id, err := a.hash(t, 0)
	if err != nil {
		a.same(t, nil, err)
		return
	}
	tx, err := single.Tx(t.Context(), a.client, id)
	if errors.Is(err, bitcoin.ErrNotFound) {
		a.same(t, nil, nil)
		return
	}
	var j txJSON
	if a.fails || !a.body(t, "tx/"+id.String(), &j) {
		a.same(t, nil, err)
		return
	}
	decoded := a.unchecked(t, j)
	if decoded.Msg.TxHash() != id {
		a.Differ(t, "transaction-hash")
		if err == nil {
			t.Error("a transaction that does not hash to its id was accepted")
		}
		tx = decoded
	} else if err != nil {
		t.Fatal(err)
	}
	var want txWant
	trial.Do(t, json.Unmarshal(a.result, &want))
	sameTx(t, tx, want)
}

func TestErrorsNameEveryURL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &canned{network: bitcoin.Mainnet, answers: map[string][]answer{
			"GET https://a.example/api/blocks/tip/height": {text("bad gateway", 502)},
			"GET https://b.example/api/blocks/tip/height": {text("<html>")},
			"GET https://d.example/api/blocks/tip/height": {text("5")},
			"GET https://d.example/api/block-height/0":    {text(bitcoin.Testnet4.Params().GenesisHash)},
		}}
		client := trial.Must(New(Options{Network: bitcoin.Mainnet, HTTP: &http.Client{Transport: c},
			URLs: []string{"https://a.example/api", "https://b.example/api/", "https://c.example/api/", "https://d.example/api/"}}))(t)
		_, err := client.TipHeight(t.Context())
		if fault.CodeOf(err) != fault.Upstream {
			t.Fatalf("code %s of %v", fault.CodeOf(err), err)
		}
		for _, words := range []string{
			"a.example: HTTP status 502: bad gateway", "b.example: tip height", "c.example: connection refused", "d.example: is not on Bitcoin",
		} {
			if !strings.Contains(err.Error(), words) {
				t.Errorf("%q does not say %q", err, words)
			}
		}
		if n := len(c.requests()); n != 20 {
			t.Errorf("%d requests, want five rounds of four", n)
		}
	})
}
