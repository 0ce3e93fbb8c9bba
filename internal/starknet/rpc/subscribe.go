package rpc

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/subscribe"
)

// silence is how long the network may have no new block before a subscription counts as dead.
const silence = 2 * time.Minute

// Subscribe returns the nodes at WebSocket URLs, subscribed to the events of contracts and to
// new blocks, which version 0.8 of the interface has. It connects to nothing yet; nil if there
// are no URLs.
func Subscribe(network func(chainID wire.Felt) error, urls []string, of []wire.Felt, transport http.RoundTripper, now func() time.Time, log *slog.Logger) (*subscribe.Nodes, error) {
	channels := []subscribe.Channel{{Method: "starknet_subscribeNewHeads", Beat: func(result json.RawMessage) error {
		var head struct {
			Time int64 `json:"timestamp"`
		}
		if err := json.Unmarshal(result, &head); err != nil {
			return err
		}
		if time.Unix(head.Time, 0).Before(now().Add(-behind)) {
			return errors.New("the block is old")
		}
		return nil
	}}}
	for _, contract := range of {
		channels = append(channels, subscribe.Channel{Method: "starknet_subscribeEvents", Params: []any{wire.Hex(contract)}})
	}
	return subscribe.New(subscribe.Options{
		URLs:     urls,
		Identity: "starknet_chainId",
		Check:    func(answer json.RawMessage) error { return checkChain(network, answer) },
		Channels: channels,
		Silence:  silence,
		HTTP:     transport,
		Log:      log,
	})
}
