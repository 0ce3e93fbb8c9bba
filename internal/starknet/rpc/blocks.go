package rpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Prices are what gas costs in a block, in fri. A price that a node does not tell is nil:
// before version 0.8 that of L2 gas.
type Prices struct {
	L1, L2, L1Data *big.Int
}

// Rate is what to offer after a block with these prices.
func (p Prices) Rate() (wire.FeeRate, error) {
	return wire.RateFor(p.L1, p.L2, p.L1Data)
}

// Block is what is read of an accepted block.
type Block struct {
	Height uint64
	Hash   wire.Felt
	Time   int64 // Unix seconds
	OnL1   bool  // accepted on L1 too
	Prices Prices
}

// Neutral is the block as all chains name one.
func (b Block) Neutral() chains.Block {
	return chains.Block{Height: b.Height, Hash: wire.Hex(b.Hash), Time: b.Time}
}

// blockJSON is a block, or the one that is being made, in any version.
type blockJSON struct {
	Status string   `json:"status"`
	Hash   *felt    `json:"block_hash"`
	Height *uint64  `json:"block_number"`
	Time   *uint64  `json:"timestamp"`
	L1     gasPrice `json:"l1_gas_price"`
	L2     gasPrice `json:"l2_gas_price"`
	L1Data gasPrice `json:"l1_data_gas_price"`
}

type gasPrice struct {
	Fri *felt `json:"price_in_fri"`
}

func (b *blockJSON) prices() Prices {
	return Prices{L1: b.L1.Fri.number(), L2: b.L2.Fri.number(), L1Data: b.L1Data.Fri.number()}
}

// maxNumber bounds heights and times: they stay numbers when they are added to.
const maxNumber = math.MaxInt64 / 4

// UnmarshalJSON implements [json.Unmarshaler]. What is not accepted yet does not count as a block: it
// has no hash, whatever a node calls it.
func (b *Block) UnmarshalJSON(data []byte) error {
	var j blockJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	switch j.Status {
	case "ACCEPTED_ON_L2", "ACCEPTED_ON_L1", "": // old nodes leave it out
	default:
		return fmt.Errorf("the block is %.40q, not accepted", j.Status)
	}
	if j.Hash == nil || j.Hash.IsZero() || j.Height == nil || j.Time == nil || *j.Height > maxNumber || *j.Time > maxNumber {
		return errors.New("the block has no hash, height or time")
	}
	*b = Block{Height: *j.Height, Hash: j.Hash.Felt, Time: int64(*j.Time), OnL1: j.Status == "ACCEPTED_ON_L1", Prices: j.prices()}
	return nil
}

// BlockRequest asks for a block by its name; for the newest there is [HeadRequest].
func BlockRequest(at At, result *Block) Request {
	return Request{Method: "starknet_getBlockWithTxHashes", Named: object{"block_id": at.param()}, Result: result, Check: func(got any) error {
		return at.check(got.(*Block))
	}}
}

// check refuses another block than the one that was asked for.
func (a At) check(b *Block) error {
	switch {
	case a.kind == atHeight && b.Height != a.height:
		return fmt.Errorf("the block has the height %d, not %d", b.Height, a.height)
	case a.kind == atHash && b.Hash != a.hash:
		return fmt.Errorf("the block has the hash %s, not %s", wire.Hex(b.Hash), wire.Hex(a.hash))
	}
	return nil
}

// Head is the newest accepted block. A node whose head is old is asked last.
type Head struct{ Block }

// HeadRequest asks for the newest accepted block.
func HeadRequest(result *Head) Request {
	return Request{Method: "starknet_getBlockWithTxHashes", Named: object{"block_id": Latest.param()}, Result: result}
}

// PreConfirmed is the block that is being made. It has no hash, it can vanish, and
// nothing in it counts as having happened.
type PreConfirmed struct {
	Height uint64 // 0: not told, before version 0.9
	Time   int64  // Unix seconds
	Prices Prices
}

// UnmarshalJSON implements [json.Unmarshaler].
func (p *PreConfirmed) UnmarshalJSON(data []byte) error {
	var j blockJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	if j.Time == nil || *j.Time > maxNumber || j.Height != nil && *j.Height > maxNumber {
		return errors.New("the block that is being made has no time")
	}
	*p = PreConfirmed{Time: int64(*j.Time), Prices: j.prices()}
	if j.Height != nil {
		p.Height = *j.Height
	}
	return nil
}

// PreConfirmedRequest asks for the block that is being made.
func PreConfirmedRequest(result *PreConfirmed) Request {
	return Request{Method: "starknet_getBlockWithTxHashes", Form: func(v int) any { return object{"block_id": preConfirmed(v)} }, Result: result}
}

// PricesRequest is [HeadRequest] for who needs the prices of all kinds of gas: a node
// that does not tell them, as before version 0.8, is passed over.
func PricesRequest(result *Head) Request {
	r := HeadRequest(result)
	r.Check = func(got any) error {
		if p := got.(*Head).Prices; p.L1 == nil || p.L2 == nil || p.L1Data == nil {
			return errors.New("the block does not tell the prices of all kinds of gas")
		}
		return nil
	}
	return r
}
