package starknet

import "github.com/swapper-go/swapper/internal/starknet/wire"

// CheckFeeRate returns an error unless s is `<l1>,<l2>,<l1 data>;v3`, three gas
// prices in fri (protocol: utilities.md §10). Only version 3 transactions are
// supported.
func CheckFeeRate(s string) error { return wire.CheckFeeRate(s) }
