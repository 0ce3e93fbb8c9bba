package devnet

import (
	"slices"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/devnet/starknet"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// One LP serves all chains, each by its own key, and the clock moves all.
func TestStarknetBesideEVM(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{Starknet: true, Solana: "v2", LPs: 2, Watchtower: true})
	for i, l := range k.LPs {
		info := trial.Must(k.client.Info(k.ctx, l.URL()))(t)
		if len(info.Chains) != 3 {
			t.Fatalf("%+v", info.Chains)
		}
		for _, c := range info.Chains {
			if c.Chain != "STARKNET" {
				continue
			}
			if (c.Address == wire.Hex64(k.Starknet.LP.Address)) != (i == 0) || c.Version != "v1" {
				t.Errorf("LP %d: %+v", i, c)
			}
			account := trial.Must(wire.ParseAddress(c.Address))(t)
			q := trial.Must(k.Starknet.Network().CheckData(account, info.Envelope, c.Signature))(t)
			if answer := trial.Must(k.Starknet.Call(account, "is_valid_signature", q.Calldata()...))(t); !trial.Must(wire.ReadSignatureAnswer(answer))(t) {
				t.Errorf("LP %d did not sign what it says of itself", i)
			}
		}
		for _, s := range []lp.Service{lp.ToBTC, lp.ToBTCLN, lp.SPVFromBTC, lp.FromBTCLNAuto} {
			if !slices.ContainsFunc(info.Services[s].Chains, func(c lp.ChainTokens) bool { return c.Chain == "STARKNET" && len(c.Tokens) == 3 }) {
				t.Errorf("LP %d does not offer %s: %+v", i, s, info.Services[s].Chains)
			}
		}
	}
	before := k.Starknet.Time()
	k.ok(k.Advance(time.Hour))
	if now := k.Starknet.Time(); now.Sub(before) < 59*time.Minute {
		t.Errorf("moved by %v", now.Sub(before))
	}
	k.ok(k.Mine(3))
	k.ok(k.SyncRelays(k.ctx))
	if at, tip := trial.Must(k.Starknet.RelayHeight())(t), func() uint32 { h, _ := k.Bitcoin.Tip(); return h }(); at != tip {
		t.Errorf("the relay is at %d, Bitcoin at %d", at, tip)
	}
	d := k.Describe()
	if d.Starknet == nil || d.Starknet.RPC == "" || d.Starknet.Tokens["WBTC"] != wire.Hex64(starknet.WBTC) || len(d.Starknet.Network.Deployments) != 1 ||
		d.Users.Starknet.Address != wire.Hex64(k.Starknet.User.Address) || d.Users.Starknet.Key == "" {
		t.Errorf("%+v", d.Starknet)
	}
}
