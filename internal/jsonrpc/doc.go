// Package jsonrpc asks the nodes of a chain over JSON-RPC 2.0 and HTTP.
//
// [Dial] takes one or several URLs and gives [Nodes], a [Node]: it carries out any
// number of calls together, in as few HTTP requests as a node accepts, one call at a
// time where it takes no batches; it passes over a node that is down, slow, behind or
// on another network; it tells answers from troubles, and bounds what it reads and
// how long it waits. What is particular to a family of chains is its [Dialect].
package jsonrpc
