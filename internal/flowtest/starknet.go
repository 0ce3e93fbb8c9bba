package flowtest

import (
	"encoding/json"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// prime is that of Starknet's field.
var prime, _ = new(big.Int).SetString("800000000000011000000000000000000000000000000000000000000000001", 16)

// Felt returns the text of a felt in the one form that the library writes: made-up
// addresses of the vectors are beyond the prime, and the reference reduces them where the
// library refuses them. A text that is not a number is returned unchanged.
func Felt(text string) string {
	n, ok := new(big.Int).SetString(text, 0)
	if !ok || n.Sign() < 0 {
		return text
	}
	f, err := wire.FeltOfBig(n.Mod(n, prime))
	if err != nil {
		return text
	}
	return wire.Hex64(f)
}

// starkData reads escrow data of Starknet, with addresses reduced.
func starkData(data json.RawMessage) (wire.SwapData, error) {
	var members map[string]any
	if err := json.Unmarshal(data, &members); err != nil {
		return wire.SwapData{}, err
	}
	for name, m := range members {
		if text, ok := m.(string); ok && len(text) > 2 && text[:2] == "0x" {
			members[name] = Felt(text)
		}
	}
	reduced, err := json.Marshal(members)
	if err != nil {
		return wire.SwapData{}, err
	}
	return wire.ParseSwapData(reduced)
}

// starkEscrow is escrow data of Starknet in neutral form: hashes are those of what was
// reduced, parties as they are written.
func (k *contract) starkEscrow(data json.RawMessage) (chains.Escrow, error) {
	s, err := starkData(data)
	if err != nil {
		return chains.Escrow{}, err
	}
	e, err := wire.Deployment{Version: k.version}.Escrow(s)
	if err != nil {
		return chains.Escrow{}, err
	}
	var written struct{ Offerer, Claimer string }
	if err := json.Unmarshal(data, &written); err != nil {
		return chains.Escrow{}, err
	}
	e.Offerer, e.Claimer, e.Data = written.Offerer, written.Claimer, data
	return e, nil
}
