package solana

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Account is a key of the network. It is safe for concurrent use.
type Account struct {
	Address wire.Key
	Key     wire.SecretKey
	net     *Net
	sent    atomic.Uint32
}

// NewAccount makes an account without funds. The n-th account of a network has the
// same key in every run.
func (n *Net) NewAccount() *Account {
	n.mu.Lock()
	n.accounts++
	name := fmt.Sprintf("account %d", n.accounts)
	n.mu.Unlock()
	return n.account(name)
}

func (n *Net) account(name string) *Account {
	seed := sha256.Sum256([]byte("local solana network: " + name))
	return n.AccountOf(wire.SecretKey(ed25519.NewKeyFromSeed(seed[:])))
}

// AccountOf is the account of a key on this network.
func (n *Net) AccountOf(key wire.SecretKey) *Account {
	return &Account{Address: key.PublicKey(), Key: key, net: n}
}

// KeyHex returns the private key, seed and public key, as 128 hex digits.
func (a *Account) KeyHex() string { return hex.EncodeToString(a.Key) }

// FailedError says that a transaction is in a block and failed.
type FailedError struct {
	Tx *bank.Executed
}

func (e *FailedError) Error() string {
	last := ""
	if n := len(e.Tx.Logs); n > 1 {
		last = ": " + e.Tx.Logs[n-2]
	}
	return fmt.Sprintf("transaction %s failed: %v%s", e.Tx.ID, e.Tx.Err, last)
}

// Unwrap returns the error of the transaction.
func (e *FailedError) Unwrap() error { return e.Tx.Err }

// executeTime is how long a transaction may wait for its block.
const executeTime = 60 * time.Second

// Send signs a transaction of instructions, sends it and waits until it is executed;
// with blocks on demand it makes them. A failure is a *[FailedError]. Further keys
// sign beside the account.
func (a *Account) Send(ctx context.Context, instructions ...wire.Instruction) (*bank.Executed, error) {
	id, err := a.submit(instructions...)
	if err != nil {
		return nil, err
	}
	return a.net.Wait(ctx, id)
}

// submit sends a transaction of instructions, which is not the same as any other
// that the account sends.
func (a *Account) submit(instructions ...wire.Instruction) (wire.Signature, error) {
	const units = 1_400_000 // as much as there is; less makes it another transaction
	limit := wire.SetLimit(units - a.sent.Add(1)%100_000)
	return a.put(&wire.Tx{Payer: a.Address, Instructions: append(slices.Clone(instructions), limit)})
}

// SendTx is [Account.Send] of a transaction that package wire has made. Without a
// block hash it gets the newest.
func (a *Account) SendTx(ctx context.Context, tx *wire.Tx) (*bank.Executed, error) {
	id, err := a.put(tx)
	if err != nil {
		return nil, err
	}
	return a.net.Wait(ctx, id)
}

// SendAll sends transactions one after the other, each when the one before it is
// executed.
func (a *Account) SendAll(ctx context.Context, txs []*wire.Tx) (last *bank.Executed, err error) {
	for _, tx := range txs {
		if last, err = a.SendTx(ctx, tx); err != nil {
			return last, err
		}
	}
	return last, nil
}

func (a *Account) put(tx *wire.Tx) (wire.Signature, error) {
	raw, err := a.Sign(tx)
	if err != nil {
		return wire.Signature{}, err
	}
	return a.net.bank.Send(raw)
}

// Sign signs a transaction, with the keys that were made for it, and returns it in
// wire format. Without a block hash it gets the newest.
func (a *Account) Sign(tx *wire.Tx) ([]byte, error) {
	if tx.Blockhash.IsZero() {
		tx.Blockhash = a.net.Head().Hash
	}
	for _, key := range append([]wire.SecretKey{a.Key}, tx.Signers...) {
		if err := tx.Sign(key); err != nil {
			return nil, err
		}
	}
	return tx.Bytes()
}

// Wait waits until a transaction is executed, making blocks itself if they come on
// demand. A failure is a *[FailedError].
func (n *Net) Wait(ctx context.Context, id wire.Signature) (*bank.Executed, error) {
	ctx, cancel := context.WithTimeout(ctx, executeTime)
	defer cancel()
	for {
		moved := n.bank.Moved()
		tx := n.find(id)
		if tx == nil {
			n.mu.Lock()
			if n.manual && n.paced == 0 {
				n.bank.Produce(1)
			}
			n.mu.Unlock()
			tx = n.find(id)
		}
		switch {
		case tx != nil && tx.Err != nil:
			return tx, &FailedError{tx}
		case tx != nil:
			return tx, nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return nil, fmt.Errorf("transaction %s: %w", id, ctx.Err())
		}
	}
}

func (n *Net) find(id wire.Signature) (tx *bank.Executed) {
	n.bank.Read(bank.Processed, 0, func(v *bank.View) { tx = v.Tx(id) })
	return tx
}
