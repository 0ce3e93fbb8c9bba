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
	"github.com/swapper-go/swapper/swap"
	"github.com/swapper-go/swapper/tokens"
)

// Probe asks the LPs for a quote of 1 base unit between parties that do not
// exist. They refuse and name their bounds, which the directory learns; the
// quote of one that does not refuse is dropped. The error says only why nobody
// was asked (protocol: swap-flows-spv-and-core.md C7).
func (m *Market) Probe(ctx context.Context, src, dst tokens.Token, exactIn bool) error {
	typ, err := swap.Route(src, dst, m.World.Info)
	if err != nil {
		return err
	}
	if typ == swap.ToBTCLN {
		return fault.New(fault.Unsupported, "limits of a Lightning payout cannot be determined without an invoice")
	}
	q := Request{Src: src, Dst: dst, Amount: big.NewInt(1), ExactIn: exactIn}
	if !lp.Service(typ).ToBitcoin() {
		q.DstAddress, err = m.stranger(dst.Chain)
	} else if q.SrcAddress, err = m.stranger(src.Chain); err == nil {
		q.DstAddress, err = m.bitcoinStranger()
	}
	if err != nil {
		return err
	}
	o, err := m.read(q)
	if err != nil {
		return err
	}
	o.trial = true
	_, _ = o.quote(ctx) // what it teaches is in the directory
	return nil
}

func (m *Market) stranger(chain string) (string, error) {
	c, ok := m.World.Chains[chain].(chains.Strangers)
	if !ok {
		return "", fault.New(fault.Unsupported, "chain %s has no placeholder addresses", chain)
	}
	return c.RandomAddress(m.Rand)
}

func (m *Market) bitcoinStranger() (string, error) {
	var program [20]byte
	if _, err := io.ReadFull(m.Rand, program[:]); err != nil {
		return "", fmt.Errorf("read randomness: %w", err)
	}
	a, err := bitcoin.NewAddress(bitcoin.P2WPKH, program[:], m.World.Bitcoin.Network())
	return a.String(), err
}
