package verify_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/swappertest"
)

// harmlessInStatus are the parts of what the wallet sees of a status that the service can
// change, and why.
var harmlessInStatus = map[string]string{
	"/state/number":                      "marked as the service's word",
	"/state/name":                        "marked as the service's word",
	"/state/description":                 "marked as the service's word, behind what the wallet's own nodes show",
	"/currentAction/expectedTimeSeconds": "how long it takes is the service's word",
	"/currentAction/pollTimeSeconds":     "when to look again is the service's word, at most a minute later",
	"/currentAction/txs/0/feeRate":       "the lowest rate that the provider takes is the service's word, within bounds, and what miners get is bounded in sats",
}

// stage is a moment of a swap that stays as it is until the wallet does something.
type stage struct {
	name  string
	ready func(*swapper.GetSwapStatusOutput) bool // by the service's answer
	shows string                                  // what the wallet is asked for; "" for nothing
}

func signs(out *swapper.GetSwapStatusOutput) bool {
	_, ok := out.CurrentAction.(*swapper.SignSmartChainTransaction)
	return ok
}

func deposits(out *swapper.GetSwapStatusOutput) bool {
	_, ok := out.CurrentAction.(*swapper.SendToAddress)
	return ok
}

func funds(out *swapper.GetSwapStatusOutput) bool {
	_, ok := out.CurrentAction.(*swapper.SignPSBT)
	return ok
}

func broadcast(out *swapper.GetSwapStatusOutput) bool { return out.State.Name == "BROADCASTED" }

func confirmed(out *swapper.GetSwapStatusOutput) bool { return out.State.Name == "BTC_TX_CONFIRMED" }

func refundable(out *swapper.GetSwapStatusOutput) bool {
	return signs(out) && out.CurrentAction.(*swapper.SignSmartChainTransaction).Name == "Refund"
}

func locked(out *swapper.GetSwapStatusOutput) bool {
	return waits(out) && out.State.Number > 0
}

func waits(out *swapper.GetSwapStatusOutput) bool {
	_, ok := out.CurrentAction.(*swapper.Wait)
	return ok
}

func asksForSecret(out *swapper.GetSwapStatusOutput) bool {
	return out.RequiresSecretReveal != nil && *out.RequiresSecretReveal
}

func finished(out *swapper.GetSwapStatusOutput) bool { return out.IsFinished }

func always(*swapper.GetSwapStatusOutput) bool { return true }

