package e2e

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	chainevm "github.com/swapper-go/swapper/chains/evm"
	chainsolana "github.com/swapper-go/swapper/chains/solana"
	chainstarknet "github.com/swapper-go/swapper/chains/starknet"
	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/devnet/starknet"
	evmwire "github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/solana/wire"
	starkwire "github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/tokens"
)

// ground is the smart chain that a world's swaps are on.
type ground interface {
	in(*world) ground // for a subtest

	chain() string                          // its identifier
	chains(urls ...string) []chains.Factory // with these nodes; with none: the network's first
	second() otherNode                      // a node of its own
	giveBack(chains.Escrow)                 // refunds an escrow, once it has expired, for whoever opened it
	address() string                        // the user's
	native() string                         // the ticker of its own coin
	drop() *big.Int                         // what a swap brings of it on the side
	tokenAt(ticker string) string
	newcomer() string                    // an address that has nothing yet
	holds(who, ticker string) *big.Int   // what an address has of a token
	gasWorth() *big.Int                  // of the chain's own coin, worth some 10 000 sats
	payGas(to string, n *big.Int) string // from the user, in a transaction whose id is returned
	branch(depth, length int)            // replaces the newest blocks by a branch of any length, as undo does
	height() uint64
	// lies are ways in which an escrow that the LP opens may differ from what was agreed
	// on, by the member that does; nil where LPs open none.
	lies() map[string]lp.EscrowLie
	// tokens are what everybody has of WBTC and USDC who may gain or lose by a swap.
	tokens() book
	incomingTypes() map[string]swapper.SwapType // by the source's chain
	undo(blocks uint64)                         // replaces the newest blocks; what was in them waits
	redo(blocks int)                            // makes blocks, in the first of which is what waits
	dropWaiting()
}

// starknetName is Starknet where tests name the chain that swaps are on. Other names are
// versions of the program on Solana, and "" is the EVM chain, which is there anyway.
const starknetName = "starknet"

// on adds the chain that swaps are on to a network.
func on(name string, o *devnet.Options) {
	switch name {
	case "":
	case starknetName:
		o.Starknet = true
	default:
		o.Solana = name
	}
}

func groundOf(name string, w *world) ground {
	switch name {
	case "":
		return evmGround{w}
	case starknetName:
		return starknetGround{w}
	}
	return solanaGround{w, name}
}

// token is the identifier of a token on the world's chain.
func (w *world) token(ticker string) string { return w.chain() + "-" + ticker }

// wbtc is what the user has of it.
func (w *world) wbtc() *big.Int {
	w.t.Helper()
	return w.tokens()["user WBTC"]
}

type evmGround struct{ *world }

func (g evmGround) in(w *world) ground { return evmGround{w} }
func (g evmGround) chain() string      { return g.net.EVM.Network().Chain }
func (g evmGround) address() string    { return g.net.EVM.User.Address.Hex() }
func (g evmGround) native() string     { return "CBTC" }
func (g evmGround) drop() *big.Int     { return big.NewInt(2e14) }
func (g evmGround) gasWorth() *big.Int { return big.NewInt(1e14) }
func (g evmGround) height() uint64     { return g.net.EVM.Head().Number.Uint64() }

func (g evmGround) chains(urls ...string) []chains.Factory {
	if len(urls) == 0 {
		return []chains.Factory{g.net.Chain()}
	}
	network := g.net.EVM.Config()
	return []chains.Factory{chainevm.Custom(chainevm.Options{RPC: urls, Network: &network, Tokens: g.net.Tokens()})}
}

func (g evmGround) second() otherNode {
	g.t.Helper()
	s, err := g.net.EVM.Serve("")
	if err != nil {
		g.t.Fatal(err)
	}
	return otherNode{first: g.net.EVM.URL(), url: s.URL(), pace: g.net.EVM.Pace, split: func() (split, error) { return g.net.EVM.Split(s) },
		lose: func(on bool) { s.Misbehave(evm.Fault{LoseTransaction: on}) }}
}

func (g evmGround) giveBack(e chains.Escrow) {
	g.t.Helper()
	s, err := evmwire.SwapDataOf(e)
	if err != nil {
		g.t.Fatal(err)
	}
	call, err := g.net.EVM.Deployment().Refund(s, g.net.Clock.Now())
	if err == nil {
		_, err = g.net.EVM.Watchtower.Send(g.t.Context(), call)
	}
	if err != nil {
		g.t.Fatal(err)
	}
}

