package explore

import (
	"fmt"
	"slices"
	"testing"

	"github.com/swapper-go/swapper/internal/engine"
	"github.com/swapper-go/swapper/internal/swap"
)

// far is a row that needs more surprises than all worlds can be visited with, and a
// story that takes it.
type far struct {
	typ    swap.Type
	row    string
	story  []string
	first  int             // which of the first worlds
	change func(st *story) // for a world that the exploration does not begin with
}

// slow is a world in which an escrow may be opened, ten hours after the quote and two
// before its end.
func slow(st *story) {
	st.moments = slices.Insert(slices.Clone(st.moments), 5, 10*hour)
	st.authFor = 11 * hour
}

var farRows = []far{
	{typ: swap.FromBTCLNAuto, row: "there is still time to claim the escrow once it is opened", change: slow, story: []string{
		"the payment reaches the provider", "time passes", "time passes", "time passes", "time passes", "time passes",
		"[at the next look of the process, its clock is off by +3 h]", "the provider opens the escrow", "a reorganisation takes back 1 blocks",
	}},
	{typ: swap.FromBTCLN, row: "there is still time to claim the escrow once it is opened", change: slow, story: []string{
		"the payment reaches the provider", "time passes", "time passes", "time passes", "time passes", "time passes", "the user signs what is asked for",
		"[at the next look of the process, its clock is off by +3 h]", "transaction 0 is mined", "a reorganisation takes back 1 blocks",
	}},
	{typ: swap.FromBTCLNAuto, row: "the escrow was refunded, not claimed", first: 1, story: []string{ // the user has the preimage, and keeps it
		"the payment reaches the provider", "the provider opens the escrow", "time passes", "time passes", "time passes", "time passes", "time passes", "time passes",
		"[at the next look of the process, a node says wrongly that the escrow was claimed]", "the provider takes the escrow back", "the process looks",
	}},
	{typ: swap.SPVFromBTC, row: "a reorganisation brought the transaction back", story: []string{
		"the user signs what is asked for", "the provider sends the transaction", "another transaction spends an input of the user's Bitcoin transaction",
		"a reorganisation of Bitcoin takes back 1 blocks",
	}},
	{typ: swap.SPVFromBTC, row: "the vault closed, and the payout was not advanced", story: []string{
		"the user signs what is asked for", "the provider sends the transaction", "the user's Bitcoin transaction is mined", "a Bitcoin block is found",
		"somebody advances the payout", "the process hears of an event of the vault", "the process stops", "a reorganisation takes back 1 blocks",
		"the vault closes over the transaction", "the process starts again",
	}},
	{typ: swap.FromBTCLN, row: "the escrow was refunded, not claimed", story: []string{
		"the payment reaches the provider", "the user signs what is asked for", "transaction 0 is mined", "the process stops",
		"time passes", "time passes", "time passes", "time passes", "time passes", "time passes", "the process starts again",
		"[at the next look of the process, a node says wrongly that the escrow was claimed]", "the provider takes the escrow back", "the process looks",
	}},
	{typ: swap.FromBTCLN, row: "the escrow is open, and about to time out", story: []string{ // one surprise, but a long way
		"the payment reaches the provider", "the user signs what is asked for", "the process stops", "transaction 0 is mined",
		"time passes", "time passes", "time passes", "time passes", "time passes", "the process starts again",
	}},
	{typ: swap.FromBTCLN, row: "the escrow was refunded", story: []string{ // the same
		"the payment reaches the provider", "the user signs what is asked for", "the process stops", "transaction 0 is mined",
		"time passes", "time passes", "time passes", "time passes", "time passes", "time passes", "the provider takes the escrow back", "the process starts again",
	}},
	{typ: swap.SPVFromBTC, row: "a reorganisation undid the claim, the payout was advanced", story: []string{
		"the user signs what is asked for", "the provider sends the transaction", "the user's Bitcoin transaction is mined", "a Bitcoin block is found",
		"somebody advances the payout", "a watchtower has the vault pay", "a reorganisation takes back 1 blocks",
	}},
	{typ: swap.SPVFromBTC, row: "the vault closed, and did not pay", story: []string{
		"the user signs what is asked for", "the provider sends the transaction", "the user's Bitcoin transaction is mined", "a Bitcoin block is found",
		"[at the next look of the process, a node says wrongly that the vault has paid]", "the vault closes over the transaction", "the process looks",
	}},
	{typ: swap.SPVFromBTC, row: "the payout was advanced", story: []string{ // and the vault closes later: the user has been paid
		"the user signs what is asked for", "the provider sends the transaction", "the user's Bitcoin transaction is mined", "a Bitcoin block is found",
		"somebody advances the payout", "the process hears of an event of the vault", "the vault closes over the transaction",
	}},
	{typ: swap.SPVFromBTC, row: "a transaction that the provider had refused was sent after all", story: []string{
		"the provider refuses whatever it is asked to sign", "the user signs what is asked for", "the provider sends the transaction after all",
	}},
	{typ: swap.SPVFromBTC, row: "the owner's transaction takes the place of a stranger's", story: []string{
		"[at the next look of the process, the process dies before it does what is due]", "a stranger hands in a transaction that the provider will refuse",
		"the user signs what is asked for",
	}},
	{typ: swap.TrustedFromBTC, row: "a reorganisation undid the refund", story: []string{
		"the user pays from another wallet", "the payment from the user's other wallet is mined", "the provider cannot use the payment",
		"the user says where a refund is to go", "the provider returns the payment", "a reorganisation of Bitcoin takes back the refund",
	}},
	{typ: swap.TrustedFromBTC, row: "the provider reports no payment, and none is found", story: []string{
		"the user pays from another wallet", "the payment from the user's other wallet is mined", "the provider cannot use the payment",
		"a reorganisation of Bitcoin takes back 1 blocks, and their transactions are forgotten", "time passes", "time passes",
	}},
	{typ: swap.TrustedFromBTC, row: "a payment was seen after all", story: []string{
		"the user pays from another wallet", "Bitcoin nodes forget the payment from the user's other wallet", "time passes", "time passes",
		"the payment from the user's other wallet, which was forgotten, is mined",
	}},
}

