// Package read reads the state of the swap contracts on Starknet: escrows, vaults
// and their withdrawals, funds of LPs, balances and accounts, headers of the Bitcoin
// relay, what happened since. Each method says how many sequential round trips it takes.
//
// What is read is the newest block that was accepted on L2, on which the network acts:
// final is what is in it, as for the network's other clients (protocol: chain-starknet.md
// §3). The block that is being made is read for the next nonce, the time that contracts
// will see, and estimates. Nothing in it is told as having happened.
//
// A state names the blocks in which an escrow was opened and ended, and events are looked
// for in these alone. A batch may be answered by several machines, of which one is
// behind: the head is asked for in front of the state, so that what is not there at a
// head was not there, and what an answer would end a swap over is read again at the
// block that says so.
package read
