package nostr

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/swapper-go/swapper/internal/httpx"
)

// Message is a watchtower message, the only one that there is: an escrow and the
// preimage that claims it. It prints without the preimage.
type Message struct {
	SwapData json.RawMessage // the chain's serialisation of the escrow, an object with its type
	Preimage string          // 32 bytes as hex; "witness" on the wire
	ChainID  string          // which chain of the type, as in CITREA; "": not said
}

func (m Message) String() string       { return "watchtower message ***" }
func (m Message) GoString() string     { return m.String() }
func (m Message) LogValue() slog.Value { return slog.StringValue(m.String()) }

// typeClaim is the number of the message in the content.
const typeClaim = "0"

// content is the text that is published: compact JSON, members in this order.
func (m Message) content() (string, error) {
	if w, err := hex.DecodeString(m.Preimage); err != nil || len(w) != 32 {
		return "", errors.New("the preimage is not 64 hex digits")
	}
	if _, err := dataType(m.SwapData); err != nil {
		return "", err
	}
	var text bytes.Buffer
	text.WriteString(`{"type":` + typeClaim + `,"swapData":`)
	if err := json.Compact(&text, m.SwapData); err != nil {
		return "", errors.New("the swap data is not JSON")
	}
	text.Write(quote([]byte(`,"witness":`), m.Preimage))
	if m.ChainID != "" {
		text.Write(quote([]byte(`,"chainId":`), m.ChainID))
	}
	text.WriteByte('}')
	return text.String(), nil
}

var errNotMessage = errors.New("not a watchtower message")

// parseMessage reads a content. What the swap data says and whether the preimage
// fits is the receiver's to judge. Unknown members are dropped.
func parseMessage(content string) (m Message, err error) {
	var in map[string]json.RawMessage // exact names, which a struct would not demand
	if err := httpx.Decode([]byte(content), &in); err != nil {
		return m, errNotMessage
	}
	switch string(in["type"]) {
	case typeClaim, `"` + typeClaim + `"`: // the network takes both
	default:
		return m, errNotMessage
	}
	var preimage *string
	if json.Unmarshal(in["witness"], &preimage) != nil || preimage == nil {
		return m, errNotMessage
	}
	m.Preimage = *preimage
	if id, ok := in["chainId"]; ok && json.Unmarshal(id, &m.ChainID) != nil {
		return m, errNotMessage
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
