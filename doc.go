// Package swapper offers trustless swaps between Bitcoin or Lightning and smart
// chains (Solana, Starknet, EVM chains) to a wallet backend.
//
// [Service] is the interface of eleven operations: create a swap, follow it, hand
// in what its user signed, list swaps and tokens, ask for limits and balances, say
// what an address is. Inputs check themselves (Validate), errors carry a code
// ([CodeOf]), amounts are integers of base units. Package httpapi serves a Service
// over HTTP and calls one that is served elsewhere.
package swapper
