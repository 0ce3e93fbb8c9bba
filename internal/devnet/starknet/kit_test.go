package starknet_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/internal/devnet/starknet"
	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

var alice, bob = contracts.KeyOf("alice"), contracts.KeyOf("bob")

var network = wire.Network{ChainID: wire.Sepolia}

// kit is a node of a chain with STRK, of which Alice has some. Bob has some too, and no
// account.
type kit struct {
	testing.TB
	chain  *contracts.Chain
	server *starknet.NodeServer
}

func newKit(t testing.TB, o contracts.Options) *kit {
	t.Helper()
	k := &kit{TB: t}
	o.ChainID, o.Classes = network.ChainIDFelt(), contracts.Classes(contracts.Rules{})
	k.chain = trial.Must(contracts.New(o))(t)
	t.Cleanup(func() { _ = k.chain.Close() })
	minter := wire.ShortString("minter")
	k.must(k.chain.Place(wire.STRK, contracts.Token().Hash, contracts.TokenArgs("Starknet Token", "STRK", 18, minter)...))
	k.must(k.chain.Place(contracts.DeployerAddress, contracts.UniversalDeployer().Hash))
	k.must(k.chain.Place(alice.Address(), alice.Deploy().ClassHash, alice.Deploy().ConstructorCalldata...))
	for _, a := range []contracts.Key{alice, bob} {
		low, high := contracts.Split(strk(1000))
		_, err := k.chain.Impersonate(minter, wire.STRK, wire.Selector("permissioned_mint"), a.Address(), low, high)
		k.must(err)
	}
	k.chain.Produce(2) // the SDK cannot read the tip of what is in the first
	k.server = trial.Must(starknet.Serve(starknet.NodeOptions{Chain: k.chain}))(t)
	t.Cleanup(func() { _ = k.server.Close() })
	return k
}

func (k *kit) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

func strk(n int64) *big.Int { return new(big.Int).Mul(big.NewInt(n), big.NewInt(1e18)) }

// rate is twice what gas costs.
func rate() wire.FeeRate {
	p := contracts.DefaultPrices().Fri
	twice := func(n *big.Int) *big.Int { return new(big.Int).Lsh(n, 1) }
	return wire.FeeRate{L1: twice(p.L1), L2: twice(p.L2), L1Data: twice(p.L1Data)}
}

// transfer is a signed transfer by Alice.
func (k *kit) transfer(nonce uint64, amount *big.Int) *wire.Transaction {
	k.Helper()
	call := trial.Must(wire.Transfer(wire.STRK, bob.Address(), amount))(k)
	tx := network.NewInvoke(alice.Address(), nonce, rate(), []wire.Call{call})
	k.must(alice.SignTransaction(tx))
	return tx
}

// send puts a transaction on chain without a server.
func (k *kit) send(t *wire.Transaction) wire.Felt {
	k.Helper()
	tx := trial.Must(contracts.NewTx(t, false))(k)
	k.must(k.chain.Send(tx))
	return tx.Hash
}

// body is a transaction as clients write it.
func (k *kit) body(t *wire.Transaction) map[string]any {
	k.Helper()
	_, _, raw, err := t.Broadcast()
	k.must(err)
	var body map[string]any
	k.must(json.Unmarshal(raw, &body))
	return body
}

// answer is what a call is answered with.
type answer struct {
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

// post sends a body as it is.
func (k *kit) post(path, body string) (status int, text string) {
	k.Helper()
	r := trial.Must(http.Post(k.server.URL()+path, "application/json", strings.NewReader(body)))(k)
	defer r.Body.Close()
	raw := trial.Must(io.ReadAll(r.Body))(k)
	return r.StatusCode, string(raw)
}

// ask makes a call in a version of the specification.
func (k *kit) ask(version, method string, params any) (a answer) {
	k.Helper()
	raw := trial.Must(json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "starknet_" + method, "params": params}))(k)
	_, text := k.post(version, string(raw))
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		k.Fatalf("%s: %v: %s", method, err, text)
	}
	return a
}

// get is ask of what must succeed, into a value.
func (k *kit) get(version, method string, params, to any) {
	k.Helper()
	a := k.ask(version, method, params)
	if a.Error != nil {
		k.Fatalf("%s: %d %s %s", method, a.Error.Code, a.Error.Message, a.Error.Data)
	}
	d := json.NewDecoder(bytes.NewReader(a.Result))
	d.UseNumber()
	if err := d.Decode(to); err != nil {
		k.Fatalf("%s: %v: %s", method, err, a.Result)
	}
}

// fails demands an error.
func (k *kit) fails(version, method string, params any, code int) json.RawMessage {
	k.Helper()
	a := k.ask(version, method, params)
	if a.Error == nil || a.Error.Code != code {
		k.Fatalf("%s%s %v: %s %+v, want error %d", version, method, params, a.Result, a.Error, code)
	}
	return a.Error.Data
}

type object = map[string]any
