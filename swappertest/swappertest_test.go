package swappertest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/swappertest"
)

// open opens a client of the network, which runs until the test ends.
func open(t *testing.T, c swapper.Config) *swapper.Client {
	t.Helper()
	client := trial.Must(swapper.Open(t.Context(), c))(t)
	ended := make(chan struct{})
	go func() { defer close(ended); _ = client.Run(context.Background()) }() // until it is closed
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		<-ended
	})
	return client
}

func in(src, dst string, amount int64, exact swapper.AmountType, from, to string) swapper.CreateSwapInput {
	return swapper.CreateSwapInput{SrcToken: src, DstToken: dst, Amount: big.NewInt(amount), AmountType: exact, SrcAddress: from, DstAddress: to}
}

// A user's wallet finishes a swap in each direction, and the balances say so.
func TestEveryDirection(t *testing.T) {
	t.Parallel()
	n := swappertest.Start(t, swappertest.Options{})
	client := open(t, n.Config())
	to := trial.Must(n.NewUser())(t)
	evm, invoice := n.User.Address("CITREA"), to.Invoice(30_000)
	for _, test := range []swapper.CreateSwapInput{
		in("BITCOIN-BTC", "CITREA-WBTC", 300_000, swapper.ExactIn, "", to.Address("CITREA")),
		in("LIGHTNING-BTC", "CITREA-USDC", 100_000, swapper.ExactIn, "", to.Address("CITREA")),
		in("CITREA-CBTC", "BITCOIN-BTC", 200_000, swapper.ExactOut, evm, to.Address("BITCOIN")),
		in("CITREA-USDC", "LIGHTNING-BTC", 30_000, swapper.ExactOut, evm, invoice),
	} {
		swap := trial.Must(client.CreateSwap(t.Context(), test))(t)
		status, err := n.User.Finish(t.Context(), client, swap.SwapID)
		if err != nil || !status.IsSuccess {
			t.Fatalf("%s to %s: %v %+v", test.SrcToken, test.DstToken, err, status)
		}
		has, err := to.Balance(t.Context(), test.DstToken)
		if want := swap.Quote.OutputAmount.RawAmount; err != nil || has.Cmp(want) != 0 {
			t.Errorf("%s to %s: received %s, quoted %s; %v", test.SrcToken, test.DstToken, has, want, err)
		}
		// A finished swap is not paid for again.
		if again, err := n.User.Finish(t.Context(), client, swap.SwapID); err != nil || !again.IsSuccess {
			t.Errorf("%v", err)
		}
	}
}

// A loop of one's own ends if it does what the action says, whatever it mines for: a Wait or no action, a Wait
// alone, or the confirmations of the user's own payment alone. A state without an action says what it waits for.
func TestALoopOfOnesOwnEnds(t *testing.T) {
	t.Parallel()
	for loop, mines := range map[string]func(swapper.Action) bool{
		"mines on Wait and without an action": func(a swapper.Action) bool { return a == nil || waits(a) },
		"mines on Wait alone":                 waits,
		"mines for its own payment alone":     ownPayment,
	} {
		t.Run(loop, func(t *testing.T) {
			t.Parallel()
			n := swappertest.Start(t, swappertest.Options{Hear: !trial.Full(), Solana: swappertest.SolanaOptions{Version: "v1"}})
			c := open(t, n.Config())
			u := n.User
			for name, input := range map[string]swapper.CreateSwapInput{
				"to Bitcoin":        in("CITREA-WBTC", "BITCOIN-BTC", 50_000, swapper.ExactIn, u.Address("CITREA"), u.Address("BITCOIN")),
				"to Lightning":      in("CITREA-WBTC", "LIGHTNING-BTC", 20_000, swapper.ExactOut, u.Address("CITREA"), n.Invoice(20_000)),
				"from Bitcoin":      in("BITCOIN-BTC", "CITREA-WBTC", 60_000, swapper.ExactIn, u.Address("BITCOIN"), u.Address("CITREA")),
				"into an escrow":    in("BITCOIN-BTC", "SOLANA-WBTC", 60_000, swapper.ExactIn, "", u.Address("SOLANA")),
				"to Bitcoin, other": in("SOLANA-WBTC", "BITCOIN-BTC", 50_000, swapper.ExactIn, u.Address("SOLANA"), u.Address("BITCOIN")),
			} {
				t.Run(name, func(t *testing.T) {
					created := trial.Must(c.CreateSwap(t.Context(), input))(t)
					status := followUntil(t, n, c, created.SwapID, mines, func(s *swapper.GetSwapStatusOutput) bool { return s.IsFinished })
					if !status.IsSuccess {
						t.Errorf("ended as %s", status.State.Name)
					}
				})
			}
		})
	}
}

