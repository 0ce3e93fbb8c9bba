package contracts_test

import (
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// tb is what tests, fuzzers and properties have in common.
type tb interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

var (
	alice, bob, carol = contracts.KeyOf("alice"), contracts.KeyOf("bob"), contracts.KeyOf("carol")
	network           = wire.Network{ChainID: wire.Sepolia}
)

// kit is a chain with STRK. Alice and Bob have accounts with 1000, Carol has as much and
// no account. Its clock stands still.
type kit struct {
	tb
	*contracts.Chain
	now time.Time
}

func newKit(t tb, o contracts.Options, more ...contracts.Class) *kit {
	t.Helper()
	k := &kit{tb: t, now: time.Unix(1_760_000_000, 0)}
	o.Now, o.ChainID, o.Classes = func() time.Time { return k.now }, network.ChainIDFelt(), append(contracts.Classes(contracts.Rules{}), more...)
	var err error
	k.Chain, err = contracts.New(o)
	k.must(err)
	minter := wire.ShortString("minter")
	k.must(k.Place(wire.STRK, contracts.Token().Hash, contracts.TokenArgs("Starknet Token", "STRK", 18, minter)...))
	for _, a := range []contracts.Key{alice, bob} {
		k.must(k.Place(a.Address(), a.Deploy().ClassHash, a.Deploy().ConstructorCalldata...))
	}
	for _, a := range []contracts.Key{alice, bob, carol} {
		low, high := contracts.Split(strk(1000))
		_, err := k.Impersonate(minter, wire.STRK, wire.Selector("permissioned_mint"), a.Address(), low, high)
		k.must(err)
	}
	k.Produce(1)
	return k
}

func (k *kit) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

func strk(n int64) *big.Int { return new(big.Int).Mul(big.NewInt(n), big.NewInt(1e18)) }

func rate() wire.FeeRate { return contracts.DefaultPrices().Fri }

// signed returns a transaction with its signature.
func (k *kit) signed(by contracts.Key, t *wire.Transaction) *contracts.Tx {
	k.Helper()
	k.must(by.SignTransaction(t))
	tx, err := contracts.NewTx(t, false)
	k.must(err)
	return tx
}

// transfer is a transfer that Bob gets, signed.
func (k *kit) transfer(by contracts.Key, nonce uint64, amount *big.Int) *contracts.Tx {
	k.Helper()
	call, err := wire.Transfer(wire.STRK, bob.Address(), amount)
	k.must(err)
	return k.signed(by, network.NewInvoke(by.Address(), nonce, rate(), []wire.Call{call}))
}

// call is a call of any contract, signed by Alice, with much gas.
func (k *kit) call(nonce uint64, to wire.Felt, entry string, calldata ...wire.Felt) *contracts.Tx {
	k.Helper()
	call := wire.Call{To: to, Entry: entry, Calldata: calldata, Gas: wire.Gas{L2: 100_000_000, L1Data: 10_000}}
	return k.signed(alice, network.NewInvoke(alice.Address(), nonce, rate(), []wire.Call{call}))
}

func (k *kit) send(tx *contracts.Tx) {
	k.Helper()
	k.must(k.Send(tx))
}

// refused demands that a transaction is not taken, and why.
func (k *kit) refused(tx *contracts.Tx, kind contracts.RefusalKind) {
	k.Helper()
	var r *contracts.Refusal
	if err := k.Send(tx); !errors.As(err, &r) || r.Kind != kind {
		k.Fatalf("%v, want a refusal of kind %d", err, kind)
	}
}

// tx returns a transaction of a block, the open one included.
func (k *kit) tx(hash wire.Felt) (tx *contracts.Executed) {
	k.Helper()
	k.Read(0, func(v *contracts.View) { tx = v.Tx(hash) })
	return tx
}

// done returns what a transaction did.
func (k *kit) done(tx *contracts.Tx) *contracts.Executed {
	k.Helper()
	done := k.tx(tx.Hash)
	if done == nil {
		k.Fatal("the transaction is in no block")
	}
	return done
}

// has is what an address has with what is pre-confirmed.
func (k *kit) has(of wire.Felt) (n *big.Int) {
	k.Read(0, func(v *contracts.View) { n = v.Balance(of, v.Open()) })
	return n
}

func (k *kit) nonce(of wire.Felt) (n uint64) {
	k.Read(0, func(v *contracts.View) { n = v.Nonce(of, v.Open()) })
	return n
}

func sequencer(c *contracts.Chain) (at wire.Felt) {
	c.Read(0, func(v *contracts.View) { at = v.Sequencer() })
	return at
}

var _ tb = testing.TB(nil)
