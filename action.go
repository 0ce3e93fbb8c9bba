package swapper

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// The types of actions in JSON.
const (
	actionSendToAddress             = "SendToAddress"
	actionSignPSBT                  = "SignPSBT"
	actionSignSmartChainTransaction = "SignSmartChainTransaction"
	actionWait                      = "Wait"
)

// Action is what the user, or the user's wallet, has to do next (SerializedAction): a
// [*SendToAddress], [*SignPSBT], [*SignSmartChainTransaction] or [*Wait].
type Action interface {
	// Type returns the type of the action in JSON, which is the name of its Go type.
	Type() string
	action()
}

// UnmarshalAction reads an action from its JSON, for those who get it without the rest of
// the [GetSwapStatusOutput]; null is nil. An action of an unknown type is an error: a
// program must not skip an action that it does not understand.
func UnmarshalAction(text []byte) (Action, error) {
	var head *struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(text, &head); err != nil || head == nil {
		return nil, err
	}
	var a Action
	switch head.Type {
	case actionSendToAddress:
		a = new(SendToAddress)
	case actionSignPSBT:
		a = new(SignPSBT)
	case actionSignSmartChainTransaction:
		a = new(SignSmartChainTransaction)
	case actionWait:
		a = new(Wait)
	case "":
		return nil, errors.New("action has no type")
	default:
		return nil, fmt.Errorf("unknown action type %.40q", head.Type)
	}
	if err := json.Unmarshal(text, a); err != nil {
		return nil, err
	}
	return a, nil
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

// Wait says that the user has nothing to do for now. Its times are numbers of seconds in
// JSON, -1 for a negative one; they are read to the millisecond.
type Wait struct {
	Name         string // Awaiting LP payout, Automatic settlement, Bitcoin confirmations
	Description  string
	ExpectedTime time.Duration // negative when unknown
	PollTime     time.Duration // time until the next getSwapStatus
}

type waitJSON struct {
	Type         string  `json:"type"`
	Name         string  `json:"name"`
	Description  string  `json:"description"`
	ExpectedTime float64 `json:"expectedTimeSeconds"`
	PollTime     float64 `json:"pollTimeSeconds"`
}

func (*SendToAddress) action()             {}
func (*SignPSBT) action()                  {}
func (*SignSmartChainTransaction) action() {}
func (*Wait) action()                      {}

// Type implements [Action].
func (*SendToAddress) Type() string { return actionSendToAddress }

// Type implements [Action].
func (*SignPSBT) Type() string { return actionSignPSBT }

// Type implements [Action].
func (*SignSmartChainTransaction) Type() string { return actionSignSmartChainTransaction }

// Type implements [Action].
func (*Wait) Type() string { return actionWait }

// MarshalJSON implements [json.Marshaler].
func (s SendToAddress) MarshalJSON() ([]byte, error) {
	type plain SendToAddress
	return marshal(struct {
		Type string `json:"type"`
		plain
	}{actionSendToAddress, plain(s)})
}

// MarshalJSON implements [json.Marshaler].
func (s SignSmartChainTransaction) MarshalJSON() ([]byte, error) {
	type plain SignSmartChainTransaction
	return marshal(struct {
		Type string `json:"type"`
		plain
	}{actionSignSmartChainTransaction, plain(s)})
}

// MarshalJSON implements [json.Marshaler].
func (w Wait) MarshalJSON() ([]byte, error) {
	return marshal(waitJSON{actionWait, w.Name, w.Description, seconds(w.ExpectedTime), seconds(w.PollTime)})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (w *Wait) UnmarshalJSON(text []byte) error {
	var in waitJSON
	err := json.Unmarshal(text, &in)
	if err != nil {
		return err
	}
	*w = Wait{Name: in.Name, Description: in.Description}
	if w.ExpectedTime, err = duration("expectedTimeSeconds", in.ExpectedTime); err != nil {
		return err
	}
	w.PollTime, err = duration("pollTimeSeconds", in.PollTime)
	return err
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

// MarshalJSON implements [json.Marshaler]. It fails unless either Funded or Raw is not empty.
func (s SignPSBT) MarshalJSON() ([]byte, error) {
	switch {
	case len(s.Funded) > 0 && len(s.Raw) == 0:
		return marshal(signPSBTJSON[any]{actionSignPSBT, s.Name, s.Description, s.Chain, typed(s.Funded)})
	case len(s.Raw) > 0 && len(s.Funded) == 0:
		return marshal(signPSBTJSON[any]{actionSignPSBT, s.Name, s.Description, s.Chain, typed(s.Raw)})
	}
	return nil, fmt.Errorf("action has both funded and raw transactions (%d and %d)", len(s.Funded), len(s.Raw))
}

// UnmarshalJSON implements [json.Unmarshaler].
func (s *SignPSBT) UnmarshalJSON(text []byte) error {
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
