package psbt

import (
	"fmt"

	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// Template is what a swap fixes about a Bitcoin transaction. Wallet inputs come
// after its inputs, change and whatever else the user wants after its outputs.
type Template struct {
	LockTime uint32
	Inputs   []TemplateInput // spent by somebody else, who signs after the user
	Sequence uint32          // of the first wallet input; further ones are final (0xffffffff)
	Outputs  []wire.TxOut
	// MaxFeePPM bounds what miners get, in millionths of what the wallet pays; see
	// [Template.MaxFee].
	MaxFeePPM int64
}

// TemplateInput is an input of a [Template].
type TemplateInput struct {
	OutPoint bitcoin.OutPoint
	Output   wire.TxOut // that it spends: native segwit
	Sequence uint32
}

// PaymentTemplate is a plain payment of sats to an output script.
func PaymentTemplate(script []byte, sats int64) Template {
	return Template{
		Sequence: wire.MaxTxInSequenceNum,
		Outputs:  []wire.TxOut{{Value: sats, PkScript: script}},
	}
}

// pays is what the wallet pays, in sats, without the fee.
func (t *Template) pays() int64 {
	var sats int64
	for i := range t.Outputs {
		sats += t.Outputs[i].Value
	}
	for i := range t.Inputs {
		sats -= t.Inputs[i].Output.Value
	}
	return max(sats, 0)
}

// MaxFee is the most, in sats, that the transaction may pay miners, unconfirmed parents
// included: see [maxMinerFee]. It holds whatever a backend, a liquidity
// provider or the caller says of rates and sizes.
func (t *Template) MaxFee() int64 { return maxMinerFee(t.pays(), t.MaxFeePPM) }

// OneCoinFee is what miners get, in sats, at a rate in sat/vB if a wallet pays with one
// confirmed coin of type typ and takes change.
func (t *Template) OneCoinFee(typ bitcoin.AddressType, rate float64) (int64, error) {
	required, err := t.required()
	if err != nil {
		return 0, err
	}
	return Draft{Required: required, Outputs: t.Outputs, Change: typ, FeeRate: rate}.oneCoinFee(), nil
}

// FeeError says that a transaction would pay miners more than is accepted.
type FeeError struct {
	Fee        int64 // sats
	ForParents int64 // sats of it, for unconfirmed parents
	Max        int64 // sats
	Pay        int64 // sats that the wallet pays without the fee
}

func (e *FeeError) Error() string {
	if e.ForParents > 0 {
		return fmt.Sprintf("miners would get %d sats, %d of them for unconfirmed transactions that the coins come from, but at most %d are accepted for a payment of %d; wait until the coins are confirmed, or use a lower fee rate", e.Fee, e.ForParents, e.Max, e.Pay)
	}
	return fmt.Sprintf("miners would get %d sats, but at most %d are accepted for a payment of %d; use a lower fee rate, or fewer and larger coins", e.Fee, e.Max, e.Pay)
}

// Public returns the same.
func (e *FeeError) Public() string { return e.Error() }

// Raw returns the template as a PSBT without wallet inputs (RAW_PSBT). The user
// adds inputs, the first of them with t.Sequence, and outputs (protocol: bitcoin.md §9).
func (t *Template) Raw() (PSBT, error) {
	p, err := t.packet()
	if err != nil {
		return nil, err
	}
	return encodePSBT(p)
}

// packet returns the template as a PSBT that can be added to.
func (t *Template) packet() (*psbt.Packet, error) {
	tx := wire.NewMsgTx(2)
	tx.LockTime = t.LockTime
	for i := range t.Inputs {
		in := &t.Inputs[i]
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: in.OutPoint, Sequence: in.Sequence})
	}
	if _, err := sumOutputs(t.Outputs); err != nil {
		return nil, err
	}
	for _, out := range t.Outputs {
		tx.AddTxOut(&out) // a copy: what is done to the transaction leaves the template as it is
	}
	p, err := psbt.NewFromUnsignedTx(tx)
	if err != nil {
		return nil, err
	}
	for i := range t.Inputs {
		out := t.Inputs[i].Output
		p.Inputs[i].WitnessUtxo = &out
	}
	return p, nil
}

// required returns the template's inputs as coins that are spent in any case.
func (t *Template) required() ([]Coin, error) {
	var list []Coin
	for i := range t.Inputs {
		typ, ok := scriptType(t.Inputs[i].Output.PkScript)
		if !ok {
			return nil, fmt.Errorf("input %d spends an output of unknown type", i)
		}
		list = append(list, Coin{OutPoint: t.Inputs[i].OutPoint, Value: t.Inputs[i].Output.Value, Type: typ})
	}
	return list, nil
}
