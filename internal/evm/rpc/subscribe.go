package rpc

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/internal/subscribe"
)

// silence is how long a chain may have no new block before a subscription counts as dead.
const silence = time.Minute

// Subscribe returns the nodes at WebSocket URLs, subscribed to the logs of contracts and to
// new blocks. It connects to nothing yet; nil if there are no URLs.
func Subscribe(chainID uint64, urls []string, of []common.Address, transport http.RoundTripper, now func() time.Time, log *slog.Logger) (*subscribe.Nodes, error) {
	return subscribe.New(subscribe.Options{
		URLs:     urls,
		Identity: "eth_chainId",
		Check:    func(answer json.RawMessage) error { return checkChain(chainID, answer) },
		Channels: []subscribe.Channel{
			{Method: "eth_subscribe", Params: []any{"logs", map[string]any{"address": of}}},
			{Method: "eth_subscribe", Params: []any{"newHeads"}, Beat: func(result json.RawMessage) error {
				var head BlockHead
				if err := json.Unmarshal(result, &head); err != nil {
					return err
				}
				if time.Unix(int64(head.Timestamp), 0).Before(now().Add(-behind)) {
					return errors.New("the block is old")
				}
				return nil
			}},
		},
		Silence: silence,
		HTTP:    transport,
		Log:     log,
	})
}
