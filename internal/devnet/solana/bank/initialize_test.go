package bank

import (
	"fmt"
	"slices"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// Every kind of escrow, in every direction and opened by everybody who may: what the
// account says, whose tokens and lamports it took, what the event tells.
func TestEscrowsAreOpened(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		k.stock(50_000_000)
		k.must(k.p.DepositInstruction(user, coin, 0))
		balance, sequence := uint64(50_000_000), uint64(0)
		for _, payIn := range []bool{true, false} {
			for _, payOut := range []bool{true, false} {
				for kind := chains.HTLC; kind <= chains.OnchainTxID; kind++ {
					for _, opener := range []wire.Key{lp, user} {
						sequence++
						d := k.deal(lp, user, payIn, payOut)
						d.Kind, d.Sequence, d.PaymentHash, d.Amount = kind, sequence, [32]byte{byte(sequence)}, sequence
						d.Confirmations = uint16(sequence)
						if kind == chains.OnchainNonced {
							d.Nonce = sequence << 30
						}
						held := k.p.EscrowRent()
						if k.p.Version == wire.V2 || !payIn {
							d.SecurityDeposit, d.ClaimerBounty = sequence*1_000_000, 20_000_000/sequence
							held = max(held, d.SecurityDeposit, d.ClaimerBounty)
						}
						name := fmt.Sprintf("in %v, out %v, %s, by the offerer %v", payIn, payOut, kind, opener == lp)
						payer := opener
						if k.p.Version == wire.V1 {
							if payer = user; payIn {
								payer = lp
							}
						}
						vault, wallet := k.tokens(k.p.Vault(coin)), k.tokens(wire.ATA(lp, coin))
						var tx *Executed
						paid := k.gained(func() { tx = k.must(k.initBy(d, opener)) }, payer, k.p.Escrow(d.PaymentHash))
						are(t, name+": lamports", paid, []int64{-int64(held), int64(held)})
						opened, ok, err := k.p.OpenedData(tx.Instructions[0], nil)
						if err != nil || !ok {
							t.Fatal(err)
						}
						e, ok := k.escrow(d)
						if !ok {
							t.Fatalf("%s: no escrow", name)
						}
						if err := k.p.Match(e, opened); err != nil {
							t.Errorf("%s: the account is not what the client reads from the instruction: %v", name, err)
						}
						is(t, name+": initializer", e.OffererInitializer, k.p.Version == wire.V2 && opener == lp)
						if payIn {
							vault, wallet = vault+d.Amount, wallet-d.Amount
						} else {
							balance -= d.Amount
						}
						is(t, name+": vault", k.tokens(k.p.Vault(coin)), vault)
						is(t, name+": wallet", k.tokens(wire.ATA(lp, coin)), wallet)
						is(t, name+": balance", k.vault(lp, coin).Amount, balance)
						want := wire.Event{Kind: wire.Initialized, Hash: d.PaymentHash, Sequence: sequence, TxoHash: *d.TxoHash, Nonce: d.Nonce, Escrow: kind}
						if k.p.Version == wire.V1 && payIn {
							want.TxoHash = [32]byte{}
						}
						events, _ := k.p.Events(tx.Logs)
						are(t, name+": events", events, []wire.Event{want})
					}
				}
			}
		}
	})
}

func TestTermsAreChecked(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		k.stock(5_000_000)
		k.must(k.p.DepositInstruction(user, coin, 0))
		for _, way := range [][2]bool{{true, true}, {true, false}, {false, true}, {false, false}} {
			payIn, payOut := way[0], way[1]
			with := func(f func(*wire.SwapData)) wire.Instruction {
				d := k.deal(lp, user, payIn, payOut)
				f(d)
				return k.init(d)
			}
			k.refused(tooManyConfirmations, with(func(d *wire.SwapData) { d.Confirmations = 201 }))
			for _, kind := range []chains.Kind{chains.HTLC, chains.Onchain, chains.OnchainTxID} {
				k.refused(wrongNonce, with(func(d *wire.SwapData) { d.Kind, d.Nonce = kind, 1 }))
			}
			d := k.deal(lp, user, payIn, payOut)
			for _, late := range []uint64{0, k.unix() - 1, k.unix()} {
				ix := trial.Must(k.p.InitInstruction(d, map[bool]wire.Key{true: lp, false: user}[payIn], late))(t)
				k.refused(authExpired, ix)
			}
			ix := k.init(d)
			ix.Data = slices.Clone(ix.Data)
			const kindAt, payInAt = 8, 8 + 43
			ix.Data[payInAt] ^= 1 // the flag must be the instruction's
			k.refused(wrongPayIn, ix)
			ix.Data[payInAt] = 2
			k.refused(argumentsNotReadable, ix)
			ix.Data[payInAt], ix.Data[kindAt] = 0, 4
			k.refused(argumentsNotReadable, ix)
			ix.Data = ix.Data[:len(ix.Data)-1]
			k.refused(argumentsNotReadable, ix)
			k.refused(constraintRaw, with(func(d *wire.SwapData) { d.Amount = wealth + 1 }))
		}
	})
}

