package swapper

import (
	"encoding/json"
	"errors"
	"fmt"
)

// The types of actions in JSON.
const (
	actionSendToAddress             = "SendToAddress"
	actionSignPSBT                  = "SignPSBT"
	actionSignSmartChainTransaction = "SignSmartChainTransaction"
	actionWait                      = "Wait"
)

// Action is what the user, or the user's wallet, has to do next
// (SerializedAction). Exactly one member is set.
type Action struct {
	SendToAddress             *SendToAddress
	SignPSBT                  *SignPSBT
	SignSmartChainTransaction *SignSmartChainTransaction
	Wait                      *Wait
}

// SendToAddress asks for a payment from any wallet.
type SendToAddress struct {
	Name        string                `json:"name"` // Deposit on Lightning, Deposit on Bitcoin
	Description string                `json:"description"`
	Chain       string                `json:"chain"` // LIGHTNING, BITCOIN
	Txs         List[SendToAddressTx] `json:"txs"`
}

// SendToAddressTx is one payment of a [SendToAddress].
type SendToAddressTx struct {
	Type      string `json:"type"` // BOLT11_PAYMENT_REQUEST, BITCOIN_ADDRESS: what the address is
	Address   string `json:"address"`
	Hyperlink string `json:"hyperlink"` // URI to open a wallet with
	Amount    Amount `json:"amount"`
}

// SignSmartChainTransaction asks for signatures on a smart chain's transactions,
// which then go to submitTransaction in the same order.
type SignSmartChainTransaction struct {
	Name           string       `json:"name"` // Initiate swap, Settle manually, Refund
	Description    string       `json:"description"`
	Chain          string       `json:"chain"`          // chain identifier
	Txs            List[string] `json:"txs"`            // unsigned, in the chain's serialisation
	RequiredSigner string       `json:"requiredSigner"` // address whose key signs
}

// Wait says that the user has nothing to do for now.
type Wait struct {
	Name                string  `json:"name"` // Awaiting LP payout, Automatic settlement, Bitcoin confirmations
	Description         string  `json:"description"`
	ExpectedTimeSeconds float64 `json:"expectedTimeSeconds"` // -1 when unknown
	PollTimeSeconds     float64 `json:"pollTimeSeconds"`     // time until the next getSwapStatus
}

// Type returns the type of the action in JSON, which is the name of its member, and the empty
// string if none is set.
func (a Action) Type() string {
	switch {
	case a.SendToAddress != nil:
		return actionSendToAddress
	case a.SignPSBT != nil:
		return actionSignPSBT
	case a.SignSmartChainTransaction != nil:
		return actionSignSmartChainTransaction
	case a.Wait != nil:
		return actionWait
	}
	return ""
}

// MarshalJSON implements [json.Marshaler]. It fails unless exactly one member is set.
func (a Action) MarshalJSON() ([]byte, error) {
	set := 0
	for _, is := range []bool{a.SendToAddress != nil, a.SignPSBT != nil, a.SignSmartChainTransaction != nil, a.Wait != nil} {
		if is {
			set++
		}
	}
	if set != 1 {
		return nil, fmt.Errorf("action has %d members, expected exactly one", set)
	}
	t := a.Type()
	switch t {
	case actionSendToAddress:
		return marshal(struct {
			Type string `json:"type"`
			*SendToAddress
		}{t, a.SendToAddress})
	case actionSignPSBT:
		return a.SignPSBT.marshal()
	case actionSignSmartChainTransaction:
		return marshal(struct {
			Type string `json:"type"`
			*SignSmartChainTransaction
		}{t, a.SignSmartChainTransaction})
	default:
		return marshal(struct {
			Type string `json:"type"`
			*Wait
		}{t, a.Wait})
	}
}

