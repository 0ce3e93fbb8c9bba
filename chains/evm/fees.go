package evm

import (
	"context"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

// feeHead holds the fee data of a block.
type feeHead struct {
	rpc.BlockHead
	BaseFee *hexutil.Big `json:"baseFeePerGas"`
	L1Fee   *hexutil.Big `json:"l1FeeRate"`
}

func feeRequest(into **feeHead) rpc.Request {
	return rpc.Request{Method: "eth_getBlockByNumber", Params: []any{"latest", false}, Result: into}
}

func (c *chain) rate(h *feeHead) (wire.FeeRate, error) {
	if h == nil || h.BaseFee == nil {
		return wire.FeeRate{}, fault.New(fault.Upstream, "%s reported no base fee", c.net.Chain)
	}
	var l1 *big.Int
	if h.L1Fee != nil {
		l1 = h.L1Fee.ToInt()
	}
	return c.net.FeeRate(h.BaseFee.ToInt(), l1)
}

// noteFees remembers the block that fees were read from.
func (c *chain) noteFees(h *feeHead) {
	if h != nil {
		c.noteHead(&h.BlockHead)
	}
}

// FeeRate takes one round trip, which those share who ask while it lasts.
func (c *chain) FeeRate(ctx context.Context) (string, error) {
	rate, err := async.Do(ctx, &c.sharing, "fee rate", c.currentRate)
	if err != nil {
		return "", err
	}
	return rate.String(), nil
}

func (c *chain) currentRate(ctx context.Context) (wire.FeeRate, error) {
	var head *feeHead
	if err := rpc.AskAll(ctx, c.node, []rpc.Request{feeRequest(&head)}); err != nil {
		return wire.FeeRate{}, err
	}
	c.noteFees(head)
	return c.rate(head)
}

// towerRate returns the fee rate that the watchtower's pay is computed from. It is
// the median of all nodes, so that one lying node cannot inflate the pay. Of an
// even number of answers the lower median counts, so of two the lower.
func (c *chain) towerRate(ctx context.Context) (wire.FeeRate, error) {
	n, ok := c.node.(*rpc.Nodes)
	if !ok || !n.Several() {
		return c.currentRate(ctx)
	}
	var rates []wire.FeeRate
	var last error
	err := n.Each(ctx, func() []rpc.Request { return []rpc.Request{feeRequest(new(*feeHead))} }, func(r []rpc.Request) {
		if r[0].Err != nil {
			last = r[0].Err
			return
		}
		head := *r[0].Result.(**feeHead)
		rate, err := c.rate(head)
		if err != nil {
			last = err
			return
		}
		if len(rates) == 0 {
			c.noteFees(head)
		}
		rates = append(rates, rate)
	})
	if err != nil || len(rates) == 0 { // asked once more, one after the other and repeatedly
		rate, again := c.currentRate(ctx)
		if again != nil && last != nil {
			return rate, last
		}
		return rate, again
	}
	return medianRate(rates), nil
}

// medianRate takes the lower median of each part.
func medianRate(rates []wire.FeeRate) wire.FeeRate {
	r := wire.FeeRate{Base: bigs.LowerMedian(rates, func(r wire.FeeRate) *big.Int { return r.Base }), Priority: rates[0].Priority}
	if rates[0].L1 != nil {
		r.L1 = bigs.LowerMedian(rates, func(r wire.FeeRate) *big.Int { return r.L1 })
	}
	return r
}

// Estimate takes no round trip with a fee rate, one without. What watchtowers are
// paid is estimated with what all nodes say of fees, see [chain.towerRate].
func (k *contracts) Estimate(ctx context.Context, cost chains.Cost, feeRate string) (*big.Int, error) {
	n := k.chain.net
	var rate wire.FeeRate
	var err error
	if feeRate != "" {
		rate, err = wire.ParseFeeRate(feeRate)
		err = fault.At("feeRate", err)
	} else if cost.Kind == chains.StepInit { // paid by the user, who sees what
		rate, err = k.chain.currentRate(ctx)
	} else {
		rate, err = k.chain.towerRate(ctx)
	}
	if err != nil {
		return nil, err
	}
	s, payer, err := k.sample(cost)
	if err != nil {
		return nil, err
	}
	switch cost.Kind {
	case chains.StepInit:
		return n.InitCost(rate, s, payer), nil
	case chains.StepClaimSecret, chains.StepClaimBitcoin:
		return n.ClaimCost(rate, s, payer), nil
	case chains.StepVaultClaim:
		return n.AnyVaultClaimCost(rate), nil
	case chains.StepRelayHeader:
		return n.HeaderCost(rate), nil
	}
	return nil, fault.New(fault.Unsupported, "unknown expense %d", cost.Kind)
}

// sample returns the most expensive escrow of the kind that an expense is
// about: placeholder parties, and a deposit that exceeds a non-zero bounty, so
// that every possible transfer is counted (protocol: chain-evm.md §6.3,
// swap-flows-escrow.md §8.2).
func (k *contracts) sample(cost chains.Cost) (wire.SwapData, common.Address, error) {
	token, payer := wire.Native, common.Address{0: 3}
	var err error
	if cost.Token != "" {
		if token, err = coin("token", cost.Token); err != nil {
			return wire.SwapData{}, payer, err
		}
	}
	if cost.Payer != "" {
		if payer, err = account("wallet", cost.Payer); err != nil {
			return wire.SwapData{}, payer, err
		}
	}
	s := wire.SwapData{Offerer: common.Address{0: 1}, Claimer: common.Address{0: 2}, Token: token, Amount: big.NewInt(1),
		Sequence: new(big.Int), SecurityDeposit: big.NewInt(2), ClaimerBounty: big.NewInt(1), DepositToken: wire.Native}
	switch cost.Kind {
	case chains.StepInit:
		s.Offerer, s.PayIn, s.Reputation = payer, true, true
	case chains.StepClaimBitcoin:
		s.Kind, s.PayOut = chains.Onchain, true
	default:
		s.Kind, s.PayOut = chains.HTLC, true
	}
	return s, payer, nil
}
