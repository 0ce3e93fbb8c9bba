package flight

import "github.com/swapper-go/swapper/fault"

// Guard turns a panic over what somebody else said into an error.
func Guard(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.New(fault.Internal, "the response could not be decoded: %v", p)
		}
	}()
	return call()
}
