package swap

import (
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lp"
)

// TestPaidTrustedBTCIsNotOfferedAgain asks nobody to pay while the provider, Bitcoin or the
// record knows of a payment: the provider may see it before our Bitcoin node does.
func TestPaidTrustedBTCIsNotOfferedAgain(t *testing.T) {
	f := newTrustedFromBTC()
	silentNow := func(in *Decision) { in.Obs.Received = failed[[]*bitcoin.Tx](nil) }
	without := changes{
		"the quote has ended":                          func(in *Decision) { in.Now = in.R.Expiry.Time() },
		"a payment was seen":                           func(in *Decision) { in.R.Bitcoin.TxID = bitcoin.Hash{1} },
		"a payment is under way":                       func(in *Decision) { in.R.Submission = &Submission{PSBT: bitcoin.Hash{9}, Since: At(in.Now)} },
		"the provider spoke of it, and nobody answers": all(silentNow, func(in *Decision) { in.R.Gas.Paid = true }),
	}
	for _, code := range []int{lp.CodeGasReceived, lp.CodeGasPending, lp.CodeGasSent, lp.CodeDone} {
		without["Bitcoin is silent, and the provider says "+codeName(code)] = all(silentNow, says(code))
		without["Bitcoin does not show what the provider says is "+codeName(code)] = all(receives(), says(code))
	}
	with := changes{
		"Bitcoin is silent":                     silentNow,
		"the provider is silent":                lpSilent,
		"a payment that was seen has vanished":  all(receives(), func(in *Decision) { in.R.Gas.Paid = true }),
		"the provider knows better than before": all(silentNow, says(lp.CodeGasUnpaid), func(in *Decision) { in.R.Gas.Paid = true }),
	}
	t.Run("shown", func(t *testing.T) {
		offers := func(in Decision) bool { _, pay := f.View(in).Action.(*Pay); return pay }
		needs(t, trustedBTCPass(TrustedBTCCreated), offers, without)
		allows(t, trustedBTCPass(TrustedBTCCreated), offers, with)
	})
	t.Run("handed in", func(t *testing.T) {
		pass := submits(trustedBTCPass(TrustedBTCCreated), Submit{Action: ActionFund, PSBT: psbtOf()})
		needs(t, pass, takesRow(f, "the user signed the payment"), without)
		allows(t, pass, takesRow(f, "the user signed the payment"), with)
	})
}

func codeName(code int) string {
	return map[int]string{lp.CodeGasReceived: "seen", lp.CodeGasPending: "accepted", lp.CodeGasSent: "being paid out", lp.CodeDone: "paid out"}[code]
}
