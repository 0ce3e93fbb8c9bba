// Package watchtower runs a watchtower of package watchtower in the local network: it claims
// for users who are away, and can be made deaf, lazy or slow.
//
// It takes whoever sends it a message for an own user, and whatever an escrow or a withdrawal offers
// for enough, so that it never leaves a claim because it costs too much.
package watchtower