func (g evmGround) newcomer() string {
	g.t.Helper()
	a, err := g.net.EVM.NewAccount()
	if err != nil {
		g.t.Fatal(err)
	}
	return a.Address.Hex()
}

func (g evmGround) holds(who, ticker string) *big.Int {
	g.t.Helper()
	return g.balanceOf(common.HexToAddress(who), common.HexToAddress(g.tokenAt(ticker)))
}

func (g evmGround) payGas(to string, n *big.Int) string {
	g.t.Helper()
	call, err := evm.Transfer(evm.Native, common.HexToAddress(to), n)
	if err != nil {
		g.t.Fatal(err)
	}
	r, err := g.net.EVM.User.Send(g.t.Context(), call)
	if err != nil {
		g.t.Fatal(err)
	}
	return r.TxHash.Hex()
}

func (g evmGround) branch(depth, length int) {
	g.t.Helper()
	if err := g.net.EVM.Branch(uint64(depth), uint64(length)); err != nil {
		g.t.Fatal(err)
	}
}

func (g evmGround) tokenAt(ticker string) string {
	return addressAmong(g.net.Tokens(), ticker)
}

func addressAmong(all []tokens.Token, ticker string) (at string) {
	for _, t := range all {
		if t.Ticker == ticker {
			at = t.Address
		}
	}
	return at
}

func (g evmGround) lies() map[string]lp.EscrowLie {
	stranger := g.net.EVM.Watchtower.Address
	all := map[string]lp.EscrowLie{}
	for name, lie := range map[string]func(*evmwire.SwapData){
		"amount":          func(s *evmwire.SwapData) { s.Amount = new(big.Int).Sub(s.Amount, big.NewInt(1)) },
		"token":           func(s *evmwire.SwapData) { s.Token = g.net.EVM.Contracts().Dollar },
		"claimer":         func(s *evmwire.SwapData) { s.Claimer = stranger },
		"claimHandler":    func(s *evmwire.SwapData) { s.ClaimHandler = stranger },
		"refundHandler":   func(s *evmwire.SwapData) { s.RefundHandler = stranger },
		"claimData":       func(s *evmwire.SwapData) { s.ClaimData[0] ^= 1 },
		"securityDeposit": func(s *evmwire.SwapData) { s.SecurityDeposit = new(big.Int).Sub(s.SecurityDeposit, big.NewInt(1)) },
		"claimerBounty":   func(s *evmwire.SwapData) { s.ClaimerBounty = new(big.Int).Add(s.ClaimerBounty, big.NewInt(1)) },
		"successAction":   func(s *evmwire.SwapData) { s.SuccessAction = common.Hash{1} },
		"expiry":          func(s *evmwire.SwapData) { s.RefundData = common.BigToHash(big.NewInt(g.net.Clock.Now().Unix() + 500)) },
	} {
		all[name] = lp.EscrowLie{EVM: lie}
	}
	return all
}

func (g evmGround) dropWaiting() { g.net.EVM.DropPending() }

func (g evmGround) incomingTypes() map[string]swapper.SwapType {
	return map[string]swapper.SwapType{"LIGHTNING": swapper.SwapFromBTCLNAuto, "BITCOIN": swapper.SwapSPVVaultFromBTC}
}

func (g evmGround) undo(blocks uint64) {
	g.t.Helper()
	if err := g.net.EVM.Reorg(blocks); err != nil {
		g.t.Fatal(err)
	}
}

func (g evmGround) redo(blocks int) {
	g.t.Helper()
	if err := g.net.EVM.Mine(blocks); err != nil {
		g.t.Fatal(err)
	}
}

// What the escrows hold is what the contract has without what is the LP's in it.
func (g evmGround) tokens() book {
	g.t.Helper()
	b := book{}
	c, lp := g.net.EVM.Contracts(), g.net.LPs[0]
	for name, token := range map[string]common.Address{"WBTC": c.Token, "USDC": c.Dollar} {
		funds := g.funds(lp.Account().Address, token)
		b["user "+name] = g.balanceOf(g.net.EVM.User.Address, token)
		b["tower "+name] = g.balanceOf(g.net.EVM.Watchtower.Address, token)
		b["LP "+name] = new(big.Int).Add(g.balanceOf(lp.Account().Address, token), funds)
		b["escrows "+name] = new(big.Int).Sub(g.balanceOf(c.EscrowManager.Address, token), funds)
		b["vaults "+name] = g.balanceOf(c.VaultManager.Address, token)
	}
	return b
}

