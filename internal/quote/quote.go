package quote

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/btc/single"
	"github.com/swapper-go/swapper/internal/chainio"
	"github.com/swapper-go/swapper/internal/engine"
	"github.com/swapper-go/swapper/internal/lnurl"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/discovery"
	"github.com/swapper-go/swapper/internal/lp/lphttp"
	"github.com/swapper-go/swapper/internal/lp/verify"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/price"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/tokens"
)

// Quoter makes swaps: it asks liquidity providers for quotes, verifies them, and
// stores the best. All fields but Policy are needed. It is safe for concurrent use.
type Quoter struct {
	Engine *engine.Engine
	Reader *chainio.Reader
	Offers *discovery.Directory
	LPs    *lphttp.Client
	Prices price.Source
	LNURL  *lnurl.Client
	Graph  bitcoin.LightningGraph // nil: invoices of LPs are taken with Policy.AnyNode only
	Policy verify.Policy
	Rand   io.Reader

	vaults lastVaults
}

// Request is what a swap is wanted for: the input of an operation that was validated
// (its amounts have a sign, its hashes a length). Addresses have no scheme.
type Request struct {
	Src, Dst   tokens.Token
	Amount     *big.Int // base units of Src if ExactIn, else of Dst
	ExactIn    bool
	SrcAddress string // who pays in; an LNURL-withdraw link for Lightning, or ""
	DstAddress string

	GasAmount       *big.Int // nil or 0: none
	PaymentHash     string   // 64 hexadecimal digits, or ""
	Description     string
	DescriptionHash string        // 64 hexadecimal digits, or ""
	HTLCTimeout     time.Duration // 0: 5 days
	MaxHTLCTimeout  time.Duration // 0: 10 days

	Caller string // whose idempotency key it is, or ""
	Key    string // idempotency key, or ""
	Owner  string `json:"-"` // identifies who asks for the swap; "": the service. No part of what a repeated request must equal
}

// Create quotes a swap and stores it. The record is durable when it returns.
// With an idempotency key that was used for the same request before, the swap of
// that time is returned.
func (qt *Quoter) Create(ctx context.Context, q Request) (*Made, error) {
	w := wish{q.Caller, q.Key, q.Owner, fingerprint(q)}
	if m, err := qt.repeated(ctx, w); m != nil || err != nil {
		return m, err
	}
	o, err := qt.read(q)
	if err != nil {
		return nil, err
	}
	r, err := o.quote(ctx)
	if err != nil {
		return nil, err
	}
	return qt.store(ctx, r, w)
}

// Made is a swap that was asked for.
type Made struct {
	*swap.Record
	SwapKey string // in hexadecimal digits; "" for one of before swaps had keys
	// Repeated says that an earlier request has made it, with the same idempotency key.
	// Whether it was the same owner's is not looked at here.
	Repeated bool
}

// store makes a quoted swap durable, and returns it with its key, or the swap of the same
// request that was stored meanwhile.
func (qt *Quoter) store(ctx context.Context, r *swap.Record, w wish) (*Made, error) {
	swapKey, err := w.swapKey(r, qt.Rand)
	if err != nil {
		return nil, err
	}
	r.Request, r.RequestHash = requestKey(w.caller, w.key), w.print
	r.Own(w.owner, swapKey)
	err = qt.Engine.Create(ctx, r)
	if taken, ok := errors.AsType[*storage.KeyTakenError](err); ok && taken.Index == swap.ByRequest { // at the same time
		return qt.repeated(ctx, w)
	}
	if err != nil {
		return nil, err
	}
	return &Made{Record: r, SwapKey: swapKey}, nil
}

// quote returns the best quote, which is not stored.
func (o *order) quote(ctx context.Context) (*swap.Record, error) {
	switch o.typ {
	case swap.ToBTC:
		return o.toBTC(ctx)
	case swap.ToBTCLN:
		return o.toBTCLN(ctx)
	case swap.FromBTC:
		return o.fromBTC(ctx)
	case swap.FromBTCLN:
		return o.fromBTCLN(ctx)
	case swap.FromBTCLNAuto:
		return o.fromBTCLNAuto(ctx)
	case swap.SPVFromBTC:
		return o.spvFromBTC(ctx)
	}
	return nil, fault.New(fault.Unsupported, "swaps of type %s are not supported", o.typ)
}

// requestKey is what the store keeps of an idempotency key: of two callers' equal
// keys two values, from which neither can be read.
func requestKey(caller, key string) string {
	if key == "" {
		return ""
	}
	of := sha256.Sum256([]byte(caller))
	sum := sha256.Sum256(append(of[:], key...))
	return hex.EncodeToString(sum[:])
}

