package psbt

import (
	"fmt"

	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/coinselect"
)

// Template is what a swap fixes about a Bitcoin transaction. Wallet inputs come
// after its inputs, change and whatever else the user wants after its outputs.
type Template struct {
	LockTime uint32
	Inputs   []TemplateInput // spent by somebody else, who signs after the user
	Sequence uint32          // of the first wallet input; further ones are final (0xffffffff)
	Outputs  []wire.TxOut
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
	if _, err := coinselect.SumOutputs(t.Outputs); err != nil {
		return nil, err
	}
	for i := range t.Outputs {
		tx.AddTxOut(&t.Outputs[i])
	}
	p, err := psbt.NewFromUnsignedTx(tx)
	if err != nil {
		return nil, err
	}
	for i := range t.Inputs {
		p.Inputs[i].WitnessUtxo = &t.Inputs[i].Output
	}
	return p, nil
}

// required returns the template's inputs as coins that are spent in any case.
func (t *Template) required() ([]coinselect.Coin, error) {
	var list []coinselect.Coin
	for i := range t.Inputs {
		typ, ok := bitcoin.ScriptType(t.Inputs[i].Output.PkScript)
		if !ok {
			return nil, fmt.Errorf("input %d spends an output of unknown type", i)
		}
		list = append(list, coinselect.Coin{OutPoint: t.Inputs[i].OutPoint, Value: t.Inputs[i].Output.Value, Type: typ})
	}
	return list, nil
}
