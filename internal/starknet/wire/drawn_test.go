package wire

import (
	"bytes"
	"math/big"
	"testing"

	"github.com/NethermindEth/juno/core/crypto"
	"github.com/NethermindEth/juno/core/felt"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func drawFelt(f *vectors.Drawn) Felt {
	n := f.Big(252)
	x, err := FeltOfBig(n)
	if err != nil {
		return FeltOf(uint64(n.Bits()[0]))
	}
	return x
}

func drawFelts(f *vectors.Drawn, most int) (all []Felt) {
	for range f.Int(most + 1) {
		all = append(all, drawFelt(f))
	}
	return all
}

func poseidonOf(all ...Felt) Felt { return *crypto.PoseidonArray(pointers(all)...) }

// bounded is a bound as version 3 hashes it: its name, 64 bits of amount and 128 of price.
func bounded(t *testing.T, name string, b Bound) Felt {
	n := new(big.Int).SetBytes([]byte(name))
	n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(b.MaxAmount))
	n.Lsh(n, 128).Add(n, b.MaxPrice)
	return trial.Must(FeltOfBig(n))(t)
}

// hashByHand is the hash of a transaction of version 3 from the specification, with
// nothing but the hash function of somebody else.
func hashByHand(t *testing.T, tx *Transaction) Felt {
	mode := func(m DAMode) uint64 {
		if m == DAModeL2 {
			return 1
		}
		return 0
	}
	name, rest := "invoke", []Felt{poseidonOf(tx.AccountDeploymentData...), poseidonOf(tx.Calldata...)}
	if tx.Type == DeployAccount {
		name, rest = "deploy_account", []Felt{poseidonOf(tx.Deploy.ConstructorCalldata...), tx.Deploy.ClassHash, tx.Deploy.Salt}
	}
	fees := poseidonOf(FeltOf(tx.Tip), bounded(t, "L1_GAS", tx.Bounds.L1), bounded(t, "L2_GAS", tx.Bounds.L2), bounded(t, "L1_DATA", tx.Bounds.L1Data))
	all := []Felt{*new(felt.Felt).SetBytes([]byte(name)), FeltOf(3), tx.Sender, fees, poseidonOf(tx.PaymasterData...), tx.ChainID, FeltOf(tx.Nonce),
		FeltOf(mode(tx.NonceMode)<<32 | mode(tx.FeeMode))}
	return poseidonOf(append(all, rest...)...)
}

// FuzzTransactionHashes compares hashes of transactions with all members, written to
// text and read again, with the specification's formula; and a bent text is refused, or
// is itself again.
func FuzzTransactionHashes(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5}, []byte{})
	f.Add(bytes.Repeat([]byte{1, 4, 200}, 80), []byte{})
	f.Add(bytes.Repeat([]byte{6}, 80), []byte{2, 1, 0})
	f.Fuzz(func(t *testing.T, fields, bends []byte) {
		d := vectors.Draw(fields)
		bound := func() Bound { return Bound{d.Uint64(), d.Big(128)} }
		tx := &Transaction{Type: Invoke, Details: Details{Sender: drawFelt(d), ChainID: drawFelt(d), Nonce: d.Uint64() % (1 << 53), Bounds: Bounds{bound(), bound(), bound()}, Tip: d.Uint64(),
			NonceMode: vectors.DrawOne(d, DAModeL1, DAModeL2), FeeMode: vectors.DrawOne(d, DAModeL1, DAModeL2)}, Signed: true}
		if d.Bool() {
			tx.PaymasterData, tx.AccountDeploymentData = drawFelts(d, 3), drawFelts(d, 3)
		}
		tx.Signature = []Felt{drawFelt(d), drawFelt(d)}
		if d.Bool() {
			tx.Type, tx.AccountDeploymentData = DeployAccount, nil
			tx.Deploy = Deploy{drawFelt(d), drawFelt(d), drawFelts(d, 4)}
		} else {
			tx.Calldata = append(drawFelts(d, 20), drawFelt(d)) // an account is never called with nothing
		}
		h, err := tx.Hash()
		if err != nil {
			t.Fatalf("%+v: %v", tx, err)
		}
		if want := hashByHand(t, tx); h != want {
			t.Fatalf("%s has the hash %s, want %s", tx, Hex(h), Hex(want))
		}
		text := tx.String()
		if again, err := ParseTransaction(text); err == nil {
			if back, err := again.Hash(); err != nil || back != h {
				t.Fatalf("%s is read with the hash %s, %v, want %s", text, Hex(back), err, Hex(h))
			}
		}
		bent := string(vectors.Draw(bends).JSON([]byte(text)))
		p, err := ParseTransaction(bent)
		if err != nil {
			return
		}
		if again, err := ParseTransaction(p.String()); err != nil || again.String() != p.String() {
			t.Fatalf("%s is read as %s, and that as %v, %v", bent, p, again, err)
		}
		if h, err := p.Hash(); err == nil && p.Signed && p.Bounds.L1.MaxPrice != nil && h != hashByHand(t, p) {
			t.Fatalf("%s has the hash %s", bent, Hex(h))
		}
	})
}
