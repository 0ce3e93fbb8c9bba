package swappertest

import (
	"fmt"
	"time"

	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/devnet/starknet"
	"github.com/swapper-go/swapper/internal/devnet/watchtower"
)

// Fault is a fault of one part of the network: [LPFault], [BitcoinFault],
// [NodeFault], [LightningFault], [WatchtowerFault],
// [LNURLFault] or [PriceFault]. The zero value of each means no fault; faults set by
// several fields are combined.
type Fault interface{ inject(*Network) }

// Misbehave replaces all current faults with the given ones: every other part works
// correctly, and without arguments all parts do. If two faults concern the same
// part, the last one counts. It panics if an [LPFault] names a provider that the
// network does not have.
func (n *Network) Misbehave(faults ...Fault) {
	for i := range n.net.LPs {
		LPFault{LP: i}.inject(n)
	}
	for _, works := range []Fault{BitcoinFault{}, NodeFault{}, LightningFault{}, WatchtowerFault{}, LNURLFault{}, PriceFault{}} {
		works.inject(n)
	}
	for _, f := range faults {
		f.inject(n)
	}
}

// LPFault is a liquidity provider that fails, lies or steals.
type LPFault struct {
	LP int // index of the provider, from 0

	On      string        // limits the four below to calls whose path contains it, for example /tobtc/payInvoice
	Down    bool          // connections are cut without an answer
	Status  int           // calls are answered with this HTTP status
	Stall   time.Duration // before every answer
	Garbage bool          // answers are not JSON

	// Answer changes any answer before it leaves; the values are those of
	// encoding/json, with json.Number for numbers.
	Answer func(path string, answer map[string]any)

	NotPayable bool // it does not pay what was opened, and lets it be refunded at once
	NeverPay   bool // it does not pay what was opened, and lets it be refunded after the time-out only
	NoRefund   bool // it refuses to let anything be refunded before the time-out
	NeverClaim bool // it pays, and does not claim what it is owed
	NeverOpen  bool // it holds a Lightning payment, and opens no escrow for it

	Withhold    bool // signed Bitcoin transactions are taken, and not broadcast
	LosePost    bool // they are broadcast, and the connection is cut before the answer
	DoubleSpend bool // its vault is spent otherwise as soon as one was taken
}

func (f LPFault) inject(n *Network) {
	if f.LP < 0 || f.LP >= len(n.net.LPs) {
		panic(fmt.Sprintf("swappertest: LPFault.LP is %d; the network has the providers 0 to %d", f.LP, len(n.net.LPs)-1))
	}
	n.net.LPs[f.LP].Misbehave(lp.Fault{
		On: f.On, Down: f.Down, Status: f.Status, Stall: f.Stall, Garbage: f.Garbage, Answer: f.Answer,
		NotPayable: f.NotPayable, NeverPay: f.NeverPay, NoRefund: f.NoRefund, NeverClaim: f.NeverClaim, NeverOpen: f.NeverOpen,
		Withhold: f.Withhold, LosePost: f.LosePost, DoubleSpend: f.DoubleSpend,
	})
}

// BitcoinFault is a fault of the server behind [swapper.Config.Bitcoin].
type BitcoinFault struct {
	Down       bool          // connections are cut without an answer
	Status     int           // requests are answered with this HTTP status
	Delay      time.Duration // before every answer
	Garbage    bool          // answers are HTML
	Behind     uint32        // so many of the newest blocks are not known to it
	LoseAnswer bool          // transactions are broadcast, and the connection is cut before the answer
}

func (f BitcoinFault) inject(n *Network) {
	n.net.Bitcoin.Server().Misbehave(bitcoin.Fault{Down: f.Down, Status: f.Status, Delay: f.Delay, Garbage: f.Garbage, Behind: f.Behind, LoseAnswer: f.LoseAnswer})
}

