package noderpc

import (
	"context"
	"encoding/json"
)

// Call makes any call, for tests that drive a node.
func Call(ctx context.Context, c *Client, name string, params ...any) (json.RawMessage, error) {
	answers, err := c.do(ctx, method(name, params...))
	if err != nil {
		return nil, err
	}
	var result json.RawMessage
	if answers[0].isNull() {
		return json.RawMessage("null"), nil
	}
	err = answers[0].decode(&result)
	return result, err
}
