// Package watchtower has the [Message] that lets a watchtower claim an escrow for a user
// who is offline, and the [Messenger] that publishes it, of which [OverNostr] is
// the network's.
package watchtower
