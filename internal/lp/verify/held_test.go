package verify

import (
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/lightningnetwork/lnd/zpay32"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lp"
)

// An LP that holds a payment can keep it as long as the invoice's final CLTV delta
// says: a day at most is accepted, and who asks for more has not lied.
func TestHowLongPaymentsAreHeld(t *testing.T) {
	regtest := &chaincfg.RegressionNetParams
	gas := agreed(wei(9600), false)
	gas.Token = gasCoin
	for name, verify := range map[string]func(blocks uint64) error{
		"from lightning": func(blocks uint64) error {
			v := honestFromBTCLN(t)
			v.got.Invoice = invoice(t, regtest, payHash, 100_000_000, zpay32.CLTVExpiry(blocks))
			_, err := FromBTCLN(v.want, v.got, v.funds, v.node)
			return err
		},
		"from lightning, by itself": func(blocks uint64) error {
			v := honestAuto(t)
			v.got.Invoice = invoice(t, regtest, payHash, 100_000_000, zpay32.CLTVExpiry(blocks))
			_, err := FromBTCLNAuto(v.want, v.got, v.funds, v.node)
			return err
		},
		"gas from lightning": func(blocks uint64) error {
			_, err := TrustedLN(gas, bitcoin.Regtest, lp.TrustedLNQuote{Invoice: invoice(t, regtest, payHash, 9_640_000, zpay32.CLTVExpiry(blocks)), SwapFee: wei(38), SwapFeeSats: n(38), Total: wei(9600)})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, blocks := range []uint64{18, 25, 53, 144} { // BOLT11's own, today's LPs, tomorrow's, the most
				if err := verify(blocks); err != nil {
					t.Errorf("%d blocks: %v", blocks, err)
				}
			}
			for _, blocks := range []uint64{145, 2016, 1 << 40} {
				lied(t, spares(lp.CheckInvoice), verify(blocks))
			}
		})
	}
}
