package simulate

import (
	"encoding/json"
	"math/big"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/devnet/watchtower"
	evmwire "github.com/swapper-go/swapper/internal/evm/wire"
	solwire "github.com/swapper-go/swapper/internal/solana/wire"
	starkwire "github.com/swapper-go/swapper/internal/starknet/wire"
)

func less(s *chains.Spec) { s.Amount = new(big.Int).Sub(s.Amount, big.NewInt(1000)) }

// The first of each is none.
var (
	relayFaults = []watchtower.RelayFault{{}, {Down: true}, {Status: 503}, {Delay: 3 * time.Second}, {Silent: true}, {Refuse: "blocked: no"}, {Hang: true}, {Deaf: true}, {Cut: true}, {Garbage: true}, {WrongID: true}, {Forge: true}, {Repeat: 3}}
	towerFaults = []watchtower.Behaviour{{}, {Deaf: true}, {NoEscrows: true}, {NoVaults: true}, {NoEscrows: true, NoVaults: true, NoProofs: true}, {NoProofs: true}, {Delay: 5 * time.Minute}}

	lightningFaults = []lightning.Behaviour{{}, {Offline: true}, {Refuse: true}, {FeeBaseMsat: routeMsat}}
)

// routeMsat is what the route to a dear Lightning node costs.
const routeMsat = 100_000

// lpFaults are what LPs do that are not honest, or have bad luck.
var lpFaults = []lp.Fault{
	{Down: true}, {Status: 500}, {Stall: 3 * time.Second}, {Stall: time.Minute}, {StallWithin: 5 * time.Second}, {CutWithin: true}, {Garbage: true}, {Endless: true},
	{NotPayable: true}, {NeverPay: true}, {NoRefund: true}, {NotPayable: true, NoRefund: true}, {NeverOpen: true}, {NeverRefund: true}, {NeverClaim: true}, {NeverSettle: true}, {FalsePayment: true, NeverPay: true},
	{Withhold: true}, {LosePost: true}, {RefusePost: true}, {UnknownPost: true}, {BusyPost: true}, {DoubleSpend: true},
	{UnsureVault: true}, {ForeignVault: true}, {SpentVault: true}, {StrangeInfo: true}, {StrangeAuth: true},
	{Answer: lp.Change("/payInvoice", "data.total", lp.Plus(5000))}, {Answer: lp.Change("", "data.amount", lp.Plus(1))}, {Answer: lp.Lie("", "data.txId", "00")},
	{Answer: lp.Change("/getQuote", "data.totalGas", lp.Plus(1))}, {Answer: lp.Lie("/getInvoiceStatus", "data.data", nil)}, {Answer: lp.Lie("", "code", json.Number("10000"))}, {Answer: lp.Lie("/getRefundAuthorization", "code", json.Number("20008"))},
	{Escrow: lp.EscrowLie{Terms: less}},
	{Escrow: lp.EscrowLie{Terms: func(s *chains.Spec) { s.Condition.PaymentHash[0] ^= 1; s.Condition.Sats++ }}},
	{Escrow: lp.EscrowLie{Terms: func(s *chains.Spec) { s.Expiry += 3600 }}},
	{Escrow: lp.EscrowLie{
		EVM: func(s *evmwire.SwapData) { s.SecurityDeposit = new(big.Int).Add(s.SecurityDeposit, big.NewInt(1)) }, Solana: func(s *solwire.SwapData) { s.SecurityDeposit++ },
		Starknet: func(s *starkwire.SwapData) { s.SecurityDeposit = new(big.Int).Add(s.SecurityDeposit, big.NewInt(1)) },
	}},
	{FalseEscrow: lp.EscrowLie{Terms: less}},
	{FalseEscrow: lp.EscrowLie{
		EVM: func(s *evmwire.SwapData) { s.Amount = new(big.Int).Sub(s.Amount, big.NewInt(1000)) }, Solana: func(s *solwire.SwapData) { s.Amount -= 1000 },
		Starknet: func(s *starkwire.SwapData) { s.Amount = new(big.Int).Sub(s.Amount, big.NewInt(1000)) },
	}},
	{Auth: func(a *chains.Auth) { a.Timeout++ }},
	{Invoice: func(o *lightning.InvoiceOptions) { o.AmountMsat += 1000 }},
	{Invoice: func(o *lightning.InvoiceOptions) { o.FinalCLTV += 500 }},
}
