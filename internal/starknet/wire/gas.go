package wire

import (
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/bigs"
)

// Gas is how much of each kind a transaction may use. Amounts are constants of the
// protocol, not estimates: what a quote says that a transaction costs comes from this
// table (§9), and so does the least that the transaction allows. Proofs of large Bitcoin
// transactions and headers for the relay may take more, see [Bounds.Fit].
type Gas struct {
	L1, L2, L1Data uint64
}

var (
	gasInitPayIn   = Gas{0, 4_800_000, 500}
	gasInit        = Gas{0, 8_000_000, 750}
	gasApprove     = Gas{0, 4_000_000, 400}
	gasTransfer    = Gas{0, 4_000_000, 400}
	gasClaimPayOut = Gas{0, 6_000_000, 900}
	gasClaim       = Gas{0, 4_000_000, 750}
	gasRefundPayIn = Gas{0, 6_000_000, 900}
	gasRefund      = Gas{0, 4_000_000, 750}
	gasTimelock    = Gas{0, 4_000_000, 0}
	gasVaultClaim  = Gas{0, 400_000_000, 1000}
	gasVaultGuess  = Gas{0, 80_000_000, 1000} // of a vault claim, before there is a transaction
	gasHeader      = Gas{0, 24_000_000, 600}
	gasForkSwitch  = Gas{0, 400_000_000, 100_000}
	gasDeploy      = Gas{0, 200_000_000, 1000}
	gasByPreimage  = Gas{0, 16_000_000, 0}
	gasByBitcoin   = Gas{0, 400_000_000, 0}
)

// plus adds amounts, up to the largest that a transaction can say.
func (g Gas) plus(more ...Gas) Gas {
	for _, m := range more {
		g = Gas{sum(g.L1, m.L1), sum(g.L2, m.L2), sum(g.L1Data, m.L1Data)}
	}
	return g
}

func sum(a, b uint64) uint64 { return max(a+b, a, b) }

// times multiplies amounts by a small number.
func (g Gas) times(n uint64) Gas { return Gas{g.L1 * n, g.L2 * n, g.L1Data * n} }

func initGas(payIn bool) Gas {
	if payIn {
		return gasInitPayIn
	}
	return gasInit
}

func claimGas(payOut bool) Gas {
	if payOut {
		return gasClaimPayOut
	}
	return gasClaim
}

func refundGas(payIn bool) Gas {
	if payIn {
		return gasRefundPayIn
	}
	return gasRefund
}

// handlerGas is what a claim handler uses on top.
func handlerGas(k chains.Kind) Gas {
	if k == chains.HTLC {
		return gasByPreimage
	}
	return gasByBitcoin
}

// What a Bitcoin proof takes on public networks beyond its fixed parts, in L2 gas: SHA-256
// by the block of 64 bytes, and reading a transaction byte by byte. The protocol's
// constants cover usual transactions; a large one would run out of gas, and its claim
// with it, whenever it is sent (protocol: chain-evm.md §13.20 has the like).
const (
	gasShaBlock  = 5_300_000
	gasTxByte    = 50_000
	gasProofRest = 30_000_000 // the header's check, the calls between contracts
)

// maxTxGas is the L2 gas up to which public sequencers take the bounds of a transaction:
// their limit is 1.21 billion.
const maxTxGas = 1_200_000_000

// proofGas is what a proof of a Bitcoin transaction without witnesses needs on top of what
// the protocol allows: a tenth more than it takes, as far as sequencers take it.
func proofGas(txSize, levels int) Gas {
	blocks := uint64(txSize+9+63)/64 + 1 // hashed twice
	need := gasProofRest + gasTxByte*uint64(txSize) + gasShaBlock*(blocks+3*uint64(levels))
	need = min(need+need/10, maxTxGas-gasClaimPayOut.L2)
	return Gas{L2: max(need, gasByBitcoin.L2) - gasByBitcoin.L2}
}

// Cost returns what gas costs at a rate, in fri: without a tip, as no transaction
// of the protocol has one.
func (r FeeRate) Cost(g Gas) *big.Int {
	total := new(big.Int)
	for _, p := range []struct {
		amount uint64
		price  *big.Int
	}{{g.L1, r.L1}, {g.L2, r.L2}, {g.L1Data, r.L1Data}} {
		n := new(big.Int).SetUint64(p.amount)
		total.Add(total, n.Mul(n, bigs.OrZero(p.price)))
	}
	return total
}
