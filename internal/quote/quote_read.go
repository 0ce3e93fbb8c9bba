package quote

import (
	"errors"
	"math/big"
	"strings"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lnurl"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/verify"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/tokens"
)

// order is one request on its way to a quote.
type order struct {
	*Quoter
	Request
	typ   swap.Type
	chain chains.Chain
	info  chains.Info
	now   time.Time
	user  string       // canonical address on the smart chain
	token tokens.Token // of the smart chain
	trial bool         // asked to learn bounds; no swap comes of it
	lasts int64        // seconds until the escrow of a Lightning payout ends

	to      bitcoin.Address    // payouts to Bitcoin
	invoice *lightning.Invoice // payouts to an invoice; nil for those to a link
}

// read refuses what can be seen to be wrong, and what the type cannot use: an
// option that is silently ignored in a money request hides a mistake (protocol:
// swap-flows-spv-and-core.md C5). Only the source of a swap from Bitcoin is
// ignored: who will pay is of no interest.
func (qt *Quoter) read(q Request) (order, error) {
	o := order{Quoter: qt, Request: q, now: qt.Engine.Now()}
	var err error
	if o.typ, err = swap.Route(q.Src, q.Dst, qt.Reader.Info); err != nil {
		return o, err
	}
	o.token = q.Dst
	if lp.Service(o.typ).ToBitcoin() {
		o.token = q.Src
	}
	o.chain = qt.Reader.Chains[o.token.Chain]
	o.info = o.chain.Info()
	switch o.typ {
	case swap.ToBTC:
		err = o.readUser("srcAddress", q.SrcAddress)
		if err == nil {
			err = o.readBitcoin()
		}
	case swap.ToBTCLN:
		err = o.readUser("srcAddress", q.SrcAddress)
		if err == nil {
			err = o.readPayee()
		}
	case swap.FromBTCLN, swap.FromBTCLNAuto:
		err = o.readUser("dstAddress", q.DstAddress)
		if err == nil && q.SrcAddress != "" {
			err = readLink("srcAddress", q.SrcAddress, lnurl.TagWithdraw)
		}
	default:
		err = o.readUser("dstAddress", q.DstAddress)
	}
	if err != nil {
		return o, err
	}
	return o, o.readOptions()
}

func (o *order) readBitcoin() (err error) {
	if o.to, err = bitcoin.ParseAddress(o.DstAddress, o.Reader.Bitcoin.Network()); err == nil {
		return nil
	}
	if _, no := lightning.Decode(o.DstAddress); no == nil || lnurl.IsLink(o.DstAddress) {
		return fault.Invalid("dstAddress", "is paid over Lightning: dstToken must be %s", tokens.LightningBTC().ID())
	}
	return invalid("dstAddress", err)
}

func (o *order) readUser(field, text string) (err error) {
	if text == "" {
		return fault.Invalid(field, "is required: the user's address on %s", o.info.ID)
	}
	if o.user, err = o.chain.Address(text); err != nil {
		return invalid(field, err)
	}
	if what, taken := o.Reader.Unpayable()[o.user]; taken {
		return fault.Invalid(field, "is %s, which cannot be a recipient", what)
	}
	return nil
}

// maxInvoice bounds an invoice in bytes: LPs cut requests at 8192 bytes (protocol:
// lp-protocol.md §3.7).
const maxInvoice = 7500

// readPayee reads who a Lightning payout goes to. An invoice decides the amount;
// a request for another one is a mistake (protocol: swap-flows-escrow.md §12.14).
func (o *order) readPayee() error {
	if lnurl.IsLink(o.DstAddress) {
		return readLink("dstAddress", o.DstAddress, lnurl.TagPay)
	}
	if len(o.DstAddress) > maxInvoice {
		return fault.Invalid("dstAddress", "must be at most %d bytes long, which is what liquidity providers accept", maxInvoice)
	}
	inv, err := lightning.Decode(o.DstAddress)
	if err != nil {
		if _, no := bitcoin.ParseAddress(o.DstAddress, o.Reader.Bitcoin.Network()); no == nil {
			return fault.Invalid("dstAddress", "is paid on Bitcoin: dstToken must be %s", tokens.BTC().ID())
		}
		return fault.Invalid("dstAddress", "is not a Lightning invoice or LNURL-pay link: %w", err)
	}
	if o.ExactIn {
		return fault.Invalid("amountType", "must be EXACT_OUT when paying an invoice, because the invoice fixes the amount")
	}
	if err := inv.RequireNetwork(o.Reader.Bitcoin.Network()); err != nil {
		return fault.Invalid("dstAddress", "%w", err)
	}
	amount, ok := inv.AmountSats()
	if !ok || amount <= 0 {
		return fault.Invalid("dstAddress", "is an invoice without an amount; use an invoice with a fixed amount")
	}
	if o.Amount.Cmp(big.NewInt(amount)) != 0 {
		return fault.Invalid("amount", "must equal the invoice's %d sats", amount)
	}
	if inv.ExpiresAt() <= o.now.Unix() {
		return fault.Invalid("dstAddress", "the invoice has expired")
	}
	o.invoice = inv
	return nil
}

// readLink refuses a text that is not a link, and a link whose form shows that
// it is for the other direction.
func readLink(field, text string, want lnurl.Tag) error {
	link, err := lnurl.Parse(text)
	if errors.Is(err, lnurl.ErrNotLink) && want == lnurl.TagWithdraw {
		return fault.Invalid(field, "must be an LNURL-withdraw link or empty: %w", err)
	}
	if err != nil {
		return invalid(field, err)
	}
	if tag := link.Wants(); tag != "" && tag != want {
		return fault.Invalid(field, "is an LNURL for a %s, but one for a %s is required", tag, want)
	}
	return nil
}

func (o *order) readOptions() error {
	lightningIn := o.typ == swap.FromBTCLN || o.typ == swap.FromBTCLNAuto
	gas := o.GasAmount != nil && o.GasAmount.Sign() != 0
	for _, option := range []struct {
		field  string
		given  bool
		usable bool
	}{
		{"gasAmount", gas, o.typ.DropsGas()},
		{"paymentHash", o.PaymentHash != "", lightningIn},
		{"lightningInvoiceDescription", o.Description != "", lightningIn},
		{"lightningInvoiceDescriptionHash", o.DescriptionHash != "", lightningIn},
		{"lightningPaymentHTLCTimeout", o.HTLCTimeout != 0, o.typ == swap.ToBTCLN},
		{"lightningPaymentMaxHTLCTimeout", o.MaxHTLCTimeout != 0, o.typ == swap.ToBTCLN},
	} {
		if option.given && !option.usable {
			return fault.Invalid(option.field, "cannot be used for a swap of type %s", o.typ)
		}
	}
	switch {
	case o.PaymentHash != "" && strings.Trim(o.PaymentHash, "0") == "":
		return fault.Invalid("paymentHash", "must be the SHA-256 hash of a preimage, not all zeros")
	case o.Description != "" && o.DescriptionHash != "": // BOLT 11
		return fault.Invalid("lightningInvoiceDescriptionHash", "cannot be combined with lightningInvoiceDescription")
	}
	return verify.CheckGasDrop(o.info, o.token, o.GasAmount)
}

// invalid names the field that err is about.
func invalid(field string, err error) error {
	if err == nil {
		return nil
	}
	return fault.Invalid(field, "%w", err)
}
