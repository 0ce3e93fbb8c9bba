package lp

import "math/big"

// refusal is an error that the client is told of: a code of the protocol with its
// text (protocol: lp-protocol.md §4.2).
type refusal struct {
	Code int
	Msg  string
	Data any // nil: none
	HTTP int // status on endpoints that are not streamed; 0: 400
}

func (r *refusal) Error() string { return r.Msg }

func refuse(code int, msg string) error { return &refusal{Code: code, Msg: msg} }

// badBody refuses a request with a parameter that is missing or invalid.
func badBody(what string) error {
	if what != "" {
		what = " (" + what + ")"
	}
	return refuse(20100, "Invalid request body"+what)
}

// outOfBounds refuses an amount, with what would be taken.
func outOfBounds(low bool, least, most *big.Int) error {
	data := object{{"min", least.String()}, {"max", most.String()}}
	if low {
		return &refusal{Code: 20003, Msg: "Amount too low!", Data: data}
	}
	return &refusal{Code: 20004, Msg: "Amount too high!", Data: data}
}
