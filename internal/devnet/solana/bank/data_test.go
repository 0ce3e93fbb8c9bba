package bank

import (
	"bytes"
	"testing"

	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

func TestDataAccounts(t *testing.T) {
	layouts(t, func(t *testing.T, k *kit) {
		payload := bytes.Repeat([]byte("bitcoin "), 80)
		at := k.write(tower, payload)
		a, _ := k.account(at)
		read, err := k.data.Decode(a.Data)
		if err != nil || !bytes.Equal(read.Payload, payload) {
			t.Errorf("the payload is %q, %v", read.Payload, err)
		}
		is(t, "owner", read.Owner, tower)
		layout, ok := k.p.DataLayoutOf(a.Data, tower)
		is(t, "layout", layout, k.data)
		if _, others := k.p.DataLayoutOf(a.Data, user); !ok || others {
			t.Errorf("the account is the owner's: %v, somebody else's: %v", ok, others)
		}
		end := uint32(len(payload))
		k.must(k.p.WriteDataInstruction(tower, at, end-3, []byte{1, 2, 3}))
		k.refused(ProgramFailedToComplete, k.p.WriteDataInstruction(tower, at, end-2, []byte{1, 2, 3}))
		k.refused(ProgramFailedToComplete, k.p.WriteDataInstruction(tower, at, 1<<32-1, []byte{1}))
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
		k.refused(ProgramFailedToComplete, k.p.CloseDataInstruction(tower, at))
	})
}

// What is no data account is none: not an account of another program, none that is too
// short, and no escrow or balance, whose lamports the program could give away.
func TestOtherAccountsAreNoData(t *testing.T) {
	layouts(t, func(t *testing.T, k *kit) {
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
		k.refused(ProgramFailedToComplete, k.p.CloseDataInstruction(tower, user))
		space := uint64(k.data.Space(0))
		k.must(wire.CreateAccount(tower, keyOf("data"), k.p.Swap, wire.Rent(int(space)-1), space-1))
		k.refused(ProgramFailedToComplete, k.p.InitDataInstruction(tower, keyOf("data")))
	})
}

// A data account of another program may begin with anybody's key, but what it holds is
// not the swap program's to give away: it can neither be closed nor claimed with.
func TestDataOfOtherPrograms(t *testing.T) {
	layouts(t, func(t *testing.T, k *kit) {
		owner := append(make([]byte, k.data), tower[:]...)
		owner = append(append(owner, secret[:]...), make([]byte, 200-32)...)
		alien := keyOf("alien")
		k = newKit(t, k.p.Version, setup{data: k.data, accounts: map[wire.Key]Account{alien: {Lamports: sol, Owner: wire.ATAProgram, Data: owner}}})
		k.stock(0)
		d := k.pay()
		k.must(k.init(d))
		k.refused(ExternalAccountLamportSpend, k.p.CloseDataInstruction(tower, alien))
		ix := k.claim(d, tower)
		k.refused(ExternalAccountLamportSpend, change(ix, len(ix.Accounts)-1, func(a *wire.Account) { *a = wire.Account{PublicKey: alien, IsWritable: true} }))
	})
}

// A payload in an account that was made for the other layout is not the one that was
// written: the bytes that are too many, or too few, make it another transaction.
func TestDataOfAnotherSize(t *testing.T) {
	layouts(t, func(t *testing.T, k *kit) {
		k.stock(5_000_000)
		paid := payments()["output"]
		m, _ := k.mine(k.startRelay(900), paid.tx, 3)
		d := k.sale(paid.Condition)
		k.must(k.init(d))
		payload := append([]byte{1, 0, 0, 0}, m.raw...)
		at := k.write(tower, append(payload, make([]byte, 8)...))
		ix := trial.Must(k.p.ClaimInstruction(d, tower, nil, &at))(t)
		k.refused(verifyTxID, k.verify(m, d.Confirmations), ix)
		k.must(k.p.CloseDataInstruction(tower, at))
		at = k.write(tower, payload)
		k.must(k.verify(m, d.Confirmations), ix)
	})
}

// What a trial says of the layout is what the program does.
func TestTriedLayout(t *testing.T) {
	layouts(t, func(t *testing.T, k *kit) {
		at := keyOf("data")
		tx := k.p.DataTrialTx(tower, at)
		k.must(tx.Instructions...)
		a, _ := k.account(at)
		layout, ok := k.p.TriedLayout(a.Data, tower)
		if !ok || layout != k.data {
			t.Errorf("%d, %v", layout, ok)
		}
		if _, ok := k.p.TriedLayout(append(make([]byte, 4), a.Data...), tower); ok {
			t.Error("a key in another place will do")
		}
		if _, ok := k.p.TriedLayout(a.Data, user); ok {
			t.Error("it is somebody else's too")
		}
	})
}

// The secret of a hash lock may stand in a data account too.
func TestSecretInADataAccount(t *testing.T) {
	layouts(t, func(t *testing.T, k *kit) {
		k.stock(0)
		d := k.pay()
		k.must(k.init(d))
		at := k.write(tower, secret[:])
		ix := trial.Must(k.p.ClaimInstruction(d, tower, nil, &at))(t)
		byUser := trial.Must(k.p.ClaimInstruction(d, user, nil, &at))(t)
		k.refused(invalidUserData, byUser)
		k.refused(constraintMut, change(ix, len(ix.Accounts)-1, func(a *wire.Account) { a.IsWritable = false }))
		k.must(ix)
		is(t, "the data account's lamports", k.lamports(at), 0)
	})
}
