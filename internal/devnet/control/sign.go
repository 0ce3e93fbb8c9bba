package control

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/swapper-go/swapper"
)

// mostAction is how long the JSON of an action may be, in bytes.
const mostAction = 1 << 20

// sign signs what an action, in the JSON of getSwapStatus, asks the user to sign.
func sign(user *Wallet, action io.Reader) (any, error) {
	a := new(swapper.Action)
	if err := json.NewDecoder(io.LimitReader(action, mostAction)).Decode(a); err != nil {
		return nil, fmt.Errorf("the body must be the member currentAction of a swap's status: %w", err)
	}
	signed, err := user.SignAction(a)
	return map[string]any{"signedTxs": signed}, err
}
