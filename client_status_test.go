package swapper

import (
	"errors"
	"math/big"
	"testing"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
)

// A status request about a wallet that cannot be is refused by the field of the
// request that is wrong.
func TestStatusNamesTheWalletsField(t *testing.T) {
	t.Parallel()
	h := newHonest(t, one())
	s := trial.Must(h.CreateSwap(t.Context(), CreateSwapInput{SrcToken: "BITCOIN-BTC", DstToken: "CITREA-CBTC", Amount: big.NewInt(100_000), AmountType: ExactIn,
		DstAddress: h.net.EVM.User.Address.Hex()}))(t)
	own, other := h.net.Wallet, h.net.Taproot
	for name, c := range map[string]struct{ address, key, field string }{
		"no address":          {"bc1", own.PublicKey(), "bitcoinAddress"},
		"somebody else's key": {own.Address.String(), other.PublicKey(), "bitcoinPublicKey"},
		"not a taproot key":   {other.Address.String(), "04" + own.PublicKey()[2:], "bitcoinPublicKey"},
	} {
		_, err := h.GetSwapStatus(t.Context(), GetSwapStatusInput{SwapID: s.SwapID, BitcoinAddress: c.address, BitcoinPublicKey: c.key})
		if e, ok := errors.AsType[*fault.Error](err); !ok || e.Code != fault.InvalidInput || e.Field != c.field {
			t.Errorf("%s: %v, want a word about %s", name, err, c.field)
		}
	}
}
