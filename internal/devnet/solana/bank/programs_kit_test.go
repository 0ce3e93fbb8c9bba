package bank

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

const sol = solana.LAMPORTS_PER_SOL

// secretKey returns the key of a name.
func secretKey(name string) wire.SecretKey {
	seed := sha256.Sum256([]byte(name))
	return wire.SecretKey(ed25519.NewKeyFromSeed(seed[:]))
}

func keyOf(name string) wire.Key { return secretKey(name).PublicKey() }

// Parties of the tests. The payer pays the fees, so that the others' lamports show what
// the programs do.
var (
	user, lp, tower, payer = keyOf("user"), keyOf("lp"), keyOf("tower"), keyOf("payer")
	coin, other            = keyOf("coin"), keyOf("other coin")
)

const wealth = 1_000_000_000_000 // base units of each token that user, lp and tower have

// kit is a bank with the programs of one version and parties with funds. Its clock
// stands still.
type kit struct {
	testing.TB
	*Bank
	p    wire.Programs
	data wire.DataLayout
	now  time.Time
	keys map[wire.Key]wire.SecretKey
	runs uint32
}

// programsOf returns the deployment that the tests use.
func programsOf(t testing.TB, version string) wire.Programs {
	n, _ := wire.NetworkFor(bitcoin.Testnet3)
	return trial.Must(n.Version(version))(t)
}

type setup struct {
	rules    Rules
	data     wire.DataLayout
	accounts map[wire.Key]Account
	now      time.Time
}

func newKit(t testing.TB, version string, s setup) *kit {
	k := &kit{TB: t, p: programsOf(t, version), data: s.data, now: time.Unix(1_760_000_000, 0), keys: map[wire.Key]wire.SecretKey{}}
	if !s.now.IsZero() {
		k.now = s.now
	}
	accounts := map[wire.Key]Account{coin: MintAccount(8, 0, nil), other: MintAccount(6, 0, nil)}
	for _, name := range []string{"user", "lp", "tower", "payer", "data"} {
		k.keys[keyOf(name)] = secretKey(name)
		if name == "data" {
			continue
		}
		accounts[keyOf(name)] = Account{Lamports: 100 * sol}
		if name == "payer" {
			continue
		}
		for _, mint := range []wire.Key{coin, other} {
			accounts[wire.ATA(keyOf(name), mint)] = tokenAccount(mint, keyOf(name), wealth)
		}
	}
	for key, a := range s.accounts {
		accounts[key] = a
	}
	k.Bank = trial.Must(New(Options{Now: func() time.Time { return k.now }, Manual: true, Accounts: accounts,
		Programs: map[wire.Key]Program{k.p.Swap: Swap(k.p, k.data), k.p.Relay: Relay(k.p, s.rules)}}))(t)
	t.Cleanup(func() { _ = k.Close() })
	return k
}

// both runs a test for both versions.
func both(t *testing.T, s setup, f func(*testing.T, *kit)) {
	for _, version := range []string{wire.V1, wire.V2} {
		t.Run(version, func(t *testing.T) { f(t, newKit(t, version, s)) })
	}
}

// layouts runs a test for both versions, and for v2 with each layout of data accounts.
func layouts(t *testing.T, f func(*testing.T, *kit)) {
	both(t, setup{}, f)
	t.Run("v2, tagged", func(t *testing.T) { f(t, newKit(t, wire.V2, setup{data: wire.DataTagged})) })
}

func tokenAccount(mint, owner wire.Key, amount uint64) Account {
	return Account{Lamports: wire.TokenAccountRent, Owner: wire.TokenProgram, Data: wire.TokenAccount{Mint: mint, Owner: owner, Amount: amount}.Bytes()}
}

// run executes instructions in one transaction, signed by all whom they want to sign.
func (k *kit) run(ixs ...wire.Instruction) *Executed {
	k.Helper()
	k.runs++ // two equal transactions would be one
	tx := wire.Tx{Payer: payer, Instructions: append(slices.Clone(ixs), wire.SetLimit(1_000_000+k.runs))}
	k.Read(Processed, 0, func(v *View) { tx.Blockhash = v.Head().Hash })
	signers := []wire.Key{payer}
	for _, ix := range ixs {
		for _, a := range ix.Accounts {
			if a.IsSigner && !slices.Contains(signers, a.PublicKey) {
				signers = append(signers, a.PublicKey)
			}
		}
	}
	for _, s := range signers {
		if err := tx.Sign(k.keys[s]); err != nil {
			k.Fatal(err)
		}
	}
	raw, err := tx.Bytes()
	if err != nil {
		k.Fatal(err)
	}
	id, err := k.Send(raw)
	if err != nil {
		k.Fatal(err)
	}
	k.Produce(1)
	var done *Executed
	k.Read(Processed, 0, func(v *View) { done = v.Tx(id) })
	if done == nil {
		k.Fatalf("transaction %s is in no block", id)
	}
	return done
}

