package wire

import (
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/trial"
)

// What has become too late may be asked for anew; what is wrong stays wrong, as what an LP
// signed for another escrow, chain, contract or party is.
func TestOnlyWhatIsOverIsLate(t *testing.T) {
	n, d := presetOf(t, "CITREA/MAINNET"), deploymentOf(t, "CITREA/MAINNET")
	now := time.Unix(1_760_000_000, 0)
	s := payInSwap(t, d, common.HexToAddress("0x1000000000000000000000000000000000000001"))
	s.Claimer = addressOf(t, userKey)
	init := func(s SwapData, timeout int64) chains.Auth {
		digest := trial.Must(n.InitDigest(d, s, timeout))(t)
		return chains.Auth{Prefix: prefixInitPayIn, Timeout: timeout, Signature: sign(t, userKey, digest)}
	}
	refund := func(timeout int64) chains.Auth {
		digest := trial.Must(n.RefundDigest(d, s, timeout))(t)
		return chains.Auth{Prefix: prefixRefund, Timeout: timeout, Signature: sign(t, userKey, digest)}
	}
	long := now.Unix() + 600
	good, forged, renamed := init(s, long), init(s, long), init(s, long)
	forged.Timeout++
	renamed.Prefix = prefixInit
	badRefund := refund(long)
	badRefund.Timeout++
	otherDeployment, otherNetwork := deploymentOf(t, "CITREA/TESTNET4"), presetOf(t, "BOTANIX/MAINNET")
	handled, fewer, acting := s, s, s
	handled.ClaimHandler, fewer.Amount, acting.SuccessAction = common.HexToAddress("0x02"), big.NewInt(1), common.Hash{1}
	over := time.Unix(s.Expiry()+1, 0).Add(chains.RefundGrace) // as whoever pays in counts
	for name, c := range map[string]struct {
		err        error
		good, late bool
	}{
		"good":                         {err: n.VerifyInit(d, s, good, s.Offerer, now, now.Unix()), good: true},
		"forged":                       {err: n.VerifyInit(d, s, forged, s.Offerer, now, now.Unix())},
		"for something else":           {err: n.VerifyInit(d, s, renamed, s.Offerer, now, now.Unix())},
		"a stranger's":                 {err: n.VerifyInit(d, s, good, common.Address{9}, now, now.Unix())},
		"of another contract":          {err: n.VerifyInit(otherDeployment, s, good, s.Offerer, now, now.Unix())},
		"of another chain":             {err: otherNetwork.VerifyInit(d, s, good, s.Offerer, now, now.Unix())},
		"with another handler":         {err: n.VerifyInit(d, handled, good, s.Offerer, now, now.Unix())},
		"for another amount":           {err: n.VerifyInit(d, fewer, good, s.Offerer, now, now.Unix())},
		"a call after the claim":       {err: n.VerifyInit(d, acting, init(acting, long), s.Offerer, now, now.Unix())}, // signed by the right LP, and yet
		"the LP as sender":             {err: n.VerifyInit(d, s, good, s.Claimer, now, now.Unix())},
		"an opening's for a refund":    {err: n.VerifyRefund(d, s, chains.Auth{Prefix: prefixRefund, Timeout: long, Signature: good.Signature}, now)},
		"nobody's":                     {err: n.VerifyData(common.Address{}, nil, good.Signature)},
		"over":                         {err: n.VerifyInit(d, s, init(s, now.Unix()-1), s.Offerer, now, now.Unix()), late: true},
		"over by the chain's time":     {err: n.VerifyInit(d, s, good, s.Offerer, now, long+1), late: true},
		"an escrow that expired":       {err: n.VerifyInit(d, s, init(s, over.Unix()+600), s.Offerer, over, over.Unix()), late: true},
		"a good refund":                {err: n.VerifyRefund(d, s, refund(long), now), good: true},
		"a forged refund":              {err: n.VerifyRefund(d, s, badRefund, now)},
		"a refund for something else":  {err: n.VerifyRefund(d, s, good, now)},
		"a refund that is over":        {err: n.VerifyRefund(d, s, refund(now.Unix()-1), now), late: true},
		"a signature that is none":     {err: n.VerifyData(s.Claimer, []byte("x"), "0x00")},
		"a signature by somebody else": {err: n.VerifyData(s.Claimer, []byte("x"), good.Signature)},
	} {
		var e *chains.AuthError
		if c.good {
			if c.err != nil {
				t.Errorf("%s: %v", name, c.err)
			}
		} else if !errors.As(c.err, &e) || e.Late != c.late {
			t.Errorf("%s: %v, want a refusal that is late: %v", name, c.err, c.late)
		}
	}
}
