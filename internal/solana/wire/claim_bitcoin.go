package wire

import (
	"fmt"
)

// BitcoinClaim is what a claim by Bitcoin proof is made from.
type BitcoinClaim struct {
	Data          *SwapData
	Signer        Key
	Vout          uint32
	Stripped      []byte // the Bitcoin transaction without witnesses
	Proof         Proof
	Confirmations uint16
	Header        StoredHeader // of the block that holds it; stored, or by Before
	Before        []*Tx        // bring the relay up to date
	DataKey       SecretKey
	Layout        DataLayout
	Written       []byte // what the data account holds; nil if it does not exist
	To            ToATA
	FeeRate       FeeRate
}

// BitcoinClaimTxs makes the transactions of a claim by Bitcoin proof: headers, data, token
// account, the claim, and unwrapping. Each needs the ones before it (§15).
func (p Programs) BitcoinClaimTxs(c BitcoinClaim) (txs []*Tx, err error) {
	d := c.Data
	if c.Confirmations != d.Confirmations {
		return nil, fmt.Errorf("the escrow demands %d confirmations, not %d", d.Confirmations, c.Confirmations)
	}
	payload, err := Payload(c.Vout, c.Stripped)
	if err != nil {
		return nil, err
	}
	txs = append(txs, c.Before...)
	data, err := p.DataTxs(c.Signer, c.DataKey, c.Layout, payload, c.Written, c.FeeRate)
	if err != nil {
		return nil, err
	}
	txs = append(txs, data...)
	if d.PayOut {
		var a Action
		if err := c.To.ensure(&a, c.Signer, d.Claimer, d.Token, d.ClaimerATA); err != nil {
			return nil, err
		}
		if len(a.Instructions) > 0 {
			tx, err := a.Tx(c.Signer, c.FeeRate)
			if err != nil {
				return nil, err
			}
			txs = append(txs, tx)
		}
	}
	account := c.DataKey.PublicKey()
	claim, err := p.ClaimInstruction(d, c.Signer, nil, &account)
	if err != nil {
		return nil, err
	}
	tx, err := p.proofTx(c, claim)
	if err != nil {
		return nil, err
	}
	return p.unwrapAfter(append(txs, tx), c)
}

// InlineClaimTxs makes the transactions of a claim by Bitcoin proof that needs no data
// account, because the payment is small: the claim, and unwrapping. There is none if they
// do not fit, or if the relay or the token account need a transaction before.
func (p Programs) InlineClaimTxs(c BitcoinClaim) ([]*Tx, error) {
	payload, err := Payload(c.Vout, c.Stripped)
	if err != nil {
		return nil, err
	}
	if len(payload) > MaxTxSize || len(c.Before) > 0 || c.Data.PayOut && c.To.Missing || c.Confirmations != c.Data.Confirmations {
		return nil, nil
	}
	claim, err := p.inlineClaimInstruction(c.Data, c.Signer, payload)
	if err != nil {
		return nil, err
	}
	tx, err := p.proofTx(c, claim)
	if err != nil {
		return nil, err
	}
	if raw, err := tx.Bytes(); err != nil || len(raw) > MaxTxSize {
		return nil, nil
	}
	return p.unwrapAfter([]*Tx{tx}, c)
}

// proofTx makes the transaction in which the relay checks the payment, and the claim.
func (p Programs) proofTx(c BitcoinClaim, claim Instruction) (*Tx, error) {
	verify := p.VerifyInstruction(c.Signer, c.Proof, uint32(c.Confirmations), c.Header)
	return Action{First: &verify, Instructions: []Instruction{claim}}.Tx(c.Signer, c.FeeRate)
}

func (p Programs) unwrapAfter(txs []*Tx, c BitcoinClaim) ([]*Tx, error) {
	if c.Data.unwraps(c.Signer) {
		tx, err := Action{Units: unitsUnwrap, Instructions: []Instruction{Unwrap(c.Signer)}}.Tx(c.Signer, c.FeeRate)
		if err != nil {
			return nil, err
		}
		txs = append(txs, tx)
	}
	return txs, nil
}

// RelayTx makes the transaction of headers for the relay: it sets no limit of compute
// units, and what it does must come first.
func RelayTx(signer Key, submit Instruction, f FeeRate) (*Tx, error) {
	return Action{First: &submit}.Tx(signer, f)
}