// Each leaf of an honest service's status is changed, emptied, dropped, added to, and
// replaced by that of an older answer and of other swaps' answers, as are the members and
// the whole: the wallet gets an error, or no action, or sees the same, or the part is
// listed as harmless. The secret is told to the service no sooner than by the truth.
func verifiesEveryLeaf(w *world) {
	opening := stage{"opening", signs, "SignSmartChainTransaction"}
	over := stage{"over", finished, ""}
	var heard []answered // what the service has answered up to now
	tried := map[string]bool{}
	for _, flow := range []struct {
		name   string
		typ    swapper.SwapType
		fault  swappertest.Fault
		stages []stage
	}{
		{"locked", swapper.SwapToBTCLN, swappertest.LPFault{NeverPay: true}, []stage{opening, {"locked", locked, "Wait"}}},
		{"given back", swapper.SwapToBTCLN, swappertest.LPFault{NotPayable: true}, []stage{opening, {"refund", refundable, "SignSmartChainTransaction"}, over}},
		{"another from Lightning", swapper.SwapFromBTCLNAuto, swappertest.LPFault{}, []stage{{"invoice", always, "SendToAddress"}}},
		{"from Lightning", swapper.SwapFromBTCLNAuto, swappertest.WatchtowerFault{Off: true}, []stage{{"invoice", always, "SendToAddress"},
			{"secret", asksForSecret, "Wait"}, {"claim", signs, "SignSmartChainTransaction"}, over}},
		{"to Bitcoin", swapper.SwapToBTC, swappertest.LPFault{}, []stage{opening, over}},
		{toLink, swapper.SwapToBTCLN, swappertest.LPFault{}, []stage{opening, over}},
		{"locked", swapper.SwapToBTCLN, swappertest.LPFault{NeverPay: true}, []stage{opening, {"locked", locked, "Wait"}}},
		{"given back", swapper.SwapToBTCLN, swappertest.LPFault{NotPayable: true}, []stage{opening, {"refund", refundable, "SignSmartChainTransaction"}, over}},
		{"another from Lightning", swapper.SwapFromBTCLNAuto, swappertest.LPFault{}, []stage{{"invoice", always, "SendToAddress"}}},
		{"from Bitcoin", swapper.SwapSPVVaultFromBTC, swappertest.WatchtowerFault{Off: true}, []stage{{"payment", funds, "SignPSBT"},
			{"confirmations", broadcast, "Wait"}, {"confirmed", confirmed, "Wait"}, {"claim", signs, "SignSmartChainTransaction"}, over}},
		{"from Bitcoin by an escrow", swapper.SwapFromBTC, swappertest.WatchtowerFault{Off: true}, []stage{opening, {"address", deposits, "SendToAddress"},
			{"confirmed", confirmed, "Wait"}, {"claim", signs, "SignSmartChainTransaction"}, over}},
		{"from Lightning by an escrow", swapper.SwapFromBTCLN, swappertest.WatchtowerFault{Off: true}, []stage{{"invoice", always, "SendToAddress"}, opening, over}},
		{"from Lightning", swapper.SwapFromBTCLNAuto, swappertest.WatchtowerFault{Off: true}, []stage{{"invoice", always, "SendToAddress"},
			{"secret", asksForSecret, "Wait"}, {"claim", signs, "SignSmartChainTransaction"}, over}},
	} {
		w.Run(flow.name, func(t *testing.T) {
			if opensOnSolana := flow.typ == swapper.SwapFromBTCLN && w.chain == "SOLANA"; w.chain != "CITREA" && !opensOnSolana || flow.name == "given back" {
				trial.OnlyFull(t)
			}
			if tried[flow.name] { // after the other types, whose answers take its own one's place
				trial.OnlyFull(t)
			}
			tried[flow.name] = true
			w := &world{T: t, net: w.net, service: w.service, chain: w.chain}
			w.net.Misbehave(flow.fault)
			a := &alterations{world: w, store: &rewound{Memory: new(storage.Memory)}, told: &service{}}
			a.real = w.walletOf(w.service, a.store)
			a.wallet = w.walletOf(a.told, a.store)
			switch flow.typ {
			case swapper.SwapFromBTCLNAuto, swapper.SwapFromBTCLN:
				if w.opensItself() != (flow.typ == swapper.SwapFromBTCLN) {
					t.Skip("swaps from Lightning are of the other type here")
				}
				a.id = w.in(a.real).SwapID
			case swapper.SwapSPVVaultFromBTC:
				w.throughVault()
				a.id = w.fromBitcoin(a.real).SwapID
			case swapper.SwapFromBTC:
				w.byDeposit()
				a.id = w.fromBitcoin(a.real).SwapID
			default:
				if flow.name == toLink {
					a.id = w.toLink(a.real).SwapID
				} else {
					a.id = w.out(a.real, flow.typ).SwapID
				}
			}
			for _, s := range flow.stages {
				if s.name == "claim" { // and no watchtower has claimed
					trial.Do(t, w.net.Advance(3*time.Minute))
				}
				text := a.reach(s, flow.typ == swapper.SwapSPVVaultFromBTC || flow.typ == swapper.SwapFromBTC || flow.typ == swapper.SwapFromBTCLN)
				if flow.name == toLink { // a service that hears of links says this of another one
					heard = append(heard, answered{"another link", s.name, w.withLink(text)})
				}
				// Before the wallet has seen it, and once it has.
				twice := s.shows != "Wait" && s.shows != ""
				a.try(s, text, heard, twice, 0)
				if _, err := a.real.GetSwapStatus(t.Context(), swapper.GetSwapStatusInput{SwapID: a.id}); err != nil {
					t.Fatalf("%s: %v", s.name, err)
				}
				if twice {
					a.try(s, text, trial.Of(0, heard), twice, 1)
				}
				heard = append(heard, answered{flow.name, s.name, text})
			}
			t.Logf("%d changes of the swap's own answers that are not harmless were tried and %d refused", a.tried, a.refused)
			if a.tried < 100 || a.refused < a.tried/10 {
				t.Errorf("%d changes of the swap's own answers that are not harmless were tried and %d refused, want at least 100, and a tenth of them", a.tried, a.refused)
			}
		})
	}
}

// toLink is the flow of a swap to an LNURL-pay link.
const toLink = "to a link"

// toLink asks for a swap to an LNURL-pay link.
func (w *world) toLink(s swapper.Service) *swapper.CreateSwapOutput {
	w.Helper()
	swap := trial.Must(s.CreateSwap(w.Context(), swapper.CreateSwapInput{SrcToken: w.chain + "-WBTC", DstToken: "LIGHTNING-BTC", Amount: big.NewInt(50_000), AmountType: swapper.ExactOut,
		SrcAddress: w.net.User.Address(w.chain), DstAddress: w.net.PayLink()}))(w)
	return swap
}

// withLink is an answer of a swap to another link, whose service says something once it is paid.
func (w *world) withLink(answer []byte) []byte {
	w.Helper()
	var out swapper.GetSwapStatusOutput
	trial.Do(w, json.Unmarshal(answer, &out))
	out.LNURL = &swapper.SwapOutputLNURL{Pay: "lnurl1other", SuccessAction: &swapper.SuccessAction{Description: "paid", Text: "call 555", URL: "https://thief.example"}}
	return []byte(asText(w.T, out))
}

