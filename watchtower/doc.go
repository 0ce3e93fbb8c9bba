// Package watchtower defines the [Message] that lets a watchtower claim an
// escrow for a user who is offline, and the [Messenger] that publishes it.
// [Nostr] is the network's own messenger.
package watchtower
