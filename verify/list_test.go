package verify_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/verify"
)

func (s *service) ListSwaps(_ context.Context, in swapper.ListSwapsInput) ([]swapper.ListSwapOutput, error) {
	return s.listed, nil
}

func (s *service) ListPendingSwaps(ctx context.Context, in swapper.ListSwapsInput) ([]swapper.ListSwapOutput, error) {
	return s.ListSwaps(ctx, in)
}

// lists are the two operations.
var lists = map[string]func(swapper.Service, context.Context, swapper.ListSwapsInput) ([]swapper.ListSwapOutput, error){
	"listSwaps": swapper.Service.ListSwaps, "listPendingSwaps": swapper.Service.ListPendingSwaps,
}

// foreign is a swap of a list that the wallet has not agreed on.
func foreign(answer *swapper.CreateSwapOutput) swapper.ListSwapOutput {
	base := answer.SwapOutputBase
	base.SwapID = "foreign"
	base.LNURL = &swapper.SwapOutputLNURL{Pay: "me@example.com", SuccessAction: &swapper.SuccessAction{URL: "https://thief.example"}}
	return swapper.ListSwapOutput{SwapOutputBase: base, IsFinished: true, IsSuccess: true}
}

// A swap that the wallet agreed on is listed as agreed, whatever the service says of its
// end; every other one is marked.
func TestListsShowWhatWasAgreed(t *testing.T) {
	for name, list := range lists {
		in, answer := honest(t, swapper.SwapToBTC)
		s := &service{created: answer}
		v := wrap(t, s)
		if _, err := v.CreateSwap(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		s.listed = []swapper.ListSwapOutput{{SwapOutputBase: answer.SwapOutputBase, IsFinished: true, IsSuccess: true, IsFailed: true, IsExpired: true}, foreign(answer)}
		got, err := list(v, t.Context(), swapper.ListSwapsInput{Signer: "moon1"})
		if err != nil || len(got) != 2 {
			t.Fatalf("%s: got %+v, %v", name, got, err)
		}
		if own := got[0]; own.IsFinished || own.IsSuccess || own.IsFailed || own.IsExpired || len(own.Steps) != 0 || !strings.HasPrefix(own.State.Description, "No escrow is agreed on. Told by the service") {
			t.Errorf("%s: an agreed swap: got %+v", name, own)
		}
		if other := got[1]; len(other.Steps) != 0 || other.LNURL != nil || !strings.HasPrefix(other.State.Description, "Not a swap that this wallet has agreed on") {
			t.Errorf("%s: another swap: got %+v", name, other)
		}
	}
}

func TestListsThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		field  string
		lie    func(*[]swapper.ListSwapOutput)
	}{
		"twice":     {"id", "[2].swapId", func(l *[]swapper.ListSwapOutput) { *l = append(*l, (*l)[0]) }},
		"no id":     {"id", "[1].swapId", func(l *[]swapper.ListSwapOutput) { (*l)[1].SwapID = "" }},
		"long id":   {"id", "[1].swapId", func(l *[]swapper.ListSwapOutput) { (*l)[1].SwapID = strings.Repeat("x", 1<<16) }},
		"type":      {"type", "[0].swapType", func(l *[]swapper.ListSwapOutput) { (*l)[0].SwapType = swapper.SwapToBTCLN }},
		"amount":    {"agreed", "[0].quote.inputAmount.rawAmount", func(l *[]swapper.ListSwapOutput) { (*l)[0].Quote.InputAmount.RawAmount = big.NewInt(1) }},
		"token":     {"token", "[0].quote.outputAmount.symbol", func(l *[]swapper.ListSwapOutput) { (*l)[0].Quote.OutputAmount.Symbol = "ETH" }},
		"recipient": {"recipient", "[0].quote.outputAddress", func(l *[]swapper.ListSwapOutput) { (*l)[0].Quote.OutputAddress = "bc1thief" }},
		"too many":  {"id", "swaps", func(l *[]swapper.ListSwapOutput) { *l = slices.Repeat(*l, 2) }},
	} {
		in, answer := honest(t, swapper.SwapToBTC)
		s := &service{created: answer}
		v := wrap(t, s)
		if _, err := v.CreateSwap(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		s.listed = []swapper.ListSwapOutput{{SwapOutputBase: answer.SwapOutputBase}, foreign(answer)}
		c.lie(&s.listed)
		got, err := v.ListSwaps(t.Context(), swapper.ListSwapsInput{Signer: "moon1", Limit: 3})
		if refused, ok := errors.AsType[*verify.RefusedError](err); !ok || refused.Reason != c.reason || refused.Field != c.field {
			t.Errorf("%s: got %+v, %v, want %s of %s refused", name, got, err, c.reason, c.field)
		}
	}
}

