package lightning

import (
	"errors"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/btcutil/bech32"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/lightningnetwork/lnd/fn"
	"github.com/lightningnetwork/lnd/zpay32"
)

// errNotInvoice is what a text is refused with that is not a BOLT11 invoice:
// damaged, incomplete, unsigned, of an unknown network, or outside the bounds of
// this package. The error that wraps it says what is wrong.
var errNotInvoice = errors.New("not a valid BOLT11 invoice")

// Decode reads an invoice, in one case throughout and without a URI scheme, and
// verifies its signature. It accepts every network; see
// [Invoice.RequireNetwork]. The time and the features are not judged. Every
// error wraps [errNotInvoice] (protocol: bitcoin.md §18.1).
func Decode(text string) (*Invoice, error) {
	inv, err := decode(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotInvoice, err)
	}
	return inv, nil
}

func decode(text string) (*Invoice, error) {
	stated, err := scan(text) // before zpay32: it bounds neither amounts nor times, and its arithmetic wraps around
	if err != nil {
		return nil, err
	}
	z, err := zpay32.Decode(text, stated.network)
	if err != nil {
		return nil, err
	}
	payee := [33]byte(z.Destination.SerializeCompressed())
	if stated.payeeNamed { // then zpay32 does not look at the recovery id, which other nodes go by
		if signer, err := stated.signer(); err != nil || signer != payee {
			return nil, errors.New("it is not signed by the payee it names")
		}
	}
	inv := &Invoice{
		Prefix: stated.prefix, AmountMsat: stated.amountMsat, Timestamp: z.Timestamp.Unix(),
		PaymentHash: *z.PaymentHash, PaymentSecret: optional(z.PaymentAddr), Description: z.Description, DescriptionHash: z.DescriptionHash,
		ExpirySeconds: defaultExpirySeconds, MinFinalCLTV: int64(z.MinFinalCLTVExpiry()),
		HasExpiry: stated.expirySeconds != nil, HasMinFinalCLTV: stated.hasMinFinalCLTV,
		Payee: payee, HasBlindedPaths: len(z.BlindedPaymentPaths) > 0,
	}
	if stated.expirySeconds != nil { // not z.Expiry: its nanoseconds wrap around
		inv.ExpirySeconds = *stated.expirySeconds
	}
	if z.FallbackAddr != nil {
		inv.Fallback = z.FallbackAddr.EncodeAddress()
	}
	for _, hint := range z.RouteHints {
		hops := make([]Hop, len(hint))
		for i, h := range hint {
			hops[i] = Hop{Node: [33]byte(h.NodeID.SerializeCompressed()), ShortChannelID: h.ChannelID, FeeBaseMsat: h.FeeBaseMSat, FeePPM: h.FeeProportionalMillionths, CLTVExpiryDelta: h.CLTVExpiryDelta}
		}
		inv.RouteHints = append(inv.RouteHints, hops)
	}
	return inv, nil
}

func optional(o fn.Option[[32]byte]) *[32]byte {
	if o.IsNone() {
		return nil
	}
	v := o.UnwrapOr([32]byte{})
	return &v
}

// networks are the human-readable prefixes, longer ones first.
var networks = []struct {
	prefix string
	params *chaincfg.Params
}{
	{"bcrt", &chaincfg.RegressionNetParams},
	{"tbs", &chaincfg.SigNetParams},
	{"bc", &chaincfg.MainNetParams},
	{"tb", &chaincfg.TestNet3Params},
	{"sb", &chaincfg.SimNetParams},
}

// networkOf splits what follows "ln" in the human-readable part into the
// network's prefix and the amount, which is "" if there is none.
func networkOf(hrp string) (prefix, amount string, params *chaincfg.Params, err error) {
	for _, n := range networks {
		amount, ok := strings.CutPrefix(hrp, n.prefix)
		if ok && (amount == "" || amount[0] >= '0' && amount[0] <= '9') {
			return n.prefix, amount, n.params, nil
		}
	}
	return "", "", nil, fmt.Errorf("unknown network prefix %.8q", "ln"+hrp)
}

// shortened drops what the decoder would have expected in place of a wrong
// checksum: a person can only make a bad invoice look good with it.
func shortened(err error) error {
	if _, ok := errors.AsType[bech32.ErrInvalidChecksum](err); ok {
		return errors.New("checksum mismatch: a character is wrong or missing")
	}
	return err
}