// ownPayment reports whether an action waits for the confirmations of what the user has paid.
func ownPayment(a swapper.Action) bool {
	w, ok := a.(*swapper.Wait)
	return ok && w.Name == "Bitcoin confirmations"
}

func waits(a swapper.Action) bool {
	_, ok := a.(*swapper.Wait)
	return ok
}

// followUntil does what a swap asks for, mines a block where mines says so, and returns the first status that
// done accepts.
func followUntil(t *testing.T, n *swappertest.Network, c *swapper.Client, id string, mines func(swapper.Action) bool, done func(*swapper.GetSwapStatusOutput) bool) *swapper.GetSwapStatusOutput {
	t.Helper()
	u := n.User
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		now, err := c.GetSwapStatus(t.Context(), swapper.GetSwapStatusInput{SwapID: id, BitcoinAddress: u.Address("BITCOIN"), BitcoinPublicKey: u.BitcoinPublicKey()})
		if err != nil {
			t.Fatal(err)
		}
		if done(now) {
			return now
		}
		if now.IsFinished || time.Now().After(deadline) {
			t.Fatalf("it is in %s: %s", now.State.Name, now.State.Description)
		}
		switch a := now.CurrentAction.(type) {
		case nil:
			if !strings.Contains(now.State.Description, "once") {
				t.Errorf("%s has no action and does not say what is missing: %s", now.State.Name, now.State.Description)
			}
		case *swapper.Wait:
		case *swapper.SendToAddress:
			_, err = n.SendBitcoin(a.Txs[0].Address, a.Txs[0].Amount.RawAmount.Int64())
		default:
			var signed []string
			if signed, err = u.Sign(a); err == nil {
				_, err = c.SubmitTransaction(t.Context(), swapper.SubmitTransactionInput{SwapID: id, SignedTxs: signed})
			}
		}
		if err == nil && mines(now.CurrentAction) {
			err = n.Mine(1)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// With HoldPayouts the network leaves a payout unconfirmed until it is told to mine.
func TestHoldPayouts(t *testing.T) {
	t.Parallel()
	n := swappertest.Start(t, swappertest.Options{HoldPayouts: true})
	c := open(t, n.Config())
	created := trial.Must(c.CreateSwap(t.Context(), in("CITREA-WBTC", "BITCOIN-BTC", 50_000, swapper.ExactIn, n.User.Address("CITREA"), n.User.Address("BITCOIN"))))(t)
	softClaimed := func(s *swapper.GetSwapStatusOutput) bool { return s.State.Name == "SOFT_CLAIMED" }
	followUntil(t, n, c, created.SwapID, ownPayment, softClaimed)
	time.Sleep(1500 * time.Millisecond) // three times as long as the network waits without the option
	status, err := c.GetSwapStatus(t.Context(), swapper.GetSwapStatusInput{SwapID: created.SwapID})
	if err != nil || !softClaimed(status) {
		t.Fatalf("%+v, %v; want SOFT_CLAIMED", status, err)
	}
	followUntil(t, n, c, created.SwapID, func(a swapper.Action) bool { return a == nil }, func(s *swapper.GetSwapStatusOutput) bool { return s.IsSuccess })
}

// A held payment is not given back while the swap waits for a chain that is slow: what was quoted is paid.
func TestFinishKeepsHeldPayments(t *testing.T) {
	t.Parallel()
	n := swappertest.Start(t, swappertest.Options{Hear: true, Solana: swappertest.SolanaOptions{Version: "v2", SlotTime: 100 * time.Millisecond}})
	client := open(t, n.Config())
	before := trial.Must(n.User.Balance(t.Context(), "LIGHTNING-BTC"))(t)
	swap := trial.Must(client.CreateSwap(t.Context(), in("LIGHTNING-BTC", "SOLANA-WBTC", 100_000, swapper.ExactIn, "", n.User.Address("SOLANA"))))(t)
	if status, err := n.User.Finish(t.Context(), client, swap.SwapID); err != nil || !status.IsSuccess {
		t.Fatalf("%v %+v", err, status)
	}
	now := trial.Must(n.User.Balance(t.Context(), "LIGHTNING-BTC"))(t)
	if paid := before.Sub(before, now); paid.Int64() < 100_000 {
		t.Errorf("paid %s, quoted 100000", paid)
	}
}

// A state that a swap has left out is not waited for until patience ends.
func TestFinishUntilIsMissed(t *testing.T) {
	t.Parallel()
	n := swappertest.Start(t, swappertest.Options{Hear: true})
	client := open(t, n.Config())
	swap := trial.Must(client.CreateSwap(t.Context(), in("LIGHTNING-BTC", "CITREA-WBTC", 50_000, swapper.ExactIn, "", n.User.Address("CITREA"))))(t)
	status, err := n.User.FinishUntil(t.Context(), client, swap.SwapID, func(*swapper.GetSwapStatusOutput) bool { return false })
	if err == nil || !strings.Contains(err.Error(), "finished in the state CLAIM_CLAIMED") || status == nil || !status.IsSuccess {
		t.Errorf("%+v, %v", status, err)
	}
}

// The same as in each direction on Solana, with both versions of the swap program, and its money, faults
// and time.
func TestSolana(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1", "v2"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			n := swappertest.Start(t, swappertest.Options{Hear: !trial.Full(), Solana: swappertest.SolanaOptions{Version: version}})
			client := open(t, n.Config())
			to, err := n.NewUser()
			if err != nil {
				t.Fatal(err)
			}
			user := n.User.Address("SOLANA")
			for _, token := range []string{"SOLANA-SOL", "SOLANA-WBTC", "SOLANA-USDC"} {
				trial.Do(t, n.SendTokens(t.Context(), token, to.Address("SOLANA"), big.NewInt(1_000_000)))
				if has, err := to.Balance(t.Context(), token); err != nil || has.Int64() != 1_000_000 {
					t.Errorf("%s: %s, %v", token, has, err)
				}
			}
			for name, err := range map[string]error{
				"receiver": n.SendTokens(t.Context(), "SOLANA-SOL", n.User.Address("CITREA"), big.NewInt(1)),
				"amount":   n.SendTokens(t.Context(), "SOLANA-SOL", user, new(big.Int).Lsh(big.NewInt(1), 64)),
				"token":    n.SendTokens(t.Context(), "SOLANA-BONK", user, big.NewInt(1)),
			} {
				if err == nil {
					t.Errorf("%s: no error", name)
				}
			}
			n.Misbehave(swappertest.NodeFault{Chain: "SOLANA", Status: http.StatusBadGateway})
			if resp, err := http.Post(n.URL("SOLANA"), "application/json", strings.NewReader("{}")); err != nil || resp.StatusCode != http.StatusBadGateway {
				t.Errorf("the node works: %v", err)
			}
			n.Misbehave()
			trial.Do(t, n.Advance(time.Hour))
			for _, test := range []swapper.CreateSwapInput{
				in("SOLANA-SOL", "BITCOIN-BTC", 200_000, swapper.ExactOut, user, to.Address("BITCOIN")),
				in("SOLANA-USDC", "LIGHTNING-BTC", 30_000, swapper.ExactOut, user, to.Invoice(30_000)),
				in("LIGHTNING-BTC", "SOLANA-USDC", 100_000, swapper.ExactIn, "", user),
				in("BITCOIN-BTC", "SOLANA-WBTC", 300_000, swapper.ExactIn, "", user),
			} {
				who, before := to, new(big.Int)
				if test.DstAddress == user {
					who = n.User
					before = trial.Must(who.Balance(t.Context(), test.DstToken))(t)
				}
				swap, err := client.CreateSwap(t.Context(), test)
				if err != nil {
					t.Fatalf("%s to %s: %v", test.SrcToken, test.DstToken, err)
				}
				status, err := n.User.Finish(t.Context(), client, swap.SwapID)
				if err != nil || !status.IsSuccess {
					t.Fatalf("%s to %s: %v %+v", test.SrcToken, test.DstToken, err, status)
				}
				has, err := who.Balance(t.Context(), test.DstToken)
				if want := swap.Quote.OutputAmount.RawAmount; err != nil || has.Sub(has, before).Cmp(want) != 0 {
					t.Errorf("%s to %s: received %s, quoted %s; %v", test.SrcToken, test.DstToken, has, want, err)
				}
			}
		})
	}
}