// funds is what an LP has in the escrow contract.
func (g evmGround) funds(lp, token common.Address) *big.Int {
	g.t.Helper()
	data, err := evmwire.FundsCall(lp, token)
	if err != nil {
		g.t.Fatal(err)
	}
	raw, err := g.net.EVM.Read(g.t.Context(), lp, evmwire.Call{To: g.net.EVM.Contracts().EscrowManager.Address, Data: data})
	if err != nil || len(raw) < 32 {
		g.t.Fatalf("%d bytes, %v", len(raw), err)
	}
	return new(big.Int).SetBytes(raw[len(raw)-32:]) // a list of one
}

type solanaGround struct {
	*world
	program string // its version
}

func (g solanaGround) in(w *world) ground { return solanaGround{w, g.program} }
func (g solanaGround) chain() string      { return "SOLANA" }
func (g solanaGround) address() string    { return g.net.Solana.User.Address.String() }
func (g solanaGround) native() string     { return "SOL" }
func (g solanaGround) drop() *big.Int     { return big.NewInt(1e6) }
func (g solanaGround) gasWorth() *big.Int { return big.NewInt(62_500_000) }
func (g solanaGround) height() uint64     { return g.net.Solana.Head().Slot }
func (g solanaGround) newcomer() string   { return g.net.Solana.NewAccount().Address.String() }

func (g solanaGround) chains(urls ...string) []chains.Factory {
	if len(urls) == 0 {
		return []chains.Factory{g.net.SolanaChain()}
	}
	network := g.net.SolanaConfig()
	return []chains.Factory{chainsolana.Custom(chainsolana.Options{RPC: urls, Version: g.program, Network: &network, Tokens: g.net.SolanaTokens()})}
}

func (g solanaGround) second() otherNode {
	g.t.Helper()
	s, err := g.net.Solana.Serve("")
	if err != nil {
		g.t.Fatal(err)
	}
	return otherNode{first: g.net.Solana.URL(), url: s.URL(), pace: g.net.Solana.Pace, split: func() (split, error) { return g.net.Solana.Split(s) },
		lose: func(on bool) { s.Misbehave(solana.NodeFault{LoseTransaction: on}) }}
}

// The first version of the program lets nobody else do it.
func (g solanaGround) giveBack(e chains.Escrow) {
	g.t.Helper()
	d, err := wire.ParseSwapData(e.Data)
	if err != nil {
		g.t.Fatal(err)
	}
	p, err := g.net.Solana.Network().Version(g.program)
	if err != nil {
		g.t.Fatal(err)
	}
	user := &solana.Party{Net: g.net.Solana, Account: g.net.Solana.User, Programs: p}
	if _, err := user.Refund(g.t.Context(), d); err != nil {
		g.t.Fatal(err)
	}
}

func (g solanaGround) holds(who, ticker string) *big.Int {
	g.t.Helper()
	at, err := wire.ParseKey(who)
	if err != nil {
		g.t.Fatal(err)
	}
	n := g.net.Solana.Lamports(at)
	if ticker != g.native() {
		n = g.net.Solana.Tokens(tokenOf(ticker), at)
	}
	return new(big.Int).SetUint64(n)
}

func (g solanaGround) payGas(to string, n *big.Int) string {
	g.t.Helper()
	at, err := wire.ParseKey(to)
	if err != nil {
		g.t.Fatal(err)
	}
	tx, err := g.net.Solana.User.Send(g.t.Context(), wire.Transfer(g.net.Solana.User.Address, at, n.Uint64()))
	if err != nil {
		g.t.Fatal(err)
	}
	return tx.ID.String()
}

func (g solanaGround) branch(int, int) {
	g.t.Helper()
	g.t.Fatal("slots go on: a branch is longer than what it replaces")
}

