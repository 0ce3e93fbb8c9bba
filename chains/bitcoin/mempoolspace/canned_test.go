package mempoolspace

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// canned answers requests from a table, as in "GET https://host/path". What is
// not in the table cannot be reached; the genesis block of the network always can.
type canned struct {
	network bitcoin.Network
	mu      sync.Mutex
	answers map[string][]answer // the last one is repeated
	slow    string              // requests that end in it are answered after all others
	log     []string
}

type answer struct {
	Status       int             `json:"status"`
	Body         json.RawMessage `json:"body"`
	NetworkError bool            `json:"networkError"`
	header       http.Header
}

// text answers with status 200, or the one given.
func text(body string, status ...int) answer {
	quoted, _ := json.Marshal(body)
	a := answer{Body: quoted}
	if len(status) > 0 {
		a.Status = status[0]
	}
	return a
}

func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	line := r.Method + " " + r.URL.String()
	if c.slow != "" && strings.HasSuffix(line, c.slow) {
		time.Sleep(10 * time.Millisecond)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log = append(c.log, line)
	list := c.answers[line]
	if len(list) == 0 && strings.HasSuffix(line, "/block-height/0") {
		list = []answer{text(c.network.Params().GenesisHash)}
	}
	if len(list) == 0 {
		return nil, errors.New("connection refused")
	}
	if len(list) > 1 {
		c.answers[line] = list[1:]
	}
	a := list[0]
	if a.NetworkError {
		return nil, errors.New("connection refused")
	}
	body := string(a.Body)
	var plain string
	if json.Unmarshal(a.Body, &plain) == nil {
		body = plain
	}
	if a.Status == 0 {
		a.Status = http.StatusOK
	}
	if a.header == nil {
		a.header = http.Header{}
	}
	return &http.Response{StatusCode: a.Status, Header: a.header, Body: io.NopCloser(strings.NewReader(body)), ContentLength: -1, Request: r}, nil
}

// requests returns the lines asked for, without those for genesis blocks.
func (c *canned) requests() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var lines []string
	for _, line := range c.log {
		if !strings.HasSuffix(line, "/block-height/0") {
			lines = append(lines, line)
		}
	}
	return lines
}
