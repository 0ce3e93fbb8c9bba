package contracts

import (
	"crypto/sha256"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// purse is what somebody has.
type purse struct{ coin, gas, balance int64 }

// machine does things with escrows at random, right and wrong, and knows of each whether
// it may succeed and who has what afterwards.
type machine struct {
	*rapid.T
	k       *kit
	purses  map[Felt]*purse
	escrows map[Felt]*opened
	order   []Felt // of escrows, as they were opened
}

type opened struct {
	s     wire.SwapData
	state chains.EscrowState
}

func (m *machine) party() Felt { return rapid.SampledFrom(everybody).Draw(m.T, "party") }
func (m *machine) amount() int64 {
	return rapid.SampledFrom([]int64{0, 1, 1000, 50_000, wealth / 2, wealth, wealth + 1}).Draw(m.T, "amount")
}

// send makes calls and demands that they succeed or not, and that none changes anything
// if one fails.
func (m *machine) send(what string, may bool, as Felt, calls ...wire.Call) bool {
	for _, c := range calls {
		if c.Entry == "approve" {
			m.k.do(as, c.To, c.Entry, c.Calldata...)
			continue
		}
		if _, err := m.k.try(as, c.To, c.Entry, c.Calldata...); (err == nil) != may {
			m.Fatalf("%s: %v, want success %v", what, err, may)
		}
	}
	return may
}

func (m *machine) fill() {
	who, n := m.party(), m.amount()
	if m.send("fill", m.purses[who].coin >= n, who, fillBalance(m.k.d, coin, big.NewInt(n))...) {
		m.purses[who].coin -= n
		m.purses[who].balance += n
	}
}

func (m *machine) empty() {
	who, to, n := m.party(), m.party(), m.amount()
	if m.send("empty", m.purses[who].balance >= n, who, takeBalance(m.k.d, coin, big.NewInt(n), to)) {
		m.purses[who].balance -= n
		m.purses[to].coin += n
	}
}

func (m *machine) open() {
	offerer, claimer := m.party(), m.party()
	s := m.k.deal(offerer, claimer)
	guess := [32]byte{rapid.SampledFrom([]byte{1, 2}).Draw(m.T, "secret")}
	s.ClaimData = wire.ClaimDataHTLC(sha256.Sum256(guess[:]))
	s.PayIn, s.PayOut, s.Reputation = rapid.Bool().Draw(m.T, "pay in"), rapid.Bool().Draw(m.T, "pay out"), rapid.Bool().Draw(m.T, "reputation")
	s.Sequence = rapid.Uint64Range(0, 3).Draw(m.T, "sequence")
	s.RefundData = wire.FeltOf(m.k.clock() + rapid.Uint64Range(0, 100).Draw(m.T, "expiry"))
	s.Amount = big.NewInt(m.amount())
	s.SecurityDeposit, s.ClaimerBounty = big.NewInt(rapid.Int64Range(0, 9).Draw(m.T, "deposit")), big.NewInt(rapid.Int64Range(0, 9).Draw(m.T, "bounty"))
	by := rapid.SampledFrom([]Felt{offerer, claimer}).Draw(m.T, "by")
	hash, n := m.k.hash(s), s.Amount.Int64()
	m.k.do(offerer, coin, "approve", felts{m.k.d.EscrowManager.Address}.u256(s.Amount)...) // also if the claimer opens it
	from := m.purses[offerer]
	may := m.escrows[hash] == nil
	if s.PayIn {
		may = may && from.coin >= n
	} else {
		may = may && from.balance >= n
	}
	if !m.send("open", may, by, m.k.initBy(s, by)...) {
		return
	}
	m.escrows[hash] = &opened{s, chains.EscrowOpen}
	m.order = append(m.order, hash)
	m.purses[by].gas -= s.TotalDeposit().Int64()
	if s.PayIn {
		from.coin -= n
	} else {
		from.balance -= n
	}
}

// give pays as the contract does.
func (m *machine) give(to Felt, n int64, wallet bool) {
	if wallet {
		m.purses[to].coin += n
	} else {
		m.purses[to].balance += n
	}
}

// one picks an escrow, also one that is over.
func (m *machine) one() *opened {
	if len(m.order) == 0 {
		m.Skip("there is no escrow")
	}
	return m.escrows[rapid.SampledFrom(m.order).Draw(m.T, "escrow")]
}

func (m *machine) claim() {
	e, by := m.one(), m.party()
	guess := [32]byte{rapid.SampledFrom([]byte{1, 2}).Draw(m.T, "secret")}
	all := trial.Must(e.s.Felts())(m.k)
	c := wire.Call{To: m.k.d.EscrowManager.Address, Entry: "claim", Calldata: append(all, felts(nil).span(felts(nil).hash(guess)...)...)}
	right := wire.ClaimDataHTLC(sha256.Sum256(guess[:])) == e.s.ClaimData
	if !m.send("claim", right && e.state == chains.EscrowOpen, by, c) {
		return
	}
	e.state = chains.EscrowClaimed
	deposit, bounty := e.s.SecurityDeposit.Int64(), e.s.ClaimerBounty.Int64()
	m.purses[by].gas += bounty
	m.purses[e.s.Claimer].gas += max(deposit-bounty, 0)
	m.give(e.s.Claimer, e.s.Amount.Int64(), e.s.PayOut)
}

func (m *machine) refund() {
	e := m.one()
	m.k.Produce(1) // the time of the block is now
	if !m.send("refund", e.state == chains.EscrowOpen && int64(m.k.clock()) > e.s.Expiry(), m.party(), m.k.refundCall(e.s)) {
		return
	}
	e.state = chains.EscrowRefunded
	deposit, bounty := e.s.SecurityDeposit.Int64(), e.s.ClaimerBounty.Int64()
	m.purses[e.s.Offerer].gas += deposit
	m.purses[e.s.Claimer].gas += max(bounty-deposit, 0)
	m.give(e.s.Offerer, e.s.Amount.Int64(), e.s.PayIn)
}

func (m *machine) agree() {
	e := m.one()
	if !m.send("agree", e.state == chains.EscrowOpen, m.party(), m.k.agreedCall(e.s, theFuture)) {
		return
	}
	e.state = chains.EscrowRefunded
	m.purses[e.s.Claimer].gas += e.s.TotalDeposit().Int64()
	m.give(e.s.Offerer, e.s.Amount.Int64(), e.s.PayIn)
}

func (m *machine) wait() {
	m.k.later(time.Duration(rapid.IntRange(1, 60).Draw(m.T, "seconds")) * time.Second)
}

// check compares what everybody has with the model: nothing is created or lost, and what
// is in an escrow is claimed or refunded once.
func (m *machine) check() {
	contract := purse{}
	for _, who := range everybody {
		want := m.purses[who]
		got := purse{m.k.has(coin, who), m.k.has(gas, who), m.k.balance(who)}
		if got != *want {
			m.Fatalf("%v has %+v, want %+v", who, got, *want)
		}
		contract.coin += want.balance
	}
	for hash, e := range m.escrows {
		if got := m.k.state(e.s); got.State != e.state {
			m.Fatalf("%v is recorded as %v, want %v", hash, got.State, e.state)
		}
		if e.state == chains.EscrowOpen {
			contract.coin += e.s.Amount.Int64()
			contract.gas += e.s.TotalDeposit().Int64()
		}
	}
	if got := (purse{m.k.has(coin, m.k.d.EscrowManager.Address), m.k.has(gas, m.k.d.EscrowManager.Address), 0}); got != contract {
		m.Fatalf("the contract has %+v, want %+v", got, contract)
	}
}

func TestEscrowsConserveValue(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &machine{T: rt, k: newKit(t), purses: map[Felt]*purse{}, escrows: map[Felt]*opened{}}
		for _, who := range everybody {
			m.purses[who] = &purse{wealth, wealth, 0}
		}
		step := func(f func()) func(*rapid.T) { return func(rt *rapid.T) { m.T = rt; f() } }
		rt.Repeat(map[string]func(*rapid.T){
			"": step(m.check), "fill": step(m.fill), "empty": step(m.empty), "open": step(m.open), "claim": step(m.claim),
			"refund": step(m.refund), "agree": step(m.agree), "wait": step(m.wait),
		})
	})
}