// NodeFault is a fault of the JSON-RPC server of a smart chain: of the EVM chain, of Solana or
// of Starknet. It concerns nothing in a network without that chain.
type NodeFault struct {
	Chain           string        // the chain's id; "": all chains
	Down            bool          // connections are cut without an answer
	Status          int           // requests are answered with this HTTP status
	Delay           time.Duration // before every answer
	Garbage         bool          // answers are HTML
	Behind          int           // so many of the newest blocks are not known to it
	LoseAnswer      bool          // transactions are taken, and the connection is cut before the answer
	LoseTransaction bool          // Solana and Starknet: transactions are answered, and never reach a block
	Silent          bool          // Solana: nothing is said to subscribers
	NoEvents        bool          // Starknet: no events are found
	PerSecond       int           // Starknet: more requests than so many in a second are answered with status 429; 0: any number
}

func (f NodeFault) inject(n *Network) {
	all := f.Chain == ""
	if all || f.Chain == n.evm() {
		n.net.EVM.Server().Misbehave(evm.Fault{Down: f.Down, Status: f.Status, Delay: f.Delay, Garbage: f.Garbage, Behind: uint64(max(f.Behind, 0)), LoseAnswer: f.LoseAnswer})
	}
	if all && n.net.Solana != nil || n.isSolana(f.Chain) {
		n.net.Solana.Server().Misbehave(solana.NodeFault{Down: f.Down, Status: f.Status, Delay: f.Delay, Garbage: f.Garbage, Behind: f.Behind,
			LoseAnswer: f.LoseAnswer, LoseTransaction: f.LoseTransaction, Silent: f.Silent})
	}
	if all && n.net.Starknet != nil || n.isStarknet(f.Chain) {
		n.net.Starknet.Server().Misbehave(starknet.NodeFault{Down: f.Down, Status: f.Status, Delay: f.Delay, Garbage: f.Garbage, PerSecond: f.PerSecond,
			Behind: f.Behind, LoseAnswer: f.LoseAnswer, LoseTransaction: f.LoseTransaction, NoEvents: f.NoEvents})
	}
}

// LightningFault is a fault of the node whose invoices [Network.Invoice] makes.
type LightningFault struct {
	Offline bool // no route to it exists
	Refuse  bool // it refuses payments
	Hang    bool // it neither takes nor refuses them until they time out
}

func (f LightningFault) inject(n *Network) {
	n.net.Recipient.SetBehaviour(lightning.Behaviour{Offline: f.Offline, Refuse: f.Refuse, Hang: f.Hang})
}

// WatchtowerFault is a watchtower that does not claim, so that users have to
// settle their swaps themselves.
type WatchtowerFault struct {
	Off   bool          // it claims nothing
	Deaf  bool          // no message reaches it
	Delay time.Duration // before it claims
}

func (f WatchtowerFault) inject(n *Network) {
	n.net.Tower.Behave(watchtower.Behaviour{NoEscrows: f.Off, NoVaults: f.Off, NoProofs: f.Off, Deaf: f.Deaf, Delay: f.Delay})
	n.net.Nostr.Misbehave(watchtower.RelayFault{Deaf: f.Deaf})
}

// LNURLFault is a fault of the services behind [Network.PayLink] and
// [Network.WithdrawLink].
type LNURLFault struct {
	Down      bool   // connections are cut without an answer
	Refuse    string // links work, but what they are for is refused with this reason
	WrongHash bool   // invoices of the pay link commit to something else than it showed
	NeverPay  bool   // the withdraw link agrees to pay, and does not
}

func (f LNURLFault) inject(n *Network) {
	down := loopback.Fault{Down: f.Down}
	n.net.LNURL.Misbehave(lightning.LNURLFault{Details: down, Callback: down, Refuse: f.Refuse, WrongHash: f.WrongHash, NeverPay: f.NeverPay})
}

// PriceFault is a fault of all price services.
type PriceFault struct {
	Down    bool // connections are cut without an answer
	Percent int  // reported price in percent of the true price, for example 150; 0: the true price
}

func (f PriceFault) inject(n *Network) {
	n.net.Prices.MisbehaveAll(devnet.PriceFault{Fault: loopback.Fault{Down: f.Down}, Percent: f.Percent})
}
