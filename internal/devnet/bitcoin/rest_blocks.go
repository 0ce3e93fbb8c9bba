package bitcoin

import (
	"slices"
	"strconv"

	"github.com/btcsuite/btcd/blockchain"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

type blockJSON struct {
	ID         string  `json:"id"`
	Height     uint32  `json:"height"`
	Version    int32   `json:"version"`
	Timestamp  int64   `json:"timestamp"`
	TxCount    int     `json:"tx_count"`
	Size       int     `json:"size"`
	Weight     int64   `json:"weight"`
	MerkleRoot string  `json:"merkle_root"`
	Previous   *string `json:"previousblockhash"`
	MedianTime int64   `json:"mediantime"`
	Nonce      uint32  `json:"nonce"`
	Bits       uint32  `json:"bits"`
	Difficulty float64 `json:"difficulty"`
}

func (c *call) blockJSON(b *block) blockJSON {
	h := b.MsgBlock().Header
	j := blockJSON{
		ID:         b.Hash().String(),
		Height:     b.height,
		Version:    h.Version,
		Timestamp:  h.Timestamp.Unix(),
		TxCount:    len(b.txids),
		Size:       b.MsgBlock().SerializeSize(),
		Weight:     blockchain.GetBlockWeight(b.Block),
		MerkleRoot: h.MerkleRoot.String(),
		MedianTime: c.medianTime(b),
		Nonce:      h.Nonce,
		Bits:       h.Bits,
		Difficulty: 4.6565423739069247e-10, // regtest's constant
	}
	if b.height > 0 {
		prev := h.PrevBlock.String()
		j.Previous = &prev
	}
	if c.fault.LyingHeaders {
		j.Timestamp++
	}
	return j
}

func (c *call) medianTime(b *block) int64 {
	var times []int64
	for k := b; k != nil && len(times) < 11; k = c.net.ledger.blocks[k.MsgBlock().Header.PrevBlock] {
		times = append(times, k.MsgBlock().Header.Timestamp.Unix())
	}
	slices.Sort(times)
	return times[len(times)/2]
}

func (c *call) blockHash() (any, error) {
	height, err := strconv.ParseUint(c.PathValue("height"), 10, 32)
	if err != nil {
		return nil, errNoBlock
	}
	if height == 0 && c.fault.WrongNetwork {
		return bitcoin.Mainnet.Params().GenesisHash, nil
	}
	b, ok := c.block(height)
	if !ok {
		return nil, errNoBlock
	}
	return b.Hash().String(), nil
}

// known returns a block by its hash, stale ones included, like Esplora.
func (c *call) known() (*block, error) {
	h, err := bitcoin.ParseHash(c.PathValue("hash"))
	if err != nil {
		return nil, errBadHex
	}
	b, ok := c.net.ledger.blocks[h]
	if !ok || !c.sees(b) {
		return nil, errNoBlock
	}
	return b, nil
}

func (c *call) header() (any, error) {
	b, err := c.known()
	if err != nil {
		return nil, err
	}
	return c.blockJSON(b), nil
}

func (c *call) blockStatus() (any, error) {
	b, err := c.known()
	if err == errBadHex {
		return nil, err
	}
	if err != nil || !c.net.ledger.inBest(b) {
		return map[string]bool{"in_best_chain": false}, nil
	}
	status := map[string]any{"in_best_chain": true, "height": b.height, "next_best": nil}
	if next, ok := c.block(uint64(b.height) + 1); ok {
		status["next_best"] = next.Hash().String()
	}
	return status, nil
}

func (c *call) blockTxs() (any, error) {
	b, err := c.known()
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(b.txids))
	for i, id := range b.txids {
		ids[i] = id.String()
	}
	if c.fault.LyingTxs {
		ids = ids[:1]
		ids[0] = bitcoin.Hash{1}.String()
	}
	return ids, nil
}

// rawBlock answers a whole block. With LyingTxs its last transaction is another one.
func (c *call) rawBlock() (any, error) {
	b, err := c.known()
	if err != nil {
		return nil, err
	}
	raw, err := b.Bytes()
	if err == nil && c.fault.LyingTxs {
		raw = slices.Clone(raw)
		raw[len(raw)-1] ^= 1 // of its lock time
	}
	return raw, err
}

// headers answers a page of headers, descending: 15 with v1, 10 without.
func (c *call) headers() (any, error) {
	height, err := strconv.ParseUint(c.PathValue("height"), 10, 32)
	if err != nil {
		return nil, errNoBlock
	}
	page := 15
	if trimBase(c.URL.Path)[0] == 'b' {
		page = 10
	}
	list := []blockJSON{}
	for h := int64(min(height, uint64(c.limit))); h >= 0 && len(list) < page; h-- {
		list = append(list, c.blockJSON(c.net.ledger.best[h]))
	}
	return list, nil
}