// fingerprint tells requests with the same idempotency key apart.
func fingerprint(q any) string {
	text, err := json.Marshal(q)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

func (qt *Quoter) repeated(ctx context.Context, w wish) (*Made, error) {
	if w.key == "" {
		return nil, nil
	}
	for e, err := range qt.Engine.Store.Find(ctx, storage.Query{Index: swap.ByRequest, Value: requestKey(w.caller, w.key)}) {
		if err != nil {
			return nil, err
		}
		r, err := swap.Decode(e.ID, e.Version, e.Body)
		if err != nil {
			return nil, err
		}
		if r.RequestHash != w.print {
			return nil, fault.Invalid("idempotencyKey", "was already used for a different request")
		}
		swapKey, err := w.swapKey(r, nil)
		if err != nil {
			return nil, err
		}
		if !r.OwnedBy("", swapKey) { // of before swaps had keys
			swapKey = ""
		}
		return &Made{r, swapKey, true}, nil
	}
	return nil, nil
}

// wish is what a request for a swap is known by afterwards.
type wish struct {
	caller, key string // whose idempotency key it is, and which; "" for none
	owner       string
	print       string // fingerprint of the request
}

// swapKey makes the key of a new swap: 128 bits, in hexadecimal digits. For a request with
// an idempotency key they follow from that, from the caller and from the swap's seed, so
// that a repetition gets the same key although the record holds only its hash; otherwise
// they are random.
func (w wish) swapKey(r *swap.Record, random io.Reader) (string, error) {
	var key [16]byte
	if w.key == "" {
		if _, err := io.ReadFull(random, key[:]); err != nil {
			return "", fmt.Errorf("read randomness: %w", err)
		}
		return hex.EncodeToString(key[:]), nil
	}
	caller, idempotent := sha256.Sum256([]byte(w.caller)), sha256.Sum256([]byte(w.key))
	sum := sha256.Sum256(slices.Concat([]byte("swapper/swap key\x00"), r.Seed[:], caller[:], idempotent[:]))
	return hex.EncodeToString(sum[:len(key)]), nil
}

// collect asks all LPs and returns the best record.
func (o *order) collect(ctx context.Context, ask func(ctx context.Context, c discovery.Candidate, k chains.Contract) (*swap.Record, error)) (*swap.Record, error) {
	offer, err := discovery.Collect(ctx, o.Offers, discovery.Query{Service: lp.Service(o.typ), Chain: o.info.ID, Token: o.token.Address, ExactIn: o.ExactIn, Amount: o.Amount, Gas: o.GasAmount, Lasts: o.lasts}, discovery.Round[*swap.Record]{
		Ask: func(ctx context.Context, c discovery.Candidate) (*swap.Record, error) {
			k, ok := o.chain.Contract(c.Version)
			if !ok {
				return nil, fmt.Errorf("contract version %q is not configured", c.Version)
			}
			if own, err := o.chain.Address(c.Address); err == nil && own == o.user && o.typ != swap.SPVFromBTC {
				field := "dstAddress" // an escrow needs two parties
				if lp.Service(o.typ).ToBitcoin() {
					field = "srcAddress"
				}
				return nil, fault.Invalid(field, "is the liquidity provider's own address")
			}
			return ask(ctx, c, k)
		},
		Better: better,
	})
	return offer.Quote, err
}

// agreed is what every verification starts from.
func (o *order) agreed(c discovery.Candidate, k chains.Contract, market, native *big.Int) verify.Agreed {
	return verify.Agreed{LP: c.Address, BaseFee: big.NewInt(c.Service.BaseFee), FeePPM: big.NewInt(c.Service.FeePPM), User: o.user,
		Token: o.token, Native: o.info.Native, Amount: o.Amount, ExactIn: o.ExactIn, Contract: k,
		Price: market, NativePrice: native, Now: o.Engine.Now(), Policy: o.Policy}
}

// receiving is what the verification of a quote for bitcoin starts from. market and
// native are the prices of the token and of the chain's native one.
func (o *order) receiving(ctx context.Context, c discovery.Candidate, k chains.Contract, market, native *async.Future[*big.Int]) (verify.Agreed, error) {
	p, err := market.Wait(ctx)
	if err != nil {
		return verify.Agreed{}, err
	}
	np, err := native.Wait(ctx)
	if err != nil {
		return verify.Agreed{}, err
	}
	return o.agreed(c, k, p, np), o.worthless(p)
}

// receivedFees sets what a swap from bitcoin costs: the LP's fees for the token and
// for the gas drop, what others are paid, all in sats, and the gas drop itself (nil
// or 0: none).
func (o *order) receivedFees(r *swap.Record, swapFee, gasFee, networkSats, gasDrop *big.Int) {
	r.Terms.FeeSats = new(big.Int).Add(swapFee, gasFee)
	r.Terms.SwapFee = tokens.NewAmount(r.Terms.FeeSats, o.Src)
	network := tokens.NewAmount(networkSats, o.Src)
	r.Terms.NetworkFee, r.Terms.NetworkSats = &network, network.Raw
	if gasDrop != nil && gasDrop.Sign() > 0 {
		gas := tokens.NewAmount(gasDrop, o.info.Native)
		r.Terms.GasDrop = &gas
	}
}

// worthless refuses an exact output that is worth less than a satoshi: an LP can
// only ask for nothing, or for more.
func (o *order) worthless(market *big.Int) error {
	if o.ExactIn {
		return nil
	}
	if sats, err := verify.ToBitcoin(o.Amount, market, o.token.Decimals); err != nil || sats.Sign() == 0 {
		return fault.Invalid("amount", "is worth less than one satoshi")
	}
	return nil
}

// price starts to ask what a token is worth.
func (o *order) price(ctx context.Context, t tokens.Token) *async.Future[*big.Int] {
	return async.Start(ctx, func(ctx context.Context) (*big.Int, error) { return o.Prices.Price(ctx, t) })
}

// feeRate starts to ask for the chain's fee rate.
func (o *order) feeRate(ctx context.Context) *async.Future[string] {
	return async.Start(ctx, o.chain.FeeRate)
}

// record makes the record of an accepted quote. id is the LP's part of the swap
// id, checked for its form.
func (o *order) record(c discovery.Candidate, id string, a verify.Accepted) (*swap.Record, error) {
	var random [48]byte
	if _, err := io.ReadFull(o.Rand, random[:]); err != nil {
		return nil, fmt.Errorf("read randomness: %w", err)
	}
	if b, err := hex.DecodeString(id); err != nil || len(b) == 0 || len(b) > 64 {
		return nil, lp.Lie("", "identifier %.80q is not hexadecimal", id)
	}
	r := &swap.Record{Head: swap.Head{
		ID: id + hex.EncodeToString(random[:16]), Type: o.typ, Chain: o.info.ID, Contract: c.Version, State: 0, Signer: o.user,
		LP: swap.LP{URL: c.LP.URL, Address: c.Address}, CreatedAt: swap.At(o.now), Expiry: swap.At(a.Expires), Seed: chains.Seed(random[16:]), Quoted: true,
	}}
	r.Terms = swap.Terms{
		Input: tokens.NewAmount(a.Input, o.Src), Output: tokens.NewAmount(a.Output, o.Dst), Recipient: o.DstAddress, ExactIn: o.ExactIn,
		Price:   priceInfo(c, a.Price),
		FeeSats: a.SwapFeeSats, NetworkSats: a.NetworkSats,
	}
	if a.GasPrice != nil {
		g := priceInfo(c, *a.GasPrice)
		r.Terms.GasPrice = &g
	}
	return r, nil
}

func priceInfo(c discovery.Candidate, p verify.PriceResult) swap.PriceInfo {
	return swap.PriceInfo{DifferencePPM: p.DifferencePPM, BaseFeeSats: big.NewInt(c.Service.BaseFee), FeePPM: big.NewInt(c.Service.FeePPM), Market: p.Market, Quoted: p.Quoted}
}

// bitcoinRates starts to ask what Bitcoin's miners are paid.
func (o *order) bitcoinRates(ctx context.Context) *async.Future[bitcoin.FeeRates] {
	return async.Start(ctx, func(ctx context.Context) (bitcoin.FeeRates, error) { return single.FeeRates(ctx, o.Reader.Bitcoin) })
}

// estimateTimeout is how long a quote waits for rates from which only an estimate
// follows.
const estimateTimeout = 2 * time.Second

// estimate notes what miners get for a plain payment from a usual wallet, if the rates
// are known in time. Any wallet may pay, so that nothing is refused by it.
func (o *order) estimate(ctx context.Context, r *swap.Record, rates *async.Future[bitcoin.FeeRates]) {
	ctx, cancel := context.WithTimeout(ctx, estimateTimeout)
	defer cancel()
	if known, err := rates.Wait(ctx); err == nil {
		r.Bitcoin.MinerSats, _ = o.Reader.UsualFee(r, &swap.Fund{}, known)
	}
}

// needed is the rate in sat/vB that a transaction needs now.
func needed(r bitcoin.FeeRates) float64 { return max(r.Fastest, r.Minimum) }

// better reports whether a gives more than b for what is paid.
func better(a, b *swap.Record) bool {
	ofA, ofB := new(big.Int).Mul(a.Terms.Output.Raw, paid(b)), new(big.Int).Mul(b.Terms.Output.Raw, paid(a))
	return ofA.Cmp(ofB) > 0
}

// paid is what a swap costs the user on the input's side: with Bitcoin's miners, as far
// as they are known, and with what the claim of a legacy swap from Bitcoin costs, which is
// paid beside the amounts.
func paid(r *swap.Record) *big.Int {
	if r.Terms.Input.Token.Chain != tokens.Bitcoin {
		return r.Terms.Input.Raw
	}
	sats := new(big.Int).Set(r.Terms.Input.Raw)
	if r.Bitcoin != nil {
		sats.Add(sats, big.NewInt(r.Bitcoin.MinerSats))
	}
	if r.Type == swap.FromBTC && r.Terms.NetworkSats != nil {
		sats.Add(sats, r.Terms.NetworkSats)
	}
	return sats
}
