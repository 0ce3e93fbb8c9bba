package lp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/swapper-go/swapper/internal/btc/rawtx"
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

// InfoRequest returns the two forms of the request for what an LP says about itself: the
// path of a GET, with its query, and the body that is posted to "/info".
func InfoRequest(nonce string) (get string, post []byte) {
	return "/info" + query("nonce", nonce), encode([]Param{{"nonce", text(nonce)}})
}

// ReadInfo decodes the answer to /info of the LP at base. An answer to another nonce than
// the one sent is refused.
func ReadInfo(base string, text []byte, nonce string) (Info, error) {
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
	case s.FeePPM >= 1_000_000 || s.BaseFee > rawtx.MaxMoney || s.Min > s.Max:
		return s, errors.New("the fee or the bounds are inconsistent")
	}
	if s.Max > rawtx.MaxMoney {
		s.Max = rawtx.MaxMoney
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
