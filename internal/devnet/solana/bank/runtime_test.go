package bank_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

var (
	programID = key("program").PublicKey()
	otherID   = key("other program").PublicKey()
)

// rogue is a program that does whatever a test wants. Accounts: 0 its own, writable;
// 1 alice, who signs; 2 bob, writable; 3 its own, read-only; 4 the other program; 5 an
// address of its own making; 6 the system program; 7 itself.
func rogue(t *testing.T, f func(*bank.Call) error) (*kit, wire.Instruction, bank.Key) {
	t.Helper()
	derived, _ := bank.Derive(programID, []byte("seed"))
	mine, still := key("mine").PublicKey(), key("still").PublicKey()
	k := newKit(t, bank.Options{
		Programs: map[bank.Key]bank.Program{
			programID: {Execute: f},
			otherID: {Execute: func(c *bank.Call) error { // runs what its data says, on its accounts
				switch {
				case string(c.Data) == "fail":
					return bank.Custom(77)
				case string(c.Data) == "signed":
					if !c.Accounts[0].Signer {
						return bank.MissingRequiredSignature
					}
				case string(c.Data) == "back":
					return c.Invoke(wire.Instruction{Program: programID, Accounts: []wire.Account{{PublicKey: programID}}})
				}
				c.Return([]byte("done"))
				return nil
			}},
		},
		Accounts: map[bank.Key]bank.Account{
			mine:    {Lamports: 10 * sol, Owner: programID, Data: []byte("four")},
			still:   {Lamports: 10 * sol, Owner: programID, Data: []byte("four")},
			derived: {Lamports: 10 * sol},
		},
	})
	ix := wire.Instruction{Program: programID, Accounts: []wire.Account{
		{PublicKey: mine, IsWritable: true}, {PublicKey: alice, IsSigner: true, IsWritable: true}, {PublicKey: bob, IsWritable: true}, {PublicKey: still},
		{PublicKey: otherID}, {PublicKey: derived, IsWritable: true}, {PublicKey: wire.SystemProgram}, {PublicKey: programID},
	}}
	return k, ix, mine
}

// TestProgramsKeepToTheirAccounts tries everything that a program is not entitled to.
func TestProgramsKeepToTheirAccounts(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(*bank.Call) error
		want error
	}{
		"lamports out of nothing":    {func(c *bank.Call) error { c.Accounts[0].Lamports++; return nil }, bank.UnbalancedInstruction},
		"lamports into nothing":      {func(c *bank.Call) error { c.Accounts[0].Lamports--; return nil }, bank.UnbalancedInstruction},
		"a signer's lamports":        {func(c *bank.Call) error { c.Accounts[1].Lamports--; c.Accounts[0].Lamports++; return nil }, bank.ExternalAccountLamportSpend},
		"of a read-only account":     {func(c *bank.Call) error { c.Accounts[3].Lamports--; c.Accounts[0].Lamports++; return nil }, bank.ReadonlyLamportChange},
		"to a read-only account":     {func(c *bank.Call) error { c.Accounts[0].Lamports--; c.Accounts[3].Lamports++; return nil }, bank.ReadonlyLamportChange},
		"another's data":             {func(c *bank.Call) error { c.Accounts[2].Data = []byte{1}; return nil }, bank.AccountDataSizeChanged},
		"data of a read-only one":    {func(c *bank.Call) error { c.Accounts[3].Data[0]++; return nil }, bank.ReadonlyDataModified},
		"another's owner":            {func(c *bank.Call) error { c.Accounts[2].Owner = programID; return nil }, bank.ModifiedProgramID},
		"the owner of a full one":    {func(c *bank.Call) error { c.Accounts[0].Owner = otherID; return nil }, bank.ModifiedProgramID},
		"executable":                 {func(c *bank.Call) error { c.Accounts[0].Executable = true; return nil }, bank.ExecutableModified},
		"data without end":           {func(c *bank.Call) error { c.Accounts[0].Data = make([]byte, 11<<20); return nil }, bank.InvalidRealloc},
		"more data than rent":        {func(c *bank.Call) error { c.Accounts[0].Data = make([]byte, 5<<20); return nil }, nil}, // refused as a whole
		"a panic":                    {func(c *bank.Call) error { c.Accounts[99].Lamports++; return nil }, bank.ProgramFailedToComplete},
		"an error of its own":        {func(c *bank.Call) error { return bank.Custom(6001) }, bank.Custom(6001)},
		"an error without a name":    {func(c *bank.Call) error { return errors.New("something") }, bank.GenericError},
		"more units than there are":  {func(c *bank.Call) error { return c.Consume(2_000_000) }, bank.ComputationalBudgetExceeded},
		"an account that is missing": {func(c *bank.Call) error { _, err := c.Account(8); return err }, bank.NotEnoughAccountKeys},
		"a call of a stranger":       {func(c *bank.Call) error { return c.Invoke(wire.Instruction{Program: wire.TokenProgram}) }, bank.MissingAccount},
		"a stranger in a call": {func(c *bank.Call) error {
			return c.Invoke(wire.Instruction{Program: otherID, Accounts: []wire.Account{{PublicKey: wire.Key{5}}}})
		}, bank.MissingAccount},
		"a signature that is not there": {func(c *bank.Call) error {
			return c.Invoke(wire.Transfer(bob, alice, 1))
		}, bank.PrivilegeEscalation},
		"a signature by wrong seeds": {func(c *bank.Call) error {
			return c.Invoke(wire.Transfer(c.Accounts[5].Key, alice, 1), bank.Seeds{[]byte("seed"), {0}})
		}, nil}, // no such address, or another one
		"writing what is read-only": {func(c *bank.Call) error {
			return c.Invoke(wire.Transfer(alice, c.Accounts[3].Key, 1))
		}, bank.PrivilegeEscalation},
		"a failed call that it hides": {func(c *bank.Call) error {
			_ = c.Invoke(wire.Instruction{Program: otherID, Data: []byte("fail")})
			return nil
		}, bank.Custom(77)},
		"a call of itself through another": {func(c *bank.Call) error {
			return c.Invoke(wire.Instruction{Program: otherID, Accounts: []wire.Account{{PublicKey: programID}}, Data: []byte("back")})
		}, bank.ReentrancyNotAllowed},
		"calls without end": {func(c *bank.Call) error {
			return c.Invoke(wire.Instruction{Program: programID, Accounts: []wire.Account{{PublicKey: programID}}})
		}, bank.CallDepth},
		"lamports in a call": {func(c *bank.Call) error {
			c.Accounts[1].Lamports--
			return c.Invoke(wire.Instruction{Program: otherID})
		}, bank.ExternalAccountLamportSpend},
	} {
		t.Run(name, func(t *testing.T) {
			k, ix, mine := rogue(t, c.do)
			before := k.lamports(mine)
			tx := k.run(keys("alice"), ix)
			switch {
			case tx.Err == nil:
				t.Fatal("it was let")
			case c.want != nil && !errors.Is(tx.Err, c.want):
				t.Errorf("%v, want %v\n%s", tx.Err, c.want, strings.Join(tx.Logs, "\n"))
			}
			if k.lamports(mine) != before || k.lamports(bob) != 100*sol || k.lamports(alice) != 100*sol-tx.Fee {
				t.Error("something stayed")
			}
		})
	}
}