func (g solanaGround) lies() map[string]lp.EscrowLie { return nil }
func (g solanaGround) tokenAt(ticker string) string {
	return addressAmong(g.net.SolanaTokens(), ticker)
}
func (g solanaGround) redo(blocks int) { g.net.Solana.Mine(blocks) }
func (g solanaGround) dropWaiting()    { g.net.Solana.DropPending() }

func (g solanaGround) incomingTypes() map[string]swapper.SwapType {
	types := map[string]swapper.SwapType{"LIGHTNING": swapper.SwapFromBTCLN, "BITCOIN": swapper.SwapFromBTC}
	if g.program == wire.V2 {
		types["LIGHTNING"] = swapper.SwapFromBTCLNAuto
	}
	return types
}

func (g solanaGround) undo(blocks uint64) {
	g.t.Helper()
	if err := g.net.Solana.Reorg(int(blocks)); err != nil {
		g.t.Fatal(err)
	}
}

func (g solanaGround) tokens() book {
	g.t.Helper()
	b := book{}
	s := g.net.Solana
	lp := g.net.LPs[0].Solana()
	for name, mint := range map[string]wire.Key{"WBTC": tokenOf("WBTC"), "USDC": tokenOf("USDC")} {
		n := func(v uint64) *big.Int { return new(big.Int).SetUint64(v) }
		funds, err := lp.Funds(mint)
		if err != nil {
			g.t.Fatal(err)
		}
		var vault uint64 // of the program: everybody's balances and all escrows
		s.Bank().Read(bank.Processed, 0, func(v *bank.View) {
			t, _ := v.Token(lp.Programs.Vault(mint))
			vault = t.Amount
		})
		b["user "+name] = n(s.Tokens(mint, s.User.Address))
		b["tower "+name] = n(s.Tokens(mint, s.Watchtower.Address))
		b["LP "+name] = n(s.Tokens(mint, lp.Address()) + funds)
		b["escrows "+name] = new(big.Int).Sub(n(vault), n(funds))
	}
	return b
}

func tokenOf(ticker string) (mint wire.Key) {
	for _, t := range wire.Tokens() {
		if t.Ticker == ticker {
			mint = t.Mint
		}
	}
	return mint
}

type starknetGround struct{ *world }

func (g starknetGround) in(w *world) ground { return starknetGround{w} }
func (g starknetGround) chain() string      { return "STARKNET" }
func (g starknetGround) address() string    { return starkwire.Hex64(g.net.Starknet.User.Address) }
func (g starknetGround) native() string     { return "STRK" }
func (g starknetGround) drop() *big.Int     { return big.NewInt(2e18) }
func (g starknetGround) gasWorth() *big.Int { return starknet.STRK(100) }
func (g starknetGround) height() uint64     { return g.net.Starknet.Head().Height }
func (g starknetGround) newcomer() string {
	return starkwire.Hex64(g.net.Starknet.NewAccount().Address)
}

func (g starknetGround) chains(urls ...string) []chains.Factory {
	if len(urls) == 0 {
		return []chains.Factory{g.net.StarknetChain()}
	}
	network := g.net.StarknetConfig()
	return []chains.Factory{chainstarknet.Custom(chainstarknet.Options{RPC: urls, Network: &network, Tokens: g.net.StarknetTokens()})}
}

func (g starknetGround) second() otherNode {
	g.t.Helper()
	s, err := g.net.Starknet.Serve("")
	if err != nil {
		g.t.Fatal(err)
	}
	return otherNode{first: g.net.Starknet.URL(), url: s.URL(), pace: g.net.Starknet.Pace, split: func() (split, error) { return g.net.Starknet.Split(s) },
		lose: func(on bool) { s.Misbehave(starknet.NodeFault{LoseTransaction: on}) }}
}

func (g starknetGround) giveBack(e chains.Escrow) {
	g.t.Helper()
	s, err := starkwire.SwapDataOf(e)
	if err == nil {
		_, err = g.net.Starknet.Party(g.net.Starknet.Watchtower).Refund(g.t.Context(), s, g.net.Clock.Now())
	}
	if err != nil {
		g.t.Fatal(err)
	}
}

func (g starknetGround) holds(who, ticker string) *big.Int {
	g.t.Helper()
	at, err := starkwire.ParseAddress(who)
	if err != nil {
		g.t.Fatal(err)
	}
	n, err := g.net.Starknet.Balance(starkwire.MustFelt(g.tokenAt(ticker)), at)
	if err != nil {
		g.t.Fatal(err)
	}
	return n
}

