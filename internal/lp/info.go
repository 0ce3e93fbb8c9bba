package lp

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/swapper-go/swapper/internal/retry"
)

// Info is what an LP says about itself. Until an address's signature over the
// envelope is verified, that it has the address is a mere claim (protocol:
// lp-protocol.md §2.2).
type Info struct {
	Envelope []byte // the text that is signed
	Chains   []ChainClaim
	Services map[Service]ServiceInfo
}

// ChainClaim is an address on a smart chain and the signature that proves it.
type ChainClaim struct {
	Chain     string
	Address   string
	Signature string
	Version   string // contract version; "v1" if the LP names none
}

// ServiceInfo is what an LP announces about a service.
type ServiceInfo struct {
	FeePPM   int64 // millionths of the bitcoin amount
	BaseFee  int64 // sats
	Min, Max int64 // sats, of the bitcoin side
	MinTime  int64 // seconds that the escrow of a Lightning payout must last; 0: the LP does not say
	Chains   []ChainTokens
}

// ChainTokens are the tokens of a chain that a service takes or gives, in the
// LP's spelling and order.
type ChainTokens struct {
	Chain  string
	Tokens []string
}

// Tokens returns the tokens of a chain.
func (s ServiceInfo) Tokens(chain string) []string {
	for _, c := range s.Chains {
		if c.Chain == chain {
			return c.Tokens
		}
	}
	return nil
}

// Info asks an LP about itself. It asks by GET and by POST at once, since old
// LPs know only one of them, and takes the first good answer. An answer to
// another nonce than the one sent is refused.
func (c *Client) Info(ctx context.Context, base string) (Info, error) {
	base, err := c.CheckURL(base)
	if err != nil {
		return Info{}, err
	}
	return retry.Do(ctx, c.infoPolicy(), func(ctx context.Context) (Info, error) { return c.info(ctx, base) })
}

// infoPolicy repeats /info and registry calls (protocol: lp-protocol.md §3.5).
func (c *Client) infoPolicy() retry.Policy {
	p := c.o.Retry
	p.Calls, p.Delay, p.Final = 3, 100*time.Millisecond, nil
	return p
}

func (c *Client) info(ctx context.Context, base string) (Info, error) {
	var random [32]byte
	if _, err := io.ReadFull(c.o.Rand, random[:]); err != nil {
		return Info{}, fmt.Errorf("generate a nonce: %w", err)
	}
	nonce := hex.EncodeToString(random[:])
	type outcome struct {
		info Info
		err  error
	}
	ctx, cancel := context.WithCancel(ctx)
	outcomes := make(chan outcome)
	ask := func(method, path string, payload []byte) {
		var o outcome
		text, err := c.once(ctx, toQuote, base, method, path, payload)
		if o.err = err; err == nil {
			o.info, o.err = readInfo(base, text, nonce)
		}
		outcomes <- o
	}
	go ask(http.MethodGet, "/info"+query("nonce", nonce), nil)
	go ask(http.MethodPost, "/info", encode([]Param{{"nonce", text(nonce)}}))
	first := <-outcomes
	if first.err == nil {
		cancel()
		<-outcomes
		return first.info, nil
	}
	second := <-outcomes
	cancel()
	if second.err != nil {
		return Info{}, errors.Join(first.err, second.err)
	}
	return second.info, nil
}

// readInfo decodes an answer to /info.
func readInfo(base string, text []byte, nonce string) (Info, error) {
	broken := func(err error) (Info, error) { return Info{}, &CallError{base, fmt.Errorf("/info: %w", err)} }
	fields, err := object(text)
	if err != nil {
		return broken(err)
	}
	signed, ok := jsonString(fields["envelope"])
	if !ok {
		return broken(errors.New("envelope: must be a string"))
	}
	inner, err := object([]byte(signed))
	if err != nil {
		return broken(err)
	}
	if got, _ := jsonString(inner["nonce"]); got != nonce {
		return broken(errors.New("the envelope does not match the nonce sent"))
	}
	info := Info{Envelope: []byte(signed), Services: map[Service]ServiceInfo{}}
	if info.Chains, err = readChains(fields["chains"]); err != nil {
		return broken(err)
	}
	offered, err := object(inner["services"])
	if err != nil {
		return broken(fmt.Errorf("services: %w", err))
	}
	for key, raw := range offered {
		service, known := serviceNamed(key)
		if !known {
			continue
		}
		// A service that makes no sense is not offered; the others may.
		if s, err := readService(raw); err == nil {
			info.Services[service] = s
		}
	}
	return info, nil
}

func readChains(raw json.RawMessage) ([]ChainClaim, error) {
	var out []ChainClaim
	err := inOrder(raw, func(chain string, value json.RawMessage) error {
		a := newAnswer(value)
		claim := ChainClaim{Chain: chain, Address: a.str("address"), Signature: a.str("signature"), Version: "v1"}
		if a.has("contractVersion") {
			claim.Version = a.str("contractVersion")
		}
		if a.err == nil { // else the LP does not prove that chain
			out = append(out, claim)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("chains: %w", err)
	}
	return out, nil
}

func readService(raw json.RawMessage) (ServiceInfo, error) {
	a := newAnswer(raw)
	s := ServiceInfo{FeePPM: a.whole("swapFeePPM"), BaseFee: a.whole("swapBaseFee"), Min: a.whole("min"), Max: a.whole("max")}
	switch {
	case a.err != nil:
		return s, a.err
	case s.FeePPM >= 1_000_000 || s.BaseFee > maxSats || s.Min > s.Max:
		return s, errors.New("the fee or the bounds are inconsistent")
	}
	if s.Max > maxSats {
		s.Max = maxSats
	}
	s.MinTime = readMinTime(a.any("data"))
	if !a.has("chainTokens") { // LPs from before there was more than one chain
		list, err := readTokens(a.any("tokens"))
		s.Chains = []ChainTokens{{"SOLANA", list}}
		return s, err
	}
	return s, inOrder(a.any("chainTokens"), func(chain string, value json.RawMessage) error {
		list, err := readTokens(value)
		s.Chains = append(s.Chains, ChainTokens{chain, list})
		return err
	})
}

// readMinTime reads what an LP says of the time that it needs; what makes no sense
// says nothing (protocol: lp-next.md).
func readMinTime(data json.RawMessage) int64 {
	a := newAnswer(data)
	if !a.has("minTimestampCltv") {
		return 0
	}
	seconds := a.whole("minTimestampCltv")
	if a.err != nil || seconds > maxMinTime {
		return 0
	}
	return seconds
}

// maxMinTime is far beyond any escrow, in seconds.
const maxMinTime = 1 << 32

// maxSats is all the bitcoin that there will ever be.
const maxSats = 21_000_000 * 100_000_000

func readTokens(raw json.RawMessage) ([]string, error) {
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, errors.New("tokens: must be a list of strings")
	}
	return list, nil
}

// inOrder hands over the members of an object in their order; of a repeated
// member only the first.
func inOrder(raw json.RawMessage, member func(name string, value json.RawMessage) error) error {
	if _, err := object(raw); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return err
	}
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		name, ok := token.(string)
		if !ok || seen[name] {
			continue
		}
		seen[name] = true
		if err := member(name, value); err != nil {
			return err
		}
	}
	return nil
}

// FeeSats returns the announced fee for an amount of sats up to all the bitcoin
// there is, rounded down.
func (s ServiceInfo) FeeSats(amount int64) int64 {
	const million = 1_000_000 // whole and broken part apart, so that nothing overflows
	return s.BaseFee + amount/million*s.FeePPM + amount%million*s.FeePPM/million
}
