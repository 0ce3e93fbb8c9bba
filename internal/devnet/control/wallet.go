package control

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/devnet"
	devbitcoin "github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	starkwire "github.com/swapper-go/swapper/internal/starknet/wire"
)

// Identifiers of the chains that are not EVM chains.
const (
	solanaChain   = "SOLANA"
	starknetChain = "STARKNET"
)

// Wallet signs and pays. A nil part cannot do what it is for.
type Wallet struct {
	Swaps     swapper.Service
	EVM       *evm.Account
	Solana    *solana.Account
	Starknet  *contracts.Key
	Bitcoin   *devbitcoin.Wallet
	Lightning *lightning.Node

	Poll     time.Duration                      // between two looks; 0: 50 ms
	Progress func(*swapper.GetSwapStatusOutput) // called with every new state; may be nil
	Secret   func(swapID string) swapper.Secret // preimages of own payment hashes; may be nil
	Refuse   func(swapper.Action) bool          // actions that are not done; may be nil
	Mine     func()                             // called while there is nothing to do but wait; may be nil
}

// WalletOf returns the network's user, who has funds on every chain.
func WalletOf(n *devnet.Net) Wallet {
	w := Wallet{EVM: n.EVM.User, Bitcoin: n.Wallet, Lightning: n.Payer}
	if n.Solana != nil {
		w.Solana = n.Solana.User
	}
	if n.Starknet != nil {
		w.Starknet = &n.Starknet.User.Key
	}
	return w
}

// ErrUnfinished is returned, with the status, when the context ended first.
var ErrUnfinished = errors.New("the swap is not finished")

// Address returns the wallet's address on a smart chain for which it has a key, in that chain's form.
func (w *Wallet) Address(chain string) string {
	switch {
	case chain == solanaChain && w.Solana != nil:
		return w.Solana.Address.String()
	case chain == starknetChain && w.Starknet != nil:
		return starkwire.Hex64(w.Starknet.Address())
	case chain != solanaChain && chain != starknetChain && w.EVM != nil:
		return w.EVM.Address.Hex()
	}
	return ""
}

// Look asks for the status of a swap as this wallet. What anybody may sign, as a claim for
// somebody else, comes for this wallet's key.
func (w *Wallet) Look(ctx context.Context, id string) (*swapper.GetSwapStatusOutput, error) {
	in := swapper.GetSwapStatusInput{SwapID: id}
	if w.Bitcoin != nil {
		in.BitcoinAddress, in.BitcoinPublicKey = w.Bitcoin.Address.String(), w.Bitcoin.PublicKey()
	}
	if w.Secret != nil {
		in.Secret = w.Secret(id)
	}
	s, err := w.Swaps.GetSwapStatus(ctx, in)
	if err != nil {
		return nil, err
	}
	if sign, ok := s.CurrentAction.(*swapper.SignSmartChainTransaction); ok {
		if own := w.Address(sign.Chain); own != "" && !strings.EqualFold(own, sign.RequiredSigner) {
			in.Signer = own
			return w.Swaps.GetSwapStatus(ctx, in)
		}
	}
	return s, nil
}

// stubborn is how long the wallet goes on asking and signing while what it signs is refused.
const stubborn = 10 * time.Second

// Finish does what the swap asks for until done reports true; nil means until
// the swap is finished. What somebody else has just done for the user is refused
// until the status shows it, and so is a claim while a watchtower moves the relay: Finish returns
// a refusal after nothing but refusals for ten seconds.
func (w *Wallet) Finish(ctx context.Context, id string, done func(*swapper.GetSwapStatusOutput) bool) (*swapper.GetSwapStatusOutput, error) {
	if done == nil {
		done = func(s *swapper.GetSwapStatusOutput) bool { return s.IsFinished }
	}
	var last *swapper.GetSwapStatusOutput
	paid := false
	var refused time.Time // since when
	for {
		s, err := w.Look(ctx, id)
		if err != nil {
			if ctx.Err() != nil {
				return last, fmt.Errorf("%w: %w", ErrUnfinished, context.Cause(ctx))
			}
			return last, err
		}
		if w.Progress != nil && (last == nil || last.State != s.State) {
			w.Progress(s)
		}
		last = s
		if done(s) {
			return s, nil
		}
		a := s.CurrentAction
		if a != nil && (w.Refuse == nil || !w.Refuse(a)) {
			_, pays := a.(*swapper.SendToAddress)
			if !pays || !paid {
				switch err := w.Do(ctx, id, a); {
				case err == nil:
					refused = time.Time{}
				case fault.CodeOf(err) != fault.InvalidState, !refused.IsZero() && time.Since(refused) > stubborn:
					return s, err
				case refused.IsZero():
					refused = time.Now()
				}
			}
			paid = paid || pays
		}
		if _, waits := a.(*swapper.Wait); a == nil || waits {
			if refused = (time.Time{}); w.Mine != nil {
				w.Mine()
			}
		}
		select {
		case <-ctx.Done():
			return last, fmt.Errorf("%w: state %s: %w", ErrUnfinished, s.State.Name, context.Cause(ctx))
		case <-time.After(max(w.Poll, 50*time.Millisecond)):
		}
	}
}

