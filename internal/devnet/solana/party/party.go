// Package party is somebody with a key on the local Solana network: it signs, sends
// and waits, keeps a balance in the swap program, brings the Bitcoin relay up to date,
// and claims with proofs of Bitcoin payments. Liquidity providers and watchtowers are
// parties. All bytes are package wire's; it sends to the bank itself, so that the
// faults of JSON-RPC servers do not concern it.
package party

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Party is safe for concurrent use. Its members are not changed.
type Party struct {
	Bank     *bank.Bank
	Programs wire.Programs
	Bitcoin  *bitcoin.Net
	Key      wire.SecretKey

	claiming sync.Mutex // held while a claim with a proof goes out, whose data account is written in several transactions
}

// FeeRate is what parties offer.
var FeeRate = wire.FeeRate{Price: 8000}

// Address is the party's.
func (p *Party) Address() wire.Key { return p.Key.PublicKey() }

// FailedError says that a transaction failed, which is in a block all the same.
type FailedError struct {
	ID  wire.Signature
	Err *bank.TxError
}

func (e *FailedError) Error() string { return fmt.Sprintf("transaction %s: %v", e.ID, e.Err) }

func (e *FailedError) Unwrap() error { return e.Err }

// Submit signs a transaction, completes it with the newest block hash if it has none,
// and sends it.
func (p *Party) Submit(tx *wire.Tx) (id wire.Signature, err error) {
	if tx.Blockhash.IsZero() {
		p.Bank.Read(bank.Processed, 0, func(v *bank.View) { tx.Blockhash, tx.LastValid = v.Head().Hash, bank.LastValid(v.Head()) })
	}
	for _, key := range append([]wire.SecretKey{p.Key}, tx.Signers...) {
		if err := tx.Sign(key); err != nil {
			return id, err
		}
	}
	raw, err := tx.Bytes()
	if err != nil {
		return id, err
	}
	return p.Bank.Send(raw)
}

// Send submits transactions one after the other and waits until each has been
// executed. A failure is a *[FailedError].
func (p *Party) Send(ctx context.Context, txs ...*wire.Tx) (id wire.Signature, err error) {
	for _, tx := range txs {
		if id, err = p.Submit(tx); err != nil {
			return id, err
		}
		if err := p.Wait(ctx, id, tx.LastValid); err != nil {
			return id, err
		}
	}
	return id, nil
}

// ErrExpired says that the block hash of a transaction became too old before it was executed.
var ErrExpired = errors.New("the transaction's block hash is too old")

// Wait waits until a transaction has been executed.
func (p *Party) Wait(ctx context.Context, id wire.Signature, lastValid uint64) error {
	for {
		moved := p.Bank.Moved()
		var done *bank.Executed
		var height uint64
		p.Bank.Read(bank.Processed, 0, func(v *bank.View) { done, height = v.Tx(id), v.Head().Height })
		switch {
		case done != nil && done.Err != nil:
			return &FailedError{id, done.Err}
		case done != nil:
			return nil
		case height > lastValid:
			return fmt.Errorf("transaction %s: %w", id, ErrExpired)
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return fmt.Errorf("transaction %s: %w", id, ctx.Err())
		}
	}
}

// Lamports of an address, and the amount of its token account, nil if it has none.
func (p *Party) balances(owner, mint wire.Key) (lamports uint64, tokens *uint64) {
	p.Bank.Read(bank.Processed, 0, func(v *bank.View) {
		if a, ok := v.Account(owner); ok {
			lamports = a.Lamports
		}
		if t, ok := v.Token(wire.ATA(owner, mint)); ok {
			tokens = &t.Amount
		}
	})
	return lamports, tokens
}

// Lamports returns the SOL that the party has, wrapped ones not included.
func (p *Party) Lamports() uint64 {
	lamports, _ := p.balances(p.Address(), wire.WSOL)
	return lamports
}

// Deposit puts tokens into the party's balance in the swap program.
func (p *Party) Deposit(ctx context.Context, mint wire.Key, amount uint64) error {
	_, wsol := p.balances(p.Address(), wire.WSOL)
	tx, err := p.Programs.DepositTx(p.Address(), mint, amount, FeeRate, wsol)
	if err != nil {
		return err
	}
	_, err = p.Send(ctx, tx)
	return err
}

// Funds returns the party's balance in the swap program, 0 if it never had one.
func (p *Party) Funds(mint wire.Key) (amount uint64, err error) {
	p.Bank.Read(bank.Confirmed, 0, func(v *bank.View) {
		a, ok := v.Account(p.Programs.UserVault(p.Address(), mint))
		if !ok {
			return
		}
		var vault wire.UserVault
		vault, err = wire.DecodeUserVault(a.Data)
		amount = vault.Amount
	})
	return amount, err
}

// Pay sends SOL.
func (p *Party) Pay(ctx context.Context, to wire.Key, lamports uint64) (wire.Signature, error) {
	_, wsol := p.balances(p.Address(), wire.WSOL)
	tx, err := wire.SendTx(p.Address(), to, wire.WSOL, lamports, FeeRate, wsol != nil, wire.ToATA{})
	if err != nil {
		return wire.Signature{}, err
	}
	return p.Send(ctx, tx)
}

// payee is what is known of the token account that an escrow is paid out to.
func (p *Party) payee(d *wire.SwapData) wire.ToATA {
	_, tokens := p.balances(d.Claimer, d.Token)
	return wire.ToATA{Missing: tokens == nil, Create: true}
}

// ClaimSecret claims a hash lock.
func (p *Party) ClaimSecret(ctx context.Context, d *wire.SwapData, secret [32]byte) (wire.Signature, error) {
	tx, err := p.Programs.ClaimTx(d, p.Address(), secret, FeeRate, p.payee(d))
	if err != nil {
		return wire.Signature{}, err
	}
	return p.Send(ctx, tx)
}

// Refund takes an escrow of the party's back after its expiry.
func (p *Party) Refund(ctx context.Context, d *wire.SwapData) (wire.Signature, error) {
	_, tokens := p.balances(d.Offerer, d.Token)
	tx, err := p.Programs.RefundTx(d, p.Address(), nil, nil, FeeRate, wire.ToATA{Missing: tokens == nil, Create: true})
	if err != nil {
		return wire.Signature{}, err
	}
	return p.Send(ctx, tx)
}
