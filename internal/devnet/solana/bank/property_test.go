package bank_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// TestNothingIsLost makes random transactions, good and bad, in random blocks and
// forks, and demands that all lamports and all tokens are somewhere and that a fork
// leaves the blocks below it.
func TestNothingIsLost(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		coin := key("coin").PublicKey()
		k := newKit(t, bank.Options{Accounts: map[bank.Key]bank.Account{coin: bank.MintAccount(6, 0, &alice)}})
		defer k.Close()
		names := []string{"alice", "bob", "carol", "dave"}
		lamports, burnt := k.supply()
		whole := lamports + burnt
		for n := range rapid.IntRange(5, 40).Draw(r, "steps") {
			who, to := rapid.SampledFrom(names).Draw(r, "who"), key(rapid.SampledFrom(names).Draw(r, "to")).PublicKey()
			from := key(who).PublicKey()
			amount := rapid.SampledFrom([]uint64{0, 1, 890_880, 2_039_280, sol, 99 * sol, 1 << 63}).Draw(r, "amount")
			var ix wire.Instruction
			switch kind := rapid.SampledFrom([]string{"send", "wrap", "unwrap", "tokens", "mint", "burn", "account", "new", "block", "fork", "later"}).Draw(r, "kind"); kind {
			case "send":
				ix = wire.Transfer(from, to, amount)
			case "wrap":
				k.submit(r, n, who, wire.EnsureATA(from, from, wire.WSOL), wire.Transfer(from, wire.ATA(from, wire.WSOL), amount))
				ix = wire.SyncNative(wire.ATA(from, wire.WSOL))
			case "unwrap":
				ix = wire.CloseToken(wire.ATA(from, wire.WSOL), to, from)
			case "tokens":
				of := rapid.SampledFrom([]bank.Key{coin, wire.WSOL}).Draw(r, "mint")
				k.submit(r, n, who, wire.EnsureATA(from, to, of))
				ix = wire.TransferToken(wire.ATA(from, of), wire.ATA(to, of), from, amount)
			case "mint":
				k.submit(r, n, who, wire.EnsureATA(from, to, coin))
				ix = mint(coin, wire.ATA(to, coin), from, amount)
			case "burn":
				ix = burn(wire.ATA(from, coin), coin, from, amount)
			case "account":
				ix = wire.EnsureATA(from, to, coin)
			case "new":
				name := fmt.Sprint("new", n)
				k.submitBy(r, n, []string{who, name}, wire.CreateAccount(from, key(name).PublicKey(), programID, amount, amount%50))
				continue
			case "block":
				k.Produce(rapid.IntRange(1, 3).Draw(r, "blocks"))
				k.conserved(r, whole, coin)
				continue
			case "fork":
				before := k.old()
				depth := rapid.IntRange(1, 4).Draw(r, "depth")
				_ = k.Fork(depth, rapid.Bool().Draw(r, "lost")) // refused while there are too few blocks
				for slot, was := range before {
					k.Read(bank.Processed, 0, func(v *bank.View) {
						if b := v.Block(slot); b != nil && b != was {
							r.Fatalf("slot %d is another block", slot)
						}
					})
				}
				k.conserved(r, whole, coin)
				continue
			case "later":
				if err := k.Advance(30e9); err != nil {
					r.Fatal(err)
				}
				continue
			}
			k.submit(r, n, who, ix)
		}
		k.Produce(1)
		k.conserved(r, whole, coin)
	})
}

func (k *kit) supply() (lamports, burnt uint64) {
	k.Read(bank.Processed, 0, func(v *bank.View) { lamports, burnt = v.Supply(), v.Burnt() })
	return lamports, burnt
}

func (k *kit) submit(r *rapid.T, n int, who string, ix ...wire.Instruction) {
	k.submitBy(r, n, []string{who}, ix...)
}

func (k *kit) submitBy(r *rapid.T, n int, who []string, ix ...wire.Instruction) {
	k.nonce++
	if _, err := k.Send(k.sign(keys(who...), append(ix, wire.SetLimit(400_000+k.nonce), wire.SetPrice(uint64(n)*1000))...)); err != nil {
		r.Fatal(err)
	}
}

// old are the blocks so far, by slot.
func (k *kit) old() map[uint64]*bank.Block {
	all := map[uint64]*bank.Block{}
	k.Read(bank.Processed, 0, func(v *bank.View) {
		for _, b := range v.Recent(100) {
			all[b.Slot] = b
		}
	})
	return all
}

// conserved demands that nothing came out of nothing, or went nowhere.
func (k *kit) conserved(r *rapid.T, whole uint64, coin bank.Key) {
	lamports, burnt := k.supply()
	if lamports+burnt != whole {
		r.Fatalf("%d lamports and %d burnt, there were %d", lamports, burnt, whole)
	}
	k.Read(bank.Processed, 0, func(v *bank.View) {
		var tokens uint64
		for _, at := range v.Owned(wire.TokenProgram) {
			a, _ := v.Account(at)
			t, ok := v.Token(at)
			switch {
			case !ok:
			case t.Mint == coin:
				tokens += t.Amount
			case t.Native == nil || t.Amount+*t.Native > a.Lamports:
				r.Fatalf("%s holds %d lamports for %d wrapped ones", at, a.Lamports, t.Amount)
			}
			if a.Lamports < wire.Rent(len(a.Data)) {
				r.Fatalf("%s has %d lamports for %d bytes", at, a.Lamports, len(a.Data))
			}
		}
		if m, _ := v.Mint(coin); m.Supply != tokens {
			r.Fatalf("accounts hold %d of %d tokens", tokens, m.Supply)
		}
		for _, b := range v.Recent(5) {
			for _, tx := range b.Txs {
				var before, after uint64
				for i := range tx.PreBalances {
					before, after = before+tx.PreBalances[i], after+tx.PostBalances[i]
				}
				if before != after+tx.Fee {
					r.Fatalf("%s: %d lamports before, %d after and a fee of %d", tx.ID, before, after, tx.Fee)
				}
			}
		}
	})
}
