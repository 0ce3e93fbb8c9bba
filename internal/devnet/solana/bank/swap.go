package bank

import (
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Swap returns the swap program of a deployment, which lays data accounts out in one of
// the ways that a client must be prepared for.
func Swap(p wire.Programs, data wire.DataLayout) Program {
	return callProgram(p, data, map[string]handler{
		"deposit":                   deposit,
		"withdraw":                  withdraw,
		"offerer_initialize_pay_in": func(x *call) error { return initialize(x, true) },
		"offerer_initialize":        func(x *call) error { return initialize(x, false) },
		"offerer_refund":            func(x *call) error { return refund(x, false) },
		"offerer_refund_pay_in":     func(x *call) error { return refund(x, true) },
		"claimer_claim":             func(x *call) error { return claim(x, false) },
		"claimer_claim_pay_out":     func(x *call) error { return claim(x, true) },
		"init_data":                 initData,
		"write_data":                writeData,
		"close_data":                closeData,
	})
}
