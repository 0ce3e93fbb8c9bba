package programs

import (
	"bytes"
	"testing"

	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

func TestDataAccounts(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		payload := bytes.Repeat([]byte("bitcoin "), 80)
		at := k.write(tower, payload)
		a, _ := k.account(at)
		read, err := k.p.DecodeDataAccount(a.Data)
		if err != nil || !bytes.Equal(read.Payload, payload) {
			t.Errorf("the payload is %q, %v", read.Payload, err)
		}
		if k.p.Version == wire.V1 {
			is(t, "owner", read.Owner, tower)
		}
		end := uint32(len(payload))
		k.must(k.p.WriteDataInstruction(tower, at, end-3, []byte{1, 2, 3}))
		k.refused(bank.ProgramFailedToComplete, k.p.WriteDataInstruction(tower, at, end-2, []byte{1, 2, 3}))
		k.refused(bank.ProgramFailedToComplete, k.p.WriteDataInstruction(tower, at, 1<<32-1, []byte{1}))
		k.refused(invalidUserData, k.p.WriteDataInstruction(user, at, 0, []byte{1}))
		k.refused(invalidUserData, k.p.CloseDataInstruction(user, at))
		for _, ix := range []wire.Instruction{k.p.WriteDataInstruction(tower, at, 0, []byte{1}), k.p.CloseDataInstruction(tower, at)} {
			k.refused(accountNotSigner, change(ix, 0, func(a *wire.Account) { a.IsSigner = false }))
			k.refused(constraintMut, change(ix, 1, func(a *wire.Account) { a.IsWritable = false }))
		}
		// Somebody else cannot make it his: it would have to sign.
		steal := k.p.InitDataInstruction(user, at)
		k.refused(accountNotSigner, change(steal, 1, func(a *wire.Account) { a.IsSigner = false }))
		rent := int64(k.lamports(at))
		are(t, "lamports", k.gained(func() { k.must(k.p.CloseDataInstruction(tower, at)) }, tower, at), []int64{rent, -rent})
		k.refused(bank.ProgramFailedToComplete, k.p.CloseDataInstruction(tower, at))
	})
}

// What is no data account is none: not an account of another program, none that is too
// short, and no escrow or balance, whose lamports the program could give away.
func TestOtherAccountsAreNoData(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		k.stock(5_000_000)
		d := k.pay()
		k.must(k.init(d))
		for _, at := range []wire.Key{k.p.Escrow(d.PaymentHash), k.p.UserVault(lp, coin), wire.ATA(lp, coin), k.p.Vault(coin)} {
			k.refused(invalidUserData, k.p.CloseDataInstruction(tower, at))
			k.refused(invalidUserData, k.p.WriteDataInstruction(tower, at, 0, []byte{1}))
			ix := k.claim(d, tower)
			ix = change(ix, len(ix.Accounts)-1, func(a *wire.Account) { *a = wire.Account{PublicKey: at, IsWritable: true} })
			k.refused(invalidUserData, ix)
		}
		k.refused(bank.ProgramFailedToComplete, k.p.CloseDataInstruction(tower, user))
		space := uint64(k.p.DataSpace(0))
		k.must(wire.CreateAccount(tower, keyOf("data"), k.p.Swap, wire.Rent(int(space)-1), space-1))
		k.refused(bank.ProgramFailedToComplete, k.p.InitDataInstruction(tower, keyOf("data")))
	})
}

// A data account of another program may begin with anybody's key, but what it holds is
// not the swap program's to give away: it can neither be closed nor claimed with.
func TestDataOfOtherPrograms(t *testing.T) {
	for _, version := range []string{wire.V1, wire.V2} {
		p := programsOf(t, version)
		owner := make([]byte, p.DataSpace(0)-32, p.DataSpace(200))
		owner = append(append(owner, tower[:]...), append(secret[:], make([]byte, 200-32)...)...)
		alien := keyOf("alien")
		k := newKit(t, version, setup{accounts: map[wire.Key]bank.Account{alien: {Lamports: sol, Owner: wire.ATAProgram, Data: owner}}})
		k.stock(0)
		d := k.pay()
		k.must(k.init(d))
		k.refused(bank.ExternalAccountLamportSpend, k.p.CloseDataInstruction(tower, alien))
		ix := k.claim(d, tower)
		k.refused(bank.ExternalAccountLamportSpend, change(ix, len(ix.Accounts)-1, func(a *wire.Account) { *a = wire.Account{PublicKey: alien, IsWritable: true} }))
	}
}

// The secret of a hash lock may stand in a data account too.
func TestSecretInADataAccount(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		k.stock(0)
		d := k.pay()
		k.must(k.init(d))
		at := k.write(tower, secret[:])
		ix, err := k.p.ClaimInstruction(d, tower, nil, &at)
		if err != nil {
			t.Fatal(err)
		}
		byUser, err := k.p.ClaimInstruction(d, user, nil, &at)
		if err != nil {
			t.Fatal(err)
		}
		k.refused(invalidUserData, byUser)
		k.refused(constraintMut, change(ix, len(ix.Accounts)-1, func(a *wire.Account) { a.IsWritable = false }))
		k.must(ix)
		is(t, "the data account's lamports", k.lamports(at), 0)
	})
}
