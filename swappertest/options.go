package swappertest

import (
	"fmt"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/devnet/starknet"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Options configures a network. [Start] uses the zero value.
type Options struct {
	LPs          int           // liquidity providers; 0: one
	NextProtocol bool          // the providers speak the next version of the network's protocol (docs/protocol/lp-next.md)
	MineEvery    time.Duration // a Bitcoin block is mined this often; 0: by Mine, while User.Finish waits, and for payouts
	HoldPayouts  bool          // bitcoin that a provider sends to a user stays unconfirmed until Mine; else the network confirms it within seconds
	Hear         bool          // clients hear of blocks and events over WebSocket, and ask at once; else they ask every five seconds
	FeeRate      float64       // sat/vB that the providers' wallets pay; 0: 2

	EVM      EVMOptions
	Solana   SolanaOptions
	Starknet StarknetOptions
	Listen   Listen
}

// SolanaOptions adds a Solana network, which the providers and the watchtower serve
// beside the EVM chain. The zero value adds none.
type SolanaOptions struct {
	// Version is the version of the swap program that the providers use, "v1" or "v2";
	// "": the network has no Solana. Both versions are deployed, at the addresses that they
	// have on Solana's devnet.
	Version string
	// SlotTime is how often a block comes, 400 ms on the public clusters, with their
	// commitment levels: a block is confirmed two blocks later and final after 32. 0: a
	// block comes with each transaction, and is final at once.
	SlotTime time.Duration
}

// StarknetOptions adds a Starknet network, which the providers and the watchtower serve
// too. The zero value adds none.
type StarknetOptions struct {
	// On adds the network. The contracts and tokens stand at the addresses that they have
	// on Sepolia, whose chain id it has.
	On bool
	// BlockTime is how often a block is closed, as on the public networks every few seconds;
	// until then transactions are pre-confirmed, which settles nothing. The network takes
	// about eight blocks longer to start. 0: a block is closed with each transaction.
	BlockTime time.Duration
}

// EVMOptions makes the EVM chain look like another one, for clients that have a
// public network's constants built in. This library works with the zero value.
type EVMOptions struct {
	Chain   string // identifier; "": CITREA
	ChainID uint64 // 0: 31337
	// Tokens are 0x addresses by ticker (WBTC, USDC) for tokens that have to be
	// where a client expects them; the others get an address of their own.
	Tokens    map[string]string
	BaseFee   uint64 // wei per gas of the first block; 0: 10 000 000
	L1FeeRate uint64 // wei per byte of state difference, the field l1FeeRate of Citrea's blocks; 0: blocks have no such field
}

// Listen holds the addresses that the network listens on, as host:port. ""
// means a free port of 127.0.0.1; an empty Control disables the control calls.
type Listen struct {
	Bitcoin  string // mempool.space's REST API
	EVM      string // JSON-RPC
	Solana   string // JSON-RPC and websockets; websockets also on the next port, where clients look for them
	Starknet string // JSON-RPC
	LP       string // the first liquidity provider

	// Control is the address of the calls that move the network from another
	// process. GET / lists them. All but the first two are POST and take their input in the query:
	//
	//	GET /clock                the time (unixMs), and by how many milliseconds it is ahead of the system's; with
	//	                          ?ahead=n the answer waits, 25 s at most, until that is more than n
	//	GET /invoice?hash=        how an invoice stands: open, held, settled or canceled
	//	/invoice?sats=            makes an invoice; without sats one without amount; hold=1 or hash=: it is held when paid
	//	/settle?hash=             settles a held invoice; preimage= in place of hash for one that was made with hash=
	//	/cancel?hash=             cancels it
	//	/pay?invoice=             pays from the user's Lightning wallet; sats= for an invoice without amount
	//	/sign                     signs with the user's keys what the action in the body, of a swap's status, asks for
	//	/mine?blocks=             mines Bitcoin blocks
	//	/reorg?blocks=            replaces Bitcoin blocks by empty ones
	//	/advance?seconds=         moves every clock
	//	/evm/fund?address=&token=&amount=
	//	                          gives base units of a token to an address on the EVM chain, by its ticker: CBTC, WBTC or USDC
	//	/solana/mine?blocks=      makes blocks on Solana
	//	/solana/reorg?blocks=     replaces Solana's blocks by empty ones; lost=true: their transactions do not come again
	//	/solana/fund?address=&token=&amount=
	//	                          sends base units of a token to an address on Solana, by its ticker: SOL, WBTC or USDC
	//	/solana/misbehave?        makes Solana's node misbehave: down=true, status=, behind= (blocks), loseTransaction=true,
	//	                          loseAnswer=true, silent=true (subscriptions); none: it works
	//	/starknet/mine?blocks=    closes blocks on Starknet
	//	/starknet/mining?automatic=
	//	                          whether a block is closed for each transaction; else it is pre-confirmed until the next one
	//	/starknet/reorg?blocks=   replaces Starknet's blocks by empty ones; lost=true: their transactions do not come again
	//	/starknet/fund?address=&token=&amount=
	//	                          gives base units of a token to an address on Starknet, by its ticker: STRK, WBTC or USDC
	//	/starknet/misbehave?      makes Starknet's node misbehave: down=true, status=, behind= (blocks), perSecond= (requests),
	//	                          loseTransaction=true, loseAnswer=true, noEvents=true; none: it works
	//	/fund?address=&sats=      sends bitcoin
	//	/fees?satvb=              the fee rate that Bitcoin's backend recommends and providers pay; lps= for the providers alone
	//	/relay                    brings the smart chains' Bitcoin relays to the tip
	//	/voucher                  makes the LNURL-withdraw link good for one more payment
	//	/watchtower?on=           whether the watchtower claims for users; deaf=true: it hears no messages
	//	/misbehave?lp=&faults=    makes a provider misbehave, by the names of LPFault's switches, separated by commas; none: it is
	//	                          honest again. field=data.total&value=1&on=/tobtc/ lies in a field of some answers
	Control string
}

// network translates the options.
func (o Options) network() (devnet.Options, error) {
	tokens := make(map[string]common.Address)
	for ticker, at := range o.EVM.Tokens {
		if !common.IsHexAddress(at) {
			return devnet.Options{}, fmt.Errorf("token %s: %q is not a 0x address", ticker, at)
		}
		tokens[ticker] = common.HexToAddress(at)
	}
	if v := o.Solana.Version; v != "" && v != wire.V1 && v != wire.V2 {
		return devnet.Options{}, fmt.Errorf("version %q of the swap program on Solana: it must be v1 or v2", v)
	}
	version := devnet.Older
	if o.NextProtocol {
		version = devnet.Newer
	}
	payoutBlock := 500 * time.Millisecond
	if o.HoldPayouts {
		payoutBlock = 0
	}
	return devnet.Options{
		Hear: o.Hear,
		LPs:  o.LPs, Version: version, Watchtower: true, PayoutBlock: payoutBlock,
		Bitcoin: func(b *bitcoin.Options) { b.Address = o.Listen.Bitcoin },
		EVM: func(e *evm.Options) {
			e.Chain, e.ChainID, e.Tokens, e.BaseFee, e.L1FeeRate, e.Address = o.EVM.Chain, o.EVM.ChainID, tokens, o.EVM.BaseFee, o.EVM.L1FeeRate, o.Listen.EVM
		},
		Solana: o.Solana.Version,
		OnSolana: func(s *solana.Options) {
			s.SlotTime, s.Address = o.Solana.SlotTime, o.Listen.Solana
			if s.SlotTime > 0 {
				s.ConfirmedLag, s.FinalizedLag = 2, 32
			}
		},
		Starknet:   o.Starknet.On,
		OnStarknet: func(s *starknet.Options) { s.BlockTime, s.Address = o.Starknet.BlockTime, o.Listen.Starknet },
		LP: func(i int, l *lp.Options) {
			l.FeeRate = o.FeeRate
			if i == 0 {
				l.Address = o.Listen.LP
			}
		},
	}, nil
}
