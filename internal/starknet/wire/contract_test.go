package wire

import (
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// Values that the contracts' own unit tests assert.
func TestVectorsContract(t *testing.T) {
	n := networkOf(t, "TESTNET4")
	vectors.Each(t, "chain-starknet", "contract", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn, EscrowHash, Timeout, Signer, BtcTxHash string
			Felts                                      []string
			Escrow                                     struct {
				Offerer, Claimer, Token, RefundHandler, ClaimHandler, Flags, ClaimData, RefundData, Amount, FeeToken, SecurityDeposit, ClaimerBounty string
			}
			Calls []struct {
				Address, Entrypoint string
				Calldata            []string
			}
			DrainTokens []string
		}
		c.Input(t, &in)
		sign := func(m TypedData) {
			h := trial.Must(m.Hash(feltOf(t, in.Signer)))(t)
			vectors.SameJSON(t, c.Want(t), map[string]string{"messageHash": Hex64(h)})
		}
		switch in.Fn {
		case "contractInitSighash":
			e, of := in.Escrow, func(s string) Felt { return feltOf(t, s) }
			flags := of(e.Flags)
			bits := flags.Bits()[0]
			sign(n.initMessage(SwapData{Offerer: of(e.Offerer), Claimer: of(e.Claimer), Token: of(e.Token), RefundHandler: of(e.RefundHandler), ClaimHandler: of(e.ClaimHandler),
				PayOut: bits&flagPayOut != 0, PayIn: bits&flagPayIn != 0, Reputation: bits&flagReputation != 0, ClaimData: of(e.ClaimData), RefundData: of(e.RefundData),
				Amount: bigOf(t, e.Amount), FeeToken: of(e.FeeToken), SecurityDeposit: bigOf(t, e.SecurityDeposit), ClaimerBounty: bigOf(t, e.ClaimerBounty)}, of(in.EscrowHash), of(in.Timeout)))
		case "contractRefundSighash":
			sign(n.refundMessage(feltOf(t, in.EscrowHash), feltOf(t, in.Timeout)))
		case "contractFrontingId":
			low, high, ok := U256(bigOf(t, in.BtcTxHash))
			if !ok {
				t.Fatal("no u256")
			}
			vectors.SameJSON(t, c.Want(t), map[string]string{"frontingId": Hex64(Poseidon(felts{low, high}.add(feltsOf(t, in.Felts)...)...))})
		case "poseidon":
			vectors.SameJSON(t, c.Want(t), map[string]string{"hash": Hex64(Poseidon(feltsOf(t, in.Felts)...))})
		case "executionHash": // for a success action, which no swap here has: its hash is known to the local network alone
			var w felts
			for _, call := range in.Calls {
				w = w.add(feltOf(t, call.Address), Selector(call.Entrypoint)).add(feltsOf(t, call.Calldata)...)
			}
			vectors.SameJSON(t, c.Want(t), map[string]string{"hash": Hex64(Poseidon(w.add(feltsOf(t, in.DrainTokens)...)...))})
		default:
			t.Fatalf("unknown %s", in.Fn)
		}
	})
}
