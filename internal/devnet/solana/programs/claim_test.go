package programs

import (
	"testing"

	"github.com/swapper-go/swapper/internal/solana/wire"
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
