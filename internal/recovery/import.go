package recovery

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/tokens"
)

// ImportRecord reads a record as the reference implementation stores it
// (protocol: swap-flows-escrow.md §2, swap-flows-spv-and-core.md A3): one JSON
// object of the given chain's store. Old and incomplete records are read by the
// rules of §2.4. What the reference does not keep (where to begin log searches)
// starts at zero. The result is not stored.
//
// Errors are *fault.Error: fault.InvalidInput for a record that is damaged,
// fault.Unsupported for one that this chain's configuration cannot follow. Field is
// the record's member that is at fault.
func ImportRecord(c chains.Chain, body []byte) (*swap.Record, error) {
	var o foreign
	if err := json.Unmarshal(body, &o); err != nil {
		return nil, unreadable(body, err)
	}
	switch {
	case o.ID == "":
		return nil, fault.Invalid("id", "is required")
	case len(o.ID) > maxID:
		return nil, fault.Invalid("id", "must have at most %d characters, not %d", maxID, len(o.ID))
	case !o.Type.Valid():
		return nil, fault.Invalid("type", "%d is not a swap type", o.Type)
	}
	i := importer{chain: c, o: &o}
	return i.record()
}

// maxID is the longest id that a swap may have: that of operations' inputs.
const maxID = 256

// unreadable says which member of a record cannot be read.
func unreadable(body []byte, err error) error {
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return fault.Invalid("", "the record is not a JSON object: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		alone, e := json.Marshal(map[string]json.RawMessage{name: members[name]})
		if e != nil {
			continue
		}
		var o foreign
		if e := json.Unmarshal(alone, &o); e != nil {
			return fault.Invalid(name, "cannot be read: %w", e)
		}
	}
	return fault.Invalid("", "the record could not be read: %w", err)
}

// foreign is the reference's record: the members that count.
type foreign struct {
	ID              string          `json:"id"`
	Type            swap.Type       `json:"type"`
	Initiator       string          `json:"initiator"`
	State           int             `json:"state"`
	URL             string          `json:"url"`
	Expiry          int64           `json:"expiry"`
	Version         *int            `json:"version"`
	Initiated       *bool           `json:"initiated"`
	ExactIn         bool            `json:"exactIn"`
	CreatedAt       int64           `json:"createdAt"`
	ContractVersion string          `json:"contractVersion"`
	RandomNonce     string          `json:"randomNonce"`
	ByClaimHash     bool            `json:"usesClaimHashAsId"`
	SwapFee         *decimal        `json:"swapFee"`
	SwapFeeBtc      *decimal        `json:"swapFeeBtc"`
	NetworkFee      *decimal        `json:"networkFee"`
	NetworkFeeBtc   *decimal        `json:"networkFeeBtc"`
	Data            json.RawMessage `json:"data"`
	InitialSwapData json.RawMessage `json:"initialSwapData"`
	CommitTxID      string          `json:"commitTxId"`
	ClaimTxID       string          `json:"claimTxId"`
	RefundTxID      string          `json:"refundTxId"`
	Prefix          string          `json:"prefix"`
	Timeout         string          `json:"timeout"`
	Signature       string          `json:"signature"`
	FeeRate         string          `json:"feeRate"`

	DifferencePPM *decimal `json:"_differencePPM"`
	BaseFee       *decimal `json:"_satsBaseFee"`
	FeePPM        *decimal `json:"_feePPM"`
	RealPrice     *decimal `json:"_realPriceUSatPerToken"`
	QuotedPrice   *decimal `json:"_swapPriceUSatPerToken"`

	Address               string   `json:"address"`
	Amount                *decimal `json:"amount"`
	RequiredConfirmations uint32   `json:"requiredConfirmations"`
	Nonce                 *decimal `json:"nonce"`
	TxID                  string   `json:"txId"`
	Vout                  uint32   `json:"vout"`
	BtcTxConfirmedAt      int64    `json:"btcTxConfirmedAt"`

	PaymentHash   string          `json:"paymentHash"`
	Invoice       string          `json:"pr"`
	Confidence    *float64        `json:"confidence"`
	Secret        string          `json:"secret"`
	LNURL         string          `json:"lnurl"`
	SuccessAction json.RawMessage `json:"successAction"`
	K1            string          `json:"lnurlK1"`
	Callback      string          `json:"lnurlCallback"`
	Posted        bool            `json:"prPosted"`

	CommitedAt    int64    `json:"commitedAt"`
	BtcAmountSwap *decimal `json:"btcAmountSwap"`
	BtcAmountGas  *decimal `json:"btcAmountGas"`
	GasSwapFeeBtc *decimal `json:"gasSwapFeeBtc"`

	foreignVault

	Sequence      *decimal `json:"sequence"`
	InputAmount   *decimal `json:"inputAmount"`
	OutputAmount  *decimal `json:"outputAmount"`
	Recipient     string   `json:"recipient"`
	Token         string   `json:"token"`
	RefundAddress string   `json:"refundAddress"`
	SCTxID        string   `json:"scTxId"`
}