// reach brings the swap to a stage, and returns the service's answer there. A payment of
// bitcoin is signed by the wallet, which has to know it.
func (a *alterations) reach(s stage, bitcoin bool) []byte {
	a.Helper()
	driven := a.service.Service
	var heard *swapper.GetSwapStatusOutput
	ready := func(out *swapper.GetSwapStatusOutput) bool { heard = out; return s.ready(out) }
	if bitcoin {
		if out, err := driven.GetSwapStatus(a.Context(), swapper.GetSwapStatusInput{SwapID: a.id}); err == nil && s.ready(out) {
			return []byte(asText(a.T, out))
		}
		driven = a.real
		a.service.status = func(out *swapper.GetSwapStatusOutput) { heard = out }
		defer func() { a.service.status = nil }()
		ready = func(*swapper.GetSwapStatusOutput) bool { return heard != nil && s.ready(heard) }
	}
	if _, err := a.net.User.FinishUntil(a.Context(), driven, a.id, ready); err != nil {
		a.Fatalf("%s: %v", s.name, err)
	}
	return []byte(asText(a.T, heard))
}

// answered is an honest answer at a stage of a swap.
type answered struct {
	of, stage string
	text      []byte
}

// alterations try a swap's answers on a wallet.
type alterations struct {
	*world
	store          *rewound
	told           *service
	wallet, real   swapper.Service // which hears what is tried, and which hears the service
	id             string
	invoice        string // that the wallet was shown
	tried, refused int
}

// rewound is a store that forgets what was changed since.
type rewound struct {
	*storage.Memory
	before []storage.Entry
}

func (r *rewound) Update(ctx context.Context, e storage.Entry) error {
	if old, err := r.Get(ctx, e.ID); err == nil {
		r.before = append(r.before, old)
	}
	return r.Memory.Update(ctx, e)
}

func (r *rewound) rewind(ctx context.Context) error {
	for _, old := range slices.Backward(r.before) {
		now, err := r.Get(ctx, old.ID)
		if err != nil {
			return err
		}
		old.Version = now.Version
		if err := r.Memory.Update(ctx, old); err != nil {
			return err
		}
	}
	r.before = nil
	return nil
}

// ask is what the wallet sees if the service gives an answer, and whether it told the secret.
func (a *alterations) ask(answer []byte) (*swapper.GetSwapStatusOutput, bool, error) {
	a.Helper()
	a.told.status, a.told.secrets = new(swapper.GetSwapStatusOutput), 0
	if err := json.Unmarshal(answer, a.told.status); err != nil {
		return nil, false, err
	}
	a.store.before = nil
	got, err := a.wallet.GetSwapStatus(a.Context(), swapper.GetSwapStatusInput{SwapID: a.id})
	trial.Do(a, a.store.rewind(a.Context()))
	return got, a.told.secrets > 0, err
}

// try tries every change of an answer; but at full depth every other one, which is some of each
// leaf's, and of stages that are tried twice half of these each time.
func (a *alterations) try(s stage, answer []byte, heard []answered, twice bool, half int) {
	a.Helper()
	honest, told, err := a.ask(answer)
	if err != nil {
		a.Fatalf("%s: the truth is refused: %v", s.name, err)
	}
	if shows := actionType(honest); shows != s.shows {
		a.Fatalf("%s: the wallet is shown %q, want %q", s.name, shows, s.shows)
	}
	if deposits(honest) {
		a.invoice = asText(a.T, honest.CurrentAction)
	}
	all := changes(a.T, answer)
	own := maps.Clone(all)
	tried := map[bool]bool{}
	for _, other := range slices.Backward(heard) {
		if same := other.stage == s.name; trial.Full() || !tried[same] { // the last of this stage, and of the others
			tried[same] = true
			for path, text := range grafts(a.T, answer, other.text) {
				all[path+" by that of "+other.of+", "+other.stage] = text
			}
		}
	}
	for n, path := range slices.Sorted(maps.Keys(all)) {
		if !trial.Full() && (n%2 != 0 || twice && n/2%2 != half) {
			continue
		}
		text := all[path]
		leaf, _, _ := strings.Cut(path, " ")
		_, counts := own[path] // there are as many grafts as there were answers before
		counts = counts && harmlessInStatus[leaf] == ""
		if counts {
			a.tried++
		}
		refused := func() {
			if counts {
				a.refused++
			}
		}
		wrong := []string{"once"}
		for range 2 { // blocks go by meanwhile
			if len(wrong) == 0 {
				break
			}
			if wrong[0] != "once" {
				if honest, _, err = a.ask(answer); err != nil {
					a.Fatalf("%s: the truth is refused: %v", s.name, err)
				}
			}
			got, heard, err := a.ask(text)
			switch {
			case heard && !told:
				a.Fatalf("%s: %s: the secret was told", s.name, path)
			case err != nil:
				refused()
				wrong = nil
			default:
				if wrong = a.believed(honest, got); len(wrong) == 0 && withheld(got) && !withheld(honest) {
					refused()
				}
			}
		}
		if len(wrong) > 0 {
			a.Errorf("%s: %s is believed in %s", s.name, path, wrong)
		}
	}
}

