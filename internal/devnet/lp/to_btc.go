package lp

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"math/big"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	btc "github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// state is the state of a deal.
type state int

const (
	saved state = iota
	committed
	sending // bitcoin may leave at any moment, or has left
	sent    // bitcoin has left, or the Lightning payment has succeeded
	claimed
	nonPayable // the LP will never pay
	refunded
	over // nothing came of it
)

// outward is a swap from the chain, whose escrow the LP claims once it has paid.
type outward struct {
	side  *side
	swap  chains.Escrow
	auth  chains.Auth
	state state // under the LP's mutex
}

func (d *outward) escrow() (*side, chains.Escrow, bool) { return d.side, d.swap, true }
func (d *outward) refundable()                          {}

// follow takes note of what became of the escrow, and says where the swap was; done means that
// nothing is left to do.
func (d *outward) follow(l *LP, fact *chains.EscrowFact) (at state, done bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at = d.state
	switch {
	case fact.State == chains.EscrowClaimed && !d.side.colluding(): // else it is to be claimed once more
		d.state = claimed
	case fact.State == chains.EscrowRefunded:
		d.state = refunded
	case fact.State == chains.EscrowNone && at == saved && fact.Head.Time > d.auth.Timeout:
		d.state = over
	default:
		return at, false
	}
	return at, true
}

// toBTC is a swap from the chain to Bitcoin (protocol: lp-protocol.md §8.4).
type toBTC struct {
	outward
	script        []byte
	sats          int64
	nonce         uint64
	confirmations uint32
	target        int64
	rate          float64 // sat/vB that the quote allows

	tx *wire.MsgTx // under the LP's mutex
}

func (l *LP) quoteToBTC(r *reader, early func(object) error) (any, error) {
	s, err := l.side(r)
	if err != nil {
		return nil, err
	}
	address := r.str("address")
	amount, exactIn := r.amount("amount"), r.bool("exactIn")
	target, confirmations := r.small("confirmationTarget"), r.small("confirmations")
	nonce := r.big("nonce")
	token, offerer := r.token(s, "token"), r.address(s, "offerer")
	if r.err != nil {
		return nil, r.err
	}
	if err := l.admit(r, s, busy[*toBTC](l)); err != nil {
		return nil, err
	}
	if err := foretell(r, s, early); err != nil {
		return nil, err
	}
	feeRate, err := r.feeRate()
	if err != nil {
		return nil, err
	}
	if err := l.newerRefusal(amount, nonce, target, confirmations); err != nil {
		return nil, err
	}
	price, ok := s.price(token)
	to, err := btc.ParseAddress(address, l.btc.Network())
	switch {
	case target > 12:
		return nil, refuse(20023, "Invalid request body (confirmationTarget - too high)")
	case target < 1:
		return nil, refuse(20024, "Invalid request body (confirmationTarget - too low)")
	case confirmations > 6:
		return nil, refuse(20025, "Invalid request body (confirmations - too high)")
	case confirmations < 1:
		return nil, refuse(20026, "Invalid request body (confirmations - too low)")
	case !ok:
		return nil, badBody("token")
	case err != nil:
		return nil, refuse(20031, "Invalid request body (address - cannot be parsed)")
	}
	if err := checkNonce(nonce, l.now().Unix()); err != nil {
		return nil, err
	}
	rate := l.sendRate()
	q, err := l.terms("TO_BTC").payout(price, exactIn, amount, func(sats *big.Int) (*big.Int, error) {
		_, fee, err := l.pickCoins(to.Script(), sats.Int64(), rate)
		if err != nil {
			return nil, refuse(20002, "Not enough liquidity")
		}
		return bigInt(fee), nil
	})
	if err != nil {
		return nil, err
	}
	if q.amount.Cmp(bigInt(600)) < 0 {
		return nil, refuse(20019, "Amount too low!")
	}
	_, quoted := toBTCTime(target, confirmations)
	d := &toBTC{outward: outward{side: s}, script: to.Script(), sats: q.amount.Int64(), nonce: nonce.Uint64(), confirmations: uint32(confirmations), target: target, rate: rate}
	d.swap, err = newEscrow(s, chains.Spec{Kind: chains.OnchainNonced, Offerer: offerer, Claimer: s.address(), Token: token, Amount: q.all,
		Condition: chains.Condition{Kind: chains.OnchainNonced, Script: d.script, Sats: uint64(d.sats), Nonce: d.nonce, Confirmations: uint16(d.confirmations)},
		Sequence:  sequence(), Expiry: l.now().Unix() + quoted, PayIn: true}, l.faults().Escrow)
	if err != nil {
		return nil, err
	}
	if d.auth, err = l.authorizeInit(r.ctx, s, d.swap, feeRate); err != nil {
		return nil, err
	}
	l.keep(d, dealKey(d.swap.ClaimHash, d.swap.Sequence), dealKey(d.swap.Hash, d.swap.Sequence))
	answer := append(object{{"amount", q.amount.String()}, {"address", s.address()}}, l.rateFields(rate)...)
	answer = append(answer, object{{"networkFee", q.netTok.String()}, {"swapFee", q.swapFeeTok.String()}, {"totalFee", add(q.netTok, q.swapFeeTok).String()}, {"total", q.all.String()},
		{"minRequiredExpiry", bigInt(d.swap.Expiry).String()}, {"data", d.swap.Data}}...)
	return append(answer, authFields(d.auth)...), nil
}

