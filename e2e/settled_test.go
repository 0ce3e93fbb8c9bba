package e2e

import (
	"math/big"
	"testing"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/trial"
)

// With LPs of each version. At the default depth TestBitcoinIsPaid, TestLightningIsPaid, TestLightningPays and
// TestVaultPays take the same ways.
func TestChainToBitcoin(t *testing.T) {
	trial.OnlyFull(t)
	bothVersions(t, chainToBitcoin)
}

func chainToBitcoin(t *testing.T, o options) {
	w := start(t, o)
	to := trial.Must(w.net.Bitcoin.NewWallet(bitcoin.P2WPKH))(t)
	s := w.create(swapper.CreateSwapInput{SrcToken: w.token(w.native()), DstToken: "BITCOIN-BTC", Amount: big.NewInt(100_000), AmountType: swapper.ExactOut,
		SrcAddress: w.address(), DstAddress: to.Address.String()})
	end := w.finish(s.SwapID)
	if !end.IsSuccess {
		t.Fatalf("ended as %s", end.State.Name)
	}
	if got := to.Balance(); got != 100_000 {
		t.Fatalf("received %d sats", got)
	}
}

func TestChainToLightning(t *testing.T) {
	trial.OnlyFull(t)
	bothVersions(t, chainToLightning)
}

func chainToLightning(t *testing.T, o options) {
	w := start(t, o)
	payee := w.net.Recipient
	invoice := trial.Must(payee.NewInvoice(lightning.InvoiceOptions{AmountMsat: 50_000_000}))(t)
	s := w.create(swapper.CreateSwapInput{SrcToken: w.token("WBTC"), DstToken: "LIGHTNING-BTC", Amount: big.NewInt(50_000), AmountType: swapper.ExactOut,
		SrcAddress: w.address(), DstAddress: invoice})
	end := w.finish(s.SwapID)
	if !end.IsSuccess {
		t.Fatalf("ended as %s", end.State.Name)
	}
	if got := payee.BalanceSats(); got != 50_000 {
		t.Fatalf("received %d sats", got)
	}
}

func TestLightningToChain(t *testing.T) {
	trial.OnlyFull(t)
	bothVersions(t, lightningToChain)
}

func lightningToChain(t *testing.T, o options) {
	w := start(t, o)
	s := w.create(swapper.CreateSwapInput{SrcToken: "LIGHTNING-BTC", DstToken: w.token("USDC"), Amount: big.NewInt(50_000), AmountType: swapper.ExactIn,
		DstAddress: w.address()})
	end := w.finish(s.SwapID)
	if !end.IsSuccess {
		t.Fatalf("ended as %s", end.State.Name)
	}
}

func TestBitcoinToChain(t *testing.T) {
	trial.OnlyFull(t)
	bothVersions(t, bitcoinToChain)
}

func bitcoinToChain(t *testing.T, o options) {
	w := start(t, o)
	s := w.create(swapper.CreateSwapInput{SrcToken: "BITCOIN-BTC", DstToken: w.token(w.native()), Amount: big.NewInt(200_000), AmountType: swapper.ExactIn,
		DstAddress: w.address()})
	if fee := s.Quote.Fees.NetworkInput; fee == nil || raw(*fee) <= 0 {
		t.Errorf("the quote says %+v for Bitcoin's miners", fee)
	}
	end := w.finish(s.SwapID)
	if !end.IsSuccess {
		t.Fatalf("ended as %s", end.State.Name)
	}
}
