package wire

import (
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/trial"
)

// An authorisation is checked for every quote that is shown.
func BenchmarkVerifyInit(b *testing.B) {
	lpKey, lp := wallet(200)
	_, user := wallet(1)
	d := trial.Must(firstV1.NewSwapData(Spec{Offerer: user, Claimer: lp, Token: WSOL, Amount: 5000, Expiry: 2_000_000_000, PayIn: true, DepositToken: WSOL}))(b)
	f := FeeRate{Price: 8000, Wrap: &Wrap{Create: true}}
	auth := trial.Must(signInit(firstV1, d, lpKey, user, 1_999_999_000, f, 5, Hash{8}))(b).Auth()
	now := time.Unix(1_999_998_000, 0)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := firstV1.CheckInit(d, user, auth.Prefix, auth.Timeout, now); err != nil {
			b.Fatal(err)
		}
		a := trial.Must(ParseInitAuth(auth))(b)
		trial.Do(b, firstV1.VerifyInit(d, user, a, f, Hash{8}))
	}
}
