package devnet_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"math/big"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	swapper "github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/evm/wire"
	bolt11 "github.com/swapper-go/swapper/internal/lightning"
	lpwire "github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/lphttp"
	"github.com/swapper-go/swapper/internal/lp/verify"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// open opens a client of the network that has met none of its LPs before.
func open(t *testing.T, n *devnet.Net) *swapper.Client {
	t.Helper()
	backend := trial.Must(mempoolspace.New(mempoolspace.Options{Network: n.Bitcoin.Network(), URLs: []string{n.Bitcoin.URL()}, TipAge: -1}))(t)
	c := trial.Must(swapper.Open(t.Context(), swapper.Config{Network: n.Bitcoin.Network(), Store: new(storage.Memory), Chains: n.Chains(),
		LPs: swapper.LPs{URLs: n.LPURLs()}, LNURL: swapper.LNURLOptions{AllowLocal: true}, Bitcoin: backend, Prices: n.Prices.Market(), Now: n.Clock.Now}))(t)
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
	invoice := trial.Must(n.Recipient.NewInvoice(lightning.InvoiceOptions{Preimage: preimage, AmountMsat: 50_000_000}))(t)
	user := n.EVM.User.Address.Hex()
	return map[string]swapper.CreateSwapInput{
		"TO_BTC": {SrcToken: "CITREA-WBTC", DstToken: "BITCOIN-BTC", Amount: big.NewInt(100_000), AmountType: swapper.ExactOut, SrcAddress: user, DstAddress: n.Taproot.Address.String()},
		"TO_BTC in": {SrcToken: "CITREA-USDC", DstToken: "BITCOIN-BTC", Amount: big.NewInt(100_000_000), AmountType: swapper.ExactIn, SrcAddress: user,
			DstAddress: n.Taproot.Address.String()},
		"TO_BTCLN": {SrcToken: "CITREA-WBTC", DstToken: "LIGHTNING-BTC", Amount: big.NewInt(50_000), AmountType: swapper.ExactOut, SrcAddress: user, DstAddress: invoice},
		"AUTO": {SrcToken: "LIGHTNING-BTC", DstToken: "CITREA-WBTC", Amount: big.NewInt(100_000), AmountType: swapper.ExactIn, DstAddress: user,
			GasAmount: big.NewInt(1e14), LightningInvoiceDescription: "for me"},
		"SPV":         {SrcToken: "BITCOIN-BTC", DstToken: "CITREA-WBTC", Amount: big.NewInt(200_000), AmountType: swapper.ExactIn, DstAddress: user, GasAmount: big.NewInt(1e15)},
		"TO_BTCLN in": {SrcToken: "CITREA-WBTC", DstToken: "LIGHTNING-BTC", Amount: big.NewInt(60_000), AmountType: swapper.ExactIn, SrcAddress: user, DstAddress: n.Alice.LNURL},
		"AUTO link":   {SrcToken: "LIGHTNING-BTC", DstToken: "CITREA-CBTC", Amount: big.NewInt(40_000), AmountType: swapper.ExactIn, SrcAddress: n.Voucher.LNURL, DstAddress: user},
		"SPV native":  {SrcToken: "BITCOIN-BTC", DstToken: "CITREA-CBTC", Amount: big.NewInt(200_000), AmountType: swapper.ExactIn, DstAddress: user},
		"SPV out":     {SrcToken: "BITCOIN-BTC", DstToken: "CITREA-CBTC", Amount: big.NewInt(2e15), AmountType: swapper.ExactOut, DstAddress: user},
	}
}

