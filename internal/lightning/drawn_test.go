package lightning

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/lightningnetwork/lnd/lnwire"
	"github.com/lightningnetwork/lnd/zpay32"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// FuzzInvoices has zpay32 write invoices of all fields and compares what is read of them,
// and of bent ones, with what zpay32 reads: whatever is accepted says the same there, and
// what zpay32 has written within the bounds of this package is accepted.
func FuzzInvoices(f *testing.F) {
	f.Add([]byte{0, 1, 200}, []byte{})
	f.Add(bytes.Repeat([]byte{3, 1}, 120), []byte{})
	f.Add(bytes.Repeat([]byte{5}, 120), []byte{1, 40, 1, 'q'})
	f.Fuzz(func(t *testing.T, fields, bends []byte) {
		d := vectors.Draw(fields)
		n := networks[d.Int(len(networks))]
		stamp := int64(1_500_000_000 + d.Uint64()%(1<<31))
		amount := d.Uint64() % uint64(maxMsat+1)
		options := []func(*zpay32.Invoice){zpay32.Amount(lnwire.MilliSatoshi(amount)), zpay32.Features(lnwire.EmptyFeatureVector())}
		if d.Bool() {
			options = options[1:]
		}
		if d.Bool() {
			options = append(options, zpay32.Description(string(d.Some(100))))
		} else {
			options = append(options, zpay32.DescriptionHash([32]byte(d.Bytes(32))))
		}
		if d.Bool() {
			options = append(options, zpay32.PaymentAddr([32]byte(d.Bytes(32))))
		}
		if d.Bool() {
			options = append(options, zpay32.CLTVExpiry(d.Uint64()%(1<<20)))
		}
		expiry := int64(-1)
		if d.Bool() {
			expiry = int64(d.Uint64() % (1 << 31))
			options = append(options, zpay32.Expiry(time.Duration(expiry)*time.Second))
		}
		if d.Bool() {
			to := trial.Must(btcutil.NewAddressWitnessPubKeyHash(d.Bytes(20), n.params))(t)
			options = append(options, zpay32.FallbackAddr(to))
		}
		for range d.Int(3) {
			options = append(options, zpay32.RouteHint([]zpay32.HopHint{{NodeID: testKey.PubKey(), ChannelID: d.Uint64(), FeeBaseMSat: uint32(d.Uint64()), FeeProportionalMillionths: uint32(d.Uint64()), CLTVExpiryDelta: uint16(d.Uint64())}}))
		}
		if d.Bool() {
			options = append(options, zpay32.Destination(testKey.PubKey()))
		}
		made, err := zpay32.NewInvoice(n.params, [32]byte(d.Bytes(32)), time.Unix(stamp, 0), options...)
		if err != nil {
			t.Skip("zpay32 does not make what was drawn into an invoice: ", err)
		}
		text, err := made.Encode(zpay32.MessageSigner{SignCompact: func(msg []byte) ([]byte, error) {
			return ecdsa.SignCompact(testKey, chainhash.HashB(msg), true), nil
		}})
		if err != nil {
			t.Skip("zpay32 does not make what was drawn into an invoice: ", err)
		}
		bent := string(vectors.Draw(bends).Bent([]byte(text)))
		inv, err := Decode(bent)
		theirs, unknown := zpay32.Decode(bent, n.params)
		if err != nil {
			if !errors.Is(err, errNotInvoice) {
				t.Fatal(err)
			}
			if bent == text && unknown == nil {
				t.Fatalf("%s is refused: %v", text, err)
			}
			return
		}
		if unknown != nil {
			if inv.Prefix != n.prefix {
				return // of another network, by a bend
			}
			t.Fatalf("%s is accepted, and not by zpay32: %v", bent, unknown)
		}
		var hints int
		for _, h := range theirs.RouteHints {
			hints += len(h)
		}
		var ours int
		for _, h := range inv.RouteHints {
			ours += len(h)
		}
		switch {
		case inv.PaymentHash != *theirs.PaymentHash, inv.Timestamp != theirs.Timestamp.Unix(), inv.MinFinalCLTV != int64(theirs.MinFinalCLTVExpiry()),
			!bytes.Equal(inv.Payee[:], theirs.Destination.SerializeCompressed()), ours != hints,
			(inv.AmountMsat == nil) != (theirs.MilliSat == nil), inv.AmountMsat != nil && uint64(*inv.AmountMsat) != uint64(*theirs.MilliSat),
			(inv.Description == nil) != (theirs.Description == nil), inv.Description != nil && *inv.Description != *theirs.Description,
			(inv.DescriptionHash == nil) != (theirs.DescriptionHash == nil):
			t.Fatalf("%s is read as %+v", bent, inv)
		}
		if bent == text {
			if expiry >= 0 && inv.ExpirySeconds != expiry || expiry < 0 && inv.HasExpiry {
				t.Fatalf("%s: expires after %d s, written were %d", text, inv.ExpirySeconds, expiry)
			}
			if inv.AmountMsat != nil && uint64(*inv.AmountMsat) != amount {
				t.Fatalf("%s: %d msat, written were %d", text, *inv.AmountMsat, amount)
			}
		}
		useAll(t, inv)
	})
}
