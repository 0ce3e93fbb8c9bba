package lightning

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/trial"
)

type kit struct {
	*testing.T
	*Net
	now    atomic.Int64
	height atomic.Uint32
	a, b   *Node
}

func newKit(t *testing.T) *kit {
	k := &kit{T: t}
	k.now.Store(1_800_000_000)
	k.height.Store(110)
	k.Net = New(Options{Now: func() time.Time { return time.Unix(k.now.Load(), 0) }, Height: k.height.Load})
	k.a, k.b = k.node("a", 1000), k.node("b", 0)
	return k
}

func (k *kit) node(name string, sats int64) *Node {
	k.Helper()
	return trial.Must(k.NewNode(name, sats))(k)
}

func (k *kit) invoice(d *Node, o InvoiceOptions) string {
	k.Helper()
	return trial.Must(d.NewInvoice(o))(k)
}

func TestInvoicesAreReal(t *testing.T) {
	k := newKit(t)
	preimage, hash := Preimage("x")
	descriptionHash := [32]byte{9}
	text := k.invoice(k.b, InvoiceOptions{Preimage: preimage, AmountMsat: 12_345, DescriptionHash: &descriptionHash, Expiry: 90 * time.Second, FinalCLTV: 25, Private: true})
	inv := trial.Must(lightning.Decode(text))(t)
	if err := inv.RequireNetwork(bitcoin.Regtest); err != nil {
		t.Error(err)
	}
	if inv.PaymentHash != hash || inv.Payee != k.b.Key || *inv.AmountMsat != 12_345 || *inv.DescriptionHash != descriptionHash || inv.ExpirySeconds != 90 ||
		inv.MinFinalCLTV != 25 || inv.Timestamp != k.now.Load() || !inv.IsNonCustodial() || inv.PaymentSecret == nil {
		t.Errorf("%+v", inv)
	}
	if _, err := k.b.NewInvoice(InvoiceOptions{Preimage: preimage, AmountMsat: 1}); err == nil {
		t.Error("two invoices with one hash")
	}
	if _, err := k.NewNode("a", 1); err == nil {
		t.Error("two nodes with one key")
	}
}

func TestPayment(t *testing.T) {
	k := newKit(t)
	preimage, hash := Preimage("x")
	k.b.SetBehaviour(Behaviour{FeeBaseMsat: 1000, FeePPM: 10_000})
	text := k.invoice(k.b, InvoiceOptions{Preimage: preimage, AmountMsat: 100_000})
	few := int64(1999)
	if err := k.a.Start(text, Limits{MaxFeeMsat: &few}); err == nil {
		t.Error("a dearer route")
	}
	if err := k.a.Start(text, Limits{MaxHeight: 189}); err == nil {
		t.Error("a longer route")
	}
	p, err := k.a.Pay(t.Context(), text, Limits{})
	if err != nil || p.Preimage != preimage || p.FeeMsat != 2000 {
		t.Fatalf("%+v %v", p, err)
	}
	if k.a.BalanceMsat() != 898_000 || k.b.BalanceMsat() != 100_000 || k.TotalMsat() != 1_000_000 {
		t.Errorf("balances %d %d %d", k.a.BalanceMsat(), k.b.BalanceMsat(), k.TotalMsat())
	}
	if state, ok := k.b.Invoice(hash); !ok || state != Settled {
		t.Error(state)
	}
	if k.a.Start(text, Limits{}) == nil {
		t.Error("paid twice")
	}
}