func TestQuotesOfEachTypeAreAccepted(t *testing.T) {
	t.Parallel()
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
	n := trial.Must(devnet.Start(t.Context(), o))(t)
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// caught are the checks that have refused what an LP said over HTTP.
var caught sync.Map

// told demands that err names the check.
func told(t *testing.T, want lpwire.Check, err error) {
	t.Helper()
	lie, ok := errors.AsType[*lpwire.LPError](err)
	if !ok || lie.Check != want {
		t.Errorf("got %v, want the check %s", err, want)
		return
	}
	caught.Store(want, true)
}

// notHere are the checks that this network gives no occasion for, with the reason.
// Package internal/lp feeds each its lie.
var notHere = map[lpwire.Check]string{
	lpwire.CheckFeeLimit:        "the policy's limit is above the fees that these LPs announce",
	lpwire.CheckWatchtower:      "the share is our own, and small here",
	lpwire.CheckVaultWithdrawal: "the contract's refusal to read what an LP broadcast: its node would have to lie, not the LP",
}

// Every lie is refused by the check that is there for it, and every check has
// something to refuse.
func TestEveryLieIsNamed(t *testing.T) {
	t.Parallel()
	t.Run("all", func(t *testing.T) {
		for name, lies := range map[string]func(*testing.T){
			"quotes": liesOfQuotes, "quotes on Solana": liesOnSolana, "quotes on Starknet": liesOnStarknet,
			"vaults without funds": vaultsWithoutFunds, "vaults that wait long": vaultsThatWaitLong, "trusted gas swap": liesOfGas, "nodes": liesOfNodes,
			"afterwards": func(t *testing.T) { devnet.LiesAfterwards(t, told) },
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				lies(t)
			})
		}
	})
	for _, check := range allChecks(t) {
		if _, ok := caught.Load(check); !ok && notHere[check] == "" {
			t.Errorf("nothing was refused for %s", check)
		}
	}
}

// allChecks are the words of the checks, from where they are declared.
func allChecks(t *testing.T) (all []lpwire.Check) {
	t.Helper()
	file := trial.Must(parser.ParseFile(token.NewFileSet(), "../lp/check.go", nil, 0))(t)
	ast.Inspect(file, func(node ast.Node) bool {
		if spec, ok := node.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Check") {
			word := trial.Must(strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value))(t)
			all = append(all, lpwire.Check(word))
		}
		return true
	})
	if len(all) < 40 {
		t.Fatalf("found %d checks only", len(all))
	}
	return all
}