// decimal is a big integer as a decimal string or a number.
type decimal struct{ *big.Int }

func (d *decimal) UnmarshalJSON(text []byte) error {
	s := strings.Trim(string(text), `"`)
	n, ok := new(big.Int).SetString(s, 10)
	if !ok || len(s) > 90 {
		return fmt.Errorf("%.40q is not an integer", s)
	}
	d.Int = n
	return nil
}

func (d *decimal) orZero() *big.Int {
	if d == nil || d.Int == nil {
		return new(big.Int)
	}
	return d.Int
}

func (d *decimal) orNil() *big.Int {
	if d == nil {
		return nil
	}
	return d.Int
}

// sats is a number of satoshis that can exist; missing is 0.
func (d *decimal) sats(member string) (uint64, error) {
	n := d.orZero()
	if n.Sign() < 0 || !n.IsInt64() || n.Int64() > rawtx.MaxMoney {
		return 0, fault.Invalid(member, "%s is not a number of satoshis", n)
	}
	return n.Uint64(), nil
}

// of returns an error about a member of the record, whatever field it named before.
func of(member string, err error) error {
	if e, ok := errors.AsType[*fault.Error](err); ok {
		err = errors.New(e.Message)
	}
	return fault.Invalid(member, "%w", err)
}

func unsupported(member, format string, args ...any) error {
	return fault.At(member, fault.New(fault.Unsupported, format, args...))
}

type importer struct {
	chain    chains.Chain
	contract chains.Contract
	o        *foreign
	r        *swap.Record
}

func (i *importer) record() (*swap.Record, error) {
	o := i.o
	k, ok := i.chain.Contract(o.ContractVersion)
	if !ok {
		return nil, unsupported("contractVersion", "%.20q is not configured", o.ContractVersion)
	}
	i.contract = k
	signer, err := i.chain.Address(o.Initiator)
	if err != nil {
		return nil, of("initiator", err)
	}
	if o.CreatedAt == 0 {
		o.CreatedAt = o.Expiry
	}
	i.r = &swap.Record{Head: swap.Head{
		ID: o.ID, Type: o.Type, Chain: i.chain.Info().ID, Contract: k.Version(), State: o.upgraded(), Signer: signer,
		LP: swap.LP{URL: baseOf(o.URL)}, CreatedAt: swap.Millis(o.CreatedAt), Expiry: swap.Millis(o.Expiry), Seed: sha256.Sum256([]byte(o.ID)),
	}}
	i.r.Terms.ExactIn = o.ExactIn
	i.r.Terms.Price = swap.PriceInfo{DifferencePPM: o.DifferencePPM.orNil(), BaseFeeSats: o.BaseFee.orNil(), FeePPM: o.FeePPM.orNil(), Market: o.RealPrice.orNil(), Quoted: o.QuotedPrice.orNil()}
	switch o.Type {
	case swap.ToBTC, swap.ToBTCLN:
		err = i.outgoing()
	case swap.FromBTC:
		err = i.fromBitcoin()
	case swap.FromBTCLN, swap.FromBTCLNAuto:
		err = i.fromLightning()
	case swap.TrustedFromBTCLN:
		err = i.gasForLightning()
	case swap.TrustedFromBTC:
		err = i.gasForBitcoin()
	case swap.SPVFromBTC:
		err = i.vault()
	default:
		err = unsupported("type", "swaps of type %s are not supported", o.Type)
	}
	if err != nil {
		return nil, err
	}
	i.identify()
	// The reference stops looking at swaps that have ended.
	switch {
	case o.Type == swap.SPVFromBTC:
		i.r.Settled = i.r.State == swap.SPVClosed || i.r.State == swap.SPVFailed || i.r.State == swap.SPVExpired || i.r.State == swap.SPVClaimed
	case o.Type == swap.TrustedFromBTCLN:
		i.r.Settled = i.r.State == swap.TrustedLNExpired || i.r.State == swap.TrustedLNFailed || i.r.State == swap.TrustedLNFinished
	case o.Type == swap.TrustedFromBTC:
		i.r.Settled = i.r.State != swap.TrustedBTCCreated && i.r.State != swap.TrustedBTCRefundable
	case o.Type == swap.FromBTC && (i.r.State == swap.InFailed || i.r.State == swap.InClaimed),
		(o.Type == swap.FromBTCLN || o.Type == swap.FromBTCLNAuto) && (i.r.State == swap.LnFailed || i.r.State == swap.LnClaimed),
		(o.Type == swap.ToBTC || o.Type == swap.ToBTCLN) && (i.r.State == swap.OutRefunded || i.r.State == swap.OutClaimed):
		i.r.Settled, i.r.Ended = true, i.r.CreatedAt
	}
	return i.r, nil
}

