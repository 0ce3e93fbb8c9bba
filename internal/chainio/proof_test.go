package chainio

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/big"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/verify"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
)

// conditions is a contract set that proves and reads escrows.
type conditions struct {
	plain
	hashErr error
	may     chains.Tolerance // differences that the last comparison allowed
}

func (k *conditions) ClaimHash(c chains.Condition) ([]byte, error) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %x %x %d %d %d", c.Kind, c.PaymentHash, c.Script, c.Sats, c.Nonce, c.Confirmations))
	return sum[:], k.hashErr
}

func (k *conditions) Decode(data json.RawMessage) (chains.Escrow, error) {
	var e chains.Escrow
	return e, json.Unmarshal(data, &e.Expiry)
}

func (k *conditions) Diff(want, got chains.Escrow, may chains.Tolerance) error {
	k.may = may
	if want.Expiry != got.Expiry {
		return &chains.DiffError{}
	}
	return nil
}

// A payout counts when it satisfies the claim hash; a proof that is none, and a
// transaction that is not there, are answers, a silent backend is not.
func TestPayoutIsProven(t *testing.T) {
	s := newScene(t)
	k := &conditions{}
	s.Chains["PROOF"] = &book{contract: k}
	hash := func(c chains.Condition) []byte {
		return trial.Must(k.ClaimHash(c))(t)
	}
	secret := [32]byte{7}
	htlc := chains.Escrow{Kind: chains.HTLC, ClaimHash: hash(chains.Condition{Kind: chains.HTLC, PaymentHash: sha256.Sum256(secret[:])})}
	tx := s.ledger.pay(&wire.TxOut{Value: 5, PkScript: []byte{1}}, &wire.TxOut{Value: 7, PkScript: s.script})
	odd := s.ledger.pay(&wire.TxOut{Value: 7, PkScript: []byte{1, 2, 3}})
	onchain := func(script []byte) chains.Escrow {
		return chains.Escrow{Kind: chains.OnchainNonced, ClaimHash: hash(chains.Condition{Kind: chains.OnchainNonced, Script: script, Sats: 7, Nonce: 9, Confirmations: 3})}
	}
	pays := onchain(s.script)
	address := trial.Must(bitcoin.AddressFromScript(s.script, bitcoin.Mainnet))(t)
	exchanged := bitcoin.Hash{7} // for which the backend has another transaction
	s.ledger.txs[exchanged] = odd
	// What is false whatever a node says. A transaction that is not the one named proves nothing.
	falseProofs := map[string]lp.Check{"another preimage": lp.CheckSecret, "half a preimage": lp.CheckSecret, "another nonce": lp.CheckPayout, "another payment": lp.CheckPayout}
	for name, c := range map[string]struct {
		q      swap.PayoutAsk
		silent bool
		broken error
		want   swap.PayoutFact
		ok     bool
	}{
		"a preimage":              {swap.PayoutAsk{Escrow: htlc, Secret: secret[:]}, false, nil, swap.PayoutFact{Proven: true}, true},
		"another preimage":        {swap.PayoutAsk{Escrow: htlc, Secret: make([]byte, 32)}, false, nil, swap.PayoutFact{}, true},
		"half a preimage":         {swap.PayoutAsk{Escrow: htlc, Secret: secret[:16]}, false, nil, swap.PayoutFact{}, true},
		"a hash that fails":       {swap.PayoutAsk{Escrow: htlc, Secret: secret[:]}, false, errSilent, swap.PayoutFact{}, false},
		"a payment":               {swap.PayoutAsk{Escrow: pays, TxID: tx.ID, Nonce: 9, Confirmations: 3}, false, nil, swap.PayoutFact{Proven: true, TxID: tx.ID, Vout: 1, Sats: 7, Nonce: 9, Confirmations: 3, Address: address.String()}, true},
		"a payment to no address": {swap.PayoutAsk{Escrow: onchain([]byte{1, 2, 3}), TxID: odd.ID, Nonce: 9, Confirmations: 3}, false, nil, swap.PayoutFact{Proven: true, TxID: odd.ID, Sats: 7, Nonce: 9, Confirmations: 3}, true},
		"another nonce":           {swap.PayoutAsk{Escrow: pays, TxID: tx.ID, Nonce: 8, Confirmations: 3}, false, nil, swap.PayoutFact{}, true},
		"another payment":         {swap.PayoutAsk{Escrow: pays, TxID: odd.ID, Nonce: 9, Confirmations: 3}, false, nil, swap.PayoutFact{}, true},
		"another than was named":  {swap.PayoutAsk{Escrow: pays, TxID: exchanged, Nonce: 9, Confirmations: 3}, false, nil, swap.PayoutFact{}, true},
		"nobody knows it":         {swap.PayoutAsk{Escrow: pays, TxID: bitcoin.Hash{9}, Nonce: 9, Confirmations: 3}, false, nil, swap.PayoutFact{}, true},
		"a silent backend":        {swap.PayoutAsk{Escrow: pays, TxID: tx.ID, Nonce: 9, Confirmations: 3}, true, nil, swap.PayoutFact{}, false},
	} {
		s.ledger.silent["txs"], k.hashErr = c.silent, c.broken
		got, err := s.Payout(t.Context(), "PROOF", "", c.q)
		if lie, lied := errors.AsType[*lp.LPError](got.False); lied && lie.Check != falseProofs[name] || !lied && falseProofs[name] != "" {
			t.Errorf("%s: false because of %v, want %q", name, got.False, falseProofs[name])
		}
		if got.False = nil; got != c.want || (err == nil) != c.ok {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for data, ok := range map[string]bool{"7": true, "8": false, "x": false} {
		e, err := s.Delivered(t.Context(), "PROOF", "", swap.DeliveredAsk{Want: chains.Escrow{Expiry: 7}, Data: json.RawMessage(data)})
		if _, lie := errors.AsType[*lp.LPError](err); (err == nil) != ok || ok && (e == nil || e.Expiry != 7) || !ok && (e != nil || !lie) {
			t.Errorf("delivered %s: %+v, %v", data, e, err)
		}
	}
	if k.may.AtMostDeposits {
		t.Error("an escrow that the provider locks may have another deposit")
	}
}

// trustChain says what became of transactions, and what they paid.
type trustChain struct {
	chains.Chain
	states  []chains.TxStatus
	paid    *big.Int
	err     error
	paidErr error
}

func (c *trustChain) Status(context.Context, []chains.Signed) ([]chains.TxStatus, error) {
	return c.states, c.err
}

// payer also says what transactions pay.
type payer struct{ *trustChain }

func (c payer) Paid(context.Context, string, string) (chains.Payout, error) {
	return chains.Payout{Amount: c.paid, Witnesses: 3}, c.paidErr
}

func TestWhatBecameOfTransactions(t *testing.T) {
	done := []chains.TxStatus{{State: chains.TxConfirmed}}
	for name, c := range map[string]struct {
		chain chains.Chain
		paid  *big.Int
		txs   bool // Txs answers
		gas   bool // GasPayout answers
	}{
		"paid":                      {payer{&trustChain{states: done, paid: big.NewInt(7)}}, big.NewInt(7), true, true},
		"a chain that cannot tell":  {&trustChain{states: done}, nil, true, true},
		"what it paid is not told":  {payer{&trustChain{states: done, paidErr: errSilent}}, nil, true, false},
		"silent":                    {payer{&trustChain{err: errSilent, paid: big.NewInt(7)}}, nil, false, false},
		"silent, and yet an answer": {&trustChain{states: done, err: errSilent}, nil, false, false},
		"no answer":                 {&trustChain{}, nil, false, false},
		"two answers":               {&trustChain{states: append(done, done...)}, nil, false, false},
	} {
		w := New(map[string]chains.Chain{"TRUST": c.chain}, nil, nil)
		if all, err := w.Txs(t.Context(), "TRUST", make([]chains.Signed, 1)); (err == nil) != c.txs || c.txs && (len(all) != 1 || all[0] != done[0]) {
			t.Errorf("%s: %+v, %v", name, all, err)
		}
		f, err := w.GasPayout(t.Context(), "TRUST", swap.GasAsk{TxID: "x", To: "y"})
		if (err == nil) != c.gas || c.gas && (f.Status != done[0] || (f.Paid == nil) != (c.paid == nil) || f.Paid != nil && (f.Paid.Cmp(c.paid) != 0 || f.Witnesses != 3)) {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
		w.Close()
	}
}

// listing is a backend that lists transactions of an address, and may fail behind them.
type listing struct {
	*ledger
	all    []*bitcoin.Tx
	broken bool
	read   int
}

func (l *listing) AddressTxs(context.Context, bitcoin.Address) iter.Seq2[*bitcoin.Tx, error] {
	return func(yield func(*bitcoin.Tx, error) bool) {
		for _, tx := range l.all {
			if l.read++; !yield(tx, nil) {
				return
			}
		}
		if l.broken {
			yield(nil, errSilent)
		}
	}
}

// What pays to the address of a swap is told, and of no more than a bounded number;
// a list that breaks off is none.
func TestReceived(t *testing.T) {
	s := newScene(t)
	to := s.record.Bitcoin.Address
	a := trial.Must(bitcoin.ParseAddress(to, bitcoin.Mainnet))(t)
	pays, other := s.ledger.pay(&wire.TxOut{Value: 5, PkScript: a.Script()}), s.ledger.pay(&wire.TxOut{Value: 5, PkScript: s.script})
	l := &listing{ledger: s.ledger, all: []*bitcoin.Tx{other, pays, other}}
	s.Bitcoin = l
	if all, err := s.Received(t.Context(), swap.ReceivedAsk{Address: to}); err != nil || len(all) != 1 || all[0] != pays {
		t.Errorf("%+v, %v", all, err)
	}
	l.broken = true
	if all, err := s.Received(t.Context(), swap.ReceivedAsk{Address: to}); !errors.Is(err, errSilent) {
		t.Errorf("a list that breaks off: %+v, %v", all, err)
	}
	l.all, l.read = nil, 0
	for range 2 * mostPayments {
		l.all = append(l.all, pays)
	}
	if all, err := s.Received(t.Context(), swap.ReceivedAsk{Address: to}); err != nil || len(all) != mostPayments || l.read != mostPayments {
		t.Errorf("%d payments of %d read, %v", len(all), l.read, err)
	}
	l.broken = false
	if all, err := s.Received(t.Context(), swap.ReceivedAsk{Address: "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx"}); err == nil {
		t.Errorf("of an address of another network: %+v", all)
	}
}

// A backend that does not list the transactions of an address is not asked for them, and the
// error says what it lacks.
func TestReceivedNeedsAnIndex(t *testing.T) {
	s := newScene(t)
	s.Bitcoin = struct{ bitcoin.Backend }{s.ledger}
	all, err := s.Received(t.Context(), swap.ReceivedAsk{Address: s.record.Bitcoin.Address})
	if fault.CodeOf(err) != fault.Unsupported || !strings.Contains(err.Error(), "bitcoin.AddressIndex") || all != nil {
		t.Errorf("%+v, %v", all, err)
	}
}

// Of a vault's output everything has to be known before a withdrawal may spend it; that
// it does not lead to the vault is an answer, that a backend is silent is not.
func TestVaultFactsNeedAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *scene)
		ok     bool
		check  func(f verify.VaultFacts) bool
	}{
		"all is well": {func(*scene) {}, true, func(f verify.VaultFacts) bool {
			return f.Trace == nil && f.Parse == nil && f.Output != nil && f.Spend == bitcoin.Unspent && len(f.Pending) == 0
		}},
		"its output is gone": {func(s *scene) { delete(s.ledger.txs, s.vaults.vault.UTXO.Hash) }, true, func(f verify.VaultFacts) bool { return f.Output == nil }},
		"it leads nowhere":   {func(s *scene) { s.vaults.vault.UTXO = bitcoin.OutPoint{Hash: bitcoin.Hash{5}} }, true, func(f verify.VaultFacts) bool { return f.Trace != nil }},
		"its output is gone, and it leads nowhere": {func(s *scene) {
			delete(s.ledger.txs, s.vaults.vault.UTXO.Hash)
			s.vaults.vault.UTXO = bitcoin.OutPoint{Hash: bitcoin.Hash{5}}
		}, true, func(f verify.VaultFacts) bool { return f.Output == nil && f.Trace != nil }},
		"it is not there": {func(s *scene) { s.vaults.vault.VaultID.ID = nil }, true, func(f verify.VaultFacts) bool { return f.Vault == nil && f.Trace == nil }},
		"unreadable":      {func(s *scene) { s.vaults.dryErr = errSilent }, true, func(f verify.VaultFacts) bool { return f.Parse != nil }},
		"vault unknown":   {func(s *scene) { s.vaults.vaultErr = errSilent }, false, nil},
		"spends unknown":  {func(s *scene) { s.ledger.silent["spends"] = true }, false, nil},
		"output unknown":  {func(s *scene) { s.ledger.silent["txs"] = true }, false, nil},
	} {
		s := newScene(t)
		utxo := s.vaults.vault.UTXO
		ours := wire.NewMsgTx(2)
		ours.AddTxIn(&wire.TxIn{PreviousOutPoint: utxo})
		ours.AddTxOut(&wire.TxOut{Value: 1})
		s.vaults.vault.VaultID.ID = big.NewInt(1)
		c.change(s)
		facts, err := s.VaultFacts(t.Context(), s.vaults, func(ctx context.Context) (*chains.Vault, error) {
			f, err := s.Vault(ctx, "BOOK", "", chains.VaultID{})
			if f.Vault.VaultID.ID == nil {
				return nil, err
			}
			return &f.Vault, err
		}, utxo, ours)
		if (err == nil) != c.ok || c.ok && !c.check(facts) {
			t.Errorf("%s: %+v, %v", name, facts, err)
		}
	}
	s := newScene(t)
	if _, err := s.VaultFacts(t.Context(), s.vaults, func(context.Context) (*chains.Vault, error) { return &s.vaults.vault, nil }, s.vaults.vault.UTXO, nil); err != nil || s.vaults.dry != 0 {
		t.Errorf("nothing to read: %d transactions, %v", s.vaults.dry, err)
	}
	// A withdrawal before ours is read, and handed to the contract with ours.
	fund := &swap.Fund{Vault: true}
	p := trial.Must(s.fund(t, fund))(t)
	in := trial.Must(s.Check(t.Context(), s.record, fund, []string{s.sign(t, p)}))(t)
	msg := trial.Must(rawtx.Decode(in.PSBT.Tx))(t)
	before := &bitcoin.Tx{ID: msg.TxHash(), Msg: msg}
	s.ledger.txs[before.ID] = before
	s.vaults.dry = 0
	at := bitcoin.OutPoint{Hash: before.ID}
	ours := wire.NewMsgTx(2)
	ours.AddTxIn(&wire.TxIn{PreviousOutPoint: at})
	ours.AddTxOut(&wire.TxOut{Value: 1})
	read := func(ctx context.Context) (verify.VaultFacts, error) {
		return s.VaultFacts(ctx, s.vaults, func(context.Context) (*chains.Vault, error) { return &s.vaults.vault, nil }, at, ours)
	}
	if f, err := read(t.Context()); err != nil || len(f.Pending) != 1 || f.Pending[0].TxID != before.ID || s.vaults.dry != 2 || f.Parse != nil {
		t.Errorf("%+v, %d transactions, %v", f, s.vaults.dry, err)
	}
	// Each of several withdrawals before ours is read, the oldest first.
	second := msg.Copy()
	second.TxIn[0].PreviousOutPoint = at
	next := &bitcoin.Tx{ID: second.TxHash(), Msg: second}
	s.ledger.txs[next.ID] = next
	first := at
	at = bitcoin.OutPoint{Hash: next.ID}
	if f, err := read(t.Context()); err != nil || len(f.Pending) != 2 || f.Pending[0].TxID != before.ID || f.Pending[1].TxID != next.ID {
		t.Errorf("%+v, %v", f, err)
	}
	at = first
	s.vaults.parseErr = errSilent
	if f, err := read(t.Context()); err != nil || f.Parse == nil {
		t.Errorf("a withdrawal that is none: %+v, %v", f, err)
	}
	s.vaults.parseErr = nil
	over, cancel := context.WithCancel(t.Context())
	s.vaults.dryErr = errSilent
	cancel()
	if f, err := read(over); err == nil {
		t.Errorf("a caller that gives up: %+v", f)
	}
}

