package quote

import (
	"context"
	"fmt"
	"io"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/tokens"
)

// Probe asks the LPs for a quote of 1 base unit between parties that do not
// exist. They refuse and name their bounds, which the directory learns; the
// quote of one that does not refuse is dropped. The error only says why no LP
// was asked (protocol: swap-flows-spv-and-core.md C7).
func (qt *Quoter) Probe(ctx context.Context, src, dst tokens.Token, exactIn bool) error {
	typ, err := swap.Route(src, dst, qt.Reader.Info)
	if err != nil {
		return err
	}
	if typ == swap.ToBTCLN {
		return fault.New(fault.Unsupported, "limits of a Lightning payout cannot be determined without an invoice")
	}
	q := Request{Src: src, Dst: dst, Amount: big.NewInt(1), ExactIn: exactIn}
	if !lp.Service(typ).ToBitcoin() {
		q.DstAddress, err = qt.randomAddress(dst.Chain)
	} else if q.SrcAddress, err = qt.randomAddress(src.Chain); err == nil {
		q.DstAddress, err = qt.randomBitcoinAddress()
	}
	if err != nil {
		return err
	}
	o, err := qt.read(q)
	if err != nil {
		return err
	}
	o.trial = true
	_, _ = o.quote(ctx) // what it teaches is in the directory
	return nil
}

func (qt *Quoter) randomAddress(chain string) (string, error) {
	c, ok := qt.Reader.Chains[chain].(chains.RandomAddresser)
	if !ok {
		return "", fault.New(fault.Unsupported, "chain %s has no placeholder addresses", chain)
	}
	return c.RandomAddress(qt.Rand)
}

func (qt *Quoter) randomBitcoinAddress() (string, error) {
	var program [20]byte
	if _, err := io.ReadFull(qt.Rand, program[:]); err != nil {
		return "", fmt.Errorf("read randomness: %w", err)
	}
	a, err := bitcoin.NewAddress(bitcoin.P2WPKH, program[:], qt.Reader.Bitcoin.Network())
	return a.String(), err
}
