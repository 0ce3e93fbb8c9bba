// Package nostr is a Nostr relay on a loopback websocket, as far as watchtower
// messages need one: EVENT, REQ and CLOSE from clients; OK, EVENT, EOSE, CLOSED
// and NOTICE to them. It stores nothing, as relays do with ephemeral kinds, and
// passes on what is correctly signed. It can be told to misbehave.
package nostr
