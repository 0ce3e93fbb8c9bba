package e2e

import (
	"slices"

	"github.com/swapper-go/swapper"
)

// sight is how a state is shown, by the pages' tables (protocol:
// swap-flows-escrow.md §4.1, §4.3, §6.1, §6.5, §7.1, §7.6, §8.1, §8.6, swap-flows-spv-and-core.md A2, A8).
type sight struct {
	number                             int
	finished, success, failed, expired bool
	hidden, pending                    bool // in no list; in the list of pending swaps
	steps                              []string
	action                             string // "" is none
}

var (
	outgoingSights = map[string]sight{
		"REFUNDED":           {number: -3, finished: true, failed: true, steps: steps("confirmed", "expired", "refunded")},
		"QUOTE_EXPIRED":      {number: -2, finished: true, expired: true, hidden: true, steps: steps("expired", "inactive", "inactive")},
		"QUOTE_SOFT_EXPIRED": {number: -1, pending: true, steps: steps("soft_expired", "inactive", "inactive")}, // was open once
		"CREATED":            {number: 0, pending: true, steps: steps("awaiting", "inactive", "inactive"), action: "Initiate swap"},
		"COMMITED":           {number: 1, pending: true, steps: steps("confirmed", "waiting_lp", "inactive"), action: "Awaiting LP payout"},
		"SOFT_CLAIMED":       {number: 2, pending: true, steps: steps("confirmed", "soft_settled", "inactive")},
		"CLAIMED":            {number: 3, finished: true, success: true, steps: steps("confirmed", "settled", "inactive")},
		"REFUNDABLE":         {number: 4, pending: true, steps: steps("confirmed", "expired", "awaiting"), action: "Refund"},
	}
	autoSights = map[string]sight{
		"FAILED":             {number: -4, finished: true, failed: true, steps: steps("expired", "expired")},
		"QUOTE_EXPIRED":      {number: -3, finished: true, expired: true, hidden: true, steps: steps("expired", "inactive")},
		"QUOTE_SOFT_EXPIRED": {number: -2, finished: true, expired: true, steps: steps("soft_expired", "inactive")},
		"EXPIRED":            {number: -1, failed: true, pending: true, steps: steps("expired", "expired")},
		"PR_CREATED":         {number: 0, pending: true, steps: steps("awaiting", "inactive"), action: "Deposit on Lightning"},
		"PR_PAID":            {number: 1, pending: true, steps: steps("received", "waiting_lp"), action: "Awaiting LP payout"},
		"CLAIM_COMMITED":     {number: 2, pending: true, steps: steps("received", "awaiting_automatic"), action: "Automatic settlement"},
		"CLAIM_CLAIMED":      {number: 3, finished: true, success: true, steps: steps("confirmed", "settled")},
	}
	vaultSights = map[string]sight{
		"FAILED":             {number: -4, finished: true, failed: true, steps: steps("expired", "inactive")},
		"DECLINED":           {number: -3, finished: true, failed: true, steps: steps("expired", "inactive")},
		"QUOTE_EXPIRED":      {number: -2, finished: true, expired: true, hidden: true, steps: steps("expired", "inactive")},
		"QUOTE_SOFT_EXPIRED": {number: -1, pending: true, steps: steps("soft_expired", "inactive")}, // was posted
		"CREATED":            {number: 0, pending: true, steps: steps("awaiting", "inactive"), action: "Deposit on Bitcoin"},
		"SIGNED":             {number: 1, pending: true, steps: steps("awaiting", "inactive"), action: "Bitcoin confirmations"},
		"POSTED":             {number: 2, pending: true, steps: steps("awaiting", "inactive"), action: "Bitcoin confirmations"},
		"BROADCASTED":        {number: 3, pending: true, steps: steps("received", "inactive"), action: "Bitcoin confirmations"},
		"BTC_TX_CONFIRMED":   {number: 5, pending: true, steps: steps("confirmed", "awaiting_automatic"), action: "Automatic settlement"},
		"CLAIMED":            {number: 6, finished: true, success: true, steps: steps("confirmed", "settled")},
	}
	fromBTCSights = map[string]sight{
		"FAILED":             {number: -4, finished: true, failed: true, steps: steps("completed", "expired", "expired")},
		"EXPIRED":            {number: -3, failed: true, pending: true, steps: steps("completed", "soft_expired", "inactive")},
		"QUOTE_EXPIRED":      {number: -2, finished: true, expired: true, hidden: true, steps: steps("expired", "inactive", "inactive")},
		"QUOTE_SOFT_EXPIRED": {number: -1, pending: true, steps: steps("soft_expired", "inactive", "inactive")},
		"PR_CREATED":         {number: 0, pending: true, steps: steps("awaiting", "inactive", "inactive"), action: "Initiate swap"},
		"CLAIM_COMMITED":     {number: 1, pending: true, steps: steps("completed", "awaiting", "inactive"), action: "Deposit on Bitcoin"},
		"BTC_TX_CONFIRMED":   {number: 2, pending: true, steps: steps("completed", "confirmed", "awaiting_automatic"), action: "Automatic settlement"},
		"CLAIM_CLAIMED":      {number: 3, finished: true, success: true, steps: steps("completed", "confirmed", "settled")},
	}
	fromBTCLNSights = map[string]sight{
		"FAILED":             {number: -4, finished: true, failed: true, steps: steps("expired", "expired")},
		"QUOTE_EXPIRED":      {number: -3, finished: true, expired: true, hidden: true, steps: steps("expired", "inactive")}, // unpaid
		"QUOTE_SOFT_EXPIRED": {number: -2, finished: true, expired: true, steps: steps("soft_expired", "inactive")},          // unpaid
		"EXPIRED":            {number: -1, failed: true, pending: true, steps: steps("expired", "expired")},
		"PR_CREATED":         {number: 0, pending: true, steps: steps("awaiting", "inactive"), action: "Deposit on Lightning"},
		"PR_PAID":            {number: 1, pending: true, steps: steps("received", "awaiting_manual"), action: "Settle manually"},
		"CLAIM_COMMITED":     {number: 2, pending: true, steps: steps("received", "awaiting_manual"), action: "Settle manually"},
		"CLAIM_CLAIMED":      {number: 3, finished: true, success: true, steps: steps("confirmed", "settled")},
	}
	sights = map[swapper.SwapType]map[string]sight{
		swapper.SwapFromBTC: fromBTCSights, swapper.SwapFromBTCLN: fromBTCLNSights,
		swapper.SwapToBTC: outgoingSights, swapper.SwapToBTCLN: outgoingSights, swapper.SwapFromBTCLNAuto: autoSights, swapper.SwapSPVVaultFromBTC: vaultSights,
	}
)

