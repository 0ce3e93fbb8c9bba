package bank

import (
	"slices"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

func TestPayInIsClaimedWithTheSecret(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		k.stock(5)
		d := k.pay()
		opened := k.must(k.init(d))
		events, _ := k.p.Events(opened.Logs)
		want := wire.Event{Kind: wire.Initialized, Hash: d.PaymentHash, TxoHash: *d.TxoHash, Sequence: 77}
		if k.p.Version == wire.V1 {
			want.TxoHash = [32]byte{}
		}
		are(t, "events", events, []wire.Event{want})
		e, ok := k.escrow(d)
		if !ok || k.p.Match(e, d) != nil {
			t.Errorf("escrow %+v, %v", e, k.p.Match(e, d))
		}
		is(t, "the user's tokens", k.tokens(wire.ATA(user, coin)), wealth-d.Amount)
		is(t, "the vault", k.tokens(k.p.Vault(coin)), d.Amount+5)

		tx := k.must(k.claim(d, tower))
		events, _ = k.p.Events(tx.Logs)
		are(t, "events", events, []wire.Event{{Kind: wire.Claimed, Hash: d.PaymentHash, Result: secret, Sequence: 77}})
		v := k.vault(lp, coin)
		is(t, "the LP's balance", v.Amount, d.Amount+5)
		is(t, "its reputation", v.Reputation[0], wire.KindReputation{SuccessVolume: d.Amount, SuccessCount: 1})
		if _, ok := k.escrow(d); ok {
			t.Error("the escrow is still open")
		}
	})
}

func TestPayOutIsClaimedByAThirdParty(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		k.stock(1_500_000)
		d := k.draw()
		d.SecurityDeposit, d.ClaimerBounty = 9_000_000, 4_000_000
		held := int64(9_000_000)
		are(t, "lamports", k.gained(func() { k.must(k.init(d)) }, user, lp), []int64{-held, 0})
		is(t, "the LP's balance", k.vault(lp, coin).Amount, 500_000)
		paid := k.gained(func() { k.must(k.claim(d, tower)) }, user, lp, tower)
		are(t, "lamports", paid, []int64{5_000_000, 0, 4_000_000})
		is(t, "the user's tokens", k.tokens(wire.ATA(user, coin)), wealth+d.Amount)
	})
}

// There is no look at the expiry: until somebody refunds it, an escrow can be claimed.
func TestClaimAfterTheExpiry(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		k.stock(5)
		d := k.pay()
		k.must(k.init(d))
		k.now = k.now.Add(2 * time.Hour)
		k.must(k.claim(d, lp))
	})
}

func TestClaimsAreGuarded(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		k.stock(5_000_000)
		k.must(k.p.DepositInstruction(tower, coin, 0), k.p.DepositInstruction(user, other, 0), k.p.DepositInstruction(user, coin, 0))
		for _, way := range [][2]bool{{true, true}, {true, false}, {false, true}, {false, false}} {
			d := k.deal(lp, user, way[0], way[1])
			k.must(k.init(d))
			ix := k.claim(d, tower)
			wrong := ix
			wrong.Data = slices.Clone(ix.Data)
			wrong.Data[12] ^= 1
			k.refused(invalidSecret, wrong)
			wrong.Data = append([]byte{}, ix.Data[:8]...)
			wrong.Data = append(append(wrong.Data, 31, 0, 0, 0), secret[:31]...)
			k.refused(ProgramFailedToComplete, wrong)
			wrong.Data = ix.Data[:len(ix.Data)-1]
			k.refused(argumentsNotReadable, wrong)

			k.refused(accountNotSigner, change(ix, 0, func(a *wire.Account) { a.IsSigner = false }))
			for at, role := range ix.Accounts {
				if role.IsWritable {
					k.refused(constraintMut, change(ix, at, func(a *wire.Account) { a.IsWritable = false }))
				}
			}
			at := func(key wire.Key) int { return k.place(ix, key) }
			k.refused(constraintRaw, swapped(ix, 1, tower))
			if k.p.Version == wire.V2 {
				k.refused(constraintRaw, swapped(ix, 2, tower))
			}
			k.refused(accountNotInitialized, swapped(ix, at(k.p.Escrow(d.PaymentHash)), k.p.Escrow([32]byte{3})))
			k.refused(discriminatorMismatch, swapped(ix, at(k.p.Escrow(d.PaymentHash)), k.p.UserVault(user, coin)))
			k.refused(ownedByWrongProgram, swapped(ix, at(k.p.Escrow(d.PaymentHash)), tower))
			k.refused(constraintAddress, swapped(ix, at(wire.InstructionsData), tower))
			if d.PayOut {
				k.refused(constraintRaw, swapped(ix, at(*d.ClaimerATA), wire.ATA(tower, coin)))
				k.refused(constraintSeeds, swapped(ix, at(k.p.Vault(coin)), wire.ATA(user, coin)))
				k.refused(invalidProgramID, swapped(ix, at(wire.TokenProgram), wire.ATAProgram))
				if k.p.Version == wire.V1 {
					k.refused(constraintSeeds, swapped(ix, at(k.p.Authority()), tower))
				}
			} else {
				k.refused(constraintSeeds, swapped(ix, at(k.p.UserVault(user, coin)), k.p.UserVault(tower, coin)))
				k.refused(constraintSeeds, swapped(ix, at(k.p.UserVault(user, coin)), k.p.UserVault(user, other)))
			}
			// The other form of the instruction does not fit the escrow.
			c := *d
			c.PayOut = !d.PayOut
			ata := wire.ATA(user, coin)
			c.ClaimerATA = &ata
			k.refused(constraintRaw, k.claim(&c, tower))

			k.must(ix)
			k.refused(accountNotInitialized, ix) // once
		}
	})
}

