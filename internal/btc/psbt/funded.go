package psbt

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
)

// MaxPosted is the greatest length in bytes of a PSBT that liquidity
// providers take: they cut requests at 8192 bytes, in which the PSBT stands as
// hex beside about 200 bytes of other things (protocol: lp-protocol.md §3.7).
const MaxPosted = (8192 - 200) / 2

// Funding is a template with the coins that pay for it.
type Funding struct {
	Selection
	AskedFeeRate float64 // sat/vB that the coins were chosen for

	template Template
	wallet   Wallet
}

// Fund chooses the coins of a wallet that pay for a template at a fee rate in
// sat/vB; change goes back to the wallet. The coins' types are the wallet's.
// choose is [Cheapest], or [selectCoins] for what the network's other
// wallets would choose. It is pure: the same arguments give the same transaction.
//
// Errors with code InvalidInput say why the wallet cannot pay; a
// [*notEnoughError] is among their causes if its coins do not suffice, a
// [*FeeError] if miners would get more than [Template.MaxFee].
func Fund(t Template, w Wallet, coins []Coin, rate float64, choose func(Draft, []Coin) (Selection, error)) (*Funding, error) {
	if err := w.CanFund(len(t.Inputs) > 0); err != nil {
		return nil, err
	}
	if err := w.HasKey(); err != nil {
		return nil, err
	}
	return fundFrom(t, w, coins, rate, choose)
}

// fundFrom is [Fund] from a wallet that can.
func fundFrom(t Template, w Wallet, coins []Coin, rate float64, choose func(Draft, []Coin) (Selection, error)) (*Funding, error) {
	required, err := t.required()
	if err != nil {
		return nil, err
	}
	own, err := ownCoins(t, w, coins)
	if err != nil {
		return nil, err
	}
	d := Draft{Required: required, Outputs: t.Outputs, Change: w.Address().Type(), FeeRate: rate}
	if len(t.Inputs) > 0 {
		if d.MaxInputs, err = maxPostedInputs(t, w); err != nil {
			return nil, err
		}
	}
	s, err := choose(d, own)
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "%w", err)
	}
	if most := t.MaxFee(); s.Fee > most {
		return nil, fault.New(fault.InvalidInput, "%w", &FeeError{Fee: s.Fee, ForParents: s.ForParents, Max: most, Pay: t.pays()})
	}
	return &Funding{Selection: s, AskedFeeRate: rate, template: t, wallet: w}, nil
}

// ownCoins gives coins the wallet's type and refuses those that cannot all be
// inputs of one transaction.
func ownCoins(t Template, w Wallet, coins []Coin) ([]Coin, error) {
	seen := make(map[bitcoin.OutPoint]bool, len(coins)+len(t.Inputs))
	for i := range t.Inputs {
		seen[t.Inputs[i].OutPoint] = true
	}
	own := make([]Coin, len(coins))
	for i, c := range coins {
		if seen[c.OutPoint] {
			return nil, fmt.Errorf("coin %s is listed twice", c.OutPoint)
		}
		seen[c.OutPoint] = true
		c.Type = w.Address().Type()
		own[i] = c
	}
	return own, nil
}

// maxPostedInputs is how many inputs, the template's included, fit into what a
// liquidity provider takes once they are signed.
func maxPostedInputs(t Template, w Wallet) (int, error) {
	raw, err := t.Raw()
	if err != nil {
		return 0, err
	}
	script := w.Address().Type().ScriptLen()
	room := MaxPosted - len(raw) - 8 - (outputBaseVBytes + script + 1) // longer counts, change
	one := inputBaseVBytes + 3 + outputBaseVBytes + script + 1         // outpoint and sequence, spent output, end
	switch w.Address().Type() {
	case bitcoin.P2SH:
		one += 3 + 23 + 3 + 108
	case bitcoin.P2WPKH:
		one += 3 + 108
	case bitcoin.P2TR:
		one += 3 + 67
	}
	return len(t.Inputs) + max(room/one, 0), nil
}

