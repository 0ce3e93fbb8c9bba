package bitcoin

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/mining"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// miner makes blocks whose rewards go to the faucet. Net.mu guards it.
type miner struct {
	net       *Net
	templates *mining.BlkTmplGenerator
	reward    btcutil.Address
	extra     int64 // makes every coinbase another one
}

func newMiner(n *Net, sigs *txscript.SigCache, hashes *txscript.HashCache) *miner {
	policy := mining.Policy{
		BlockMaxWeight: blockchain.MaxBlockWeight - 4000,
		BlockMaxSize:   blockchain.MaxBlockBaseSize - 1000,
	}
	return &miner{
		net:       n,
		templates: mining.NewBlkTmplGenerator(&policy, n.params, n.pool, n.chain, clock(n.now), sigs, hashes),
		reward:    n.faucet.reward(),
	}
}

// next returns a solved block on the best one, filled from the mempool.
func (m *miner) next() (*btcutil.Block, error) {
	t, err := m.templates.NewBlockTemplate(m.reward)
	if err != nil {
		return nil, fmt.Errorf("block template: %w", err)
	}
	return m.solve(t.Block, t.Height)
}

// on returns a solved block with the given transactions on any known block. It
// claims no fees.
func (m *miner) on(prev *block, txs []*wire.MsgTx) (*btcutil.Block, error) {
	height := int32(prev.height) + 1
	m.extra++
	script, err := txscript.NewScriptBuilder().AddInt64(int64(height)).AddInt64(m.extra).AddData([]byte("branch")).Script()
	if err != nil {
		return nil, err
	}
	pay, err := txscript.PayToAddrScript(m.reward)
	if err != nil {
		return nil, err
	}
	coinbase := wire.NewMsgTx(1)
	coinbase.AddTxIn(wire.NewTxIn(wire.NewOutPoint(&bitcoin.Hash{}, math.MaxUint32), script, nil))
	coinbase.AddTxOut(wire.NewTxOut(blockchain.CalcBlockSubsidy(height, m.net.params), pay))

	all := []*btcutil.Tx{btcutil.NewTx(coinbase)}
	for _, tx := range txs {
		all = append(all, btcutil.NewTx(tx))
	}
	if len(txs) > 0 {
		mining.AddWitnessCommitment(all[0], all)
		all[0] = btcutil.NewTx(coinbase) // its id has changed
	}
	version, err := m.net.chain.CalcNextBlockVersion()
	if err != nil {
		return nil, err
	}
	b := wire.NewMsgBlock(wire.NewBlockHeader(version, prev.Hash(), &bitcoin.Hash{}, m.net.params.PowLimitBits, 0))
	b.Header.Timestamp = m.time(prev)
	for _, tx := range all {
		b.AddTransaction(tx.MsgTx())
	}
	b.Header.MerkleRoot = blockchain.CalcMerkleRoot(all, false)
	return m.solve(b, height)
}

// time returns the time of a block after prev: now, or the earliest that the
// chain allows.
func (m *miner) time(prev *block) time.Time {
	var latest time.Time // of the last eleven: what is above it is above their median too
	b := prev
	for n := 0; b != nil && n < 11; n++ {
		if t := b.MsgBlock().Header.Timestamp; t.After(latest) {
			latest = t
		}
		b = m.net.ledger.blocks[b.MsgBlock().Header.PrevBlock]
	}
	if now := m.net.now().Truncate(time.Second); now.After(latest) {
		return now
	}
	return latest.Add(time.Second)
}

// solve searches the nonce; on regtest every second one is good.
func (m *miner) solve(b *wire.MsgBlock, height int32) (*btcutil.Block, error) {
	target := blockchain.CompactToBig(b.Header.Bits)
	for nonce := range uint32(1 << 20) {
		b.Header.Nonce = nonce
		hash := b.Header.BlockHash()
		if blockchain.HashToBig(&hash).Cmp(target) <= 0 {
			block := btcutil.NewBlock(b)
			block.SetHeight(height)
			return block, nil
		}
	}
	return nil, errors.New("no nonce solves the block")
}

// mineHistory mines the first blocks as if one had been found every ten minutes.
func (n *Net) mineHistory(count int) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	start := n.now().Add(-time.Duration(count) * 10 * time.Minute).Truncate(time.Second)
	for i := range count {
		b, err := n.miner.next()
		if err != nil {
			return err
		}
		b.MsgBlock().Header.Timestamp = start.Add(time.Duration(i+1) * 10 * time.Minute)
		if b, err = n.miner.solve(b.MsgBlock(), b.Height()); err != nil {
			return err
		}
		if err := n.process(b); err != nil {
			return err
		}
	}
	return nil
}
