package wire

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
)

// ReadPlan reads transactions as the plan that they carry out: what they do is found in
// them, the plan's transactions are reckoned again from it, and nothing may differ.
func (p Programs) ReadPlan(text chains.PlanText) (chains.Reading, error) {
	name := text.Name()
	if len(text.Txs) == 0 || len(text.Txs) > maxSigned {
		return chains.Reading{}, fault.Invalid(name, "must be 1 to %d transactions", maxSigned)
	}
	r := chains.Reading{Plan: chains.Plan{Signer: text.Signer}, MaxFee: new(big.Int)}
	var txs []*Parsed
	var wants []WantTx
	for i, one := range text.Txs {
		at := fmt.Sprintf("%s[%d]", name, i)
		tx, err := parseEither(one, text.Signed)
		if err != nil {
			return chains.Reading{}, fault.Invalid(at, "%w", err)
		}
		txs = append(txs, tx)
		if r.Plan.Signer == "" && text.Signed {
			r.Plan.Signer = tx.Payer.String()
		}
		signer, err := ParseKey(r.Plan.Signer)
		if err != nil {
			return chains.Reading{}, fault.Invalid("signer", "%w", err)
		}
		step, want, err := p.readStep(&r.Plan, tx, signer, text.About)
		if err != nil {
			return chains.Reading{}, fault.Invalid(at, "%w", err)
		}
		if step != nil {
			if d, err := p.SwapDataOf(step.Escrow); err == nil {
				r.Nonce, r.Confirmations = d.Nonce, d.Confirmations
			}
			r.Plan.Steps = append(r.Plan.Steps, *step)
			r.Authorized = r.Authorized || step.Kind == chains.StepInit && !want[len(want)-1].Cosigner.IsZero()
			wants = append(wants, want...)
		}
		r.MaxFee.Add(r.MaxFee, tx.MaxFee())
		if text.Signed {
			id, _ := tx.ID()
			r.IDs = append(r.IDs, id.String())
			continue
		}
		if _, is := tx.Signatures[signer]; is {
			return chains.Reading{}, fault.Invalid(at, "is signed already")
		}
		again, err := tx.text()
		if err != nil {
			return chains.Reading{}, err
		}
		r.Txs = append(r.Txs, again)
	}
	if len(wants) == 0 {
		return chains.Reading{}, fault.Invalid(name, "must call the swap program %s", p.Swap)
	}
	if _, at, err := matchAll(wants, txs); err != nil && at == len(txs) {
		return chains.Reading{}, fault.Invalid(name, "%w", err)
	} else if err != nil {
		return chains.Reading{}, fault.Invalid(fmt.Sprintf("%s[%d]", name, at), "%w", err)
	}
	return r, nil
}

// parseEither reads a transaction as it is handed out, or as a wallet returns it, with
// every signature.
func parseEither(text string, signed bool) (*Parsed, error) {
	if !signed {
		return ParseText(text)
	}
	tx, err := parseTxHex(text)
	if err != nil {
		return nil, err
	}
	return tx, tx.Verify()
}

// text is [Tx.Text] of the very bytes that were read.
func (p *Parsed) text() (string, error) {
	text := txText{Tx: hex.EncodeToString(p.Raw), Signers: []string{}, LastValid: p.LastValid}
	for _, k := range p.Signers {
		text.Signers = append(text.Signers, hex.EncodeToString(k))
	}
	b, err := json.Marshal(text)
	return string(b), err
}

// MaxFee is what signatures cost and what the transaction offers for compute units, in
// lamports: the network charges all of it, whether or not the transaction succeeds.
func (p *Parsed) MaxFee() *big.Int {
	signatures := int64(p.Message.Header.NumRequiredSignatures)
	var units, price uint64
	limit, limited := uint32(0), false
	for _, ix := range p.Instructions {
		if n, ok := limitOf(ix); ok {
			limit, limited = n, true
		}
		if v, ok := priceOf(ix); ok {
			price = v
		}
		if ix.Program != BudgetProgram {
			units += defaultUnits
		}
		if ix.Program == Ed25519Program && len(ix.Data) > 0 {
			signatures += int64(ix.Data[0]) // that it checks
		}
	}
	if limited {
		units = uint64(limit)
	}
	return add(FeeRate{Price: price}.PriorityFee(min(units, MaxUnits)), signatures*signatureFee)
}

// Cost is [Parsed.MaxFee] with the rent of the token accounts that the transaction creates,
// in lamports: what its payer loses if it succeeds, but for what the programs move.
func (p *Parsed) Cost() *big.Int {
	cost := p.MaxFee()
	for _, ix := range p.Instructions {
		if ix.Program == ATAProgram {
			add(cost, TokenAccountRent)
		}
	}
	return cost
}

func priceOf(ix Instruction) (uint64, bool) {
	r := reader{data: ix.Data}
	kind, price := r.u8(), r.u64()
	return price, ix.Program == BudgetProgram && kind == 3 && r.end() == nil
}

