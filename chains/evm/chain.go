package evm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lru"
	"github.com/swapper-go/swapper/tokens"
)

// Options are what a caller says about an EVM chain.
type Options struct {
	RPC []string // JSON-RPC URLs, http or https, in order of preference; there is no default

	// Network replaces the preset: for a chain without one, or for other
	// deployments of the same contracts.
	Network *Network
	// Tokens replace the known ones of the chain; needed for a chain that is not known.
	Tokens []tokens.Token
}

// Citrea returns the chain CITREA.
func Citrea(o Options) chains.Factory { return factory{ChainCitrea, o} }

// Botanix returns the chain BOTANIX.
func Botanix(o Options) chains.Factory { return factory{ChainBotanix, o} }

// Alpen returns the chain ALPEN.
func Alpen(o Options) chains.Factory { return factory{ChainAlpen, o} }

// Goat returns the chain GOAT.
func Goat(o Options) chains.Factory { return factory{ChainGoat, o} }

// Custom returns a chain that is described by o.Network and o.Tokens.
func Custom(o Options) chains.Factory {
	id := ""
	if o.Network != nil {
		id = o.Network.Chain
	}
	return factory{id, o}
}

type factory struct {
	id string
	o  Options
}

func (f factory) ID() string { return f.id }

// Open implements [chains.Factory]: one round trip, which proves the chain id.
func (f factory) Open(ctx context.Context, env chains.Env) (chains.Chain, error) {
	n, err := f.network(env.Network)
	if err != nil {
		return nil, err
	}
	known := f.o.Tokens
	if known == nil {
		known = tokens.Known(f.id)
	}
	native, err := nativeOf(f.id, known)
	if err != nil {
		return nil, err
	}
	node, err := newNodes(n.ChainID, f.o.RPC, env.HTTP, env.Now)
	if err != nil {
		return nil, err
	}
	c := &chain{net: n, node: node, env: env, tokens: known, native: native, nonces: lru.New[string, sentNonce](maxKnownSigners)}
	for _, d := range n.Deployments {
		c.contracts = append(c.contracts, &contracts{chain: c, Deployment: d, memory: newMemory()})
	}
	if _, err := c.Heads(ctx); err != nil {
		node.close()
		return nil, fmt.Errorf("open %s: %w", f.id, err)
	}
	return c, nil
}

func (f factory) network(on bitcoin.Network) (Network, error) {
	if f.o.Network == nil {
		return Preset(f.id, on)
	}
	n := *f.o.Network
	if n.Bitcoin != on {
		return Network{}, fault.Invalid("network", "%s is configured for Bitcoin %s, not %s", f.id, n.Bitcoin, on)
	}
	return n, n.Validate()
}

func nativeOf(id string, known []tokens.Token) (tokens.Token, error) {
	for _, t := range known {
		if common.HexToAddress(t.Address) == Native {
			return t, nil
		}
	}
	return tokens.Token{}, fault.Invalid("tokens", "%s has no native token (the zero address)", id)
}

// chain is a [chains.Chain].
type chain struct {
	net       Network
	node      *nodes
	env       chains.Env
	tokens    []tokens.Token
	native    tokens.Token
	contracts []*contracts
	nonces    *lru.Cache[string, sentNonce] // by sender
}

// sentNonce is what follows the last transaction that was sent for an account
// through this process.
type sentNonce struct {
	next uint64
	at   time.Time
}

// maxKnownSigners bounds the memory of what was sent.
const maxKnownSigners = 4096

var _ chains.Chain = (*chain)(nil)

// Close ends the connections.
func (c *chain) Close() error { c.node.close(); return nil }

func (c *chain) Info() chains.Info {
	info := chains.Info{ID: c.net.Chain, Tokens: c.tokens, Native: c.native, Default: c.contracts[0].Version(), PollSeconds: int(eventPoll / time.Second)}
	for _, k := range c.contracts {
		info.Versions = append(info.Versions, chains.Version{Name: k.Version(), LPInit: true, Vaults: true})
	}
	return info
}

