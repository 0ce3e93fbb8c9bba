package vault

import (
	"encoding/hex"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/internal/vectors"
)

// The layout of Starknet's payload; which numbers are addresses is for package
// chains/starknet to say.
func TestVectorsOpReturnStarknet(t *testing.T) {
	type decoded struct {
		Recipient     string
		RawAmounts    []string
		ExecutionHash string
	}
	vectors.Each(t, "swap-flows-spv-and-core", "op_return_starknet", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Recipient     *string
			RawAmounts    []string
			ExecutionHash string
			Data          string
		}
		c.Input(t, &in)
		var want struct {
			Data    string
			Length  int
			Decoded decoded
		}
		refused := vectors.Refused(c.Want(t))
		if !refused {
			c.Expected(t, &want)
		}
		payload := vectors.Unhex(t, in.Data)
		if in.Recipient != nil {
			p, err := payoutOf(*in.Recipient, in.RawAmounts, in.ExecutionHash)
			if err == nil {
				payload, err = starknetPayout.Encode(p)
			}
			if (err != nil) != refused {
				t.Fatalf("Encode: %v", err)
			}
			if err != nil {
				return
			}
			if hex.EncodeToString(payload) != want.Data || len(payload) != want.Length {
				t.Errorf("got %x, want %s", payload, want.Data)
			}
		}
		p, err := starknetPayout.Decode(payload)
		if (err != nil) != refused {
			t.Fatalf("Decode: %v", err)
		}
		if err != nil {
			return
		}
		for i, text := range want.Decoded.RawAmounts {
			if p.Raw[i] >= 1<<63 { // the reference reads 64 bits with a sign
				c.Differ(t, "bitcoin-payout-unsigned")
				signed, _ := new(big.Int).SetString(text, 10)
				want.Decoded.RawAmounts[i] = signed.Add(signed, new(big.Int).Lsh(big.NewInt(1), 64)).String()
			}
		}
		got := decoded{"0x" + hex.EncodeToString(p.Recipient), texts(p.Raw[:]...), hex.EncodeToString(p.ExecutionHash)}
		if diff := cmp.Diff(want.Decoded, got); diff != "" {
			t.Errorf("payout (-want +got):\n%s", diff)
		}
	})
}

// payoutOf reads the texts of a vector: what does not fit a Payout at all is an error.
func payoutOf(recipient string, raw []string, executionHash string) (p Payout, err error) {
	if len(raw) == 0 || len(raw) > len(p.Raw) {
		return Payout{}, strconv.ErrRange
	}
	for i, text := range raw {
		if p.Raw[i], err = strconv.ParseUint(text, 10, 64); err != nil {
			return Payout{}, err
		}
	}
	if p.Recipient, err = hex.DecodeString(strings.TrimPrefix(recipient, "0x")); err != nil {
		return Payout{}, err
	}
	if digits := strings.TrimPrefix(executionHash, "0x"); digits != "" { // a number, whose leading zeros may be missing
		p.ExecutionHash, err = hex.DecodeString(strings.Repeat("0", max(64-len(digits), 0)) + digits)
	}
	return p, err
}
