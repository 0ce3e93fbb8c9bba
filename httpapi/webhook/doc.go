// Package webhook tells other servers how swaps move, by signed requests in the scheme
// of standard-webhooks (https://www.standardwebhooks.com).
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
// # What is sent
//
// A POST with the headers webhook-id, webhook-timestamp and webhook-signature and the
// body
//
//	{"type": "swap.updated", "timestamp": "2026-11-22T19:02:05.447Z", "data": {"swapId": "...", ...}}
//
// The data is the object that getSwapStatus returns, less what would be worth something
// to a stranger ([swapper.Progress]); the timestamp is that of the change. A
// message is signed, by HMAC-SHA256, with every secret of its endpoint: to change one,
// add the new one, teach it to the receiver, then remove the old one. Receivers verify
// with any library of the scheme.
//
// # What is promised
//
// Each swap that changes so that a user sees a difference is told to each endpoint at
// least once, however often the process is killed: that a message is due, and its text,
// are in the store before it is sent. A message that is sent again has the same
// webhook-id and the same body, so that receivers can drop doubles.
//
// Messages of one swap come in order, one at a time. A swap that changes again while
// its message could not be delivered yet is told as it then is: a receiver that was away
// for days gets the present, not history, and what waits for it does not grow.
//
// # Failures
//
// Everything but a status of 2xx within 20 seconds is a failure; redirects are not
// followed. A message is tried again after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h
// and 24 h, each up to a quarter longer at random, not before a Retry-After has passed,
// and is then given up, with a line in the log; the next change of its swap is a new
// message. An endpoint that fails several times in a row is asked more rarely, with
// one message at a time, until it answers well; a Retry-After counts up to an hour. One that
// answers nothing but 410 for an hour is gone: it is asked no more until its URL is changed,
// or [Sender.Enable] is called, and is then told what waited and what has changed meanwhile.
// Endpoints have workers of their own: none waits for another. [Sender.States] says how they
// do, for metrics and alerts.
//
// # Bounds
//
// URLs must be https and hosts public, checked on the address that is dialled, unless
// [Options].AllowLocal is set. A reply is read up to 4 KiB. Records of messages that were
// delivered or given up, and of those that wait for an endpoint that is gone, are deleted after
// [Options].Keep.
package webhook
