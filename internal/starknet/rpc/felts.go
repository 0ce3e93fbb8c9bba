package rpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Felts are the felts of an answer, at most [maxFelts].
type Felts []wire.Felt

// maxFelts bounds the felts of one list in an answer. The longest that is asked for are
// the states of some hundred escrows.
const maxFelts = 1 << 16

// UnmarshalJSON implements [json.Unmarshaler].
func (f *Felts) UnmarshalJSON(data []byte) error {
	var all []felt
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	if len(all) > maxFelts {
		return fmt.Errorf("%d felts are more than %d", len(all), maxFelts)
	}
	if all == nil {
		return errors.New("no list of felts")
	}
	*f = make(Felts, len(all))
	for i, one := range all {
		(*f)[i] = one.Felt
	}
	return nil
}

// felt is a felt of an answer. Nodes write all of them in hexadecimal: digits without
// 0x could be either.
type felt struct{ wire.Felt }

func (f *felt) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	if !strings.HasPrefix(text, "0x") && !strings.HasPrefix(text, "0X") {
		return errors.New("a felt does not begin with 0x")
	}
	var err error
	f.Felt, err = wire.ParseFelt(text)
	return err
}

func (f *felt) number() *big.Int {
	if f == nil {
		return nil
	}
	return wire.Number(f.Felt)
}

// hexes is how nodes take felts.
func hexes(all []wire.Felt) []string {
	texts := make([]string, len(all))
	for i, f := range all {
		texts[i] = wire.Hex(f)
	}
	return texts
}
