package solana

import (
	"time"

	"github.com/swapper-go/swapper/chains"
)

// Hasten shortens what a chain waits for: before it asks for new events again, and before it
// asks again what no node has answered.
func Hasten(c chains.Chain) {
	c.(*chain).eventPoll = 200 * time.Millisecond
	c.(*chain).nodes.Retry.Delay = 50 * time.Millisecond
}

// Unhurried has a chain ask no second node before the first has failed.
func Unhurried(c chains.Chain) { c.(*chain).nodes.Hedge = time.Hour }