// ParentIDs returns the transactions that [Funding.PSBT] needs: all that the
// wallet's inputs spend from for a p2pkh wallet, else none.
func (f *Funding) ParentIDs() []bitcoin.Hash {
	if f.wallet.Address().Type() != bitcoin.P2PKH {
		return nil
	}
	var ids []bitcoin.Hash
	seen := map[bitcoin.Hash]bool{}
	for _, c := range f.own() {
		if !seen[c.OutPoint.Hash] {
			seen[c.OutPoint.Hash] = true
			ids = append(ids, c.OutPoint.Hash)
		}
	}
	return ids
}

// own returns the wallet's coins among the inputs.
func (f *Funding) own() []Coin { return f.Inputs[len(f.template.Inputs):] }

// Funded is a transaction that only lacks signatures (FUNDED_PSBT).
type Funded struct {
	PSBT       PSBT
	SignInputs []int   // indexes of the inputs that the user signs
	FeeRate    float64 // sat/vB that was asked for
	Fee        int64   // sats to miners, for unconfirmed parents too
}

// PSBT returns the transaction to be signed. parents holds the transactions of
// [Funding.ParentIDs] by their ids (protocol: bitcoin.md §9).
func (f *Funding) PSBT(parents map[bitcoin.Hash]*wire.MsgTx) (*Funded, error) {
	p, err := f.template.packet()
	if err != nil {
		return nil, err
	}
	funded := &Funded{FeeRate: f.AskedFeeRate, Fee: f.Fee}
	for i, c := range f.own() {
		in, err := f.input(c, parents)
		if err != nil {
			return nil, err
		}
		sequence := uint32(wire.MaxTxInSequenceNum)
		if i == 0 {
			sequence = f.template.Sequence
		}
		funded.SignInputs = append(funded.SignInputs, len(p.Inputs))
		p.UnsignedTx.AddTxIn(&wire.TxIn{PreviousOutPoint: c.OutPoint, Sequence: sequence})
		p.Inputs = append(p.Inputs, in)
	}
	if f.Change > 0 {
		p.UnsignedTx.AddTxOut(wire.NewTxOut(f.Change, f.wallet.Address().Script()))
		p.Outputs = append(p.Outputs, psbt.POutput{})
	}
	if funded.PSBT, err = encodePSBT(p); err != nil {
		return nil, err
	}
	return funded, nil
}

// input holds what the wallet needs to sign for a coin, and nothing else.
func (f *Funding) input(c Coin, parents map[bitcoin.Hash]*wire.MsgTx) (psbt.PInput, error) {
	out := wire.NewTxOut(c.Value, f.wallet.Address().Script())
	in := psbt.PInput{WitnessUtxo: out}
	switch f.wallet.Address().Type() {
	case bitcoin.P2TR:
		in.TaprootInternalKey = f.wallet.PublicKey()
		return in, nil
	case bitcoin.P2SH:
		in.RedeemScript = witnessKeyHash(f.wallet.PublicKey())
	case bitcoin.P2PKH:
		parent := parents[c.OutPoint.Hash]
		if err := checkParent(parent, c.OutPoint, out); err != nil {
			return psbt.PInput{}, fmt.Errorf("transaction %s: %w", c.OutPoint.Hash, err)
		}
		in.WitnessUtxo, in.NonWitnessUtxo = nil, parent
	}
	in.SighashType = txscript.SigHashAll
	return in, nil
}

// checkParent checks that tx is the transaction op names and holds out there.
func checkParent(tx *wire.MsgTx, op bitcoin.OutPoint, out *wire.TxOut) error {
	switch {
	case tx == nil:
		return errors.New("is required to spend from a legacy address, but was not found")
	case tx.TxHash() != op.Hash:
		return errors.New("is a different transaction")
	case uint64(op.Index) >= uint64(len(tx.TxOut)):
		return fmt.Errorf("has no output %d", op.Index)
	case !sameOutput(tx.TxOut[op.Index], out):
		return fmt.Errorf("output %d does not match the listed coin", op.Index)
	}
	return nil
}

func sameOutput(a, b *wire.TxOut) bool {
	return a.Value == b.Value && bytes.Equal(a.PkScript, b.PkScript)
}
