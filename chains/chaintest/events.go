package chaintest

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/trial"
)

func testSearch(k *kit) {
	from := trial.Must(k.chain.Heads(k.Context()))(k)
	s := secret(100)
	spec := k.payOut(lock(s), k.facts.Token)
	e := k.expect(spec)
	q := chains.EscrowQuery{ClaimHash: e.ClaimHash, Offerer: e.Offerer, Claimer: e.Claimer, From: from.Latest.Height}
	if f := k.fact(q); f.State != chains.EscrowNone || f.Escrow != nil || f.Final {
		k.Errorf("before the opening: %+v", f)
	}
	decoy := spec
	decoy.Condition = lock(secret(101))
	k.open(k.expect(decoy))
	k.open(e)
	check := func(f chains.EscrowFact, want chains.EscrowState) {
		k.Helper()
		if f.State != want || f.Escrow == nil || !bytes.Equal(f.Escrow.Hash, e.Hash) || f.InitTx == "" {
			k.Fatalf("found %+v, want %s", f, want)
		}
		k.must(k.k.Diff(e, *f.Escrow, chains.Tolerance{}))
	}
	check(k.fact(q), chains.EscrowOpen)
	k.run(k.user, chains.Plan{SwapID: "claim", Steps: []chains.Step{{Kind: chains.StepClaimSecret, Escrow: e, Preimage: s}}})
	check(k.fact(q), chains.EscrowClaimed)

	// Beside others: each answer is for its own question.
	late, foreign, bad := q, q, q
	late.From += 1_000_000
	foreign.Offerer = k.net.Account(k.T).Address()
	bad.Claimer = "invalid"
	facts := trial.Must(k.k.Escrows(k.Context(), []chains.EscrowQuery{late, q, foreign, {Escrow: &e}, bad, q}))(k)
	check(facts[1], chains.EscrowClaimed)
	check(facts[5], chains.EscrowClaimed)
	if facts[3].State != chains.EscrowClaimed || facts[4].Err == nil || facts[2].State != chains.EscrowNone || facts[0].Err != nil {
		k.Errorf("facts: %+v", facts)
	}
	if facts, err := k.k.Escrows(k.Context(), nil); err != nil || len(facts) != 0 {
		k.Errorf("no questions: %v, %v", facts, err)
	}
}

func testReorg(k *kit) {
	if k.facts.NoReorg {
		k.Skip("blocks cannot be replaced")
	}
	user, e, plan := k.opening(110)
	tx := k.prepare(user, plan)[0]
	k.must(k.chain.Send(k.Context(), tx))
	k.settle(tx, chains.TxConfirmed)
	opened := k.state(e, chains.EscrowOpen)
	k.net.Hold(k.T, true)
	k.net.Reorg(k.T, 1)
	k.state(e, chains.EscrowNone)
	k.settle(tx, chains.TxPending)
	k.net.Hold(k.T, false)
	k.net.Mine(k.T, 1)
	k.settle(tx, chains.TxConfirmed)
	again := k.state(e, chains.EscrowOpen)
	if again.InitTx != opened.InitTx || again.Opened.Hash == opened.Opened.Hash {
		k.Errorf("opened in %+v, then in %+v", opened.Opened, again.Opened)
	}
	// The claim disappears, and the refund takes its place.
	s := secret(110)
	k.run(k.lp, chains.Plan{SwapID: "claim", Steps: []chains.Step{{Kind: chains.StepClaimSecret, Escrow: e, Preimage: s}}})
	k.state(e, chains.EscrowClaimed)
	k.net.Hold(k.T, true)
	k.net.Reorg(k.T, 1)
	k.state(e, chains.EscrowOpen)
	k.net.Hold(k.T, false)
	k.net.Mine(k.T, 1)
	k.eventually("the claim to be mined again", func() bool { return k.fact(chains.EscrowQuery{Escrow: &e}).State == chains.EscrowClaimed })
}

// listener follows the hints and keeps the last cursor.
type listener struct {
	mu     sync.Mutex
	seen   []chains.Hint
	cursor chains.Cursor
	stop   func() error
}

func (k *kit) listen(c chains.Chain, from chains.Cursor) *listener {
	l := &listener{cursor: from}
	ctx, cancel := context.WithCancel(k.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- c.Hints(ctx, from, func(hints []chains.Hint, next chains.Cursor) error {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.seen, l.cursor = append(l.seen, hints...), bytes.Clone(next)
			return nil
		})
	}()
	l.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	k.Cleanup(func() { _ = l.stop() })
	return l
}

