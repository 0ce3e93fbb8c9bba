package bank_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

var alice, bob = key("alice").PublicKey(), key("bob").PublicKey()

func TestTransfer(t *testing.T) {
	k := newKit(t, bank.Options{})
	tx := k.must(keys("alice"), wire.SetPrice(1_000_000), wire.Transfer(alice, bob, 7*sol))
	if got := k.lamports(bob); got != 107*sol {
		t.Errorf("bob has %d", got)
	}
	if want := 93*sol - tx.Fee; k.lamports(alice) != want || tx.Fee != 5000+1_000_001 {
		t.Errorf("alice has %d, the fee is %d", k.lamports(alice), tx.Fee)
	}
	want := []string{
		"Program ComputeBudget111111111111111111111111111111 invoke [1]", "Program ComputeBudget111111111111111111111111111111 success",
		"Program 11111111111111111111111111111111 invoke [1]", "Program 11111111111111111111111111111111 success",
		"Program ComputeBudget111111111111111111111111111111 invoke [1]", "Program ComputeBudget111111111111111111111111111111 success",
	}
	if d := cmp.Diff(want, tx.Logs); d != "" {
		t.Error(d)
	}
	at := slices.Index(tx.Message.AccountKeys, bob)
	if tx.PreBalances[at] != 100*sol || tx.PostBalances[at] != 107*sol {
		t.Errorf("%v, then %v", tx.PreBalances, tx.PostBalances)
	}
	// Half of what signatures cost is burnt, that of the leader's vote too; the rest is the leader's.
	if b := tx.Block; b.Reward != tx.Fee-2500+2500 || k.lamports(b.Leader) != b.LeaderPost {
		t.Errorf("the leader got %d of %d", b.Reward, tx.Fee)
	}
}

// TestFailurePays fails after a transfer: nothing of it stays but the fee.
func TestFailurePays(t *testing.T) {
	k := newKit(t, bank.Options{})
	tx := k.run(keys("alice"), wire.Transfer(alice, bob, sol), wire.Transfer(alice, bob, 1000*sol))
	if k.lamports(bob) != 100*sol || k.lamports(alice) != 100*sol-5000 {
		t.Errorf("alice has %d, bob %d", k.lamports(alice), k.lamports(bob))
	}
	text, err := json.Marshal(tx.Err)
	if err != nil || string(text) != `{"InstructionError":[1,{"Custom":1}]}` {
		t.Errorf("%s %v", text, err)
	}
	if want := "Error processing Instruction 1: custom program error: 0x1"; tx.Err.Error() != want {
		t.Errorf("%q", tx.Err)
	}
	last := tx.Logs[len(tx.Logs)-2:]
	if d := cmp.Diff([]string{"Transfer: insufficient lamports 98999995000, need 1000000000000", "Program 11111111111111111111111111111111 failed: custom program error: 0x1"}, last); d != "" {
		t.Error(d)
	}
}