// What the user signs as a wallet would, by the action alone, is taken on every chain.
func TestSignOnEveryChain(t *testing.T) {
	t.Parallel()
	n := swappertest.Start(t, swappertest.Options{Solana: swappertest.SolanaOptions{Version: "v1"}, Starknet: swappertest.StarknetOptions{On: true}})
	client := open(t, n.Config())
	for _, token := range []string{"CITREA-WBTC", "SOLANA-WBTC", "STARKNET-WBTC"} {
		chain, _, _ := strings.Cut(token, "-")
		swap := trial.Must(client.CreateSwap(t.Context(), in(token, "BITCOIN-BTC", 200_000, swapper.ExactOut, n.User.Address(chain), n.User.Address("BITCOIN"))))(t)
		status := trial.Must(client.GetSwapStatus(t.Context(), swapper.GetSwapStatusInput{SwapID: swap.SwapID}))(t)
		signed, err := n.User.Sign(status.CurrentAction)
		if err != nil {
			t.Fatalf("%s: %v", chain, err)
		}
		if sent, err := client.SubmitTransaction(t.Context(), swapper.SubmitTransactionInput{SwapID: swap.SwapID, SignedTxs: signed}); err != nil || len(sent.TxHashes) != len(signed) {
			t.Errorf("%s: %v, %v", chain, sent, err)
		}
	}
}

