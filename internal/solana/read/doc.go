// Package read reads the state of the swap network's programs on Solana through any
// [solrpc.Node]: escrows, funds of LPs, balances, headers of the Bitcoin relay, what
// happened since. Each method says how many sequential round trips it takes.
//
// The newest state that is read is the confirmed one; what it comes to is final when
// the finalized state shows it too. An account tells what is; what was is in the
// history of the account's address, which stays when the account is gone. Anybody can
// add transactions to such a history: what was read once is remembered, so that a long
// one is read in parts, and never twice (protocol: chain-solana.md §17 to §21).
package read