func (l *listener) position() chains.Cursor {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cursor
}

// has reports whether a hint about an escrow came, with its claim hash if that is
// wanted.
func (l *listener) has(tx string, e chains.Escrow, claimHash bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.seen {
		if h.TxID == tx && bytes.Equal(h.EscrowHash, e.Hash) && (!claimHash || bytes.Equal(h.ClaimHash, e.ClaimHash)) {
			return true
		}
	}
	return false
}

func testHints(k *kit) {
	first := k.listen(k.chain, nil)
	k.eventually("the first cursor", func() bool { return first.position() != nil })
	s := secret(120)
	e := k.expect(k.payOut(lock(s), k.facts.Token))
	opening := k.open(e)
	init := opening[len(opening)-1].ID
	k.eventually("the hint of the opening", func() bool { return first.has(init, e, true) })
	if err := first.stop(); !errors.Is(err, context.Canceled) {
		k.Errorf("hints ended with %v", err)
	}
	// What happens in between is reported afterwards, from the cursor on.
	claim := k.run(k.user, chains.Plan{SwapID: "claim", Steps: []chains.Step{{Kind: chains.StepClaimSecret, Escrow: e, Preimage: s}}})
	second := k.listen(k.chain, first.position())
	k.eventually("the hint of the claim", func() bool { return second.has(claim[len(claim)-1].ID, e, false) })
	k.must(ignoreCancel(second.stop()))

	// A caller that fails to store gets the same hints again.
	refusal := errors.New("not stored")
	var once []chains.Hint
	err := k.chain.Hints(k.Context(), first.position(), func(h []chains.Hint, _ chains.Cursor) error { once = h; return refusal })
	if !errors.Is(err, refusal) || len(once) == 0 {
		k.Errorf("after a refusal: %v, %d hints", err, len(once))
	}
	if err := k.chain.Hints(k.Context(), chains.Cursor("{garbage"), func([]chains.Hint, chains.Cursor) error { return nil }); err == nil || k.Context().Err() != nil {
		k.Errorf("an invalid cursor: %v", err)
	}
	if !k.facts.NoReorg {
		k.reorgHints()
	}
	if net, ok := k.net.(VaultNet); ok {
		k.vaultHints(net)
	}
}

func ignoreCancel(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// reorgHints moves an opening into a block below those that were read.
func (k *kit) reorgHints() {
	user, e, plan := k.opening(121)
	tx := k.prepare(user, plan)[0]
	start := k.listen(k.chain, nil)
	k.eventually("the first cursor", func() bool { return start.position() != nil })
	k.must(start.stopped())
	k.net.Mine(k.T, 3)
	other := k.expect(k.payOut(lock(secret(122)), k.facts.Token))
	opening := k.open(other)
	read := k.listen(k.chain, start.position())
	k.eventually("the hint of the other opening", func() bool { return read.has(opening[len(opening)-1].ID, other, true) })
	k.must(read.stopped())
	k.net.Hold(k.T, true)
	k.net.Reorg(k.T, 3)
	k.must(k.chain.Send(k.Context(), tx))
	k.net.Hold(k.T, false)
	k.net.Mine(k.T, 1)
	k.settle(tx, chains.TxConfirmed)
	after := k.listen(k.chain, read.position())
	k.eventually("the hint of what the reorganisation brought", func() bool { return after.has(tx.ID, e, true) })
	k.must(after.stopped())
}

func (l *listener) stopped() error { return ignoreCancel(l.stop()) }

// vaultHints claims a withdrawal.
func (k *kit) vaultHints(net VaultNet) {
	_, v := k.vaultKit()
	id := net.OpenVault(k.T, [2]uint64{1_000_000, 0}, 1)
	data := trial.Must(v.WithdrawalData(k.user.Address(), [2]uint64{50_000, 0}))(k)
	start := k.listen(k.chain, nil)
	k.eventually("the first cursor", func() bool { return start.position() != nil })
	k.must(start.stopped())
	tx := net.Withdraw(k.T, id, data, bitcoin.FeeShares{})
	k.net.MineBitcoin(k.T, 1)
	txs := k.run(k.user, chains.Plan{SwapID: "vault", Steps: []chains.Step{{Kind: chains.StepVaultClaim, Vault: &chains.VaultPayment{Owner: id.Owner, ID: id.ID, TxID: tx}}}})
	l := k.listen(k.chain, start.position())
	k.eventually("the hint of the withdrawal", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, h := range l.seen {
			if h.BitcoinTx == tx && h.TxID == txs[len(txs)-1].ID && h.Version == v.Version() {
				return true
			}
		}
		return false
	})
	k.must(l.stopped())
}

