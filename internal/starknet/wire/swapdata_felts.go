package wire

// decodeSwapData reads an escrow from the beginning of calldata and returns what
// follows it. The kind is that of the claim handler, which must be one of the
// deployment. The extra data is a separate argument (§6.6).
func (d Deployment) decodeSwapData(calldata []Felt) (s SwapData, rest []Felt, err error) {
	r := &reader{rest: calldata}
	s = d.readSwapData(r)
	if r.err != nil {
		return SwapData{}, nil, r.err
	}
	return s, r.rest, nil
}

func (d Deployment) readSwapData(r *reader) SwapData {
	s := SwapData{Offerer: r.address(), Claimer: r.address(), Token: r.address(), RefundHandler: r.address(), ClaimHandler: r.address()}
	flags := r.felt()
	bits := flags.Bits()
	if bits[0]&^(flagPayOut|flagPayIn|flagReputation) != 0 || bitLen(flags) > 128 {
		r.fail("unknown escrow flags %s", Hex(flags))
	}
	s.PayOut, s.PayIn, s.Reputation = bits[0]&flagPayOut != 0, bits[0]&flagPayIn != 0, bits[0]&flagReputation != 0
	s.Sequence = bits[1]
	s.ClaimData, s.RefundData, s.Amount, s.FeeToken = r.felt(), r.felt(), r.u256(), r.address()
	s.SecurityDeposit, s.ClaimerBounty = r.u256(), r.u256()
	if !r.flag() { // an Option: 0 is Some
		s.SuccessAction = &SuccessAction{Hash: r.felt(), Expiry: r.uint(64), Fee: r.u256()}
	}
	kind, ok := d.KindOf(s.ClaimHandler)
	if !ok {
		r.fail("%s is not a claim handler of this network", Hex64(s.ClaimHandler))
	}
	s.Kind = kind
	return s
}
