package bank

import (
	"math"
	"slices"
	"testing"

	"github.com/swapper-go/swapper/internal/btc/relay"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// everyCall are instructions of all kinds that would succeed.
func (k *kit) everyCall() map[string]wire.Instruction {
	k.Helper()
	k.stock(5_000_000)
	k.must(k.p.DepositInstruction(user, coin, 0))
	all := map[string]wire.Instruction{
		"deposit": k.p.DepositInstruction(lp, coin, 1), "withdraw": k.takeBalance(lp, coin, 1),
		"start of the relay": k.p.RelayInitInstruction(tower, firstHeader(k, 900)),
	}
	for i, way := range [][2]bool{{true, true}, {true, false}, {false, true}, {false, false}} {
		name := map[bool]string{true: "wallet to ", false: "balance to "}[way[0]] + map[bool]string{true: "wallet", false: "balance"}[way[1]]
		d := k.deal(lp, user, way[0], way[1])
		d.PaymentHash[0] = byte(i)
		all["opening, "+name] = k.init(d)
		d = k.deal(lp, user, way[0], way[1])
		d.PaymentHash = [32]byte{byte(10 + i)}
		d.Expiry = k.unix() - 1
		k.must(k.init(d))
		all["refund, "+name] = k.p.RefundInstruction(d, 0)
	}
	data := k.write(tower, []byte{1, 2, 3})
	all["write"], all["close"], all["init"] = k.p.WriteDataInstruction(tower, data, 0, []byte{9}), k.p.CloseDataInstruction(tower, data), k.p.InitDataInstruction(tower, data)
	return all
}

// relayCalls are those of a relay that has begun.
func (k *kit) relayCalls() map[string]wire.Instruction {
	k.Helper()
	first := k.startRelay(900)
	headers, _ := grow(first, 3, 1)
	m, top := k.mine(first, payments()["output"].tx, 3)
	next, _ := grow(top, 1, 2)
	fork, _ := grow(first, 4, 3)
	k.must(k.submit(relay.SaveNewFork, tower, first, 0, headers[0]))
	return map[string]wire.Instruction{
		"submit": k.submit(relay.SaveMain, tower, top, 0, next...), "short fork": k.submit(relay.SaveShortFork, tower, first, 0, fork...),
		"new fork": k.submit(relay.SaveNewFork, tower, first, 1, fork[0]), "fork": k.submit(relay.SaveFork, tower, first.Next(headers[0]), 0, headers[1]),
		"end of a fork": k.endFork(tower, 0), "verify": k.p.VerifyInstruction(tower, m.proof, 1, m.in), "height": k.height(tower, 1, wire.HeightAbove),
	}
}

// Every account that must have signed, must be writable, or must be a certain program,
// is held to it, in every instruction.
func TestFlagsOfAccounts(t *testing.T) {
	for name, calls := range map[string]func(*kit) map[string]wire.Instruction{"swap": (*kit).everyCall, "relay": (*kit).relayCalls} {
		t.Run(name, func(t *testing.T) {
			both(t, local, func(t *testing.T, k *kit) {
				for name, ix := range calls(k) {
					created, times := map[wire.Key]bool{}, map[wire.Key]int{}
					for _, role := range ix.Accounts {
						times[role.PublicKey]++
						if _, ok := k.account(role.PublicKey); !ok && role.IsWritable {
							created[role.PublicKey] = true
						}
					}
					mut := map[bool]error{true: PrivilegeEscalation, false: constraintMut} // of what is created, or pays for it
					for at, role := range ix.Accounts {
						key := role.PublicKey
						if times[key] > 1 {
							continue // the other place has the flag too
						}
						if role.IsSigner && (k.p.Version == wire.V1 || key != user) { // v2's claimer: see TestOpeningIsGuarded
							k.refusedAs(name, accountNotSigner, change(ix, at, func(a *wire.Account) { a.IsSigner = false }))
						}
						if role.IsWritable {
							pays := role.IsSigner && len(created) > 0
							k.refusedAs(name, mut[pays || created[key]], change(ix, at, func(a *wire.Account) { a.IsWritable = false }))
						}
						if key == wire.SystemProgram || key == wire.TokenProgram {
							k.refusedAs(name, invalidProgramID, swapped(ix, at, wire.ATAProgram))
						}
					}
					k.refusedAs(name, notEnoughKeys, wire.Instruction{Program: ix.Program, Accounts: ix.Accounts[:1], Data: ix.Data})
				}
			})
		})
	}
}

// Who pays nothing, because the address has its lamports already, must be writable all
// the same.
func TestPayersAreWritable(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		k.stock(5_000_000)
		k.must(k.p.DepositInstruction(user, coin, 0))
		for _, payIn := range []bool{true, false} {
			d := k.deal(lp, user, payIn, false)
			k.must(wire.Transfer(payer, k.p.Escrow(d.PaymentHash), 3_000_000))
			ix := k.init(d)
			opener := d.Claimer
			if payIn {
				opener = d.Offerer
			}
			readOnly := ix
			readOnly.Accounts = slices.Clone(ix.Accounts)
			for i := range readOnly.Accounts {
				if readOnly.Accounts[i].PublicKey == opener {
					readOnly.Accounts[i].IsWritable = false
				}
			}
			k.refused(constraintMut, readOnly)
			k.must(ix)
			k.must(k.claim(d, tower))
		}
		k.must(wire.Transfer(payer, k.p.RelayState(), wire.Rent(wire.RelayStateSpace)))
		start := k.p.RelayInitInstruction(tower, firstHeader(k, 900))
		k.refused(constraintMut, change(start, 0, func(a *wire.Account) { a.IsWritable = false }))
		k.must(start)
	})
}