func liesOfQuotes(t *testing.T) {
	n := start(t, devnet.Options{})
	stranger := n.EVM.Watchtower
	plus := func(on, field string, by int64) lp.Fault {
		return lp.Fault{Answer: lp.Change(on, "data."+field, lp.Plus(by))}
	}
	set := func(on, field string, v any) lp.Fault { return lp.Fault{Answer: lp.Lie(on, "data."+field, v)} }
	escrow := func(change func(s *wire.SwapData)) lp.Fault { return lp.Fault{Escrow: lp.EscrowLie{EVM: change}} }
	vault := n.LPs[0].VaultAddress()
	out := trial.Must(n.Bitcoin.Faucet(vault, 600))(t)
	trial.Do(t, n.Mine(1))
	unrelated := out.String() // the vault's script, but not its output
	const toBTC, toBTCLN, auto, spv = "/tobtc/", "/tobtcln/", "/frombtcln_auto/", "/frombtc_spv/"
	tests := []struct {
		name, swap string
		fault      lp.Fault
		want       lpwire.Check
	}{
		{"amount", "TO_BTC", plus(toBTC, "amount", -1), lpwire.CheckRequested},
		{"total", "TO_BTC in", plus(toBTC, "total", 1), lpwire.CheckRequested},
		{"total fee", "TO_BTC", plus(toBTC, "totalFee", 1), lpwire.CheckTotalFee},
		{"swap fee", "TO_BTC", lp.Fault{Answer: both(lp.Change(toBTC, "data.swapFee", lp.Plus(5000)), lp.Change(toBTC, "data.totalFee", lp.Plus(5000)))}, lpwire.CheckFee},
		{"network fee", "TO_BTC", lp.Fault{Answer: both(lp.Change(toBTC, "data.networkFee", lp.Plus(50_000)), lp.Change(toBTC, "data.totalFee", lp.Plus(50_000)))}, lpwire.CheckNetworkFee},
		{"fee rate", "TO_BTC", set(toBTC, "satsPervByte", "5000"), lpwire.CheckNetworkFee},
		{"escrowed amount", "TO_BTC", escrow(func(s *wire.SwapData) { s.Amount = new(big.Int).Add(s.Amount, big.NewInt(1)) }), lpwire.CheckEscrow},
		{"claim hash", "TO_BTC", escrow(func(s *wire.SwapData) { s.ClaimData[0] ^= 1 }), lpwire.CheckEscrow},
		{"token", "TO_BTC", escrow(func(s *wire.SwapData) { s.Token = n.EVM.Contracts().Dollar }), lpwire.CheckEscrow},
		{"claimer", "TO_BTC", escrow(func(s *wire.SwapData) { s.Claimer = stranger.Address }), lpwire.CheckEscrow},
		{"claim handler", "TO_BTC", escrow(func(s *wire.SwapData) { s.ClaimHandler = stranger.Address }), lpwire.CheckEscrow},
		{"refund handler", "TO_BTC", escrow(func(s *wire.SwapData) { s.RefundHandler = stranger.Address }), lpwire.CheckEscrow},
		{"deposit", "TO_BTC", escrow(func(s *wire.SwapData) { s.SecurityDeposit = big.NewInt(1) }), lpwire.CheckEscrow},
		{"bounty", "TO_BTC", escrow(func(s *wire.SwapData) { s.ClaimerBounty = big.NewInt(1) }), lpwire.CheckEscrow},
		{"success action", "TO_BTC", escrow(func(s *wire.SwapData) { s.SuccessAction = common.Hash{1} }), lpwire.CheckEscrow},
		{"expiry", "TO_BTC", escrow(func(s *wire.SwapData) {
			s.RefundData = common.BigToHash(big.NewInt(n.Clock.Now().Add(20 * time.Hour).Unix()))
		}), lpwire.CheckExpiry},
		{"signature", "TO_BTC", lp.Fault{StrangeAuth: true}, lpwire.CheckAuth},
		{"prefix", "TO_BTC", lp.Fault{Auth: func(a *chains.Auth) { a.Prefix = "initialize" }}, lpwire.CheckAuth},
		{"timeout", "TO_BTC", lp.Fault{Auth: func(a *chains.Auth) { a.Timeout++ }}, lpwire.CheckAuth},

		{"routing fee", "TO_BTCLN", plus(toBTCLN, "routingFeeSats", 1_000_000), lpwire.CheckRoutingFee},
		{"fee for routing", "TO_BTCLN", plus(toBTCLN, "maxFee", 40_000), lpwire.CheckRoutingFee},
		{"confidence", "TO_BTCLN", set(toBTCLN, "confidence", 1.5), lpwire.CheckConfidence},
		{"payment hash", "TO_BTCLN", escrow(func(s *wire.SwapData) { s.ClaimData[0] ^= 1 }), lpwire.CheckEscrow},
		{"prepared nothing", "TO_BTCLN in", set(toBTCLN, "amount", "0"), lpwire.CheckPrepared},
		{"takes more than was given", "TO_BTCLN in", plus("payInvoiceExactIn", "total", 1), lpwire.CheckRequested},
		{"routing fee of an exact input", "TO_BTCLN in", plus("payInvoiceExactIn", "maxFee", 40_000), lpwire.CheckRoutingFee},
		{"HTLC expiry", "TO_BTCLN", escrow(func(s *wire.SwapData) { s.RefundData[31]++ }), lpwire.CheckEscrow},
		{"signature for lightning", "TO_BTCLN", lp.Fault{StrangeAuth: true}, lpwire.CheckAuth},

		{"LP's address", "AUTO", set(auto, "intermediaryKey", stranger.Address.Hex()), lpwire.CheckLPKey},
		{"no invoice", "AUTO", set(auto, "pr", "lnbcrt1"), lpwire.CheckInvoice},
		{"invoice for another hash", "AUTO", lp.Fault{Invoice: func(o *lightning.InvoiceOptions) { o.Hash[0] ^= 1 }}, lpwire.CheckPaymentHash},
		{"invoice for more", "AUTO", lp.Fault{Invoice: func(o *lightning.InvoiceOptions) { o.AmountMsat += 1000 }}, lpwire.CheckBTCSum},
		{"description", "AUTO", lp.Fault{Invoice: func(o *lightning.InvoiceOptions) { o.Description = "for somebody else" }}, lpwire.CheckDescription},
		{"expired invoice", "AUTO", lp.Fault{Invoice: func(o *lightning.InvoiceOptions) { o.Timestamp = n.Clock.Now().Add(-time.Hour) }}, lpwire.CheckQuoteExpiry},
		{"total paid out", "AUTO", plus(auto, "total", -10_000), lpwire.CheckPrice},
		{"gas", "AUTO", plus(auto, "totalGas", -1), lpwire.CheckGas},
		{"bounty that was not sent", "AUTO", plus(auto, "claimerBounty", 1), lpwire.CheckBounty},
		{"fees that do not add up", "AUTO", plus(auto, "totalFeeBtc", 1), lpwire.CheckTotalFee},
		{"no funds", "AUTO", lp.Fault{Answer: both(lp.Change(auto, "data.total", lp.Plus(1e11)))}, lpwire.CheckFunds},

		{"vault owner", "SPV", set(spv, "address", stranger.Address.Hex()), lpwire.CheckVaultOwner},
		{"vault that is not", "SPV", set(spv, "vaultId", "77"), lpwire.CheckVaultOpen},
		{"vault of another token", "SPV", lp.Fault{ForeignVault: true}, lpwire.CheckVaultTokens},
		{"LP's bitcoin address", "SPV", set(spv, "btcAddress", n.Taproot.Address.String()), lpwire.CheckAddress},
		{"fee rate of a withdrawal", "SPV", set(spv, "btcFeeRate", json.Number("500")), lpwire.CheckFeeRate},
		{"caller's share", "SPV", plus(spv, "callerFeeShare", 1), lpwire.CheckShares},
		{"fronting share", "SPV", plus(spv, "frontingFeeShare", 1), lpwire.CheckShares},
		{"execution share", "SPV", plus(spv, "executionFeeShare", 1), lpwire.CheckShares},
		{"expired quote", "SPV", set(spv, "expiry", 1), lpwire.CheckQuoteExpiry},
		{"parts of the amount", "SPV", plus(spv, "btcAmountSwap", 1), lpwire.CheckBTCSum},
		{"less paid out", "SPV", plus(spv, "total", -10_000), lpwire.CheckPrice},
		{"less gas paid out", "SPV", plus(spv, "totalGas", -1e13), lpwire.CheckGas},
		{"inputs that nobody sent", "SPV", set(spv, "usedUtxoInputCalculation", true), lpwire.CheckInputs},
		{"output that is not", "SPV", set(spv, "btcUtxo", strings.Repeat("ab", 32)+":0"), lpwire.CheckUTXO},
		{"amount to pay", "SPV", lp.Fault{Answer: both(lp.Change(spv, "data.btcAmount", lp.Plus(1)), lp.Change(spv, "data.btcAmountSwap", lp.Plus(1)))}, lpwire.CheckRequested},
		{"output of another transaction", "SPV", set(spv, "btcUtxo", unrelated), lpwire.CheckVaultPending},
		{"quote id", "SPV", set(spv, "quoteId", "../../x"), lpwire.CheckQuoteID},
		{"fee for the gas", "SPV", lp.Fault{Answer: both(lp.Change(spv, "data.gasSwapFeeBtc", lp.Plus(5000)), lp.Change(spv, "data.totalFeeBtc", lp.Plus(5000)))}, lpwire.CheckGasFee},
		{"gas that costs too much", "SPV", lp.Fault{Answer: both(lp.Change(spv, "data.btcAmountGas", lp.Plus(2000)), lp.Change(spv, "data.btcAmountSwap", lp.Plus(-2000)),
			lp.Change(spv, "data.swapFeeBtc", lp.Plus(-10)), lp.Change(spv, "data.totalFeeBtc", lp.Plus(-10)))}, lpwire.CheckGasPrice},
		{"no vault units", "SPV native", plus(spv, "total", 1), lpwire.CheckMultiplier},
		{"more than all bitcoin", "SPV", set(spv, "btcAmount", "2100000000000001"), lpwire.CheckNumbers},
		{"spent output", "SPV", lp.Fault{SpentVault: true}, lpwire.CheckUTXOSpent}, // the last: the vault is lost
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			n.LPs[0].Misbehave(test.fault)
			defer n.LPs[0].Misbehave(lp.Fault{})
			_, err := open(t, n).CreateSwap(t.Context(), requests(t, n)[test.swap])
			told(t, test.want, err)
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
	t.Parallel()
	n := start(t, devnet.Options{})
	n.LPs[0].Misbehave(lp.Fault{StrangeInfo: true})
	if _, err := open(t, n).CreateSwap(t.Context(), requests(t, n)["TO_BTC"]); err == nil {
		t.Error("accepted")
	}
}

// LPs that fail, in whatever way, cost nothing but themselves.
func TestBadCompanyDelaysNobody(t *testing.T) {
	trial.OnlyFull(t)
	t.Parallel()
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
			if took := time.Since(began); took > time.Minute { // 5 s to load LPs and 2 s for other quotes, on a busy machine
				t.Errorf("took %v", took)
			}
		})
	}
}

