package settle

import (
	"context"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
)

const now = 1_800_000_000

// at is a fresh head.
func at(height uint64) chains.Block {
	return chains.Block{Height: height, Hash: fmt.Sprint("h", height), Time: now - 10}
}

// past is the head of a node that fell behind.
func past(height uint64) chains.Block {
	b := at(height)
	b.Time = now - 600
	return b
}

func none(head chains.Block) *chains.EscrowFact { return &chains.EscrowFact{Head: head} }

func opened(head chains.Block, height uint64, tx string) *chains.EscrowFact {
	return &chains.EscrowFact{Head: head, State: chains.EscrowOpen, InitTx: tx, Opened: at(height), Final: true}
}

func claimed(head chains.Block, open, end uint64, tx string) *chains.EscrowFact {
	f := opened(head, open, "0x1")
	f.State, f.ClaimTx, f.Finished, f.Result = chains.EscrowClaimed, tx, at(end), []byte(tx)
	return f
}

func refunded(head chains.Block, open, end uint64) *chains.EscrowFact {
	f := opened(head, open, "0x1")
	f.State, f.RefundTx, f.Finished = chains.EscrowRefunded, "0x9", at(end)
	return f
}

func found(f *chains.EscrowFact, hash byte) *chains.EscrowFact {
	f.Escrow = &chains.Escrow{Hash: []byte{hash}}
	return f
}

// outcome is a verdict as tests compare it.
func outcome[F any](v verdict[F], say func(*F) string) string {
	switch {
	case v.contradicted:
		return fmt.Sprintf("contradiction of %v, %v loses", v.disputed, keys(v.loses))
	case v.err != nil && strings.Contains(v.err.Error(), "newest block"):
		return "too early"
	case v.err != nil:
		return "too few"
	}
	return say(&v.fact)
}

func keys(m map[int]bool) (all []int) {
	for i := range 10 {
		if m[i] {
			all = append(all, i)
		}
	}
	return all
}