// foretell tells a client early what it needs to check an authorisation.
func foretell(r *reader, s *side, early func(object) error) error {
	data, err := s.prefetch(r.ctx)
	if err != nil || data == nil {
		return err
	}
	return early(object{{"signDataPrefetch", data}})
}

// feeRate reads the fee rate of the chain, which may be missing.
func (r *reader) feeRate() (string, error) {
	raw, err := r.wait("feeRate")
	if err != nil && !errors.Is(err, errMissing) {
		return "", err
	}
	var rate string
	if !isNull(raw) && json.Unmarshal(raw, &rate) != nil {
		return "", badBody("feeRate")
	}
	return rate, nil
}

// dealKey is what clients ask for an escrow with.
func dealKey(hash []byte, sequence *big.Int) string {
	return hex.EncodeToString(hash) + "/" + sequence.String()
}

// pickCoins chooses coins of the LP's wallet for a payment.
func (l *LP) pickCoins(script []byte, sats int64, rate float64) (coins []btc.UTXO, fee int64, err error) {
	var have int64
	for _, c := range l.hot.Coins() {
		coins = append(coins, c)
		have += c.Value
		// A transaction of witness inputs, with change.
		size := 11 + 68*len(coins) + 9 + len(script) + 31
		if fee = int64(math.Ceil(float64(size) * rate)); have >= sats+fee+btc.P2WPKH.DustLimit() {
			return coins, fee, nil
		}
	}
	return nil, 0, errors.New("the LP has not enough bitcoin")
}

func (d *toBTC) step(ctx context.Context, l *LP, fact *chains.EscrowFact) (done bool, err error) {
	at, done := d.follow(l, fact)
	if fact.State != chains.EscrowOpen {
		return done, nil
	}
	switch at {
	case saved, committed:
		return false, d.pay(l)
	case sending, sent:
		return false, d.claim(ctx, l)
	}
	return at == nonPayable && fact.Head.Time > d.swap.Expiry, nil
}

// set changes a deal under the LP's mutex.
func (l *LP) set(change func()) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
	return nil
}

// pay sends the bitcoin for an open escrow, or decides never to.
func (d *toBTC) pay(l *LP) error {
	f := l.faults()
	required, _ := toBTCTime(d.target, int64(d.confirmations))
	switch {
	case f.NeverPay:
		return l.set(func() { d.state = committed })
	case f.NotPayable, d.swap.Expiry-l.now().Unix() < required, l.sendRate() > d.rate:
		return l.set(func() { d.state = nonPayable })
	}
	lockTime, seq, err := rawtx.NonceFields(d.nonce, l.now())
	if err != nil {
		return l.set(func() { d.state = nonPayable })
	}
	coins, fee, err := l.pickCoins(d.script, d.sats, d.rate)
	if err != nil {
		return l.set(func() { d.state = nonPayable })
	}
	tx := wire.NewMsgTx(2)
	tx.LockTime = lockTime
	change := -d.sats - fee
	for _, c := range coins {
		in := wire.NewTxIn(&c.OutPoint, nil, nil)
		in.Sequence = seq
		tx.AddTxIn(in)
		change += c.Value
	}
	tx.AddTxOut(wire.NewTxOut(d.sats, d.script))
	tx.AddTxOut(wire.NewTxOut(change, l.hot.Address.Script()))
	if err := l.hot.Sign(tx); err != nil {
		return err
	}
	_ = l.set(func() { d.state, d.tx = sending, tx }) // from here on no refund is given
	if _, err := l.btc.Send(tx); err != nil {
		return err // sent again by claim
	}
	return l.set(func() { d.state = sent })
}

// claim takes the escrow once the payment is deep enough, and sends the payment
// again while it is in no block.
func (d *toBTC) claim(ctx context.Context, l *LP) error {
	id := d.tx.TxHash()
	_, merkle, err := l.btc.Proof(id)
	if err != nil {
		_, err := l.btc.Send(d.tx)
		return err
	}
	tip, _ := l.btc.Tip()
	if l.faults().NeverClaim || tip+1 < merkle.Height+d.confirmations {
		return nil
	}
	return d.side.claimBitcoin(ctx, d.swap, id, 0, d.confirmations)
}

// PayoutWaits reports whether bitcoin that the LP has sent to a user is in the mempool,
// or needs more blocks until the LP can claim the escrow.
func (l *LP) PayoutWaits() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	tip, _ := l.btc.Tip()
	for _, each := range l.live {
		d, ok := each.(*toBTC)
		if !ok || d.state != sent {
			continue
		}
		id := d.tx.TxHash()
		if _, merkle, err := l.btc.Proof(id); err == nil && tip+1 < merkle.Height+d.confirmations || l.btc.InMempool(id) {
			return true
		}
	}
	return false
}
