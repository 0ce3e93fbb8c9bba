package solana

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"

	"github.com/mr-tron/base58"

	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

const (
	maxKeys   = 100 // of getMultipleAccounts
	maxBase58 = 128 // bytes of data
)

func (q *request) getAccountInfo() (any, *NodeError) {
	return q.about(func(v *bank.View, k wire.Key, c config) (any, *NodeError) {
		a, err := account(v, k, c)
		return in(v, a), err
	})
}

func (q *request) getMultipleAccounts() (any, *NodeError) {
	var texts []string
	if err := q.param(0, &texts); err != nil {
		return nil, err
	}
	c, err := q.config(1)
	if err != nil {
		return nil, err
	}
	if len(texts) > maxKeys {
		return nil, &NodeError{Code: -32602, Message: "Too many inputs provided; max 100"}
	}
	if c.Encoding == "" {
		c.Encoding = "base64"
	}
	var keys []wire.Key
	for _, text := range texts {
		k, err := parseKey(text)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	return q.read(c, func(v *bank.View) (any, *NodeError) {
		all := []any{}
		for _, k := range keys {
			a, err := account(v, k, c)
			if err != nil {
				return nil, err
			}
			all = append(all, a)
		}
		return in(v, all), nil
	})
}

func (q *request) getBalance() (any, *NodeError) {
	return q.about(func(v *bank.View, k wire.Key, _ config) (any, *NodeError) {
		a, _ := v.Account(k)
		return in(v, a.Lamports), nil
	})
}

// account writes an account, nil if there is none.
func account(v *bank.View, k wire.Key, c config) (any, *NodeError) {
	a, ok := v.Account(k)
	if !ok {
		return nil, nil
	}
	return encodeAccount(v, k, a, c)
}

func encodeAccount(v *bank.View, k wire.Key, a bank.Account, c config) (any, *NodeError) {
	data, err := encodeData(v, k, a, c)
	if err != nil {
		return nil, err
	}
	return map[string]any{"lamports": a.Lamports, "owner": a.Owner.String(), "data": data, "executable": a.Executable,
		"rentEpoch": uint64(math.MaxUint64), "space": len(a.Data)}, nil
}

func encodeData(v *bank.View, k wire.Key, a bank.Account, c config) (any, *NodeError) {
	data := a.Data
	if s := c.DataSlice; s != nil {
		from := min(max(s.Offset, 0), len(data))
		data = data[from:min(from+max(s.Length, 0), len(data))]
	}
	switch c.Encoding {
	case "jsonParsed":
		if parsed := parsedAccount(v, k, a); parsed != nil {
			return parsed, nil
		}
		return []string{base64.StdEncoding.EncodeToString(data), "base64"}, nil
	case "base64":
		return []string{base64.StdEncoding.EncodeToString(data), "base64"}, nil
	case "", "binary", "base58":
		if len(data) > maxBase58 {
			return nil, &NodeError{Code: -32600, Message: "Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding."}
		}
		text := base58.Encode(data)
		if c.Encoding == "base58" {
			return []string{text, "base58"}, nil
		}
		return text, nil
	}
	return nil, wrongParams("unknown variant `" + c.Encoding + "`, expected one of `binary`, `base58`, `base64`, `jsonParsed`")
}

// filter is a condition on a program's accounts.
type filter struct {
	DataSize *int
	Memcmp   *comparison
}

// comparison demands bytes at a place of the data.
type comparison struct {
	Offset   int
	Bytes    json.RawMessage // text in the encoding, base58 unless it is named, or an array of numbers
	Encoding string
}

func (c *comparison) want() ([]byte, error) {
	var text string
	if json.Unmarshal(c.Bytes, &text) == nil {
		if c.Encoding == "base64" {
			return base64.StdEncoding.DecodeString(text)
		}
		return base58.Decode(text)
	}
	var numbers []uint16 // []uint8 would be taken for text
	if err := json.Unmarshal(c.Bytes, &numbers); err != nil {
		return nil, err
	}
	want := make([]byte, len(numbers))
	for i, n := range numbers {
		want[i] = byte(n)
	}
	return want, nil
}

// test returns what the filter demands of an account's data.
func (f filter) test() (func(data []byte) bool, *NodeError) {
	switch {
	case f.DataSize != nil:
		return func(data []byte) bool { return len(data) == *f.DataSize }, nil
	case f.Memcmp != nil:
		want, err := f.Memcmp.want()
		if err != nil || len(want) > maxBase58 {
			return nil, &NodeError{Code: -32602, Message: "Invalid param: data too large or not decodable"}
		}
		at := f.Memcmp.Offset
		return func(data []byte) bool { return at >= 0 && at <= len(data) && bytes.HasPrefix(data[at:], want) }, nil
	}
	return nil, wrongParams("unknown filter")
}

func (q *request) getProgramAccounts() (any, *NodeError) {
	program, err := q.key(0)
	if err != nil {
		return nil, err
	}
	c, err := q.config(1)
	if err != nil {
		return nil, err
	}
	var tests []func([]byte) bool
	for _, f := range c.Filters {
		test, err := f.test()
		if err != nil {
			return nil, err
		}
		tests = append(tests, test)
	}
	return q.read(c, func(v *bank.View) (any, *NodeError) {
		all, err := owned(v, program, c, func(a bank.Account) bool {
			for _, test := range tests {
				if !test(a.Data) {
					return false
				}
			}
			return true
		})
		if c.WithContext {
			return in(v, all), err
		}
		return all, err
	})
}

// owned writes a program's accounts.
func owned(v *bank.View, program wire.Key, c config, want func(bank.Account) bool) ([]any, *NodeError) {
	all := []any{}
	for _, k := range v.Owned(program) {
		a, _ := v.Account(k)
		if !want(a) {
			continue
		}
		encoded, err := encodeAccount(v, k, a, c)
		if err != nil {
			return nil, err
		}
		all = append(all, map[string]any{"pubkey": k.String(), "account": encoded})
	}
	return all, nil
}

func (q *request) getMinimumBalanceForRentExemption() (any, *NodeError) {
	var size int
	if err := q.param(0, &size); err != nil {
		return nil, err
	}
	if size < 0 {
		return nil, wrongParams("a size is not negative")
	}
	return wire.Rent(size), nil
}

func (q *request) getSupply() (any, *NodeError) {
	c, err := q.config(0)
	if err != nil {
		return nil, err
	}
	return q.read(c, func(v *bank.View) (any, *NodeError) {
		sum := v.Supply()
		return in(v, map[string]any{"total": sum, "circulating": sum, "nonCirculating": 0, "nonCirculatingAccounts": []string{}}), nil
	})
}
