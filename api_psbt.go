package swapper

import (
	"encoding/json"
	"errors"
	"fmt"
)

// SignPSBT asks for signatures on Bitcoin transactions, which then go to
// submitTransaction in the same order. Either Funded or Raw is not empty, never
// both.
type SignPSBT struct {
	Name        ActionName   // Deposit on Bitcoin
	Description string       //
	Chain       string       // BITCOIN
	Funded      []FundedPSBT // their inputs are chosen; the wallet signs
	Raw         []RawPSBT    // the wallet adds inputs and signs
}

// FundedPSBT is a transaction with all its inputs.
type FundedPSBT struct {
	PSBTHex    string    `json:"psbtHex"`
	PSBTBase64 string    `json:"psbtBase64"`
	SignInputs List[int] `json:"signInputs"` // indexes of the inputs that the user signs
	FeeRate    float64   `json:"feeRate"`    // sats/vB
}

// RawPSBT is a transaction to which the wallet adds its inputs.
type RawPSBT struct {
	PSBTHex     string  `json:"psbtHex"`
	PSBTBase64  string  `json:"psbtBase64"`
	In1Sequence uint32  `json:"in1sequence"` // sequence number that input 1 must have
	FeeRate     float64 `json:"feeRate"`     // lowest fee rate that is accepted, sats/vB
}

const (
	fundedPSBT = "FUNDED_PSBT"
	rawPSBT    = "RAW_PSBT"
)

// MarshalJSON implements [json.Marshaler].
func (p FundedPSBT) MarshalJSON() ([]byte, error) {
	type plain FundedPSBT
	return marshal(struct {
		Type string `json:"type"`
		plain
	}{fundedPSBT, plain(p)})
}

// MarshalJSON implements [json.Marshaler].
func (p RawPSBT) MarshalJSON() ([]byte, error) {
	type plain RawPSBT
	return marshal(struct {
		Type string `json:"type"`
		plain
	}{rawPSBT, plain(p)})
}

type signPSBTJSON[T any] struct {
	Type        ActionType `json:"type"`
	Name        ActionName `json:"name"`
	Description string     `json:"description"`
	Chain       string     `json:"chain"`
	Txs         []T        `json:"txs"`
}

func (s *SignPSBT) marshal() ([]byte, error) {
	switch {
	case len(s.Funded) > 0 && len(s.Raw) == 0:
		return marshal(signPSBTJSON[FundedPSBT]{ActionSignPSBT, s.Name, s.Description, s.Chain, s.Funded})
	case len(s.Raw) > 0 && len(s.Funded) == 0:
		return marshal(signPSBTJSON[RawPSBT]{ActionSignPSBT, s.Name, s.Description, s.Chain, s.Raw})
	}
	return nil, fmt.Errorf("action with %d funded and %d raw transactions", len(s.Funded), len(s.Raw))
}

func (s *SignPSBT) unmarshal(text []byte) error {
	var w signPSBTJSON[json.RawMessage]
	if err := json.Unmarshal(text, &w); err != nil {
		return err
	}
	*s = SignPSBT{Name: w.Name, Description: w.Description, Chain: w.Chain}
	for i, tx := range w.Txs {
		var head struct {
			Type string `json:"type"`
		}
		err := json.Unmarshal(tx, &head)
		switch {
		case err != nil:
		case head.Type == fundedPSBT:
			var p FundedPSBT
			err = json.Unmarshal(tx, &p)
			s.Funded = append(s.Funded, p)
		case head.Type == rawPSBT:
			var p RawPSBT
			err = json.Unmarshal(tx, &p)
			s.Raw = append(s.Raw, p)
		default:
			err = fmt.Errorf("unknown type %.40q", head.Type)
		}
		if err != nil {
			return fmt.Errorf("txs[%d]: %w", i, err)
		}
	}
	switch {
	case len(s.Funded) > 0 && len(s.Raw) > 0:
		return errors.New("txs: funded and raw transactions together")
	case len(w.Txs) == 0:
		return errors.New("txs: no transaction")
	}
	return nil
}