func (g starknetGround) payGas(to string, n *big.Int) string {
	g.t.Helper()
	at, err := starkwire.ParseAddress(to)
	if err != nil {
		g.t.Fatal(err)
	}
	id, err := g.net.Starknet.Party(g.net.Starknet.User).Pay(g.t.Context(), at, n)
	if err != nil {
		g.t.Fatal(err)
	}
	return starkwire.Hex(id)
}

func (g starknetGround) branch(depth, length int) {
	g.t.Helper()
	if err := g.net.Starknet.Branch(depth, length); err != nil {
		g.t.Fatal(err)
	}
}

func (g starknetGround) redo(blocks int) { g.net.Starknet.Mine(blocks) }
func (g starknetGround) dropWaiting()    { g.net.Starknet.DropPending() }

func (g starknetGround) tokenAt(ticker string) string {
	return addressAmong(g.net.StarknetTokens(), ticker)
}

func (g starknetGround) lies() map[string]lp.EscrowLie {
	stranger := g.net.Starknet.Watchtower.Address
	all := map[string]lp.EscrowLie{}
	for name, lie := range map[string]func(*starkwire.SwapData){
		"amount":          func(s *starkwire.SwapData) { s.Amount = new(big.Int).Sub(s.Amount, big.NewInt(1)) },
		"token":           func(s *starkwire.SwapData) { s.Token = starknet.USDC },
		"claimer":         func(s *starkwire.SwapData) { s.Claimer = stranger },
		"claimHandler":    func(s *starkwire.SwapData) { s.ClaimHandler = stranger },
		"refundHandler":   func(s *starkwire.SwapData) { s.RefundHandler = stranger },
		"claimData":       func(s *starkwire.SwapData) { s.ClaimData = starkwire.Poseidon(s.ClaimData) },
		"securityDeposit": func(s *starkwire.SwapData) { s.SecurityDeposit = new(big.Int).Sub(s.SecurityDeposit, big.NewInt(1)) },
		"claimerBounty":   func(s *starkwire.SwapData) { s.ClaimerBounty = new(big.Int).Add(s.ClaimerBounty, big.NewInt(1)) },
		"successAction": func(s *starkwire.SwapData) {
			s.SuccessAction = &starkwire.SuccessAction{Hash: starkwire.FeltOf(1), Expiry: 1 << 40, Fee: new(big.Int)}
		},
		"expiry":   func(s *starkwire.SwapData) { s.RefundData = starkwire.FeltOf(uint64(g.net.Clock.Now().Unix() + 500)) },
		"feeToken": func(s *starkwire.SwapData) { s.FeeToken = starknet.WBTC },
	} {
		all[name] = lp.EscrowLie{Starknet: lie}
	}
	return all
}

func (g starknetGround) incomingTypes() map[string]swapper.SwapType {
	return evmGround(g).incomingTypes()
}

func (g starknetGround) undo(blocks uint64) {
	g.t.Helper()
	if err := g.net.Starknet.Reorg(int(blocks)); err != nil {
		g.t.Fatal(err)
	}
}

// What the escrows hold is what the contract has without what is the LP's in it.
func (g starknetGround) tokens() book {
	g.t.Helper()
	b := book{}
	s, lp := g.net.Starknet, g.net.LPs[0].Starknet()
	d := s.Deployment()
	for name, token := range map[string]starkwire.Felt{"WBTC": starknet.WBTC, "USDC": starknet.USDC} {
		has := func(of starkwire.Felt) *big.Int {
			g.t.Helper()
			n, err := s.Balance(token, of)
			if err != nil {
				g.t.Fatal(err)
			}
			return n
		}
		funds, err := lp.Funds(token)
		if err != nil {
			g.t.Fatal(err)
		}
		b["user "+name] = has(s.User.Address)
		b["tower "+name] = has(s.Watchtower.Address)
		b["LP "+name] = new(big.Int).Add(has(lp.Address()), funds)
		b["escrows "+name] = new(big.Int).Sub(has(d.EscrowManager.Address), funds)
		b["vaults "+name] = has(d.VaultManager.Address)
	}
	return b
}
