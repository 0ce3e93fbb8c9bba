package lp

import (
	"context"
	"encoding/json"
	"math/big"
	"time"

	"github.com/swapper-go/swapper/chains"
)

const (
	fromBTCConfirmations = 2
	fromBTCEscrowTime    = 72 * blockTime / safetyFactor // seconds
	depositAPY           = 200_000                       // millionths a year of what is locked
)

// fromBTC is a legacy swap from Bitcoin to the chain, whose escrow the user opens
// (protocol: lp-protocol.md §8.4). Whoever proves the payment takes it.
type fromBTC struct {
	side *side
	swap chains.Escrow
	auth chains.Auth

	// Under the LP's mutex:
	state state
}

func (d *fromBTC) escrow() (*side, chains.Escrow, bool) { return d.side, d.swap, true }
func (d *fromBTC) underWay() bool                       { return d.state == committed }

// legacySide finds the chain of a request for a legacy swap, whose deposit is made
// in the native token.
func (l *LP) legacySide(r *reader) (*side, error) {
	s, err := l.side(r)
	if err != nil {
		return nil, err
	}
	text, _ := r.query("depositToken")
	if token, err := s.parseToken(text); err != nil || token != s.native() {
		return nil, refuse(20190, "Unsupported deposit token")
	}
	return s, nil
}

func (l *LP) quoteFromBTC(r *reader, early func(object) error) (any, error) {
	s, err := l.legacySide(r)
	if err != nil {
		return nil, err
	}
	recipient, amount, token := r.address(s, "address"), r.amount("amount"), r.token(s, "token")
	exactOut, number := r.bool("exactOut"), r.big("sequence")
	if r.err != nil {
		return nil, r.err
	}
	price, ok := s.price(token)
	switch {
	case number.Sign() < 0 || number.BitLen() > 64:
		return nil, refuse(20060, "Invalid sequence")
	case !ok:
		return nil, badBody("token")
	}
	if err := l.admit(r, s, busy[*fromBTC](l)); err != nil {
		return nil, err
	}
	if err := foretell(r, s, early); err != nil {
		return nil, err
	}
	q, err := l.terms("FROM_BTC").receipt(price, !exactOut, amount, nil, nil, l.o.Next)
	if err != nil {
		return nil, err
	}
	if err := covers(r.ctx, s, token, q.total); err != nil {
		return nil, err
	}
	bounty, err := r.bounty()
	if err != nil {
		return nil, err
	}
	feeRate, err := r.feeRate()
	if err != nil {
		return nil, err
	}
	wallet, err := l.purse()
	if err != nil {
		return nil, err
	}
	until := l.now().Unix() + fromBTCEscrowTime
	d := &fromBTC{side: s}
	d.swap, err = newEscrow(s, chains.Spec{Kind: chains.Onchain, Offerer: s.address(), Claimer: recipient, Token: token, Amount: q.total,
		Condition: chains.Condition{Kind: chains.Onchain, Script: wallet.Address.Script(), Sats: q.amount.Uint64(), Confirmations: fromBTCConfirmations},
		Sequence:  number, Expiry: until, PayOut: true, Hints: true, DepositToken: s.native(),
		SecurityDeposit: l.securityDeposit(s, q, fromBTCEscrowTime), ClaimerBounty: bounty.Until(until)}, l.faults().Escrow)
	if err != nil {
		return nil, err
	}
	if d.auth, err = l.authorizeInit(r.ctx, s, d.swap, feeRate); err != nil {
		return nil, err
	}
	l.keep(d, "frombtc/"+dealKey(d.swap.Hash, number))
	return append(object{{"amount", q.amount.String()}, {"btcAddress", wallet.Address.String()}, {"address", s.address()}, {"swapFee", q.swapFeeTok.String()},
		{"total", q.total.String()}, {"confirmations", fromBTCConfirmations}, {"data", d.swap.Data}}, authFields(d.auth)...), nil
}

// securityDeposit is what a user puts in who opens an escrow of the LP's.
func (l *LP) securityDeposit(s *side, q receipt, seconds int64) *big.Int {
	native, _ := s.price(s.native())
	twice := new(big.Int).Lsh(s.refundCost(), 1)
	return SecurityDeposit(native, twice, nil, q.amount, q.swapFee, depositAPY, seconds)
}

// covers refuses an amount that the LP has not in the contracts.
func covers(ctx context.Context, s *side, token string, amount *big.Int) error {
	funds, err := s.funds(ctx, token)
	if err == nil && funds.Cmp(amount) < 0 {
		err = refuse(20002, "Not enough liquidity")
	}
	return err
}

// bounty reads how the reward of a watchtower is reckoned.
func (r *reader) bounty() (b Bounty, err error) {
	raw, err := r.wait("claimerBounty")
	if err != nil {
		return b, err
	}
	var values map[string]json.RawMessage
	bad := refuse(20043, "Invalid request body (claimerBounty)")
	if isNull(raw) || json.Unmarshal(raw, &values) != nil {
		return b, bad
	}
	start := new(big.Int)
	for name, to := range map[string]**big.Int{"feePerBlock": &b.FeePerBlock, "safetyFactor": &b.SafetyFactor, "addBlock": &b.AddBlock, "addFee": &b.AddFee, "startTimestamp": &start} {
		v, ok := parseBig(values[name])
		if !ok || v.Sign() < 0 || v.BitLen() > 128 {
			return b, bad
		}
		*to = v
	}
	if !start.IsInt64() {
		return b, bad
	}
	b.Start = start.Int64()
	return b, nil
}

// step takes the escrow back once its time has ended, whoever has paid by then: only
// who claims before that is safe.
func (d *fromBTC) step(ctx context.Context, l *LP, fact *chains.EscrowFact) (done bool, err error) {
	switch fact.State {
	case chains.EscrowClaimed:
		return true, l.set(func() { d.state = claimed })
	case chains.EscrowRefunded:
		return true, l.set(func() { d.state = refunded })
	case chains.EscrowNone:
		if fact.Head.Time > d.auth.Timeout {
			return true, l.set(func() { d.state = over })
		}
		return false, l.set(func() { d.state = saved })
	}
	_ = l.set(func() { d.state = committed })
	if fact.Head.Time > d.swap.Expiry && !l.faults().NeverRefund {
		return false, d.side.refund(ctx, d.swap, time.Unix(fact.Head.Time, 0))
	}
	return false, nil
}
