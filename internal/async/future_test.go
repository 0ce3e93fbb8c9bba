package async

import (
	"context"
	"testing"

	"github.com/swapper-go/swapper/fault"
)

func TestFutureOfAPanic(t *testing.T) {
	f := Start(t.Context(), func(context.Context) (int, error) { panic("unreadable") })
	if _, err := f.Wait(t.Context()); fault.CodeOf(err) != fault.Internal {
		t.Errorf("got %v, want an internal error", err)
	}
}
