// Package nostr hands revealed preimages to watchtowers, over Nostr relays.
//
// A [Messenger] publishes: any listener can then claim an escrow for the user,
// even if the user's wallet is never opened again. A [Receiver] is the other side,
// for watchtowers and private networks.
//
// Messages are events as NIP-01 has them, of ephemeral kinds: relays pass them on
// and keep nothing, so they are published again while they matter. They are not
// encrypted: from the moment of publication the preimage is known to everybody.
// (protocol: utilities.md §14)
package nostr
