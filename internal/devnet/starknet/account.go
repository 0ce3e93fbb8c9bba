package starknet

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Account is a key of the network. It is safe for concurrent use: transactions get one
// nonce after the other, also beside others that somebody else sent for the same key.
type Account struct {
	Address wire.Felt
	Key     contracts.Key
	net     *Net
	mu      loopback.Mutex // held while a transaction gets its nonce and is sent
}

var _ contracts.Account = (*Account)(nil)

// NewAccount makes a key without funds, whose account is not deployed. The n-th account
// of a network has the same key in every run.
func (n *Net) NewAccount() *Account {
	n.mu.Lock()
	n.accounts++
	name := fmt.Sprintf("account %d", n.accounts)
	n.mu.Unlock()
	return n.account(name)
}

func (n *Net) account(name string) *Account {
	return n.AccountOf(contracts.KeyOf(name))
}

// AccountOf is the account of a key on this network.
func (n *Net) AccountOf(k contracts.Key) *Account {
	return &Account{Address: k.Address(), Key: k, net: n}
}

// Deploy deploys the account, which needs STRK for it.
func (a *Account) Deploy(ctx context.Context) error {
	id, err := a.put(func(rate wire.FeeRate, _ uint64) *wire.Transaction { return a.net.network.NewDeploy(a.Address, rate) })
	if err != nil {
		return err
	}
	return a.net.Wait(ctx, id)
}

// RevertedError says that a transaction is in a block and reverted.
type RevertedError struct {
	Tx *contracts.Executed
}

func (e *RevertedError) Error() string {
	return fmt.Sprintf("transaction %s reverted: %s", wire.Hex(e.Tx.Hash), e.Tx.Reverted)
}

// executeTime is how long a transaction may wait for its block.
const executeTime = 60 * time.Second

// generous is the gas of calls that the protocol has no number for.
var generous = wire.Gas{L2: 100_000_000, L1Data: 5_000}

// Submit sends calls as one transaction, with bounds that suffice, and does not wait.
func (a *Account) Submit(calls ...wire.Call) (wire.Felt, error) {
	for i := range calls {
		if calls[i].Gas == (wire.Gas{}) {
			calls[i].Gas = generous
		}
	}
	return a.put(func(rate wire.FeeRate, nonce uint64) *wire.Transaction {
		return a.net.network.NewInvoke(a.Address, nonce, rate, calls)
	})
}

// Send is [Account.Submit], and waits until the transaction is accepted; with blocks on
// demand it makes them. One that reverted is a *[RevertedError].
func (a *Account) Send(ctx context.Context, calls ...wire.Call) (wire.Felt, error) {
	id, err := a.Submit(calls...)
	if err != nil {
		return id, err
	}
	return id, a.net.Wait(ctx, id)
}

// put signs a transaction and sends it.
func (a *Account) put(of func(wire.FeeRate, uint64) *wire.Transaction) (wire.Felt, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	rate, err := a.net.rate()
	if err != nil {
		return wire.Felt{}, err
	}
	tx := of(rate, a.nonce())
	if err := a.Key.SignTransaction(tx); err != nil {
		return wire.Felt{}, err
	}
	signed, err := contracts.NewTx(tx, false)
	if err != nil {
		return wire.Felt{}, err
	}
	return signed.Hash, a.net.chain.Send(signed)
}

// nonce is the account's next, behind what waits.
func (a *Account) nonce() (next uint64) {
	a.net.chain.Read(0, func(v *contracts.View) { next = v.NextNonce(a.Address) })
	return next
}

// rate is what a transaction offers now.
func (n *Net) rate() (rate wire.FeeRate, err error) {
	n.chain.Read(0, func(v *contracts.View) {
		p := v.Open().Prices.Fri
		rate, err = wire.RateFor(new(big.Int).Set(p.L1), new(big.Int).Set(p.L2), new(big.Int).Set(p.L1Data))
	})
	return rate, err
}

// Wait waits until a transaction is accepted, making blocks itself if they come on
// demand. One that reverted is a *[RevertedError].
func (n *Net) Wait(ctx context.Context, id wire.Felt) error {
	ctx, cancel := context.WithTimeout(ctx, executeTime)
	defer cancel()
	for {
		moved := n.chain.Moved()
		tx := n.accepted(id)
		if tx == nil {
			n.mu.Lock()
			if n.manual && n.paced == 0 && n.options.BlockTime == 0 {
				n.chain.Produce(1)
			}
			n.mu.Unlock()
			tx = n.accepted(id)
		}
		switch {
		case tx != nil && tx.Reverted != "":
			return &RevertedError{tx}
		case tx != nil:
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return fmt.Errorf("transaction %s: %w", wire.Hex(id), ctx.Err())
		}
	}
}

// accepted returns a transaction of a closed block, nil if there is none.
func (n *Net) accepted(id wire.Felt) (tx *contracts.Executed) {
	n.chain.Read(0, func(v *contracts.View) {
		if tx = v.Tx(id); tx != nil && v.IsOpen(tx.Block) {
			tx = nil
		}
	})
	return tx
}
