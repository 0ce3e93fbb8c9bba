package evm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/async"
	evmread "github.com/swapper-go/swapper/internal/evm/read"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/settle"
)

// contracts is one deployment as a [chains.VaultContract].
type contracts struct {
	chain *chain
	evmread.Contracts
	memory memory
}

var (
	_ chains.VaultList    = (*contracts)(nil)
	_ chains.PublicReader = (*contracts)(nil)
)

func (k *contracts) Version() string { return k.Deployment.Version }

func (k *contracts) Expect(spec chains.Spec) (chains.Escrow, error) {
	s, err := k.Deployment.Expect(spec)
	if err != nil {
		return chains.Escrow{}, err
	}
	return k.neutral(s)
}

// neutral is an escrow's neutral view, whose text need not be read again.
func (k *contracts) neutral(s wire.SwapData) (chains.Escrow, error) {
	e, err := k.Deployment.Escrow(s)
	if err == nil {
		k.memory.noteText(e.Data, s)
	}
	return e, err
}

// Decode also demands the configured handlers, whatever kind the data claims to be. The
// same text is read once.
func (k *contracts) Decode(data json.RawMessage) (chains.Escrow, error) {
	if e, ok := k.memory.decoded.Get(string(data)); ok {
		return e, nil
	}
	e, err := k.checked(wire.ParseSwapData(data))
	if err == nil && len(data) <= parsedLen {
		k.memory.decoded.Add(string(data), e)
	}
	return e, err
}

// ReadPublic implements [chains.PublicReader].
func (k *contracts) ReadPublic(data json.RawMessage) (chains.Escrow, error) {
	return k.checked(k.ParsePublic(data))
}

// checked is the neutral view of an escrow that was read, if it is one of this deployment.
func (k *contracts) checked(s wire.SwapData, err error) (chains.Escrow, error) {
	if err == nil {
		err = k.CheckSwapData(s)
	}
	if err != nil {
		return chains.Escrow{}, err
	}
	return k.neutral(s)
}

func (k *contracts) Diff(want, got chains.Escrow, may chains.Tolerance) error {
	a, err := k.memory.swapDataOf(want)
	if err != nil {
		return err
	}
	b, err := k.memory.swapDataOf(got)
	if err != nil {
		return &chains.DiffError{Member: "data", Want: "escrow data", Got: err.Error()}
	}
	return wire.Diff(a, b, may)
}

func (k *contracts) ClaimHash(c chains.Condition) ([]byte, error) {
	h, err := k.Deployment.ClaimHash(c)
	return h[:], err
}

func (k *contracts) ClaimHashText(hash []byte) string { return wire.ClaimHashText(hash) }

func (k *contracts) Public(e chains.Escrow) (json.RawMessage, error) {
	if text, ok := k.memory.shown.Get(string(e.Data)); ok {
		return bytes.Clone(text), nil
	}
	s, err := k.memory.swapDataOf(e)
	if err != nil {
		return nil, err
	}
	text, err := s.Public()
	if err == nil && len(e.Data) <= parsedLen {
		k.memory.shown.Add(string(e.Data), bytes.Clone(text))
	}
	return text, err
}

// Escrows takes one round trip, a second one if something happened to an escrow
// since it was last looked at, unless the query says from which height on, and another one if an authorisation seems to be over. Queries by
// claim hash take those of [contracts.findEscrows] before. A settled query goes to all nodes,
// each of which takes these round trips.
func (k *contracts) Escrows(ctx context.Context, queries []chains.EscrowQuery) ([]chains.EscrowFact, error) {
	p := k.panel()
	facts, err := settle.Escrows(ctx, p, queries, k.escrows, (*contracts).escrows)
	for i, f := range facts {
		if queries[i].Settled && !k.alone() && f.Err == nil {
			k.noteSettled(p, queries[i], f)
		}
	}
	return facts, err
}

