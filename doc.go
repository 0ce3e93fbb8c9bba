// Package swapper offers trustless swaps between Bitcoin or Lightning and smart
// chains (Solana, Starknet, EVM chains) to a wallet backend.
package swapper
