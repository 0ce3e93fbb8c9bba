package bitcoin

import (
	"testing"

	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsDummyVaultTx(t *testing.T) {
	vectors.Each(t, "swap-flows-spv-and-core", "dummy_vault_tx", func(t *testing.T, c *vectors.Case) {
		var in struct {
			TargetChain string
			GasDrop     bool
		}
		c.Input(t, &in)
		format := evmPayout
		switch in.TargetChain {
		case "SOLANA": // has no vaults, so no format
			if !vectors.Refused(c.Want(t)) {
				t.Error("Solana has vaults")
			}
			return
		case "STARKNET":
			format = starknetPayout
		}
		d := VaultDraft(format.Len(in.GasDrop))
		var s size
		for _, coin := range d.Required {
			s.addInput(coin.Type)
		}
		for _, out := range d.Outputs {
			s.addOutput(len(out.PkScript))
		}
		vectors.SameJSON(t, c.Want(t), map[string]any{
			"inputs": len(d.Required), "outputs": len(d.Outputs), "vaultInputType": d.Required[0].Type.String(),
			"vaultAmount": texts(uint64(d.Outputs[0].Value))[0], "opReturnScriptLength": len(d.Outputs[1].PkScript),
			"baseVBytesUnrounded": emptyVBytes + segwitVBytes + s.vbytes,
		})
	})
}
