package read

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Position is how far the events of one contract were read.
type Position struct {
	Block uint64     // to be read again; 0: nothing was read
	Tx    *wire.Felt // of the last event in it that was read; nil if there was none
}

// Cursor is how far the contracts of each version were read: the escrow manager, then the
// vault manager. It is written as the network's clients write theirs, by version
// (protocol: chain-starknet.md §13.1).
type Cursor map[string][2]Position

type positionJSON struct {
	Block uint64 `json:"lastBlockNumber"`
	Tx    string `json:"lastTxHash,omitempty"`
}

// ParseCursor reads a cursor; nothing is one that was never moved. A lone pair of
// positions is one of v1.
func ParseCursor(text []byte) (Cursor, error) {
	c := Cursor{}
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return c, nil
	}
	var members map[string][]positionJSON
	if text[0] == '[' {
		members = map[string][]positionJSON{wire.DefaultVersion: nil}
		lone := members[wire.DefaultVersion]
		if err := json.Unmarshal(text, &lone); err != nil {
			return nil, fmt.Errorf("cursor: %w", err)
		}
		members[wire.DefaultVersion] = lone
	} else if err := json.Unmarshal(text, &members); err != nil {
		return nil, fmt.Errorf("cursor: %w", err)
	}
	for version, all := range members {
		if len(all) != 2 {
			return nil, fmt.Errorf("cursor of %s has %d positions, must have 2", version, len(all))
		}
		var both [2]Position
		for i, p := range all {
			both[i].Block = p.Block
			if p.Tx == "" {
				continue
			}
			tx, err := wire.ParseFelt(p.Tx)
			if err != nil {
				return nil, fmt.Errorf("cursor of %s: lastTxHash: %w", version, err)
			}
			both[i].Tx = &tx
		}
		c[version] = both
	}
	return c, nil
}

// MarshalJSON implements [json.Marshaler].
func (c Cursor) MarshalJSON() ([]byte, error) {
	members := make(map[string][2]positionJSON, len(c))
	for version, both := range c {
		var out [2]positionJSON
		for i, p := range both {
			out[i].Block = p.Block
			if p.Tx != nil {
				out[i].Tx = wire.Hex(*p.Tx)
			}
		}
		members[version] = out
	}
	return json.Marshal(members)
}

func (p Position) equal(o Position) bool {
	return p.Block == o.Block && (p.Tx == nil) == (o.Tx == nil) && (p.Tx == nil || *p.Tx == *o.Tx)
}
