package settle

import (
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
)

func TestCanInit(t *testing.T) {
	for state, ok := range map[chains.EscrowState]bool{chains.EscrowNone: true, chains.EscrowOpen: false, chains.EscrowClaimed: false, chains.EscrowRefunded: false} {
		if err := CanInit(state); (err == nil) != ok || !ok && fault.CodeOf(err) != fault.InvalidState {
			t.Errorf("%s: %v", state, err)
		}
	}
}
