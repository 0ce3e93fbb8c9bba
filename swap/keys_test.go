package swap

import (
	"slices"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/storage"
)

// TestKeys makes sure that what must not be done twice has a unique key, and that
// a swap that may still move money is found by events and by the clock.
func TestKeys(t *testing.T) {
	escrow := &chains.Escrow{Hash: []byte{1}, ClaimHash: []byte{2}}
	invoice := &LightningPart{Hash: "aa"}
	row := func(f *Flow, state int) StateRow { r, _ := f.State(state); return r }
	for _, c := range []struct {
		name   string
		r      *Record
		row    StateRow
		unique []string
		plain  []string
		none   []string
	}{
		{"paying an invoice", &Record{Head: Head{Type: ToBTCLN, State: outCommitted}, Lightning: invoice, Escrow: &EscrowPart{Real: escrow, InitTx: "0x1"}},
			row(NewToBTCLN(), outCommitted), []string{byPaying, byEvent}, []string{bySigner, byPending, byWatch}, []string{byHash, byPurge, byRequest}},
		{"waiting for a payment", &Record{Head: Head{Type: FromBTCLNAuto, State: lnCreated}, Lightning: invoice, Escrow: &EscrowPart{Expected: escrow}},
			row(NewFromBTCLNAuto(), lnCreated), []string{byHash}, []string{bySigner, byPending, byWatch, byEvent}, []string{byPaying, byPurge}},
		{"handed over to a vault's owner", &Record{Head: Head{Type: SPVFromBTC, State: spvPosted}, Vault: &VaultPart{}, Bitcoin: &BitcoinPart{Posted: true, TxID: bitcoin.Hash{7}}},
			row(NewSPVFromBTC(), spvPosted), []string{byEvent}, []string{bySigner, byPending, byWatch}, []string{byHash, byPaying, byPurge}},
		{"asked for with a key", &Record{Head: Head{Type: SPVFromBTC, State: spvCreated, Request: "k"}, Vault: &VaultPart{}, Bitcoin: &BitcoinPart{}},
			row(NewSPVFromBTC(), spvCreated), []string{byRequest}, []string{bySigner, byPending}, []string{byEvent, byHash}},
		{"gas", &Record{Head: Head{Type: TrustedFromBTC, State: coinCreated}, Gas: &GasPart{Hash: "bb"}, Bitcoin: &BitcoinPart{}},
			row(NewTrustedFromBTC(), coinCreated), []string{byHash}, []string{bySigner}, []string{byPaying, byPurge}},
		{"expired", &Record{Head: Head{Type: SPVFromBTC, State: spvExpired, Settled: true}, Vault: &VaultPart{}, Bitcoin: &BitcoinPart{}},
			row(NewSPVFromBTC(), spvExpired), nil, []string{byPurge}, []string{bySigner, byPending, byWatch}},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := keys(c.r, c.row)
			has := func(index string) *storage.Key {
				if i := slices.IndexFunc(is, func(k storage.Key) bool { return k.Index == index }); i >= 0 {
					return &is[i]
				}
				return nil
			}
			for _, index := range c.unique {
				if k := has(index); k == nil || !k.Unique {
					t.Errorf("%s: %+v, want a unique key", index, k)
				}
			}
			for _, index := range c.plain {
				if k := has(index); k == nil || k.Unique {
					t.Errorf("%s: %+v, want a plain key", index, k)
				}
			}
			for _, index := range c.none {
				if k := has(index); k != nil {
					t.Errorf("%s: %+v, want none", index, k)
				}
			}
		})
	}
}