func vaultsWithoutFunds(t *testing.T) {
	n := start(t, devnet.Options{LP: func(_ int, o *lp.Options) { o.Deposit = 300_000 }})
	in := requests(t, n)["SPV"]
	in.Amount = big.NewInt(1_000_000)
	if _, err := open(t, n).CreateSwap(t.Context(), in); err == nil {
		t.Error("an honest LP promised more than it has")
	}
	n.LPs[0].Misbehave(lp.Fault{UnsureVault: true})
	_, err := open(t, n).CreateSwap(t.Context(), in)
	told(t, lpwire.CheckVaultBalance, err)
}

func vaultsThatWaitLong(t *testing.T) {
	n := start(t, devnet.Options{LP: func(_ int, o *lp.Options) { o.VaultConfirmations = 7 }})
	_, err := open(t, n).CreateSwap(t.Context(), requests(t, n)["SPV"])
	told(t, lpwire.CheckConfirmations, err)
}

// gasAgreed is what a quote of a trusted gas swap is compared with.
func gasAgreed(n *devnet.Net, r lpwire.TrustedRequest) verify.Agreed {
	native := n.Tokens()[0]
	return verify.Agreed{Token: native, Native: native, Amount: r.Amount, BaseFee: big.NewInt(10), FeePPM: big.NewInt(10_000), Price: big.NewInt(1e14), Now: n.Clock.Now()}
}

