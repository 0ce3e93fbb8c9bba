package quote

import (
	"errors"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
	devlp "github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/trial"
)

// The vault that an LP named last is asked about while the LP is asked. If it names another, or
// if what was learned speaks against it, that one is asked about as if none had been known.
func TestVaultIsAskedAboutAhead(t *testing.T) {
	b := open(t)
	ask := b.ask("BITCOIN-BTC", "CITREA-WBTC", 200_000, true)
	chain := b.Reader.Chains["CITREA"]
	of := offer{b.net.LPURLs()[0], "CITREA", chain.Info().Versions[0].Name, ask.Dst.Address}
	// creates creates a swap, and says how often the output of a vault was asked about.
	creates := func() (outputs int, err error) {
		b.net.Bitcoin.Server().Requests()
		_, err = b.Create(t.Context(), ask)
		for _, path := range b.net.Bitcoin.Server().Requests() {
			if strings.Contains(path, "/outspend") {
				outputs++
			}
		}
		return outputs, err
	}
	if n, err := creates(); err != nil || n != 1 {
		t.Fatalf("the first swap: asked %d times, %v", n, err)
	}
	right, ok := b.vaults.cache().Get(of)
	if !ok {
		t.Fatal("the vault is not remembered")
	}
	if n, err := creates(); err != nil || n != 1 {
		t.Errorf("the same vault: asked %d times, want 1; %v", n, err)
	}
	other := right
	other.utxo = bitcoin.OutPoint{Hash: bitcoin.Hash{7}}
	b.vaults.cache().Add(of, other)
	if n, err := creates(); err != nil || n != 2 {
		t.Errorf("another output was named before: asked %d times, want 2; %v", n, err)
	}
	if now, _ := b.vaults.cache().Get(of); !now.is(right) {
		t.Errorf("remembered %v, want %v", now, right)
	}
	trial.Do(t, b.net.LPs[0].SpendVaults(ask.Dst.Address))
	b.net.LPs[0].Misbehave(devlp.Fault{SpentVault: true})
	_, err := creates()
	if lie, ok := errors.AsType[*lp.LPError](err); !ok || lie.Check != lp.CheckUTXOSpent {
		t.Errorf("an output that was spent since: %v", err)
	}
}
