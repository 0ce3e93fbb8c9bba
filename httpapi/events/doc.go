// Package events serves changes of swaps as server-sent events, so that a wallet need
// not poll.
//
//	streams := events.New(client, events.Options{})
//	httpapi.Mount(mux, "/api", client, httpapi.Options{Operations: []httpapi.Operation{streams.Operation()}})
//	server.RegisterOnShutdown(streams.Close)
//
// answers GET /api/subscribe?swapId=... and GET /api/subscribe?signer=...[&chainId=...]
// with a stream that a browser's EventSource reads:
//
//	retry: 3000
//
//	id: 1795214525447.7.5f1d3c0a9be2f4d6
//	event: swap
//	data: {"swapId":"...","state":{...},...}
//
//	:
//
// The data is the object that getSwapStatus returns, without the parts that are worth
// money to a stranger ([swapper.Progress]). A wallet that has to sign asks getSwapStatus, which
// builds the newest transactions. The example "Events" of package swapper follows a swap so.
//
// # What is sent when
//
// The stream of a swap begins with the swap's present status; the stream of a signer begins
// with each of its newest pending swaps. From then on a swap is sent whenever a user would
// see a difference in its state, steps, confirmations or action; new transactions for the
// same action do not count as a difference. Changes that come faster than the reader reads are merged: a
// reader may miss a step on the way, but never the latest one. Events of one swap come in order.
//
// # Going on after a break
//
// An event's id says when the stored swap was changed, at which version, and what it
// looked like. It is derived from the store, so that every process that shares the store,
// now or after a restart, understands it. A reader that comes back with its last
// id, in the header Last-Event-ID or the parameter lastEventId, gets the present status of
// every swap that has changed since, and nothing if none has. The stream of a signer may then
// repeat what it sent during the ten seconds before. An id that cannot be read is ignored.
//
// The stream of a signer goes back a day, and covers a hundred swaps. If a reader has missed
// more, the stream first sends
//
//	event: reset
//	data: {"since":1795214525447}
//
// and goes on with the latest changes, or as a new stream does. listSwaps lists, page by page,
// what else has changed since that moment (in milliseconds).
//
// # Ends
//
// A stream ends after [Options].Lifetime, when a write takes too long because the
// reader does not read, when the swap is deleted as an unused quote, and with
// [Streams.Close]. A reader connects again; EventSource does so by itself. Errors before
// the first byte are those of the operations: 400 for a wrong input, 404 for an unknown
// swap, 429 when there are too many streams, 503 while the server ends.
//
// # Requirements
//
// [swapper.Client.Run] must be running somewhere: it moves swaps while no client is
// connected. Authentication and the rest belong in middleware, as for the operations; it
// must pass on what http.ResponseController needs (Unwrap), and must neither buffer
// nor log the query. The server's timeouts do not matter: a stream moves them.
package events