func liesOfGas(t *testing.T) {
	n := start(t, devnet.Options{})
	c := lphttp.NewClient(lphttp.Options{Now: n.Clock.Now, AllowLocal: true})
	r := lpwire.TrustedRequest{Chain: n.EVM.Network().Chain, Address: n.EVM.User.Address.Hex(), Amount: big.NewInt(1e14), Token: n.Tokens()[0].Address}
	ask := func(f lp.Fault) error {
		n.LPs[0].Misbehave(f)
		defer n.LPs[0].Misbehave(lp.Fault{})
		got, err := c.TrustedLN(t.Context(), n.LPs[0].URL(), r)
		if err != nil {
			return err
		}
		_, err = verify.TrustedLN(gasAgreed(n, r), n.Bitcoin.Network(), got)
		return err
	}
	if err := ask(lp.Fault{}); err != nil {
		t.Fatalf("the honest quote is refused: %v", err)
	}
	const gas = "/lnforgas/"
	for name, l := range map[string]struct {
		fault lp.Fault
		want  lpwire.Check
	}{
		"total":            {lp.Fault{Answer: lp.Change(gas, "data.total", lp.Plus(-1))}, lpwire.CheckRequested},
		"fee":              {lp.Fault{Answer: lp.Change(gas, "data.swapFeeSats", lp.Plus(5000))}, lpwire.CheckFee},
		"no invoice":       {lp.Fault{Answer: lp.Lie(gas, "data.pr", "lnbcrt1")}, lpwire.CheckInvoice},
		"invoice for more": {lp.Fault{Invoice: func(o *lightning.InvoiceOptions) { o.AmountMsat += 500_000 }}, lpwire.CheckPrice},
		"expired invoice":  {lp.Fault{Invoice: func(o *lightning.InvoiceOptions) { o.Timestamp = n.Clock.Now().Add(-time.Hour) }}, lpwire.CheckQuoteExpiry},
	} {
		t.Run(name, func(t *testing.T) { told(t, l.want, ask(l.fault)) })
	}
}