// readStep reads a transaction as a step, and what it must then be; nil if it calls no
// part of the swap program that is about an escrow. A transaction carries out one step.
func (p Programs) readStep(plan *chains.Plan, tx *Parsed, signer Key, about *chains.Escrow) (*chains.Step, []WantTx, error) {
	for i, ix := range tx.Instructions {
		if ix.Program != p.Swap {
			continue
		}
		c, err := p.DecodeCall(ix)
		if err != nil {
			return nil, nil, err
		}
		switch c.Name {
		case ixInit, ixInitPayIn:
			return p.readOpening(plan, tx, i, signer)
		case ixRefund, ixRefundPayIn, ixClaim, ixClaimPayOut:
		default:
			return nil, nil, fmt.Errorf("%s neither opens, claims nor refunds an escrow", c.Name)
		}
		if about == nil {
			return nil, nil, errors.New("does not say which escrow it is about, and none is open")
		}
		d, err := p.SwapDataOf(*about)
		if err != nil {
			return nil, nil, err
		}
		step := &chains.Step{Escrow: *about}
		want, err := p.readEnding(step, tx, c, d, signer)
		return step, []WantTx{want}, err
	}
	return nil, nil, nil
}

// readOpening reads the opening of an escrow, which is instruction i. The fee rate is the
// one by which the transaction comes out as it is: its price for compute units, and how
// much SOL is wrapped before.
func (p Programs) readOpening(plan *chains.Plan, tx *Parsed, i int, signer Key) (*chains.Step, []WantTx, error) {
	d, _, err := p.OpenedData(tx.Instructions[i], nil)
	if err != nil {
		return nil, nil, err
	}
	d.OffererInitializer = nil // it need not be open yet
	if *d.TxoHash == [32]byte{} {
		d.TxoHash = nil
	}
	e, err := d.Escrow()
	if err != nil {
		return nil, nil, err
	}
	c, err := p.DecodeCall(tx.Instructions[i])
	if err != nil {
		return nil, nil, err
	}
	a, err := p.DecodeInitArgs(c.Args, c.Name == ixInitPayIn)
	if err != nil {
		return nil, nil, err
	}
	lp, err := p.Counterparty(d, signer)
	if err != nil {
		return nil, nil, err
	}
	auth := InitAuth{Prefix: d.InitPrefix(), Timeout: a.AuthExpiry, Signature: tx.Signatures[lp]}
	var f FeeRate
	wrap, create := uint64(0), false
	for _, ix := range tx.Instructions[:i] {
		if price, ok := priceOf(ix); ok {
			f.Price = price
		}
		create = create || ix.Program == ATAProgram
		if len(ix.Data) == 12 && ix.Program == SystemProgram {
			r := reader{data: ix.Data[4:]}
			wrap = r.u64()
		}
	}
	if d.PayIn && d.Token == WSOL && wrap > 0 {
		if wrap > d.Amount {
			return nil, nil, fmt.Errorf("wraps %d lamports, the escrow takes %d", wrap, d.Amount)
		}
		f.Wrap = &Wrap{Create: create, Balance: d.Amount - wrap}
	}
	plan.FeeRate = f.String()
	want, err := p.wantOpen(d, signer, auth, f, maxComputeFee)
	return &chains.Step{Kind: chains.StepInit, Escrow: e, Auth: auth.Auth()}, want, err
}

// readEnding reads a claim or a refund.
func (p Programs) readEnding(step *chains.Step, tx *Parsed, c Call, d *SwapData, signer Key) (WantTx, error) {
	if c.Name == ixClaim || c.Name == ixClaimPayOut {
		secret, err := DecodeSecret(c.Args)
		if err != nil || len(secret) != len(step.Preimage) {
			return WantTx{}, errors.New("is a claim without a secret, which cannot be read")
		}
		step.Kind, step.Preimage = chains.StepClaimSecret, chains.Preimage(secret)
		return p.wantClaim(d, signer, step.Preimage, maxComputeFee)
	}
	timeout, err := DecodeNumber(c.Args)
	if err != nil {
		return WantTx{}, err
	}
	if timeout == 0 {
		step.Kind = chains.StepRefund
		return p.wantRefund(d, signer, nil, nil, maxComputeFee), nil
	}
	first := tx.Instructions[0]
	if first.Program != Ed25519Program || len(first.Data) < 112 || timeout > maxTimeout {
		return WantTx{}, errors.New("is an early refund without the claimer's signature")
	}
	auth := RefundAuth{timeout, Signature(first.Data[48:112])}
	step.Kind, step.Auth = chains.StepRefundAuth, auth.Auth()
	var guard *Key
	if n := len(c.Rest); n == 1 && c.Rest[0].IsSigner { // a key of the service's, which has no funds
		guard = &c.Rest[0].PublicKey
	}
	return p.wantRefund(d, signer, &auth, guard, maxComputeFee), nil
}