// must is run of a transaction that succeeds.
func (k *kit) must(ixs ...wire.Instruction) *Executed {
	k.Helper()
	tx := k.run(ixs...)
	if tx.Err != nil {
		k.Fatalf("%v\n%s", tx.Err, strings.Join(tx.Logs, "\n"))
	}
	return tx
}

// refused is run of a transaction whose last instruction fails with an error, and
// demands that nothing has changed.
func (k *kit) refused(want error, ixs ...wire.Instruction) {
	k.Helper()
	k.failsAt(len(ixs)-1, want, ixs...)
}

func (k *kit) failsAt(index int, want error, ixs ...wire.Instruction) {
	k.Helper()
	before := k.state()
	tx := k.run(ixs...)
	switch {
	case tx.Err == nil:
		k.Errorf("succeeded, want %v", want)
	case tx.Err.Index != index || !errors.Is(tx.Err, want):
		k.Errorf("%v (%s), want %v in instruction %d\n%s", tx.Err, k.name(tx), want, index, strings.Join(tx.Logs, "\n"))
	}
	var number Custom
	if errors.As(want, &number) && number >= unknownInstruction && k.name(tx) == "" {
		k.Errorf("the client has no name for error %d", number)
	}
	if after := k.state(); after != before {
		k.Errorf("a refused transaction changed something")
	}
}

// name is what the client calls the error of a transaction.
func (k *kit) name(tx *Executed) string {
	var number Custom
	if tx.Err == nil || !errors.As(tx.Err.Err, &number) {
		return ""
	}
	return k.p.ProgramError(tx.Instructions[tx.Err.Index].Program, uint32(number))
}

// state is the hash of all accounts of the programs, and of the parties.
func (k *kit) state() (h [32]byte) {
	k.Read(Processed, 0, func(v *View) {
		s := sha256.New()
		all := append(append(v.Owned(k.p.Swap), v.Owned(k.p.Relay)...), v.Owned(wire.TokenProgram)...)
		for _, key := range append(all, user, lp, tower) {
			a, _ := v.Account(key)
			s.Write(key[:])
			s.Write(a.Owner[:])
			s.Write(a.Data)
			s.Write([]byte{byte(a.Lamports), byte(a.Lamports >> 8), byte(a.Lamports >> 16), byte(a.Lamports >> 24), byte(a.Lamports >> 32), byte(a.Lamports >> 40)})
		}
		s.Sum(h[:0])
	})
	return h
}

func (k *kit) account(at wire.Key) (a Account, ok bool) {
	k.Read(Processed, 0, func(v *View) { a, ok = v.Account(at) })
	return a, ok
}

func (k *kit) lamports(of wire.Key) uint64 {
	a, _ := k.account(of)
	return a.Lamports
}

func (k *kit) tokens(at wire.Key) (n uint64) {
	k.Read(Processed, 0, func(v *View) { t, _ := v.Token(at); n = t.Amount })
	return n
}

// vault is what a user has in the program.
func (k *kit) vault(of, mint wire.Key) wire.UserVault {
	k.Helper()
	a, ok := k.account(k.p.UserVault(of, mint))
	if !ok {
		return wire.UserVault{}
	}
	v, err := wire.DecodeUserVault(a.Data)
	if err != nil {
		k.Fatal(err)
	}
	return v
}

// escrow returns an open escrow, false if there is none.
func (k *kit) escrow(d *wire.SwapData) (wire.EscrowState, bool) {
	k.Helper()
	a, ok := k.account(k.p.Escrow(d.PaymentHash))
	if !ok {
		return wire.EscrowState{}, false
	}
	e, err := k.p.DecodeEscrow(a.Data)
	if err != nil {
		k.Fatal(err)
	}
	return e, true
}

func (k *kit) unix() uint64 { return uint64(k.now.Unix()) }

var secret = [32]byte{1, 2, 3}

// deal describes an escrow of an hour, locked with the secret's hash.
func (k *kit) deal(offerer, claimer wire.Key, payIn, payOut bool) *wire.SwapData {
	k.Helper()
	d, err := k.p.NewSwapData(wire.Spec{Kind: chains.HTLC, Claim: wire.ClaimHash{PaymentHash: sha256.Sum256(secret[:])}, Offerer: offerer, Claimer: claimer,
		Token: coin, Amount: 1_000_000, Sequence: 77, Expiry: k.unix() + 3600, PayIn: payIn, PayOut: payOut, DepositToken: wire.WSOL, TxoHash: &[32]byte{9}})
	if err != nil {
		k.Fatal(err)
	}
	return d
}

