package console

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
)

// offline is testnet4 on a machine without internet.
type offline struct{ testnet }

func (offline) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("dial tcp: network is unreachable")
}

func (o offline) Config() swapper.Config {
	c := o.testnet.Config()
	c.HTTP, c.LPs.Transport = o, o
	return c
}

func (o offline) run(t *testing.T, args ...string) (string, error) {
	var out strings.Builder
	err := Run(t.Context(), Command{Name: "swap", Args: append([]string{"-dir", t.TempDir()}, args...), In: strings.NewReader(""), Out: &out,
		Getenv: func(string) string { return "" }, Network: o},
		func(ctx context.Context, a *App) error {
			if done, err := a.Resume(ctx, swapper.SwapToBTC); done || err != nil {
				return err
			}
			_, err := a.Client.CreateSwap(ctx, swapper.CreateSwapInput{SrcToken: a.Token, SrcAddress: a.Keys.Address(a.Chain),
				DstToken: "BITCOIN-BTC", DstAddress: a.Keys.Address("BITCOIN"), Amount: a.Amount(), AmountType: swapper.ExactOut})
			return err
		})
	return out.String(), err
}

// Without internet a program says so, in words, after it has shown the wallet.
func TestOffline(t *testing.T) {
	out, err := offline{}.run(t)
	if err == nil || !strings.Contains(explain(err), "Is this machine online?") {
		t.Errorf("offline: %v", err)
	}
	for _, part := range []string{"Wallet on testnet4", "BITCOIN  tb1q", "CITREA   0x", "STARKNET 0x"} {
		if !strings.Contains(out, part) {
			t.Errorf("%q does not have %q", out, part)
		}
	}
}