// A wallet with keys of its own is given money.
func TestMoney(t *testing.T) {
	t.Parallel()
	n := swappertest.Start(t, swappertest.Options{})
	u := trial.Must(n.NewUser())(t)
	txID, err := n.SendBitcoin(u.Address("BITCOIN"), 70_000)
	if err != nil || len(txID) != 64 {
		t.Fatalf("%q, %v", txID, err)
	}
	trial.Do(t, n.Mine(1))
	for _, token := range []string{"CITREA-CBTC", "CITREA-WBTC", "CITREA-USDC"} {
		if err := n.SendTokens(t.Context(), token, u.Address("CITREA"), big.NewInt(70_000)); err != nil {
			t.Errorf("%s: %v", token, err)
		}
	}
	invoice := u.Invoice(70_000)
	if err := n.Pay(invoice); err != nil {
		t.Error(err)
	}
	for _, token := range []string{"BITCOIN-BTC", "LIGHTNING-BTC", "CITREA-CBTC", "CITREA-WBTC", "CITREA-USDC"} {
		if has, err := u.Balance(t.Context(), token); err != nil || has.Int64() != 70_000 {
			t.Errorf("%s: %s, %v", token, has, err)
		}
	}
	if n.Paid(invoice) {
		t.Error("an invoice of a user is not one of Invoice")
	}
	open := n.Invoice(0)
	if err := n.Pay(open); err == nil {
		t.Error("an invoice without amount was paid")
	}
	fixed := n.Invoice(1000)
	if n.Paid(fixed) || n.Pay(fixed) != nil || !n.Paid(fixed) {
		t.Error("an invoice was not paid")
	}
	for name, err := range map[string]error{
		"address":  second(n.SendBitcoin("tb1q", 1)),
		"token":    n.SendTokens(t.Context(), "CITREA-DOGE", u.Address("CITREA"), big.NewInt(1)),
		"receiver": n.SendTokens(t.Context(), "CITREA-WBTC", "me", big.NewInt(1)),
		"invoice":  n.Pay("lnbcrt1"),
		"balance":  second(u.Balance(t.Context(), "SOLANA-SOL")),
		"action":   second(u.Sign(&swapper.Wait{})),
		"chain":    second(u.Sign(&swapper.SignSmartChainTransaction{Chain: "SOLANA"})),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if u.Address("SOLANA") != "" || n.URL("SOLANA") != "" || u.Address("STARKNET") != "" || n.URL("STARKNET") != "" || n.URL("BITCOIN") == "" || n.URL("CITREA") == "" {
		t.Error("chains")
	}
}

func second[T any](_ T, err error) error { return err }

// A version of the swap program that there is not is refused.
func TestOptions(t *testing.T) {
	t.Parallel()
	if n, err := swappertest.New(t.Context(), swappertest.Options{Solana: swappertest.SolanaOptions{Version: "v3"}}); err == nil {
		_ = n.Close()
		t.Error("v3 is known")
	}
}

// Each fault shows where a wallet backend meets it, and ends when it is over.
func TestFaults(t *testing.T) {
	t.Parallel()
	n := swappertest.Start(t, swappertest.Options{LPs: 2})
	evm := n.User.Address("CITREA")
	fromBitcoin := in("BITCOIN-BTC", "CITREA-WBTC", 300_000, swapper.ExactIn, "", evm)
	toLightning := func() swapper.CreateSwapInput {
		return in("CITREA-WBTC", "LIGHTNING-BTC", 20_000, swapper.ExactOut, evm, n.Invoice(20_000))
	}
	c := n.Config()
	c.LPs.URLs = c.LPs.URLs[:1]
	for _, test := range []struct {
		name  string
		fault swappertest.Fault
		in    swapper.CreateSwapInput
		code  fault.Code // of createSwap; "": it works
	}{
		{"provider is down", swappertest.LPFault{Down: true}, fromBitcoin, fault.Upstream},
		{"provider lies", swappertest.LPFault{Answer: func(path string, answer map[string]any) {
			if data, ok := answer["data"].(map[string]any); ok && strings.Contains(path, "frombtc_spv") {
				data["total"] = "1"
			}
		}}, fromBitcoin, fault.Upstream},
		{"another provider is down", swappertest.LPFault{LP: 1, Down: true}, fromBitcoin, ""},
		{"prices are wrong", swappertest.PriceFault{Percent: 150}, in("LIGHTNING-BTC", "CITREA-USDC", 50_000, swapper.ExactIn, "", evm), fault.Upstream},
		{"service refuses", swappertest.LNURLFault{Refuse: "closed"}, in("CITREA-WBTC", "LIGHTNING-BTC", 20_000, swapper.ExactOut, evm, n.PayLink()), fault.Upstream},
		{"nothing", swappertest.BitcoinFault{}, toLightning(), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			fresh := c
			fresh.Store = new(storage.Memory) // which has not learned from the fault before
			client := open(t, fresh)
			n.Misbehave(test.fault)
			defer n.Misbehave()
			_, err := client.CreateSwap(t.Context(), test.in)
			if test.code == "" && err != nil || test.code != "" && fault.CodeOf(err) != test.code {
				t.Errorf("%v, want code %q", err, test.code)
			}
		})
	}
	for _, part := range []struct {
		fault swappertest.Fault
		name  string
	}{{swappertest.BitcoinFault{Down: true}, "bitcoin"}, {swappertest.NodeFault{Chain: "CITREA", Status: http.StatusBadGateway}, "CITREA"}} {
		t.Run(part.name, func(t *testing.T) {
			client := open(t, n.Config())
			n.Misbehave(part.fault)
			defer n.Misbehave()
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			if _, err := client.Ready(ctx); err == nil || !strings.Contains(err.Error(), part.name) {
				t.Errorf("ready: %v", err)
			}
		})
	}
	t.Run("watchtower is off", func(t *testing.T) {
		client := open(t, c)
		n.Misbehave(swappertest.WatchtowerFault{Off: true})
		defer n.Misbehave()
		swap := trial.Must(client.CreateSwap(t.Context(), in("LIGHTNING-BTC", "CITREA-WBTC", 50_000, swapper.ExactIn, "", evm)))(t)
		manual := false
		status, err := n.User.FinishUntil(t.Context(), client, swap.SwapID, func(s *swapper.GetSwapStatusOutput) bool {
			if a, ok := s.CurrentAction.(*swapper.Wait); ok && a.Name == "Automatic settlement" {
				_ = n.Advance(time.Minute) // until the user may settle
			}
			manual = manual || s.CurrentAction.Type() == "SignSmartChainTransaction"
			return s.IsFinished
		})
		if err != nil || !status.IsSuccess || !manual {
			t.Errorf("settled by the user: %v, %v, %+v", manual, err, status)
		}
	})
	t.Run("recipient is offline", func(t *testing.T) {
		client := open(t, c)
		n.Misbehave(swappertest.LightningFault{Refuse: true})
		defer n.Misbehave()
		swap := trial.Must(client.CreateSwap(t.Context(), toLightning()))(t)
		status, err := n.User.Finish(t.Context(), client, swap.SwapID)
		if err != nil || !status.IsFinished || status.IsSuccess || status.Steps[len(status.Steps)-1].Status != "refunded" {
			t.Errorf("%v %+v", err, status)
		}
	})
}

