package solana

import (
	"context"
	"errors"
	"slices"

	"github.com/swapper-go/swapper/internal/solana/rpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// RelayTip takes one round trip. With several nodes it is what most of them say, the
// higher of two: watchtowers are paid for what the relay lacks.
func (k *contract) RelayTip(ctx context.Context) (uint32, error) {
	if c := k.chain; c.nodes != nil && c.nodes.Several() {
		var tips []uint32
		ask := func() []rpc.Request {
			return []rpc.Request{rpc.AccountsRequest([]wire.Key{k.RelayState()}, rpc.Confirmed, new(rpc.Accounts))}
		}
		err := c.nodes.Each(ctx, ask, func(r []rpc.Request) {
			if r[0].Err != nil {
				return
			}
			all := r[0].Result.(*rpc.Accounts).All
			if len(all) != 1 || all[0] == nil || all[0].Owner != k.Relay {
				return
			}
			if state, err := wire.DecodeRelayState(all[0].Data); err == nil {
				tips = append(tips, state.Height)
			}
		})
		if err == nil && len(tips) > 0 {
			slices.Sort(tips)
			return tips[len(tips)/2], nil
		}
	}
	state, err := k.reader.Relay(ctx)
	if errors.Is(err, wire.ErrAbsent) {
		err = errors.New("the Bitcoin relay on Solana is not initialised")
	}
	if err != nil {
		return 0, err
	}
	return state.Height, nil
}
