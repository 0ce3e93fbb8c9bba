package swap

import (
	"slices"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
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
		{"paying an invoice", &Record{Head: Head{Type: ToBTCLN, State: OutCommitted}, Lightning: invoice, Escrow: &EscrowPart{Real: escrow, InitTx: "0x1"}},
			row(newToBTCLN(), OutCommitted), []string{ByPaying, ByEvent}, []string{BySigner, ByPending, ByWatch}, []string{ByHash, ByPurge, ByRequest}},
		{"waiting for a payment", &Record{Head: Head{Type: FromBTCLNAuto, State: LnCreated}, Lightning: invoice, Escrow: &EscrowPart{Expected: escrow}},
			row(newFromBTCLNAuto(), LnCreated), []string{ByHash}, []string{BySigner, ByPending, ByWatch, ByEvent}, []string{ByPaying, ByPurge}},
		{"handed over to a vault's owner", &Record{Head: Head{Type: SPVFromBTC, State: SPVPosted}, Vault: &VaultPart{}, Bitcoin: &BitcoinPart{Posted: true, TxID: bitcoin.Hash{7}}},
			row(newSPVFromBTC(), SPVPosted), []string{ByEvent}, []string{BySigner, ByPending, ByWatch}, []string{ByHash, ByPaying, ByPurge}},
		{"asked for with a key", &Record{Head: Head{Type: SPVFromBTC, State: SPVCreated, Request: "k"}, Vault: &VaultPart{}, Bitcoin: &BitcoinPart{}},
			row(newSPVFromBTC(), SPVCreated), []string{ByRequest}, []string{BySigner, ByPending}, []string{ByEvent, ByHash}},
		{"gas", &Record{Head: Head{Type: TrustedFromBTC, State: TrustedBTCCreated}, Gas: &GasPart{Hash: "bb"}, Bitcoin: &BitcoinPart{}},
			row(newTrustedFromBTC(), TrustedBTCCreated), []string{ByHash}, []string{BySigner}, []string{ByPaying, ByPurge}},
		{"expired", &Record{Head: Head{Type: SPVFromBTC, State: SPVExpired, Settled: true}, Vault: &VaultPart{}, Bitcoin: &BitcoinPart{}},
			row(newSPVFromBTC(), SPVExpired), nil, []string{ByPurge}, []string{BySigner, ByPending, ByWatch}},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := c.r.Keys(c.row)
			has := func(index string) *Key {
				if i := slices.IndexFunc(is, func(k Key) bool { return k.Index == index }); i >= 0 {
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