func (c *chain) Address(s string, strict bool) (string, error) {
	a, err := Address(s, strict)
	if err != nil {
		return "", fault.Invalid("", "%w", err)
	}
	return a, nil
}

// RandomAddress implements [chains.Strangers].
func (c *chain) RandomAddress(rand io.Reader) (string, error) {
	var a common.Address
	if _, err := io.ReadFull(rand, a[:]); err != nil {
		return "", err
	}
	return c.Address(a.Hex(), false)
}

func (c *chain) TokenAddress(s string) (string, error) { return TokenAddress(s) }

func (c *chain) CheckFeeRate(s string) error {
	_, err := ParseFeeRate(s)
	return err
}

func (c *chain) Contract(version string) (chains.Contract, bool) {
	if version == "" {
		version = DefaultVersion
	}
	for _, k := range c.contracts {
		if k.Version() == version {
			return k, true
		}
	}
	return nil, false
}

// VerifyData takes no round trip.
func (c *chain) VerifyData(_ context.Context, signer string, data []byte, signature string) error {
	who, err := account("signer", signer)
	if err != nil {
		return &chains.AuthError{Reason: "the signer is no address", Err: err}
	}
	return c.net.VerifyData(who, data, signature)
}

// Balance takes one round trip.
func (c *chain) Balance(ctx context.Context, owner, token string) (*big.Int, error) {
	who, err := account("wallet", owner)
	if err != nil {
		return nil, err
	}
	of, err := coin("token", token)
	if err != nil {
		return nil, err
	}
	if of == Native {
		var balance hexutil.Big
		if err := batch(ctx, c.node, []Request{{Method: "eth_getBalance", Params: []any{who, "latest"}, Result: &balance}}); err != nil {
			return nil, err
		}
		return balance.ToInt(), nil
	}
	data, err := BalanceCall(who)
	if err != nil {
		return nil, err
	}
	var answer hexutil.Bytes
	if err := batch(ctx, c.node, []Request{callRequest(of, data, "latest", &answer)}); err != nil {
		return nil, err
	}
	return DecodeAmount(answer)
}

// feeHead is what a block says about fees.
type feeHead struct {
	blockHead
	BaseFee *hexutil.Big `json:"baseFeePerGas"`
	L1Fee   *hexutil.Big `json:"l1FeeRate"`
}

func feeRequest(into **feeHead) Request {
	return Request{Method: "eth_getBlockByNumber", Params: []any{"latest", false}, Result: into}
}

func (c *chain) rate(h *feeHead) (FeeRate, error) {
	if h == nil || h.BaseFee == nil {
		return FeeRate{}, fault.New(fault.Upstream, "%s names no base fee", c.net.Chain)
	}
	var l1 *big.Int
	if h.L1Fee != nil {
		l1 = h.L1Fee.ToInt()
	}
	return c.net.FeeRate(h.BaseFee.ToInt(), l1)
}

// FeeRate takes one round trip.
func (c *chain) FeeRate(ctx context.Context) (string, error) {
	rate, err := c.currentRate(ctx)
	if err != nil {
		return "", err
	}
	return rate.String(), nil
}

func (c *chain) currentRate(ctx context.Context) (FeeRate, error) {
	var head *feeHead
	if err := batch(ctx, c.node, []Request{feeRequest(&head)}); err != nil {
		return FeeRate{}, err
	}
	return c.rate(head)
}

// Heads takes one round trip.
func (c *chain) Heads(ctx context.Context) (chains.Heads, error) {
	var h headsRequest
	if err := batch(ctx, c.node, h.requests(c.net)); err != nil {
		return chains.Heads{}, err
	}
	return h.heads()
}

// headsRequest asks for both ends of the chain, along with other questions.
type headsRequest struct {
	net                 Network
	latest, safe, final *blockHead
}