// TestProgramsDoWhatTheyMay does everything that is allowed, in one call.
func TestProgramsDoWhatTheyMay(t *testing.T) {
	k, ix, mine := rogue(t, func(c *bank.Call) error {
		if c.Depth() != 1 || c.Index() != 1 || c.Instructions()[c.Index()].Program != programID || c.Clock().Time.IsZero() || c.Clock().Slot != 1 {
			return bank.InvalidArgument
		}
		own, bob, derived := c.Accounts[0], c.Accounts[2], c.Accounts[5]
		own.Lamports -= 3 * sol
		bob.Lamports += 3 * sol
		own.Data = append(own.Data, "five"...)
		_, bump := bank.Derive(c.Program, []byte("seed"))
		if err := c.Invoke(wire.Transfer(derived.Key, bob.Key, sol), bank.Seeds{[]byte("seed"), {bump}}); err != nil {
			return err
		}
		if bob.Lamports != 104*sol || derived.Lamports != 9*sol {
			return errors.New("the call's changes are not seen")
		}
		if err := c.Invoke(wire.Instruction{Program: otherID, Accounts: []wire.Account{{PublicKey: derived.Key, IsSigner: true}}, Data: []byte("signed")}, bank.Seeds{[]byte("seed"), {bump}}); err != nil {
			return err
		}
		if string(c.Returned().Data) != "done" || c.Returned().Program != otherID {
			return errors.New("nothing was returned")
		}
		c.Log("hello %d", 5)
		c.Emit([]byte("event"))
		clear(own.Data)
		own.Owner = otherID
		return c.Consume(100)
	})
	tx := k.must(keys("alice"), wire.SetPrice(0), ix)
	derived := ix.Accounts[5].PublicKey
	want := []string{
		"Program " + programID.String() + " invoke [1]", "Program 11111111111111111111111111111111 invoke [2]", "Program 11111111111111111111111111111111 success",
		"Program " + otherID.String() + " invoke [2]", "Program " + otherID.String() + " consumed 1000 of 996701 compute units",
		"Program return: " + otherID.String() + " ZG9uZQ==", "Program " + otherID.String() + " success",
		"Program log: hello 5", "Program data: ZXZlbnQ=", "Program " + programID.String() + " consumed 4250 of 999851 compute units",
		"Program return: " + programID.String() + " ZG9uZQ==", "Program " + programID.String() + " success",
	}
	if d := cmp.Diff(want, tx.Logs[2:len(tx.Logs)-2]); d != "" {
		t.Error(d)
	}
	if tx.Units != 4550 || len(tx.Inner) != 2 || tx.Inner[0].Index != 1 || tx.Inner[0].Height != 2 || tx.Message.AccountKeys[tx.Inner[1].Program] != otherID {
		t.Errorf("%d units, %+v", tx.Units, tx.Inner)
	}
	k.Read(bank.Processed, 0, func(v *bank.View) {
		a, _ := v.Account(mine)
		if a.Owner != otherID || a.Lamports != 7*sol || string(a.Data) != strings.Repeat("\x00", 8) {
			t.Errorf("%+v", a)
		}
	})
	if k.lamports(derived) != 9*sol || k.lamports(bob) != 104*sol {
		t.Error("lamports did not move")
	}
}

// TestLogsAreBounded logs more than a node keeps.
func TestLogsAreBounded(t *testing.T) {
	k, ix, _ := rogue(t, func(c *bank.Call) error {
		for range 200 {
			c.Log("%s", strings.Repeat("x", 100))
		}
		return nil
	})
	logs := k.must(keys("alice"), ix).Logs
	if last := logs[len(logs)-1]; last != "Log truncated" || len(logs) > 100 {
		t.Errorf("%d lines, the last is %q", len(logs), last)
	}
}