// TestNeverExecuted sends what no block can take: nobody pays, and no id is known.
func TestNeverExecuted(t *testing.T) {
	send := func(payer string, change func(*wire.Tx)) func(*kit) []byte {
		return func(k *kit) []byte {
			from := key(payer).PublicKey()
			tx := wire.Tx{Payer: from, Instructions: []wire.Instruction{wire.Transfer(from, bob, sol)}, Blockhash: k.hash()}
			change(&tx)
			if err := tx.Sign(key(payer)); err != nil {
				k.t.Fatal(err)
			}
			raw, err := tx.Bytes()
			if err != nil {
				k.t.Fatal(err)
			}
			return raw
		}
	}
	asIs := func(*wire.Tx) {}
	for name, c := range map[string]struct {
		raw   func(*kit) []byte
		wait  func(*kit)
		taken bool // it was executed before
	}{
		"unknown block hash":    {raw: send("alice", func(tx *wire.Tx) { tx.Blockhash = wire.Hash{1} })},
		"old block hash":        {raw: send("alice", asIs), wait: func(k *kit) { k.DropPending(); k.Produce(151) }},
		"expired block hash":    {raw: send("alice", asIs), wait: func(k *kit) { k.DropPending(); _ = k.Expire() }},
		"payer without account": {raw: send("nobody", asIs)},
		"payer is a token":      {raw: send("token", asIs)},
		"unknown program":       {raw: send("alice", func(tx *wire.Tx) { tx.Instructions[0].Program = wire.Key{7} })},
		"program without code":  {raw: send("alice", func(tx *wire.Tx) { tx.Instructions[0].Program = bob })},
		"malformed budget": {raw: send("alice", func(tx *wire.Tx) {
			tx.Instructions = append(tx.Instructions, wire.Instruction{Program: wire.BudgetProgram, Data: []byte{2}})
		})},
		"two limits":             {raw: send("alice", func(tx *wire.Tx) { tx.Instructions = append(tx.Instructions, wire.SetLimit(1), wire.SetLimit(2)) })},
		"a fee above everything": {raw: send("alice", func(tx *wire.Tx) { tx.Instructions = append(tx.Instructions, wire.SetPrice(1<<63)) })},
		"a fee that takes rent":  {raw: send("rentless", asIs)},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, bank.Options{Accounts: map[bank.Key]bank.Account{
				key("rentless").PublicKey(): {Lamports: wire.Rent(0) + 4999},
				key("token").PublicKey():    bank.TokenAccount(wire.WSOL, alice, sol),
			}})
			raw := c.raw(k)
			before := k.lamports(alice)
			id, err := k.Send(raw)
			if err != nil {
				t.Fatal(err)
			}
			if c.wait != nil {
				c.wait(k)
				id = trial.Must(k.Send(raw))(t)
			}
			k.Produce(1)
			if k.tx(id) != nil || k.lamports(alice) != before || k.lamports(bob) != 100*sol {
				t.Errorf("it was executed: %+v", k.tx(id))
			}
		})
	}
}

// TestLastBlock executes a transaction in the last block that its hash is good for.
func TestLastBlock(t *testing.T) {
	k := newKit(t, bank.Options{})
	var head *bank.Block
	k.Read(bank.Processed, 0, func(v *bank.View) { head = v.Head() })
	raw := k.sign(keys("alice"), wire.Transfer(alice, bob, sol))
	k.Produce(int(bank.LastValid(head) - head.Height))
	k.Read(bank.Processed, 0, func(v *bank.View) {
		if !v.Valid(head.Hash) {
			t.Error("the hash is not good any more")
		}
	})
	id := trial.Must(k.Send(raw))(t)
	k.Produce(1)
	if tx := k.tx(id); tx == nil || tx.Err != nil {
		t.Errorf("%+v", tx)
	}
	k.Read(bank.Processed, 0, func(v *bank.View) {
		if v.Valid(head.Hash) {
			t.Error("the hash is good for ever")
		}
	})
}

// TestRefusedBytes sends what is no transaction, or not signed.
func TestRefusedBytes(t *testing.T) {
	k := newKit(t, bank.Options{})
	good := k.sign(keys("alice"), wire.Transfer(alice, bob, sol))
	at := func(i int, b byte) []byte {
		raw := slices.Clone(good)
		raw[i] = b
		return raw
	}
	const message = 1 + 64
	for name, raw := range map[string][]byte{
		"empty":                 {},
		"cut":                   good[:len(good)-1],
		"longer":                append(slices.Clone(good), 0),
		"too large":             make([]byte, wire.MaxTxSize+1),
		"another signature":     at(5, good[5]^1),
		"another amount":        at(len(good)-1, 9),
		"more signers":          at(message, 2),
		"all signers read-only": at(message+1, 1),
		"an unknown account":    at(len(good)-13, 9),
	} {
		if id, err := k.Send(raw); err == nil {
			t.Errorf("%s: taken as %s", name, id)
		}
	}
	k.Produce(1)
	if k.lamports(bob) != 100*sol {
		t.Error("something was executed")
	}
}

