package evm

import (
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

// estimate is the gas of one call as the node sees it.
type estimate struct {
	call    int
	gas     *hexutil.Uint64
	request rpc.Request
}

// The constants of the protocol are the table of gas limits (protocol: chain-evm.md
// §6.1). Whether it holds for a kind of call is asked of the node: an estimate within the
// constant serves all calls alike of the same sender for a while. One beyond it is
// never remembered: there the table does not reach, and every call is estimated.
const (
	gasMeasured = 10 * time.Minute
	// An estimate that fails says nothing but that the call cannot run yet, say
	// because its sender has to be paid first. It is asked for again soon.
	gasUnknown = 20 * time.Second
)

// gasKey is what an estimate depends on.
type gasKey struct {
	sender common.Address
	alike  wire.Alike
}

// measured is an estimate, 0 for one that failed.
type measured struct {
	gas   uint64
	until time.Time
}

// estimates returns, by call, what is known of the gas of the calls that can run before
// the others, and the questions for the rest of those: the first call, and the first that
// is not an approval, in case the approvals were granted before.
func (c *chain) estimates(calls []wire.Call, sender common.Address) ([]estimate, map[int]uint64) {
	var ask []estimate
	known := map[int]uint64{}
	now := c.env.Now()
	for i, call := range calls {
		if i == 0 || call.Role != wire.RoleApproval {
			if m, ok := c.gas.Get(gasKey{sender, call.Alike}); ok && now.Before(m.until) && m.until.Sub(now) <= gasMeasured {
				known[i] = m.gas
			} else {
				gas := new(hexutil.Uint64)
				ask = append(ask, estimate{i, gas, rpc.Request{Method: "eth_estimateGas", Params: []any{map[string]any{
					"from": sender, "to": call.To, "data": hexutil.Bytes(call.Data), "value": (*hexutil.Big)(bigs.OrZero(call.Value)),
				}}, Result: gas}})
			}
		}
		if call.Role != wire.RoleApproval {
			break
		}
	}
	return ask, known
}

// noteGas returns what an estimate of a call says, 0 if it failed, and remembers it where
// it says something of other calls too.
func (c *chain) noteGas(sender common.Address, call wire.Call, gas uint64, failed error) uint64 {
	gas = min(gas, wire.MaxGas)
	life := gasMeasured
	if failed != nil {
		gas, life = 0, gasUnknown
	}
	if call.Alike != (wire.Alike{}) && gas <= call.Gas {
		c.gas.Add(gasKey{sender, call.Alike}, measured{gas, c.env.Now().Add(life)})
	}
	return gas
}
