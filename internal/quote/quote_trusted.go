package quote

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/btc/single"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/discovery"
	"github.com/swapper-go/swapper/internal/lp/verify"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/tokens"
)

// TrustedBTCConfirmations is how many a payment for gas needs (protocol:
// swap-flows-spv-and-core.md B2).
const TrustedBTCConfirmations = 1

// GasRequest asks for a trusted gas swap: a little of a chain's native token.
type GasRequest struct {
	Src           tokens.Token // bitcoin on Bitcoin or Lightning
	Chain         string
	Amount        *big.Int // base units of the native token, paid out
	Address       string   // who is paid
	RefundAddress string   // on Bitcoin, for a payment that the LP cannot use; "": said later
	LP            string   // base URL of the LP that is trusted
	Caller        string   // whose idempotency key it is, or ""
	Key           string   // idempotency key, or ""
	Owner         string   `json:"-"` // as in Request
}

// CreateGas quotes a trusted gas swap with one LP, and stores it, as [Quoter.Create] does.
func (qt *Quoter) CreateGas(ctx context.Context, q GasRequest) (*Made, error) {
	w := wish{q.Caller, q.Key, q.Owner, fingerprint(q)}
	if m, err := qt.repeated(ctx, w); m != nil || err != nil {
		return m, err
	}
	o, err := qt.readGas(q)
	if err != nil {
		return nil, err
	}
	if q.LP, err = qt.LPs.CheckURL(q.LP); err != nil {
		return nil, invalid("lp", err)
	}
	quote := o.gasForBitcoin
	if o.typ == swap.TrustedFromBTCLN {
		quote = o.gasForLightning
	}
	r, err := quote(ctx, q)
	if err != nil {
		if lied, ok := errors.AsType[*lp.LPError](err); ok && lied.LP == "" {
			lied.LP = q.LP
		}
		wanted := discovery.Query{Service: lp.Service(o.typ), Chain: q.Chain, Token: o.token.Address, Amount: q.Amount}
		qt.Offers.Punish(q.LP, wanted.Pair(), err)
		if e := discovery.CallersFault(wanted, err); e != nil {
			return nil, e
		}
		return nil, err
	}
	m, err := qt.store(ctx, r, w)
	if _, taken := errors.AsType[*storage.KeyTakenError](err); taken {
		return nil, fault.New(fault.Upstream, "%s returned the identifier of another swap", q.LP)
	}
	return m, err
}

func (qt *Quoter) readGas(q GasRequest) (*order, error) {
	o := &order{Quoter: qt, now: qt.Engine.Now()}
	switch q.Src {
	case tokens.BTC():
		o.typ = swap.TrustedFromBTC
	case tokens.LightningBTC():
		o.typ = swap.TrustedFromBTCLN
	default:
		return nil, fault.At("srcToken", fault.New(fault.Unsupported, "gas can only be bought with bitcoin on Bitcoin or Lightning, not with %s", q.Src.ID()))
	}
	info, ok := qt.Reader.Info(q.Chain)
	if !ok {
		return nil, fault.Invalid("chainId", "%s is not configured", q.Chain)
	}
	o.chain, o.info, o.token = qt.Reader.Chains[q.Chain], info, info.Native
	if err := o.readUser("dstAddress", q.Address); err != nil {
		return nil, err
	}
	if q.RefundAddress != "" {
		if o.typ != swap.TrustedFromBTC {
			return nil, fault.Invalid("refundAddress", "cannot be used for a swap of type %s", o.typ)
		}
		if _, err := bitcoin.ParseAddress(q.RefundAddress, qt.Reader.Bitcoin.Network()); err != nil {
			return nil, invalid("refundAddress", err)
		}
	}
	o.Request = Request{Src: q.Src, Dst: info.Native, Amount: q.Amount, DstAddress: o.user}
	return o, nil
}

// trusted is the LP of a gas swap as a candidate: with the fees that it announces
// for the service, or, where nothing is known of it but its address, with those
// that are assumed (protocol: lp-protocol.md §6.10).
func (o *order) trusted(ctx context.Context, url string) *async.Future[discovery.Candidate] {
	return async.Start(ctx, func(ctx context.Context) (discovery.Candidate, error) {
		c := discovery.Candidate{LP: &discovery.LP{URL: url}, Version: o.info.Default, Token: o.info.Native.Address,
			Service: lp.ServiceInfo{BaseFee: verify.TrustedBaseFeeSats, FeePPM: verify.TrustedFeePPM}}
		known, err := o.Offers.Get(ctx, url)
		if err != nil {
			return c, ctx.Err()
		}
		c.LP, c.Address = known, known.Addresses[o.info.ID]
		if s, ok := known.Services[lp.Service(o.typ)]; ok && len(s.Tokens(o.info.ID)) > 0 {
			c.Service = s
		}
		return c, nil
	})
}