func (h *headsRequest) requests(n Network) []Request {
	requests := []Request{h.tag("latest", &h.latest)}
	if n.SafeTag != "latest" {
		requests = append(requests, h.tag(n.SafeTag, &h.safe))
	}
	if n.FinalizedTag != "latest" && n.FinalizedTag != n.SafeTag {
		requests = append(requests, h.tag(n.FinalizedTag, &h.final))
	}
	h.net = n
	return requests
}

func (h *headsRequest) tag(tag string, into **blockHead) Request {
	return Request{Method: "eth_getBlockByNumber", Params: []any{tag, false}, Result: into}
}

// heads reads the answers. Where two tags are one block it was asked for once.
func (h *headsRequest) heads() (chains.Heads, error) {
	if h.net.SafeTag == "latest" {
		h.safe = h.latest
	}
	switch h.net.FinalizedTag {
	case "latest":
		h.final = h.latest
	case h.net.SafeTag:
		h.final = h.safe
	}
	if h.latest == nil || h.safe == nil || h.final == nil {
		return chains.Heads{}, fault.New(fault.Upstream, "the node has no such block")
	}
	// What is acted on as final is the lowest of the tags: a swap that is not
	// looked at any more must not come back.
	final := h.final
	for _, other := range []*blockHead{h.safe, h.latest} {
		if other.Number < final.Number {
			final = other
		}
	}
	if h.safe.Number > h.latest.Number {
		h.safe = h.latest
	}
	return chains.Heads{Latest: h.latest.block(), Final: final.block()}, nil
}

func (b *blockHead) block() chains.Block {
	return chains.Block{Height: uint64(b.Number), Hash: b.Hash.Hex(), Time: int64(b.Timestamp)}
}

// along puts requests in front of the first batch that a reader makes, so that
// they cost no round trip of their own. In front: a head that is read before a
// state can only be older than it, so that what is not there at a head was not
// there.
type along struct {
	Node
	extra []Request
	err   error
}

func (a *along) Batch(ctx context.Context, requests []Request) error {
	extra := a.extra
	a.extra = nil
	all := append(append([]Request(nil), extra...), requests...)
	if err := a.Node.Batch(ctx, all); err != nil {
		return err
	}
	for i, r := range all[:len(extra)] {
		if r.Err != nil && a.err == nil {
			a.err = fmt.Errorf("%s: %w", all[i].Method, r.Err)
		}
	}
	for i := range requests {
		requests[i].Err = all[len(extra)+i].Err
	}
	return nil
}

// answered returns the error of a reader, or of the questions that went along.
func (a *along) answered(err error) error { return errors.Join(err, a.err) }

// Send takes one round trip: the node is asked along the way whether it knows the
// transaction, so that one which is mined already counts as sent.
func (c *chain) Send(ctx context.Context, tx chains.Signed) error {
	var id common.Hash
	var known *json.RawMessage
	r := []Request{
		{Method: "eth_sendRawTransaction", Params: []any{hexutil.Bytes(tx.Raw)}, Result: &id},
		{Method: "eth_getTransactionByHash", Params: []any{tx.ID}, Result: &known},
	}
	if err := c.node.Batch(ctx, r); err != nil {
		return err
	}
	err := r[0].Err
	text := ""
	if err != nil {
		text = strings.ToLower(err.Error())
	}
	switch {
	case err == nil && id.Hex() != tx.ID:
		return fault.New(fault.Upstream, "the node took transaction %s for %s", tx.ID, id.Hex())
	case err == nil, r[1].Err == nil && known != nil,
		says(text, "already known", "alreadyknown", "known transaction", "already imported", "already exists"):
		c.noteSent(tx)
		return nil
	case says(text, "nonce too low", "nonce is too low", "nonce_too_low", "oldnonce"):
		return fault.New(fault.InvalidState, "the account's nonce was used by another transaction: %w", err)
	}
	return fault.New(fault.Upstream, "the node refuses the transaction: %w", err)
}

