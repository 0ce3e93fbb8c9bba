package solana

import (
	"cmp"
	"math/big"
	"slices"
	"strings"

	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// uiAmount writes an amount of a token.
func uiAmount(amount uint64, decimals uint8) map[string]any {
	text := decimal(amount, decimals)
	rounded, _ := new(big.Float).SetString(text)
	number, _ := rounded.Float64() // as nodes have it, beside the exact text
	return map[string]any{"amount": new(big.Int).SetUint64(amount).String(), "decimals": decimals, "uiAmount": number, "uiAmountString": text}
}

// decimal writes an amount with a point, without zeros at the end.
func decimal(amount uint64, decimals uint8) string {
	text := new(big.Int).SetUint64(amount).String()
	if decimals == 0 {
		return text
	}
	if missing := int(decimals) + 1 - len(text); missing > 0 {
		text = strings.Repeat("0", missing) + text
	}
	point := len(text) - int(decimals)
	return strings.TrimSuffix(strings.TrimRight(text[:point]+"."+text[point:], "0"), ".")
}

func (q *request) getTokenAccountBalance() (any, *NodeError) {
	return q.about(func(v *bank.View, k wire.Key, _ config) (any, *NodeError) {
		if _, ok := v.Account(k); !ok {
			return nil, &NodeError{Code: -32602, Message: "Invalid param: could not find account"}
		}
		t, ok := v.Token(k)
		if !ok {
			return nil, &NodeError{Code: -32602, Message: "Invalid param: not a Token account"}
		}
		return in(v, uiAmount(t.Amount, t.Decimals)), nil
	})
}

func (q *request) getTokenSupply() (any, *NodeError) {
	return q.about(func(v *bank.View, k wire.Key, _ config) (any, *NodeError) {
		if _, ok := v.Account(k); !ok {
			return nil, &NodeError{Code: -32602, Message: "Invalid param: could not find account"}
		}
		m, ok := v.Mint(k)
		if !ok {
			return nil, &NodeError{Code: -32602, Message: "Invalid param: not a Token mint"}
		}
		return in(v, uiAmount(m.Supply, m.Decimals)), nil
	})
}

// mostLargest is how many accounts a node names as the largest of a token.
const mostLargest = 20

func (q *request) getTokenLargestAccounts() (any, *NodeError) {
	return q.about(func(v *bank.View, k wire.Key, _ config) (any, *NodeError) {
		if _, ok := v.Mint(k); !ok {
			return nil, &NodeError{Code: -32602, Message: "Invalid param: not a Token mint"}
		}
		type holder struct {
			at wire.Key
			bank.Token
		}
		var all []holder
		for _, at := range v.Owned(wire.TokenProgram) {
			if t, ok := v.Token(at); ok && t.Mint == k {
				all = append(all, holder{at, t})
			}
		}
		slices.SortStableFunc(all, func(a, b holder) int { return cmp.Compare(b.Amount, a.Amount) })
		out := []any{}
		for _, h := range all[:min(len(all), mostLargest)] {
			shown := uiAmount(h.Amount, h.Decimals)
			shown["address"] = h.at.String()
			out = append(out, shown)
		}
		return in(v, out), nil
	})
}

func (q *request) getTokenAccountsByOwner() (any, *NodeError) {
	owner, err := q.key(0)
	if err != nil {
		return nil, err
	}
	var of struct{ Mint, ProgramID string }
	if err := q.param(1, &of); err != nil {
		return nil, err
	}
	c, err := q.config(2)
	if err != nil {
		return nil, err
	}
	var mint wire.Key
	switch {
	case of.Mint != "":
		if mint, err = parseKey(of.Mint); err != nil {
			return nil, err
		}
	case of.ProgramID != "":
		program, err := parseKey(of.ProgramID)
		if err != nil {
			return nil, err
		}
		if program != wire.TokenProgram {
			return nil, &NodeError{Code: -32602, Message: "Invalid param: unrecognized Token program id"}
		}
	default:
		return nil, wrongParams("a mint or a programId")
	}
	return q.read(c, func(v *bank.View) (any, *NodeError) {
		if _, ok := v.Mint(mint); of.Mint != "" && !ok {
			return nil, &NodeError{Code: -32602, Message: "Invalid param: could not find mint"}
		}
		all, err := owned(v, wire.TokenProgram, c, func(a bank.Account) bool {
			t, e := wire.DecodeTokenAccount(a.Owner, a.Data)
			return e == nil && len(a.Data) == wire.TokenAccountSpace && a.Data[108] != 0 && t.Owner == owner && (of.Mint == "" || t.Mint == mint)
		})
		return in(v, all), err
	})
}

// parsedAccount writes what is known of an account's data, nil if nothing is.
func parsedAccount(v *bank.View, k wire.Key, a bank.Account) any {
	if a.Owner != wire.TokenProgram {
		return nil
	}
	var kind string
	var info map[string]any
	if t, ok := v.Token(k); ok {
		state := "initialized"
		if t.Frozen {
			state = "frozen"
		}
		kind, info = "account", map[string]any{"mint": t.Mint.String(), "owner": t.Owner.String(), "tokenAmount": uiAmount(t.Amount, t.Decimals),
			"state": state, "isNative": t.Native != nil}
		if t.Native != nil {
			info["rentExemptReserve"] = uiAmount(*t.Native, t.Decimals)
		}
		if t.Delegate != nil {
			info["delegate"], info["delegatedAmount"] = t.Delegate.String(), uiAmount(t.Delegated, t.Decimals)
		}
		if t.Closer != nil {
			info["closeAuthority"] = t.Closer.String()
		}
	} else if m, ok := v.Mint(k); ok {
		kind, info = "mint", map[string]any{"mintAuthority": keyOrNull(m.Authority), "supply": new(big.Int).SetUint64(m.Supply).String(),
			"decimals": m.Decimals, "isInitialized": true, "freezeAuthority": keyOrNull(m.Freeze)}
	} else {
		return nil
	}
	return map[string]any{"program": "spl-token", "parsed": map[string]any{"type": kind, "info": info}, "space": len(a.Data)}
}

func keyOrNull(k *wire.Key) any {
	if k == nil {
		return nil
	}
	return k.String()
}