func TestHoldInvoices(t *testing.T) {
	for _, end := range []string{"settled", "canceled", "timed out"} {
		t.Run(end, func(t *testing.T) {
			k := newKit(t)
			preimage, hash := Preimage(end)
			text := k.invoice(k.b, InvoiceOptions{Hash: hash, AmountMsat: 500_000, FinalCLTV: 20})
			trial.Do(t, k.a.Start(text, Limits{}))
			if state, _ := k.b.Invoice(hash); state != Held || k.b.BalanceMsat() != 0 || k.a.BalanceMsat() != 500_000 {
				t.Fatal(state)
			}
			if until, ok := k.b.HeldUntil(hash); !ok || until != 130 {
				t.Error(until)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
			defer cancel()
			if _, err := k.a.Wait(ctx, hash); err == nil {
				t.Error("an outcome while it is held")
			}
			want, left := Failed, int64(1_000_000)
			switch end {
			case "settled":
				want, left = Succeeded, 500_000
				for range 2 {
					if err := k.b.Settle(preimage); err != nil {
						t.Error(err)
					}
				}
				if k.b.Cancel(hash) == nil {
					t.Error("canceled what is paid")
				}
			case "canceled":
				if err := k.b.Cancel(hash); err != nil {
					t.Error(err)
				}
			case "timed out":
				k.height.Store(130)
			}
			p, err := k.a.Wait(t.Context(), hash)
			if err != nil || p.State != want || k.a.BalanceMsat() != left || k.TotalMsat() != 1_000_000 {
				t.Errorf("%+v %v, balance %d", p, err, k.a.BalanceMsat())
			}
			if want == Failed && k.b.Settle(preimage) == nil {
				t.Error("settled what is gone")
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	tests := []struct {
		name   string
		change func(k *kit, o *InvoiceOptions)
		reason string
		probe  bool // probes find a way
	}{
		{"offline", func(k *kit, _ *InvoiceOptions) { k.b.SetBehaviour(Behaviour{Offline: true}) }, "no route", false},
		{"refuses", func(k *kit, _ *InvoiceOptions) { k.b.SetBehaviour(Behaviour{Refuse: true}) }, "refused", true},
		{"expired", func(k *kit, o *InvoiceOptions) { o.Timestamp = time.Unix(k.now.Load()-4000, 0) }, "expired", true},
		{"too much", func(_ *kit, o *InvoiceOptions) { o.AmountMsat = 1_000_001 }, "not enough", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			k := newKit(t)
			preimage, _ := Preimage(test.name)
			o := InvoiceOptions{Preimage: preimage, AmountMsat: 1000}
			test.change(k, &o)
			text := k.invoice(k.b, o)
			if p, err := k.a.Probe(text, Limits{}); err != nil || (p.ConfidencePPM > 0) != test.probe {
				t.Errorf("probe %+v %v", p, err)
			}
			if _, err := k.a.Pay(t.Context(), text, Limits{}); err == nil || !strings.Contains(err.Error(), test.reason) {
				t.Errorf("got %v, want %s", err, test.reason)
			}
			if k.a.BalanceMsat() != 1_000_000 {
				t.Error("money left")
			}
		})
	}
}

func TestHangingRecipient(t *testing.T) {
	k := newKit(t)
	preimage, hash := Preimage("x")
	k.b.SetBehaviour(Behaviour{Hang: true})
	trial.Do(t, k.a.Start(k.invoice(k.b, InvoiceOptions{Preimage: preimage, AmountMsat: 1000}), Limits{}))
	if p, _ := k.a.Payment(hash); p.State != Pending {
		t.Error(p)
	}
	k.height.Store(1000)
	k.Tick()
	if p, _ := k.a.Payment(hash); p.State != Failed || k.a.BalanceMsat() != 1_000_000 {
		t.Error(p)
	}
}

// Whatever nodes do, no msat appears or vanishes, and nobody owes.
func TestMoneyIsConserved(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		k := newKit(t)
		nodes := []*Node{k.a, k.b, k.node("c", 500)}
		var hashes, preimages [][32]byte
		for i := range rapid.IntRange(1, 30).Draw(r, "steps") {
			from, to := rapid.SampledFrom(nodes).Draw(r, "from"), rapid.SampledFrom(nodes).Draw(r, "to")
			switch rapid.IntRange(0, 4).Draw(r, "what") {
			case 0, 1:
				preimage, hash := Preimage(string(rune(i)))
				hashes, preimages = append(hashes, hash), append(preimages, preimage)
				o := InvoiceOptions{Hash: hash, AmountMsat: rapid.Int64Range(1, 1_200_000).Draw(r, "amount")}
				if text, err := to.NewInvoice(o); err == nil {
					_ = from.Start(text, Limits{}) // may be refused
				}
			case 2:
				to.SetBehaviour(Behaviour{Hang: rapid.Bool().Draw(r, "hang"), FeePPM: rapid.Int64Range(0, 50_000).Draw(r, "fee")})
			case 3:
				if len(hashes) > 0 {
					at := rapid.IntRange(0, len(hashes)-1).Draw(r, "which")
					_, _ = to.Settle(preimages[at]), from.Cancel(hashes[at]) // may not be theirs
				}
			case 4:
				k.height.Add(uint32(rapid.IntRange(0, 60).Draw(r, "blocks")))
				k.Tick()
			}
			if got := k.TotalMsat(); got != 1_500_000 {
				r.Fatalf("%d msat", got)
			}
			for _, d := range nodes {
				if d.BalanceMsat() < 0 {
					r.Fatalf("%d msat", d.BalanceMsat())
				}
			}
		}
	})
}