// A hash has one live escrow, and once that has ended it can have another.
func TestEscrowsAreNotOverwritten(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		k.stock(5_000_000)
		d := k.pay()
		k.must(k.init(d))
		const inUse = Custom(0) // of the system program
		k.refused(inUse, k.init(d))
		k.refused(inUse, k.init(k.draw()))
		k.must(k.claim(d, lp))
		k.must(k.init(k.draw()))
	})
}

func TestOpeningIsGuarded(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		k.stock(5_000_000)
		k.must(k.p.DepositInstruction(user, coin, 5_000_000))
		for _, way := range [][2]bool{{true, true}, {true, false}, {false, true}, {false, false}} {
			payIn, payOut := way[0], way[1]
			d := k.deal(lp, user, payIn, payOut)
			ix := k.init(d)
			unsigned := func(of wire.Key, want error) {
				t.Helper()
				c := ix
				c.Accounts = slices.Clone(ix.Accounts)
				for i := range c.Accounts {
					if c.Accounts[i].PublicKey == of {
						c.Accounts[i].IsSigner = false
					}
				}
				k.refused(want, c)
			}
			unsigned(lp, accountNotSigner)
			switch {
			case k.p.Version == wire.V1, !payIn:
				unsigned(user, accountNotSigner) // as initializer too
			case !payOut:
				unsigned(user, constraintRaw)
			}
			for at, role := range ix.Accounts {
				if role.IsWritable && role.PublicKey != user && role.PublicKey != lp {
					want := error(constraintMut)
					if role.PublicKey == k.p.Escrow(d.PaymentHash) {
						want = PrivilegeEscalation // it is about to be created
					}
					k.refused(want, change(ix, at, func(a *wire.Account) { a.IsWritable = false }))
				}
			}
			at := func(key wire.Key) int { return k.place(ix, key) }
			k.refused(constraintSeeds, swapped(ix, at(k.p.Escrow(d.PaymentHash)), k.p.Escrow([32]byte{1})))
			k.refused(invalidProgramID, swapped(ix, at(wire.SystemProgram), wire.ATAProgram))
			k.refused(ownedByWrongProgram, swapped(ix, at(coin), user))
			if payIn {
				k.refused(constraintTokenMint, swapped(ix, at(wire.ATA(lp, coin)), wire.ATA(lp, other)))
				k.refused(constraintSeeds, swapped(ix, at(k.p.Vault(coin)), wire.ATA(lp, coin)))
				k.refused(Custom(4), swapped(ix, at(wire.ATA(lp, coin)), wire.ATA(tower, coin))) // tokens of one who has not signed
				if k.p.Version == wire.V1 {
					k.refused(constraintTokenOwner, swapped(ix, at(k.p.Authority()), user))
				}
			} else {
				k.refused(constraintSeeds, swapped(ix, at(k.p.UserVault(lp, coin)), k.p.UserVault(user, coin)))
			}
			n := len(ix.Accounts)
			wallet, vault := ix.Accounts[n-1].PublicKey, ix.Accounts[n-2].PublicKey
			if payOut {
				is(t, "claimerUserData", vault, k.p.Swap)
				k.refused(constraintRaw, swapped(ix, n-1, k.p.Swap))
				if k.p.Version == wire.V1 {
					k.refused(constraintTokenMint, swapped(ix, n-1, wire.ATA(user, other)))
					k.refused(accountNotInitialized, swapped(ix, n-1, keyOf("nobody")))
				} else {
					c := *d
					c.PaymentHash = [32]byte{7, byte(n)}
					k.must(swapped(k.init(&c), n-1, keyOf("nobody"))) // any address
				}
			} else {
				is(t, "claimerAta", wallet, k.p.Swap)
				k.refused(constraintRaw, swapped(ix, n-2, k.p.Swap))
				k.refused(constraintSeeds, swapped(ix, n-2, k.p.UserVault(lp, coin)))
				k.refused(accountNotInitialized, swapped(ix, n-2, k.p.UserVault(user, other)))
			}
			if k.p.Version == wire.V2 {
				k.refused(constraintRaw, change(ix, 2, func(a *wire.Account) { a.PublicKey = tower })) // a stranger as initializer
			}
		}
	})
}

// Who cannot pay for it opens nothing.
func TestOpeningNeedsLamports(t *testing.T) {
	poor := map[wire.Key]Account{user: {Lamports: 3_000_000}}
	both(t, setup{accounts: poor}, func(t *testing.T, k *kit) {
		k.stock(5_000_000)
		const negative = Custom(1) // of the system program
		d := k.draw()
		d.SecurityDeposit = 3_000_001
		k.refused(negative, k.init(d))
		d.SecurityDeposit = 3_000_000
		k.must(k.init(d))
	})
}
