package rpc

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/subscribe"
)

// silence is how long the cluster may have no new slot before a subscription counts as dead.
const silence = 30 * time.Second

// Subscribe returns the nodes at WebSocket URLs, subscribed to the logs of programs and to new
// slots. newest returns the newest slot that is known otherwise; false if none is. It connects
// to nothing yet; nil if there are no URLs.
func Subscribe(genesis func(hash string) error, urls []string, of []wire.Key, newest func() (uint64, bool), transport http.RoundTripper, log *slog.Logger) (*subscribe.Nodes, error) {
	channels := []subscribe.Channel{{Method: "slotSubscribe", Beat: func(result json.RawMessage) error {
		var at struct {
			Slot uint64 `json:"slot"`
		}
		if err := json.Unmarshal(result, &at); err != nil {
			return err
		}
		if known, ok := newest(); at.Slot == 0 || ok && at.Slot+behindSlots < known {
			return errors.New("the slot is old")
		}
		return nil
	}}}
	for _, program := range of {
		channels = append(channels, subscribe.Channel{Method: "logsSubscribe",
			Params: []any{map[string]any{"mentions": []string{program.String()}}, map[string]any{"commitment": Confirmed.String()}}})
	}
	return subscribe.New(subscribe.Options{
		URLs:     urls,
		Identity: "getGenesisHash",
		Check:    func(answer json.RawMessage) error { return checkGenesis(genesis, answer) },
		Channels: channels,
		Silence:  silence,
		HTTP:     transport,
		Log:      log,
	})
}
