package wire

import (
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/must"
)

// Each tolerance is for its own members and in its own direction only.
func TestDiffToleratesOnlyWhatIsNamed(t *testing.T) {
	d := deploymentOf(t, "CITREA/MAINNET")
	want := payInSwap(t, d, addressOf(t, userKey))
	want.SecurityDeposit, want.ClaimerBounty = big.NewInt(100), big.NewInt(100)
	members := map[string]func(s *SwapData) **big.Int{
		"sequence":        func(s *SwapData) **big.Int { return &s.Sequence },
		"amount":          func(s *SwapData) **big.Int { return &s.Amount },
		"securityDeposit": func(s *SwapData) **big.Int { return &s.SecurityDeposit },
		"claimerBounty":   func(s *SwapData) **big.Int { return &s.ClaimerBounty },
	}
	type change struct {
		member string
		by     int64
	}
	tolerated := map[chains.Tolerance]map[change]bool{
		chains.Tolerance{AnySequence: true}:    {{"sequence", -1}: true, {"sequence", 1}: true},
		chains.Tolerance{AtLeastAmount: true}:  {{"amount", 1}: true},
		chains.Tolerance{AtMostDeposits: true}: {{"securityDeposit", -1}: true, {"claimerBounty", -1}: true},
		chains.Tolerance{AnyExpiry: true}:      {},
		chains.Tolerance{AnyExtraData: true}:   {},
	}
	for member, of := range members {
		for _, by := range []int64{-1, 1} {
			got := want
			n := of(&got)
			*n = new(big.Int).Add(*n, big.NewInt(by))
			var diff *chains.DiffError
			if err := Diff(want, got, chains.Tolerance{}); !errors.As(err, &diff) || diff.Member != member {
				t.Errorf("%s %+d with no tolerance: %v", member, by, err)
			}
			for may, of := range tolerated {
				err := Diff(want, got, may)
				if of[change{member, by}] {
					if err != nil {
						t.Errorf("%s %+d with %v: %v", member, by, may, err)
					}
				} else if !errors.As(err, &diff) || diff.Member != member {
					t.Errorf("%s %+d with %v: %v, want a difference", member, by, may, err)
				}
			}
		}
	}
	if err := Diff(want, want, chains.Tolerance{}); err != nil {
		t.Errorf("an escrow differs from itself: %v", err)
	}
}

// What has become too late may be asked for anew; what is wrong stays wrong.
func TestOnlyWhatIsOverIsLate(t *testing.T) {
	n, d := presetOf(t, "CITREA/MAINNET"), deploymentOf(t, "CITREA/MAINNET")
	now := time.Unix(1_760_000_000, 0)
	s := payInSwap(t, d, common.HexToAddress("0x1000000000000000000000000000000000000001"))
	s.Claimer = addressOf(t, userKey)
	init := func(s SwapData, timeout int64) chains.Auth {
		digest := must.Get(n.InitDigest(d, s, timeout))(t)
		return chains.Auth{Prefix: prefixInitPayIn, Timeout: timeout, Signature: sign(t, userKey, digest)}
	}
	refund := func(timeout int64) chains.Auth {
		digest := must.Get(n.RefundDigest(d, s, timeout))(t)
		return chains.Auth{Prefix: prefixRefund, Timeout: timeout, Signature: sign(t, userKey, digest)}
	}
	long := now.Unix() + 600
	good, forged, renamed := init(s, long), init(s, long), init(s, long)
	forged.Timeout++
	renamed.Prefix = prefixInit
	badRefund := refund(long)
	badRefund.Timeout++
	over := time.Unix(s.Expiry()+1, 0).Add(chains.RefundGrace) // as whoever pays in counts
	for name, c := range map[string]struct {
		err        error
		good, late bool
	}{
		"good":                         {err: n.VerifyInit(d, s, good, s.Offerer, now, now.Unix()), good: true},
		"forged":                       {err: n.VerifyInit(d, s, forged, s.Offerer, now, now.Unix())},
		"for something else":           {err: n.VerifyInit(d, s, renamed, s.Offerer, now, now.Unix())},
		"a stranger's":                 {err: n.VerifyInit(d, s, good, common.Address{9}, now, now.Unix())},
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