// Each leaf of an honest list is changed: it is refused, or what the wallet agreed on is
// seen the same.
func TestEveryLeafOfAListIsVerified(t *testing.T) {
	for _, typ := range types {
		in, answer := honest(t, typ)
		s := &service{created: answer}
		v := wrap(t, s)
		if _, err := v.CreateSwap(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		tried, refused := triesList(t, v, s, asText(t, []swapper.ListSwapOutput{{SwapOutputBase: answer.SwapOutputBase}, foreign(answer)}))
		if tried < 100 || refused < 30 {
			t.Errorf("%s: %d changes were tried and %d refused, want at least 100 and 30", typ, tried, refused)
		}
	}
}

// harmlessInList are the parts of an agreed swap in a list that a service can change.
var harmlessInList = map[string]string{
	"/state/number":      "marked as the service's word",
	"/state/name":        "marked as the service's word",
	"/state/description": "marked as the service's word, behind what the wallet's own nodes show",
}

// triesList changes each part of a list, and compares what the wallet sees of the swaps that
// it agreed on; what it has not agreed on must be marked.
func triesList(t *testing.T, v swapper.Service, s *service, text string) (tried, refused int) {
	t.Helper()
	see := func(text []byte) ([]swapper.ListSwapOutput, error) {
		s.listed = nil
		if err := json.Unmarshal(text, &s.listed); err != nil {
			return nil, err
		}
		return v.ListSwaps(t.Context(), swapper.ListSwapsInput{Signer: "moon1"})
	}
	notOurs := func(o swapper.ListSwapOutput) bool {
		return strings.HasPrefix(o.State.Description, "Not a swap that this wallet has agreed on")
	}
	honest := func() map[string]map[string]string { // the wallet's swaps of the list as it is
		t.Helper()
		all := trial.Must(see([]byte(text)))(t)
		own := map[string]map[string]string{}
		for _, o := range all {
			if !notOurs(o) {
				own[o.SwapID] = leaves(t, o)
			}
		}
		if len(own) == 0 || len(own) == len(all) {
			t.Fatalf("%d of %d swaps are the wallet's, want some and not all", len(own), len(all))
		}
		return own
	}
	own := honest()
	for path, changed := range changes(t, []byte(text)) {
		tried++
		got, err := see(changed)
		if err != nil {
			refused++
			continue
		}
		for _, o := range got {
			want, agreed := own[o.SwapID]
			seen := leaves(t, o)
			if agreed && seen["/isExpired"] != want["/isExpired"] { // a quote has expired meanwhile, or the change is believed
				own = honest()
				want = own[o.SwapID]
			}
			switch {
			case !agreed && (!notOurs(o) || len(o.Steps) != 0 || o.LNURL != nil):
				t.Errorf("%s: a swap that was not agreed on is not marked: %+v", path, o)
			case agreed:
				for leaf, is := range seen {
					if is != want[leaf] && harmlessInList[leaf] == "" {
						t.Errorf("%s: %s is believed: %s, want %s", path, leaf, is, want[leaf])
					}
				}
			}
		}
	}
	return tried, refused
}

// counting is a chain that counts the escrows that its nodes are asked about.
type counting struct {
	moon
	asked, calls int
	heard        chan int // the number of each call, unless it is nil
}

func (c *counting) Open(context.Context, chains.Env) (chains.Chain, error) { return c, nil }
func (c *counting) Contract(string) (chains.Contract, bool)                { return asked{c: c}, true }

type asked struct {
	chains.Contract
	c *counting
}

func (a asked) Escrows(_ context.Context, q []chains.EscrowQuery) ([]chains.EscrowFact, error) {
	a.c.calls++
	a.c.asked += len(q)
	if a.c.heard != nil {
		a.c.heard <- len(q)
	}
	facts := make([]chains.EscrowFact, len(q))
	for i := range facts {
		facts[i] = chains.EscrowFact{State: chains.EscrowClaimed, Final: true}
	}
	return facts, nil
}

// However long a list is, the wallet's own nodes are asked about its first escrows only, and
// the others say so.
func TestListsAskABoundedNumberOfTimes(t *testing.T) {
	const swaps, most = 130, 100
	chain, store, s := &counting{}, new(storage.Memory), &service{}
	v := trial.Must(verify.Wrap(s, verify.Config{Network: bitcoin.Regtest, Chains: []chains.Factory{chain}, Store: store, Bitcoin: regtest{}, Prices: prices, Now: clock}))(t)
	for i := range swaps {
		opens(t, v, s, store, fmt.Sprint("swap ", i))
	}
	got, err := v.ListSwaps(t.Context(), swapper.ListSwapsInput{Signer: "moon1"})
	if err != nil || len(got) != swaps {
		t.Fatalf("got %d swaps, %v", len(got), err)
	}
	if chain.asked != most || chain.calls != 1 {
		t.Errorf("own nodes were asked about %d escrows in %d calls, want %d in one", chain.asked, chain.calls, most)
	}
	for i, o := range got {
		if known := i < most; o.IsSuccess != known || !known && !strings.HasPrefix(o.State.Description, "The wallet's own nodes were not asked") {
			t.Errorf("swap %d: got %+v", i, o)
		}
	}
}

// opens lets a wallet agree on a swap and its escrow, which is then in the service's list.
func opens(t *testing.T, v swapper.Service, s *service, store storage.Store, id string) {
	t.Helper()
	in, answer := honest(t, swapper.SwapToBTC)
	answer.SwapID = id
	s.created = answer
	if _, err := v.CreateSwap(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	e := trial.Must(store.Get(t.Context(), "verify/swap/"+id))(t)
	e.Body = []byte(strings.Replace(string(e.Body), `"Escrow":null`, `"Escrow":{"Version":"v1"}`, 1))
	trial.Do(t, store.Update(t.Context(), e))
	s.listed = append(s.listed, swapper.ListSwapOutput{SwapOutputBase: answer.SwapOutputBase})
}

// patient is a service that does not answer before the wallet's own nodes were asked.
type patient struct {
	*service
	chain *counting
	early []int // about how many escrows
}

func (p *patient) ListSwaps(ctx context.Context, in swapper.ListSwapsInput) ([]swapper.ListSwapOutput, error) {
	select {
	case n := <-p.chain.heard:
		p.early = append(p.early, n)
		return p.service.ListSwaps(ctx, in)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Own nodes are asked about the last swaps while the service is asked for a list, about
// those that the page has, and not again after its answer. Those that have ended are not
// asked about for a list of pending swaps.
func TestListsAskMeanwhile(t *testing.T) {
	chain, store := &counting{}, new(storage.Memory)
	s := &patient{service: &service{}, chain: chain}
	v := trial.Must(verify.Wrap(s, verify.Config{Network: bitcoin.Regtest, Chains: []chains.Factory{chain}, Store: store, Bitcoin: regtest{}, Prices: prices, Now: clock}))(t)
	var noted []string
	for i := range 5 {
		opens(t, v, s.service, store, fmt.Sprint(i))
		noted = append(noted, fmt.Sprintf(`{"ID":"%d"}`, i))
	}
	slices.Reverse(s.listed) // the newest first
	trial.Do(t, store.SetNote(t.Context(), "verify/recent", []byte("["+strings.Join(append(noted, `{"ID":"not stored any more"}`), ",")+"]"), 0))
	whole := s.listed
	for _, c := range []struct {
		in          swapper.ListSwapsInput
		shown       []swapper.ListSwapOutput
		early, late int
	}{
		{swapper.ListSwapsInput{Limit: 2}, whole[:2], 2, 0},
		{swapper.ListSwapsInput{Limit: 2, After: "3"}, whole[2:4], 2, 0},
		{swapper.ListSwapsInput{Limit: 2}, whole[1:3], 2, 1}, // another page than was likely
		{swapper.ListSwapsInput{ChainID: "MOON"}, whole, 5, 0},
	} {
		s.early, chain.asked, chain.heard = nil, 0, make(chan int, 2)
		s.listed = c.shown
		c.in.Signer = "moon1"
		got, err := v.ListSwaps(t.Context(), c.in)
		if err != nil || len(got) != len(c.shown) || len(s.early) != 1 || s.early[0] != c.early || chain.asked != c.early+c.late {
			t.Errorf("%+v: got %+v, %v; nodes were asked about %d escrows meanwhile and %d in all, want %d and %d more", c.in, got, err, s.early, chain.asked, c.early, c.late)
		}
		for _, o := range got {
			if !o.IsSuccess {
				t.Errorf("%+v: got %+v, want the swap as own nodes show it", c.in, o)
			}
		}
	}
	chain.asked, s.listed = 0, nil
	if got, err := v.ListPendingSwaps(t.Context(), swapper.ListSwapsInput{Signer: "moon1"}); err != nil || len(got) != 0 || chain.asked != 0 {
		t.Errorf("got %+v, %v, and own nodes were asked about %d swaps that have ended", got, err, chain.asked)
	}
}

// A note that cannot be read, or written, costs a list and a swap nothing but time.
func TestListsNeedNoNote(t *testing.T) {
	chain, store := &counting{heard: make(chan int, 9)}, &noteless{Memory: new(storage.Memory)}
	s := &service{}
	v := trial.Must(verify.Wrap(s, verify.Config{Network: bitcoin.Regtest, Chains: []chains.Factory{chain}, Store: store, Bitcoin: regtest{}, Prices: prices, Now: clock}))(t)
	opens(t, v, s, store.Memory, "0")
	for name, err := range map[string]error{"not to be read": nil, "the store fails": storage.ErrUnknown} {
		store.fails, chain.asked = err, 0
		if got, err := v.ListSwaps(t.Context(), swapper.ListSwapsInput{Signer: "moon1"}); err != nil || len(got) != 1 || !got[0].IsSuccess || chain.asked != 1 {
			t.Errorf("%s: got %+v, %v; own nodes were asked about %d escrows", name, got, err, chain.asked)
		}
	}
}

// noteless is a store whose note of recent swaps is broken.
type noteless struct {
	*storage.Memory
	fails error
}

func (n *noteless) Note(ctx context.Context, name string) ([]byte, uint64, error) {
	if name == "verify/recent" {
		return []byte("{"), 1, n.fails
	}
	return n.Memory.Note(ctx, name)
}

func (n *noteless) SetNote(ctx context.Context, name string, data []byte, version uint64) error {
	if name == "verify/recent" {
		return storage.ErrUnknown
	}
	return n.Memory.SetNote(ctx, name, data, version)
}

// A wallet that has one chain less than it had still lists its swaps, and is told why it
// cannot go on with them.
func TestSwapOfAChainThatIsGone(t *testing.T) {
	in, answer := honest(t, swapper.SwapToBTC)
	s, store := &service{created: answer}, new(storage.Memory)
	config := verify.Config{Network: bitcoin.Regtest, Chains: []chains.Factory{moon{}}, Store: store, Bitcoin: regtest{}, Prices: prices, Now: clock}
	v, err := verify.Wrap(s, config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.CreateSwap(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	config.Chains = []chains.Factory{mars{}}
	v = trial.Must(verify.Wrap(s, config))(t)
	s.listed = []swapper.ListSwapOutput{{SwapOutputBase: answer.SwapOutputBase}}
	if got, err := v.ListSwaps(t.Context(), swapper.ListSwapsInput{Signer: "moon1"}); err != nil || len(got) != 1 || got[0].Quote.OutputAddress != in.DstAddress {
		t.Errorf("got %+v, %v", got, err)
	}
	for name, err := range map[string]error{
		"status": second(v.GetSwapStatus(t.Context(), swapper.GetSwapStatusInput{SwapID: "swap1"})),
		"submit": second(v.SubmitTransaction(t.Context(), swapper.SubmitTransactionInput{SwapID: "swap1", SignedTxs: []string{"0x"}})),
	} {
		if fault.CodeOf(err) != fault.Unsupported || !strings.Contains(fmt.Sprint(err), "MOON") {
			t.Errorf("%s: got %v, want the chain named", name, err)
		}
	}
}

// mars is another chain than moon.
type mars struct{ moon }

func (mars) ID() string                                               { return "MARS" }
func (m mars) Open(context.Context, chains.Env) (chains.Chain, error) { return m, nil }
func (mars) Info() chains.Info                                        { return chains.Info{ID: "MARS"} }

// overdue is a chain with an open escrow that has expired, whose refund cannot be built.
type overdue struct {
	counting
	err error
}

func (o *overdue) Open(context.Context, chains.Env) (chains.Chain, error) { return o, nil }
func (o *overdue) Contract(string) (chains.Contract, bool)                { return expired{o: o}, true }

type expired struct {
	chains.Contract
	o *overdue
}

func (e expired) Escrows(_ context.Context, q []chains.EscrowQuery) ([]chains.EscrowFact, error) {
	return []chains.EscrowFact{{State: chains.EscrowOpen, Final: true, Head: chains.Block{Time: noon.Unix()}}}, nil
}

func (e expired) Build(context.Context, chains.Plan) (chains.Unsigned, error) {
	return chains.Unsigned{}, e.o.err
}

// A step that somebody has made since the wallet's own nodes were asked leaves the status as it
// is, without an action. That a node does not answer is an error.
func TestStepMadeMeanwhile(t *testing.T) {
	for err, shown := range map[error]bool{fault.New(fault.InvalidState, "the escrow was refunded already"): true, fault.New(fault.Upstream, "no answer"): false} {
		store, s := new(storage.Memory), &service{}
		v, bad := verify.Wrap(s, verify.Config{Network: bitcoin.Regtest, Chains: []chains.Factory{&overdue{err: err}}, Store: store, Bitcoin: regtest{}, Prices: prices, Now: clock})
		if bad != nil {
			t.Fatal(bad)
		}
		opens(t, v, s, store, "swap")
		got, failed := v.GetSwapStatus(t.Context(), swapper.GetSwapStatusInput{SwapID: "swap"})
		switch {
		case !shown && !errors.Is(failed, err):
			t.Errorf("%v: got %+v, %v", err, got, failed)
		case shown && (failed != nil || got.CurrentAction != nil || got.ActionError == nil || got.ActionError.Code != fault.InvalidState || got.State.Name != "REFUNDABLE"):
			t.Errorf("%v: got %+v, %v", err, got, failed)
		}
	}
}
