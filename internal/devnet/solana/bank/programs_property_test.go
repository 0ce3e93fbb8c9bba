package bank

import (
	"crypto/sha256"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/swapper-go/swapper/internal/solana/wire"
)

// everybody are the parties of random sequences.
var everybody = []struct {
	name string
	key  wire.Key
}{{"user", user}, {"lp", lp}, {"tower", tower}}

// ledger is what everybody has by the rules: the model that the programs are held to.
type model struct {
	wallet, balance map[wire.Key]uint64 // tokens
	opened          map[wire.Key]bool   // who has an account in the program
	lamports        map[wire.Key]int64  // gained or lost
	escrows         map[[32]byte]*entry
	vault           bool // the program has a token account
}

type entry struct {
	d    *wire.SwapData
	by   wire.Key
	held int64 // lamports
}

func newModel() *model {
	l := &model{map[wire.Key]uint64{}, map[wire.Key]uint64{}, map[wire.Key]bool{}, map[wire.Key]int64{}, map[[32]byte]*entry{}, false}
	for _, who := range everybody {
		l.wallet[who.key] = wealth
	}
	return l
}

// pay pays tokens out: to a wallet, or a balance.
func (l *model) pay(to wire.Key, amount uint64, wallet bool) {
	if wallet {
		l.wallet[to] += amount
	} else {
		l.balance[to] += amount
	}
}

// machine does things at random, right and wrong, and knows of each whether it may
// succeed.
type machine struct {
	*rapid.T
	k *kit
	l *model
}

func (m *machine) party() wire.Key { return rapid.SampledFrom(everybody).Draw(m.T, "party").key }
func (m *machine) amount() uint64 {
	return rapid.SampledFrom([]uint64{0, 1, 1000, 50_000, wealth / 2, wealth, wealth + 1}).Draw(m.T, "amount")
}
func (m *machine) secret() [32]byte {
	return [32]byte{rapid.SampledFrom([]byte{1, 2, 3}).Draw(m.T, "secret")}
}

// send executes instructions and demands that they succeed or not.
func (m *machine) send(what string, may bool, ixs ...wire.Instruction) bool {
	before := m.k.state()
	tx := m.k.run(ixs...)
	if (tx.Err == nil) != may {
		m.Fatalf("%s: %v, want success %v\n%v", what, tx.Err, may, tx.Logs)
	}
	if tx.Err != nil && m.k.state() != before {
		m.Fatalf("%s failed and changed something", what)
	}
	return tx.Err == nil
}

func (m *machine) deposit() {
	who, n := m.party(), m.amount()
	if m.send("deposit", m.l.wallet[who] >= n, m.k.p.DepositInstruction(who, coin, n)) {
		if !m.l.opened[who] {
			m.l.lamports[who] -= int64(wire.Rent(wire.UserVaultSpace))
		}
		if !m.l.vault {
			m.l.lamports[who] -= wire.TokenAccountRent
		}
		m.l.opened[who], m.l.vault = true, true
		m.l.wallet[who] -= n
		m.l.balance[who] += n
	}
}

func (m *machine) withdraw() {
	who, n := m.party(), m.amount()
	if m.send("withdraw", m.l.opened[who] && m.l.balance[who] >= n, m.k.takeBalance(who, coin, n)) {
		m.l.balance[who] -= n
		m.l.wallet[who] += n
	}
}

func (m *machine) open() {
	offerer, claimer := m.party(), m.party()
	if offerer == claimer {
		return
	}
	d := m.k.deal(offerer, claimer, rapid.Bool().Draw(m.T, "pay in"), rapid.Bool().Draw(m.T, "pay out"))
	secret := m.secret()
	d.PaymentHash, d.Amount = sha256.Sum256(secret[:]), m.amount()
	d.Sequence = rapid.Uint64().Draw(m.T, "sequence")
	d.Expiry = m.k.unix() + rapid.Uint64Range(0, 200).Draw(m.T, "expiry")
	if m.k.p.Version == wire.V2 || !d.PayIn {
		d.SecurityDeposit = rapid.Uint64Range(0, 6_000_000).Draw(m.T, "deposit")
		d.ClaimerBounty = rapid.Uint64Range(0, 6_000_000).Draw(m.T, "bounty")
	}
	by := rapid.SampledFrom([]wire.Key{offerer, claimer}).Draw(m.T, "by")
	if m.k.p.Version == wire.V1 {
		if by = claimer; d.PayIn {
			by = offerer
		}
	}
	may := m.l.escrows[d.PaymentHash] == nil && (d.PayOut || m.l.opened[claimer])
	if d.PayIn {
		may = may && m.l.wallet[offerer] >= d.Amount
	} else {
		may = may && m.l.opened[offerer] && m.l.balance[offerer] >= d.Amount
	}
	if !m.send("open", may, m.k.initBy(d, by)) {
		return
	}
	e := &entry{d, by, int64(max(m.k.p.EscrowRent(), max(d.SecurityDeposit, d.ClaimerBounty)))}
	m.l.escrows[d.PaymentHash] = e
	m.l.lamports[by] -= e.held
	if d.PayIn {
		m.l.wallet[offerer] -= d.Amount
		if !m.l.vault {
			m.l.lamports[by] -= wire.TokenAccountRent
		}
		m.l.vault = true
	} else {
		m.l.balance[offerer] -= d.Amount
	}
}

