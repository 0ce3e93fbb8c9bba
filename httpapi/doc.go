// Package httpapi serves a [swapper.Service] over HTTP, and has a client for a remote one.
//
//	mux := http.NewServeMux()
//	httpapi.Mount(mux, "/api", service, httpapi.Options{})
//
// answers GET /api/parseAddress?address=..., POST /api/createSwap and the
// other operations (docs/api.md), and describes them at GET
// /api/openapi.json. [NewClient] returns a [swapper.Service] that calls the same
// operations of a remote server.
//
// # Requests
//
// GET operations, which also answer HEAD, read the query string; POST
// operations read one JSON object. Input is read strictly, because an optional
// field that is misspelled and then ignored can cost money:
//
//   - integers of any size are strings of decimal digits, with an optional sign;
//     JSON numbers are accepted up to 2^53-1;
//   - numbers are in decimal notation, as JSON numbers or strings: no exponent, no
//     other base, no blanks, not NaN or infinite;
//   - booleans are true and false, or those words as strings;
//   - null is the same as absent for optional fields;
//   - unknown and repeated fields and parameters are refused by name (Options.AcceptUnknown
//     lets unknown ones pass), as are invalid UTF-8, anything after the JSON value
//     and deep nesting;
//   - a body has at most 64 KiB, that of submitTransaction 1 MiB, a query string 32 KiB.
//
// getSwapStatus can also be called by POST with the same fields in a JSON
// object. It is an addition to the published interface for callers who reveal a
// preimage: query strings end up in the logs of proxies.
//
// # Answers
//
// A successful answer is 200 with the operation's JSON. Every other answer is
//
//	{"error": "<sentence>", "code": "<word>", "field": "<input field>", "min": "<base units>", "max": "<base units>"}
//
// where the last three are present when known (protocol: utilities.md §12):
//
//	invalid_input         400; 413, 414, 415 for a body, query or content type that is not accepted
//	amount_out_of_bounds  400
//	unsupported           400; 404 for an unknown path, 405 for another method
//	not_found             404
//	invalid_state         409
//	upstream              502
//	timeout               504
//	internal              500, without details: those are in the log
//
// Authentication, rate limits and cross-origin rules belong in middleware around
// the handler, such as package limit below this one; Options.Caller tells
// the handler who is calling. Such middleware must not log or group by the query
// string, which may contain a preimage, nor by the header Swap-Key, which makes its
// sender the swap's owner. The handler itself logs neither query nor body, and marks
// every response as not cacheable.
//
// # Time
//
// Every operation has a deadline ([Deadlines]). submitTransaction (for up to 15 s) and
// settleWithLnurl wait for the swap to move; they extend the write deadline of
// their connection, so that the server's WriteTimeout can stay short. A server
// should have a ReadTimeout: nothing else limits how slowly a body arrives.
package httpapi
