// Package swappertest runs the whole swap network inside a test, as package
// httptest runs a server: Bitcoin, an EVM chain with the swap contracts, on request
// Solana with the swap programs and Starknet with the swap contracts, Lightning,
// liquidity providers with real funds, a watchtower, a price market and LNURL services,
// all on loopback sockets. Nothing needs the internet, a key or an installed program.
// Transactions are signed, checked, executed and mined as on public networks; only the
// money has no value.
//
//	func TestCheckout(t *testing.T) {
//		network := swappertest.Start(t, swappertest.Options{})
//		client, err := swapper.Open(t.Context(), network.Config())
//		// ...
//		defer client.Close()
//		go client.Run(t.Context())
//
//		swap, err := client.CreateSwap(t.Context(), swapper.CreateSwapInput{
//			SrcToken: "LIGHTNING-BTC", DstToken: "CITREA-WBTC",
//			Amount: big.NewInt(50_000), AmountType: swapper.ExactIn,
//			DstAddress: network.User.Address("CITREA"),
//		})
//		// ...
//		status, err := network.User.Finish(t.Context(), client, swap.SwapID)
//		// status.IsSuccess
//	}
//
// A program that is not a test calls [New]; a network takes about half a second to
// start.
//
// # Wallets
//
// [Network.User] has funds on every chain and signs: [User.Sign] does what a wallet
// does with an action, [User.Finish] does everything that a swap requires of its
// user. [Network.NewUser] creates a user without funds. Fund a wallet that has its
// own keys with [Network.SendBitcoin], [Network.SendTokens] and [Network.Pay].
//
// Users have an address on every chain, by the chain's identifier: BITCOIN,
// CITREA for the EVM chain unless [EVMOptions] name it otherwise, SOLANA with
// [SolanaOptions] and STARKNET with [StarknetOptions].
//
// # Time and blocks
//
// All parts share one clock, which [Network.Advance] moves ahead: an hour passes in
// a few milliseconds, and quotes expire and escrows time out. Bitcoin blocks are
// mined by [Network.Mine], by [Options.MineEvery], or while [User.Finish] waits. The
// EVM chain, Solana and Starknet take a transaction into a block as soon as it comes in.
//
// If you write your own loop, mine while the action is a Wait and the swap comes from Bitcoin: the swap
// needs blocks on top of the user's payment. In the state SOFT_CLAIMED there is no action: the provider has
// sent bitcoin and waits for its confirmations. If no block comes within half a second, the network mines
// one by itself, until the payout is deep enough; with [Options.HoldPayouts] it waits for you, so that a
// test can look at that state. Do not mine while a payment over Lightning is held: the provider returns it
// after 25 blocks.
//
// # What differs from public networks
//
// The transactions are real ones. The EVM chain is go-ethereum's. The contracts and programs, and the engines
// of Solana and Starknet, are the library's own: they have the network's interfaces, hashes, events and
// rules, and differ in details that clients rarely use:
//
//   - Solana: the token and system programs return other error numbers for impossible accounts. The
//     nodes lack the methods about stakes, inflation, block production and the accounts with most SOL.
//   - Starknet: gas is 8 to 60 % above what sequencers count, and so is the data gas of transfers
//     and deployments: bounds that suffice here suffice there. No contract handles messages from
//     Ethereum, the nodes give no storage proofs, and they lack the methods for declaring classes.
//
// # When things go wrong
//
// [Network.Misbehave] makes any part of the network fail, lie, delay or steal: a
// provider that never pays, a node that lags, a watchtower that does nothing.
// [Network.Reorg] reorganises the Bitcoin chain.
//
// # Other processes
//
// With [Listen.Control] the network can be controlled over HTTP, and
// [Network.Describe] prints what another process needs to connect to it; see
// examples/devnet.
package swappertest
