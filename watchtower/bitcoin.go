package watchtower

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/single"
	"github.com/swapper-go/swapper/internal/btc/vault"
)

// Withdrawal names a Bitcoin transaction that makes a vault pay.
type Withdrawal struct {
	Chain   string       `json:"chain"`
	Version string       `json:"version,omitempty"` // of the contracts; "": v1
	Owner   string       `json:"owner"`             // of the vault
	ID      *big.Int     `json:"id"`                // of the vault
	TxID    bitcoin.Hash `json:"txId"`
	From    uint64       `json:"from"` // lowest height of the chain at which it can have been claimed; 0: the height now
}

// Payment names a Bitcoin output that fulfils an escrow's condition.
type Payment struct {
	Chain     string           `json:"chain"`
	Escrow    json.RawMessage  `json:"escrow"` // in the chain's own format
	TxID      bitcoin.Hash     `json:"txId"`
	Vout      uint32           `json:"vout"`
	Condition chains.Condition `json:"condition"`
}

// bitcoinLife is how long a Bitcoin transaction is waited for.
const bitcoinLife = 14 * 24 * time.Hour

// Withdraw takes over the claim of an own user's withdrawal from a vault, with those before it,
// once Bitcoin has confirmed it as often as the vault demands. Errors have the code
// fault.InvalidInput if the tower cannot claim it, or are those of the chain or the store.
func (t *Tower) Withdraw(ctx context.Context, w Withdrawal) error {
	c, k, err := t.contract(w.Chain, w.Version)
	if err != nil {
		return err
	}
	if _, ok := k.(chains.VaultContract); !ok {
		return fault.Invalid("version", "the contracts %s on %s have no vaults", k.Version(), c.id)
	}
	if w.ID == nil || w.ID.Sign() < 0 {
		return fault.Invalid("id", "must be the number of a vault")
	}
	if w.Owner, err = c.chain.Address(w.Owner); err != nil {
		return fault.At("owner", err)
	}
	if w.From == 0 {
		heads, err := c.chain.Heads(ctx)
		if err != nil {
			return err
		}
		w.From = heads.Latest.Height
	}
	return c.adopt(ctx, record{Version: k.Version(), Withdrawal: &w, Own: true}, w.hash())
}

// hash is what its record is found by.
func (w *Withdrawal) hash() []byte {
	name := sha256.Sum256(fmt.Appendf(nil, "%s %s %s", w.Owner, w.ID, w.TxID))
	return name[:]
}

// Prove takes over the claim of an own user's escrow that waits for a bitcoin payment, once
// Bitcoin has confirmed it as often as the escrow demands. Errors are as in [Tower.Withdraw].
func (t *Tower) Prove(ctx context.Context, p Payment) error {
	for _, c := range t.on {
		if c.id != p.Chain {
			continue
		}
		for _, v := range c.info.Versions {
			k, ok := c.chain.Contract(v.Name)
			if !ok {
				continue
			}
			e, err := k.Decode(p.Escrow)
			if err != nil || e.Kind == chains.HTLC || e.Kind != p.Condition.Kind {
				continue
			}
			if lock, err := k.ClaimHash(p.Condition); err != nil || string(lock) != string(e.ClaimHash) {
				continue
			}
			return c.adopt(ctx, record{Version: v.Name, Escrow: e.Data, Payment: &p, Own: true}, e.Hash)
		}
	}
	return fault.Invalid("escrow", "is none of a configured chain with this condition")
}

func (t *Tower) contract(chain, version string) (*claimer, chains.Contract, error) {
	for _, c := range t.on {
		if c.id != chain {
			continue
		}
		if k, ok := c.chain.Contract(version); ok {
			return c, k, nil
		}
		return nil, nil, fault.Invalid("version", "%s has no contracts %q", chain, version)
	}
	return nil, nil, fault.Invalid("chain", "%q is not configured", chain)
}

