package swap

// MayPurge reports whether, by the record alone, nothing was ever in progress:
// nothing posted, submitted, paid, opened or revealed, and no lie of the LP is kept.
func (r *Record) MayPurge() bool {
	if r.Submission != nil || len(r.Tried) > 0 || r.Lie != nil {
		return false
	}
	if e := r.Escrow; e != nil && (e.InitTx != "" || e.ClaimTx != "" || e.RefundTx != "" || e.Real != nil && (r.Type == FromBTCLNAuto || r.Type == FromBTCLN)) {
		return false
	}
	if l := r.Lightning; l != nil && l.Withdraw != nil && l.Withdraw.Asked {
		return false
	}
	if r.Gas != nil && r.Gas.Paid {
		return false
	}
	b := r.Bitcoin
	return b == nil || !b.Posted && b.Tx == nil && isZero(b.TxID) && len(b.Declined) == 0
}
