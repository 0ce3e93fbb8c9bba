// Package watchtower runs a watchtower of package watchtower in the local network: it claims
// for users who are away, and can be made deaf, lazy or slow.
//
// It takes whoever sends it a message for an own user, and whatever an escrow or a withdrawal offers
// for enough, so that it never leaves a claim because it costs too much.
//
// [StartRelay] starts a Nostr relay on a loopback websocket, as far as watchtower
// messages need one: EVENT, REQ and CLOSE from clients; OK, EVENT, EOSE, CLOSED
// and NOTICE to them. It stores nothing, as relays do with ephemeral kinds, and
// passes on what is correctly signed. It can be told to misbehave.
package watchtower
