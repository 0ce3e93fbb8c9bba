package swappertest

import (
	"context"
	"crypto/rand"
	"fmt"
	"math/big"
	"time"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains/bitcoin"
	chainsolana "github.com/swapper-go/swapper/chains/solana"
	chainstarknet "github.com/swapper-go/swapper/chains/starknet"
	devbitcoin "github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/evm"
	devlightning "github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/solana/wire"
	starkwire "github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/tokens"
)

// Identifiers that are the same in every network.
const (
	chainBitcoin   = "BITCOIN"
	chainLightning = "LIGHTNING"
)

func (n *Network) evm() string { return n.net.EVM.Network().Chain }

// isSolana reports whether a chain is the network's Solana.
func (n *Network) isSolana(chainID string) bool {
	return n.net.Solana != nil && chainID == chainsolana.ChainID
}

// isStarknet reports whether a chain is the network's Starknet.
func (n *Network) isStarknet(chainID string) bool {
	return n.net.Starknet != nil && chainID == chainstarknet.ChainID
}

// Now returns the time of the network's clock, which all its parts use. It is the
// system time plus what [Network.Advance] has added.
func (n *Network) Now() time.Time { return n.net.Clock.Now() }

// Advance moves the clock ahead and makes a block on the smart chains, so that their
// time follows. Bitcoin's time moves with the next block that is mined.
func (n *Network) Advance(d time.Duration) error { return n.net.Advance(d) }

// Mine mines Bitcoin blocks, which confirm the transactions of the mempool.
func (n *Network) Mine(blocks int) error { return n.net.Mine(blocks) }

// Reorg replaces the last Bitcoin blocks with a branch of empty blocks that is
// one longer. Their transactions return to the mempool.
func (n *Network) Reorg(blocks int) error { return n.net.Bitcoin.Reorg(blocks) }

// SetFeeRate changes what Bitcoin's backend recommends and the providers pay, in
// sat/vB.
func (n *Network) SetFeeRate(satVB float64) {
	n.net.Bitcoin.SetFees(devbitcoin.Fees{Fastest: satVB, HalfHour: satVB, Hour: satVB, Economy: satVB, Minimum: 1})
	for _, l := range n.net.LPs {
		l.SetFeeRate(satVB)
	}
}

// SendBitcoin pays sats to an address and returns the transaction's id. It
// stays unconfirmed until [Network.Mine].
func (n *Network) SendBitcoin(address string, sats int64) (txID string, err error) {
	to, err := bitcoin.ParseAddress(address, bitcoin.Regtest)
	if err != nil {
		return "", err
	}
	out, err := n.net.Bitcoin.Faucet(to, sats)
	return out.Hash.String(), err
}

// SendTokens sends an amount, in base units, of a smart chain's token (for
// example CITREA-WBTC, or SOLANA-SOL for the native coin) to an address and
// waits until the transaction is in a block. On Solana the recipient gets a token
// account if it has none.
func (n *Network) SendTokens(ctx context.Context, token, address string, amount *big.Int) error {
	t, err := n.token(token)
	if err != nil {
		return err
	}
	if n.isSolana(t.Chain) {
		return n.sendOnSolana(ctx, t.Address, address, amount)
	}
	if n.isStarknet(t.Chain) {
		return n.sendOnStarknet(ctx, t.Address, address, amount)
	}
	if !common.IsHexAddress(address) {
		return fmt.Errorf("%q is not a 0x address", address)
	}
	at, to := common.HexToAddress(t.Address), common.HexToAddress(address)
	if at == evm.Native {
		return n.net.EVM.Fund(ctx, to, amount)
	}
	return n.net.EVM.Mint(ctx, at, to, amount)
}

