// Package subscribe hears from a chain's nodes, over WebSocket or by long polls, that something
// may have happened. What it hears is a hint: it says when to ask, never what is so. [Nodes] keeps a
// connection to each of several URLs with the same subscriptions on each; [Poll] asks by what
// is heard: at once after a message, seldom while a connection is alive, and
// as often as without subscriptions when none is. A server that is silent, late, cut off or
// lying thereby costs its listener no more than the questions that it would ask without it.
//
// [Follower] knows the newest blocks of Bitcoin from nodes that tell of them: what it is told
// is a hint, and asked for by the questions of its [Source].
package subscribe