// identify derives the id as the reference does, and does not read it from the record:
// from the claim hash, or in older Lightning records from the payment hash
// (protocol: swap-flows-escrow.md §1).
func (i *importer) identify() {
	e := i.r.Escrow
	if e == nil || e.Expected == nil {
		return
	}
	hash := i.contract.ClaimHashText(e.Expected.ClaimHash)
	if l := i.r.Lightning; l != nil && !i.o.ByClaimHash && l.Hash != "" {
		hash = l.Hash
	}
	i.r.ID = hash + i.o.RandomNonce
}

// upgraded is the state of a record of an older version (§2.4).
func (o *foreign) upgraded() int {
	if state, old := upgrades[o.Type][o.State]; old && o.Version == nil {
		return state
	}
	return o.State
}

// upgrades are today's numbers of the states that records without a version call
// otherwise.
var upgrades = map[swap.Type]map[int]int{
	swap.ToBTC:     {-2: -3, -1: -2, 2: 3, 3: 4},
	swap.ToBTCLN:   {-2: -3, -1: -2, 2: 3, 3: 4},
	swap.FromBTC:   {-2: -4, -1: -2},
	swap.FromBTCLN: {-2: -3, -1: -4},
}

// baseOf cuts the service's path from a stored URL.
func baseOf(url string) string {
	if at := strings.LastIndexByte(url, '/'); at > len("https://") {
		return url[:at]
	}
	return url
}

func (i *importer) escrow(member string, data json.RawMessage) (*chains.Escrow, error) {
	if len(data) == 0 || string(data) == "null" {
		return nil, nil
	}
	e, err := i.contract.Decode(data)
	if inner, ok := errors.AsType[*fault.Error](err); ok && inner.Field != "" {
		member += "." + inner.Field
	}
	if err != nil {
		return nil, of(member, err)
	}
	return &e, nil
}

func (i *importer) token(member, address string) (tokens.Token, error) {
	want, err := i.chain.TokenAddress(address)
	if err != nil {
		return tokens.Token{}, of(member, err)
	}
	for _, t := range i.chain.Info().Tokens {
		if own, err := i.chain.TokenAddress(t.Address); err == nil && own == want {
			return t, nil
		}
	}
	return tokens.Token{}, unsupported(member, "token %s is not configured", want)
}

func (i *importer) auth() *chains.Auth {
	if i.o.Signature == "" {
		return nil
	}
	timeout, err := strconv.ParseInt(i.o.Timeout, 10, 64)
	if err != nil {
		return nil
	}
	return &chains.Auth{Prefix: i.o.Prefix, Timeout: timeout, Signature: i.o.Signature}
}

func (i *importer) outgoing() error {
	o, r := i.o, i.r
	e, err := i.escrow("data", o.Data)
	if err != nil {
		return err
	}
	if e == nil {
		return fault.Invalid("data", "is required")
	}
	t, err := i.token("data", e.Token)
	if err != nil {
		return err
	}
	r.LP.Address = e.Claimer
	r.Escrow = &swap.EscrowPart{Expected: e, Real: e, Init: i.auth(), FeeRate: o.FeeRate, InitTx: o.CommitTxID, ClaimTx: o.ClaimTxID, RefundTx: o.RefundTxID}
	r.Terms.Input = tokens.NewAmount(e.Amount, t)
	r.Terms.SwapFee = tokens.NewAmount(o.SwapFee.orZero(), t)
	network := tokens.NewAmount(o.NetworkFee.orZero(), t)
	r.Terms.NetworkFee = &network
	if o.Type == swap.ToBTC {
		sats, err := o.Amount.sats("amount")
		if err != nil {
			return err
		}
		if !o.Nonce.orZero().IsUint64() {
			return fault.Invalid("nonce", "%s is not a 64-bit number", o.Nonce.orZero())
		}
		r.Terms.Output = tokens.NewAmount(o.Amount.orNil(), tokens.BTC())
		r.Terms.Recipient = o.Address
		r.Bitcoin = &swap.BitcoinPart{Address: o.Address, Sats: sats, Nonce: o.Nonce.orZero().Uint64(), Confirmations: o.RequiredConfirmations}
		if o.TxID != "" {
			if r.Bitcoin.TxID, err = bitcoin.ParseHash(o.TxID); err != nil {
				return of("txId", err)
			}
		}
	} else if err := i.lightning(); err != nil {
		return err
	} else {
		r.Terms.Output = i.invoiceAmount()
		r.Terms.Recipient = r.Lightning.Link
		if r.Terms.Recipient == "" {
			r.Terms.Recipient = o.Invoice
		}
	}
	i.feeSats(r.Terms.Output.Raw, new(big.Int).Sub(new(big.Int).Sub(e.Amount, o.SwapFee.orZero()), o.NetworkFee.orZero()))
	return nil
}

