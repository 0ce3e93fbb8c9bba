package devnet_test

import (
	"math/big"
	"testing"
	"time"

	swapper "github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/devnet/starknet"
	lpwire "github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// starknetRequests are one swap of each type on Starknet.
func starknetRequests(t *testing.T, n *devnet.Net) map[string]swapper.CreateSwapInput {
	t.Helper()
	invoice := trial.Must(n.Recipient.NewInvoice(lightning.InvoiceOptions{Hash: [32]byte{1, byte(n.Clock.Now().UnixNano()), byte(n.Clock.Now().UnixNano() >> 8), byte(n.Clock.Now().UnixNano() >> 16)}, AmountMsat: 50_000_000}))(t)
	user := wire.Hex64(n.Starknet.User.Address)
	in := func(from, to string, sats int64, typ swapper.AmountType, src, dst string) swapper.CreateSwapInput {
		return swapper.CreateSwapInput{SrcToken: from, DstToken: to, Amount: big.NewInt(sats), AmountType: typ, SrcAddress: src, DstAddress: dst}
	}
	all := map[string]swapper.CreateSwapInput{
		"TO_BTC":      in("STARKNET-WBTC", "BITCOIN-BTC", 100_000, swapper.ExactOut, user, n.Taproot.Address.String()),
		"TO_BTC STRK": in("STARKNET-STRK", "BITCOIN-BTC", 100_000, swapper.ExactOut, user, n.Taproot.Address.String()),
		"TO_BTCLN":    in("STARKNET-WBTC", "LIGHTNING-BTC", 50_000, swapper.ExactOut, user, invoice),
		"AUTO":        in("LIGHTNING-BTC", "STARKNET-WBTC", 100_000, swapper.ExactIn, "", user),
		"AUTO STRK":   in("LIGHTNING-BTC", "STARKNET-STRK", 100_000, swapper.ExactIn, "", user),
		"SPV":         in("BITCOIN-BTC", "STARKNET-WBTC", 200_000, swapper.ExactIn, "", user),
		"SPV STRK":    in("BITCOIN-BTC", "STARKNET-STRK", 200_000, swapper.ExactIn, "", user),
	}
	for _, name := range []string{"AUTO", "SPV"} { // with something for fees
		in := all[name]
		in.GasAmount = big.NewInt(2e18)
		all[name] = in
	}
	return all
}

// What an LP says of Starknet is checked as what it says of the other chains, and every
// member of an escrow there too, also those that the reference's comparison leaves out.
func liesOnStarknet(t *testing.T) {
	n := start(t, devnet.Options{Starknet: true})
	t.Run("truths", func(t *testing.T) {
		for name, in := range starknetRequests(t, n) {
			if _, err := open(t, n).CreateSwap(t.Context(), in); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	stranger := n.Starknet.Watchtower.Address
	plus := func(on, field string, by int64) lp.Fault {
		return lp.Fault{Answer: lp.Change(on, "data."+field, lp.Plus(by))}
	}
	set := func(on, field string, v any) lp.Fault { return lp.Fault{Answer: lp.Lie(on, "data."+field, v)} }
	terms := func(change func(s *chains.Spec)) lp.Fault {
		return lp.Fault{Escrow: lp.EscrowLie{Terms: change}}
	}
	escrow := func(change func(s *wire.SwapData)) lp.Fault {
		return lp.Fault{Escrow: lp.EscrowLie{Starknet: change}}
	}
	const auto, spv = "/frombtcln_auto/", "/frombtc_spv/"
	for _, test := range []struct {
		name, swap string
		fault      lp.Fault
		want       lpwire.Check
	}{
		{"escrowed amount", "TO_BTC", terms(func(s *chains.Spec) { s.Amount = new(big.Int).Add(s.Amount, big.NewInt(1)) }), lpwire.CheckEscrow},
		{"nonce", "TO_BTC", terms(func(s *chains.Spec) { s.Condition.Nonce++ }), lpwire.CheckEscrow},
		{"confirmations", "TO_BTC", terms(func(s *chains.Spec) { s.Condition.Confirmations++ }), lpwire.CheckEscrow},
		{"sats of the output", "TO_BTC", terms(func(s *chains.Spec) { s.Condition.Sats++ }), lpwire.CheckEscrow},
		{"claimer", "TO_BTC", escrow(func(s *wire.SwapData) { s.Claimer = stranger }), lpwire.CheckEscrow},
		{"token", "TO_BTC", escrow(func(s *wire.SwapData) { s.Token = starknet.USDC }), lpwire.CheckEscrow},
		{"claim handler", "TO_BTC", escrow(func(s *wire.SwapData) { s.ClaimHandler = stranger }), lpwire.CheckEscrow},
		{"claim handler of another kind", "TO_BTC", escrow(func(s *wire.SwapData) { s.ClaimHandler = n.Starknet.Deployment().ClaimHandlers[chains.HTLC] }), lpwire.CheckEscrow},
		{"kind", "TO_BTC", escrow(func(s *wire.SwapData) { s.Kind = chains.HTLC }), lpwire.CheckEscrow},
		{"refund handler", "TO_BTC", escrow(func(s *wire.SwapData) { s.RefundHandler = stranger }), lpwire.CheckEscrow},
		{"deposit", "TO_BTC", escrow(func(s *wire.SwapData) { s.SecurityDeposit = big.NewInt(1) }), lpwire.CheckEscrow},
		{"bounty", "TO_BTC", escrow(func(s *wire.SwapData) { s.ClaimerBounty = big.NewInt(1) }), lpwire.CheckEscrow},
		{"fee token", "TO_BTC", escrow(func(s *wire.SwapData) { s.FeeToken = starknet.WBTC }), lpwire.CheckEscrow},
		{"paid out to the LP's wallet", "TO_BTC", escrow(func(s *wire.SwapData) { s.PayOut = true }), lpwire.CheckEscrow},
		{"no reputation", "TO_BTC", escrow(func(s *wire.SwapData) { s.Reputation = false }), lpwire.CheckEscrow},
		{"expiry", "TO_BTC", escrow(func(s *wire.SwapData) { s.RefundData = wire.FeltOf(uint64(n.Clock.Now().Add(20 * time.Hour).Unix())) }), lpwire.CheckExpiry},
		{"an expiry that is no time", "TO_BTC", escrow(func(s *wire.SwapData) {
			f, _ := wire.FeltOfBig(new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 64), big.NewInt(n.Clock.Now().Add(time.Hour).Unix())))
			s.RefundData = f
		}), lpwire.CheckEscrow},
		{"signature", "TO_BTC", lp.Fault{StrangeAuth: true}, lpwire.CheckAuth},
		{"signature for STRK", "TO_BTC STRK", lp.Fault{StrangeAuth: true}, lpwire.CheckAuth},
		{"a signature that is none", "TO_BTC", lp.Fault{Auth: func(a *chains.Auth) { a.Signature = `["0x1","0x2"]` }}, lpwire.CheckAuth},
		{"a signature of another form", "TO_BTC", lp.Fault{Auth: func(a *chains.Auth) { a.Signature = "0x1234" }}, lpwire.CheckAuth},
		{"prefix", "TO_BTC", lp.Fault{Auth: func(a *chains.Auth) { a.Prefix = "initialize" }}, lpwire.CheckAuth},
		{"timeout", "TO_BTC", lp.Fault{Auth: func(a *chains.Auth) { a.Timeout++ }}, lpwire.CheckAuth},
		{"network fee", "TO_BTC", lp.Fault{Answer: both(lp.Change("/tobtc/", "data.networkFee", lp.Plus(50_000)), lp.Change("/tobtc/", "data.totalFee", lp.Plus(50_000)))}, lpwire.CheckNetworkFee},
		{"payment hash", "TO_BTCLN", terms(func(s *chains.Spec) { s.Condition.PaymentHash[0] ^= 1 }), lpwire.CheckEscrow},
		{"HTLC expiry", "TO_BTCLN", terms(func(s *chains.Spec) { s.Expiry++ }), lpwire.CheckEscrow},

		{"key", "AUTO", set(auto, "intermediaryKey", wire.Hex64(stranger)), lpwire.CheckLPKey},
		{"bounty of a payment", "AUTO", plus(auto, "claimerBounty", 1), lpwire.CheckBounty},
		{"gas", "AUTO", plus(auto, "totalGas", -1), lpwire.CheckGas},
		{"less for a payment", "AUTO STRK", lp.Fault{Answer: lp.Change(auto, "data.total", lp.Plus(-9e18))}, lpwire.CheckPrice},
		{"no funds", "AUTO", plus(auto, "total", 1e11), lpwire.CheckFunds},

		{"vault of another", "SPV", set(spv, "address", wire.Hex64(stranger)), lpwire.CheckVaultOwner},
		{"less of a withdrawal", "SPV", plus(spv, "total", -10_000), lpwire.CheckPrice},
		{"gas of a withdrawal", "SPV", plus(spv, "totalGas", -1e10), lpwire.CheckGas},
		{"another token's vault", "SPV", lp.Fault{ForeignVault: true}, lpwire.CheckVaultTokens},
		{"a spent vault", "SPV", lp.Fault{SpentVault: true}, lpwire.CheckUTXOSpent},
	} {
		t.Run(test.name, func(t *testing.T) {
			n.LPs[0].Misbehave(test.fault)
			defer n.LPs[0].Misbehave(lp.Fault{})
			_, err := open(t, n).CreateSwap(t.Context(), starknetRequests(t, n)[test.swap])
			told(t, test.want, err)
		})
	}
}
