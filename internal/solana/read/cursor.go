package read

import (
	"encoding/json"
	"fmt"

	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Position is the last transaction of a program that was read.
type Position struct {
	Signature wire.Signature
	Slot      uint64
}

// Cursor is where the programs of each version were read up to. It is written as the
// network's clients write theirs (protocol: chain-solana.md §18).
type Cursor map[string]Position

type positionJSON struct {
	Signature string `json:"signature"`
	Slot      uint64 `json:"slot"`
}

// ParseCursor reads a cursor; nothing is one that was never moved. A lone position is
// one of v1.
func ParseCursor(text []byte) (Cursor, error) {
	c := Cursor{}
	if len(text) == 0 {
		return c, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, fmt.Errorf("cursor: %w", err)
	}
	if _, lone := members["signature"]; lone {
		members = map[string]json.RawMessage{wire.V1: text}
	}
	for version, raw := range members {
		var p *positionJSON
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, fmt.Errorf("cursor of %s: %w", version, err)
		}
		if p == nil {
			continue
		}
		sig, err := wire.ParseSignature(p.Signature)
		if err != nil {
			return nil, fmt.Errorf("cursor of %s: %w", version, err)
		}
		c[version] = Position{sig, p.Slot}
	}
	return c, nil
}

// MarshalJSON implements [json.Marshaler].
func (c Cursor) MarshalJSON() ([]byte, error) {
	members := make(map[string]positionJSON, len(c))
	for version, p := range c {
		members[version] = positionJSON{p.Signature.String(), p.Slot}
	}
	return json.Marshal(members)
}
