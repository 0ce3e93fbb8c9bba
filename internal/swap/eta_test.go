package swap

import (
	"math"
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsConfirmationDelay(t *testing.T) {
	vectors.Each(t, "bitcoin", "confirmation_delay", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Confirmations, RequiredConfirmations uint32
			CPFP                                 *struct{ EffectiveFeePerVSize float64 }
			MempoolBlocks                        []struct {
				BlockVSize float64
				FeeRange   []float64
			}
		}
		c.Input(t, &in)
		var standing *bitcoin.CPFP
		if in.CPFP != nil {
			standing = &bitcoin.CPFP{EffectiveFeeRate: in.CPFP.EffectiveFeePerVSize}
		}
		var blocks []bitcoin.ProjectedBlock
		for _, b := range in.MempoolBlocks {
			block := bitcoin.ProjectedBlock{VSize: b.BlockVSize, MinFeeRate: math.Inf(1)}
			if len(b.FeeRange) > 0 {
				block.MinFeeRate = b.FeeRange[0]
			}
			blocks = append(blocks, block)
		}
		d := ConfirmationDelay(in.Confirmations, in.RequiredConfirmations, standing, blocks)
		var got any = int64(-1)
		switch {
		case d.Known:
			got = d.Wait.Milliseconds()
		case in.Confirmations == 0 && in.CPFP == nil:
			got = nil // one of the two things that the reference calls unknown
		}
		vectors.SameJSON(t, c.Want(t), map[string]any{"delayMs": got})
		// The API speaks of seconds.
		if want := d.Wait.Milliseconds() / 1000; d.Known && d.Seconds() != want || !d.Known && d.Seconds() != -1 {
			t.Errorf("%d seconds", d.Seconds())
		}
	})
}

func TestConfirmationDelayOddFigures(t *testing.T) {
	blocks := []bitcoin.ProjectedBlock{{VSize: 1e6, MinFeeRate: 1}}
	if d := ConfirmationDelay(0, 1, &bitcoin.CPFP{EffectiveFeeRate: math.NaN()}, blocks); d.Known {
		t.Errorf("rate that is no number: %v", d)
	}
	if d := ConfirmationDelay(0, math.MaxUint32, &bitcoin.CPFP{EffectiveFeeRate: 1}, blocks); !d.Known || d.Wait < 0 {
		t.Errorf("most confirmations: %v", d)
	}
	if d := ConfirmationDelay(math.MaxUint32, 1, nil, nil); !d.Known || d.Wait != 0 {
		t.Errorf("confirmed long ago: %v", d)
	}
}