func actionType(out *swapper.GetSwapStatusOutput) string {
	if out.CurrentAction == nil {
		return ""
	}
	return out.CurrentAction.Type()
}

// withheld reports that the wallet is asked for nothing.
func withheld(out *swapper.GetSwapStatusOutput) bool {
	return out.CurrentAction == nil || waits(out)
}

// shownBefore reports that the wallet is asked to pay the swap's only invoice once more. It
// is harmless: its node pays a payment's hash once.
func (a *alterations) shownBefore(out *swapper.GetSwapStatusOutput) bool {
	return out.CurrentAction != nil && asText(a.T, out.CurrentAction) == a.invoice
}

// claimedHere reports that the wallet is asked for its claim where the truth lets it wait for a
// watchtower, because the service asks for a signature. It is harmless: the claim is made here,
// of nothing that the service said, and costs the network's fee.
func (a *alterations) claimedHere(want, got *swapper.GetSwapStatusOutput) bool {
	sign, ok := got.CurrentAction.(*swapper.SignSmartChainTransaction)
	if !ok || !waits(want) {
		return false
	}
	said, told := a.told.status.CurrentAction.(*swapper.SignSmartChainTransaction)
	return sign.Name == "Settle manually" && strings.HasPrefix(sign.Description, "Takes ") && !(told && slices.Equal(sign.Txs, said.Txs))
}

// believed are the parts in which what the wallet sees differs from the truth, but for what
// is withheld and what is harmless.
func (a *alterations) believed(want, got *swapper.GetSwapStatusOutput) (all []string) {
	a.Helper()
	honest, seen := leaves(a.T, want), leaves(a.T, got)
	none := withheld(got) || a.shownBefore(got) || a.claimedHere(want, got)
	paths := maps.Clone(honest)
	maps.Copy(paths, seen)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		was, is := honest[path], seen[path]
		if path == "/state/description" { // what own nodes show is not the service's
			shown, _, _ := strings.Cut(was, "Told by the service")
			now, _, _ := strings.Cut(is, "Told by the service")
			if strings.Trim(shown, `" `) != strings.Trim(now, `" `) {
				all = append(all, path)
			}
		}
		action := strings.HasPrefix(path, "/currentAction") || strings.HasPrefix(path, "/actionError")
		if was != is && harmlessInStatus[path] == "" && !(action && none) {
			all = append(all, path)
		}
	}
	return all
}

// leaves are the parts of a value that have none, by their path.
func leaves(t *testing.T, of any) map[string]string {
	t.Helper()
	var root any
	trial.Do(t, json.Unmarshal([]byte(asText(t, of)), &root))
	all := map[string]string{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, member := range v {
				walk(path+"/"+k, member)
			}
		case []any:
			for i, member := range v {
				walk(fmt.Sprintf("%s/%d", path, i), member)
			}
		default:
			all[path] = asText(t, v)
		}
	}
	walk("", root)
	return all
}

// grafts are all texts in which one part of a JSON object, or all of it, is replaced by
// that of another, or added from there.
func grafts(t *testing.T, text, other []byte) map[string][]byte {
	t.Helper()
	var root, from any
	for text, to := range map[*any][]byte{&root: text, &from: other} {
		trial.Do(t, json.Unmarshal(to, text))
	}
	all := map[string][]byte{}
	var walk func(path string, v, donor any, set func(any), unset func())
	walk = func(path string, v, donor any, set func(any), unset func()) {
		if reflect.DeepEqual(v, donor) {
			return
		}
		set(donor)
		all[path+" replaced"] = []byte(asText(t, root))
		unset()
		switch v := v.(type) {
		case map[string]any:
			theirs, _ := donor.(map[string]any)
			for k, member := range theirs {
				ours, had := v[k]
				walk(path+"/"+k, ours, member, func(to any) { v[k] = to }, func() {
					if v[k] = ours; !had {
						delete(v, k)
					}
				})
			}
		case []any:
			theirs, _ := donor.([]any)
			for i := range min(len(v), len(theirs)) {
				ours := v[i]
				walk(fmt.Sprintf("%s/%d", path, i), ours, theirs[i], func(to any) { v[i] = to }, func() { v[i] = ours })
			}
		}
	}
	whole := root
	walk("", root, from, func(to any) { root = to }, func() { root = whole })
	return all
}
