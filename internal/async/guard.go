package async

import "github.com/swapper-go/swapper/fault"

// Guard calls fn, and turns a panic into an error with fault.Internal: what others sent
// and no check foresaw must not end the process.
func Guard(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.New(fault.Internal, "internal error while handling a response: %v", p)
		}
	}()
	return fn()
}