func testHistory(k *kit) {
	user := k.net.Account(k.T)
	heads := trial.Must(k.chain.Heads(k.Context()))(k)
	want := map[string]chains.EscrowState{}
	var order []string
	for i := range 3 {
		s := secret(int64(130 + i))
		spec := k.payIn(lock(s), k.facts.Token)
		spec.Offerer = user.Address()
		if i == 1 {
			spec = k.payOut(lock(s), k.facts.Token)
			spec.Claimer = user.Address()
		}
		e := k.expect(spec)
		rate := trial.Must(k.chain.FeeRate(k.Context()))(k)
		auth := k.lp.AuthorizeInit(k.T, e, rate, user.Address(), k.net.Time().Add(10*60e9))
		k.run(user, chains.Plan{SwapID: "past", FeeRate: rate, Steps: []chains.Step{{Kind: chains.StepInit, Escrow: e, Auth: auth}}})
		order = append(order, string(e.Hash))
		want[string(e.Hash)] = chains.EscrowOpen
		if i > 0 {
			by := map[bool]Account{true: user, false: k.lp}[i == 1]
			k.run(by, chains.Plan{SwapID: "past", Steps: []chains.Step{{Kind: chains.StepClaimSecret, Escrow: e, Preimage: s}}})
			want[string(e.Hash)] = chains.EscrowClaimed
		}
	}
	read := func(from uint64) (got []string, paid []chains.PastWithdrawal) {
		k.Helper()
		for p, err := range k.chain.History(k.Context(), user.Address(), from) {
			k.must(err)
			if p.Withdrawal != nil {
				paid = append(paid, *p.Withdrawal)
				continue
			}
			got = append(got, string(p.Escrow.Hash))
			k.must(p.Fact.Err)
			if p.Fact.State != want[string(p.Escrow.Hash)] {
				k.Errorf("past escrow %+v", p.Fact)
			}
			again := trial.Must(k.k.Decode(p.Escrow.Data))(k)
			k.must(k.k.Diff(*p.Escrow, again, chains.Tolerance{}))
		}
		return got, paid
	}
	if got, _ := read(heads.Latest.Height); len(got) != 3 || got[0] != order[0] || got[1] != order[1] || got[2] != order[2] {
		k.Errorf("%d past escrows", len(got))
	}
	now := trial.Must(k.chain.Heads(k.Context()))(k)
	if got, _ := read(now.Latest.Height + 1); len(got) != 0 {
		k.Errorf("%d escrows in the future", len(got))
	}
	for range k.chain.History(k.Context(), user.Address(), 0) {
		break // may be left early
	}
	for _, err := range k.chain.History(k.Context(), "invalid", 0) {
		if err == nil {
			k.Error("the history of an invalid signer")
		}
	}
	net, ok := k.net.(VaultNet)
	if !ok {
		return
	}
	_, v := k.vaultKit()
	id := net.OpenVault(k.T, [2]uint64{1_000_000, 0}, 1)
	data := trial.Must(v.WithdrawalData(user.Address(), [2]uint64{50_000, 0}))(k)
	tx := net.Withdraw(k.T, id, data, bitcoin.FeeShares{})
	k.net.MineBitcoin(k.T, 1)
	k.run(k.lp, chains.Plan{SwapID: "vault", Steps: []chains.Step{{Kind: chains.StepVaultClaim, Vault: &chains.VaultPayment{Owner: id.Owner, ID: id.ID, TxID: tx}}}})
	if _, paid := read(heads.Latest.Height); len(paid) != 1 || paid[0].BitcoinTx != tx || paid[0].Owner != id.Owner || paid[0].VaultID.Cmp(id.ID) != 0 ||
		paid[0].Recipient != user.Address() || paid[0].Fact.State != chains.WithdrawalClaimed {
		k.Errorf("past withdrawals %+v", paid)
	}
}
