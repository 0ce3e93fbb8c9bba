package chainio

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/watchtower"
)

// taker notes what it was handed, and answers with err.
type taker struct {
	err  error
	took []any
}

func (k *taker) take(what any) error {
	k.took = append(k.took, what)
	return k.err
}

func (k *taker) Publish(_ context.Context, m watchtower.Message) error     { return k.take(m) }
func (k *taker) Withdraw(_ context.Context, w watchtower.Withdrawal) error { return k.take(w) }
func (k *taker) Prove(_ context.Context, p watchtower.Payment) error       { return k.take(p) }

// The preimage goes to the claimer and to the watchtowers of others, and is not lost if one of
// them fails. Only a claimer that has kept nothing, with nobody else, leaves it secret.
func TestPreimagesGoToTheClaimer(t *testing.T) {
	silent, unknown := errors.New("no answer"), fault.Invalid("escrow", "is of none of the chains")
	r := &swap.Record{Head: swap.Head{Type: swap.FromBTCLNAuto, Chain: "CITREA"}, Escrow: &swap.EscrowPart{Real: &chains.Escrow{Data: json.RawMessage(`{}`)}}, Lightning: &swap.LightningPart{Preimage: chains.Preimage{1}}}
	for name, c := range map[string]struct {
		claimer, messenger *taker
		done, refused      bool
	}{
		"claimer alone":                         {&taker{}, nil, true, false},
		"claimer alone, silent":                 {&taker{err: silent}, nil, false, false},
		"claimer alone, on other chains":        {&taker{err: unknown}, nil, false, true},
		"both":                                  {&taker{}, &taker{}, true, false},
		"claimer silent":                        {&taker{err: silent}, &taker{}, true, false},
		"messenger silent":                      {&taker{}, &taker{err: silent}, true, false},
		"claimer on other chains, nobody hears": {&taker{err: unknown}, &taker{err: silent}, false, false},
		"messenger alone, silent":               {nil, &taker{err: silent}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			var p Executor
			if c.claimer != nil {
				p.Claimer = c.claimer
			}
			if c.messenger != nil {
				p.Messenger = c.messenger
			}
			o := p.Execute(t.Context(), r, swap.Effect{Kind: swap.Publish})
			if o.Done != c.done || o.Refused != c.refused {
				t.Errorf("done %t, refused %t, want %t, %t: %s", o.Done, o.Refused, c.done, c.refused, o.Reason)
			}
			want := []any{watchtower.Message{Chain: "CITREA", Escrow: json.RawMessage(`{}`), Preimage: chains.Preimage{1}}}
			for _, k := range []*taker{c.claimer, c.messenger} {
				if k == nil {
					continue
				}
				if d := cmp.Diff(want, k.took); d != "" {
					t.Errorf("handed over (-want +got):\n%s", d)
				}
			}
		})
	}
}

// What Bitcoin has confirmed is handed over with all that its claim needs.
func TestConfirmedPaymentsGoToTheClaimer(t *testing.T) {
	paid := &swap.BitcoinPart{TxID: bitcoin.Hash{7}, Vout: 2, Sats: 1000, Script: []byte{0x51}, Confirmations: 3}
	for name, c := range map[string]struct {
		record *swap.Record
		err    error
		want   any
	}{
		"withdrawal": {&swap.Record{Head: swap.Head{Type: swap.SPVFromBTC, Chain: "CITREA", Contract: "v2", From: 9}, Bitcoin: paid, Vault: &swap.VaultPart{Owner: "0x1", VaultID: big.NewInt(5)}}, nil,
			watchtower.Withdrawal{Chain: "CITREA", Version: "v2", Owner: "0x1", ID: big.NewInt(5), TxID: bitcoin.Hash{7}, From: 9}},
		"payment": {&swap.Record{Head: swap.Head{Type: swap.FromBTC, Chain: "SOLANA"}, Bitcoin: paid, Escrow: &swap.EscrowPart{Real: &chains.Escrow{Data: json.RawMessage(`{}`)}}}, nil,
			watchtower.Payment{Chain: "SOLANA", Escrow: json.RawMessage(`{}`), TxID: bitcoin.Hash{7}, Vout: 2, Condition: chains.Condition{Kind: chains.Onchain, Script: []byte{0x51}, Sats: 1000, Confirmations: 3}}},
		"silent": {&swap.Record{Head: swap.Head{Type: swap.SPVFromBTC}, Bitcoin: paid, Vault: &swap.VaultPart{}}, errors.New("no answer"), watchtower.Withdrawal{TxID: bitcoin.Hash{7}}},
	} {
		t.Run(name, func(t *testing.T) {
			k := &taker{err: c.err}
			o := (&Executor{Claimer: k}).Execute(t.Context(), c.record, swap.Effect{Kind: swap.HandOver})
			if o.Done != (c.err == nil) || o.Refused {
				t.Errorf("done %t, refused %t: %s", o.Done, o.Refused, o.Reason)
			}
			if d := cmp.Diff([]any{c.want}, k.took, cmp.Comparer(func(a, b *big.Int) bool { return a == b || a != nil && b != nil && a.Cmp(b) == 0 })); d != "" {
				t.Errorf("handed over (-want +got):\n%s", d)
			}
		})
	}
}