func steps(all ...string) []string { return all }

func nameOf(a swapper.Action) string {
	switch a := a.(type) {
	case *swapper.SendToAddress:
		return a.Name
	case *swapper.SignPSBT:
		return a.Name
	case *swapper.SignSmartChainTransaction:
		return a.Name
	case *swapper.Wait:
		return a.Name
	}
	return ""
}

// asksFor is the action of a swap, or nil if it is of another type than T.
func asksFor[T swapper.Action](s *swapper.GetSwapStatusOutput) T {
	a, _ := s.CurrentAction.(T)
	return a
}

// shown checks that a swap is in a state, and shown as the tables say: number,
// name, flags, steps, action, and the lists of the user.
func (w *world) shown(s *swapper.GetSwapStatusOutput, name string) {
	w.t.Helper()
	want, ok := sights[s.SwapType][name]
	if !ok {
		w.t.Fatalf("%s has no state %s", s.SwapType, name)
	}
	if s.State.Name != name || s.State.Number != want.number {
		w.t.Fatalf("is %s (%d), want %s (%d); %+v", s.State.Name, s.State.Number, name, want.number, s.ActionError)
	}
	if s.IsFinished != want.finished || s.IsSuccess != want.success || s.IsFailed != want.failed || s.IsExpired != want.expired {
		w.t.Errorf("%s: finished %t, success %t, failed %t, expired %t", name, s.IsFinished, s.IsSuccess, s.IsFailed, s.IsExpired)
	}
	w.steps(s, want.steps...)
	if got := nameOf(s.CurrentAction); got != want.action || s.ActionError != nil {
		w.t.Errorf("%s: asks for %q (%+v), want %q", name, got, s.ActionError, want.action)
	}
	w.inLists(s, name, !want.hidden, want.pending)
}

func (w *world) steps(s *swapper.GetSwapStatusOutput, want ...string) {
	w.t.Helper()
	var got []string
	for _, step := range s.Steps {
		got = append(got, step.Status)
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("%s: steps are %v, want %v", s.State.Name, got, want)
	}
}

// inLists checks in which lists a swap is, and with which state.
func (w *world) inLists(s *swapper.GetSwapStatusOutput, name string, listed, pending bool) {
	w.t.Helper()
	owner := w.address()
	if s.SwapType != swapper.SwapToBTC && s.SwapType != swapper.SwapToBTCLN {
		owner = s.Quote.OutputAddress
	}
	for _, l := range []struct {
		name string
		list func() ([]swapper.ListSwapOutput, error)
		want bool
	}{
		{"swaps", func() ([]swapper.ListSwapOutput, error) {
			return w.client.ListSwaps(w.t.Context(), swapper.ListSwapsInput{Signer: owner})
		}, listed},
		{"pending swaps", func() ([]swapper.ListSwapOutput, error) {
			return w.client.ListPendingSwaps(w.t.Context(), swapper.ListSwapsInput{Signer: owner})
		}, pending},
	} {
		all, err := l.list()
		if err != nil {
			w.t.Fatal(err)
		}
		i := slices.IndexFunc(all, func(other swapper.ListSwapOutput) bool { return other.SwapID == s.SwapID })
		if i >= 0 != l.want {
			w.t.Errorf("%s: among the %s: %t, want %t", name, l.name, i >= 0, l.want)
		} else if i >= 0 && all[i].State.Name != name {
			w.t.Errorf("among the %s it is %s, want %s", l.name, all[i].State.Name, name)
		}
	}
}

// reached looks on until a swap is in a state, which must be shown as the tables say.
func (w *world) reached(id, name string) *swapper.GetSwapStatusOutput {
	w.t.Helper()
	s := w.watch(id, is(name))
	w.shown(s, name)
	return s
}

// ended lets the user do everything until the swap is over, as it must be. A quote
// is over for its user before it has expired for good.
func (w *world) ended(id, name string) *swapper.GetSwapStatusOutput {
	w.t.Helper()
	var done func(*swapper.GetSwapStatusOutput) bool
	if name == "QUOTE_EXPIRED" {
		done = is(name)
	}
	s := w.until(id, done)
	w.shown(s, name)
	return s
}

// is reports whether a swap is in a state.
func is(name string) func(*swapper.GetSwapStatusOutput) bool {
	return func(s *swapper.GetSwapStatusOutput) bool { return s.State.Name == name }
}
