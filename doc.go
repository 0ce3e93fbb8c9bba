// Package swapper offers trustless swaps between Bitcoin or Lightning and smart
// chains to a wallet backend. It finds liquidity providers, gets quotes, verifies
// every claim they make, tells the wallet what to sign, submits what was signed,
// follows each swap until it is settled or refunded, and keeps a durable record of
// every swap. It never holds a user's key.
//
// # The smallest program
//
//	store, err := bolt.Open(ctx, "swaps.db", bolt.Options{})
//	// ...
//	client, err := swapper.Open(ctx, swapper.Config{
//		Network: bitcoin.Testnet4,
//		Store:   store,
//		Chains:  []chains.Factory{evm.Citrea(evm.Options{RPC: []string{"https://rpc.testnet.citrea.xyz"}})},
//	})
//	// ...
//	go client.Run(ctx) // follows swaps that nobody asks about
//	defer client.Close()
//
//	quote, err := client.CreateSwap(ctx, swapper.CreateSwapInput{
//		SrcToken: "LIGHTNING-BTC", DstToken: "CITREA-CBTC",
//		Amount: big.NewInt(50_000), AmountType: swapper.ExactIn,
//		DstAddress: "0x...",
//	})
//	// ...
//	status, err := client.GetSwapStatus(ctx, swapper.GetSwapStatusInput{SwapID: quote.SwapID})
//	// status.CurrentAction says what is to be done now
//
// To see it work, run go run ./examples/quickstart: it starts a whole network on
// your machine and settles a swap in each direction.
//
// # Operations
//
// [Service] is the interface of eleven operations; [Client] implements it, and
// package httpapi serves it over HTTP and calls one that is served elsewhere.
// docs/api.md describes each of them, and every type, in full.
//
//   - [Client.CreateSwap] asks providers for quotes, verifies them, keeps the best and
//     stores the swap.
//   - [Client.GetSwapStatus] brings a swap up to date and says what to do next.
//   - [Client.SubmitTransaction] takes what the user has signed.
//   - [Client.SettleWithLnurl] has a swap's invoice paid through an LNURL-withdraw link.
//   - [Client.ListSwaps] and [Client.ListPendingSwaps] list the swaps of a signer.
//   - [Client.GetSupportedTokens] and [Client.GetSwapCounterTokens] say what can be
//     swapped for what, [Client.GetSwapLimits] between which amounts.
//   - [Client.ParseAddress] says what an address, invoice or link is.
//   - [Client.GetSpendableBalance] says how much of a balance can be swapped.
//
// Beside them, [Client.CreateGasSwap] buys a newcomer a little of a chain's native
// token from a provider that has to be trusted for it, [Client.Recover] rebuilds the
// swaps of a signer from what the chain shows, [Client.Subscribe] tells of changes,
// and [Client.Ready] says what cannot be used now.
//
// # How a swap runs
//
// From a smart chain to Bitcoin or Lightning the user locks tokens in an escrow. The
// provider pays the invoice or address and may then claim the escrow, with the
// preimage or with a proof that Bitcoin has the payment. If it does not pay, the
// escrow goes back to the user: at once if the provider signs that it failed, after
// the time-out otherwise.
//
// From Bitcoin the user signs a transaction that pays the provider and moves its
// vault; the chain pays the recipient as soon as a watchtower, or anybody else, has
// proved the transaction to it.
//
// From Lightning the provider opens an escrow for the user, who pays an invoice that
// the provider can settle only with the preimage that the user reveals by claiming.
// The library makes the preimage, keeps it until the escrow is final, and lets a
// watchtower or the user claim.
//
// What is to be signed comes as an [Action]; it is built from the stored record, so
// that asking again gives the same. What comes back is compared with it before
// anything is sent. Money that is under way is never forgotten: a record is deleted
// only if nothing was posted, submitted, paid or opened.
//
// # Errors
//
// The error of every operation is an [*Error] with a stable code ([CodeOf]), a
// sentence, and the name of the input's member that is at fault. docs/errors.md says
// what to do about each code. After [Client.Close] every method says [ErrClosed].
//
// # What runs without Run
//
// Every operation works without [Client.Run]: a status looks at the chains when it
// is asked. Run adds what happens without being asked: it follows swaps, listens to
// the chains, claims with what was submitted, publishes preimages to watchtowers and
// deletes quotes that were never used. One Run per store is enough.
//
// # Parts that can be replaced
//
// A store is any storage.Store that passes package storagetest; a chain is any
// chains.Chain that passes package chaintest; prices, Bitcoin and watchtowers are
// behind price.Source, bitcoin.Backend and watchtower.Messenger. A chain that is not
// passed in is not linked.
//
// # Money and concurrency
//
// Amounts are *big.Int in base units with their token beside them; no float touches
// them. A Client, like everything that is passed in a [Config], is safe for
// concurrent use. Contexts bound how long a caller waits, never how long a swap is
// followed.
package swapper