// escrows asks one node.
func (k *contracts) escrows(ctx context.Context, queries []chains.EscrowQuery) ([]chains.EscrowFact, error) {
	if len(queries) == 0 {
		return nil, nil
	}
	began := k.chain.env.Now()
	facts := make([]chains.EscrowFact, len(queries))
	if err := k.findEscrows(ctx, queries, facts); err != nil {
		return nil, err
	}
	hashes := make([]common.Hash, len(queries))
	var asked []common.Hash // each once
	place, since := map[common.Hash]int{}, map[common.Hash]uint64{}
	for i, q := range queries {
		e := cmp.Or(q.Escrow, facts[i].Escrow)
		if e == nil || facts[i].Err != nil {
			continue
		}
		hashes[i] = common.BytesToHash(e.Hash)
		if _, ended := k.memory.known.Ended(hashes[i]); ended {
			continue
		}
		if _, ok := place[hashes[i]]; !ok {
			place[hashes[i]] = len(asked)
			asked = append(asked, hashes[i])
		}
		if _, opened := k.memory.known.Opened(hashes[i]); q.Escrow != nil && q.From != 0 && !opened {
			since[hashes[i]] = max(q.From, k.EscrowManager.Height)
		}
	}
	read, heads, h, err := k.readStates(ctx, asked, since)
	if err != nil {
		return nil, err
	}
	for i, q := range queries {
		found := facts[i].Escrow
		if n, ok := place[hashes[i]]; ok && hashes[i] != (common.Hash{}) {
			facts[i] = read[n]
			k.memory.known.Note(hashes[i], read[n], buriedBelow(heads.Final), began, k.alone())
		} else if ended, ok := k.memory.known.Ended(hashes[i]); ok {
			facts[i] = ended
		}
		facts[i].Escrow = found
		facts[i].Head = heads.Latest
		facts[i].Final = evmread.IsFinal(facts[i], heads.Final)
		if q.Auth != nil {
			facts[i].Auth = k.authState(*q.Auth, heads, int64(h.safe.Timestamp))
		}
	}
	return facts, k.confirmOver(ctx, h.safe.Block(), hashes, facts)
}

// readStates reads escrows and the heads that they were read at.
func (k *contracts) readStates(ctx context.Context, hashes []common.Hash, since map[common.Hash]uint64) ([]chains.EscrowFact, chains.Heads, headsRequest, error) {
	var h headsRequest
	node := &along{Node: k.chain.node, extra: h.requests(k.chain.net)}
	read, err := k.ReadEscrows(ctx, node, hashes, chains.Heads{}, evmread.Known{Opened: k.memory.known.Opened, Likely: k.memory.known.Likely, Since: since})
	if err == nil && node.extra != nil { // there was nothing to ask: only the heads are left
		err = node.Batch(ctx, nil)
	}
	if err := node.answered(err); err != nil {
		return nil, chains.Heads{}, h, err
	}
	k.chain.noteHead(h.latest)
	heads, err := h.heads()
	return read, heads, h, err
}

// confirmOver looks once more before an authorisation is called over: the escrow
// must not be open at the very block whose time says so. A batch may have been
// answered by several machines, and one that is late would make a swap look dead
// that was opened in time.
func (k *contracts) confirmOver(ctx context.Context, at chains.Block, hashes []common.Hash, facts []chains.EscrowFact) error {
	var doubtful []int
	var ask []common.Hash
	for i, f := range facts {
		if f.Auth != chains.AuthOver || f.State != chains.EscrowNone || f.Err != nil {
			continue
		}
		if hashes[i] == (common.Hash{}) {
			continue // not known: nothing can be said of it
		}
		doubtful, ask = append(doubtful, i), append(ask, hashes[i])
	}
	if len(ask) == 0 {
		return nil
	}
	records, err := k.Contracts.ReadStates(ctx, k.chain.node, ask, chains.Heads{Latest: at}, nil)
	for n, i := range doubtful {
		switch {
		case err != nil:
			facts[i].Auth = chains.AuthLate
		case records[n].State != uint8(chains.EscrowNone):
			facts[i].Err = fault.New(fault.Upstream, "the node returned contradictory data about the escrow")
		}
	}
	return ctx.Err()
}

// authState judges an authorisation whose signature was verified when it came.
func (k *contracts) authState(a chains.Auth, heads chains.Heads, safeTime int64) chains.AuthState {
	switch now := k.chain.env.Now().Unix(); {
	case settle.AuthOver(a, safeTime):
		return chains.AuthOver
	case a.Timeout-now >= int64(chains.AuthGrace.Seconds()) && heads.Latest.Time <= a.Timeout:
		return chains.AuthGood
	}
	return chains.AuthLate
}

// IDs takes no round trip.
func (k *contracts) IDs(signed []string) ([]string, error) { return wire.IDs(signed) }

// Liquidity takes one round trip, which those share who ask the same while it lasts.
func (k *contracts) Liquidity(ctx context.Context, lp, token string) (chains.LPFunds, error) {
	who, err := account("lp", lp)
	if err != nil {
		return chains.LPFunds{}, err
	}
	of, err := coin("token", token)
	if err != nil {
		return chains.LPFunds{}, err
	}
	return async.Do(ctx, &k.chain.sharing, fmt.Sprintf("funds %s %s %s", k.EscrowManager.Address, who, of), func(ctx context.Context) (chains.LPFunds, error) {
		return k.ReadFunds(ctx, k.chain.node, who, of)
	})
}
