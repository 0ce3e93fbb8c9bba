package main

import (
	"encoding/json"
	"math/big"
	"slices"
	"testing"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/swappertest"
)

func newSolanaTown(t *testing.T) *town {
	t.Helper()
	return newTownWith(t, swappertest.Options{Solana: swappertest.SolanaOptions{Version: "v2"}})
}

// Solana's programs on a cluster of one's own are configured by the keys of README.md
// alone, without another chain.
func TestServesSolanaByItsKeys(t *testing.T) {
	t.Parallel()
	v := newSolanaTown(t)
	d := v.says
	var programs []any
	for _, version := range []string{"v1", "v2"} {
		p := d.Solana.Programs[version]
		programs = append(programs, map[string]any{"version": version, "swapProgram": p.SwapProgram, "btcRelay": p.BtcRelay})
	}
	token := func(ticker string, decimals int) map[string]any {
		return map[string]any{"ticker": ticker, "name": "My " + ticker, "decimals": decimals, "displayDecimals": 4, "address": d.Solana.Tokens[ticker]}
	}
	v.serve(map[string]any{
		"bitcoinNetwork": "REGTEST",
		"bitcoin":        map[string]any{"urls": []string{d.Bitcoin.REST}},
		"chains": map[string]any{"SOLANA": map[string]any{
			"rpc": []string{d.Solana.RPC}, "genesis": d.Solana.Genesis, "programs": programs, "version": d.Solana.ProgramVersion,
			"tokens": []any{token("SOL", 9), token("USDC", 6)},
		}},
		"lps":    map[string]any{"urls": d.LPs, "allowLocal": true},
		"prices": map[string]any{"fixed": map[string]string{"SOLANA-SOL": "160000", "SOLANA-USDC": "1000"}},
		"relays": []string{d.Nostr},
		"clock":  d.Clock,
	})
	list, err := v.swaps.GetSupportedTokens(t.Context(), swapper.GetSupportedTokensInput{Side: swapper.SideOutput})
	if err != nil || len(list) != 4 {
		t.Errorf("%+v, %v", list, err)
	}
	me := v.net.User.Address("SOLANA")
	v.settle(swapper.CreateSwapInput{SrcToken: "SOLANA-USDC", DstToken: "LIGHTNING-BTC", Amount: big.NewInt(20_000), AmountType: swapper.ExactOut, SrcAddress: me, DstAddress: v.net.Invoice(20_000)})
	v.settle(swapper.CreateSwapInput{SrcToken: "LIGHTNING-BTC", DstToken: "SOLANA-SOL", Amount: big.NewInt(50_000), AmountType: swapper.ExactIn, DstAddress: me})
}