func TestClockAndBlocks(t *testing.T) {
	t.Parallel()
	n := swappertest.Start(t, swappertest.Options{MineEvery: 10 * time.Millisecond, NextProtocol: true})
	client := open(t, n.Config())
	swap := trial.Must(client.CreateSwap(t.Context(), in("BITCOIN-BTC", "CITREA-WBTC", 300_000, swapper.ExactIn, "", n.User.Address("CITREA"))))(t)
	before := n.Now()
	if err := n.Advance(time.Hour); err != nil || n.Now().Sub(before) < time.Hour {
		t.Errorf("%v after %v, %v", n.Now(), before, err)
	}
	status, err := client.GetSwapStatus(t.Context(), swapper.GetSwapStatusInput{SwapID: swap.SwapID})
	if err != nil || !status.IsExpired {
		t.Errorf("an hour later: %v %+v", err, status)
	}
	height := func() string {
		t.Helper()
		r := trial.Must(http.Get(n.URL("BITCOIN") + "blocks/tip/height"))(t)
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("%s %s %v", r.Status, text, err)
		}
		return string(text)
	}
	first := height()
	for height() == first { // until the test's own deadline
		time.Sleep(5 * time.Millisecond)
	}
	if err := n.Reorg(1); err != nil {
		t.Error(err)
	}
	n.SetFeeRate(33)
	if rates, err := n.Config().Bitcoin.FeeRates(t.Context()); err != nil || rates.Fastest != 33 {
		t.Errorf("%+v, %v", rates, err)
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	n := swappertest.Start(t, swappertest.Options{Hear: true})
	client := open(t, n.Config())
	for _, to := range []string{n.PayLink(), n.LightningAddress()} {
		swap := trial.Must(client.CreateSwap(t.Context(), in("CITREA-WBTC", "LIGHTNING-BTC", 20_000, swapper.ExactOut, n.User.Address("CITREA"), to)))(t)
		status, err := n.User.Finish(t.Context(), client, swap.SwapID)
		if err != nil || !status.IsSuccess || status.LNURL == nil || status.LNURL.SuccessAction == nil {
			t.Errorf("%v %+v", err, status)
		}
	}
	first := trial.Must(n.WithdrawLink())(t)
	if second, err := n.WithdrawLink(); err != nil || second == first {
		t.Errorf("%s again, %v", second, err)
	}
	swap := trial.Must(client.CreateSwap(t.Context(), in("LIGHTNING-BTC", "CITREA-WBTC", 20_000, swapper.ExactIn, first, n.User.Address("CITREA"))))(t)
	if _, err := client.SettleWithLnurl(t.Context(), swapper.SettleWithLnurlInput{SwapID: swap.SwapID}); err != nil {
		t.Fatal(err)
	}
	has := trial.Must(n.User.Balance(t.Context(), "LIGHTNING-BTC"))(t)
	status, err := n.User.Finish(t.Context(), client, swap.SwapID)
	if err != nil || !status.IsSuccess {
		t.Errorf("%v %+v", err, status)
	}
	if rest, err := n.User.Balance(t.Context(), "LIGHTNING-BTC"); err != nil || rest.Cmp(has) != 0 {
		t.Errorf("the link pays, not the user: %s before, %s after, %v", has, rest, err)
	}
}

