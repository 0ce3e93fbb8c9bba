// Package swapper gives a wallet backend trustless swaps between Bitcoin or
// Lightning and smart chains. It finds liquidity providers, gets quotes, verifies
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
//	go client.Run(ctx) // keeps swaps moving between calls
//	defer client.Close()
//
//	quote, err := client.CreateSwap(ctx, swapper.CreateSwapInput{
//		SrcToken: "LIGHTNING-BTC", DstToken: "CITREA-CBTC",
//		Amount: big.NewInt(50_000), AmountType: swapper.ExactIn,
//		DstAddress: "0x...",
//	})
//	// ...
//	status, err := client.GetSwapStatus(ctx, swapper.GetSwapStatusInput{SwapID: quote.SwapID})
//	// status.CurrentAction says what the user has to do now
//
// Solana and Starknet are further elements of Chains, such as solana.Mainnet or
// starknet.Sepolia, and the calls are the same.
//
// [examples/minimal] is a whole wallet in one file, with keys for each kind of chain
// and the loop that makes a swap in any direction.
//
// To see it work, run go run ./examples/quickstart: it starts a whole network on
// your machine and settles a swap in each direction, on an EVM chain, on Solana
// and on Starknet.
//
// # Operations
//
// [Service] is the interface of the operations; [Client] implements it, and
// package httpapi serves it over HTTP, and has a client for a remote one.
// docs/api.md describes each operation and every type in full.
//
//   - [Client.CreateSwap] asks providers for quotes, verifies them, keeps the best and
//     stores the swap.
//   - [Client.CreateGasSwap] buys a small amount of a chain's native token from a trusted
//     provider, for users who have none.
//   - [Client.GetSwapStatus] brings a swap up to date and says what to do next.
//   - [Client.SubmitTransaction] takes the transactions that the user has signed.
//   - [Client.SettleWithLnurl] has a swap's invoice paid through an LNURL-withdraw link.
//   - [Client.ListSwaps] and [Client.ListPendingSwaps] list the swaps of a signer.
//   - [Client.GetSupportedTokens] and [Client.GetSwapCounterTokens] say which tokens can
//     be swapped for which, and [Client.GetSwapLimits] says between which amounts.
//   - [Client.ParseAddress] says what an address, invoice or link is.
//   - [Client.GetSpendableBalance] says how much of a balance can be swapped.
//
// In addition, [Client.Recover]
// rebuilds a signer's swaps from the chain, [Client.Import] takes over the swaps
// of the reference service, [Client.Subscribe] reports changes, [Client.Changes] reports
// those that were missed, and [Client.Ready] reports which parts cannot be used now.
//
// # How a swap runs
//
// From a smart chain to Bitcoin or Lightning the user locks tokens in an
// escrow. The provider pays the invoice or address and can then claim the
// escrow, with the preimage or with a proof of the Bitcoin payment. If it does
// not pay, the escrow is refunded to the user: at once if the provider
// authorizes it, after the time-out otherwise.
//
// From Bitcoin the user signs a transaction that pays the provider and spends
// the output of its vault; the vault's contract pays the recipient as soon as a
// watchtower, or anyone else, proves the transaction to it.
//
// From Lightning the provider opens an escrow for the user, who pays an invoice that
// the provider can settle only with the preimage that the user reveals by claiming.
// The library makes the preimage, keeps it until the escrow is final, and lets a
// watchtower or the user claim.
//
// Solana has no vaults, and with version 1 of its program providers cannot open escrows
// for others. There the recipient opens the escrow. In a swap from Bitcoin the recipient
// opens it before the payment, because the address to pay is known only then. In a swap from
// Lightning the recipient signs the opening and the claim together after the payment; the
// library holds the claim back until the escrow is final.
//
// An [Action] holds the transactions to sign. It is built from the stored record, so
// that asking again gives the same action. Before anything is sent, the library compares
// what the wallet returns with the action. Money in transit is never forgotten: a record is
// deleted only if nothing was posted, submitted, paid or opened.
//
// # Errors
//
// Every operation returns errors of type [*fault.Error], with a stable code
// ([fault.CodeOf]), a message, and the name of the input field at fault, if any.
// docs/errors.md lists the codes and messages and what to do about them. After
// [Client.Close] every method returns [ErrClosed].
//
// # What runs without Run
//
// Every operation works without [Client.Run]: getSwapStatus queries the chains
// when it is called. Run adds the background work: it follows swaps, listens to
// the chains, sends what was submitted, publishes preimages to watchtowers and
// deletes unused quotes. One Run per store is enough.
//
// # Parts that can be replaced
//
// A store is any storage.Store that passes package storagetest; a chain is any
// chains.Chain that passes package chaintest; prices, Bitcoin and watchtowers
// are behind price.Source, bitcoin.Backend and watchtower.Messenger. Chains
// that are not passed in are not linked into the binary.
//
// # Testing
//
// Package swappertest runs the whole network inside a test, as package httptest runs a
// server. Its configuration opens a client on local chains, its users sign and pay, a test
// can move its clock, and its parts fail, lie or steal on demand. The examples below run on
// it.
//
//	network := swappertest.Start(t, swappertest.Options{})
//	client, err := swapper.Open(t.Context(), network.Config())
//
// # Money and concurrency
//
// Amounts are *big.Int in base units with their token beside them; no float
// touches them. A Client, like everything that is passed in a [Config], is safe
// for concurrent use. Contexts limit how long a caller waits, never how long a
// swap is followed.
//
// [examples/minimal]: https://pkg.go.dev/github.com/swapper-go/swapper/examples/minimal
package swapper
