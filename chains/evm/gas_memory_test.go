package evm

import (
	"errors"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

// What a node estimates within the protocol's constant serves calls alike of the same
// sender for a while. What is beyond it, what fails and what is like no other call is
// asked for again.
func TestGasIsEstimatedWhereTheTableDoesNotReach(t *testing.T) {
	t.Parallel()
	sender, other := common.Address{1}, common.Address{2}
	like := wire.Alike{Method: "initialize", Len: 700}
	call := wire.Call{Gas: 66_000, Alike: like}
	for name, c := range map[string]struct {
		gas    uint64
		failed error
		noted  wire.Call
		asked  wire.Call
		sender common.Address
		after  time.Duration
		ask    bool
		known  uint64
	}{
		"within the constant":        {60_000, nil, call, call, sender, 0, false, 60_000},
		"at the constant":            {66_000, nil, call, call, sender, gasMeasured - 1, false, 66_000},
		"long ago":                   {60_000, nil, call, call, sender, gasMeasured, true, 0},
		"by a clock that went back":  {60_000, nil, call, call, sender, -time.Second, true, 0},
		"beyond the constant":        {66_001, nil, call, call, sender, 0, true, 0},
		"another sender":             {60_000, nil, call, call, other, 0, true, 0},
		"another call":               {60_000, nil, call, wire.Call{Gas: 66_000, Alike: wire.Alike{Method: "refund", Len: 700}}, sender, 0, true, 0},
		"another length":             {60_000, nil, call, wire.Call{Gas: 66_000, Alike: wire.Alike{Method: "initialize", Len: 732}}, sender, 0, true, 0},
		"like no other":              {60_000, nil, wire.Call{Gas: 66_000}, wire.Call{Gas: 66_000}, sender, 0, true, 0},
		"failed a moment ago":        {0, errors.New("reverted"), call, call, sender, gasUnknown - 1, false, 0},
		"failed a while ago":         {0, errors.New("reverted"), call, call, sender, gasUnknown, true, 0},
		"failed, whatever it says":   {50_000, errors.New("reverted"), call, call, sender, 0, false, 0},
		"more than any block allows": {1 << 62, nil, wire.Call{Gas: 66_000, Alike: like}, call, sender, 0, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(1_700_000_000, 0)
			ch := &chain{env: chains.Env{Now: func() time.Time { return now }}, gas: bounds.NewCache[gasKey, measured](16)}
			if ask, known := ch.estimates([]wire.Call{c.asked}, sender); len(ask) != 1 || len(known) != 0 {
				t.Fatalf("at first: %d questions, %v", len(ask), known)
			}
			want := min(c.gas, wire.MaxGas)
			if c.failed != nil {
				want = 0
			}
			if got := ch.noteGas(sender, c.noted, c.gas, c.failed); got != want {
				t.Errorf("noted %d, want %d", got, want)
			}
			now = now.Add(c.after)
			ask, known := ch.estimates([]wire.Call{c.asked}, c.sender)
			if (len(ask) == 1) != c.ask || known[0] != c.known {
				t.Errorf("%d questions, %v", len(ask), known)
			}
		})
	}
}
