package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// stage is how the service shows a swap in one state, and what the page has to make of it.
type stage struct {
	name    string
	state   string // its name in docs/states
	steps   string // the statuses of the steps, in their order
	seen    [2]int // confirmations, and those that are wanted
	action  string // quote: what the quote asks for; pay, claim, refund; what is waited for; "" is nothing
	code    string // of the fault
	fault   string // why there is no action
	phase   string
	title   string // is in the title
	nothing string // must not be said
}

const (
	confirming = "Bitcoin confirmations"
	settling   = "Automatic settlement"
	paying     = "Awaiting LP payout"
	silence    = "lp: EOF"
	returning  = "the provider has not authorized an early refund; without it, the refund is possible from 2031-02-03T04:05:06Z"
)

// outgoing are the stages of swaps from a smart chain.
func outgoing(created ...stage) []stage {
	return append([]stage{
		{name: "quote", state: "CREATED", steps: "awaiting inactive inactive", action: "quote", phase: "sign", title: "Pay "},
		{name: "signed", state: "CREATED", steps: "awaiting inactive inactive", phase: "progress", title: "Sent"},
		{name: "late", state: "QUOTE_SOFT_EXPIRED", steps: "soft_expired inactive inactive", phase: "late", title: "The quote has expired"},
		{name: "expired", state: "QUOTE_EXPIRED", steps: "expired inactive inactive", phase: "expired", title: "The quote has expired"},
		{name: "under way", state: "COMMITED", steps: "confirmed waiting_lp inactive", action: paying, phase: "progress", title: "is on its way"},
		{name: "silent", state: "COMMITED", steps: "confirmed waiting_lp inactive", action: paying, code: "upstream", fault: silence, phase: "progress", title: "is on its way"},
		{name: "paid out", state: "SOFT_CLAIMED", steps: "confirmed soft_settled inactive", phase: "progress", title: " paid out"},
		{name: "received", state: "CLAIMED", steps: "confirmed settled inactive", phase: "received", title: " received"},
		{name: "refund", state: "REFUNDABLE", steps: "confirmed expired awaiting", action: "refund", phase: "refund", title: "Take your money back"},
		{name: "refund later", state: "REFUNDABLE", steps: "confirmed expired awaiting", action: paying, code: "upstream", fault: returning, phase: "progress", title: " comes back"},
		{name: "refunding", state: "REFUNDABLE", steps: "confirmed expired awaiting", phase: "progress", title: " comes back", nothing: "is on its way; the payout"},
		{name: "refunded", state: "REFUNDED", steps: "confirmed expired refunded", phase: "refunded", title: "Your money is back"},
	}, created...)
}