// An error about what is paid names the flag, and the networks that the address may be of.
func TestWhoIsPaid(t *testing.T) {
	_, err := bitcoin.ParseAddress("tb1qrllwru2yrz89uqq6nua7jpwpz72g4v5hqr3pru", bitcoin.Regtest)
	want := "-to: wrong Bitcoin network: the address is for testnet3 or testnet4 or signet, expected one for regtest"
	if got := explain(fault.Invalid("dstAddress", "%w", err)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Flags that mean nothing are refused before anything is done.
func TestFlags(t *testing.T) {
	for say, args := range map[string][]string{
		`"now" is not a flag`:                        {"now"},
		"-sats must be above 0, not 0":               {"-sats", "0"},
		"leave -network out":                         {"-running", "local.json", "-network", "testnet4"},
		"leave -service out":                         {"-recover", "-service", "https://swaps.example"},
		"-service: ":                                 {"-service", "nowhere"},
		"-chain must be CITREA, SOLANA or STARKNET,": {"-chain", "ethereum"},
		"flag provided but not defined":              {"-amount", "1"},
	} {
		if _, err := (offline{}).run(t, args...); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%q: %v", args, err)
		}
	}
	err := Run(t.Context(), Command{Args: []string{"-network", "mainnet"}, Out: new(strings.Builder)}, nil)
	if err == nil || !strings.Contains(err.Error(), "-network must be testnet4 or local") {
		t.Errorf("another network: %v", err)
	}
}

// refunding is a service with one swap whose refund was signed by an earlier run, and is on
// the chain when the swap has been asked for three times; then it is in the state end.
type refunding struct {
	swapper.Service
	asked int
	steps []swapper.Step
	end   string
}

func (r *refunding) ListPendingSwaps(context.Context, swapper.ListSwapsInput) ([]swapper.ListSwapOutput, error) {
	return []swapper.ListSwapOutput{{SwapOutputBase: swapper.SwapOutputBase{SwapID: "one"}}}, nil
}

func (r *refunding) GetSwapStatus(context.Context, swapper.GetSwapStatusInput) (*swapper.GetSwapStatusOutput, error) {
	r.asked++
	var out swapper.GetSwapStatusOutput
	out.SwapID, out.State.Name, out.IsFinished = "one", "REFUNDABLE", r.asked > 2
	out.Steps = r.steps
	if out.IsFinished {
		out.State.Name = r.end
	}
	return &out, nil
}

// impatient waits for nothing.
type impatient struct{ testnet }

func (impatient) Wait(context.Context, time.Duration) error { return nil }

// A refund that is under way is followed to its end, without a question.
func TestRefundUnderWay(t *testing.T) {
	keys, err := OpenKeys("", filepath.Join(t.TempDir(), "key"), bitcoin.Testnet4)
	if err != nil {
		t.Fatal(err)
	}
	for name, service := range map[string]*refunding{
		"own client":       {steps: []swapper.Step{{Type: "Refund", Status: "awaiting"}}, end: "REFUNDED"},
		"verified service": {end: "REFUNDED"},
		"own nodes see it before the service does": {end: "REFUNDABLE"},
	} {
		var out strings.Builder
		a := &App{Options: Options{Chain: "CITREA"}, Client: service, Keys: keys, Network: impatient{}, out: &out, in: bufio.NewReader(strings.NewReader(""))}
		if err := a.refundAll(t.Context()); err != nil || !strings.Contains(out.String(), "The swap has ended as REFUNDED") || strings.Contains(out.String(), "?") {
			t.Errorf("%s: %v\n%s", name, err, out.String())
		}
	}
}

// moved is a service whose contract refuses what is signed so many times, since the chain has
// moved since the action was built.
type moved struct {
	swapper.Service
	keys     *Keys
	refusals int
	ended    bool
}

func (m *moved) GetSwapStatus(context.Context, swapper.GetSwapStatusInput) (*swapper.GetSwapStatusOutput, error) {
	var out swapper.GetSwapStatusOutput
	out.CurrentAction = &swapper.SignSmartChainTransaction{Chain: "SOLANA", RequiredSigner: m.keys.Address("SOLANA")}
	out.IsFinished, out.IsSuccess = m.ended, m.ended
	return &out, nil
}

func (m *moved) SubmitTransaction(context.Context, swapper.SubmitTransactionInput) (*swapper.SubmitTransactionOutput, error) {
	if m.refusals--; m.refusals >= 0 {
		return nil, fault.New(fault.InvalidState, "the program would refuse the transaction now")
	}
	m.ended = true
	return &swapper.SubmitTransactionOutput{}, nil
}

// A signature that comes too late is asked for again, but not for ever.
func TestSignedTooLate(t *testing.T) {
	keys, err := OpenKeys("", filepath.Join(t.TempDir(), "key"), bitcoin.Testnet4)
	if err != nil {
		t.Fatal(err)
	}
	for refusals, settles := range map[int]bool{2: true, 3: false} {
		var out strings.Builder
		a := &App{Client: &moved{keys: keys, refusals: refusals}, Keys: keys, Network: impatient{}, out: &out}
		if err := a.Follow(t.Context(), "one"); (err == nil) != settles || !strings.Contains(out.String(), "not yet possible: ") {
			t.Errorf("%d refusals: %v\n%s", refusals, err, out.String())
		}
	}
}

// The first argument names the program.
func TestWhichProgram(t *testing.T) {
	ran := ""
	programs := map[string]Program{
		"tobtc":   func(context.Context, *App) error { ran = "tobtc"; return nil },
		"frombtc": func(context.Context, *App) error { ran = "frombtc"; return nil },
	}
	for _, c := range []struct {
		args []string
		want string // in the error
	}{
		{nil, "the first argument must be one of frombtc, tobtc"},
		{[]string{"-yes"}, "flag provided but not defined: -yes"},
		{[]string{"-help"}, "help requested"},
		{[]string{"bridge", "-yes"}, `"bridge" is not a program`},
		{[]string{"tobtc", "-dir", t.TempDir()}, ""},
	} {
		err := choose(t.Context(), Command{Name: "testnet4", Args: c.args, In: strings.NewReader(""), Out: new(strings.Builder), Getenv: func(string) string { return "" }, Network: offline{}}, programs)
		_, misused := errors.AsType[misuse](err)
		if c.want == "" && (err != nil || ran != "tobtc") || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !misused) {
			t.Errorf("%q: ran %q, %v, want %q", c.args, ran, err, c.want)
		}
	}
}