// Another process is told where everything is, and moves the network.
func TestOtherProcesses(t *testing.T) {
	t.Parallel()
	const wbtc = "0xDF240DC08B0FdaD1d93b74d5048871232f6BEA3d"
	n := swappertest.Start(t, swappertest.Options{
		EVM:    swappertest.EVMOptions{Chain: "GOAT", ChainID: 77, Tokens: map[string]string{"WBTC": wbtc}, BaseFee: 20_000_000, L1FeeRate: 5},
		Listen: swappertest.Listen{Control: "127.0.0.1:0"},
	})
	var text bytes.Buffer
	trial.Do(t, n.Describe(&text))
	var d struct {
		EVM struct {
			Chain   string
			ChainID uint64
			RPC     string
			Tokens  map[string]string
		}
		Bitcoin        struct{ REST string }
		Control, Clock string
	}
	trial.Do(t, json.Unmarshal(text.Bytes(), &d))
	if d.EVM.Chain != "GOAT" || d.EVM.ChainID != 77 || d.EVM.Tokens["WBTC"] != wbtc || d.EVM.RPC != n.URL("GOAT") || d.Bitcoin.REST != n.URL("BITCOIN") {
		t.Errorf("%+v", d)
	}
	before := n.Now()
	r := trial.Must(http.Post(d.Control+"/advance?seconds=3600", "", nil))(t)
	r.Body.Close()
	if r.StatusCode != http.StatusOK || n.Now().Sub(before) < time.Hour || d.Clock != d.Control+"/clock" {
		t.Errorf("%s, %v after %v", r.Status, n.Now(), before)
	}
	if n.User.Address("GOAT") == "" || n.User.Address("CITREA") != "" {
		t.Error("users have their addresses by the chain's identifier")
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]swappertest.Options{
		"token's address": {EVM: swappertest.EVMOptions{Tokens: map[string]string{"WBTC": "0x12"}}},
		"unknown token":   {EVM: swappertest.EVMOptions{Tokens: map[string]string{"DOGE": "0xDF240DC08B0FdaD1d93b74d5048871232f6BEA3d"}}},
		"address":         {Listen: swappertest.Listen{Control: "nowhere:1:2"}},
	} {
		if n, err := swappertest.New(t.Context(), o); err == nil {
			t.Errorf("%s: started", name)
			n.Close()
		}
	}
}

