package starknet

import (
	"testing"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// What is public here is the wire's: addresses of accounts and of tokens in one form,
// fee rates of version 3.
func TestPublicForms(t *testing.T) {
	t.Parallel()
	const canonical = "0x00011ae1f7d62f9651bc4138c4c4bb3bb6b65a26caceaf2aff401cbddf01810d"
	const short = "0x11AE1f7d62f9651bc4138c4c4bb3bb6b65a26caceaf2aff401cbddf01810d"
	got, err := wire.Address(short)
	if err != nil || got != canonical {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := wire.Address(short); got != canonical || err != nil {
		t.Errorf("token: %q, %v", got, err)
	}
	if _, err := wire.Address("0x0"); err == nil {
		t.Error("zero is a token")
	}
	if err := wire.CheckFeeRate("1,2,3;v3"); err != nil {
		t.Error(err)
	}
	if err := wire.CheckFeeRate("1,2,3;v1"); fault.CodeOf(err) != fault.InvalidInput {
		t.Errorf("version 1: %v", err)
	}
}