// What the service says about Solana, with an EVM chain beside it.
func TestAnswersAboutSolana(t *testing.T) {
	t.Parallel()
	v := newSolanaTown(t)
	v.write("local.json", json.RawMessage(v.text))
	v.serve(map[string]any{"local": "local.json"})
	me := v.net.User.Address("SOLANA")

	ids := func(list []swapper.Token) (all []string) {
		for _, token := range list {
			all = append(all, token.ID)
		}
		slices.Sort(all)
		return all
	}
	expect := func(what string, got []string, err error, want ...string) {
		t.Helper()
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v; want %v", what, got, err, want)
		}
	}
	for _, side := range []swapper.Side{swapper.SideInput, swapper.SideOutput} {
		list, err := v.swaps.GetSupportedTokens(t.Context(), swapper.GetSupportedTokensInput{Side: side})
		expect(string(side), ids(list), err, "BITCOIN-BTC", "CITREA-CBTC", "CITREA-USDC", "CITREA-WBTC", "LIGHTNING-BTC", "SOLANA-SOL", "SOLANA-USDC", "SOLANA-WBTC")
	}
	list, err := v.swaps.GetSwapCounterTokens(t.Context(), swapper.GetSwapCounterTokensInput{Token: "SOLANA-SOL", Side: swapper.SideInput})
	expect("counter tokens", ids(list), err, "BITCOIN-BTC", "LIGHTNING-BTC")
	list, err = v.swaps.GetSwapCounterTokens(t.Context(), swapper.GetSwapCounterTokensInput{Token: "BITCOIN-BTC", Side: swapper.SideInput})
	expect("counter tokens of bitcoin", ids(list), err, "CITREA-CBTC", "CITREA-USDC", "CITREA-WBTC", "SOLANA-SOL", "SOLANA-USDC", "SOLANA-WBTC")

	for _, pair := range [][2]string{{"SOLANA-SOL", "BITCOIN-BTC"}, {"SOLANA-USDC", "LIGHTNING-BTC"}, {"BITCOIN-BTC", "SOLANA-WBTC"}, {"LIGHTNING-BTC", "SOLANA-SOL"}} {
		limits, err := v.swaps.GetSwapLimits(t.Context(), swapper.GetSwapLimitsInput{SrcToken: pair[0], DstToken: pair[1]})
		if err != nil {
			t.Errorf("limits of %v: %v", pair, err)
			continue
		}
		for _, side := range []swapper.GetSwapLimitsSide{limits.Input, limits.Output} {
			if side.Min.RawAmount.Sign() <= 0 || side.Max == nil || side.Max.RawAmount.Cmp(side.Min.RawAmount) <= 0 {
				t.Errorf("limits of %v: %+v", pair, limits)
			}
		}
	}

	parsed, err := v.swaps.ParseAddress(t.Context(), swapper.ParseAddressInput{Address: me})
	if err != nil || string(parsed.Type) != "SOLANA" || parsed.Address != me {
		t.Errorf("%+v, %v", parsed, err)
	}
	if _, err := v.swaps.ParseAddress(t.Context(), swapper.ParseAddressInput{Address: me + "1"}); fault.CodeOf(err) != fault.InvalidInput {
		t.Errorf("no address: %v", err)
	}

	// What can be spent is what the wallet holds, less, of SOL, what the swap costs.
	for _, token := range []string{"SOLANA-SOL", "SOLANA-USDC"} {
		has, err := v.net.User.Balance(t.Context(), token)
		if err != nil {
			t.Fatal(err)
		}
		can, err := v.swaps.GetSpendableBalance(t.Context(), swapper.GetSpendableBalanceInput{Wallet: me, Token: token})
		if err != nil {
			t.Errorf("%s: %v", token, err)
			continue
		}
		less := new(big.Int).Sub(has, can.Balance.RawAmount)
		if native := token == "SOLANA-SOL"; native && (less.Sign() <= 0 || less.Cmp(big.NewInt(100_000_000)) > 0) || !native && less.Sign() != 0 {
			t.Errorf("%s: %s of %s", token, can.Balance.RawAmount, has)
		}
	}

	// Its signer's lists show a swap; the pending one until it is over.
	made := v.create(swapper.CreateSwapInput{SrcToken: "SOLANA-SOL", DstToken: "BITCOIN-BTC", Amount: big.NewInt(200_000), AmountType: swapper.ExactOut, SrcAddress: me, DstAddress: v.net.User.Address("BITCOIN")})
	v.finish(made.SwapID, nil)
	swaps, err := v.swaps.ListSwaps(t.Context(), swapper.ListSwapsInput{Signer: me, ChainID: "SOLANA"})
	if err != nil || len(swaps) != 1 || swaps[0].SwapID != made.SwapID || !swaps[0].IsSuccess || swaps[0].SwapType != swapper.SwapToBTC {
		t.Errorf("%+v, %v", swaps, err)
	}
	other, err := v.net.NewUser()
	if err != nil {
		t.Fatal(err)
	}
	if swaps, err := v.swaps.ListSwaps(t.Context(), swapper.ListSwapsInput{Signer: other.Address("SOLANA"), ChainID: "SOLANA"}); err != nil || len(swaps) != 0 {
		t.Errorf("another signer's: %+v, %v", swaps, err)
	}
	if swaps, err := v.swaps.ListPendingSwaps(t.Context(), swapper.ListSwapsInput{Signer: me, ChainID: "SOLANA"}); err != nil || len(swaps) != 0 {
		t.Errorf("pending: %+v, %v", swaps, err)
	}
}