// TestOnce sends a transaction twice into one block, and again.
func TestOnce(t *testing.T) {
	k := newKit(t, bank.Options{})
	raw := k.sign(keys("alice"), wire.Transfer(alice, bob, sol))
	for range 3 {
		for range 2 {
			if _, err := k.Send(raw); err != nil {
				t.Fatal(err)
			}
		}
		k.Produce(1)
	}
	if k.lamports(bob) != 101*sol {
		t.Errorf("bob has %d", k.lamports(bob))
	}
	tx := trial.Must(bank.Parse(raw))(t)
	k.Read(bank.Processed, 0, func(v *bank.View) {
		if _, _, err := v.Simulate(tx, false); err == nil || err.Error() != "This transaction has already been processed" {
			t.Error(err)
		}
	})
}

// TestVersioned executes a message of version 0 without address tables.
func TestVersioned(t *testing.T) {
	k := newKit(t, bank.Options{})
	m := trial.Must(wire.Compile(alice, k.hash(), []wire.Instruction{wire.Transfer(alice, bob, sol)}))(t)
	m.SetVersion(solana.MessageVersionV0)
	body := trial.Must(m.MarshalBinary())(t)
	sig := trial.Must(key("alice").Sign(body))(t)
	raw := trial.Must((&solana.Transaction{Message: m, Signatures: []wire.Signature{sig}}).MarshalBinary())(t)
	id := trial.Must(k.Send(raw))(t)
	k.Produce(1)
	if tx := k.tx(id); tx == nil || tx.Err != nil || tx.Version() != 0 {
		t.Errorf("%+v", tx)
	}
	m.AddAddressTableLookup(solana.MessageAddressTableLookup{AccountKey: bob, WritableIndexes: []uint8{0}})
	raw = trial.Must((&solana.Transaction{Message: m, Signatures: []wire.Signature{sig}}).MarshalBinary())(t)
	var refused *bank.TxError
	if _, err := k.Send(raw); !errors.As(err, &refused) || refused.Name != "AddressLookupTableNotFound" {
		t.Error(err)
	}
}

// TestCommitments looks at a transaction while blocks come on top of it, also through
// a node that lags.
func TestCommitments(t *testing.T) {
	k := newKit(t, bank.Options{ConfirmedLag: 2, FinalizedLag: 5})
	k.Produce(10)
	raw := k.sign(keys("alice"), wire.Transfer(alice, bob, sol))
	id := trial.Must(k.Send(raw))(t)
	sees := func(c bank.Commitment, behind int) (sees bool) {
		k.Read(c, behind, func(v *bank.View) {
			tx := v.Tx(id)
			a, _ := v.Account(bob)
			if sees = tx != nil; sees != (a.Lamports == 101*sol) {
				t.Errorf("%s: the transaction is seen: %t, its account has %d", c, sees, a.Lamports)
			}
			n := 0
			for range v.History(bob) {
				n++
			}
			if sees != (n == 1) {
				t.Errorf("%s: the history has %d", c, n)
			}
			if sees && v.Commitment(tx.Block) < c {
				t.Errorf("a %s view says %s", c, v.Commitment(tx.Block))
			}
		})
		return sees
	}
	for depth := range 8 {
		k.Produce(1)
		for c, lag := range map[bank.Commitment]int{bank.Processed: 0, bank.Confirmed: 2, bank.Finalized: 5} {
			for behind := range 3 {
				if got, want := sees(c, behind), depth >= lag+behind; got != want {
					t.Errorf("%s below %d blocks, %d behind: %t", c, depth, behind, got)
				}
			}
		}
	}
}