// stages are the states of each type of swap, and more than one of those that are shown in several ways.
var stages = map[string][]stage{
	"TO_BTC": outgoing(),
	"TO_BTCLN": outgoing(stage{name: "paid elsewhere", state: "CREATED", steps: "awaiting inactive inactive", code: "invalid_state",
		fault: "another swap is paying or has paid this invoice; paying it twice would lose one payment", phase: "late", title: "cannot be paid any more"}),
	"FROM_BTC": {
		{name: "quote", state: "PR_CREATED", steps: "awaiting inactive inactive", action: "quote", phase: "sign", title: "Pay "},
		{name: "signed", state: "PR_CREATED", steps: "awaiting inactive inactive", phase: "progress", title: "Sent"},
		{name: "late", state: "QUOTE_SOFT_EXPIRED", steps: "soft_expired inactive inactive", phase: "late", title: "The quote has expired"},
		{name: "expired", state: "QUOTE_EXPIRED", steps: "expired inactive inactive", phase: "expired", title: "The quote has expired"},
		{name: "opened", state: "CLAIM_COMMITED", steps: "completed awaiting inactive", action: confirming, phase: "progress", title: "The swap is opened"},
		{name: "silent", state: "CLAIM_COMMITED", steps: "completed awaiting inactive", code: "upstream", fault: "the chain or the Bitcoin backend is not responding; do not pay until it is known that the escrow is open and was not paid yet", phase: "progress", title: "The swap is opened"},
		{name: "deposit", state: "CLAIM_COMMITED", steps: "completed awaiting inactive", action: "pay", phase: "deposit", title: "Send "},
		{name: "seen", state: "CLAIM_COMMITED", steps: "completed received inactive", seen: [2]int{0, 3}, action: confirming, phase: "progress", title: " seen on Bitcoin"},
		{name: "confirmations", state: "CLAIM_COMMITED", steps: "completed received inactive", seen: [2]int{2, 3}, action: confirming, phase: "progress", title: " seen on Bitcoin"},
		{name: "too late", state: "EXPIRED", steps: "completed soft_expired inactive", phase: "over", title: "Too late to pay"},
		{name: "seen late", state: "EXPIRED", steps: "completed received inactive", seen: [2]int{1, 3}, action: confirming, phase: "progress", title: " seen on Bitcoin"},
		{name: "confirmed", state: "BTC_TX_CONFIRMED", steps: "completed confirmed awaiting_automatic", seen: [2]int{3, 3}, action: settling, phase: "progress", title: "is on its way"},
		{name: "claim", state: "BTC_TX_CONFIRMED", steps: "completed confirmed awaiting_manual", seen: [2]int{3, 3}, action: "claim", phase: "claim", title: "Claim "},
		{name: "claiming", state: "BTC_TX_CONFIRMED", steps: "completed confirmed awaiting_manual", seen: [2]int{3, 3}, phase: "progress", title: "is on its way"},
		{name: "received", state: "CLAIM_CLAIMED", steps: "completed confirmed settled", seen: [2]int{3, 3}, phase: "received", title: " received"},
		{name: "failed", state: "FAILED", steps: "completed expired expired", phase: "failed", title: "The swap was not completed"},
		{name: "failed paid", state: "FAILED", steps: "completed received expired", seen: [2]int{1, 3}, code: "invalid_state",
			fault: "the provider took the escrow back before the payment was proven; only the provider can return the payment", phase: "failed", title: "The swap was not completed"},
	},
	"FROM_BTCLN": append(lightning(),
		stage{name: "paid late", state: "QUOTE_SOFT_EXPIRED", steps: "received soft_expired", phase: "over", title: "Too late to claim"},
		stage{name: "returned", state: "QUOTE_EXPIRED", steps: "expired expired", phase: "expired", title: "The quote has expired", nothing: "No money moved"},
		stage{name: "claim", state: "PR_PAID", steps: "received awaiting_manual", action: "claim", phase: "claim", title: "Claim "},
		stage{name: "claiming", state: "PR_PAID", steps: "received awaiting_manual", phase: "progress", title: "is on its way"},
		stage{name: "too late to open", state: "PR_PAID", steps: "received awaiting_manual", code: "invalid_state",
			fault: "too little time is left to open the escrow and to claim it safely; the payment is returned to the payer", phase: "over", title: "Too late to claim"},
		stage{name: "open", state: "CLAIM_COMMITED", steps: "received awaiting_manual", action: settling, phase: "progress", title: "is on its way"},
		stage{name: "last chance", state: "EXPIRED", steps: "expired expired", action: "claim", phase: "claim", title: "Last chance to claim ", nothing: "Do not wait"},
		stage{name: "too late", state: "EXPIRED", steps: "expired expired", phase: "over", title: "Too late to claim"}),
	"FROM_BTCLN_AUTO": append(lightning(),
		stage{name: "opening", state: "PR_PAID", steps: "received waiting_lp", action: paying, phase: "progress", title: "is on its way"},
		stage{name: "open", state: "CLAIM_COMMITED", steps: "received awaiting_automatic", action: settling, phase: "progress", title: "is on its way"},
		stage{name: "claim", state: "CLAIM_COMMITED", steps: "received awaiting_manual", action: "claim", phase: "claim", title: "Claim "},
		stage{name: "too late", state: "EXPIRED", steps: "expired expired", phase: "over", title: "Too late to claim"}),
	"SPV_VAULT_FROM_BTC": {
		{name: "quote", state: "CREATED", steps: "awaiting inactive", action: "quote", phase: "sign", title: "Pay "},
		{name: "taken", state: "CREATED", steps: "awaiting inactive", code: "invalid_state",
			fault: "the output of the vault that this quote is for is already spent, by another swap most likely; create a new swap", phase: "late", title: "cannot be paid any more", nothing: "output"},
		{name: "late", state: "QUOTE_SOFT_EXPIRED", steps: "soft_expired inactive", phase: "late", title: "The quote has expired"},
		{name: "expired", state: "QUOTE_EXPIRED", steps: "expired inactive", phase: "expired", title: "The quote has expired"},
		{name: "signed", state: "SIGNED", steps: "awaiting inactive", action: confirming, phase: "progress", title: "Sent"},
		{name: "posted", state: "POSTED", steps: "awaiting inactive", action: confirming, phase: "progress", title: "Sent"},
		{name: "seen", state: "BROADCASTED", steps: "received inactive", seen: [2]int{0, 1}, action: confirming, phase: "progress", title: " seen on Bitcoin"},
		{name: "confirmations", state: "BROADCASTED", steps: "received inactive", seen: [2]int{1, 2}, action: confirming, phase: "progress", title: " seen on Bitcoin"},
		{name: "advanced", state: "FRONTED", steps: "received settled", seen: [2]int{1, 2}, phase: "received", title: " received"},
		{name: "confirmed", state: "BTC_TX_CONFIRMED", steps: "confirmed awaiting_automatic", seen: [2]int{2, 2}, action: settling, phase: "progress", title: "is on its way"},
		{name: "claim", state: "BTC_TX_CONFIRMED", steps: "confirmed awaiting_manual", seen: [2]int{2, 2}, action: "claim", phase: "claim", title: "Claim "},
		{name: "claiming", state: "BTC_TX_CONFIRMED", steps: "confirmed awaiting_manual", seen: [2]int{2, 2}, phase: "progress", title: "is on its way"},
		{name: "received", state: "CLAIMED", steps: "confirmed settled", seen: [2]int{2, 2}, phase: "received", title: " received"},
		{name: "closed", state: "CLOSED", steps: "confirmed expired", seen: [2]int{2, 2}, phase: "failed", title: "The swap was not completed"},
		{name: "failed", state: "FAILED", steps: "expired inactive", phase: "failed", title: "The swap was not completed", nothing: "No money moved"},
		{name: "declined", state: "DECLINED", steps: "expired inactive", phase: "failed", title: "The swap was not completed", nothing: "No money moved"},
	},
}