// refusedAs is refused with a name for the instruction.
func (k *kit) refusedAs(name string, want error, ix wire.Instruction) {
	k.Helper()
	before := k.TB
	defer func() { k.TB = before }()
	k.TB = named{before, name}
	k.refused(want, ix)
}

type named struct {
	testing.TB
	name string
}

func (n named) Errorf(format string, args ...any) {
	n.Helper()
	n.TB.Errorf(n.name+": "+format, args...)
}

// Accounts that belong to the programs, but not at these addresses, or that nobody has
// put anything into, are none.
func TestForgedAccounts(t *testing.T) {
	for _, version := range []string{wire.V1, wire.V2} {
		t.Run(version, func(t *testing.T) {
			p := programsOf(t, version)
			state, short, unused, unusedMint, vault := keyOf("relay"), keyOf("short"), keyOf("unused"), keyOf("unused mint"), keyOf("vault")
			first := firstHeader(&kit{now: newKit(t, version, local).now}, 900)
			s := &wire.RelayState{StartHeight: 900, Height: 900, Work: first.Work}
			s.SetCommitment(900, first.Commitment())
			nothing := tokenAccount(coin, lp, 0)
			nothing.Data = make([]byte, wire.TokenAccountSpace)
			blank := MintAccount(8, 0, nil)
			blank.Data = make([]byte, mintBytes)
			rich := wire.UserVault{Amount: math.MaxUint64}
			k := newKit(t, version, setup{rules: local.rules, accounts: map[wire.Key]Account{
				state: {Lamports: sol, Owner: p.Relay, Data: s.Bytes()}, short: {Lamports: sol, Owner: p.Swap, Data: make([]byte, 7)},
				unused: nothing, unusedMint: blank, vault: {Lamports: sol, Owner: p.Swap, Data: rich.Bytes()}, p.UserVault(tower, coin): {Lamports: sol, Owner: p.Swap, Data: rich.Bytes()}}})
			k.stock(1)
			headers, _ := grow(first, 2, 1)
			k.startRelay(900)
			for _, op := range []relay.Op{relay.SaveMain, relay.SaveShortFork, relay.SaveNewFork} {
				k.refused(constraintSeeds, swapped(k.submit(op, tower, first, 0, headers...), 1, state))
			}
			k.refused(constraintSeeds, swapped(k.height(tower, 1, wire.HeightAbove), 1, state))
			k.refused(constraintSeeds, swapped(k.p.VerifyInstruction(tower, wire.Proof{}, 1, first), 1, state))

			out := k.takeBalance(lp, coin, 1)
			k.refused(constraintSeeds, swapped(out, k.place(out, k.p.UserVault(lp, coin)), vault))
			k.refused(discriminatorNotFound, swapped(out, k.place(out, k.p.UserVault(lp, coin)), short))
			k.refused(UninitializedAccount, swapped(out, k.place(out, wire.ATA(lp, coin)), unused))
			k.refused(UninitializedAccount, swapped(out, k.place(out, coin), unusedMint))
			k.refused(InvalidAccountData, swapped(out, k.place(out, wire.ATA(lp, coin)), coin))
			k.refused(ProgramFailedToComplete, k.p.DepositInstruction(tower, coin, 1)) // more than there can be
			if version == wire.V1 {                                                    // a vault that is only just created must be the program's too
				k := newKit(t, version, setup{})
				ix := k.init(k.deal(user, lp, true, true))
				k.refused(constraintSeeds, swapped(ix, k.place(ix, p.Authority()), tower))
				ix = k.p.DepositInstruction(user, coin, 1)
				k.refused(constraintSeeds, swapped(ix, k.place(ix, p.Authority()), tower))
			}
		})
	}
}