// TestFork undoes blocks and executes their transactions again.
func TestFork(t *testing.T) {
	k := newKit(t, bank.Options{})
	first := k.must(keys("alice"), wire.Transfer(alice, bob, sol))
	second := k.must(keys("bob"), wire.Transfer(bob, alice, 50*sol))
	third := k.must(keys("alice"), wire.Transfer(alice, bob, 2*sol))
	trial.Do(t, k.Fork(2, false))
	if k.tx(first.ID) == nil || k.tx(second.ID) != nil || k.tx(third.ID) != nil || k.lamports(bob) != 101*sol {
		t.Errorf("bob has %d", k.lamports(bob))
	}
	k.Read(bank.Processed, 0, func(v *bank.View) {
		if v.Block(third.Block.Slot) != nil || v.Valid(third.Block.Hash) || v.Head().Slot <= third.Block.Slot || v.Head().Height != third.Block.Height+1 {
			t.Errorf("the head is %+v", v.Head())
		}
	})
	k.Produce(1)
	if k.tx(second.ID) == nil || k.tx(third.ID) == nil || k.tx(third.ID).Block.Slot <= third.Block.Slot || k.lamports(bob) != 53*sol-5000 {
		t.Errorf("bob has %d", k.lamports(bob))
	}
	trial.Do(t, k.Fork(1, true))
	k.Produce(1)
	if k.tx(third.ID) != nil || k.lamports(bob) != 101*sol {
		t.Error("what was lost came again")
	}
	last := k.must(keys("bob"), wire.Transfer(bob, alice, sol))
	trial.Do(t, k.Lose(1))
	trial.Must(k.Send(last.Raw))(t)
	k.Produce(1)
	if k.tx(last.ID) != nil || k.lamports(bob) != 101*sol {
		t.Error("what was lost for good came again")
	}
	if err := k.Fork(1000, false); err == nil {
		t.Error("the first block was replaced")
	}
}

// TestTime moves the clock, the chain's time and slots.
func TestTime(t *testing.T) {
	k := newKit(t, bank.Options{FinalizedLag: 2})
	start := k.now.Unix()
	head := func() (b *bank.Block) {
		k.Read(bank.Finalized, 0, func(v *bank.View) { b = v.Head() })
		return b
	}
	trial.Do(t, k.Advance(10*time.Minute))
	if b := head(); b.Time != start+600 || b.Slot != 1498 || b.Height != 1498 {
		t.Errorf("%+v", b)
	}
	k.now = k.now.Add(time.Minute)
	k.Elapse(time.Minute)
	if b := head(); b.Time != start+660 || b.Slot != 1500+150-2 {
		t.Errorf("%+v", b)
	}
	k.Skip(3)
	k.Produce(2)
	if b := head(); b.Slot-b.ParentSlot != 4 || b.Height != 1651 {
		t.Errorf("%+v", b)
	}
	if k.Advance(time.Millisecond) == nil {
		t.Error("a millisecond is no time")
	}
}

// TestAutomatic executes transactions as they come in, and not while it is told not to.
func TestAutomatic(t *testing.T) {
	k := newKit(t, bank.Options{SlotTime: time.Millisecond})
	wait := func(id wire.Signature) bool {
		for range 1000 {
			if k.tx(id) != nil {
				return true
			}
			<-k.Moved()
		}
		return false
	}
	id, err := k.Send(k.sign(keys("alice"), wire.Transfer(alice, bob, sol)))
	if err != nil {
		t.Fatal(err)
	}
	for range 20 { // blocks come all the same
		<-k.Moved()
	}
	if k.tx(id) != nil {
		t.Error("executed while transactions are held")
	}
	k.SetAutomatic(true)
	if !wait(id) {
		t.Error("never executed")
	}
	if id, err = k.Send(k.sign(keys("bob"), wire.Transfer(bob, alice, sol))); err != nil || !wait(id) {
		t.Error("never executed", err)
	}
}

func TestOptions(t *testing.T) {
	for name, o := range map[string]bank.Options{
		"finalized before confirmed": {ConfirmedLag: 2, FinalizedLag: 1},
		"negative lag":               {ConfirmedLag: -1},
		"program of the bank's":      {Programs: map[bank.Key]bank.Program{wire.TokenProgram: {}}},
		"account without rent":       {Accounts: map[bank.Key]bank.Account{alice: {Lamports: 1}}},
	} {
		if b, err := bank.New(o); err == nil {
			_ = b.Close()
			t.Errorf("%s: taken", name)
		} else if strings.Contains(err.Error(), "%!") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