// lightning are the stages that both types of swaps from Lightning have.
func lightning() []stage {
	return []stage{
		{name: "quote", state: "PR_CREATED", steps: "awaiting inactive", action: "quote", phase: "deposit", title: "Pay "},
		{name: "cancelled", state: "PR_CREATED", steps: "awaiting inactive", code: "invalid_state",
			fault: "the provider takes no payment for this swap any more, because it has cancelled the swap or does not know it; create a new swap", phase: "late", title: "cannot be paid any more"},
		{name: "late", state: "QUOTE_SOFT_EXPIRED", steps: "soft_expired inactive", phase: "late", title: "The quote has expired"},
		{name: "expired", state: "QUOTE_EXPIRED", steps: "expired inactive", phase: "expired", title: "The quote has expired"},
		{name: "not final", state: "CLAIM_COMMITED", steps: "received awaiting_manual", action: settling, code: "invalid_state",
			fault: "the escrow is not final yet; the preimage is withheld until it is", phase: "progress", title: "is on its way"},
		{name: "received", state: "CLAIM_CLAIMED", steps: "confirmed settled", phase: "received", title: " received"},
		{name: "failed", state: "FAILED", steps: "expired expired", phase: "failed", title: "The swap was not completed"},
	}
}

// row matches a state in a table of docs/states.
var row = regexp.MustCompile(`(?m)^\| (-?\d+) \| (\w+) \| ([^|]+) \| (yes)? ?\| (yes)? ?\| (yes)? ?\|`)

