package nostr

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/swapper-go/swapper/internal/httpx"
)

// Message is a swap claim witness, the only message that there is: an escrow and
// what claims it. It prints without the witness.
type Message struct {
	SwapData json.RawMessage // the chain's serialisation of the escrow, an object with its type
	Witness  string          // hex; for a hash lock the preimage, 32 bytes
	ChainID  string          // which chain of the type, as in CITREA; "": not said
}

func (m Message) String() string       { return "swap claim witness ***" }
func (m Message) GoString() string     { return m.String() }
func (m Message) LogValue() slog.Value { return slog.StringValue(m.String()) }

// typeWitness is the number of the message in the content.
const typeWitness = "0"

// content is the text that is published: compact JSON, members in this order.
func (m Message) content() (string, error) {
	if w, err := hex.DecodeString(m.Witness); err != nil || len(w) != 32 {
		return "", errors.New("the witness is not 64 hex digits")
	}
	if _, err := dataType(m.SwapData); err != nil {
		return "", err
	}
	var text bytes.Buffer
	text.WriteString(`{"type":` + typeWitness + `,"swapData":`)
	if err := json.Compact(&text, m.SwapData); err != nil {
		return "", errors.New("the swap data is not JSON")
	}
	text.Write(quote([]byte(`,"witness":`), m.Witness))
	if m.ChainID != "" {
		text.Write(quote([]byte(`,"chainId":`), m.ChainID))
	}
	text.WriteByte('}')
	return text.String(), nil
}

var errNoWitness = errors.New("not a swap claim witness")

// parseMessage reads a content. What the swap data says and whether the witness
// fits is the receiver's to judge. Unknown members are dropped.
func parseMessage(content string) (m Message, err error) {
	var in map[string]json.RawMessage // exact names, which a struct would not demand
	if err := httpx.Decode([]byte(content), &in); err != nil {
		return m, errNoWitness
	}
	switch string(in["type"]) {
	case typeWitness, `"` + typeWitness + `"`: // the network takes both
	default:
		return m, errNoWitness
	}
	var witness *string
	if json.Unmarshal(in["witness"], &witness) != nil || witness == nil {
		return m, errNoWitness
	}
	m.Witness = *witness
	if id, ok := in["chainId"]; ok && json.Unmarshal(id, &m.ChainID) != nil {
		return m, errNoWitness
	}
	m.SwapData = in["swapData"]
	_, err = dataType(m.SwapData)
	return m, err
}

// dataType is the chain family that swap data says it is of: evm, strk or sol.
func dataType(data json.RawMessage) (string, error) {
	var in map[string]json.RawMessage
	if httpx.Decode(data, &in) != nil {
		return "", errors.New("the swap data is not an object")
	}
	var name string
	if json.Unmarshal(in["type"], &name) != nil || name == "" {
		return "", errors.New("the swap data has no type")
	}
	return name, nil
}
