//go:build unix

package scale

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// stand stands before a part of the network, for very many swaps that are like a few
// models: what they ask about theirs is asked about the model's, and the answer is made
// theirs. Each swap has hashes of its own, so that nothing is saved that would not be
// saved with as many real swaps. It fails a third of the time, while that is on, counts,
// and says about which swaps it gave an answer.
type stand struct {
	to      string
	models  []twin
	failing *atomic.Bool
	told    func(copies []int) // which may be nil: how their escrows or transactions stand was answered just now

	requests, failed, items atomic.Int64 // items: of batches
}

// twin is a hash of a model, in hex: that of its i-th copy begins alike and ends with i.
type twin struct {
	hash string
	tx   *wire.MsgTx // for a Bitcoin transaction: its copies have another lock time each, and so another id
	ids  map[string]uint32
}

const sameDigits = 48 // of a hash and its copies

// copyOf is the hash of the i-th copy.
func copyOf(hash []byte, i int) []byte {
	return binary.BigEndian.AppendUint64(bytes.Clone(hash[:sameDigits/2]), uint64(i)+1)
}

// before starts a stand before a server, and returns its URL.
func (s *stand) before(t testing.TB, to string) string {
	t.Helper()
	s.to = to
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 256
	client := &http.Client{Transport: transport}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if s.failing.Load() && s.fail(w, r, body) {
			s.failed.Add(1)
			return
		}
		s.answer(w, r, client, body)
	}))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close(); transport.CloseIdleConnections() })
	return server.URL
}

// fail spoils a third of the answers: most are errors, some connections are cut, and now
// and then nothing comes for three seconds.
func (s *stand) fail(w http.ResponseWriter, r *http.Request, body []byte) bool {
	switch n := rand.IntN(90); {
	case n < 14:
		http.Error(w, "try again", http.StatusServiceUnavailable)
	case n < 18:
		http.Error(w, "too many requests", http.StatusTooManyRequests)
	case n < 27:
		panic(http.ErrAbortHandler)
	case n < 30:
		select {
		case <-time.After(3 * time.Second):
		case <-r.Context().Done():
		}
		panic(http.ErrAbortHandler)
	default:
		return false
	}
	return true
}

