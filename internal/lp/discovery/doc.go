// Package discovery finds liquidity providers and chooses among them: a [Directory] knows
// the LPs, what they have proven to be and offer, and which of them are in the penalty
// box; [Collect] asks all that could serve a request and returns the best quote.
package discovery