// any returns an escrow, open or not.
func (m *machine) any() (*wire.SwapData, *entry) {
	secret := m.secret()
	hash := sha256.Sum256(secret[:])
	if e := m.l.escrows[hash]; e != nil {
		return e.d, e
	}
	d := m.k.deal(m.party(), m.party(), rapid.Bool().Draw(m.T, "in"), rapid.Bool().Draw(m.T, "out"))
	d.PaymentHash = hash
	return d, nil
}

func (m *machine) claim() {
	d, e := m.any()
	by, secret := m.party(), m.secret()
	ix, err := m.k.p.ClaimInstruction(d, by, &secret, nil)
	if err != nil {
		m.Fatal(err)
	}
	if !m.send("claim", e != nil && sha256.Sum256(secret[:]) == d.PaymentHash, ix) {
		return
	}
	delete(m.l.escrows, d.PaymentHash)
	m.l.pay(d.Claimer, d.Amount, d.PayOut)
	rest := e.held - int64(d.ClaimerBounty)
	m.l.lamports[by] += int64(d.ClaimerBounty)
	if m.k.p.Version == wire.V2 && d.SecurityDeposit > d.ClaimerBounty {
		m.l.lamports[d.Claimer] += int64(d.SecurityDeposit - d.ClaimerBounty)
		rest -= int64(d.SecurityDeposit - d.ClaimerBounty)
	}
	m.l.lamports[e.by] += rest
}

func (m *machine) refund() {
	d, e := m.any()
	consent := rapid.SampledFrom([]string{"", "", "user", "lp", "tower"}).Draw(m.T, "consent")
	var ixs []wire.Instruction
	until, may := uint64(0), e != nil && d.Expiry < m.k.unix()
	if consent != "" {
		until = m.k.unix() + 10
		ixs = append(ixs, m.k.consent(d, consent, until))
		may = e != nil && keyOf(consent) == d.Claimer
	}
	if !m.send("refund", may, append(ixs, m.k.p.RefundInstruction(d, until))...) {
		return
	}
	delete(m.l.escrows, d.PaymentHash)
	m.l.pay(d.Offerer, d.Amount, d.PayIn)
	deposit, bounty, rest := int64(d.SecurityDeposit), int64(d.ClaimerBounty), e.held
	give := func(to wire.Key, n int64) {
		m.l.lamports[to] += n
		rest -= n
	}
	switch {
	case consent == "":
		give(d.Offerer, deposit)
		if m.k.p.Version == wire.V2 && bounty > deposit {
			give(d.Claimer, bounty-deposit)
		}
	case m.k.p.Version == wire.V2:
		give(d.Claimer, max(deposit, bounty))
	}
	m.l.lamports[e.by] += rest
}

func (m *machine) wait() {
	m.k.now = m.k.now.Add(time.Duration(rapid.IntRange(1, 120).Draw(m.T, "seconds")) * time.Second)
}

// check holds the chain to the model.
func (m *machine) check() {
	var locked, all uint64
	for _, e := range m.l.escrows {
		locked += e.d.Amount
		if got, ok := m.k.escrow(e.d); !ok || m.k.p.Match(got, e.d) != nil {
			m.Fatalf("the escrow %x is %+v", e.d.PaymentHash[:4], got)
		}
		equal(m.T, "lamports of an escrow", int64(m.k.lamports(m.k.p.Escrow(e.d.PaymentHash))), e.held)
	}
	for _, party := range everybody {
		name, who := party.name, party.key
		equal(m.T, name+"'s wallet", m.k.tokens(wire.ATA(who, coin)), m.l.wallet[who])
		equal(m.T, name+"'s balance", m.k.vault(who, coin).Amount, m.l.balance[who])
		equal(m.T, name+"'s lamports", int64(m.k.lamports(who))-int64(100*sol), m.l.lamports[who])
		locked += m.l.balance[who]
		all += m.l.wallet[who]
	}
	equal(m.T, "the vault", m.k.tokens(m.k.p.Vault(coin)), locked)
	equal(m.T, "all tokens", all+locked, uint64(len(everybody))*wealth)
}

func equal[T comparable](t *rapid.T, what string, got, want T) {
	if got != want {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
}

// Whatever is done in whatever order: tokens and lamports are where the rules say, the
// program holds exactly what its balances and open escrows add up to, nobody takes out
// more than is his, and what may not be done changes nothing.
func TestFundsAreConserved(t *testing.T) {
	for _, version := range []string{wire.V1, wire.V2} {
		t.Run(version, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				k := newKit(t, version, setup{})
				defer func() { _ = k.Close() }()
				var burnt, supply uint64
				k.Read(Processed, 0, func(v *View) { burnt, supply = v.Burnt(), v.Supply() })
				m := &machine{r, k, newModel()}
				r.Repeat(map[string]func(*rapid.T){
					"":         func(*rapid.T) { m.check() },
					"deposit":  func(*rapid.T) { m.deposit() },
					"withdraw": func(*rapid.T) { m.withdraw() },
					"open":     func(*rapid.T) { m.open() },
					"claim":    func(*rapid.T) { m.claim() },
					"refund":   func(*rapid.T) { m.refund() },
					"wait":     func(*rapid.T) { m.wait() },
				})
				k.Read(Processed, 0, func(v *View) {
					equal(r, "all lamports", v.Supply()+v.Burnt(), supply+burnt)
				})
			})
		})
	}
}
