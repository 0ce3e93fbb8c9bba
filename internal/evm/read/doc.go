// Package read reads the swap contracts of an EVM chain through any
// [evmrpc.Node]: escrows, an LP's funds, vaults and their withdrawals, headers of
// the Bitcoin relay. It remembers nothing; what a caller knows from before comes in
// as an argument and saves round trips, which each method counts.
package read
