package bank

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// consent is the claimer's signature of a refund, and the instruction that has the
// network check it.
func (k *kit) consent(d *wire.SwapData, by string, until uint64) wire.Instruction {
	k.Helper()
	message := d.RefundMessage(until)
	sig, err := secretKey(by).Sign(message[:])
	if err != nil {
		k.Fatal(err)
	}
	c := *d
	c.Claimer = keyOf(by) // whose key the instruction names
	return wire.RefundAuth{Timeout: until, Signature: sig}.VerifyInstruction(&c)
}

func TestRefundAfterTheExpiry(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		k.stock(5_000_000)
		d := k.pay()
		k.must(k.init(d))
		ix := k.p.RefundInstruction(d, 0)
		k.refused(notExpiredYet, ix)
		k.now = time.Unix(int64(d.Expiry), 0)
		k.refused(notExpiredYet, ix)
		k.now = k.now.Add(time.Second)
		rent := int64(k.lamports(k.p.Escrow(d.PaymentHash)))
		var tx *Executed
		are(t, "lamports", k.gained(func() { tx = k.must(ix) }, user, lp), []int64{rent, 0})
		events, _ := k.p.Events(tx.Logs)
		are(t, "events", events, []wire.Event{{Kind: wire.Refunded, Hash: d.PaymentHash, Sequence: 77}})
		is(t, "the user's tokens", k.tokens(wire.ATA(user, coin)), wealth)
		is(t, "the LP's reputation", k.vault(lp, coin).Reputation[0], wire.KindReputation{FailVolume: d.Amount, FailCount: 1})
		k.refused(accountNotInitialized, ix)

		// An escrow that was drawn from a balance goes back there; nobody's reputation changes.
		d = k.draw()
		d.SecurityDeposit, d.ClaimerBounty = 5_000_000, 9_000_000
		k.must(k.init(d))
		k.now = k.now.Add(2 * time.Hour)
		are(t, "lamports", k.gained(func() { k.must(k.p.RefundInstruction(d, 0)) }, user, lp), []int64{4_000_000, 5_000_000})
		is(t, "the LP's balance", k.vault(lp, coin).Amount, 5_000_000)
	})
}

func TestRefundWithConsent(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		k.stock(5_000_000)
		until := k.unix() + 60
		d := k.pay()
		k.must(k.init(d))
		rent := int64(k.lamports(k.p.Escrow(d.PaymentHash)))
		are(t, "lamports", k.gained(func() { k.must(k.consent(d, "lp", until), k.p.RefundInstruction(d, until)) }, user, lp), []int64{rent, 0})
		is(t, "the LP's reputation", k.vault(lp, coin).Reputation[0], wire.KindReputation{CoopCloseVolume: d.Amount, CoopCloseCount: 1})

		d = k.draw()
		d.SecurityDeposit, d.ClaimerBounty = 5_000_000, 9_000_000
		k.must(k.init(d))
		are(t, "lamports", k.gained(func() { k.must(k.consent(d, "user", until), k.p.RefundInstruction(d, until)) }, user, lp), []int64{9_000_000, 0})
	})
}

