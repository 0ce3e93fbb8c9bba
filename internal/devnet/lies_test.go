package devnet_test

import (
	"encoding/json"
	"errors"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	swapper "github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/storage/bolt"
	client "github.com/swapper-go/swapper/swap/lp"
)

// open opens a client of the network that has met none of its LPs before.
func open(t *testing.T, n *devnet.Net) *swapper.Client {
	t.Helper()
	store, err := bolt.Open(t.Context(), filepath.Join(t.TempDir(), "swaps"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	backend, err := mempoolspace.New(mempoolspace.Options{Network: n.Bitcoin.Network(), URLs: []string{n.Bitcoin.URL()}, TipAge: -1})
	if err != nil {
		t.Fatal(err)
	}
	c, err := swapper.Open(t.Context(), swapper.Config{Network: n.Bitcoin.Network(), Store: store, Chains: []chains.Factory{n.Chain()},
		LPs: swapper.LPs{URLs: n.LPURLs()}, Bitcoin: backend, Prices: n.Prices.Market(), Now: n.Clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// requests are one swap of each type, which differ from call to call where they
// must.
func requests(t *testing.T, n *devnet.Net) map[string]swapper.CreateSwapInput {
	t.Helper()
	preimage, _ := lightning.Preimage(t.Name() + n.Clock.Now().String())
	invoice, err := n.Recipient.NewInvoice(lightning.InvoiceOptions{Preimage: preimage, AmountMsat: 50_000_000})
	if err != nil {
		t.Fatal(err)
	}
	user := n.EVM.User.Address.Hex()
	return map[string]swapper.CreateSwapInput{
		"TO_BTC": {SrcToken: "CITREA-WBTC", DstToken: "BITCOIN-BTC", Amount: big.NewInt(100_000), AmountType: swapper.ExactOut, SrcAddress: user, DstAddress: n.Taproot.Address.String()},
		"TO_BTC in": {SrcToken: "CITREA-USDC", DstToken: "BITCOIN-BTC", Amount: big.NewInt(100_000_000), AmountType: swapper.ExactIn, SrcAddress: user,
			DstAddress: n.Taproot.Address.String()},
		"TO_BTCLN": {SrcToken: "CITREA-WBTC", DstToken: "LIGHTNING-BTC", Amount: big.NewInt(50_000), AmountType: swapper.ExactOut, SrcAddress: user, DstAddress: invoice},
		"AUTO": {SrcToken: "LIGHTNING-BTC", DstToken: "CITREA-WBTC", Amount: big.NewInt(100_000), AmountType: swapper.ExactIn, DstAddress: user,
			GasAmount: big.NewInt(1e14), LightningInvoiceDescription: "for me"},
		"SPV":     {SrcToken: "BITCOIN-BTC", DstToken: "CITREA-WBTC", Amount: big.NewInt(200_000), AmountType: swapper.ExactIn, DstAddress: user, GasAmount: big.NewInt(1e15)},
		"SPV out": {SrcToken: "BITCOIN-BTC", DstToken: "CITREA-CBTC", Amount: big.NewInt(2e15), AmountType: swapper.ExactOut, DstAddress: user},
	}
}

func TestQuotesOfEachTypeAreAccepted(t *testing.T) {
	n := start(t, devnet.Options{LPs: 2})
	c := open(t, n)
	for name, in := range requests(t, n) {
		out, err := c.CreateSwap(t.Context(), in)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		t.Logf("%s: %+v", name, out.Quote)
	}
}

func start(t *testing.T, o devnet.Options) *devnet.Net {
	t.Helper()
	n, err := devnet.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// Every lie is refused by the check that is there for it.
func TestLiesAreNamed(t *testing.T) {
	n := start(t, devnet.Options{})
	stranger := n.EVM.Watchtower
	plus := func(on, field string, by int64) lp.Fault {
		return lp.Fault{Answer: lp.Change(on, "data."+field, lp.Plus(by))}
	}
	set := func(on, field string, v any) lp.Fault { return lp.Fault{Answer: lp.Lie(on, "data."+field, v)} }
	escrow := func(change func(s *evm.SwapData)) lp.Fault { return lp.Fault{Escrow: change} }
	const toBTC, toBTCLN, auto, spv = "/tobtc/", "/tobtcln/", "/frombtcln_auto/", "/frombtc_spv/"
	tests := []struct {
		name, swap string
		fault      lp.Fault
		want       client.Check
	}{
		{"amount", "TO_BTC", plus(toBTC, "amount", -1), client.CheckRequested},
		{"total", "TO_BTC in", plus(toBTC, "total", 1), client.CheckRequested},
		{"total fee", "TO_BTC", plus(toBTC, "totalFee", 1), client.CheckTotalFee},
		{"swap fee", "TO_BTC", lp.Fault{Answer: both(lp.Change(toBTC, "data.swapFee", lp.Plus(5000)), lp.Change(toBTC, "data.totalFee", lp.Plus(5000)))}, client.CheckFee},
		{"network fee", "TO_BTC", lp.Fault{Answer: both(lp.Change(toBTC, "data.networkFee", lp.Plus(50_000)), lp.Change(toBTC, "data.totalFee", lp.Plus(50_000)))}, ""},
		{"fee rate", "TO_BTC", set(toBTC, "satsPervByte", "5000"), client.CheckNetworkFee},
		{"escrowed amount", "TO_BTC", escrow(func(s *evm.SwapData) { s.Amount = new(big.Int).Add(s.Amount, big.NewInt(1)) }), client.CheckEscrow},
		{"claim hash", "TO_BTC", escrow(func(s *evm.SwapData) { s.ClaimData[0] ^= 1 }), client.CheckEscrow},
		{"token", "TO_BTC", escrow(func(s *evm.SwapData) { s.Token = n.EVM.Contracts().Dollar }), client.CheckEscrow},
		{"claimer", "TO_BTC", escrow(func(s *evm.SwapData) { s.Claimer = stranger.Address }), client.CheckEscrow},
		{"claim handler", "TO_BTC", escrow(func(s *evm.SwapData) { s.ClaimHandler = stranger.Address }), client.CheckEscrow},
		{"refund handler", "TO_BTC", escrow(func(s *evm.SwapData) { s.RefundHandler = stranger.Address }), client.CheckEscrow},
		{"deposit", "TO_BTC", escrow(func(s *evm.SwapData) { s.SecurityDeposit = big.NewInt(1) }), client.CheckEscrow},
		{"bounty", "TO_BTC", escrow(func(s *evm.SwapData) { s.ClaimerBounty = big.NewInt(1) }), client.CheckEscrow},
		{"success action", "TO_BTC", escrow(func(s *evm.SwapData) { s.SuccessAction = common.Hash{1} }), client.CheckEscrow},
		{"expiry", "TO_BTC", escrow(func(s *evm.SwapData) {
			s.RefundData = common.BigToHash(big.NewInt(n.Clock.Now().Add(20 * time.Hour).Unix()))
		}), client.CheckExpiry},
		{"signature", "TO_BTC", lp.Fault{SignKey: stranger}, client.CheckAuth},
		{"prefix", "TO_BTC", lp.Fault{Auth: func(a *chains.Auth) { a.Prefix = "initialize" }}, client.CheckAuth},
		{"timeout", "TO_BTC", lp.Fault{Auth: func(a *chains.Auth) { a.Timeout++ }}, client.CheckAuth},

		{"routing fee", "TO_BTCLN", plus(toBTCLN, "routingFeeSats", 1_000_000), client.CheckRoutingFee},
		{"fee for routing", "TO_BTCLN", plus(toBTCLN, "maxFee", 40_000), client.CheckRoutingFee},
		{"confidence", "TO_BTCLN", set(toBTCLN, "confidence", 1.5), client.CheckConfidence},
		{"payment hash", "TO_BTCLN", escrow(func(s *evm.SwapData) { s.ClaimData[0] ^= 1 }), client.CheckEscrow},
		{"HTLC expiry", "TO_BTCLN", escrow(func(s *evm.SwapData) { s.RefundData[31]++ }), client.CheckEscrow},
		{"signature for lightning", "TO_BTCLN", lp.Fault{SignKey: stranger}, client.CheckAuth},

		{"LP's address", "AUTO", set(auto, "intermediaryKey", stranger.Address.Hex()), client.CheckLPKey},
		{"no invoice", "AUTO", set(auto, "pr", "lnbcrt1"), client.CheckInvoice},
		{"invoice for another hash", "AUTO", lp.Fault{Invoice: func(o *lightning.InvoiceOptions) { o.Hash[0] ^= 1 }}, client.CheckPaymentHash},
		{"invoice for more", "AUTO", lp.Fault{Invoice: func(o *lightning.InvoiceOptions) { o.AmountMsat += 1000 }}, client.CheckBTCSum},
		{"description", "AUTO", lp.Fault{Invoice: func(o *lightning.InvoiceOptions) { o.Description = "for somebody else" }}, client.CheckDescription},
		{"expired invoice", "AUTO", lp.Fault{Invoice: func(o *lightning.InvoiceOptions) { o.Timestamp = n.Clock.Now().Add(-time.Hour) }}, client.CheckQuoteExpiry},
		{"total paid out", "AUTO", plus(auto, "total", -10_000), client.CheckPrice},
		{"gas", "AUTO", plus(auto, "totalGas", -1), client.CheckGas},
		{"bounty that was not sent", "AUTO", plus(auto, "claimerBounty", 1), client.CheckBounty},
		{"fees that do not add up", "AUTO", plus(auto, "totalFeeBtc", 1), client.CheckTotalFee},
		{"no funds", "AUTO", lp.Fault{Answer: both(lp.Change(auto, "data.total", lp.Plus(1e11)))}, client.CheckFunds},

		{"vault owner", "SPV", set(spv, "address", stranger.Address.Hex()), client.CheckVaultOwner},
		{"vault that is not", "SPV", set(spv, "vaultId", "77"), client.CheckVaultOpen},
		{"vault of another token", "SPV", lp.Fault{ForeignVault: true}, client.CheckVaultTokens},
		{"LP's bitcoin address", "SPV", set(spv, "btcAddress", n.Taproot.Address.String()), client.CheckAddress},
		{"fee rate of a withdrawal", "SPV", set(spv, "btcFeeRate", json.Number("500")), client.CheckFeeRate},
		{"caller's share", "SPV", plus(spv, "callerFeeShare", 1), client.CheckShares},
		{"fronting share", "SPV", plus(spv, "frontingFeeShare", 1), client.CheckShares},
		{"execution share", "SPV", plus(spv, "executionFeeShare", 1), client.CheckShares},
		{"expired quote", "SPV", set(spv, "expiry", 1), client.CheckQuoteExpiry},
		{"parts of the amount", "SPV", plus(spv, "btcAmountSwap", 1), client.CheckBTCSum},
		{"less paid out", "SPV", plus(spv, "total", -10_000), client.CheckPrice},
		{"less gas paid out", "SPV", plus(spv, "totalGas", -1e13), client.CheckGas},
		{"inputs that nobody sent", "SPV", set(spv, "usedUtxoInputCalculation", true), client.CheckInputs},
		{"output that is not", "SPV", set(spv, "btcUtxo", strings.Repeat("ab", 32)+":0"), client.CheckUTXO},
		{"amount to pay", "SPV", lp.Fault{Answer: both(lp.Change(spv, "data.btcAmount", lp.Plus(1)), lp.Change(spv, "data.btcAmountSwap", lp.Plus(1)))}, client.CheckRequested},
		{"negative fee", "SPV", set(spv, "swapFeeBtc", "-1"), ""},
		{"spent output", "SPV", lp.Fault{SpentVault: true}, client.CheckUTXOSpent}, // the last: the vault is lost
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			n.LPs[0].Misbehave(test.fault)
			defer n.LPs[0].Misbehave(lp.Fault{})
			_, err := open(t, n).CreateSwap(t.Context(), requests(t, n)[test.swap])
			var lie *client.LPError
			switch {
			case err == nil:
				t.Error("accepted")
			case !errors.As(err, &lie):
				if test.want != "" {
					t.Errorf("got %v, want the check %s", err, test.want)
				}
			case test.want != "" && lie.Check != test.want:
				t.Errorf("got %s (%v), want %s", lie.Check, lie, test.want)
			}
		})
	}
}

// both tells two lies at once.
func both(lies ...func(string, map[string]any)) func(string, map[string]any) {
	return func(path string, answer map[string]any) {
		for _, l := range lies {
			l(path, answer)
		}
	}
}

func TestStrangersSignatureIsNoLP(t *testing.T) {
	n := start(t, devnet.Options{})
	n.LPs[0].Misbehave(lp.Fault{InfoKey: n.EVM.User})
	if _, err := open(t, n).CreateSwap(t.Context(), requests(t, n)["TO_BTC"]); err == nil {
		t.Error("accepted")
	}
}

// LPs that fail, in whatever way, cost nothing but themselves.
func TestBadCompanyDelaysNobody(t *testing.T) {
	faults := []lp.Fault{{Down: true}, {Status: 502}, {Stall: time.Hour}, {StallWithin: time.Hour}, {CutWithin: true}, {Garbage: true}, {Endless: true}}
	n := start(t, devnet.Options{LPs: 1 + len(faults)})
	for _, on := range []string{"/payInvoice", "/info"} {
		t.Run(on, func(t *testing.T) {
			for i, f := range faults {
				f.On = on
				n.LPs[1+i].Misbehave(f)
			}
			began := time.Now()
			if _, err := open(t, n).CreateSwap(t.Context(), requests(t, n)["TO_BTC"]); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took > 15*time.Second { // 5 s to load LPs and 2 s for other quotes, on a busy machine
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestVaultsWithoutFundsAreRefused(t *testing.T) {
	n := start(t, devnet.Options{LP: func(_ int, o *lp.Options) { o.Deposit = 300_000 }})
	in := requests(t, n)["SPV"]
	in.Amount = big.NewInt(1_000_000)
	if _, err := open(t, n).CreateSwap(t.Context(), in); err == nil {
		t.Error("an honest LP promised more than it has")
	}
	n.LPs[0].Misbehave(lp.Fault{UnsureVault: true})
	_, err := open(t, n).CreateSwap(t.Context(), in)
	if lie, ok := errors.AsType[*client.LPError](err); !ok || lie.Check != client.CheckVaultBalance {
		t.Errorf("got %v, want %s", err, client.CheckVaultBalance)
	}
}