// Do does what an action asks for.
func (w *Wallet) Do(ctx context.Context, id string, a swapper.Action) error {
	switch a := a.(type) {
	case *swapper.SendToAddress:
		return w.pay(ctx, a)
	case *swapper.SignSmartChainTransaction, *swapper.SignPSBT:
		signed, err := w.SignAction(a)
		if err != nil {
			return err
		}
		return w.submit(ctx, id, signed)
	}
	return nil
}

// SignAction signs what an action asks for. It refuses one of a chain for which the wallet has no key,
// and one that asks for no signature.
func (w *Wallet) SignAction(a swapper.Action) ([]string, error) {
	switch a := a.(type) {
	case *swapper.SignSmartChainTransaction:
		return w.Sign(a)
	case *swapper.SignPSBT:
		return w.SignPSBT(a)
	}
	return nil, errors.New("the action asks for no signature")
}

func (w *Wallet) submit(ctx context.Context, id string, signed []string) error {
	_, err := w.Swaps.SubmitTransaction(ctx, swapper.SubmitTransactionInput{SwapID: id, SignedTxs: signed})
	if fault.CodeOf(err) == fault.Timeout && ctx.Err() == nil {
		return nil // what is stored is under way, and what is not is asked for again
	}
	return err
}

// pay starts the payment: one over Lightning is held by the payee until the swap
// has gone on.
func (w *Wallet) pay(ctx context.Context, a *swapper.SendToAddress) error {
	for _, tx := range a.Txs {
		if tx.Type == "BOLT11_PAYMENT_REQUEST" {
			if err := w.Lightning.Start(tx.Address, lightning.Limits{}); err != nil {
				return err
			}
			continue
		}
		to, err := bitcoin.ParseAddress(tx.Address, bitcoin.Regtest)
		if err != nil {
			return err
		}
		if _, err := w.Bitcoin.Pay(5, wire.NewTxOut(tx.Amount.RawAmount.Int64(), to.Script())); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Sign signs what a smart chain's action asks for.
func (w *Wallet) Sign(a *swapper.SignSmartChainTransaction) ([]string, error) {
	switch {
	case a.Chain == solanaChain && w.Solana != nil:
		return devnet.SignSolana(w.Solana).Sign(context.Background(), a.Txs)
	case a.Chain == starknetChain && w.Starknet != nil:
		return w.SignStarknet(a.Txs)
	case a.Chain != solanaChain && a.Chain != starknetChain && w.EVM != nil:
		return w.SignEVM(a.Txs)
	}
	return nil, fmt.Errorf("the user has no key on %s", a.Chain)
}

// SignStarknet signs transactions in the string form of Starknet.
func (w *Wallet) SignStarknet(unsigned []string) ([]string, error) {
	return devnet.SignStarknet(*w.Starknet).Sign(context.Background(), unsigned)
}

// SignEVM signs transactions in the string form of the EVM chains.
func (w *Wallet) SignEVM(unsigned []string) ([]string, error) {
	return devnet.SignEVM(w.EVM).Sign(context.Background(), unsigned)
}

// SignPSBT signs the inputs that a funded transaction names.
func (w *Wallet) SignPSBT(a *swapper.SignPSBT) ([]string, error) {
	if len(a.Funded) == 0 {
		return nil, errors.New("the transaction is not funded")
	}
	signed := make([]string, len(a.Funded))
	for i, f := range a.Funded {
		raw, err := base64.StdEncoding.DecodeString(f.PSBTBase64)
		if err != nil {
			return nil, err
		}
		p, err := psbt.NewFromRawBytes(bytes.NewReader(raw), false)
		if err != nil {
			return nil, err
		}
		if err := w.Bitcoin.SignPSBT(p, f.SignInputs...); err != nil {
			return nil, err
		}
		if signed[i], err = p.B64Encode(); err != nil {
			return nil, err
		}
	}
	return signed, nil
}