func (n *Network) sendOnSolana(ctx context.Context, token, address string, amount *big.Int) error {
	mint, err := wire.ParseKey(token)
	if err != nil {
		return err
	}
	to, err := wire.ParseKey(address)
	if err != nil {
		return fmt.Errorf("%q: %w", address, err)
	}
	if !amount.IsUint64() {
		return fmt.Errorf("%s is not an amount of base units on Solana", amount)
	}
	if mint == wire.WSOL {
		return n.net.Solana.Fund(ctx, to, amount.Uint64())
	}
	return n.net.Solana.Mint(ctx, mint, to, amount.Uint64())
}

func (n *Network) sendOnStarknet(ctx context.Context, token, address string, amount *big.Int) error {
	to, err := starkwire.ParseAddress(address)
	if err != nil {
		return fmt.Errorf("%q: %w", address, err)
	}
	if _, _, ok := starkwire.U256(amount); !ok {
		return fmt.Errorf("%s is not an amount of base units on Starknet", amount)
	}
	return n.net.Starknet.Mint(ctx, starkwire.MustFelt(token), to, amount)
}

// token returns one of the smart chains' tokens.
func (n *Network) token(id string) (tokens.Token, error) {
	for _, t := range n.net.AllTokens() {
		if t.ID() == id {
			return t, nil
		}
	}
	return tokens.Token{}, fmt.Errorf("the network has no token %s on a smart chain", id)
}

// Pay sends the payment of an invoice from [Network.User]'s Lightning wallet. It does
// not wait for the outcome: the payment of a swap's invoice is held until the swap
// has progressed. An invoice is paid once: pay again only after a failure. The status of a swap goes on
// asking for the payment until the provider has it.
func (n *Network) Pay(invoice string) error { return n.User.pay(invoice) }

// Invoice returns an invoice of a Lightning node that belongs to none of the users;
// [Network.Paid] reports whether it was paid. 0 sats leave the amount to the payer.
// It panics if sats is negative or more than the 21 million bitcoin that can exist.
func (n *Network) Invoice(sats int64) string { return invoice(n.net.Recipient, sats) }

// Paid reports whether an invoice of [Network.Invoice] is paid.
func (n *Network) Paid(invoice string) bool {
	i, err := lightning.Decode(invoice)
	if err != nil {
		return false
	}
	state, ok := n.net.Recipient.Invoice(i.PaymentHash)
	return ok && state == devlightning.Settled
}

func invoice(of *devlightning.Node, sats int64) string {
	if sats < 0 || sats > btcutil.MaxSatoshi {
		panic(fmt.Sprintf("swappertest: an invoice's amount is 0 to %d sats, not %d", int64(btcutil.MaxSatoshi), sats))
	}
	o := devlightning.InvoiceOptions{AmountMsat: sats * 1000, Description: "swappertest"}
	_, _ = rand.Read(o.Preimage[:]) // never fails
	text, err := of.NewInvoice(o)
	if err != nil { // not met: the amount is sound, and the preimage was never used before
		panic("swappertest: the local network could not make an invoice: " + err.Error())
	}
	return text
}

// PayLink returns an LNURL-pay link, in its bech32 form, of a shop that takes 1 to
// 1 000 000 sats and says thank you.
func (n *Network) PayLink() string { return n.net.Alice.LNURL }

// LightningAddress returns the Lightning address of the same shop. Its domain does
// not exist: only clients with this network's [swapper.Config.LNURL] reach it.
func (n *Network) LightningAddress() string { return n.net.Alice.Identifier }

// WithdrawLink returns a new LNURL-withdraw link, in its bech32 form, that pays one
// invoice of 1000 to 1 000 000 sats.
func (n *Network) WithdrawLink() (string, error) {
	n.mu.Lock()
	n.links++
	name := fmt.Sprintf("voucher-%d", n.links)
	n.mu.Unlock()
	l, err := n.net.LNURL.AddWithdraw(devlightning.Withdraw{Name: name, MinMsat: 1_000_000, MaxMsat: 1_000_000_000})
	return l.LNURL, err
}