// The addresses of tokens and contracts belong to nobody who swaps.
type infoChain struct {
	chains.Chain
	info chains.Info
}

func (c infoChain) Info() chains.Info { return c.info }
func (c infoChain) Address(s string) (string, error) {
	if s == "" {
		return "", errSilent
	}
	return "canonical " + s, nil
}

func TestAddressesOfNobody(t *testing.T) {
	c := infoChain{info: chains.Info{Contracts: []string{"vaults", "coin", ""}}}
	c.info.Tokens = append(c.info.Tokens, c.info.Native)
	c.info.Tokens[0].Chain, c.info.Tokens[0].Ticker, c.info.Tokens[0].Address = "BOOK", "COIN", "coin"
	c.info.Tokens = append(c.info.Tokens, c.info.Native)
	w := New(map[string]chains.Chain{"BOOK": c}, nil, nil)
	defer w.Close()
	got := w.Unpayable()
	if len(got) != 2 || got["canonical coin"] != "the token BOOK-COIN" || got["canonical vaults"] != "a contract of the network on BOOK" {
		t.Errorf("%q", got)
	}
	if info, ok := w.Info("BOOK"); !ok || len(info.Tokens) != 2 {
		t.Errorf("%+v, %v", info, ok)
	}
}

// Answers that nobody came for give way when there are too many, the old ones first;
// those that are under way do not.
func TestForgottenAnswersGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader, _ := lpAt(func(lp.StatusQuery) time.Duration { return time.Millisecond })
		n := newInquiries(t.Context(), reader)
		n.mu.Lock()
		now := time.Now()
		fill := func(count int, ended time.Time) {
			for i := range count {
				n.asked[fmt.Sprint(len(n.asked), " ", i)] = &inquiry{ended: ended}
			}
		}
		fill(10, now.Add(-lpKept))
		fill(20, now.Add(-time.Minute))
		fill(mostInquiries-30, now)
		if !n.sweep() || len(n.asked) != mostInquiries-10 {
			t.Errorf("%d answers are left after the old ones went", len(n.asked))
		}
		fill(10, now)
		if !n.sweep() || len(n.asked) != mostInquiries-20 {
			t.Errorf("%d answers are left after those of a minute went", len(n.asked))
		}
		fill(20, now)
		if !n.sweep() || len(n.asked) != 0 {
			t.Errorf("%d answers are left after all went", len(n.asked))
		}
		fill(mostInquiries, time.Time{})
		if n.sweep() || len(n.asked) != mostInquiries {
			t.Errorf("%d are left of those that are under way", len(n.asked))
		}
		n.mu.Unlock()
		if _, err := n.ask(t.Context(), lp.StatusQuery{URL: "https://lp/x", ID: "one more"}); !errors.Is(err, errLPSilent) {
			t.Errorf("one more: %v", err)
		}
		n.mu.Lock()
		clear(n.asked)
		fill(mostInquiries-1, time.Time{})
		n.mu.Unlock()
		if s, err := n.ask(t.Context(), lp.StatusQuery{URL: "https://lp/x", ID: "the last"}); err != nil || s.Code != 1 {
			t.Errorf("the last place: %+v, %v", s, err)
		}
		n.mu.Lock()
		clear(n.asked)
		fill(mostInquiries, time.Now())
		n.mu.Unlock()
		if s, err := n.ask(t.Context(), lp.StatusQuery{URL: "https://lp/x", ID: "in the place of an old one"}); err != nil || s.Code != 2 {
			t.Errorf("in the place of an old one: %+v, %v", s, err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		closed := newInquiries(ended, reader)
		if _, err := closed.ask(t.Context(), lp.StatusQuery{URL: "https://lp/x"}); fault.CodeOf(err) != fault.Upstream {
			t.Errorf("after the end: %v", err)
		}
	})
}
