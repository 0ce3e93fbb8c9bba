package bitcoin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/devnet/loopback"
)

// refusal is an answer that is not 200; mempool.space sends its words as plain text.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

var (
	errNoBlock     = &refusal{http.StatusNotFound, "Block not found"}
	errNoTx        = &refusal{http.StatusNotFound, "Transaction not found"}
	errNoProof     = &refusal{http.StatusNotFound, "Transaction not found or is unconfirmed"}
	errBadHex      = &refusal{http.StatusBadRequest, "Invalid hex string"}
	errBadAddress  = &refusal{http.StatusBadRequest, "Invalid Bitcoin address"}
	errNoNode      = &refusal{http.StatusNotFound, "This node does not exist, or our node is not seeing it yet"}
	errNoSuchRoute = &refusal{http.StatusNotFound, "endpoint does not exist"}
)

// call is one request: the view of the network that this server gives, and the
// faults in force.
type call struct {
	view
	fault Fault
	*http.Request
}

// routes serves each path with a function from the request to the answer: a
// string is sent as plain text, bytes as they are, everything else as JSON.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, answer func(*call) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			c := &call{fault: *s.fault.Load(), Request: r}
			if c.fault.Plain && strings.HasPrefix(trimBase(r.URL.Path), "v1/") {
				reply(w, nil, errNoSuchRoute)
				return
			}
			s.net.mu.RLock()
			tip := s.net.ledger.tip().height
			c.view = view{s.net, tip - min(tip, c.fault.Behind)}
			v, err := answer(c)
			s.net.mu.RUnlock()
			reply(w, v, err)
		})
	}
	handle("GET /api/blocks/tip/height", (*call).tipHeight)
	handle("GET /api/block-height/{height}", (*call).blockHash)
	handle("GET /api/block/{hash}", (*call).header)
	handle("GET /api/block/{hash}/status", (*call).blockStatus)
	handle("GET /api/block/{hash}/txids", (*call).blockTxs)
	handle("GET /api/block/{hash}/raw", (*call).rawBlock)
	handle("GET /api/v1/blocks/{height}", (*call).headers)
	handle("GET /api/blocks/{height}", (*call).headers)
	handle("GET /api/tx/{txid}", (*call).tx)
	handle("GET /api/tx/{txid}/hex", (*call).txHex)
	handle("GET /api/tx/{txid}/outspends", (*call).outspends)
	handle("GET /api/tx/{txid}/merkle-proof", (*call).merkleProof)
	handle("GET /api/address/{address}", (*call).address)
	handle("GET /api/address/{address}/utxo", (*call).utxos)
	handle("GET /api/address/{address}/txs", (*call).addressTxs)
	handle("GET /api/address/{address}/txs/chain/{last}", (*call).addressTxs)
	handle("GET /api/v1/fees/recommended", (*call).recommended)
	handle("GET /api/v1/fees/mempool-blocks", (*call).mempoolBlocks)
	handle("GET /api/fee-estimates", (*call).estimates)
	handle("GET /api/v1/cpfp/{txid}", (*call).cpfp)
	handle("GET /api/v1/lightning/nodes/{key}", (*call).node)
	mux.HandleFunc("POST /api/tx", s.broadcast)
	mux.HandleFunc("GET /api/v1/ws", s.serveSocket)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { reply(w, nil, errNoSuchRoute) })
	return mux
}

func reply(w http.ResponseWriter, v any, err error) {
	if err != nil {
		status, text := http.StatusInternalServerError, err.Error()
		if r, ok := errors.AsType[*refusal](err); ok {
			status = r.status
		}
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
		return
	}
	if text, ok := v.(string); ok {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, text)
		return
	}
	if raw, ok := v.([]byte); ok {
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(raw)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the reader may be gone
}

// broadcast is the only call that changes something.
func (s *Server) broadcast(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(io.LimitReader(r.Body, 2*rawtx.MaxSize+1))
	if err != nil {
		return
	}
	raw, err := decodeHex(string(text))
	var tx *wire.MsgTx
	if err == nil {
		tx, err = rawtx.Decode(raw)
	}
	if err != nil {
		reply(w, nil, rpcError(&bitcoin.RejectedError{Code: -22, Reason: "TX decode failed. Make sure the tx has at least one input."}))
		return
	}
	id, err := s.net.Send(tx)
	if s.fault.Load().LoseAnswer {
		loopback.Cut()
		return
	}
	if rejected, ok := errors.AsType[*bitcoin.RejectedError](err); ok {
		err = rpcError(rejected)
	}
	reply(w, id.String(), err)
}

func rpcError(e *bitcoin.RejectedError) error {
	words, err := json.Marshal(e.Reason)
	if err != nil {
		return err
	}
	return &refusal{http.StatusBadRequest, fmt.Sprintf(`sendrawtransaction RPC error: {"code":%d,"message":%s}`, e.Code, words)}
}

func trimBase(path string) string { return strings.TrimPrefix(path, "/api/") }

func (c *call) tipHeight() (any, error) { return strconv.Itoa(int(c.limit)), nil }

func (c *call) recommended() (any, error) {
	f := c.net.fees
	return map[string]float64{"fastestFee": f.Fastest, "halfHourFee": f.HalfHour, "hourFee": f.Hour, "economyFee": f.Economy, "minimumFee": f.Minimum}, nil
}

func (c *call) estimates() (any, error) {
	f := c.net.fees
	return map[string]float64{"1": f.Fastest, "2": f.Fastest, "3": f.HalfHour, "6": f.Hour, "144": f.Economy, "1008": f.Minimum}, nil
}

func (c *call) node() (any, error) {
	node, ok := c.net.nodes[c.PathValue("key")]
	if !ok {
		return nil, errNoNode
	}
	return map[string]any{"public_key": node.PublicKey, "alias": "", "capacity": strconv.FormatInt(node.Capacity, 10),
		"active_channel_count": node.Channels}, nil
}

// txid reads the path's transaction id.
func (c *call) txid(name string) (bitcoin.Hash, error) {
	h, err := bitcoin.ParseHash(c.PathValue(name))
	if err != nil {
		return h, errBadHex
	}
	return h, nil
}