// play has a story happen, and the world be fair after it. It says what is wrong, "" if
// nothing is.
func (f far) play(st *story) (bad string, taken bool) {
	if f.change != nil {
		f.change(st)
	}
	x := newExplorer(st)
	b := x.first[f.first]
	at := &state{w: b.w, rec: x.records.of(encoded(b.r))}
	at.w.left = 9
	fault := 0
	for _, name := range f.story {
		if n := slices.IndexFunc(x.faults, func(f look) bool { return wrongLook(f) == name }); n >= 0 {
			fault = n + 1
			continue
		}
		i := slices.IndexFunc(x.actions, func(a action) bool { return a.name == name })
		if i < 0 {
			return fmt.Sprintf("there is no action %q", name), false
		}
		s := &sim{}
		if !x.next(at, &x.actions[i], fault, s) || s.bad != "" {
			return fmt.Sprintf("%q: it cannot happen, or breaks a promise: %s", name, s.bad), false
		}
		at, fault = &state{w: s.w, rec: s.rec}, 0
	}
	i := rowOf(x.flow, f.row, 0)
	return x.live(at, &sim{}), i >= 0 && x.taken[i].Load()
}

func TestRowsOfManySurprises(t *testing.T) {
	for _, f := range farRows {
		t.Run(f.typ.String()+"/"+f.row, func(t *testing.T) {
			bad, taken := f.play(storyOf(f.typ))
			if bad != "" {
				t.Error(bad)
			}
			if !taken {
				t.Error("the row is not taken")
			}
		})
	}
}

// imported are swaps whose records say that their escrow is open, while their chain has
// never shown it: the states that they are imported in.
var imported = map[swap.Type]int{swap.FromBTC: swap.InCommitted, swap.ToBTC: swap.OutRefundable, swap.ToBTCLN: swap.OutCommitted}

// longNotShown is the row that only imported swaps take.
const longNotShown = "the chain has not shown the escrow for long"

// importing has a swap imported so, and the world be fair. It says what is wrong, "" if
// nothing is, and whether the swap was given up for that.
func importing(st *story) (told string, givenUp bool) {
	at, ok := imported[st.flow.Type]
	if !ok {
		return "", false
	}
	st.truth = func(*sim, *swap.Record, *engine.Result) string { return "" } // what was imported is believed for long
	x := newExplorer(st)
	b := x.first[0]
	b.r.State, b.r.Escrow.Init = at, nil
	told = x.live(&state{w: b.w, rec: x.records.of(encoded(b.r))}, &sim{})
	i := rowOf(x.flow, longNotShown, 0)
	return told, i >= 0 && x.taken[i].Load()
}

// They end too.
func TestImportedSwapsOfUnknownEscrowsEnd(t *testing.T) {
	for typ := range imported {
		told, givenUp := importing(storyOf(typ))
		if told != "" {
			t.Errorf("%s: %s", typ, told)
		}
		if !givenUp {
			t.Errorf("%s: the swap is not given up", typ)
		}
	}
}
