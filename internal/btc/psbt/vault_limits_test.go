package psbt

import (
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/trial"
)

func TestVaultDraftReckonsTheScript(t *testing.T) {
	for _, n := range []int{75, 76} { // where a push takes a byte more
		script := trial.Must(rawtx.OpReturn(make([]byte, n)))(t)
		if got := len(VaultDraft(n).Outputs[1].PkScript); got != len(script) {
			t.Errorf("%d bytes of data are reckoned as a script of %d, it has %d", n, got, len(script))
		}
	}
}

// What a provider takes bounds the inputs of a vault swap, and of nothing else.
func TestFundBoundsInputsOfVaults(t *testing.T) {
	w := testWallet(t, bitcoin.P2WPKH)
	var coins []Coin
	for i := range 60 {
		coins = append(coins, Coin{OutPoint: bitcoin.OutPoint{Hash: bitcoin.Hash{1, byte(i)}}, Value: 1000})
	}
	pay := testAddress(t, bitcoin.P2WPKH).Script()
	f, err := Fund(PaymentTemplate(pay, 40_000), w, coins, 1, Cheapest)
	if err != nil || len(f.Inputs) < 40 {
		t.Fatalf("a payment of many coins: %+v, %v", f, err)
	}
	if ids := f.ParentIDs(); len(ids) != 0 {
		t.Errorf("a segwit wallet needs %d parents", len(ids))
	}
	vault := testTemplate(t, testAddress(t, bitcoin.P2TR), testAddress(t, bitcoin.P2WPKH))
	vault.Outputs[2].Value = 40_000
	if f, err := Fund(vault, w, coins, 1, Cheapest); err == nil || !strings.Contains(err.Error(), "consolidate") {
		t.Errorf("a vault swap of many coins: %+v, %v", f, err)
	}
	odd := vault
	odd.Inputs = []TemplateInput{{Output: wire.TxOut{Value: 600, PkScript: []byte{0x51}}}}
	if f, err := Fund(odd, w, []Coin{{OutPoint: bitcoin.OutPoint{Hash: bitcoin.Hash{1}}, Value: 1_000_000}}, 1, Cheapest); err == nil {
		t.Errorf("funded beside an output of no known type: %+v", f)
	}
}