// feeSats derives the sats of fees that old records lack (§2.4).
func (i *importer) feeSats(output, net *big.Int) {
	t := &i.r.Terms
	t.FeeSats, t.NetworkSats = i.o.SwapFeeBtc.orNil(), i.o.NetworkFeeBtc.orNil()
	if output == nil || net.Sign() <= 0 {
		return
	}
	if t.FeeSats == nil {
		t.FeeSats = bigs.MulDiv(i.o.SwapFee.orZero(), output, net)
	}
	if t.NetworkSats == nil {
		t.NetworkSats = bigs.MulDiv(i.o.NetworkFee.orZero(), output, net)
	}
}

// lightning reads the invoice part. A recovered record holds the payment hash
// in place of the invoice.
func (i *importer) lightning() error {
	o := i.o
	l := &swap.LightningPart{Hash: strings.ToLower(o.PaymentHash), Link: o.LNURL, SuccessAction: o.SuccessAction}
	if lightning.LooksLikeInvoice(o.Invoice) {
		inv, err := lightning.Decode(o.Invoice)
		if err != nil {
			return of("pr", err)
		}
		l.Invoice, l.Hash = o.Invoice, hex.EncodeToString(inv.PaymentHash[:])
		l.NonCustodial, l.LikelyFails = inv.IsNonCustodial(), o.Confidence != nil && inv.WillLikelyFail(*o.Confidence)
		if end, err := inv.DefinitiveExpiry(false); err == nil {
			l.EndsAt = swap.Millis(end * 1000)
		}
	} else if o.Invoice != "" {
		l.Hash = strings.ToLower(o.Invoice)
	}
	if b, err := hex.DecodeString(l.Hash); err != nil || len(b) != 0 && len(b) != sha256.Size {
		return fault.Invalid("paymentHash", "%.80q is not 64 hexadecimal digits", l.Hash)
	}
	i.r.Lightning = l
	if o.Secret == "" {
		return nil
	}
	preimage, err := hex.DecodeString(strings.TrimPrefix(o.Secret, "0x"))
	if err != nil || len(preimage) != len(chains.Preimage{}) {
		return fault.Invalid("secret", "must be 64 hexadecimal digits")
	}
	if !i.r.KeepPreimage(preimage) {
		return fault.Invalid("secret", "is not the preimage of the payment hash")
	}
	return nil
}

func (i *importer) invoiceAmount() tokens.Amount {
	a := tokens.Amount{Token: tokens.LightningBTC()}
	if inv, err := lightning.Decode(i.r.Lightning.Invoice); err == nil {
		if sats, ok := inv.AmountSats(); ok {
			a.Raw = big.NewInt(sats)
		}
	}
	return a
}

// withdrawal reads the LNURL-withdraw link that pays the invoice. The reference
// keeps neither the link's limits, which it checked against the invoice, nor the
// service's answer, so that the invoice is handed over again only when asked for.
func (i *importer) withdrawal() {
	o, l := i.o, i.r.Lightning
	if o.K1 == "" {
		return
	}
	l.Withdraw = &swap.Withdraw{Asked: o.Posted}
	p := &l.Withdraw.Params
	p.K1, p.Callback = o.K1, o.Callback
	if inv, err := lightning.Decode(l.Invoice); err == nil && inv.AmountMsat != nil {
		p.MinWithdrawable, p.MaxWithdrawable = *inv.AmountMsat, *inv.AmountMsat
	}
	if o.Posted {
		i.r.Tried = map[string]swap.Try{string(swap.CallWithdraw): {Started: i.r.CreatedAt, Attempts: 1}}
	}
}
