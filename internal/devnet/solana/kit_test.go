package solana_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	client "github.com/gagliardetto/solana-go/rpc"

	devsolana "github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

const sol = solana.LAMPORTS_PER_SOL

func key(name string) wire.SecretKey {
	seed := sha256.Sum256([]byte(name))
	return wire.SecretKey(ed25519.NewKeyFromSeed(seed[:]))
}

var mint = key("mint").PublicKey()

// kit is a node with a client of another make.
type kit struct {
	t      *testing.T
	bank   *bank.Bank
	server *devsolana.NodeServer
	client *client.Client
	ctx    context.Context
}

func newKit(t *testing.T, o bank.Options) *kit {
	k := &kit{t: t}
	authority := key("alice").PublicKey()
	o.Accounts = map[bank.Key]bank.Account{
		key("alice").PublicKey(): {Lamports: 1000 * sol}, key("bob").PublicKey(): {Lamports: 10 * sol},
		mint: bank.MintAccount(6, 0, &authority),
	}
	k.bank = trial.Must(bank.New(o))(t)
	t.Cleanup(func() { _ = k.bank.Close() })
	k.server = trial.Must(devsolana.Serve(devsolana.NodeOptions{Bank: k.bank, Airdrop: func(to wire.Key, lamports uint64) (wire.Signature, error) {
		return k.send("alice", wire.Transfer(authority, to, lamports)), nil
	}}))(t)
	t.Cleanup(func() { _ = k.server.Close() })
	k.client = client.New(k.server.URL())
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	k.ctx = ctx
	return k
}

// sign makes a transaction of the payer alone, with the newest block hash.
func (k *kit) sign(payer string, ix ...wire.Instruction) []byte {
	k.t.Helper()
	tx := wire.Tx{Payer: key(payer).PublicKey(), Instructions: ix}
	k.bank.Read(bank.Processed, 0, func(v *bank.View) { tx.Blockhash = v.Head().Hash })
	if err := tx.Sign(key(payer)); err != nil {
		k.t.Fatal(err)
	}
	raw, err := tx.Bytes()
	if err != nil {
		k.t.Fatal(err)
	}
	return raw
}

func (k *kit) send(payer string, ix ...wire.Instruction) wire.Signature {
	k.t.Helper()
	id, err := k.bank.Send(k.sign(payer, ix...))
	if err != nil {
		k.t.Fatal(err)
	}
	return id
}