// Neither version looks whose token account the claimer's is said to be: what an escrow
// pays out goes to the one that was named when it was opened. Clients have to look.
func TestPayOutGoesWhereItWasSaid(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		k.stock(5_000_000)
		d := k.draw()
		thief := wire.ATA(tower, coin)
		ix := k.init(d)
		k.must(swapped(ix, len(ix.Accounts)-1, thief))
		e, _ := k.escrow(d)
		if k.p.Match(e, d) == nil {
			t.Error("the client takes the escrow for the one that was agreed on")
		}
		k.refused(constraintRaw, k.claim(d, tower))
		d.ClaimerATA = &thief
		is(t, "the user as claimer", d.IsClaimer(user), false)
		k.must(k.claim(d, tower))
		is(t, "the thief's tokens", k.tokens(thief), wealth+d.Amount)
	})
}

// Whatever the deposit and the bounty are: who gets which lamports of the account.
func TestLamportsOfClaims(t *testing.T) {
	const rent = 10_000_000 // more than the account needs
	for _, test := range []struct {
		version                  string
		payIn, byOfferer         bool
		deposit, bounty          uint64
		signer, offerer, claimer uint64
	}{
		{wire.V1, true, false, 0, 0, 0, rent, 0},
		{wire.V1, false, false, 0, 0, 0, 0, rent},
		{wire.V1, false, false, 5, 3, 3, 0, rent - 3},
		{wire.V1, false, false, 3, 5, 5, 0, rent - 5},
		{wire.V2, true, true, 0, 0, 0, rent, 0},
		{wire.V2, true, false, 0, 0, 0, 0, rent},
		{wire.V2, false, true, 5, 3, 3, rent - 5, 2},
		{wire.V2, false, true, 3, 5, 5, rent - 5, 0},
		{wire.V2, false, false, 5, 3, 3, 0, rent - 3},
		{wire.V2, false, true, rent, 1, 1, 0, rent - 1},
		{wire.V2, true, true, 7, 7, 7, rent - 7, 0},
	} {
		e := wire.EscrowState{Data: wire.Terms{PayIn: test.payIn}, Offerer: user, Claimer: lp, SecurityDeposit: test.deposit, ClaimerBounty: test.bounty, OffererInitializer: test.byOfferer}
		s := trial.Must(claimShares(test.version, e, rent))(t)
		if initializerOf(test.version, e) == user {
			s.offerer += s.initializer
		} else {
			s.claimer += s.initializer
		}
		if s.signer != test.signer || s.offerer != test.offerer || s.claimer != test.claimer {
			t.Errorf("%+v: %+v", test, s)
		}
		if _, err := claimShares(test.version, e, test.bounty-1); test.bounty > 0 && err == nil {
			t.Errorf("%+v: a bounty that is not there is paid", test)
		}
	}
}
