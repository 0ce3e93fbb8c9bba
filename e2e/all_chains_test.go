package e2e

import (
	"math/big"
	"slices"
	"testing"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/solana/wire"
	starkwire "github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// With an EVM chain, Solana and Starknet configured the tokens of all are offered, and
// each pair takes the way that its chain has.
func TestAllChainsBesideEachOther(t *testing.T) {
	t.Parallel()
	var w *world
	o := options{on: starknetName, slow: true}
	o.net.Solana = wire.V1
	o.config = func(c *swapper.Config) {
		if w == nil {
			return
		}
		c.Chains = []chains.Factory{w.net.StarknetChain(), w.net.SolanaChain(), w.net.Chain()}
	}
	w = start(t, o)
	w.close()
	w.open() // with all chains
	for _, side := range []swapper.Side{swapper.SideInput, swapper.SideOutput} {
		var got []string
		for _, token := range trial.Must(w.client.GetSupportedTokens(t.Context(), swapper.GetSupportedTokensInput{Side: side}))(t) {
			got = append(got, token.ID)
		}
		for _, want := range []string{"BITCOIN-BTC", "LIGHTNING-BTC", "STARKNET-STRK", "STARKNET-WBTC", "SOLANA-SOL", "SOLANA-WBTC", "CITREA-CBTC", "CITREA-WBTC"} {
			if !slices.Contains(got, want) {
				t.Errorf("%s is not among %v", want, got)
			}
		}
	}
	users := map[string]string{"CITREA": w.net.EVM.User.Address.Hex(), "SOLANA": w.net.Solana.User.Address.String(), "STARKNET": starkwire.Hex64(w.net.Starknet.User.Address)}
	for chain, in := range map[string][2]swapper.SwapType{ // from Bitcoin, from Lightning
		"CITREA": {swapper.SwapSPVVaultFromBTC, swapper.SwapFromBTCLNAuto}, "STARKNET": {swapper.SwapSPVVaultFromBTC, swapper.SwapFromBTCLNAuto}, "SOLANA": {swapper.SwapFromBTC, swapper.SwapFromBTCLN},
	} {
		create := func(want swapper.SwapType, from, to string, amount int64, of swapper.AmountType, src, dst string) {
			t.Helper()
			s := w.create(swapper.CreateSwapInput{SrcToken: from, DstToken: to, Amount: big.NewInt(amount), AmountType: of, SrcAddress: src, DstAddress: dst})
			if s.SwapType != want {
				t.Errorf("%s to %s is %s, want %s", from, to, s.SwapType, want)
			}
		}
		token := chain + "-WBTC"
		create(in[0], "BITCOIN-BTC", token, 100_000, swapper.ExactIn, "", users[chain])
		create(in[1], "LIGHTNING-BTC", token, 100_000, swapper.ExactIn, "", users[chain])
		to := trial.Must(w.net.Bitcoin.NewWallet(bitcoin.P2WPKH))(t)
		create(swapper.SwapToBTC, token, "BITCOIN-BTC", 50_000, swapper.ExactOut, users[chain], to.Address.String())
		preimage, _ := lightning.Preimage(chain)
		invoice := trial.Must(w.net.Recipient.NewInvoice(lightning.InvoiceOptions{Preimage: preimage, AmountMsat: 50_000_000}))(t)
		create(swapper.SwapToBTCLN, token, "LIGHTNING-BTC", 50_000, swapper.ExactOut, users[chain], invoice)
	}
}
