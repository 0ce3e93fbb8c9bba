// Package webhook sends changes of swaps to other servers, as signed requests in the
// scheme of standard-webhooks (https://www.standardwebhooks.com).
//
//	sender, err := webhook.New(client, webhook.Options{
//		Store: store, // the client's, or one of its own
//		Endpoints: []webhook.Endpoint{{
//			Name: "shop", URL: "https://shop.example/swaps", Secrets: []string{"whsec_..."},
//		}},
//	})
//	// ...
//	go sender.Run(ctx)
//
// The example "Webhooks" of package swapper has a shop that is told so.
//
// # What is sent
//
// A POST with the headers webhook-id, webhook-timestamp and webhook-signature and the
// body
//
//	{"type": "swap.updated", "timestamp": "2026-11-22T19:02:05.447Z", "data": {"swapId": "...", ...}}
//
// The data is the object that getSwapStatus returns, without the parts that are worth
// money to a stranger ([swapper.Progress]); the timestamp is that of the change. A
// message is signed, by HMAC-SHA256, with every secret of its endpoint. To change a secret,
// add the new one, give it to the receiver, then remove the old one. Receivers verify
// with any library of the scheme.
//
// # What is promised
//
// Each endpoint gets at least one message about each change of a swap that a user would
// notice, however often the process is killed: the message is stored before it is sent. A
// message that is sent again has the same webhook-id and the same body, so that receivers
// can drop duplicates.
//
// Messages of one swap come in order, one at a time. If a swap changes again before
// its message is delivered, the next message has the swap's present status: a receiver that
// was away for days gets the present, not history, and its queue does not grow.
//
// # Failures
//
// Everything but a status of 2xx within 20 seconds is a failure; redirects are not
// followed. A message is sent again after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h
// and 24 h, each up to a quarter longer at random, not before a Retry-After has passed,
// and is then given up, with a line in the log; the next change of its swap is a new
// message. An endpoint that fails several times in a row is tried less often, with
// one message at a time, until it succeeds; a Retry-After counts up to an hour. An endpoint
// that answers nothing but 410 for an hour counts as gone: it gets nothing until its URL is
// changed or [Sender.Enable] is called, and then gets the messages that waited and those about
// changes since. Each endpoint has its own workers, so that none waits for another.
// [Sender.States] reports the state of the endpoints, for metrics and alerts.
//
// # Bounds
//
// URLs must be https and hosts public, checked on the address that is dialled, unless
// [Options].AllowLocal is set. At most 4 KiB of a reply are read. Records of messages that were
// delivered or given up, or that wait for an endpoint that is gone, are deleted after
// [Options].Keep.
package webhook
