package swapper_test

import (
	"math/big"
	"testing"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/swappertest"
)

// Who gives the wrong thing is told what would be right.
func TestRefusalsSayWhatWouldBeRight(t *testing.T) {
	t.Parallel()
	network := swappertest.Start(t, swappertest.Options{Solana: swappertest.SolanaOptions{Version: "v1"}})
	client := trial.Must(swapper.Open(t.Context(), network.Config()))(t)
	defer client.Close()
	user := network.User
	create := func(change func(*swapper.CreateSwapInput)) error {
		in := swapper.CreateSwapInput{
			SrcToken: "CITREA-WBTC", DstToken: "LIGHTNING-BTC", Amount: big.NewInt(50_000), AmountType: swapper.ExactOut,
			SrcAddress: user.Address("CITREA"), DstAddress: network.Invoice(50_000),
		}
		change(&in)
		_, err := client.CreateSwap(t.Context(), in)
		return err
	}
	_, unlisted := client.ListSwaps(t.Context(), swapper.ListSwapsInput{Signer: user.Address("BITCOIN")})
	_, elsewhere := client.ListSwaps(t.Context(), swapper.ListSwapsInput{Signer: user.Address("CITREA"), ChainID: "SOLANA"})
	_, gas := client.CreateGasSwap(t.Context(), swapper.CreateGasSwapInput{
		SrcToken: "CITREA-WBTC", ChainID: "CITREA", Amount: big.NewInt(1e12), DstAddress: user.Address("CITREA"),
	})
	for name, c := range map[string]struct {
		err  error
		code fault.Code
		says string
	}{
		"no amount type": {create(func(in *swapper.CreateSwapInput) { in.AmountType = "" }),
			fault.InvalidInput, "amountType: is required and must be one of EXACT_IN, EXACT_OUT"},
		"a chain in small letters": {create(func(in *swapper.CreateSwapInput) { in.SrcToken = "citrea-wbtc" }),
			fault.Unsupported, `srcToken: chain "citrea" is not supported: it must be one of BITCOIN, LIGHTNING, CITREA, SOLANA`},
		"a token that the chain has not": {create(func(in *swapper.CreateSwapInput) { in.SrcToken = "CITREA-DOGE" }),
			fault.InvalidInput, `srcToken: chain CITREA has no token "DOGE": it has CBTC, WBTC, USDC`},
		"an invoice on Bitcoin": {create(func(in *swapper.CreateSwapInput) { in.DstToken = "BITCOIN-BTC" }),
			fault.InvalidInput, "dstAddress: is paid over Lightning: dstToken must be LIGHTNING-BTC"},
		"a Lightning address on Bitcoin": {create(func(in *swapper.CreateSwapInput) {
			in.DstToken, in.DstAddress = "BITCOIN-BTC", network.LightningAddress()
		}), fault.InvalidInput, "dstAddress: is paid over Lightning: dstToken must be LIGHTNING-BTC"},
		"an address over Lightning": {create(func(in *swapper.CreateSwapInput) { in.DstAddress = user.Address("BITCOIN") }),
			fault.InvalidInput, "dstAddress: is paid on Bitcoin: dstToken must be BITCOIN-BTC"},
		"no payer": {create(func(in *swapper.CreateSwapInput) { in.SrcAddress = "" }),
			fault.InvalidInput, "srcAddress: is required: the user's address on CITREA"},
		"a payer for Lightning": {create(func(in *swapper.CreateSwapInput) {
			in.SrcToken, in.DstToken, in.DstAddress = "LIGHTNING-BTC", "CITREA-WBTC", in.SrcAddress
		}), fault.InvalidInput, "srcAddress: must be an LNURL-withdraw link or empty: not an LNURL"},
		"a signer of no chain":    {unlisted, fault.InvalidInput, "signer: is not an address on any configured chain"},
		"a signer of one other":   {elsewhere, fault.InvalidInput, "signer: not a valid Solana address: it must be 32 bytes in base58"},
		"gas for a chain's token": {gas, fault.Unsupported, "srcToken: gas can only be bought with bitcoin on Bitcoin or Lightning, not with CITREA-WBTC"},
	} {
		if fault.CodeOf(c.err) != c.code || fault.Public(c.err) != c.says {
			t.Errorf("%s: %s: %v; want %s: %s", name, fault.CodeOf(c.err), c.err, c.code, c.says)
		}
	}
}
