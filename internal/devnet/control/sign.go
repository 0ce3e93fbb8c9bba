package control

import (
	"fmt"
	"io"

	"github.com/swapper-go/swapper"
)

// mostAction is how long the JSON of an action may be, in bytes.
const mostAction = 1 << 20

// sign signs what an action, in the JSON of getSwapStatus, asks the user to sign.
func sign(user *Wallet, action io.Reader) (any, error) {
	text, err := io.ReadAll(io.LimitReader(action, mostAction))
	if err != nil {
		return nil, err
	}
	a, err := swapper.UnmarshalAction(text)
	if err != nil {
		return nil, fmt.Errorf("the body must be the member currentAction of a swap's status: %w", err)
	}
	signed, err := user.SignAction(a)
	return map[string]any{"signedTxs": signed}, err
}