// pay is the escrow of a user who pays the LP's balance; draw one of an LP that pays the
// user from its balance.
func (k *kit) pay() *wire.SwapData  { k.Helper(); return k.deal(user, lp, true, false) }
func (k *kit) draw() *wire.SwapData { k.Helper(); return k.deal(lp, user, false, true) }

// stock opens the LP's balance and puts tokens into it.
func (k *kit) stock(amount uint64) {
	k.Helper()
	k.must(k.p.DepositInstruction(lp, coin, amount))
}

// init is the instruction that opens an escrow, sent by who does so as a rule.
func (k *kit) init(d *wire.SwapData) wire.Instruction {
	k.Helper()
	sender := d.Claimer
	if d.PayIn {
		sender = d.Offerer
	}
	return k.initBy(d, sender)
}

func (k *kit) initBy(d *wire.SwapData, sender wire.Key) wire.Instruction {
	k.Helper()
	ix, err := k.p.InitInstruction(d, sender, k.unix()+60)
	if err != nil {
		k.Fatal(err)
	}
	return ix
}

// claim is the instruction that claims an escrow with the secret.
func (k *kit) claim(d *wire.SwapData, signer wire.Key) wire.Instruction {
	k.Helper()
	ix, err := k.p.ClaimInstruction(d, signer, &secret, nil)
	if err != nil {
		k.Fatal(err)
	}
	return ix
}

// change returns an instruction with one account of it changed.
func change(ix wire.Instruction, at int, f func(*wire.Account)) wire.Instruction {
	ix.Accounts = slices.Clone(ix.Accounts)
	f(&ix.Accounts[at])
	return ix
}

// swapped returns an instruction with another account in a place.
func swapped(ix wire.Instruction, at int, with wire.Key) wire.Instruction {
	return change(ix, at, func(a *wire.Account) { a.PublicKey = with })
}

// place finds an account of an instruction.
func (k *kit) place(ix wire.Instruction, key wire.Key) int {
	k.Helper()
	i := slices.IndexFunc(ix.Accounts, func(a wire.Account) bool { return a.PublicKey == key })
	if i < 0 {
		k.Fatalf("the instruction has no account %s", key)
	}
	return i
}

// gained runs f and returns by how many lamports keys became richer.
func (k *kit) gained(f func(), of ...wire.Key) []int64 {
	k.Helper()
	var out []int64
	for _, key := range of {
		out = append(out, -int64(k.lamports(key)))
	}
	f()
	for i, key := range of {
		out[i] += int64(k.lamports(key))
	}
	return out
}

func same[T any](t testing.TB, what string, got, want T, equal func(a, b T) bool) {
	t.Helper()
	if !equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func is[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	same(t, what, got, want, func(a, b T) bool { return a == b })
}

func are[T comparable](t testing.TB, what string, got, want []T) {
	t.Helper()
	same(t, what, got, want, func(a, b []T) bool { return slices.Equal(a, b) })
}

// What no client sends.

// takeBalance is the inverse of a deposit.
func (k *kit) takeBalance(signer, mint wire.Key, amount uint64) wire.Instruction {
	ix := k.p.DepositInstruction(signer, mint, amount)
	n := len(ix.Accounts)
	ix.Accounts = slices.Delete(ix.Accounts, n-2, n-1) // the system program
	ix.Data = binary.LittleEndian.AppendUint64(method("withdraw"), amount)
	return ix
}

// endFork gives the rent of a fork's account back to who built it.
func (k *kit) endFork(signer wire.Key, fork uint64) wire.Instruction {
	return wire.Instruction{Program: k.p.Relay, Data: binary.LittleEndian.AppendUint64(method("close_fork_account"), fork), Accounts: []wire.Account{
		{PublicKey: signer, IsSigner: true, IsWritable: true}, {PublicKey: k.p.RelayFork(fork, signer), IsWritable: true}, {PublicKey: wire.SystemProgram}}}
}

// height makes the relay fail the transaction unless its height compares as demanded.
// Refunds of escrows that expire at a Bitcoin height need it as instruction 0.
func (k *kit) height(signer wire.Key, value uint32, op wire.HeightOp) wire.Instruction {
	args := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(method("block_height"), value), uint32(op))
	return wire.Instruction{Program: k.p.Relay, Data: args, Accounts: []wire.Account{{PublicKey: signer, IsSigner: true, IsWritable: true}, {PublicKey: k.p.RelayState()}}}
}

// method is how programs know an instruction by its name.
func method(name string) []byte {
	id := sha256.Sum256([]byte("global:" + name))
	return id[:8]
}
