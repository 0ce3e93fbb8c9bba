package lightning

import "errors"

// QuoteExpiry returns when a quote that is paid through this invoice ends, in
// Unix seconds. The invoice of a liquidity provider must say so itself: one
// without an expiry tag is an error (protocol: bitcoin.md §18.3).
func (inv *Invoice) QuoteExpiry() (int64, error) {
	if !inv.HasExpiry {
		return 0, errors.New("invoice has no expiry")
	}
	return inv.ExpiresAt(), nil
}

// DefinitiveExpiry returns from when on, in Unix seconds, no payment of this
// invoice can be under way: its end and twice the usual time of its final CLTV
// delta. legacy takes 144 blocks for an invoice that does not state the delta,
// as the swap type FROM_BTCLN does; for FROM_BTCLN_AUTO that is an error
// (protocol: bitcoin.md §18.3).
func (inv *Invoice) DefinitiveExpiry(legacy bool) (int64, error) {
	end, err := inv.QuoteExpiry()
	if err != nil {
		return 0, err
	}
	blocks := inv.MinFinalCLTV
	if !inv.HasMinFinalCLTV {
		if !legacy {
			return 0, errors.New("invoice has no final CLTV delta")
		}
		blocks = usualMinFinalCLTV
	}
	return end + blocks*blockSeconds, nil
}
