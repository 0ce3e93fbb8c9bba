package swapper

import (
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/tokens"
)

// What changed is found in the store, by when it changed, whoever was subscribed.
func TestChanges(t *testing.T) {
	t.Parallel()
	h := newHonest(t, one())
	address := h.net.EVM.User.Address.Hex()
	begun := h.config.Now()
	var ids []string
	for range 3 {
		s := trial.Must(h.CreateSwap(t.Context(), CreateSwapInput{SrcToken: "BITCOIN-BTC", DstToken: "CITREA-CBTC", Amount: big.NewInt(100_000), AmountType: ExactIn, DstAddress: address}))(t)
		ids = append(ids, s.SwapID)
		time.Sleep(2 * time.Millisecond)
	}
	accounts, err := h.Accounts(strings.ToLower(address), "")
	if err != nil || len(accounts) != 1 || accounts[0].Chain != "CITREA" || !strings.EqualFold(accounts[0].Signer, address) {
		t.Fatalf("%v %v", accounts, err)
	}
	collect := func(of Account, since time.Time) (all []Change) {
		for c, err := range h.Changes(t.Context(), of, since) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
		}
		return all
	}
	named := func(all []Change) (ids []string) {
		for _, c := range all {
			ids = append(ids, c.Swap.SwapID)
		}
		return ids
	}
	all := collect(Account{}, time.Time{})
	if !slices.Equal(named(all), ids) || !slices.Equal(named(collect(accounts[0], begun)), ids) {
		t.Fatalf("%v, want %v", named(all), ids)
	}
	for _, c := range all {
		if c.Version != 1 || c.Account != accounts[0] || c.At.Before(begun.Truncate(time.Millisecond)) || c.From != c.Swap.State.Number {
			t.Errorf("%+v", c)
		}
	}
	if got := named(collect(Account{}, all[1].At.Time)); !slices.Equal(got, ids[1:]) {
		t.Errorf("%v since the second", got)
	}
	if got := collect(Account{Chain: "CITREA", Signer: "0x0000000000000000000000000000000000000001"}, time.Time{}); len(got) != 0 {
		t.Errorf("somebody else's: %v", named(got))
	}
	for range h.Changes(t.Context(), Account{}, time.Time{}) {
		break // which ends it
	}

	if told, err := h.Progress(t.Context(), ids[1]); err != nil || len(told.Fingerprint()) != 16 {
		t.Errorf("%v %v", told, err)
	}
	told := trial.Must(h.Progress(t.Context(), ids[0]))(t)
	if _, funds := told.Status.CurrentAction.(*SignPSBT); told.Status.SwapID != ids[0] || told.Account != accounts[0] || told.Version == 0 || !funds {
		t.Errorf("%+v", told)
	}
	for in, field := range map[[2]string]string{{"nobody", ""}: "signer", {address, "MOON"}: "chainId", {"", ""}: "signer"} {
		_, err := h.Accounts(in[0], in[1])
		if e, ok := errors.AsType[*fault.Error](err); !ok || e.Code != fault.InvalidInput || e.Field != field {
			t.Errorf("%v: %v", in, err)
		}
	}
	if _, err := h.Progress(t.Context(), ""); fault.CodeOf(err) != fault.InvalidInput {
		t.Error(err)
	}
	for _, id := range []string{"nothing", "\x00webhook\x00shop"} {
		if _, err := h.Progress(t.Context(), id); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// Two statuses in which a user sees no difference have the same fingerprint.
func TestFingerprint(t *testing.T) {
	amount := AmountOf(tokens.NewAmount(big.NewInt(1), tokens.Token{Chain: tokens.Bitcoin, Ticker: "BTC"}))
	with := func(change func(*GetSwapStatusOutput)) string {
		s := &GetSwapStatusOutput{}
		s.SwapID, s.State.Name, s.Quote.InputAmount = "one", "CREATED", amount
		s.Steps = []Step{{Type: stepPayment, Confirmations: &Confirmations{Current: 1, Target: 3, ETA: 10 * time.Minute}}}
		change(s)
		f := (&Progress{Status: s}).Fingerprint()
		if len(f) != 16 || f != (&Progress{Status: s, Version: 9, At: Timestamp{time.UnixMilli(9)}}).Fingerprint() {
			t.Errorf("fingerprint %q", f)
		}
		return f
	}
	sign := func(tx, name string) func(*GetSwapStatusOutput) {
		return func(s *GetSwapStatusOutput) {
			s.CurrentAction = &SignSmartChainTransaction{Name: name, Txs: []string{tx}}
		}
	}
	psbt := func(rate float64) func(*GetSwapStatusOutput) {
		return func(s *GetSwapStatusOutput) {
			s.CurrentAction = &SignPSBT{Name: "Deposit on Bitcoin", Funded: []FundedPSBT{{PSBTHex: "70", FeeRate: rate}}}
		}
	}
	wait := func(expected time.Duration) func(*GetSwapStatusOutput) {
		return func(s *GetSwapStatusOutput) {
			s.CurrentAction = &Wait{Name: "Bitcoin confirmations", ExpectedTime: expected}
		}
	}
	step := func(n int, eta time.Duration) func(*GetSwapStatusOutput) {
		return func(s *GetSwapStatusOutput) {
			s.Steps[0].Confirmations = &Confirmations{Current: n, Target: 3, ETA: eta}
		}
	}
	for name, same := range map[string][2]func(*GetSwapStatusOutput){
		"transactions":  {sign("a", "Refund"), sign("b", "Refund")},
		"fee rate":      {psbt(1), psbt(2)},
		"expected time": {wait(1), wait(2)},
		"ETA":           {step(1, 10*time.Minute), step(1, -1)},
	} {
		if with(same[0]) != with(same[1]) {
			t.Errorf("%s makes a difference", name)
		}
	}
	seen := map[string]int{}
	for i, change := range []func(*GetSwapStatusOutput){func(*GetSwapStatusOutput) {}, sign("a", "Refund"), sign("a", "Settle manually"), psbt(1), wait(1), step(2, 10*time.Minute),
		func(s *GetSwapStatusOutput) { s.IsFinished = true }, func(s *GetSwapStatusOutput) { s.SwapID = "two" },
		func(s *GetSwapStatusOutput) { s.ActionError = &ActionError{Code: fault.Upstream, Error: "away"} }} {
		f := with(change)
		if before, ok := seen[f]; ok {
			t.Errorf("%d looks like %d", i, before)
		}
		seen[f] = i
	}
}
