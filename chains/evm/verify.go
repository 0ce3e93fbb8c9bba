package evm

import (
	"context"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/settle"
)

// VerifyInit takes no round trip if the newest block was read in the last ten
// seconds, for example by FeeRate, else one. By our own clock the authorisation
// must also be valid for at least [chains.AuthGrace] longer.
func (k *contracts) VerifyInit(ctx context.Context, e chains.Escrow, auth chains.Auth, _, sender string) (time.Time, error) {
	s, err := k.memory.swapDataOf(e)
	if err != nil {
		return time.Time{}, err
	}
	if err := k.CheckSwapData(s); err != nil {
		return time.Time{}, &chains.AuthError{Reason: "is for an escrow in other contracts", Err: err}
	}
	from, err := account("signer", sender)
	if err != nil {
		return time.Time{}, err
	}
	now := k.chain.env.Now()
	blockTime, ok := k.chain.latest.Get(now)
	if !ok {
		heads, err := k.chain.Heads(ctx)
		if err != nil {
			return time.Time{}, err
		}
		now, blockTime = k.chain.env.Now(), heads.Latest.Time
	}
	if err := k.chain.net.VerifyInit(k.Deployment, s, auth, from, now, blockTime); err != nil {
		return time.Time{}, err
	}
	return time.UnixMilli(settle.AuthUsableUntil(auth, now)), nil
}

// VerifyRefund takes no round trip.
func (k *contracts) VerifyRefund(_ context.Context, e chains.Escrow, auth chains.Auth) error {
	s, err := k.memory.swapDataOf(e)
	if err != nil {
		return err
	}
	return k.chain.net.VerifyRefund(k.Deployment, s, auth, k.chain.env.Now())
}