// The same on Starknet, with users whose accounts are not deployed.
func TestStarknet(t *testing.T) {
	t.Parallel()
	n := swappertest.Start(t, swappertest.Options{Hear: !trial.Full(), Starknet: swappertest.StarknetOptions{On: true}})
	client := open(t, n.Config())
	to := trial.Must(n.NewUser())(t)
	user := n.User.Address("STARKNET")
	for token, amount := range map[string]*big.Int{"STARKNET-STRK": new(big.Int).Mul(big.NewInt(5000), big.NewInt(1e18)), "STARKNET-WBTC": big.NewInt(1e8), "STARKNET-USDC": big.NewInt(1e9)} {
		trial.Do(t, n.SendTokens(t.Context(), token, to.Address("STARKNET"), amount))
		if has, err := to.Balance(t.Context(), token); err != nil || has.Cmp(amount) != 0 {
			t.Errorf("%s: %s, %v", token, has, err)
		}
	}
	for name, err := range map[string]error{
		"receiver": n.SendTokens(t.Context(), "STARKNET-STRK", "somebody", big.NewInt(1)),
		"amount":   n.SendTokens(t.Context(), "STARKNET-STRK", user, new(big.Int).Lsh(big.NewInt(1), 256)),
		"token":    n.SendTokens(t.Context(), "STARKNET-ETH", user, big.NewInt(1)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	n.Misbehave(swappertest.NodeFault{Chain: "STARKNET", Status: http.StatusBadGateway})
	if resp, err := http.Post(n.URL("STARKNET"), "application/json", strings.NewReader("{}")); err != nil || resp.StatusCode != http.StatusBadGateway {
		t.Errorf("the node works: %v", err)
	}
	n.Misbehave()
	trial.Do(t, n.Advance(time.Hour))
	for _, test := range []struct {
		swapper.CreateSwapInput
		by, to *swappertest.User
	}{
		{in("STARKNET-STRK", "BITCOIN-BTC", 200_000, swapper.ExactOut, user, to.Address("BITCOIN")), n.User, to},
		{in("STARKNET-USDC", "LIGHTNING-BTC", 30_000, swapper.ExactOut, user, to.Invoice(30_000)), n.User, to},
		{in("STARKNET-WBTC", "BITCOIN-BTC", 100_000, swapper.ExactOut, to.Address("STARKNET"), n.User.Address("BITCOIN")), to, n.User}, // deploys its account
		{in("LIGHTNING-BTC", "STARKNET-WBTC", 100_000, swapper.ExactIn, "", user), n.User, n.User},
		{in("BITCOIN-BTC", "STARKNET-USDC", 300_000, swapper.ExactIn, "", to.Address("STARKNET")), n.User, to},
	} {
		before := trial.Must(test.to.Balance(t.Context(), test.DstToken))(t)
		swap, err := client.CreateSwap(t.Context(), test.CreateSwapInput)
		if err != nil {
			t.Fatalf("%s to %s: %v", test.SrcToken, test.DstToken, err)
		}
		status, err := test.by.Finish(t.Context(), client, swap.SwapID)
		if err != nil || !status.IsSuccess {
			t.Fatalf("%s to %s: %v %+v", test.SrcToken, test.DstToken, err, status)
		}
		has, err := test.to.Balance(t.Context(), test.DstToken)
		if want := swap.Quote.OutputAmount.RawAmount; err != nil || has.Sub(has, before).Cmp(want) != 0 {
			t.Errorf("%s to %s: received %s, quoted %s; %v", test.SrcToken, test.DstToken, has, want, err)
		}
	}
}

// Somebody who has nothing on Solana buys the coins to pay fees with.
func TestGasOnSolana(t *testing.T) {
	t.Parallel()
	n := swappertest.Start(t, swappertest.Options{Solana: swappertest.SolanaOptions{Version: "v1"}})
	client := open(t, n.Config())
	for _, src := range []string{"LIGHTNING-BTC", "BITCOIN-BTC"} {
		to := trial.Must(n.NewUser())(t)
		s, err := client.CreateGasSwap(t.Context(), swapper.CreateGasSwapInput{SrcToken: src, ChainID: "SOLANA", Amount: big.NewInt(50_000_000), DstAddress: to.Address("SOLANA")})
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		status, err := n.User.Finish(t.Context(), client, s.SwapID)
		if err != nil || !status.IsSuccess {
			t.Fatalf("%s: %v %+v", src, err, status)
		}
		if has, err := to.Balance(t.Context(), "SOLANA-SOL"); err != nil || has.Int64() != 50_000_000 {
			t.Errorf("%s: %s, %v", src, has, err)
		}
	}
}
