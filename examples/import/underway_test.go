package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage/bolt"
	"github.com/swapper-go/swapper/swappertest"
)

// onTheWay are swaps of each chain, with the state in which they come over: what their users pay is
// paid, and nobody has answered.
var onTheWay = []struct {
	chain string
	swaps []struct{ from, to, state string }
}{
	{"SOLANA", []struct{ from, to, state string }{{"SOLANA-WBTC", "LIGHTNING-BTC", "COMMITED"}, {"LIGHTNING-BTC", "SOLANA-WBTC", "PR_PAID"},
		{"SOLANA-USDC", "BITCOIN-BTC", "COMMITED"}, {"BITCOIN-BTC", "SOLANA-WBTC", "CLAIM_COMMITED"}}},
	{"STARKNET", []struct{ from, to, state string }{{"STARKNET-WBTC", "LIGHTNING-BTC", "COMMITED"}, {"LIGHTNING-BTC", "STARKNET-WBTC", "CLAIM_COMMITED"},
		{"STARKNET-USDC", "BITCOIN-BTC", "COMMITED"}, {"BITCOIN-BTC", "STARKNET-WBTC", "BROADCASTED"}}},
	{"CITREA", []struct{ from, to, state string }{{"CITREA-WBTC", "LIGHTNING-BTC", "COMMITED"}, {"LIGHTNING-BTC", "CITREA-WBTC", "CLAIM_COMMITED"},
		{"CITREA-USDC", "BITCOIN-BTC", "COMMITED"}, {"BITCOIN-BTC", "CITREA-WBTC", "BROADCASTED"}}},
}

// The files of the reference service, one for each chain, come over into one store, and what was
// under way in them goes to its end here.
func TestUnderWay(t *testing.T) {
	t.Parallel()
	n := swappertest.Start(t, swappertest.Options{Solana: swappertest.SolanaOptions{Version: "v1"}, Starknet: swappertest.StarknetOptions{On: true}})
	dir := t.TempDir()
	printed := filepath.Join(dir, "local.json")
	f, err := os.Create(printed)
	if err == nil {
		err = errors.Join(n.Describe(f), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	n.Misbehave(swappertest.LPFault{NeverPay: true}, swappertest.WatchtowerFault{Off: true})
	config, store := n.Config(), filepath.Join(dir, "swaps.db")
	theirs, closeTheirs := opened(t, config)
	quotes := make(map[string]*swapper.CreateSwapOutput)
	for _, c := range trial.Of(1, onTheWay) {
		all := make(map[string]json.RawMessage)
		for _, s := range trial.Of(2, c.swaps) {
			in := swapper.CreateSwapInput{SrcToken: s.from, DstToken: s.to, Amount: big.NewInt(200_000), AmountType: swapper.ExactIn, DstAddress: n.User.Address(c.chain)}
			switch s.to {
			case "LIGHTNING-BTC":
				in.DstAddress, in.AmountType = n.Invoice(200_000), swapper.ExactOut
			case "BITCOIN-BTC":
				in.DstAddress, in.AmountType = n.User.Address("BITCOIN"), swapper.ExactOut
			}
			if s.from != "LIGHTNING-BTC" && s.from != "BITCOIN-BTC" {
				in.SrcAddress = n.User.Address(c.chain)
			}
			quote, err := theirs.CreateSwap(t.Context(), in)
			if err != nil {
				t.Fatalf("%s to %s: %v", s.from, s.to, err)
			}
			if _, err := n.User.FinishUntil(t.Context(), theirs, quote.SwapID, func(now *swapper.GetSwapStatusOutput) bool { return now.State.Name == s.state }); err != nil {
				t.Fatal(err)
			}
			e, err := config.Store.Get(t.Context(), quote.SwapID)
			if err != nil {
				t.Fatal(err)
			}
			record, err := flowtest.ReferenceRecord(quote.SwapID, e.Version, e.Body)
			if err != nil {
				t.Fatal(err)
			}
			all[quote.SwapID], quotes[quote.SwapID] = record, quote
		}
		write(t, filepath.Join(dir, "CHAIN_atomiqsdk-"+strconv.Itoa(int(bitcoin.Regtest))+"-"+c.chain+".sqlite3"), all)
	}
	closeTheirs()

	for _, c := range trial.Of(1, onTheWay) {
		var out bytes.Buffer
		file := filepath.Join(dir, "CHAIN_atomiqsdk-"+strconv.Itoa(int(bitcoin.Regtest))+"-"+c.chain+".sqlite3")
		err := run(t.Context(), []string{"-store", store, "-contracts", printed, "-lp", config.LPs.URLs[0], file}, &out)
		if want := fmt.Sprintf("%d imported, 0 already present, 0 refused\n", len(trial.Of(2, c.swaps))); err != nil || !strings.HasSuffix(out.String(), want) {
			t.Fatalf("%s: %v\n%s", c.chain, err, out.String())
		}
	}
	n.Misbehave()
	kept, err := bolt.Open(t.Context(), store, bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	config.Store = kept
	ours, closeOurs := opened(t, config)
	defer closeOurs()
	for id, q := range quotes {
		end, err := n.User.Finish(t.Context(), ours, id)
		if err != nil || !end.IsSuccess || end.Quote.OutputAmount.RawAmount.Cmp(q.Quote.OutputAmount.RawAmount) != 0 {
			t.Errorf("%s of %s: %v, %+v", q.SwapType, q.Quote.InputAmount.Chain, err, end)
		}
		if a := q.Quote.OutputAmount; a.Chain == "LIGHTNING" && !n.Paid(q.Quote.OutputAddress) {
			t.Errorf("%s: the invoice is not paid", q.SwapType)
		}
	}
}

// opened opens a client that follows its swaps.
func opened(t *testing.T, config swapper.Config) (client *swapper.Client, closed func()) {
	t.Helper()
	client, err := swapper.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = client.Run(context.Background()) }() // until it is closed
	return client, func() { client.Close(); <-ended }
}
