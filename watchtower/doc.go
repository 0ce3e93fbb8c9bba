// Package watchtower lets others claim for a user who is offline, and claims for such users.
//
// A [Message] is what a watchtower needs to claim an escrow, and a [Messenger] publishes it.
// [Nostr] is the network's own messenger, [NostrSource] hears what others publish.
//
// A [Tower] is a watchtower: with keys of its operator it claims escrows whose preimages it
// hears or is handed, and escrows that wait for a bitcoin payment and withdrawals of vaults, both of
// which it is handed or finds, and earns what they offer for that. It believes no message: it decodes each with the chain's own contracts, demands
// that the preimage opens the escrow, and claims only what enough nodes show as open and
// final. What it pays is bounded by a [Policy].
package watchtower