func TestConsentIsChecked(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		k.stock(5_000_000)
		d := k.pay()
		k.must(k.init(d))
		until := k.unix() + 60
		ix, good := k.p.RefundInstruction(d, until), k.consent(d, "lp", until)
		now := k.unix()
		k.refused(authExpired, k.consent(d, "lp", now), k.p.RefundInstruction(d, now))
		k.refused(signatureProgram, ix)
		k.refused(signatureProgram, wire.Transfer(payer, payer, 1), good, ix)
		k.refused(signatureData, k.consent(d, "user", until), ix)         // the other party's
		k.refused(signatureData, k.consent(d, "tower", until), ix)        // a stranger's
		k.refused(signatureData, good, k.p.RefundInstruction(d, until+1)) // another time
		k.refused(signatureData, k.consent(d, "lp", until+1), ix)
		for _, change := range []func(*wire.SwapData){
			func(d *wire.SwapData) { d.Amount++ }, func(d *wire.SwapData) { d.Expiry++ },
			func(d *wire.SwapData) { d.Sequence++ }, func(d *wire.SwapData) { d.PaymentHash[0]++ },
		} {
			c := *d
			change(&c)
			k.refused(signatureData, k.consent(&c, "lp", until), ix) // for another escrow
		}
		with := good
		with.Accounts = []wire.Account{{PublicKey: user}}
		k.refused(signatureAccounts, with, ix)

		// The message and the key may stand elsewhere for the network; not for the program.
		longer := good
		longer.Data = append(slices.Clone(good.Data), 0)
		k.refused(signatureLength, longer, ix)
		moved := good
		moved.Data = slices.Clone(good.Data)
		binary.LittleEndian.PutUint16(moved.Data[4:], 0) // the signature is said to stand in instruction 0: the same one
		k.refused(signatureHeader, moved, ix)
		// One that is no signature does not get so far.
		bad := good
		bad.Data = slices.Clone(good.Data)
		bad.Data[50] ^= 1
		if tx := k.run(bad, ix); tx.Err == nil || tx.Err.Index != 0 {
			t.Errorf("a bad signature: %v", tx.Err)
		}
		// Without the account through which the program sees the signature it fails.
		absent := swapped(ix, len(ix.Accounts)-1, k.p.Swap)
		k.refused(ProgramFailedToComplete, good, absent)
		k.refused(constraintAddress, good, swapped(ix, len(ix.Accounts)-1, user))
		k.must(good, ix)
	})
}

// Escrows whose expiry is a Bitcoin height.
func TestRefundAfterAHeight(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		k.stock(5_000_000)
		d := k.pay()
		d.Expiry = 905
		k.must(k.init(d))
		first := k.startRelay(900)
		ix := k.p.RefundInstruction(d, 0)
		k.refused(ProgramFailedToComplete, ix) // does not say how to look
		ix = change(ix, len(ix.Accounts)-1, func(a *wire.Account) { a.PublicKey = wire.InstructionsData })
		above := k.height(payer, 905, wire.HeightAbove)
		k.refused(heightProgram, ix)
		m, _ := k.mine(first, payments()["output"].tx, 1)
		k.refused(heightInstruction, k.verify(m, 1), ix)
		k.refused(heightValue, k.height(payer, 904, wire.HeightBelow), ix)
		k.refused(heightValue, k.height(payer, 899, wire.HeightAbove), ix)
		k.refused(heightOperation, k.height(payer, 905, wire.HeightBelow), ix)
		k.failsAt(0, wrongHeight, above, ix)
		headers, _ := grow(m.in, 5, 1)
		top := k.extend(m.in, headers[:4]...)
		k.failsAt(0, wrongHeight, above, ix) // at 905
		k.extend(top, headers[4])
		k.must(above, ix)
	})
}

func TestRefundsAreGuarded(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		k.stock(5_000_000)
		k.must(k.p.DepositInstruction(user, coin, 0), k.p.DepositInstruction(tower, coin, 0))
		for _, way := range [][2]bool{{true, true}, {true, false}, {false, true}, {false, false}} {
			d := k.deal(lp, user, way[0], way[1])
			k.must(k.init(d))
			k.now = k.now.Add(2 * time.Hour)
			ix := k.p.RefundInstruction(d, 0)
			at := func(key wire.Key) int { return k.place(ix, key) }
			if k.p.Version == wire.V1 {
				k.refused(accountNotSigner, change(ix, 0, func(a *wire.Account) { a.IsSigner = false }))
				k.refused(constraintRaw, swapped(ix, 0, tower)) // in v1 only the offerer may
			} else {
				is(t, "signers", ix.Accounts[0].IsSigner, false)
				k.refused(constraintRaw, swapped(ix, 0, tower))
			}
			k.refused(constraintRaw, swapped(ix, 1, tower))
			for at, role := range ix.Accounts {
				if role.IsWritable && role.PublicKey != k.p.Swap {
					k.refused(constraintMut, change(ix, at, func(a *wire.Account) { a.IsWritable = false }))
				}
			}
			k.refused(discriminatorMismatch, swapped(ix, at(k.p.Escrow(d.PaymentHash)), k.p.UserVault(tower, coin)))
			if d.PayIn {
				k.refused(constraintRaw, swapped(ix, at(wire.ATA(lp, coin)), wire.ATA(tower, coin)))
				k.refused(constraintTokenMint, swapped(ix, at(wire.ATA(lp, coin)), wire.ATA(lp, other)))
				k.refused(constraintSeeds, swapped(ix, at(k.p.Vault(coin)), wire.ATA(tower, coin)))
				if k.p.Version == wire.V1 {
					k.refused(constraintSeeds, swapped(ix, at(k.p.Authority()), tower))
				}
			} else {
				k.refused(constraintSeeds, swapped(ix, at(k.p.UserVault(lp, coin)), k.p.UserVault(tower, coin)))
			}
			if !d.PayOut {
				claimer := at(k.p.UserVault(user, coin))
				k.refused(constraintRaw, change(ix, claimer, func(a *wire.Account) { *a = wire.Account{PublicKey: k.p.Swap} }))
				k.refused(constraintSeeds, swapped(ix, claimer, k.p.UserVault(tower, coin)))
			}
			c := *d
			c.PayIn = !d.PayIn
			k.refused(constraintRaw, k.p.RefundInstruction(&c, 0))
			k.must(ix)
		}
	})
}

