package contracts

import (
	"math/big"
	"testing"

	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/vectors"
)

func feltOf(t testing.TB, s string) Felt {
	t.Helper()
	f, err := wire.ParseFelt(s)
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return f
}

func numberOf(t testing.TB, s string) *big.Int {
	t.Helper()
	n, ok := new(big.Int).SetString(s, 0)
	if !ok {
		t.Fatalf("%q is not a number", s)
	}
	return n
}

// Values that the deployed contracts' own unit tests assert.
func TestVectorsContract(t *testing.T) {
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
		of := func(s string) Felt { return feltOf(t, s) }
		all := func(texts []string) (w felts) {
			for _, s := range texts {
				w = w.add(of(s))
			}
			return w
		}
		is := func(member string, got Felt) {
			vectors.SameJSON(t, c.Want(t), map[string]string{member: wire.Hex64(got)})
		}
		sepolia := wire.ShortString(wire.Sepolia)
		switch in.Fn {
		case "contractInitSighash":
			e := in.Escrow
			escrow := escrow{
				offerer: of(e.Offerer), claimer: of(e.Claimer), token: of(e.Token), refundHandler: of(e.RefundHandler), claimHandler: of(e.ClaimHandler),
				flags: numberOf(t, e.Flags), claimData: of(e.ClaimData), refundData: of(e.RefundData), amount: numberOf(t, e.Amount),
				feeToken: of(e.FeeToken), deposit: numberOf(t, e.SecurityDeposit), bounty: numberOf(t, e.ClaimerBounty),
			}
			is("messageHash", messageHash(sepolia, of(in.Signer), escrow.initMessage(of(in.EscrowHash), numberOf(t, in.Timeout).Uint64())))
		case "contractRefundSighash":
			is("messageHash", messageHash(sepolia, of(in.Signer), refundMessage(of(in.EscrowHash), numberOf(t, in.Timeout).Uint64())))
		case "contractFrontingId":
			r := &reader{rest: all(in.Felts)}
			w := readWithdrawal(r)
			if r.failed || len(r.rest) != 0 {
				t.Fatal("this is no withdrawal")
			}
			id := felts(nil).u256(numberOf(t, in.BtcTxHash))
			is("frontingId", w.frontingID(readTxID(&reader{rest: id})))
		case "poseidon":
			is("hash", all(in.Felts).poseidon())
		case "executionHash":
			var calls []contractCall
			for _, call := range in.Calls {
				calls = append(calls, contractCall{of(call.Address), wire.Selector(call.Entrypoint), all(call.Calldata)})
			}
			is("hash", executionHash(calls, all(in.DrainTokens)))
		default:
			t.Fatalf("unknown %s", in.Fn)
		}
	})
}