// On public networks the invoice's node must be the one that the LP names, and be
// able to receive so much.
func liesOfNodes(t *testing.T) {
	n := start(t, devnet.Options{})
	c := lphttp.NewClient(lphttp.Options{Now: n.Clock.Now, AllowLocal: true})
	backend := trial.Must(mempoolspace.New(mempoolspace.Options{Network: n.Bitcoin.Network(), URLs: []string{n.Bitcoin.URL()}, TipAge: -1}))(t)
	asked := 0
	ask := func(f lp.Fault) error {
		n.LPs[0].Misbehave(f)
		defer n.LPs[0].Misbehave(lp.Fault{})
		asked++
		_, hash := lightning.Preimage(t.Name() + strings.Repeat("x", asked))
		var named string
		got, err := c.FromBTCLNAuto(t.Context(), n.LPs[0].URL(), lpwire.FromBTCLNAutoRequest{Chain: n.EVM.Network().Chain, PaymentHash: hex.EncodeToString(hash[:]),
			Amount: big.NewInt(100_000), Claimer: n.EVM.User.Address.Hex(), Token: n.Tokens()[1].Address, GasToken: n.Tokens()[0].Address},
			lpwire.Early{NodeKey: func(key string) { named = key }})
		if err != nil {
			return err
		}
		invoice, err := bolt11.Decode(got.Invoice)
		if err != nil {
			return err
		}
		node, err := backend.NodeLiquidity(t.Context(), named)
		if errors.Is(err, bitcoin.ErrNotFound) {
			err = nil
		}
		return verify.Node(invoice, verify.NodeFact{Node: node, Err: err}, verify.Policy{})
	}
	if err := ask(lp.Fault{}); err != nil {
		t.Fatalf("the honest LP's node is refused: %v", err)
	}
	n.Bitcoin.SetLightningNode(bitcoin.NodeLiquidity{PublicKey: n.Recipient.ID(), Capacity: 200_000_000, Channels: 8})
	told(t, lpwire.CheckNode, ask(lp.Fault{Answer: lp.Lie("/frombtcln_auto/", "lnPublicKey", n.Recipient.ID())}))
	told(t, lpwire.CheckNode, ask(lp.Fault{Answer: lp.Lie("/frombtcln_auto/", "lnPublicKey", n.Payer.ID())}))
	n.Bitcoin.SetLightningNode(bitcoin.NodeLiquidity{PublicKey: n.LPs[0].Node().ID(), Capacity: 99_999, Channels: 1})
	told(t, lpwire.CheckNode, ask(lp.Fault{}))
}
