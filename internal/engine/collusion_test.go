package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// colluding are two nodes of which the first, which is asked by default, says what the
// provider wants. Questions to both are answered by neither while they differ.
type colluding struct {
	*liar        // the honest node
	lie   *truth // nil: the first node is honest
}

func (w *colluding) liarNode() *liar {
	lying := *w.liar
	lying.truth = w.lie
	return &lying
}

func (w *colluding) Escrow(ctx context.Context, chain, contract string, q chains.EscrowQuery) (chains.EscrowFact, error) {
	truth, _ := w.liar.Escrow(ctx, chain, contract, q)
	if w.lie == nil {
		truth.Unsettled, truth.Final = !q.Settled, truth.Final && q.Settled
		return truth, nil
	}
	said, _ := w.liarNode().Escrow(ctx, chain, contract, q)
	if !q.Settled {
		said.Unsettled, said.Final = true, false
		return said, nil
	}
	if truth.State != said.State {
		return chains.EscrowFact{}, &chains.ContradictionError{About: "the escrow", Open: truth.State == chains.EscrowOpen || said.State == chains.EscrowOpen}
	}
	return truth, nil
}

func (w *colluding) Vault(ctx context.Context, chain, contract string, q chains.VaultID) (chains.VaultFact, error) {
	truth, _ := w.liar.Vault(ctx, chain, contract, q)
	if w.lie == nil {
		return truth, nil
	}
	said, _ := w.liarNode().Vault(ctx, chain, contract, q)
	if truth.Vault.Open != said.Vault.Open {
		return chains.VaultFact{}, &chains.ContradictionError{About: "the vault"}
	}
	return truth, nil
}

func (w *colluding) Withdrawal(ctx context.Context, chain, contract string, q chains.WithdrawalQuery) (chains.WithdrawalFact, error) {
	truth, _ := w.liar.Withdrawal(ctx, chain, contract, q)
	if w.lie == nil {
		truth.Unsettled, truth.Final = !q.Settled, truth.Final && q.Settled
		return truth, nil
	}
	said, _ := w.liarNode().Withdrawal(ctx, chain, contract, q)
	if !q.Settled {
		said.Unsettled, said.Final = true, false
		return said, nil
	}
	if truth.State != said.State {
		return chains.WithdrawalFact{}, &chains.ContradictionError{About: "the withdrawal"}
	}
	return truth, nil
}

// One of two nodes says for a day whatever the provider likes of a swap, in every state of
// every type: no end is shown that is not the truth, nobody stops looking, no preimage
// leaves, and afterwards the facts lead to where they belong.
func TestOneOfTwoNodesLiesForADay(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	preimage := chains.Preimage{1}
	hash := sha256.Sum256(preimage[:])
	shown := 0
	for _, c := range waysOut() {
		if c.flow.Type == swap.TrustedFromBTC || c.flow.Type == swap.TrustedFromBTCLN {
			continue // they have no contract: what the provider says decides, and payouts are asked of all nodes
		}
		for _, s := range c.flow.States {
			for _, is := range c.truths {
				for _, lie := range c.truths {
					if lie.name == is.name {
						continue
					}
					w := &colluding{liar: &liar{now: start, truth: &is}, lie: &lie}
					var sent []swap.Effect
					now := func() time.Time { return w.now }
					g := newEngine(t, Config{Reader: remembers(w, now, false), Flows: []*swap.Flow{c.flow}, Now: now,
						Executor: executorFunc(func(_ context.Context, _ *swap.Record, e swap.Effect) swap.Outcome {
							sent = append(sent, e)
							return swap.Outcome{Reason: "no answer"}
						})})
					r := c.record(s.Number, start)
					if l := r.Lightning; l != nil && c.flow.Type != swap.ToBTCLN {
						l.Preimage, l.Hash = preimage, hex.EncodeToString(hash[:])
					}
					if s.Finished {
						r.Ended = swap.At(start.Add(time.Hour))
					}
					add(t, g, r)
					look := func(after time.Duration) *swap.Record {
						w.now = start.Add(after)
						res := advance(t, g, "a", nil)
						g.Effects.Drain()
						return res.Record
					}
					name := fmt.Sprintf("%s %s, %s; the first node says that it is %s", c.flow.Type, s.Name, is.name, lie.name)
					ended := func(r *swap.Record) (row swap.StateRow) { row, _ = c.flow.State(r.State); return row }
					for _, after := range []time.Duration{80, 120, 180, 240, 600, 1440} {
						was := r.State
						r = look(after * time.Minute)
						if r.State != was && ended(r).Finished && !slices.Contains(is.want, r.State) && !slices.Contains(is.end, r.State) {
							t.Errorf("%s: %s is shown", name, ended(r).Name)
						}
						hides := is.escrow.State != chains.EscrowNone && lie.escrow.State == chains.EscrowNone || is.withdrawal.State != chains.WithdrawalNone && lie.withdrawal.State == chains.WithdrawalNone
						if hides && slices.Contains(is.want, was) && !slices.Contains(slices.Concat(is.end, is.want), r.State) {
							t.Errorf("%s: the state goes from %d to %d", name, was, r.State)
						}
						if ended(r).Finished {
							shown++
						}
						if r.Settled && !slices.Contains(append(is.want, is.end...), r.State) {
							t.Errorf("%s: it is left alone as %s", name, ended(r).Name)
						}
						for _, e := range sent {
							if (e.Reveals || e.Kind == swap.Publish) && is.escrow.State != chains.EscrowOpen {
								t.Errorf("%s: the preimage is shown", name)
							}
						}
						sent = nil
					}
					w.lie = nil
					for _, after := range []time.Duration{1450, 1500, 1560, 1620} {
						r = look(after * time.Minute)
					}
					for _, day := range []time.Duration{16, 24, 40} {
						r = look(day * 24 * time.Hour)
					}
					if want := append(slices.Clone(is.end), is.want...); !slices.Contains(want, r.State) {
						t.Errorf("%s: ends as %s", name, ended(r).Name)
					}
					g.Close()
				}
			}
		}
	}
	if shown == 0 {
		t.Error("no end was shown at all")
	}
}

