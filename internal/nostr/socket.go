package nostr

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/coder/websocket"

	"github.com/swapper-go/swapper/internal/httpx"
)

// maxFrame bounds one message of a relay, in bytes.
const maxFrame = 256 << 10

// readFrame returns the label and the members after it of a relay's next message.
func readFrame(ctx context.Context, conn *websocket.Conn) (string, []json.RawMessage, error) {
	text, err := httpx.ReadMessage(ctx, conn)
	if err != nil {
		return "", nil, err
	}
	return parseFrame(text)
}

var errFrame = errors.New("message does not follow the protocol")

func parseFrame(text []byte) (label string, rest []json.RawMessage, err error) {
	var all []json.RawMessage
	if httpx.Decode(text, &all) != nil || len(all) == 0 || json.Unmarshal(all[0], &label) != nil {
		return "", nil, errFrame
	}
	return label, all[1:], nil
}

// okOf reads the members of an OK message.
func okOf(rest []json.RawMessage) (id string, taken bool, text string, err error) {
	if len(rest) < 2 || json.Unmarshal(rest[0], &id) != nil || json.Unmarshal(rest[1], &taken) != nil || string(rest[1]) == "null" {
		return "", false, "", errFrame
	}
	if len(rest) > 2 {
		_ = json.Unmarshal(rest[2], &text) // words for people; without them the answer stands
	}
	return id, taken, text, nil
}

// refusal is the machine-readable word at the start of a relay's text. The rest
// may say anything, the preimage included, and is not repeated.
func refusal(text string) error {
	word, _, ok := strings.Cut(text, ":")
	if ok {
		for _, known := range []string{"duplicate", "pow", "blocked", "rate-limited", "invalid", "restricted", "mute", "auth-required", "error"} {
			if word == known {
				return fmt.Errorf("refused (%s)", known)
			}
		}
	}
	return errors.New("refused")
}