func TestWhatNodesSayOfAnEscrow(t *testing.T) {
	type facts = []*chains.EscrowFact
	sameTx, otherTx, noTx := claimed(at(1000), 900, 950, "0x2"), claimed(at(1000), 900, 950, "0x3"), claimed(at(1000), 900, 950, "")
	noTx.Result = nil
	unsure, elsewhere := opened(at(1001), 900, "0x1"), opened(at(1001), 901, "0x1")
	unsure.Final = false
	for name, c := range map[string]struct {
		facts facts
		need  int // 0: half
		want  string
	}{
		"all agree":                      {facts: facts{opened(at(1001), 900, "0x1"), opened(at(1000), 900, "0x1")}, want: "open at 1000, final"},
		"all say no":                     {facts: facts{none(at(1001)), none(at(1000))}, want: "none at 1000"},
		"one is not final there":         {facts: facts{unsure, opened(at(1000), 900, "0x1")}, want: "open at 1000"},
		"it was put into another block":  {facts: facts{elsewhere, opened(at(1000), 900, "0x1")}, want: "open at 1000"},
		"one is silent":                  {facts: facts{nil, opened(at(1000), 900, "0x1")}, want: "open at 1000, final"},
		"one is silent, all have to say": {facts: facts{nil, opened(at(1000), 900, "0x1")}, need: 2, want: "too few"},
		"two of three are silent":        {facts: facts{nil, opened(at(1000), 900, "0x1"), nil}, want: "too few"},
		"all are silent":                 {facts: facts{nil, nil}, want: "too few"},

		"open and none":                    {facts: facts{opened(at(1000), 900, "0x1"), none(at(1000))}, want: "contradiction of [0 1], [0] loses"},
		"none and open":                    {facts: facts{none(at(1000)), opened(at(1000), 900, "0x1")}, want: "contradiction of [0 1], [0] loses"},
		"open and none, of three":          {facts: facts{opened(at(1000), 900, "0x1"), none(at(1000)), none(at(1000))}, want: "contradiction of [0 1 2], [0] loses"},
		"one of three":                     {facts: facts{none(at(1000)), none(at(1000)), opened(at(1000), 900, "0x1")}, want: "contradiction of [0 1 2], [2] loses"},
		"two against two":                  {facts: facts{none(at(1000)), opened(at(1000), 900, "0x1"), none(at(1000)), opened(at(1000), 900, "0x1")}, want: "contradiction of [0 1 2 3], [0 2] loses"},
		"three opinions":                   {facts: facts{none(at(1000)), opened(at(1000), 900, "0x1"), refunded(at(1000), 900, 950)}, want: "contradiction of [0 1 2], [0] loses"},
		"a liar, and one who is not there": {facts: facts{nil, opened(at(1000), 900, "0x1"), none(at(1000))}, want: "contradiction of [1 2], [1] loses"},
		"opened by two transactions":       {facts: facts{opened(at(1000), 900, "0x1"), opened(at(1000), 900, "0x8")}, want: "contradiction of [0 1], [0] loses"},
		"claimed and refunded":             {facts: facts{sameTx, refunded(at(1000), 900, 950)}, want: "contradiction of [0 1], [0] loses"},
		"claimed by two transactions":      {facts: facts{sameTx, otherTx}, want: "contradiction of [0 1], [0] loses"},
		"one does not name the claim":      {facts: facts{noTx, sameTx}, want: "claimed at 1000, final by 0x2 0x2"},
		"claimed and open":                 {facts: facts{sameTx, opened(at(960), 900, "0x1")}, want: "contradiction of [0 1], [0] loses"},

		"one has not the block of the opening":      {facts: facts{none(at(899)), opened(at(1000), 900, "0x1")}, want: "too early"},
		"it is behind for long":                     {facts: facts{none(past(500)), opened(at(1000), 900, "0x1")}, want: "open at 1000, final"},
		"it is behind, and too few are left":        {facts: facts{none(past(500)), opened(at(1000), 900, "0x1"), nil}, want: "too few"},
		"it is behind, and all have to say":         {facts: facts{none(past(500)), opened(at(1000), 900, "0x1")}, need: 2, want: "too few"},
		"it is behind and contradicts all the same": {facts: facts{refunded(past(950), 900, 920), opened(at(1000), 900, "0x1")}, want: "open at 1000, final"},
		"the chain stands still":                    {facts: facts{opened(past(1000), 900, "0x1"), opened(past(1000), 900, "0x1")}, want: "open at 1000, final"},
		"the chain stands still for a liar":         {facts: facts{opened(past(1000), 900, "0x1"), none(past(1000))}, want: "contradiction of [0 1], [0] loses"},
		"a block of the future":                     {facts: facts{opened(at(99_000), 98_000, "0x1"), none(at(1000))}, want: "too early"},
		"a block of the future, of three":           {facts: facts{opened(at(99_000), 98_000, "0x1"), none(at(1000)), none(at(1000))}, want: "too early"},
		"one has not the block of the claim":        {facts: facts{sameTx, opened(at(949), 900, "0x1")}, want: "too early"},
		"one has neither of the blocks":             {facts: facts{sameTx, none(at(899))}, want: "too early"},
		"one has the block of the opening":          {facts: facts{sameTx, none(at(900))}, want: "contradiction of [0 1], [0] loses"},

		"refunded, and opened anew":            {facts: facts{refunded(at(1000), 900, 950), opened(at(1001), 1001, "0x8")}, want: "too early"},
		"refunded, and opened anew long since": {facts: facts{refunded(at(1001), 900, 950), opened(at(1001), 1001, "0x8")}, want: "contradiction of [0 1], [0] loses"},

		"found by both":                {facts: facts{found(opened(at(1000), 900, "0x1"), 1), found(opened(at(1000), 900, "0x1"), 1)}, want: "open at 1000, final found 1"},
		"found by one":                 {facts: facts{found(opened(at(1000), 900, "0x1"), 1), none(at(1000))}, want: "contradiction of [0 1], [0] loses"},
		"two are found":                {facts: facts{found(opened(at(1000), 900, "0x1"), 1), found(opened(at(1000), 950, "0x2"), 2)}, want: "contradiction of [0 1], [0] loses"},
		"the second is not there yet":  {facts: facts{found(opened(at(940), 900, "0x1"), 1), found(opened(at(1000), 950, "0x2"), 2)}, want: "too early"},
		"the second is claimed":        {facts: facts{found(claimed(at(1000), 900, 950, "0x3"), 1), found(opened(at(1000), 980, "0x2"), 2)}, want: "contradiction of [0 1], [0] loses"},
		"found, and where is not said": {facts: facts{found(&chains.EscrowFact{State: chains.EscrowOpen, Head: at(1000)}, 1), none(at(1000))}, want: "contradiction of [0 1], [0] loses"},
	} {
		need := c.need
		if need == 0 {
			need = (len(c.facts) + 1) / 2
		}
		got := outcome(decide(c.facts, need, time.Unix(now, 0), escrowRules), func(f *chains.EscrowFact) string {
			text := fmt.Sprintf("%s at %d", f.State, f.Head.Height)
			if f.Final {
				text += ", final"
			}
			if f.ClaimTx != "" {
				text += " by " + f.ClaimTx + " " + string(f.Result)
			}
			if f.Escrow != nil {
				text += fmt.Sprint(" found ", f.Escrow.Hash[0])
			}
			return text
		})
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// A fact says how many nodes have said it: one that is in the past, or silent, is none.
func TestWitnesses(t *testing.T) {
	open := func() *chains.EscrowFact { return opened(at(1000), 900, "0x1") }
	gone := opened(past(950), 900, "0x1")
	for name, c := range map[string]struct {
		facts []*chains.EscrowFact
		want  int
	}{
		"two":                       {[]*chains.EscrowFact{open(), open()}, 2},
		"three":                     {[]*chains.EscrowFact{open(), open(), open()}, 3},
		"one of two":                {[]*chains.EscrowFact{open(), nil}, 1},
		"one, and one that is late": {[]*chains.EscrowFact{gone, open()}, 1},
		"one that contradicts":      {[]*chains.EscrowFact{open(), none(at(1000))}, 0},
	} {
		if got := decide(c.facts, 1, time.Unix(now, 0), escrowRules).fact.Witnesses; got != c.want {
			t.Errorf("%s: %d witnesses, want %d", name, got, c.want)
		}
	}
}

// The word of one of several nodes has no witnesses, whatever is remembered beside it.
func TestOneNodesWordHasNoWitnesses(t *testing.T) {
	p := &Panel[int]{Seats: make([]Seat[int], 2)}
	escrows, err := Escrows(t.Context(), p, []chains.EscrowQuery{{ClaimHash: []byte{1}}}, func(context.Context, []chains.EscrowQuery) ([]chains.EscrowFact, error) {
		return []chains.EscrowFact{{Final: true, Witnesses: 2}}, nil
	}, nil)
	if f := escrows[0]; err != nil || !f.Unsettled || f.Final || f.Witnesses != 0 {
		t.Errorf("%+v, %v", f, err)
	}
	withdrawals, err := Withdrawals(t.Context(), p, []chains.WithdrawalQuery{{}}, func(context.Context, []chains.WithdrawalQuery) ([]chains.WithdrawalFact, error) {
		return []chains.WithdrawalFact{{Final: true, Witnesses: 2}}, nil
	}, nil)
	if f := withdrawals[0]; err != nil || !f.Unsettled || f.Final || f.Witnesses != 0 {
		t.Errorf("%+v, %v", f, err)
	}
}

// An authorisation is over, or good, only if all nodes say so.
func TestWhatNodesSayOfAnAuthorisation(t *testing.T) {
	for _, c := range []struct{ a, b, want chains.AuthState }{
		{chains.AuthGood, chains.AuthGood, chains.AuthGood}, {chains.AuthOver, chains.AuthOver, chains.AuthOver}, {chains.AuthGood, chains.AuthOver, chains.AuthLate},
		{chains.AuthLate, chains.AuthOver, chains.AuthLate}, {chains.AuthUnknown, chains.AuthUnknown, chains.AuthUnknown},
	} {
		a, b := none(at(1000)), none(at(1001))
		a.Auth, b.Auth = c.a, c.b
		if v := decide([]*chains.EscrowFact{a, b}, 1, time.Unix(now, 0), escrowRules); v.err != nil || v.fact.Auth != c.want {
			t.Errorf("%v and %v: %v, %v", c.a, c.b, v.fact.Auth, v.err)
		}
	}
}

func TestWhatNodesSayOfAVault(t *testing.T) {
	vault := func(head chains.Block, withdrawals uint32, raw uint64, change ...func(*chains.Vault)) *chains.VaultFact {
		f := &chains.VaultFact{Head: head, Vault: chains.Vault{Open: true, Tokens: [2]string{"0xa", "0xb"}, Multipliers: [2]*big.Int{big.NewInt(1), big.NewInt(10)},
			Confirmations: 3, OurRelay: true, VaultState: bitcoin.VaultState{UTXO: bitcoin.OutPoint{Index: withdrawals}, Raw: [2]uint64{raw, 7}, Withdrawals: withdrawals}}}
		for _, c := range change {
			c(&f.Vault)
		}
		return f
	}
	closed := func(v *chains.Vault) { *v = chains.Vault{} }
	relay := func(v *chains.Vault) { v.OurRelay = false }
	factor := func(v *chains.Vault) { v.Multipliers[0] = big.NewInt(2) }
	spent := func(v *chains.Vault) { v.UTXO.Index = 77 }
	for name, c := range map[string]struct {
		a, b *chains.VaultFact
		want string
	}{
		"the same":                               {vault(at(1000), 5, 100), vault(at(1001), 5, 100), "100 at 1000"},
		"neither is open":                        {vault(at(1000), 5, 100, closed), vault(at(1001), 5, 0, closed), "0 at 1000"},
		"full and empty":                         {vault(at(1000), 5, 100), vault(at(1000), 5, 0), "contradiction"},
		"full, then empty, and nothing was paid": {vault(at(1000), 5, 100), vault(at(1001), 5, 0), "contradiction"},
		"paid into":                              {vault(at(1000), 5, 100), vault(at(1001), 5, 200), "too early"},
		"paid into, long ago":                    {vault(past(500), 5, 100), vault(at(1001), 5, 200), "200 at 1001"},
		"paid out of":                            {vault(at(1000), 5, 100), vault(at(1001), 6, 50), "too early"},
		"paid out of, after the head was read":   {vault(at(1001), 5, 100), vault(at(1000), 6, 50), "too early"},
		"paid out of, and back":                  {vault(at(1010), 5, 100), vault(at(1000), 6, 50), "contradiction"},
		"full in the far future":                 {vault(at(1000), 5, 0), vault(at(99_000), 6, 1000), "too early"},
		"open and not":                           {vault(at(1000), 5, 100), vault(at(1000), 5, 100, closed), "contradiction"},
		"closed since":                           {vault(at(1000), 5, 100), vault(at(1001), 5, 100, closed), "too early"},
		"another relay":                          {vault(at(1000), 5, 100), vault(at(1001), 5, 100, relay), "contradiction"},
		"another multiplier":                     {vault(at(1000), 5, 100), vault(at(1001), 5, 100, factor), "contradiction"},
		"another output":                         {vault(at(1000), 5, 100), vault(at(1001), 5, 100, spent), "contradiction"},
	} {
		for _, facts := range [][]*chains.VaultFact{{c.a, c.b}, {c.b, c.a}} {
			got := outcome(decide(facts, 1, time.Unix(now, 0), vaultRules), func(f *chains.VaultFact) string { return fmt.Sprint(f.Vault.Raw[0], " at ", f.Head.Height) })
			if got, _, _ = strings.Cut(got, " of"); got != c.want {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
		}
	}
}

func TestWhatNodesSayOfAWithdrawal(t *testing.T) {
	w := func(head chains.Block, s chains.WithdrawalState, height uint64, tx string) *chains.WithdrawalFact {
		f := &chains.WithdrawalFact{Head: head, State: s, Height: height, Final: s != chains.WithdrawalNone}
		switch s {
		case chains.WithdrawalFronted:
			f.FrontTx = tx
		case chains.WithdrawalClaimed:
			f.ClaimTx = tx
		case chains.WithdrawalClosed:
			f.Close = tx
		}
		return f
	}
	head := at(1000)
	for name, c := range map[string]struct {
		a, b *chains.WithdrawalFact
		want string
	}{
		"nothing":                      {w(head, 0, 0, ""), w(head, 0, 0, ""), "0 final false"},
		"claimed":                      {w(head, chains.WithdrawalClaimed, 900, "0x1"), w(head, chains.WithdrawalClaimed, 900, "0x1"), "2 final true"},
		"claimed in two blocks":        {w(head, chains.WithdrawalClaimed, 900, "0x1"), w(head, chains.WithdrawalClaimed, 901, "0x1"), "2 final false"},
		"claimed and not":              {w(head, chains.WithdrawalClaimed, 900, "0x1"), w(head, 0, 0, ""), "contradiction"},
		"claimed by two":               {w(head, chains.WithdrawalClaimed, 900, "0x1"), w(head, chains.WithdrawalClaimed, 900, "0x2"), "contradiction"},
		"claimed and closed":           {w(head, chains.WithdrawalClaimed, 900, "0x1"), w(head, chains.WithdrawalClosed, 900, "0x2"), "contradiction"},
		"advanced and not":             {w(head, chains.WithdrawalFronted, 900, "0x1"), w(head, 0, 0, ""), "contradiction"},
		"advanced, then claimed":       {w(at(899), chains.WithdrawalFronted, 800, "0x1"), w(head, chains.WithdrawalClaimed, 900, "0x2"), "too early"},
		"claimed in the next block":    {w(head, 0, 0, ""), w(at(1001), chains.WithdrawalClaimed, 1001, "0x2"), "too early"},
		"claimed, and one fell behind": {w(past(700), 0, 0, ""), w(head, chains.WithdrawalClaimed, 900, "0x2"), "2 final true"},
	} {
		for _, facts := range [][]*chains.WithdrawalFact{{c.a, c.b}, {c.b, c.a}} {
			got := outcome(decide(facts, 1, time.Unix(now, 0), withdrawalRules), func(f *chains.WithdrawalFact) string { return fmt.Sprint(int(f.State), " final ", f.Final) })
			if got, _, _ = strings.Cut(got, " of"); got != c.want {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
		}
	}
}

func TestWhatNodesSayOfAPayment(t *testing.T) {
	p := func(head chains.Block, height uint64, amount int64) *Payment {
		return &Payment{Amount: big.NewInt(amount), Height: height, Head: head}
	}
	head := at(1000)
	for name, c := range map[string]struct {
		a, b *Payment
		want string
	}{
		"paid":                    {p(head, 900, 5), p(at(1001), 900, 5), "5"},
		"unknown":                 {p(head, 0, 0), p(head, 0, 0), "0"},
		"two amounts":             {p(head, 900, 5), p(head, 900, 6), "contradiction"},
		"paid and unknown":        {p(head, 900, 5), p(head, 0, 0), "contradiction"},
		"paid and without effect": {p(head, 900, 5), p(head, 900, 0), "contradiction"},
		"paid a moment ago":       {p(at(1001), 1001, 5), p(head, 0, 0), "too early"},
		"paid, and one is behind": {p(head, 900, 5), p(past(500), 0, 0), "5"},
		"paid in the far future":  {p(at(99_000), 98_000, 5), p(head, 0, 0), "too early"},
	} {
		for _, facts := range [][]*Payment{{c.a, c.b}, {c.b, c.a}} {
			got := outcome(decide(facts, 1, time.Unix(now, 0), paymentRules), func(p *Payment) string { return p.Amount.String() })
			if got, _, _ = strings.Cut(got, " of"); got != c.want {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
		}
	}
}