// Who asks while the nodes contradict each other is told so, with a stable code, and so is
// who submits a payment.
func TestContradictionsAreShown(t *testing.T) {
	w := &toyReader{}
	w.set(chains.EscrowFact{}, &chains.ContradictionError{About: "escrow 61", Open: true})
	g := autoEngine(t, w, &toyExecutor{})
	r := openAuto("a", time.Now().Add(time.Hour))
	r.Escrow.OpenedAt = swap.At(time.Now().Add(-time.Hour))
	add(t, g, r)
	res, err := g.Advance(t.Context(), "a", nil)
	if err != nil || res.Record.State != swap.LnCommitted {
		t.Fatal(res, err)
	}
	v := g.View(res)
	if _, signs := v.Signable().(*swap.Sign); signs || fault.CodeOf(v.Blocked) != fault.Upstream {
		t.Errorf("blocked by %v, action %T", v.Blocked, v.Action)
	}
	if _, ok := errors.AsType[*chains.ContradictionError](v.Blocked); !ok {
		t.Errorf("the status does not say why: %v", v.Blocked)
	}
	refused := fault.New(fault.InvalidState, "the escrow is not open") // by the word of one of the nodes
	s := trial.Must(g.Status(t.Context(), failingBuilder{err: refused}, StatusRequest{ID: "a", Caller: anybody}))(t)
	if _, ok := errors.AsType[*chains.ContradictionError](s.Problem); !ok {
		t.Errorf("what one node says of the step is told instead: %v", s.Problem)
	}
	for _, c := range waysOut() {
		if c.flow.Type != swap.FromBTC {
			continue
		}
		w := &colluding{liar: &liar{now: time.Now(), truth: &c.truths[5]}, lie: &c.truths[2]} // it is not open; the first node says that it is
		g := toyEngine(t, new(storage.Memory), w, &toyExecutor{}, c.flow)
		add(t, g, c.record(swap.InCommitted, time.Now().Add(-time.Minute)))
		paid := swap.Submit{Action: swap.ActionFund, PSBT: &swap.SignedPSBT{}}
		if _, err := g.Advance(t.Context(), "a", paid); fault.CodeOf(err) != fault.Upstream {
			t.Errorf("a payment for an escrow about which the nodes differ: %v", err)
		} else if _, ok := errors.AsType[*chains.ContradictionError](err); !ok {
			t.Errorf("the error of the payment does not say why: %v", err)
		}
	}
}