// quoteGas asks the LP and hands its answer to accept, with what it is compared with.
func quoteGas[Q any](ctx context.Context, o *order, q GasRequest, ask func(context.Context, string, lp.TrustedRequest) (Q, error), accept func(discovery.Candidate, verify.Agreed, Q) (*swap.Record, error)) (*swap.Record, error) {
	market, from := o.price(ctx, o.token), o.trusted(ctx, q.LP)
	got, err := ask(ctx, q.LP, lp.TrustedRequest{Chain: o.info.ID, Address: o.user, Amount: o.Amount, Token: o.info.Native.Address, RefundAddress: q.RefundAddress})
	if err != nil {
		return nil, err
	}
	c, err := from.Wait(ctx)
	if err != nil {
		return nil, err
	}
	want, err := o.receiving(ctx, c, nil, market, market)
	if err != nil {
		return nil, err
	}
	return accept(c, want, got)
}

func (o *order) gasForLightning(ctx context.Context, q GasRequest) (*swap.Record, error) {
	return quoteGas(ctx, o, q, o.LPs.TrustedLN, func(c discovery.Candidate, want verify.Agreed, got lp.TrustedLNQuote) (*swap.Record, error) {
		a, err := verify.TrustedLN(want, o.Reader.Bitcoin.Network(), got)
		if err != nil {
			return nil, err
		}
		hash := hex.EncodeToString(a.Invoice.PaymentHash[:])
		r, err := o.gasRecord(c, hash, a)
		if err != nil {
			return nil, err
		}
		ends, err := a.Invoice.DefinitiveExpiry(false)
		if err != nil {
			return nil, lp.Lie("", "the invoice: %w", err)
		}
		r.Lightning = &swap.LightningPart{Invoice: got.Invoice, Hash: hash, EndsAt: swap.Millis(ends * 1000)}
		return r, nil
	})
}

func (o *order) gasForBitcoin(ctx context.Context, q GasRequest) (*swap.Record, error) {
	if _, err := single.Index(o.Reader.Bitcoin); err != nil { // before anybody is asked: the payment would not be seen
		return nil, err
	}
	own := o.bitcoinRates(ctx)
	var before *async.Future[[]*bitcoin.Tx] // an address that was paid to before tells nothing about this payment
	ask := func(ctx context.Context, url string, request lp.TrustedRequest) (lp.TrustedBTCQuote, error) {
		got, err := o.LPs.TrustedBTC(ctx, url, request)
		if err == nil {
			before = async.Start(ctx, func(ctx context.Context) ([]*bitcoin.Tx, error) {
				return o.Reader.Received(ctx, swap.ReceivedAsk{Address: got.BTCAddress})
			})
		}
		return got, err
	}
	return quoteGas(ctx, o, q, ask, func(c discovery.Candidate, want verify.Agreed, got lp.TrustedBTCQuote) (*swap.Record, error) {
		a, err := verify.TrustedBTC(want, o.Reader.Bitcoin.Network(), got)
		if err != nil {
			return nil, err
		}
		if used, err := before.Wait(ctx); err != nil {
			return nil, fmt.Errorf("the payment address: %w", err)
		} else if len(used) > 0 {
			used := lp.Lie("", "the payment address %s was used before", a.Payment.Address)
			used.Lenient = true // the quote's previous holder may have paid late
			return nil, used
		}
		if len(got.PaymentHash) != 64 {
			return nil, lp.Lie("", "paymentHash %.80q is not a payment hash", got.PaymentHash)
		}
		r, err := o.gasRecord(c, got.PaymentHash, a)
		if err != nil {
			return nil, err
		}
		r.Bitcoin = &swap.BitcoinPart{Address: a.Payment.Address, Sats: uint64(a.Payment.Sats), Confirmations: TrustedBTCConfirmations}
		r.Gas = &swap.GasPart{Hash: got.PaymentHash, Sequence: got.Sequence, Total: a.Output, FeeRate: got.RecommendedFee, RefundTo: q.RefundAddress}
		r.Terms.Confirmations = TrustedBTCConfirmations
		o.estimate(ctx, r, own)
		return r, nil
	})
}

// gasRecord makes the record; id is the LP's identifier. The network's clients
// take it for the swap's too, but it is not secret, and a swap's id grants
// access.
func (o *order) gasRecord(c discovery.Candidate, id string, a verify.Accepted) (*swap.Record, error) {
	r, err := o.record(c, id, a)
	if err != nil {
		return nil, err
	}
	r.Terms.SwapFee = tokens.NewAmount(a.SwapFeeSats, o.Src)
	return r, nil
}
