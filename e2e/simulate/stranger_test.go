package simulate

import (
	"context"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/control"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
)

// stranger knows the ids of everybody's swaps and does there what anybody may: claims, takes back, pays,
// posts, and hands in what belongs elsewhere.
type stranger struct {
	control.Wallet
	w *world
	r *rand.Rand
}

func (w *world) newStranger(ctx context.Context) (*stranger, error) {
	s := &stranger{w: w, r: rand.New(rand.NewPCG(w.plan.seed, 900))}
	for _, g := range w.lands {
		if err := g.equip(ctx, &s.Wallet); err != nil {
			return nil, err
		}
	}
	var err error
	if s.Lightning, err = w.net.Lightning.NewNode("stranger", startSats); err != nil {
		return nil, err
	}
	if s.Bitcoin, err = w.net.Bitcoin.NewWallet(bitcoin.P2WPKH); err != nil {
		return nil, err
	}
	_, err = w.net.Bitcoin.Fund(s.Bitcoin.Address, startSats)
	return s, err
}

// live is the stranger's time.
func (s *stranger) live(ctx context.Context) {
	if s.w.plan.meddling == 0 {
		return
	}
	for ctx.Err() == nil {
		sleep(ctx, time.Duration(s.r.Int64N(int64(2*s.w.plan.meddling))).Round(time.Millisecond))
		u := s.w.users[s.r.IntN(len(s.w.users))]
		u.mu.Lock()
		id := u.id
		u.mu.Unlock()
		if p, err := s.w.any(s.r.IntN(2)); err == nil && id != "" {
			within, cancel := context.WithTimeout(ctx, time.Minute)
			s.meddle(within, p, u, id)
			cancel()
		}
	}
}

// meddle does something about another's swap.
func (s *stranger) meddle(ctx context.Context, p *process, u *user, id string) {
	kind := u.order.kind
	if strings.HasPrefix(kind, "TO_BTCLN") && strings.HasPrefix(u.in.DstAddress, "ln") && !strings.HasSuffix(kind, "link") && s.r.IntN(12) == 0 {
		if before := u.shop.BalanceMsat(); s.Lightning.Start(u.in.DstAddress, lightning.Limits{}) == nil {
			s.w.note("the stranger pays the shop of user %d", u.n)
			sleep(ctx, time.Second)
			u.mu.Lock()
			u.gift += u.shop.BalanceMsat() - before
			u.mu.Unlock()
		}
		return
	}
	in := swapper.GetSwapStatusInput{SwapID: id, Signer: u.land.address(&s.Wallet), BitcoinAddress: s.Bitcoin.Address.String(), BitcoinPublicKey: s.Bitcoin.PublicKey()}
	status, err := p.client.GetSwapStatus(ctx, in)
	if err != nil {
		return
	}
	s.Swaps = p.client
	switch a := status.CurrentAction.(type) {
	case *swapper.SignSmartChainTransaction:
		if s.r.IntN(6) == 0 { // what is signed for another swap
			other := s.w.users[s.r.IntN(len(s.w.users))]
			if other != u && other.id != "" && other.land.chain() == u.land.chain() {
				id = other.id
			}
		}
		if a.RequiredSigner != in.Signer {
			return
		}
	case *swapper.SignPSBT:
		if len(a.Funded) == 0 || s.r.IntN(3) > 0 {
			return
		}
	case *swapper.SendToAddress:
		if s.r.IntN(3) > 0 {
			return
		}
	default:
		return
	}
	err = s.Do(ctx, id, status.CurrentAction)
	s.w.note("the stranger does %s for user %d: %v", status.CurrentAction.Type(), u.n, err)
}
