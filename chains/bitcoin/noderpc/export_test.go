package noderpc

import (
	"context"
	"encoding/json"
)

// Call makes a call once for each list of parameters, for tests that drive a node.
func Call(ctx context.Context, c *Client, name string, params ...[]any) ([]json.RawMessage, error) {
	var calls []call
	for _, p := range params {
		calls = append(calls, method(name, p...))
	}
	answers, err := c.do(ctx, calls...)
	if err != nil {
		return nil, err
	}
	results := make([]json.RawMessage, len(answers))
	for i, a := range answers {
		if a.isNull() {
			results[i] = json.RawMessage("null")
		} else if err := a.decode(&results[i]); err != nil {
			return nil, err
		}
	}
	return results, nil
}
