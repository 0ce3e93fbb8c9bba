package solana

import (
	"context"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Party is safe for concurrent use. Its members are not changed.
type Party struct {
	Net      *Net
	Account  *Account
	Programs wire.Programs // the version that the party uses

	claiming loopback.Mutex // held while a claim with a proof goes out, whose data account is written in several transactions
}

// FeeRate is what parties offer.
var FeeRate = wire.FeeRate{Price: 8000}

// Address is the party's.
func (p *Party) Address() wire.Key { return p.Account.Address }

// Send sends transactions one after the other, each when the one before it is
// executed.
func (p *Party) Send(ctx context.Context, txs ...*wire.Tx) (id wire.Signature, err error) {
	last, err := p.Account.SendAll(ctx, txs)
	if err != nil {
		return id, err
	}
	return last.ID, nil
}

// send is [Party.Send] of what was made without an error.
func (p *Party) send(ctx context.Context, tx *wire.Tx, err error) (wire.Signature, error) {
	if err != nil {
		return wire.Signature{}, err
	}
	return p.Send(ctx, tx)
}

// tokens of an address, nil if it has no account for them.
func (p *Party) tokens(owner, mint wire.Key) (amount *uint64) {
	p.Net.Bank().Read(bank.Processed, 0, func(v *bank.View) {
		if t, ok := v.Token(wire.ATA(owner, mint)); ok {
			amount = &t.Amount
		}
	})
	return amount
}

// Deposit puts tokens into the party's balance in the swap program.
func (p *Party) Deposit(ctx context.Context, mint wire.Key, amount uint64) error {
	return p.Net.Deposit(ctx, p.Programs.Version, p.Account, mint, amount)
}

// Funds returns the party's balance in the swap program, 0 if it never had one.
func (p *Party) Funds(mint wire.Key) (amount uint64, err error) {
	p.Net.Bank().Read(bank.Confirmed, 0, func(v *bank.View) {
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
	tx, err := wire.SendTx(p.Address(), to, wire.WSOL, lamports, FeeRate, p.tokens(p.Address(), wire.WSOL) != nil, wire.ToATA{})
	return p.send(ctx, tx, err)
}

// to is what is known of the token account that somebody is paid to.
func (p *Party) to(owner, mint wire.Key) wire.ToATA {
	return wire.ToATA{Missing: p.tokens(owner, mint) == nil, Create: true}
}

// ClaimSecret claims a hash lock.
func (p *Party) ClaimSecret(ctx context.Context, d *wire.SwapData, secret [32]byte) (wire.Signature, error) {
	tx, err := p.Programs.ClaimTx(d, p.Address(), secret, FeeRate, p.to(d.Claimer, d.Token))
	return p.send(ctx, tx, err)
}

// Refund takes an escrow of the party's back after its expiry.
func (p *Party) Refund(ctx context.Context, d *wire.SwapData) (wire.Signature, error) {
	tx, err := p.Programs.RefundTx(d, p.Address(), nil, nil, FeeRate, p.to(d.Offerer, d.Token))
	return p.send(ctx, tx, err)
}

// ClaimBitcoin claims an escrow with the proof of a payment that is deep enough,
// after it has brought the relay up to date.
func (p *Party) ClaimBitcoin(ctx context.Context, d *wire.SwapData, id bitcoin.Hash, vout uint32) (wire.Signature, error) {
	p.claiming.Lock()
	defer p.claiming.Unlock()
	if err := p.Net.SyncRelay(ctx); err != nil {
		return wire.Signature{}, err
	}
	proof, header, stripped, err := p.Net.Payment(id)
	if err != nil {
		return wire.Signature{}, err
	}
	key := wire.DataKey(p.Account.Key, id)
	var written []byte
	layout := p.Net.DataLayout(p.Programs.Version)
	p.Net.Bank().Read(bank.Processed, 0, func(v *bank.View) {
		if a, ok := v.Account(key.PublicKey()); ok {
			var data wire.DataAccount
			data, err = layout.Decode(a.Data)
			written = data.Payload
		}
	})
	if err != nil {
		return wire.Signature{}, err
	}
	txs, err := p.Programs.BitcoinClaimTxs(wire.BitcoinClaim{Data: d, Signer: p.Address(), Vout: vout, Stripped: stripped, Proof: proof,
		Confirmations: d.Confirmations, Header: header, DataKey: key, Layout: layout, Written: written, To: p.to(d.Claimer, d.Token), FeeRate: FeeRate})
	if err != nil {
		return wire.Signature{}, err
	}
	return p.Send(ctx, txs...)
}