// An escrow that somebody else opened with the same hash is not refunded with the
// consent to another one.
func TestConsentIsForOneEscrow(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		k.stock(5_000_000)
		until := k.unix() + 60
		d := k.pay()
		k.must(k.init(d))
		consent := k.consent(d, "lp", until)
		k.must(consent, k.p.RefundInstruction(d, until))
		k.refused(accountNotInitialized, consent, k.p.RefundInstruction(d, until))
		d.Sequence++
		k.must(k.init(d))
		k.refused(signatureData, consent, k.p.RefundInstruction(d, until))
		is(t, "hash", d.PaymentHash, sha256.Sum256(secret[:]))
	})
}

// A wallet that is both parties loses what its escrow returns to its balance: the program
// writes the account twice, the second time as it was before the refund.
func TestRefundToOneself(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		k.stock(5_000_000)
		d := k.deal(lp, lp, false, false)
		k.must(k.init(d))
		k.now = k.now.Add(2 * time.Hour)
		k.must(k.p.RefundInstruction(d, 0))
		v := k.vault(lp, coin)
		is(t, "balance", v.Amount, 5_000_000-d.Amount)
		is(t, "failures", v.Reputation[0].FailCount, 1)
	})
}

func TestLamportsOfRefunds(t *testing.T) {
	const held = 10_000_000
	for _, test := range []struct {
		version          string
		payIn, byOfferer bool
		agreed           bool
		deposit, bounty  uint64
		offerer, claimer uint64
	}{
		{wire.V1, true, false, false, 0, 0, held, 0},
		{wire.V1, true, false, true, 0, 0, held, 0},
		{wire.V1, false, false, false, 5, 3, 5, held - 5},
		{wire.V1, false, false, false, 3, 5, 3, held - 3},
		{wire.V1, false, false, true, 5, 3, 0, held},
		{wire.V2, true, true, false, 0, 0, held, 0},
		{wire.V2, true, false, false, 5, 3, 5, held - 5},
		{wire.V2, false, true, false, 3, 5, held - 2, 2},
		{wire.V2, false, true, false, 5, 3, held, 0},
		{wire.V2, false, true, true, 5, 3, held - 5, 5},
		{wire.V2, false, true, true, 3, 5, held - 5, 5},
		{wire.V2, false, false, true, 3, 5, 0, held},
	} {
		e := wire.EscrowState{Data: wire.Terms{PayIn: test.payIn}, Offerer: user, Claimer: lp, SecurityDeposit: test.deposit, ClaimerBounty: test.bounty, OffererInitializer: test.byOfferer}
		s := trial.Must(refundShares(test.version, e, held, test.agreed))(t)
		if initializerOf(test.version, e) == user {
			s.offerer += s.initializer
		} else {
			s.claimer += s.initializer
		}
		if s.signer != 0 || s.offerer != test.offerer || s.claimer != test.claimer {
			t.Errorf("%+v: %+v", test, s)
		}
	}
}
