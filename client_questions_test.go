package swapper_test

import (
	"math/big"
	"path/filepath"
	"testing"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/chains/evm"
	devevm "github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/price"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/storage/bolt"
	"github.com/swapper-go/swapper/tokens"
)

// The operations that only ask, against real sockets of the local network.
func TestQuestionsOnTheLocalNetwork(t *testing.T) {
	t.Parallel()
	net := trial.Must(devevm.Start(devevm.Options{}))(t)
	defer net.Close()
	chain := net.Bitcoin()
	node := trial.Must(lightning.New(lightning.Options{Height: func() uint32 { h, _ := chain.Tip(); return h }}).NewNode("lp", 100_000_000))(t)
	provider := trial.Must(lp.Start(t.Context(), lp.Options{EVM: net, Lightning: node}))(t)
	defer provider.Close()
	store := trial.Must(bolt.Open(t.Context(), filepath.Join(t.TempDir(), "swaps.db"), bolt.Options{}))(t)
	defer store.Close()
	backend := trial.Must(mempoolspace.New(mempoolspace.Options{Network: bitcoin.Regtest, URLs: []string{chain.URL()}}))(t)
	n := net.Config()
	usdc := tokens.Token{Chain: n.Chain, Ticker: "USDC", Name: "Dollar", Decimals: 6, DisplayDecimals: 2, Address: net.Contracts().Dollar.Hex()}
	native := tokens.Token{Chain: n.Chain, Ticker: "CBTC", Name: "Coin", Decimals: 18, DisplayDecimals: 8, Address: wire.Native.Hex()}
	client := trial.Must(swapper.Open(t.Context(), swapper.Config{
		Network: bitcoin.Regtest, Store: store, Bitcoin: backend,
		Chains: []chains.Factory{evm.Custom(evm.Options{RPC: []string{net.URL()}, Network: &n, Tokens: []tokens.Token{native, usdc}})},
		LPs:    swapper.LPs{URLs: []string{provider.URL()}, AllowHTTP: true},
		Prices: price.Fixed{Prices: map[string]*big.Int{native.ID(): big.NewInt(1e14), usdc.ID(): big.NewInt(1e9)}, USD: 0.001},
	}))(t)
	defer client.Close()

	if _, err := client.Ready(t.Context()); err != nil {
		t.Errorf("not ready: %v", err)
	}
	for _, pair := range [][2]string{{"BITCOIN-BTC", usdc.ID()}, {"LIGHTNING-BTC", usdc.ID()}, {usdc.ID(), "BITCOIN-BTC"}, {usdc.ID(), "LIGHTNING-BTC"}} {
		l, err := client.GetSwapLimits(t.Context(), swapper.GetSwapLimitsInput{SrcToken: pair[0], DstToken: pair[1]})
		if err != nil {
			t.Errorf("%v: %v", pair, err)
			continue
		}
		bitcoinSide, other := l.Input, l.Output
		if pair[0] == usdc.ID() {
			bitcoinSide, other = l.Output, l.Input
		}
		if bitcoinSide.Max == nil || bitcoinSide.Min.RawAmount.Cmp(big.NewInt(1)) <= 0 {
			t.Errorf("%v: bitcoin side %+v", pair, bitcoinSide)
		}
		if other.Max == nil || other.Min.RawAmount.Cmp(big.NewInt(1)) <= 0 {
			t.Errorf("%v: other side %+v", pair, other)
		}
	}
	for e, err := range store.Find(t.Context(), storage.Query{Index: "change"}) {
		t.Errorf("a trial was stored: %+v, %v", e, err)
	}

	wallet := trial.Must(chain.NewWallet(bitcoin.P2WPKH))(t)
	trial.Must(chain.Faucet(wallet.Address, 1_000_000))(t)
	two := 2.0
	b, err := client.GetSpendableBalance(t.Context(), swapper.GetSpendableBalanceInput{Wallet: wallet.Address.String(), Token: "BITCOIN-BTC", TargetChain: n.Chain, GasDrop: true, MinBitcoinFeeRate: &two})
	if err != nil || b.FeeRate == nil || *b.FeeRate < two {
		t.Fatalf("%+v, %v", b, err)
	}
	// 158.25 + 43 rounded up, and 68 for the coin.
	if want := 1_000_000 - int64(*b.FeeRate*270); b.Balance.RawAmount.Int64() != want {
		t.Errorf("%v at %v, want %d", b.Balance, *b.FeeRate, want)
	}
	user := net.User.Address.Hex()
	held := trial.Must(client.GetSpendableBalance(t.Context(), swapper.GetSpendableBalanceInput{Wallet: user, Token: native.ID(), FeeRate: "0,0"}))(t)
	kept, err := client.GetSpendableBalance(t.Context(), swapper.GetSpendableBalanceInput{Wallet: user, Token: native.ID(), FeeRate: "1000000000,0"})
	if err != nil || kept.Balance.RawAmount.Cmp(held.Balance.RawAmount) >= 0 || kept.FeeRate != nil {
		t.Errorf("%+v of %+v, %v", kept, held, err)
	}
	plain, err := client.GetSpendableBalance(t.Context(), swapper.GetSpendableBalanceInput{Wallet: user, Token: usdc.ID()})
	if err != nil || plain.Balance.RawAmount.Sign() <= 0 {
		t.Errorf("%+v, %v", plain, err)
	}
}
