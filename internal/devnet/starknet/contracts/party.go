package contracts

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"github.com/swapper-go/swapper/chains"
	btc "github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Net is what a party asks of the network. All of it is safe for concurrent use.
type Net interface {
	Bitcoin() *bitcoin.Net // that the relay follows
	Network() wire.Network

	// Head is the newest accepted block.
	Head() chains.Block
	// Call asks a contract in the newest accepted block.
	Call(to wire.Felt, entry string, calldata ...wire.Felt) ([]wire.Felt, error)
	// Logs are the events of a contract in the accepted blocks from a height on, oldest
	// first.
	Logs(of wire.Felt, from uint64) []Log

	// SyncRelay brings the relay to the tip of Bitcoin's chain.
	SyncRelay(ctx context.Context) error
	// Proof is what a claim needs to prove a mined Bitcoin transaction, whose block the
	// relay knows.
	Proof(id btc.Hash, vout, confirmations uint32) (wire.BitcoinProof, error)
}

// Log is an event with the block and the transaction that it is from.
type Log struct {
	wire.Log
	Block chains.Block
	Tx    wire.Felt
}

// Account signs and sends. It is safe for concurrent use.
type Account interface {
	// Submit sends calls as one transaction, with bounds that suffice, and does not wait.
	Submit(calls ...wire.Call) (id wire.Felt, err error)
	// Send is Submit, and waits until the transaction is accepted. One that reverted is
	// an error.
	Send(ctx context.Context, calls ...wire.Call) (id wire.Felt, err error)
}

// Party is safe for concurrent use. Its members are not changed.
type Party struct {
	Net     Net
	Account Account
	Key     Key // the account's
}

// Address is the party's.
func (p *Party) Address() wire.Felt { return p.Key.Address() }

// Deployment are the contracts.
func (p *Party) Deployment() wire.Deployment {
	return p.Net.Network().Deployments[0]
}

// Balance is what an address has of a token.
func (p *Party) Balance(token, of wire.Felt) (*big.Int, error) {
	answer, err := p.Net.Call(token, wire.EntryBalanceOf, of)
	if err != nil {
		return nil, err
	}
	return wire.ReadU256(answer)
}

// Deposit puts tokens into the party's balance in the escrow manager.
func (p *Party) Deposit(ctx context.Context, token wire.Felt, amount *big.Int) error {
	_, err := p.Account.Send(ctx, fillBalance(p.Deployment(), token, amount)...)
	return err
}

// Funds is the party's balance in the escrow manager.
func (p *Party) Funds(token wire.Felt) (*big.Int, error) {
	answer, err := p.Net.Call(p.Deployment().EscrowManager.Address, wire.EntryLPBalance, wire.LPBalanceCall(p.Address(), token)...)
	if err != nil {
		return nil, err
	}
	return wire.ReadLPBalance(answer)
}

// Pay sends STRK.
func (p *Party) Pay(ctx context.Context, to wire.Felt, amount *big.Int) (wire.Felt, error) {
	call, err := wire.Transfer(wire.STRK, to, amount)
	return p.send(ctx, call, err)
}

// send sends one call that was made without an error, and waits for it.
func (p *Party) send(ctx context.Context, call wire.Call, err error) (wire.Felt, error) {
	if err != nil {
		return wire.Felt{}, err
	}
	return p.Account.Send(ctx, call)
}

// Open sends an escrow of the party's that needs no other signature, good until a
// time in Unix seconds. It does not wait.
func (p *Party) Open(s wire.SwapData, until int64) (wire.Felt, error) {
	calls, err := p.Deployment().Init(s, p.Address(), chains.Auth{Timeout: until})
	if err != nil {
		return wire.Felt{}, err
	}
	return p.Account.Submit(calls...)
}

// ClaimSecret claims a hash lock.
func (p *Party) ClaimSecret(ctx context.Context, s wire.SwapData, secret [32]byte) (wire.Felt, error) {
	call, err := p.Deployment().ClaimBySecret(s, secret)
	return p.send(ctx, call, err)
}

// ClaimBitcoin claims an escrow with the proof of a payment that is deep enough, after
// it has brought the relay up to date.
func (p *Party) ClaimBitcoin(ctx context.Context, s wire.SwapData, id btc.Hash, vout, confirmations uint32) (wire.Felt, error) {
	if err := p.Net.SyncRelay(ctx); err != nil {
		return wire.Felt{}, err
	}
	proof, err := p.Net.Proof(id, vout, confirmations)
	if err != nil {
		return wire.Felt{}, err
	}
	call, err := p.Deployment().ClaimByBitcoin(s, proof)
	return p.send(ctx, call, err)
}

// Refund takes an escrow of the party's back after its expiry.
func (p *Party) Refund(ctx context.Context, s wire.SwapData, now time.Time) (wire.Felt, error) {
	call, err := p.Deployment().Refund(s, now)
	return p.send(ctx, call, err)
}

// Facts returns the states of escrows at the newest accepted block, in their order, with
// what they were claimed with.
func (p *Party) Facts(hashes ...wire.Felt) ([]chains.EscrowFact, error) {
	head := p.Net.Head() // what is read after it is as new, at least
	manager := p.Deployment().EscrowManager.Address
	answer, err := p.Net.Call(manager, wire.EntryHashStates, wire.EscrowStatesCall(hashes)...)
	if err != nil {
		return nil, err
	}
	records, err := wire.ReadEscrowStates(answer, len(hashes))
	if err != nil {
		return nil, err
	}
	facts := make([]chains.EscrowFact, len(hashes))
	for i, r := range records {
		facts[i] = chains.EscrowFact{State: r.State, Head: head}
		if r.State == chains.EscrowClaimed {
			facts[i].Result, facts[i].Err = p.result(hashes[i], r.FinishHeight)
		}
	}
	return facts, nil
}

// result is what an escrow was claimed with in a block.
func (p *Party) result(hash wire.Felt, height uint64) ([]byte, error) {
	d := p.Deployment()
	for _, l := range p.Net.Logs(d.EscrowManager.Address, height) {
		e, err := d.DecodeLog(l.Log)
		if claim, ok := e.(wire.ClaimEvent); ok && err == nil && claim.EscrowHash == hash {
			return claim.Result[:], nil
		}
	}
	return nil, fmt.Errorf("the claim of %s in block %d is not there", wire.Hex64(hash), height)
}