// confirmed finds a Bitcoin transaction; nil if it is not in a block.
func (c *claimer) confirmed(ctx context.Context, id bitcoin.Hash) (*bitcoin.Tx, error) {
	tx, err := single.Tx(ctx, c.config.Bitcoin, id)
	switch {
	case errors.Is(err, bitcoin.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("transaction %s: %w", id, err)
	case !tx.Confirmed():
		return nil, nil
	}
	return tx, nil
}

// headers is the expense for what the relay lacks of Bitcoin's blocks up to a height.
func (c *claimer) headers(ctx context.Context, k chains.Contract, until uint32) (expense, error) {
	e := expense{Cost: chains.Cost{Kind: chains.StepRelayHeader, Payer: c.self}}
	relay, ok := k.(chains.RelayContract)
	if !ok {
		return e, nil
	}
	tip, err := relay.RelayTip(ctx)
	if err == nil && tip < until {
		e.times = int64(until - tip)
	}
	return e, err
}

// paid is the outlook of an escrow that waits for a bitcoin payment.
func (c *claimer) paid(ctx context.Context, k chains.Contract, r *record, o outlook) (outlook, error) {
	if o.state != open {
		return o, nil
	}
	p := *r.Payment
	tx, err := c.confirmed(ctx, p.TxID)
	if err != nil {
		return o, err
	}
	o.state = early
	if tx == nil && !r.Own { // another transaction may pay it
		o.state, o.until = absent, r.lastSent().Add(longestPause)
	}
	if tx == nil || tx.Confirmations < uint32(p.Condition.Confirmations) {
		return o, nil
	}
	raw, err := rawtx.Strip(tx.Msg)
	if err != nil {
		return o, err
	}
	headers, err := c.headers(ctx, k, tx.Height+uint32(p.Condition.Confirmations)-1)
	if err != nil {
		return o, err
	}
	o.state, o.step.Kind = open, chains.StepClaimBitcoin
	o.step.Payment = &chains.Payment{Raw: raw, TxID: p.TxID, Vout: p.Vout, Block: tx.BlockHash, Height: tx.Height, Confirmations: p.Condition.Confirmations, Condition: p.Condition}
	o.cost = []expense{c.proof(o.step.Escrow), headers}
	return o, nil
}

// proof is the expense for the claim of an escrow that waits for a bitcoin payment, without headers.
func (c *claimer) proof(e chains.Escrow) expense {
	return expense{chains.Cost{Kind: chains.StepClaimBitcoin, Token: e.Token, Payer: c.self}, 1}
}

// withdrawal is the outlook of a withdrawal.
func (c *claimer) withdrawal(ctx context.Context, k chains.Contract, r *record) (outlook, error) {
	w := *r.Withdrawal
	v, ok := k.(chains.VaultContract)
	if !ok {
		return outlook{}, fault.New(fault.Unsupported, "the contracts have no vaults")
	}
	id := chains.VaultID{Owner: w.Owner, ID: w.ID}
	o := outlook{state: absent, until: time.UnixMilli(r.Since).Add(bitcoinLife),
		step: chains.Step{Kind: chains.StepVaultClaim, Vault: &chains.VaultPayment{Owner: w.Owner, ID: w.ID, TxID: w.TxID}}}
	tx, err := c.confirmed(ctx, w.TxID)
	if err != nil || tx == nil {
		return o, err
	}
	mine, err := v.ParseWithdrawal(tx.Msg)
	if err != nil { // to claim it would close the vault
		c.log.Error("a withdrawal cannot be claimed", "record", r.label(), "err", err)
		o.state = over
		return o, nil
	}
	fact, err := c.withdrawn(ctx, v, chains.WithdrawalQuery{Vault: id, Recipient: mine.Recipient, TxID: w.TxID, From: w.From})
	if err != nil {
		return o, err
	}
	o.state = early
	if fact.State == chains.WithdrawalClaimed || fact.State == chains.WithdrawalClosed {
		if fact.Final && !fact.Unsettled {
			o.state = over
		}
		return o, nil
	}
	return c.unclaimed(ctx, v, tx, w, o)
}

// withdrawn asks for the state of a withdrawal: all nodes, if it looks as if it was claimed.
func (c *claimer) withdrawn(ctx context.Context, v chains.VaultContract, q chains.WithdrawalQuery) (chains.WithdrawalFact, error) {
	facts, err := v.Withdrawals(ctx, []chains.WithdrawalQuery{q})
	if err == nil && facts[0].Err == nil && facts[0].Unsettled && facts[0].State != chains.WithdrawalNone {
		q.Settled = true
		facts, err = v.Withdrawals(ctx, []chains.WithdrawalQuery{q})
	}
	if err != nil {
		return chains.WithdrawalFact{}, err
	}
	return facts[0], facts[0].Err
}

// unclaimed is the outlook of a withdrawal that Bitcoin has and that the vault has not paid.
func (c *claimer) unclaimed(ctx context.Context, v chains.VaultContract, tx *bitcoin.Tx, w Withdrawal, o outlook) (outlook, error) {
	facts, err := v.Vaults(ctx, []chains.VaultID{{Owner: w.Owner, ID: w.ID}}) // all nodes are asked
	if err == nil {
		err = facts[0].Err
	}
	if err != nil {
		return o, err
	}
	at := facts[0].Vault
	if !at.Open || !at.OurRelay {
		return o, fault.New(fault.InvalidState, "the vault is closed")
	}
	if tx.Confirmations < at.Confirmations {
		return o, nil
	}
	fetch := func(ctx context.Context, id bitcoin.Hash) (*bitcoin.Tx, error) {
		return single.Tx(ctx, c.config.Bitcoin, id)
	}
	path, err := vault.Trace(ctx, fetch, at.UTXO, bitcoin.OutPoint{Hash: w.TxID}, vault.MaxPendingClaimed)
	if err != nil {
		return o, fmt.Errorf("the vault's withdrawals: %w", err)
	}
	headers, err := c.headers(ctx, v, tx.Height+at.Confirmations-1)
	if err != nil {
		return o, err
	}
	o.cost = []expense{{chains.Cost{Kind: chains.StepVaultClaim, Token: at.Tokens[0], Payer: c.self}, int64(len(path))}, headers}
	pending := make([]vault.Pending, len(path))
	queries := make([]chains.WithdrawalQuery, len(path))
	for i, p := range path {
		one, err := v.ParseWithdrawal(p.Tx.Msg)
		if err != nil {
			return o, fault.New(fault.InvalidState, "withdrawal %s, which comes before, cannot be claimed: %w", p.TxID, err)
		}
		pending[i] = vault.Pending{Withdrawal: one.Withdrawal, Amounts: one.Amounts}
		queries[i] = chains.WithdrawalQuery{Vault: at.VaultID, Recipient: one.Recipient, TxID: p.TxID, From: w.From}
	}
	if _, err := vault.After(at.VaultState, pending...); err != nil { // to claim it would close the vault
		return o, fault.New(fault.InvalidState, "the vault cannot pay the withdrawal: %w", err)
	}
	states, err := v.Withdrawals(ctx, queries)
	if err != nil {
		return o, err
	}
	for i, p := range pending {
		if states[i].Err != nil {
			return o, states[i].Err
		}
		o.pay = append(o.pay, share(at, p.Amounts, states[i].State == chains.WithdrawalFronted))
	}
	o.state = open
	return o, nil
}

// share is what whoever claims a withdrawal gets: the caller's share, and that for fronting
// if it was not fronted (protocol: chain-evm.md §11.3).
func share(v chains.Vault, a bitcoin.WithdrawalAmounts, fronted bool) (pay []amount) {
	for i, token := range v.Tokens {
		raw := new(big.Int).SetUint64(a.Caller[i])
		if !fronted {
			raw.Add(raw, new(big.Int).SetUint64(a.Fronting[i]))
		}
		if raw.Sign() > 0 {
			pay = append(pay, amount{token, raw.Mul(raw, v.Multipliers[i])})
		}
	}
	return pay
}

// mark notes whether a claim from the record's vault is under way. The withdrawals of a vault
// are claimed in their order, so two claims at once would take the same ones.
func (c *claimer) mark(r *record) {
	if r.Withdrawal == nil {
		return
	}
	of := r.Withdrawal.Owner + " " + r.Withdrawal.ID.String()
	switch holder, held := c.vaults[of]; {
	case r.live() != nil && !held:
		c.vaults[of] = r.id
	case r.live() == nil && holder == r.id:
		delete(c.vaults, of)
	}
}

// taken reports whether another record's claim from the same vault is under way.
func (c *claimer) taken(r *record) bool {
	if r.Withdrawal == nil {
		return false
	}
	holder, held := c.vaults[r.Withdrawal.Owner+" "+r.Withdrawal.ID.String()]
	return held && holder != r.id
}
