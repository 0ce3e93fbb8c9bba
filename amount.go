package swapper

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/swapper-go/swapper/tokens"
)

// Amount is an amount of a token in its API form (ApiAmount). In JSON,
// RawAmount is a string, and an unknown amount (nil) is "0".
type Amount struct {
	Amount    string   // decimal number for display, truncated to the token's display decimals; compute with RawAmount
	RawAmount *big.Int // base units
	Decimals  int      // base units per token are 10^Decimals
	Symbol    string   // ticker
	Chain     string   // chain identifier
}

// AmountOf converts an amount to its API form. An unknown amount becomes zero.
func AmountOf(a tokens.Amount) Amount {
	raw := new(big.Int)
	if a.Raw != nil {
		raw.Set(a.Raw)
	}
	return Amount{
		Amount:    a.Decimal(),
		RawAmount: raw,
		Decimals:  a.Token.Decimals,
		Symbol:    a.Token.Ticker,
		Chain:     a.Token.Chain,
	}
}

type amountJSON struct {
	Amount    string `json:"amount"`
	RawAmount string `json:"rawAmount"`
	Decimals  int    `json:"decimals"`
	Symbol    string `json:"symbol"`
	Chain     string `json:"chain"`
}

// MarshalJSON implements [json.Marshaler].
func (a Amount) MarshalJSON() ([]byte, error) {
	raw := "0"
	if a.RawAmount != nil {
		raw = a.RawAmount.String()
	}
	return marshal(amountJSON{a.Amount, raw, a.Decimals, a.Symbol, a.Chain})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (a *Amount) UnmarshalJSON(text []byte) error {
	var w amountJSON
	if err := json.Unmarshal(text, &w); err != nil {
		return err
	}
	raw, err := parseBigInt(w.RawAmount)
	if err != nil {
		return fmt.Errorf("rawAmount: %w", err)
	}
	*a = Amount{w.Amount, raw, w.Decimals, w.Symbol, w.Chain}
	return nil
}

// maxBigIntText bounds the integers that are read: 2^256-1 has 78 digits.
const maxBigIntText = 128

// parseBigInt reads a BigIntString, `^[+-]?\d+$`.
func parseBigInt(s string) (*big.Int, error) {
	if len(s) > maxBigIntText {
		return nil, fmt.Errorf("integer is longer than %d characters", maxBigIntText)
	}
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return nil, errors.New("not an integer")
	}
	return n, nil
}

// Token is a token in its API form (ApiToken).
type Token struct {
	ID       string `json:"id"`      // canonical identifier `<chainId>-<ticker>`, accepted wherever a token is an input
	ChainID  string `json:"chainId"` // chain identifier
	Ticker   string `json:"ticker"`
	Name     string `json:"name"`
	Decimals int    `json:"decimals"`
	Address  string `json:"address"` // contract address; empty for BTC on Bitcoin and Lightning
}

// TokenOf converts a token to its API form.
func TokenOf(t tokens.Token) Token {
	return Token{ID: t.ID(), ChainID: t.Chain, Ticker: t.Ticker, Name: t.Name, Decimals: t.Decimals, Address: t.Address}
}

// List is a slice that marshals to an array even when it is nil, because the
// JSON schemas do not allow null lists. Any []T can be assigned to it.
type List[T any] []T

// MarshalJSON implements [json.Marshaler].
func (l List[T]) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("[]"), nil
	}
	return marshal([]T(l))
}

// marshal is json.Marshal without the escaping of &, < and >, which links and
// URIs are full of.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