func (s *stand) answer(w http.ResponseWriter, r *http.Request, client *http.Client, body []byte) {
	path, restore := r.URL.RequestURI(), func(b []byte) []byte { return b }
	var about []int
	switch {
	case r.Method == http.MethodPost && bytes.Contains(body, []byte(`"jsonrpc"`)):
		body, restore, about = s.rpc(body)
	case strings.Contains(path, "/tx/") || strings.Contains(path, "/cpfp/"):
		path, restore, about = s.transaction(path)
	default:
		path = s.twinned(path)
	}
	ask, err := http.NewRequestWithContext(r.Context(), r.Method, s.to+path, bytes.NewReader(body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ask.Header = r.Header.Clone()
	ask.Header.Del("Accept-Encoding")
	answer, err := client.Do(ask)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", answer.Header.Get("Content-Type"))
	w.WriteHeader(answer.StatusCode)
	if _, err := w.Write(restore(text)); err == nil && s.told != nil && answer.StatusCode == http.StatusOK { // else the client is gone
		s.told(about)
	}
}

var hashes = regexp.MustCompile(`[0-9a-f]{64}`)

// modelOf is the model that a hash is a copy of, nil if it is none of ours.
func (s *stand) modelOf(hash string) *twin {
	for i := range s.models {
		if m := &s.models[i]; m.tx == nil && strings.HasPrefix(hash, m.hash[:sameDigits]) {
			return m
		}
	}
	return nil
}

// twinned puts the model's hashes in the place of its copies'.
func (s *stand) twinned(text string) string {
	for i := range s.models {
		m := &s.models[i]
		if m.tx != nil {
			continue
		}
		for from := 0; ; {
			at := strings.Index(text[from:], m.hash[:sameDigits])
			if at < 0 {
				break
			}
			at += from
			if at+64 > len(text) {
				break
			}
			text = text[:at] + m.hash + text[at+64:]
			from = at + 64
		}
	}
	return text
}

// rpcItem is a request of a batch, as far as it is looked at.
type rpcItem struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// rpc makes a question about the models, and the way back: logs of a model's escrow are
// those of each copy that was asked about. about are the copies whose state is asked for.
func (s *stand) rpc(body []byte) (models []byte, back func([]byte) []byte, about []int) {
	var batch []rpcItem
	if json.Unmarshal(body, &batch) != nil {
		batch = make([]rpcItem, 1)
		_ = json.Unmarshal(body, &batch[0]) // the server says what is wrong with it
	}
	s.items.Add(int64(len(batch)))
	copies := map[string]map[string][]string{} // by the id of a search of logs and the model's hash
	for _, item := range batch {
		if item.Method == "eth_call" {
			about = s.copies(string(item.Params), about)
		}
		if item.Method != "eth_getLogs" {
			continue
		}
		of := map[string][]string{}
		for _, h := range hashes.FindAllString(string(item.Params), -1) {
			if m := s.modelOf(h); m != nil && h != m.hash {
				of[m.hash] = append(of[m.hash], h)
			}
		}
		copies[string(item.ID)] = of
	}
	return []byte(s.twinned(string(body))), func(text []byte) []byte {
		if len(copies) == 0 {
			return text
		}
		return multiply(text, copies)
	}, about
}

// copies adds the copies whose hashes are in a text.
func (s *stand) copies(text string, to []int) []int {
	for _, m := range s.models {
		if m.tx != nil {
			continue
		}
		for rest := text; ; {
			_, after, ok := strings.Cut(rest, m.hash[:sameDigits])
			if !ok || len(after) < 64-sameDigits {
				break
			}
			if n, err := strconv.ParseUint(after[:64-sameDigits], 16, 32); err == nil {
				to = append(to, int(n)-1)
			}
			rest = after
		}
	}
	return to
}

// multiply gives each copy the logs of its model.
func multiply(text []byte, copies map[string]map[string][]string) []byte {
	type answer map[string]json.RawMessage
	var batch []answer
	single := json.Unmarshal(text, &batch) != nil
	if single {
		batch = make([]answer, 1)
		if json.Unmarshal(text, &batch[0]) != nil {
			return text
		}
	}
	for _, a := range batch {
		of := copies[string(a["id"])]
		var logs []json.RawMessage
		if len(of) == 0 || json.Unmarshal(a["result"], &logs) != nil {
			continue
		}
		var all []json.RawMessage
		for _, log := range logs {
			found := false
			for model, hashes := range of {
				if !bytes.Contains(log, []byte(model)) {
					continue
				}
				found = true
				for _, h := range hashes {
					all = append(all, bytes.ReplaceAll(log, []byte(model), []byte(h)))
				}
			}
			if !found {
				all = append(all, log)
			}
		}
		a["result"], _ = json.Marshal(all) // of raw messages that were read
	}
	var out []byte
	if single {
		out, _ = json.Marshal(batch[0])
	} else {
		out, _ = json.Marshal(batch)
	}
	return out
}

// transaction makes a question about a model's transaction of one about a copy's.
func (s *stand) transaction(path string) (models string, back func([]byte) []byte, about []int) {
	id := hashes.FindString(path)
	for i := range s.models {
		m := &s.models[i]
		locktime, ok := m.ids[id]
		if !ok {
			continue
		}
		if strings.HasSuffix(path, "/tx/"+id) {
			about = []int{int(locktime) - 1}
		}
		return strings.Replace(path, id, m.hash, 1), func(text []byte) []byte {
			text = bytes.ReplaceAll(text, []byte(m.hash), []byte(id))
			return bytes.Replace(text, fmt.Appendf(nil, `"locktime":%d`, m.tx.LockTime), fmt.Appendf(nil, `"locktime":%d`, locktime), 1)
		}, about
	}
	return path, func(b []byte) []byte { return b }, nil
}

// copyTx is the id of a transaction that differs from the model's in its lock time.
func (m *twin) copyTx(i int) bitcoin.Hash {
	tx := m.tx.Copy()
	tx.LockTime = uint32(i) + 1
	id := bitcoin.Hash(tx.TxHash())
	m.ids[id.String()] = tx.LockTime
	return id
}

func hexOf(b []byte) string { return hex.EncodeToString(b) }
