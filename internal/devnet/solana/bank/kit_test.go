package bank_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

const sol = solana.LAMPORTS_PER_SOL

// key returns the key of a name.
func key(name string) wire.SecretKey {
	seed := sha256.Sum256([]byte(name))
	return wire.SecretKey(ed25519.NewKeyFromSeed(seed[:]))
}

// kit is a bank whose clock stands still, and on which transactions wait for a block.
type kit struct {
	t testing.TB
	*bank.Bank
	now   time.Time
	nonce uint32
}

func newKit(t testing.TB, o bank.Options) *kit {
	k := &kit{t: t, now: time.Unix(1_760_000_000, 0)}
	if o.Now == nil {
		o.Now = func() time.Time { return k.now }
	}
	o.Manual = true
	if o.Accounts == nil {
		o.Accounts = map[bank.Key]bank.Account{}
	}
	for _, name := range []string{"alice", "bob"} {
		o.Accounts[key(name).PublicKey()] = bank.Account{Lamports: 100 * sol}
	}
	k.Bank = trial.Must(bank.New(o))(t)
	t.Cleanup(func() { _ = k.Close() })
	return k
}

func (k *kit) hash() (h wire.Hash) {
	k.Read(bank.Confirmed, 0, func(v *bank.View) { h = v.Head().Hash })
	return h
}

// sign makes a transaction of instructions with the newest block hash, signed by all.
func (k *kit) sign(signers []wire.SecretKey, ix ...wire.Instruction) []byte {
	k.t.Helper()
	tx := wire.Tx{Payer: signers[0].PublicKey(), Instructions: ix, Blockhash: k.hash()}
	for _, s := range signers {
		if err := tx.Sign(s); err != nil {
			k.t.Fatal(err)
		}
	}
	raw, err := tx.Bytes()
	if err != nil {
		k.t.Fatal(err)
	}
	return raw
}

// run executes a transaction in a block of its own.
func (k *kit) run(signers []wire.SecretKey, ix ...wire.Instruction) *bank.Executed {
	k.t.Helper()
	k.nonce++ // two equal transactions would be one
	ix = append(ix, wire.SetLimit(1_000_000+k.nonce))
	id, err := k.Send(k.sign(signers, ix...))
	if err != nil {
		k.t.Fatal(err)
	}
	k.Produce(1)
	tx := k.tx(id)
	if tx == nil {
		k.t.Fatalf("transaction %s is in no block", id)
	}
	return tx
}

// must is run of a transaction that succeeds.
func (k *kit) must(signers []wire.SecretKey, ix ...wire.Instruction) *bank.Executed {
	k.t.Helper()
	tx := k.run(signers, ix...)
	if tx.Err != nil {
		k.t.Fatalf("%v\n%s", tx.Err, fmt.Sprint(tx.Logs))
	}
	return tx
}

func (k *kit) tx(id wire.Signature) (tx *bank.Executed) {
	k.Read(bank.Processed, 0, func(v *bank.View) { tx = v.Tx(id) })
	return tx
}

func (k *kit) lamports(of bank.Key) (n uint64) {
	k.Read(bank.Processed, 0, func(v *bank.View) { a, _ := v.Account(of); n = a.Lamports })
	return n
}

func (k *kit) token(at bank.Key) (t bank.Token, ok bool) {
	k.Read(bank.Processed, 0, func(v *bank.View) { t, ok = v.Token(at) })
	return t, ok
}

func keys(names ...string) (all []wire.SecretKey) {
	for _, n := range names {
		all = append(all, key(n))
	}
	return all
}