// rows are the states of a type of swap, as docs/states lists them.
func rows(t *testing.T, kind string) map[string]map[string]any {
	t.Helper()
	text, err := os.ReadFile("../../docs/states/" + kind + ".md")
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]map[string]any)
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		all[m[2]] = map[string]any{"state": map[string]any{"number": 0, "name": m[2], "description": m[3]}, "isFinished": m[4] != "", "isSuccess": m[5] != "", "isFailed": m[6] != "", "isExpired": m[2] == "QUOTE_EXPIRED"}
	}
	return all
}

// Every state that a swap can be in is among those that the walk shows, with what the library says of it.
func TestStagesAreComplete(t *testing.T) {
	var library strings.Builder
	files, err := filepath.Glob("../../internal/swap/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		library.Write(text)
	}
	for kind, all := range stages {
		missing := rows(t, kind)
		if len(missing) < 8 {
			t.Errorf("%s has the states %v", kind, missing)
		}
		for _, s := range all {
			if rows(t, kind)[s.state] == nil {
				t.Errorf("%s: %s is in no state of docs/states", kind, s.name)
			}
			if fault, _, _ := strings.Cut(s.fault, " 2031-"); fault != silence && !strings.Contains(library.String(), fault) {
				t.Errorf("%s: the library does not say %q", kind, fault)
			}
			delete(missing, s.state)
		}
		for state := range missing {
			t.Errorf("%s: %s is not shown", kind, state)
		}
	}
}

// at is the status of a swap, which was just created, in a stage.
func (s stage) at(t *testing.T, created map[string]any, id string) map[string]any {
	t.Helper()
	status := maps.Clone(created)
	flags := rows(t, created["swapType"].(string))[s.state]
	maps.Copy(status, flags)
	status["swapId"] = id
	statuses := strings.Fields(s.steps)
	var steps []any
	for i, step := range created["steps"].([]any) {
		one := maps.Clone(step.(map[string]any))
		one["status"] = statuses[i]
		tx := strings.Repeat(fmt.Sprintf("%02x", 0xa0+i), 32)
		switch one["type"] {
		case "Payment":
			if s.seen[1] > 0 {
				one["confirmations"] = map[string]any{"current": s.seen[0], "target": s.seen[1], "etaSeconds": 600 * (s.seen[1] - s.seen[0])}
			}
			if statuses[i] == "received" || statuses[i] == "confirmed" {
				one["initTxId"] = tx
			}
		case "Settlement":
			if statuses[i] == "settled" || statuses[i] == "soft_settled" {
				one["settleTxId"] = tx
			}
		case "Refund":
			if statuses[i] == "refunded" {
				one["refundTxId"] = tx
			}
		}
		steps = append(steps, one)
	}
	status["steps"] = steps
	if s.action != "quote" {
		status["currentAction"] = s.asks(created)
	}
	delete(status, "actionError")
	if s.code != "" {
		status["actionError"] = map[string]any{"code": s.code, "error": s.fault}
	}
	return status
}

// asks is the action of a stage after the quote.
func (s stage) asks(created map[string]any) any {
	quote := created["quote"].(map[string]any)
	in, out := quote["inputAmount"].(map[string]any), quote["outputAmount"].(map[string]any)
	sign := func(name string, on map[string]any) any {
		return map[string]any{"type": "SignSmartChainTransaction", "name": name, "description": name + ".", "chain": on["chain"], "txs": []string{"00"}, "requiredSigner": created["signs"]}
	}
	switch s.action {
	case "":
		return nil
	case "pay":
		const address = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"
		return map[string]any{"type": "SendToAddress", "name": "Deposit on Bitcoin", "description": "Pays to the address.", "chain": "BITCOIN",
			"txs": []any{map[string]any{"type": "BITCOIN_ADDRESS", "address": address, "hyperlink": "bitcoin:" + address, "amount": in}}}
	case "claim":
		return sign("Settle manually", out)
	case "refund":
		return sign("Refund", in)
	}
	return map[string]any{"type": "Wait", "name": s.action, "description": s.action + ".", "expectedTimeSeconds": 20, "pollTimeSeconds": 5}
}
