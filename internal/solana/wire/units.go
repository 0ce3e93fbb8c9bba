package wire

// Compute units of the parts of a transaction (§11).
const (
	unitsInitPayIn    = 50_000
	unitsInit         = 90_000
	unitsWrap         = 10_000
	unitsATA          = 40_000
	unitsUnwrap       = 10_000
	unitsSendToken    = 50_000
	unitsSendSOL      = 5_000
	unitsDataCreate   = 5_000
	unitsDataWrite    = 15_000
	unitsDataClose    = 50_000
	unitsClaim        = 25_000
	unitsClaimPayOut  = 50_000
	unitsClaimBitcoin = 600_000 // estimates only: such claims set no limit
	unitsRefund       = 15_000
	unitsRefundPayIn  = 50_000
	unitsVault        = 50_000
)

func (d *SwapData) initUnits() uint32 {
	if d.PayIn {
		return unitsInitPayIn
	}
	return unitsInit
}

func (d *SwapData) claimUnits() uint32 {
	if d.PayOut {
		return unitsClaimPayOut
	}
	return unitsClaim
}

func (d *SwapData) refundUnits() uint32 {
	if d.PayIn {
		return unitsRefundPayIn
	}
	return unitsRefund
}
