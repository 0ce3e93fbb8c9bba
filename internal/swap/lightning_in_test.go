package swap

import (
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
)

// A clock that is hours ahead for one look gives a swap up whose invoice can still be
// paid. Its provider is asked on, or else nobody would notice the payment, which the
// user of FROM_BTCLN alone can turn into tokens.
func TestProviderIsAskedWhileAPaymentCanArrive(t *testing.T) {
	for _, f := range []*Flow{newFromBTCLN(), newFromBTCLNAuto()} {
		in := autoPass(LnCreated, chains.EscrowFact{})()
		in.R.Type, in.Obs = f.Type, &Observation{}
		in.Now = noon.Add(3 * time.Hour)
		for range 3 {
			in.R, _ = f.Step(in)
		}
		if in.R.State != LnExpired {
			t.Fatalf("%s: state %d", f.Type, in.R.State)
		}
		if in.Now = noon; f.Ask(in).LP == nil {
			t.Errorf("%s: the provider is not asked any more", f.Type)
		}
		if in.Now = noon.Add(3 * time.Hour); f.Ask(in).LP != nil {
			t.Errorf("%s: the provider is asked though no payment can arrive", f.Type)
		}
	}
}