// noteSent remembers the nonce, for nodes that have not heard of the transaction.
func (c *chain) noteSent(tx chains.Signed) {
	now := c.env.Now()
	if last, ok := c.nonces.Get(tx.From); ok && last.next > tx.Nonce+1 && now.Sub(last.at) < SendTimeout {
		return
	}
	c.nonces.Add(tx.From, sentNonce{tx.Nonce + 1, now})
}

// nextNonce is the pending nonce that a node names, or a higher one that follows
// what was sent lately. What was sent long ago and is not known was dropped.
func (c *chain) nextNonce(from string, pending uint64) uint64 {
	if last, ok := c.nonces.Get(from); ok && c.env.Now().Sub(last.at) < SendTimeout {
		return max(pending, last.next)
	}
	return pending
}

// receipt is what is read of a transaction's receipt.
type receipt struct {
	Status      hexutil.Uint64 `json:"status"`
	BlockNumber hexutil.Uint64 `json:"blockNumber"`
	BlockHash   common.Hash    `json:"blockHash"`
}

// Status takes one round trip, and a second one for transactions that look
// replaced.
func (c *chain) Status(ctx context.Context, txs []chains.Signed) ([]chains.TxStatus, error) {
	all, doubtful, err := c.status(ctx, txs)
	if err != nil || len(doubtful) == 0 {
		return all, err
	}
	// A transaction may have been mined between the answers of one batch, which
	// looks like another having taken its nonce. It cannot be missed twice.
	again := make([]chains.Signed, len(doubtful))
	for n, i := range doubtful {
		again[n] = txs[i]
	}
	second, replaced, err := c.status(ctx, again)
	if err != nil {
		return nil, err
	}
	for n, i := range doubtful {
		all[i] = second[n]
	}
	for _, n := range replaced {
		all[doubtful[n]].State = chains.TxReplaced
	}
	return all, nil
}

// status also returns the indexes of the transactions that the node does not know
// while the nonce of their account has gone on.
func (c *chain) status(ctx context.Context, txs []chains.Signed) (all []chains.TxStatus, doubtful []int, err error) {
	if len(txs) == 0 {
		return nil, nil, nil
	}
	type answer struct {
		known   *json.RawMessage
		receipt *receipt
	}
	answers := make([]answer, len(txs))
	used := map[string]*hexutil.Uint64{}
	var h headsRequest
	requests := h.requests(c.net)
	for i, tx := range txs {
		if tx.From != "" && used[tx.From] == nil {
			used[tx.From] = new(hexutil.Uint64)
			requests = append(requests, Request{Method: "eth_getTransactionCount", Params: []any{tx.From, c.net.SafeTag}, Result: used[tx.From]})
		}
		requests = append(requests,
			Request{Method: "eth_getTransactionByHash", Params: []any{tx.ID}, Result: &answers[i].known},
			Request{Method: "eth_getTransactionReceipt", Params: []any{tx.ID}, Result: &answers[i].receipt})
	}
	if err := batch(ctx, c.node, requests); err != nil {
		return nil, nil, err
	}
	heads, err := h.heads()
	if err != nil {
		return nil, nil, err
	}
	all = make([]chains.TxStatus, len(txs))
	for i, tx := range txs {
		a := answers[i]
		switch {
		case a.receipt != nil && a.receipt.BlockNumber <= h.safe.Number:
			all[i].Block = chains.Block{Height: uint64(a.receipt.BlockNumber), Hash: a.receipt.BlockHash.Hex()}
			all[i].Final = all[i].Block.Height <= heads.Final.Height
			all[i].State = chains.TxConfirmed
			if a.receipt.Status == 0 {
				all[i].State = chains.TxReverted
			}
		case a.receipt != nil || a.known != nil:
			all[i].State = chains.TxPending
		case tx.From != "" && uint64(*used[tx.From]) > tx.Nonce:
			doubtful = append(doubtful, i)
		}
	}
	return all, doubtful, nil
}
