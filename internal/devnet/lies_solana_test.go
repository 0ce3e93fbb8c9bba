package devnet_test

import (
	"math/big"
	"strings"
	"testing"
	"time"

	swapper "github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	lpwire "github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// solanaRequests are one swap of each type that v1 of the program has.
func solanaRequests(t *testing.T, n *devnet.Net) map[string]swapper.CreateSwapInput {
	t.Helper()
	invoice := trial.Must(n.Recipient.NewInvoice(lightning.InvoiceOptions{Hash: [32]byte{byte(n.Clock.Now().UnixNano()), byte(n.Clock.Now().UnixNano() >> 8), byte(n.Clock.Now().UnixNano() >> 16)}, AmountMsat: 50_000_000}))(t)
	user := n.Solana.User.Address.String()
	in := func(from, to string, sats int64, typ swapper.AmountType, src, dst string) swapper.CreateSwapInput {
		return swapper.CreateSwapInput{SrcToken: from, DstToken: to, Amount: big.NewInt(sats), AmountType: typ, SrcAddress: src, DstAddress: dst}
	}
	return map[string]swapper.CreateSwapInput{
		"TO_BTC":     in("SOLANA-WBTC", "BITCOIN-BTC", 100_000, swapper.ExactOut, user, n.Taproot.Address.String()),
		"TO_BTC SOL": in("SOLANA-SOL", "BITCOIN-BTC", 100_000, swapper.ExactOut, user, n.Taproot.Address.String()),
		"TO_BTCLN":   in("SOLANA-WBTC", "LIGHTNING-BTC", 50_000, swapper.ExactOut, user, invoice),
		"FROM_BTC":   in("BITCOIN-BTC", "SOLANA-WBTC", 200_000, swapper.ExactIn, "", user),
		"FROM_BTCLN": in("LIGHTNING-BTC", "SOLANA-WBTC", 100_000, swapper.ExactIn, "", user),
	}
}

// What an LP says of Solana is checked as what it says of the other chain, and what the
// legacy types add is checked too.
func liesOnSolana(t *testing.T) {
	n := start(t, devnet.Options{Solana: wire.V1})
	t.Run("truths", func(t *testing.T) {
		for name, in := range solanaRequests(t, n) {
			if _, err := open(t, n).CreateSwap(t.Context(), in); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	stranger := n.Solana.Watchtower.Address
	plus := func(on, field string, by int64) lp.Fault {
		return lp.Fault{Answer: lp.Change(on, "data."+field, lp.Plus(by))}
	}
	set := func(on, field string, v any) lp.Fault { return lp.Fault{Answer: lp.Lie(on, "data."+field, v)} }
	terms := func(change func(s *chains.Spec)) lp.Fault {
		return lp.Fault{Escrow: lp.EscrowLie{Terms: change}}
	}
	escrow := func(change func(d *wire.SwapData)) lp.Fault {
		return lp.Fault{Escrow: lp.EscrowLie{Solana: change}}
	}
	more := func(n **big.Int, by int64) { *n = new(big.Int).Add(*n, big.NewInt(by)) }
	foreign := wire.ATA(stranger, wire.Tokens()[1].Mint)
	const toBTC, fromBTC, fromBTCLN = "/tobtc/", "/frombtc/", "/frombtcln/"
	for _, test := range []struct {
		name, swap string
		fault      lp.Fault
		want       lpwire.Check
	}{
		{"escrowed amount", "TO_BTC", terms(func(s *chains.Spec) { more(&s.Amount, 1) }), lpwire.CheckEscrow},
		{"nonce", "TO_BTC", terms(func(s *chains.Spec) { s.Condition.Nonce++ }), lpwire.CheckEscrow},
		{"confirmations", "TO_BTC", terms(func(s *chains.Spec) { s.Condition.Confirmations++ }), lpwire.CheckEscrow},
		{"script", "TO_BTC", terms(func(s *chains.Spec) { s.Condition.Sats++ }), lpwire.CheckEscrow},
		{"claimer", "TO_BTC", terms(func(s *chains.Spec) { s.Claimer = stranger.String() }), lpwire.CheckEscrow},
		{"token", "TO_BTC", terms(func(s *chains.Spec) { s.Token = wire.Tokens()[2].Mint.String() }), lpwire.CheckEscrow},
		{"paid out to the LP's wallet", "TO_BTC", terms(func(s *chains.Spec) { s.PayOut = true }), lpwire.CheckEscrow},
		{"another program", "TO_BTC", escrow(func(d *wire.SwapData) { d.ProgramID = n.Solana.Programs()[1].Swap }), lpwire.CheckEscrow},
		{"expiry", "TO_BTC", terms(func(s *chains.Spec) { s.Expiry = n.Clock.Now().Add(20 * time.Hour).Unix() }), lpwire.CheckExpiry},
		{"signature", "TO_BTC", lp.Fault{StrangeAuth: true}, lpwire.CheckAuth},
		{"signature for SOL", "TO_BTC SOL", lp.Fault{StrangeAuth: true}, lpwire.CheckAuth},
		{"prefix", "TO_BTC", lp.Fault{Auth: func(a *chains.Auth) { a.Prefix = "initialize" }}, lpwire.CheckAuth},
		{"timeout", "TO_BTC", lp.Fault{Auth: func(a *chains.Auth) { a.Timeout++ }}, lpwire.CheckAuth},
		{"no slot", "TO_BTC", lp.Fault{Auth: func(a *chains.Auth) { _, a.Signature, _ = strings.Cut(a.Signature, ";") }}, lpwire.CheckAuth},
		{"network fee", "TO_BTC", lp.Fault{Answer: both(lp.Change(toBTC, "data.networkFee", lp.Plus(50_000)), lp.Change(toBTC, "data.totalFee", lp.Plus(50_000)))}, lpwire.CheckNetworkFee},
		{"payment hash", "TO_BTCLN", terms(func(s *chains.Spec) { s.Condition.PaymentHash[0] ^= 1 }), lpwire.CheckEscrow},
		{"HTLC expiry", "TO_BTCLN", terms(func(s *chains.Spec) { s.Expiry++ }), lpwire.CheckEscrow},

		{"less than asked", "FROM_BTC", plus(fromBTC, "amount", -1), lpwire.CheckRequested},
		{"less paid out", "FROM_BTC", plus(fromBTC, "total", -10_000), lpwire.CheckEscrow},
		{"less paid out, all through", "FROM_BTC", lp.Fault{Answer: both(lp.Change(fromBTC, "data.total", lp.Plus(-10_000)), lp.Change(fromBTC, "data.swapFee", lp.Plus(-200))),
			Escrow: lp.EscrowLie{Terms: func(s *chains.Spec) { more(&s.Amount, -10_000) }}}, lpwire.CheckPrice},
		{"fee", "FROM_BTC", plus(fromBTC, "swapFee", 5000), lpwire.CheckFee},
		{"confirmations to wait for", "FROM_BTC", set(fromBTC, "confirmations", 7), lpwire.CheckConfirmations},
		{"an address that is none", "FROM_BTC", set(fromBTC, "btcAddress", "bcrt1q"), lpwire.CheckAddress},
		{"another address", "FROM_BTC", set(fromBTC, "btcAddress", n.Taproot.Address.String()), lpwire.CheckEscrow},
		{"offerer", "FROM_BTC", terms(func(s *chains.Spec) { s.Offerer = stranger.String() }), lpwire.CheckEscrow},
		{"token account of the claimer", "FROM_BTC", escrow(func(d *wire.SwapData) { d.ClaimerATA = &foreign }), lpwire.CheckEscrow},
		{"hash of the output", "FROM_BTC", escrow(func(d *wire.SwapData) { d.TxoHash[0] ^= 1 }), lpwire.CheckEscrow},
		{"sequence", "FROM_BTC", terms(func(s *chains.Spec) { more(&s.Sequence, 1) }), lpwire.CheckEscrow},
		{"bounty", "FROM_BTC", terms(func(s *chains.Spec) { more(&s.ClaimerBounty, 1) }), lpwire.CheckEscrow},
		{"deposit", "FROM_BTC", terms(func(s *chains.Spec) { s.SecurityDeposit = big.NewInt(1e9) }), lpwire.CheckDeposit},
		{"time to pay", "FROM_BTC", terms(func(s *chains.Spec) { // six blocks less, for each of which the bounty has 75 000 lamports
			s.Expiry -= 3600
			more(&s.ClaimerBounty, -6*75_000)
		}), lpwire.CheckSendWindow},
		{"signature of an opening", "FROM_BTC", lp.Fault{StrangeAuth: true}, lpwire.CheckAuth},

		{"key", "FROM_BTCLN", set(fromBTCLN, "intermediaryKey", stranger.String()), lpwire.CheckLPKey},
		{"no invoice", "FROM_BTCLN", set(fromBTCLN, "pr", "lnbcrt1"), lpwire.CheckInvoice},
		{"invoice for another hash", "FROM_BTCLN", lp.Fault{Invoice: func(o *lightning.InvoiceOptions) { o.Hash[0] ^= 1 }}, lpwire.CheckPaymentHash},
		{"invoice for more", "FROM_BTCLN", lp.Fault{Invoice: func(o *lightning.InvoiceOptions) { o.AmountMsat += 1000 }}, lpwire.CheckRequested},
		{"less for a payment", "FROM_BTCLN", lp.Fault{Answer: both(lp.Change(fromBTCLN, "data.total", lp.Plus(-10_000)), lp.Change(fromBTCLN, "data.swapFee", lp.Plus(-100)))}, lpwire.CheckPrice},
		{"deposit for a payment", "FROM_BTCLN", plus(fromBTCLN, "securityDeposit", 1e9), lpwire.CheckDeposit},
		{"no funds", "FROM_BTCLN", plus(fromBTCLN, "total", 1e11), lpwire.CheckFunds},
	} {
		t.Run(test.name, func(t *testing.T) {
			n.LPs[0].Misbehave(test.fault)
			defer n.LPs[0].Misbehave(lp.Fault{})
			_, err := open(t, n).CreateSwap(t.Context(), solanaRequests(t, n)[test.swap])
			told(t, test.want, err)
		})
	}
}
