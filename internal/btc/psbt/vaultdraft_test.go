package psbt

import (
	"testing"

	"github.com/swapper-go/swapper/internal/btc/vault"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsDummyVaultTx(t *testing.T) {
	vectors.Each(t, "swap-flows-spv-and-core", "dummy_vault_tx", func(t *testing.T, c *vectors.Case) {
		var in struct {
			TargetChain string
			GasDrop     bool
		}
		c.Input(t, &in)
		format := vault.PayoutFormat{RecipientLen: 20}
		switch in.TargetChain {
		case "SOLANA": // has no vaults, so no format
			if !vectors.Refused(c.Want(t)) {
				t.Error("Solana has vaults")
			}
			return
		case "STARKNET":
			format = vault.PayoutFormat{RecipientLen: 32, LittleEndian: true}
		}
		d := VaultDraft(format.Len(in.GasDrop))
		var vbytes float64
		for _, coin := range d.Required {
			vbytes += inputVBytes(coin.Type)
		}
		for _, out := range d.Outputs {
			vbytes += outputVBytes(len(out.PkScript))
		}
		vectors.SameJSON(t, c.Want(t), map[string]any{
			"inputs": len(d.Required), "outputs": len(d.Outputs), "vaultInputType": d.Required[0].Type.String(),
			"vaultAmount": itoa(d.Outputs[0].Value), "opReturnScriptLength": len(d.Outputs[1].PkScript),
			"baseVBytesUnrounded": emptyVBytes + segwitVBytes + vbytes,
		})
	})
}