// UnmarshalJSON implements [json.Unmarshaler]. An action of an unknown type is
// an error: a program must not skip an action that it does not understand.
func (a *Action) UnmarshalJSON(text []byte) error {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return err
	}
	*a = Action{}
	switch head.Type {
	case actionSendToAddress:
		return json.Unmarshal(text, &a.SendToAddress)
	case actionSignPSBT:
		a.SignPSBT = new(SignPSBT)
		return a.SignPSBT.unmarshal(text)
	case actionSignSmartChainTransaction:
		return json.Unmarshal(text, &a.SignSmartChainTransaction)
	case actionWait:
		return json.Unmarshal(text, &a.Wait)
	case "":
		return errors.New("action has no type")
	}
	return fmt.Errorf("unknown action type %.40q", head.Type)
}

// SignPSBT asks for signatures on Bitcoin transactions, which then go to
// submitTransaction in the same order. Either Funded or Raw is not empty, never
// both.
type SignPSBT struct {
	Name        string       // Deposit on Bitcoin
	Description string       //
	Chain       string       // BITCOIN
	Funded      []FundedPSBT // inputs are already selected; the wallet only signs
	Raw         []RawPSBT    // the wallet adds inputs and signs
}

// FundedPSBT is a transaction with all its inputs.
type FundedPSBT struct {
	PSBTHex    string    `json:"psbtHex"`
	PSBTBase64 string    `json:"psbtBase64"`
	SignInputs List[int] `json:"signInputs"` // indexes of the inputs that the user signs
	FeeRate    float64   `json:"feeRate"`    // sat/vB, of the transaction with the unconfirmed parents that it pays for
	// NetworkFee is what miners get for it, for unconfirmed parents too. It is an addition
	// to the published interface; nil from a service that does not know it.
	NetworkFee *Amount `json:"networkFee,omitempty"`
}

// RawPSBT is a transaction to which the wallet adds its inputs.
type RawPSBT struct {
	PSBTHex     string  `json:"psbtHex"`
	PSBTBase64  string  `json:"psbtBase64"`
	In1Sequence uint32  `json:"in1sequence"` // sequence number that input 1 must have
	FeeRate     float64 `json:"feeRate"`     // lowest accepted fee rate, sat/vB
	// MaxNetworkFee is the most that miners may get for it. It is an addition to the
	// published interface; nil from a service that does not know it.
	MaxNetworkFee *Amount `json:"maxNetworkFee,omitempty"`
}

const (
	fundedPSBT = "FUNDED_PSBT"
	rawPSBT    = "RAW_PSBT"
)

// MarshalJSON implements [json.Marshaler].
func (p FundedPSBT) MarshalJSON() ([]byte, error) { return marshal(p.typed()) }

// typed are the members of a PSBT, which have no method of their own to be written by.
func (p FundedPSBT) typed() any {
	type plain FundedPSBT
	return struct {
		Type string `json:"type"`
		plain
	}{fundedPSBT, plain(p)}
}

// MarshalJSON implements [json.Marshaler].
func (p RawPSBT) MarshalJSON() ([]byte, error) { return marshal(p.typed()) }

func (p RawPSBT) typed() any {
	type plain RawPSBT
	return struct {
		Type string `json:"type"`
		plain
	}{rawPSBT, plain(p)}
}

type signPSBTJSON[T any] struct {
	Type        string `json:"type"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Chain       string `json:"chain"`
	Txs         []T    `json:"txs"`
}

// typed lists PSBTs so that they are written as a part of the action, at one go.
func typed[T interface{ typed() any }](all []T) []any {
	out := make([]any, len(all))
	for i, p := range all {
		out[i] = p.typed()
	}
	return out
}

func (s *SignPSBT) marshal() ([]byte, error) {
	switch {
	case len(s.Funded) > 0 && len(s.Raw) == 0:
		return marshal(signPSBTJSON[any]{actionSignPSBT, s.Name, s.Description, s.Chain, typed(s.Funded)})
	case len(s.Raw) > 0 && len(s.Funded) == 0:
		return marshal(signPSBTJSON[any]{actionSignPSBT, s.Name, s.Description, s.Chain, typed(s.Raw)})
	}
	return nil, fmt.Errorf("action has both funded and raw transactions (%d and %d)", len(s.Funded), len(s.Raw))
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
		return errors.New("txs: funded and raw transactions cannot be mixed")
	case len(w.Txs) == 0:
		return errors.New("txs: must not be empty")
	}
	return nil
}
