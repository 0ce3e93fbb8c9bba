package swappertest

import (
	"context"
	"fmt"
	"math/big"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/control"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/solana/wire"
	starkwire "github.com/swapper-go/swapper/internal/starknet/wire"
)

// User is a user with a wallet on every chain. Its methods are safe for concurrent
// use.
type User struct {
	network *Network
	wallet  control.Wallet

	mu   sync.Mutex
	paid map[string]bool // swaps whose payment was sent
}

// NewUser creates a user without funds. The n-th user of a network has the same
// keys in every run.
func (n *Network) NewUser() (*User, error) {
	n.mu.Lock()
	n.users++
	name := fmt.Sprintf("user %d", n.users)
	n.mu.Unlock()
	u := &User{network: n}
	var err error
	if u.wallet.Bitcoin, err = n.net.Bitcoin.NewWallet(bitcoin.P2WPKH); err != nil {
		return nil, err
	}
	if u.wallet.EVM, err = n.net.EVM.NewAccount(); err != nil {
		return nil, err
	}
	if n.net.Solana != nil {
		u.wallet.Solana = n.net.Solana.NewAccount()
	}
	if n.net.Starknet != nil {
		u.wallet.Starknet = &n.net.Starknet.NewAccount().Key
	}
	u.wallet.Lightning, err = n.net.Lightning.NewNode(name, 0)
	return u, err
}

// Address returns the user's address on a chain, by its identifier: a P2WPKH address
// on BITCOIN, a 0x address on the EVM chain, a public key on Solana, the address of an
// account on Starknet, which a new user's first transaction deploys. It is empty for
// LIGHTNING, which has no addresses, and for chains that the network does not have.
func (u *User) Address(chainID string) string {
	switch {
	case chainID == chainBitcoin:
		return u.wallet.Bitcoin.Address.String()
	case chainID == u.network.evm(), u.network.isSolana(chainID), u.network.isStarknet(chainID):
		return u.wallet.Address(chainID)
	}
	return ""
}

// BitcoinPublicKey returns the public key of the address on BITCOIN, in hex,
// for [swapper.GetSwapStatusInput].
func (u *User) BitcoinPublicKey() string { return u.wallet.Bitcoin.PublicKey() }

// Balance returns the user's balance of a token, given its identifier (BITCOIN-BTC,
// LIGHTNING-BTC, CITREA-WBTC), in base units, read from the chain or the node
// itself. Unconfirmed bitcoin counts; pending Lightning payments do not.
func (u *User) Balance(ctx context.Context, token string) (*big.Int, error) {
	switch token {
	case chainBitcoin + "-BTC":
		return big.NewInt(u.wallet.Bitcoin.Balance()), nil
	case chainLightning + "-BTC":
		return big.NewInt(u.wallet.Lightning.BalanceSats()), nil
	}
	t, err := u.network.token(token)
	if err != nil {
		return nil, err
	}
	if u.network.isSolana(t.Chain) {
		return u.onSolana(t.Address)
	}
	if u.network.isStarknet(t.Chain) {
		return u.network.net.Starknet.Balance(starkwire.MustFelt(t.Address), u.wallet.Starknet.Address())
	}
	return u.network.net.EVM.Balance(ctx, common.HexToAddress(t.Address), u.wallet.EVM.Address)
}

// onSolana is the user's balance of a token there. SOL that are wrapped are not among
// its SOL.
func (u *User) onSolana(token string) (*big.Int, error) {
	mint, err := wire.ParseKey(token)
	if err != nil {
		return nil, err
	}
	balance := u.network.net.Solana.Tokens(mint, u.wallet.Solana.Address)
	if mint == wire.WSOL {
		balance = u.network.net.Solana.Lamports(u.wallet.Solana.Address)
	}
	return new(big.Int).SetUint64(balance), nil
}

// Invoice returns an invoice of the user's Lightning wallet; 0 sats leave the amount
// to the payer. It panics if sats is negative or more than the 21 million
// bitcoin that can exist.
func (u *User) Invoice(sats int64) string { return invoice(u.wallet.Lightning, sats) }

func (u *User) pay(invoice string) error {
	return u.wallet.Lightning.Start(invoice, lightning.Limits{})
}

// Sign signs what an action asks the user to sign: transactions of a smart chain,
// or the listed inputs of PSBTs. Submit the result in a
// [swapper.SubmitTransactionInput].
func (u *User) Sign(a swapper.Action) ([]string, error) { return u.wallet.SignAction(a) }

// patience bounds how long a swap is followed. Swaps of this network settle within
// seconds; one that does not is stuck.
const patience = time.Minute

// Finish does everything that a swap requires of the user (pay, sign and submit, wait)
// until it is finished, and returns its last status. While a swap waits that Bitcoin is a part
// of, Finish mines Bitcoin blocks; a swap that is paid over Lightning needs none, and its payment is
// given back after 25 of them. It pays for a swap only once, however often it is called. What it
// signs may be refused because a watchtower is about to do the same: Finish returns such an error
// after ten seconds of nothing else. It returns an error that names the swap's state if the swap
// is not finished within a minute.
func (u *User) Finish(ctx context.Context, s swapper.Service, swapID string) (*swapper.GetSwapStatusOutput, error) {
	return u.FinishUntil(ctx, s, swapID, func(status *swapper.GetSwapStatusOutput) bool { return status.IsFinished })
}

// FinishUntil is like [User.Finish], but returns at the first status for which
// done reports true; done is called with every status read. A fast swap may leave a state
// out, and one that has finished is followed for five seconds more: if done has not reported
// true by then, the error says so. Expired quotes are followed on, because a payment may still arrive.
func (u *User) FinishUntil(ctx context.Context, s swapper.Service, swapID string, done func(*swapper.GetSwapStatusOutput) bool) (*swapper.GetSwapStatusOutput, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the swap has not got there within %v", patience))
	defer cancel()
	w := u.wallet
	w.Swaps = s
	overLightning := false
	w.Mine = func() {
		if !overLightning {
			_ = u.network.Mine(1) // or the network is closed, which the next status says
		}
	}
	w.Refuse = func(a swapper.Action) bool { _, pays := a.(*swapper.SendToAddress); return pays && !u.mayPay(swapID) }
	var finished time.Time
	missed := false
	last, err := w.Finish(ctx, swapID, func(status *swapper.GetSwapStatusOutput) bool {
		switch status.SwapType {
		case swapper.SwapFromBTCLN, swapper.SwapFromBTCLNAuto, swapper.SwapTrustedFromLN:
			overLightning = true
		}
		met := done(status)
		if finished.IsZero() && status.IsFinished && !status.IsExpired {
			finished = time.Now()
		}
		missed = !met && !finished.IsZero() && time.Since(finished) > 5*time.Second
		return met || missed
	})
	if err == nil && missed {
		err = fmt.Errorf("the swap has finished in the state %s, and at no status before did done report true", last.State.Name)
	}
	return last, err
}

// mayPay reports, once, that a swap has not been paid for.
func (u *User) mayPay(swapID string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.paid[swapID] {
		return false
	}
	if u.paid == nil {
		u.paid = make(map[string]bool)
	}
	u.paid[swapID] = true
	return true
}
