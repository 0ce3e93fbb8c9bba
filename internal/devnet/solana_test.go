package devnet

import (
	"slices"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// One LP serves both chains, each by its own key, and the clock moves both.
func TestSolanaBesideEVM(t *testing.T) {
	t.Parallel()
	for _, version := range []string{wire.V1, wire.V2} {
		began := time.Now()
		k := newKit(t, Options{Solana: version, LPs: 2, Watchtower: true})
		t.Logf("ready after %v", time.Since(began))
		for i, l := range k.LPs {
			info := trial.Must(k.client.Info(k.ctx, l.URL()))(t)
			if len(info.Chains) != 2 {
				t.Fatalf("%+v", info.Chains)
			}
			for _, c := range info.Chains {
				if c.Chain == "CITREA" {
					k.ok(k.chain.VerifyData(k.ctx, c.Address, info.Envelope, c.Signature))
					continue
				}
				if (c.Address == k.Solana.LP.Address.String()) != (i == 0) || c.Version != version {
					t.Errorf("LP %d: %+v", i, c)
				}
				key := trial.Must(wire.ParseKey(c.Address))(t)
				k.ok(wire.VerifyData(key, info.Envelope, c.Signature))
			}
			served := func(s lp.Service) (chains []string) {
				for _, c := range info.Services[s].Chains {
					chains = append(chains, c.Chain)
				}
				slices.Sort(chains)
				return chains
			}
			auto := map[string][]string{wire.V1: {"CITREA"}, wire.V2: {"CITREA", "SOLANA"}}[version]
			for s, want := range map[lp.Service][]string{lp.ToBTC: {"CITREA", "SOLANA"}, lp.SPVFromBTC: {"CITREA"}, lp.FromBTC: {"SOLANA"}, lp.FromBTCLN: {"SOLANA"}, lp.FromBTCLNAuto: auto} {
				if got := served(s); !slices.Equal(got, want) {
					t.Errorf("%s is offered on %v, want %v", s, got, want)
				}
			}
		}
		before := [2]time.Time{k.EVM.Time(), k.Solana.Time()}
		k.ok(k.Advance(time.Hour))
		for i, now := range []time.Time{k.EVM.Time(), k.Solana.Time()} {
			if now.Sub(before[i]) < 59*time.Minute {
				t.Errorf("chain %d moved by %v", i, now.Sub(before[i]))
			}
		}
		k.ok(k.Mine(3))
		k.ok(k.SyncRelays(k.ctx))
		if at := trial.Must(k.Solana.RelayHeight(version))(t); at != func() uint32 { h, _ := k.Bitcoin.Tip(); return h }() {
			t.Errorf("the relay is at %d", at)
		}
		if d := k.Describe(); d.Solana == nil || d.Solana.Programs[version].Swap == "" || d.Solana.Tokens["WBTC"] != solana.WBTC.String() || d.Users.Solana.Key == "" {
			t.Errorf("%+v", d.Solana)
		}
	}
}
