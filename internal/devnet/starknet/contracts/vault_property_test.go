package contracts

import (
	"testing"

	btc "github.com/btcsuite/btcd/wire"
	"pgregory.net/rapid"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// Whatever withdrawals a vault is claimed with, well formed or not, advanced or not: no
// token appears or vanishes, the manager has exactly what its vault counts, and a
// withdrawal is paid once.
func TestVaultsConserveValue(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		k := newKit(t)
		v := k.newVault()
		tip := genesis()
		everything := func() (n int64) {
			for _, both := range k.vaultHeld() {
				n += both[0] + 10_000*both[1] // tells the tokens apart
			}
			return n
		}
		before := everything()
		for range rapid.IntRange(1, 4).Draw(rt, "withdrawals") {
			raw := [2]uint64{rapid.Uint64Range(0, 400_000).Draw(rt, "first"), rapid.Uint64Range(0, 400_000).Draw(rt, "second")}
			var execution *Felt
			if rapid.Bool().Draw(rt, "with calls") {
				h := wire.FeltOf(uint64(tip.Header.Height))
				execution = &h
			}
			tx := k.spend(v.UTXO, raw, execution, func(tx *btc.MsgTx) {
				if rapid.IntRange(0, 5).Draw(rt, "form") == 0 {
					closings[rapid.IntRange(0, 4).Draw(rt, "fault")].tx(tx)
				}
			})
			w, err := wire.ParseWithdrawal(tx)
			if err == nil && rapid.Bool().Draw(rt, "advanced") {
				calls := trial.Must(FrontVault(k.d, v, w, v.Withdrawals))(k)
				if _, err := k.send(user, calls...); err != nil {
					rt.Fatalf("advance: %v", err)
				}
			}
			fits := err == nil && w.Amounts.Total[0] <= v.Raw[0] && w.Amounts.Total[1] <= v.Raw[1]
			var proof wire.BitcoinProof
			proof, tip = k.confirm(tip, tx, 2)
			if tip.Header.Time > uint32(k.clock()) {
				k.later(0)
			}
			if _, err := k.rawClaim(v.VaultRef, proof); err != nil {
				rt.Fatalf("claim: %v", err)
			}
			if _, err := k.rawClaim(v.VaultRef, proof); err == nil {
				rt.Fatal("a withdrawal is paid twice")
			}
			after := k.vault(v.VaultRef)
			if after.Open() != fits {
				rt.Fatalf("open is %v, want %v", after.Open(), fits)
			}
			if fits && (after.Raw != [2]uint64{v.Raw[0] - w.Amounts.Total[0], v.Raw[1] - w.Amounts.Total[1]} || after.UTXO != bitcoin.OutPoint(w.NextVault())) {
				rt.Fatalf("the vault is %+v after %+v", after, w.Amounts)
			}
			v = after
			if got := everything(); got != before {
				rt.Fatalf("there are %d tokens, there were %d", got, before)
			}
			if held := k.vaultHeld()["vaults"]; held != [2]int64{int64(v.Raw[0]), int64(10 * v.Raw[1])} {
				rt.Fatalf("the manager has %v, the vault says %v", held, v.Raw)
			}
			if !fits {
				break
			}
		}
	})
}
