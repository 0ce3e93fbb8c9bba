package bank_test

import (
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// step is a transaction and how its last instruction ends.
type step struct {
	name    string
	signers []wire.SecretKey
	do      []wire.Instruction
	want    error  // nil: it succeeds
	says    string // a line of the log
}

func (k *kit) steps(all []step) {
	k.t.Helper()
	for _, s := range all {
		tx := k.run(s.signers, s.do...)
		switch {
		case s.want == nil && tx.Err == nil:
		case s.want != nil && tx.Err != nil && errors.Is(tx.Err, s.want) && tx.Err.Name == "InstructionError" && tx.Err.Index == len(s.do)-1:
		default:
			k.t.Errorf("%s: %v, want %v\n%s", s.name, tx.Err, s.want, strings.Join(tx.Logs, "\n"))
		}
		if s.says != "" && !slices.Contains(tx.Logs, s.says) {
			k.t.Errorf("%s: the log lacks %q\n%s", s.name, s.says, strings.Join(tx.Logs, "\n"))
		}
	}
}

func one(ix ...wire.Instruction) []wire.Instruction { return ix }

// ix makes an instruction; accounts are keys, marked writable or signing by w and s.
func w(k bank.Key) wire.Account  { return wire.Account{PublicKey: k, IsWritable: true} }
func s(k bank.Key) wire.Account  { return wire.Account{PublicKey: k, IsSigner: true} }
func sw(k bank.Key) wire.Account { return wire.Account{PublicKey: k, IsSigner: true, IsWritable: true} }
func r(k bank.Key) wire.Account  { return wire.Account{PublicKey: k} }

func call(program bank.Key, data []byte, accounts ...wire.Account) wire.Instruction {
	return wire.Instruction{Program: program, Accounts: accounts, Data: data}
}

func u64(prefix []byte, n uint64) []byte {
	return binary.LittleEndian.AppendUint64(slices.Clone(prefix), n)
}

func TestSystemProgram(t *testing.T) {
	k := newKit(t, bank.Options{})
	fresh, a, b := key("fresh"), keys("alice"), keys("bob")
	both := append(keys("alice"), fresh)
	create := wire.CreateAccount(alice, fresh.PublicKey(), programID, wire.Rent(10), 10)
	seeded := trial.Must(solana.CreateWithSeed(alice, "data", programID))(t)
	withSeed := func(name string, at bank.Key) wire.Instruction {
		data := append([]byte{3, 0, 0, 0}, alice[:]...)
		data = append(u64(data, uint64(len(name))), name...)
		return call(wire.SystemProgram, append(u64(u64(data, wire.Rent(3)), 3), programID[:]...), sw(alice), w(at))
	}
	poor := key("poor").PublicKey()
	k.steps([]step{
		{"a transfer without signature", a, one(call(wire.SystemProgram, u64([]byte{2, 0, 0, 0}, 1), w(bob), w(alice))), bank.MissingRequiredSignature, "Transfer: `from` account " + bob.String() + " must sign"},
		{"too much", b, one(wire.Transfer(bob, alice, 200*sol)), bank.Custom(1), ""},
		{"no instruction", a, one(call(wire.SystemProgram, nil)), bank.InvalidInstructionData, ""},
		{"unknown", a, one(call(wire.SystemProgram, []byte{99, 0, 0, 0})), bank.InvalidInstructionData, ""},
		{"accounts missing", a, one(call(wire.SystemProgram, u64([]byte{2, 0, 0, 0}, 1), sw(alice))), bank.NotEnoughAccountKeys, ""},
		{"create without its signature", a, one(call(wire.SystemProgram, create.Data, sw(alice), w(fresh.PublicKey()))), bank.MissingRequiredSignature, ""},
		{"create", both, one(create), nil, ""},
		{"create again", both, one(create), bank.Custom(0), "Create Account: account Address { address: " + fresh.PublicKey().String() + ", base: None } already in use"},
		{"spend from another program's", both, one(wire.Transfer(fresh.PublicKey(), alice, 1)), bank.InvalidArgument, "Transfer: `from` must not carry data"},
		{"by a seed", a, one(withSeed("data", seeded)), nil, ""},
		{"by another seed", a, one(withSeed("date", poor)), bank.Custom(5), ""},
		{"more data than possible", append(keys("alice"), key("poor")), one(wire.CreateAccount(alice, poor, programID, sol, 11<<20)), bank.Custom(3), ""},
	})
	tx := k.run(a, wire.Transfer(alice, poor, wire.Rent(0)-1))
	if tx.Err == nil || tx.Err.Name != "InsufficientFundsForRent" || tx.Message.AccountKeys[tx.Err.Index] != poor {
		t.Errorf("an account without its rent: %v", tx.Err)
	}
	if tx = k.run(append(a, key("poor")), wire.CreateAccount(alice, poor, programID, wire.Rent(9), 10)); tx.Err == nil || tx.Err.Name != "InsufficientFundsForRent" {
		t.Errorf("a program's account without its rent: %v", tx.Err)
	}
}

// Token instructions that package wire has no need of.
func mint(m, to, authority bank.Key, n uint64) wire.Instruction {
	return bank.MintTo(m, to, authority, n)
}
func burn(from, m, owner bank.Key, n uint64) wire.Instruction {
	return call(wire.TokenProgram, u64([]byte{8}, n), w(from), w(m), s(owner))
}
func checked(from, m, to, owner bank.Key, n uint64, decimals byte) wire.Instruction {
	return call(wire.TokenProgram, append(u64([]byte{12}, n), decimals), w(from), r(m), w(to), s(owner))
}
func freeze(at, m, authority bank.Key, hold bool) wire.Instruction {
	kind := byte(11)
	if hold {
		kind = 10
	}
	return call(wire.TokenProgram, []byte{kind}, w(at), r(m), s(authority))
}
func authority(of byte, at, now bank.Key, to *bank.Key) wire.Instruction {
	data := []byte{6, of, 0}
	if to != nil {
		data = append([]byte{6, of, 1}, to[:]...)
	}
	return call(wire.TokenProgram, data, w(at), s(now))
}

// What the log says while a token account is made, in the order of the published program.
func TestLogOfANewTokenAccount(t *testing.T) {
	mint := key("coin").PublicKey()
	k := newKit(t, bank.Options{Accounts: map[bank.Key]bank.Account{mint: bank.MintAccount(6, 0, &alice)}})
	var said []string
	for _, line := range k.must(keys("alice"), wire.CreateATA(alice, bob, mint)).Logs {
		if !strings.Contains(line, " consumed ") && !strings.Contains(line, wire.BudgetProgram.String()) {
			said = append(said, strings.NewReplacer(wire.ATAProgram.String(), "ATA", wire.TokenProgram.String(), "Token", wire.SystemProgram.String(), "System").Replace(line))
		}
	}
	want := []string{
		"Program ATA invoke [1]", "Program log: Create",
		"Program Token invoke [2]", "Program log: Instruction: GetAccountDataSize", "Program return: Token pQAAAAAAAAA=", "Program Token success",
		"Program System invoke [2]", "Program System success",
		"Program log: Initialize the associated token account",
		"Program Token invoke [2]", "Program log: Instruction: InitializeImmutableOwner", "Program log: Please upgrade to SPL Token 2022 for immutable owner support", "Program Token success",
		"Program Token invoke [2]", "Program log: Instruction: InitializeAccount3", "Program Token success",
		"Program ATA success",
	}
	if d := cmp.Diff(want, said); d != "" {
		t.Error(d)
	}
}

func TestTokenProgram(t *testing.T) {
	coinKey, heldKey := key("coin"), key("held coin")
	coin, held := coinKey.PublicKey(), heldKey.PublicKey()
	k := newKit(t, bank.Options{Accounts: map[bank.Key]bank.Account{coin: bank.MintAccount(6, 0, &alice)}})
	a, b := keys("alice"), keys("bob")
	mine, his := wire.ATA(alice, coin), wire.ATA(bob, coin)
	ownedByAlice := append([]byte{20, 2}, alice[:]...)
	newMint := call(wire.TokenProgram, append(append(ownedByAlice, 1), alice[:]...), w(held))
	k.steps([]step{
		{"accounts", a, one(wire.CreateATA(alice, alice, coin), wire.CreateATA(alice, bob, coin)), nil, "Program log: Initialize the associated token account"},
		{"mint", a, one(mint(coin, mine, alice, 1000)), nil, "Program log: Instruction: MintTo"},
		{"mint by a stranger", b, one(mint(coin, his, bob, 1000)), bank.Custom(4), "Program log: Error: owner does not match"},
		{"mint too many", a, one(mint(coin, mine, alice, 1<<64-1)), bank.Custom(14), ""},
		{"transfer", a, one(wire.TransferToken(mine, his, alice, 400)), nil, "Program log: Instruction: Transfer"},
		{"to itself", a, one(wire.TransferToken(mine, mine, alice, 600)), nil, ""},
		{"more than there is", a, one(wire.TransferToken(mine, his, alice, 601)), bank.Custom(1), "Program log: Error: insufficient funds"},
		{"by a stranger", b, one(wire.TransferToken(mine, his, bob, 1)), bank.Custom(4), ""},
		{"unsigned", b, one(call(wire.TokenProgram, u64([]byte{3}, 1), w(mine), w(his), r(alice))), bank.MissingRequiredSignature, ""},
		{"to a wallet", a, one(wire.TransferToken(mine, bob, alice, 1)), bank.InvalidAccountData, ""},
		{"checked", a, one(checked(mine, coin, his, alice, 100, 6)), nil, ""},
		{"of other decimals", a, one(checked(mine, coin, his, alice, 1, 9)), bank.Custom(18), ""},
		{"burn", a, one(burn(mine, coin, alice, 200)), nil, ""},
		{"burn too much", a, one(burn(mine, coin, alice, 301)), bank.Custom(1), ""},
		{"close with tokens", a, one(wire.CloseToken(mine, alice, alice)), bank.Custom(11), ""},
		{"freeze what cannot be frozen", a, one(freeze(mine, coin, alice, true)), bank.Custom(16), ""},
		{"an unknown instruction", a, one(call(wire.TokenProgram, []byte{99})), bank.Custom(12), ""},
		{"a short one", a, one(call(wire.TokenProgram, []byte{3, 1}, w(mine), w(his), s(alice))), bank.Custom(12), ""},
		{"wrapped in a token", a, one(wire.SyncNative(mine)), bank.Custom(19), ""},

		{"a mint", append(a, heldKey), one(wire.CreateAccount(alice, held, wire.TokenProgram, wire.Rent(82), 82), newMint), nil, ""},
		{"a mint twice", a, one(newMint), bank.Custom(6), ""},
		{"its accounts", a, one(wire.EnsureATA(alice, alice, held), wire.EnsureATA(alice, bob, held), mint(held, wire.ATA(alice, held), alice, 50)), nil, ""},
		{"freeze", a, one(freeze(wire.ATA(alice, held), held, alice, true)), nil, ""},
		{"send frozen ones", a, one(wire.TransferToken(wire.ATA(alice, held), wire.ATA(bob, held), alice, 1)), bank.Custom(17), ""},
		{"freeze twice", a, one(freeze(wire.ATA(alice, held), held, alice, true)), bank.Custom(13), ""},
		{"thaw by a stranger", b, one(freeze(wire.ATA(alice, held), held, bob, false)), bank.Custom(4), ""},
		{"thaw", a, one(freeze(wire.ATA(alice, held), held, alice, false), wire.TransferToken(wire.ATA(alice, held), wire.ATA(bob, held), alice, 1)), nil, ""},
		{"to an account of another mint", a, one(wire.TransferToken(mine, wire.ATA(bob, held), alice, 1)), bank.Custom(3), ""},
		{"no more minting", a, one(authority(0, held, alice, nil), mint(held, wire.ATA(alice, held), alice, 1)), bank.Custom(5), ""},

		{"approve", a, one(call(wire.TokenProgram, u64([]byte{4}, 150), w(mine), r(bob), s(alice)), wire.TransferToken(mine, his, alice, 50)), nil, ""},
		{"spend as delegate", b, one(wire.TransferToken(mine, his, bob, 100)), nil, ""},
		{"more than approved", b, one(wire.TransferToken(mine, his, bob, 51)), bank.Custom(1), ""},
		{"revoke", a, one(call(wire.TokenProgram, []byte{5}, w(mine), s(alice))), nil, ""},
		{"spend after that", b, one(wire.TransferToken(mine, his, bob, 1)), bank.Custom(4), ""},
		{"give away", a, one(authority(2, mine, alice, &bob)), nil, ""},
		{"spend what was given away", a, one(wire.TransferToken(mine, his, alice, 1)), bank.Custom(4), ""},
		{"close an empty one", b, one(wire.TransferToken(mine, his, bob, 150), wire.CloseToken(mine, bob, bob)), nil, ""},
	})
	if got, _ := k.token(his); got.Amount != 800 || got.Owner != bob || got.Mint != coin || got.Decimals != 6 {
		t.Errorf("bob has %+v", got)
	}
	if _, ok := k.token(mine); ok || k.lamports(mine) != 0 {
		t.Error("the closed account is still there")
	}
	k.Read(bank.Processed, 0, func(v *bank.View) {
		if m, ok := v.Mint(coin); !ok || m.Supply != 800 || m.Authority == nil || *m.Authority != alice {
			t.Errorf("%+v", m)
		}
	})
}

// TestWrappedSOL wraps, sends and unwraps.
func TestWrappedSOL(t *testing.T) {
	k := newKit(t, bank.Options{})
	mine, his := wire.ATA(alice, wire.WSOL), wire.ATA(bob, wire.WSOL)
	k.steps([]step{
		{"wrap", keys("alice"), one(wire.CreateATA(alice, alice, wire.WSOL), wire.Transfer(alice, mine, 7*sol), wire.SyncNative(mine)), nil, ""},
		{"mint", keys("alice"), one(mint(wire.WSOL, mine, alice, 1)), bank.Custom(10), ""},
		{"burn", keys("alice"), one(burn(mine, wire.WSOL, alice, 1)), bank.Custom(10), ""},
		{"send", keys("alice"), one(wire.EnsureATA(alice, bob, wire.WSOL), wire.TransferToken(mine, his, alice, 2*sol)), nil, ""},
	})
	if got, _ := k.token(mine); got.Amount != 5*sol || got.Native == nil || *got.Native != wire.TokenAccountRent || k.lamports(mine) != 5*sol+wire.TokenAccountRent {
		t.Errorf("%+v", got)
	}
	if got, _ := k.token(his); got.Amount != 2*sol || k.lamports(his) != 2*sol+wire.TokenAccountRent {
		t.Errorf("%+v", got)
	}
	before := k.lamports(alice)
	tx := k.must(keys("alice"), wire.Unwrap(alice))
	if k.lamports(alice) != before+5*sol+wire.TokenAccountRent-tx.Fee {
		t.Errorf("unwrapping gave %d", k.lamports(alice)-before)
	}
	if len(tx.PreTokens) != 1 || tx.PreTokens[0].Amount != 5*sol || len(tx.PostTokens) != 0 {
		t.Errorf("%+v, then %+v", tx.PreTokens, tx.PostTokens)
	}
}

func TestAssociatedTokens(t *testing.T) {
	coin := key("coin").PublicKey()
	stolen := wire.ATA(bob, coin)
	k := newKit(t, bank.Options{Accounts: map[bank.Key]bank.Account{coin: bank.MintAccount(6, 0, &alice), stolen: bank.TokenAccount(coin, alice, 5)}})
	a := keys("alice")
	carol := key("carol").PublicKey()
	wrong := wire.CreateATA(alice, carol, coin)
	wrong.Accounts = slices.Clone(wrong.Accounts)
	wrong.Accounts[2].PublicKey = bob
	noMint := wire.CreateATA(alice, alice, bob)
	k.steps([]step{
		{"create", a, one(wire.CreateATA(alice, alice, coin)), nil, "Program log: Create"},
		{"again", a, one(wire.CreateATA(alice, alice, coin)), bank.IllegalOwner, "Program ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL failed: Provided owner is not allowed"},
		{"unless it is there", a, one(wire.EnsureATA(alice, alice, coin)), nil, "Program log: CreateIdempotent"},
		{"of another owner", a, one(wire.EnsureATA(alice, bob, coin)), bank.Custom(0), ""},
		{"at another address", a, one(wrong), bank.InvalidSeeds, "Program log: Error: Associated address does not match seed derivation"},
		{"of no mint", a, one(noMint), bank.Custom(2), ""},
		{"where lamports are already", a, one(wire.Transfer(alice, wire.ATA(carol, coin), sol), wire.EnsureATA(alice, carol, coin)), nil, ""},
		{"unknown", a, one(call(wire.ATAProgram, []byte{7})), bank.InvalidInstructionData, ""},
		{"accounts missing", a, one(call(wire.ATAProgram, nil, sw(alice))), bank.NotEnoughAccountKeys, ""},
	})
	if got, ok := k.token(wire.ATA(carol, coin)); !ok || got.Owner != carol || k.lamports(wire.ATA(carol, coin)) != sol {
		t.Errorf("%+v", got)
	}
}

func TestMemo(t *testing.T) {
	k := newKit(t, bank.Options{})
	k.steps([]step{
		{"text", keys("alice"), one(call(bank.MemoProgram, []byte("hello"), s(alice))), nil, `Program log: Memo (len 5): "hello"`},
		{"unsigned", keys("alice"), one(call(bank.MemoProgram, []byte("hello"), r(bob))), bank.MissingRequiredSignature, ""},
		{"no text", keys("alice"), one(call(bank.MemoProgram, []byte{0xff})), bank.InvalidInstructionData, ""},
	})
}

// TestEd25519 checks signatures by instruction, its own data or another's.
func TestEd25519(t *testing.T) {
	message := []byte("a message")
	signature := ed25519.Sign(ed25519.PrivateKey(key("bob")), message)
	// program returns the instruction with the offsets changed.
	program := func(change func(at *[7]uint16), count byte) wire.Instruction {
		at := [7]uint16{16, 0xffff, 80, 0xffff, 112, uint16(len(message)), 0xffff}
		change(&at)
		data := []byte{count, 0}
		for _, n := range at {
			data = binary.LittleEndian.AppendUint16(data, n)
		}
		data = append(append(append(data, signature...), bob[:]...), message...)
		return call(wire.Ed25519Program, data)
	}
	asIs := func(*[7]uint16) {}
	forged := program(asIs, 1)
	forged.Data = slices.Clone(forged.Data)
	forged.Data[len(forged.Data)-1]++
	k := newKit(t, bank.Options{})
	a := keys("alice")
	k.steps([]step{
		{"good", a, one(program(asIs, 1)), nil, ""},
		{"another message", a, one(forged), bank.Custom(2), ""},
		{"more than there are", a, one(program(asIs, 20)), bank.Custom(4), ""},
		{"none", a, one(call(wire.Ed25519Program, []byte{0, 0})), nil, ""},
		{"none, with data", a, one(call(wire.Ed25519Program, []byte{0, 0, 0})), bank.Custom(4), ""},
		{"signature outside", a, one(program(func(at *[7]uint16) { at[0] = 1000 }, 1)), bank.Custom(3), ""},
		{"key outside", a, one(program(func(at *[7]uint16) { at[2] = 1000 }, 1)), bank.Custom(3), ""},
		{"message outside", a, one(program(func(at *[7]uint16) { at[5] = 1000 }, 1)), bank.Custom(3), ""},
		{"an instruction that is not there", a, one(program(func(at *[7]uint16) { at[6] = 9 }, 1)), bank.Custom(3), ""},
		{"the message of another instruction", a, one(call(bank.MemoProgram, message), program(func(at *[7]uint16) { at[4], at[6] = 0, 0 }, 1)), nil, ""},
	})
	if tx := k.must(a, program(asIs, 1)); tx.Fee != 10000 || len(tx.Logs) != 2 {
		t.Errorf("a fee of %d, logs %v", tx.Fee, tx.Logs)
	}
}
