package bank

import (
	"testing"

	"github.com/swapper-go/swapper/internal/solana/wire"
)

func TestDepositAndWithdraw(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		rent := int64(wire.Rent(wire.UserVaultSpace))
		first := k.gained(func() { k.must(k.p.DepositInstruction(lp, coin, 300)) }, lp)
		are(t, "lamports of the first deposit", first, []int64{-rent - wire.TokenAccountRent})
		are(t, "lamports of the second user", k.gained(func() { k.must(k.p.DepositInstruction(user, coin, 0)) }, user), []int64{-rent})
		are(t, "lamports of the next deposit", k.gained(func() { k.must(k.p.DepositInstruction(lp, coin, 30)) }, lp), []int64{0})
		is(t, "balance", k.vault(lp, coin).Amount, 330)
		_, bump := Derive(k.p.Swap, []byte("uservault"), lp[:], coin[:])
		is(t, "bump", k.vault(lp, coin).Bump, bump)
		owner := k.p.Authority()
		if k.p.Version == wire.V2 {
			owner = k.p.Vault(coin)
		}
		k.Read(Processed, 0, func(v *View) {
			if got, _ := v.Token(k.p.Vault(coin)); got.Owner != owner || got.Amount != 330 || got.Mint != coin {
				t.Errorf("vault %+v", got)
			}
		})
		k.must(k.takeBalance(lp, coin, 129))
		k.must(k.takeBalance(lp, coin, 0))
		is(t, "balance", k.vault(lp, coin).Amount, 201)
		is(t, "wallet", k.tokens(wire.ATA(lp, coin)), wealth-201)
		k.refused(constraintRaw, k.takeBalance(lp, coin, 202))
		k.refused(constraintRaw, k.p.DepositInstruction(lp, coin, wealth))
	})
}

// Lamports that somebody has sent to the addresses before do not keep accounts from
// being created.
func TestAccountsThatHaveLamports(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		d := k.pay()
		for i, at := range []wire.Key{k.p.Vault(coin), k.p.UserVault(lp, coin), k.p.Escrow(d.PaymentHash)} {
			k.must(wire.Transfer(tower, at, 1_000_000+1_000_000*uint64(i)))
		}
		cost := wire.Rent(wire.UserVaultSpace) - 2_000_000 + wire.TokenAccountRent - 1_000_000
		are(t, "lamports", k.gained(func() { k.stock(5) }, lp), []int64{-int64(cost)})
		are(t, "lamports", k.gained(func() { k.must(k.init(d)) }, user), []int64{0})
		is(t, "the escrow's lamports", k.lamports(k.p.Escrow(d.PaymentHash)), 3_000_000)
		are(t, "lamports", k.gained(func() { k.must(k.claim(d, lp)) }, user), []int64{3_000_000})
	})
}

func TestDepositsAreGuarded(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		k.stock(1000)
		k.must(k.p.DepositInstruction(user, coin, 1000))
		in, out := k.p.DepositInstruction(lp, coin, 10), k.takeBalance(lp, coin, 10)
		for _, ix := range []wire.Instruction{in, out} {
			k.refused(accountNotSigner, change(ix, 0, func(a *wire.Account) { a.IsSigner = false }))
			for at, role := range ix.Accounts {
				// The signer pays, or signs, elsewhere in the transaction: only here it is read-only.
				if role.IsWritable {
					k.refused(constraintMut, change(ix, at, func(a *wire.Account) { a.IsWritable = false }))
				}
			}
			at := func(key wire.Key) int { return k.place(ix, key) }
			k.refused(constraintTokenMint, swapped(ix, at(wire.ATA(lp, coin)), wire.ATA(lp, other)))
			k.refused(constraintSeeds, swapped(ix, at(k.p.UserVault(lp, coin)), k.p.UserVault(user, coin)))
			k.refused(constraintSeeds, swapped(ix, at(k.p.Vault(coin)), wire.ATA(lp, coin)))
			k.refused(invalidProgramID, swapped(ix, at(wire.TokenProgram), wire.ATAProgram))
			k.refused(ownedByWrongProgram, swapped(ix, at(wire.ATA(lp, coin)), user))
			k.refused(accountNotInitialized, swapped(ix, at(wire.ATA(lp, coin)), keyOf("nobody")))
			k.refused(InvalidAccountData, swapped(ix, at(coin), wire.ATA(lp, coin)))
			if k.p.Version == wire.V1 {
				k.refused(constraintTokenOwner, swapped(ix, at(k.p.Authority()), user))
			}
			short := ix
			short.Accounts = ix.Accounts[:len(ix.Accounts)-1]
			k.refused(notEnoughKeys, short)
			short = ix
			short.Data = ix.Data[:len(ix.Data)-1]
			k.refused(argumentsNotReadable, short)
			short.Data = append([]byte{1}, ix.Data[1:]...)
			k.refused(unknownInstruction, short)
			short.Data = ix.Data[:7]
			k.refused(noInstruction, short)
		}
		k.refused(accountNotInitialized, k.takeBalance(tower, coin, 0))
		// Somebody else's tokens, or an account of another type, are no balance.
		k.refused(ownedByWrongProgram, swapped(out, k.place(out, k.p.UserVault(lp, coin)), k.p.Vault(coin)))
		d := k.pay()
		k.must(k.init(d))
		k.refused(discriminatorMismatch, swapped(out, k.place(out, k.p.UserVault(lp, coin)), k.p.Escrow(d.PaymentHash)))
		// Tokens of another who has not signed cannot be put in.
		k.refused(Custom(4), swapped(in, k.place(in, wire.ATA(lp, coin)), wire.ATA(user, coin)))
		// They can be taken to another's wallet.
		k.must(swapped(out, k.place(out, wire.ATA(lp, coin)), wire.ATA(user, coin)))
	})
}
