package contracts

import (
	"bytes"
	"math/big"
	"slices"
	"testing"

	btc "github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// mined makes the proof of work of a header, which regtest's target makes cheap.
func mined(h bitcoin.Header) bitcoin.Header {
	t, err := rawtx.Target(h.Bits)
	if err != nil {
		panic(err)
	}
	for ; ; h.Nonce++ {
		hash := h.Hash()
		slices.Reverse(hash[:])
		if new(big.Int).SetBytes(hash[:]).Cmp(t) < 0 {
			return h
		}
	}
}

// after is a header that follows another, ten minutes later, with a merkle root.
func after(on bitcoin.Header, root bitcoin.Hash) bitcoin.Header {
	return mined(bitcoin.Header{Height: on.Height + 1, Version: 2, PrevBlock: on.Hash(), MerkleRoot: root, Time: on.Time + 600, Bits: on.Bits})
}

// blocks are headers that follow another; mark tells chains apart.
func blocks(on bitcoin.Header, n int, mark byte) (all []bitcoin.Header) {
	for range n {
		on = after(on, bitcoin.Hash{mark})
		all = append(all, on)
	}
	return all
}

// submit brings headers to the relay and returns how they are stored.
func (k *kit) submit(as Felt, to wire.Branch, on wire.StoredHeader, headers []bitcoin.Header) ([]wire.StoredHeader, *Invocation, error) {
	k.Helper()
	call, stored, err := k.d.SubmitHeaders(to, on, headers)
	k.must(err)
	i, err := k.send(as, call)
	return stored, i, err
}

func (k *kit) submitted(as Felt, to wire.Branch, on wire.StoredHeader, headers []bitcoin.Header) []wire.StoredHeader {
	k.Helper()
	stored, _, err := k.submit(as, to, on, headers)
	k.must(err)
	return stored
}

// tip is the commitment of the relay's main chain, its height and its work.
func (k *kit) tip() (commit Felt, height uint32, work *big.Int) {
	k.Helper()
	commit = trial.Must(wire.ReadCommitHash(k.ask(k.d.BtcRelay.Address, wire.EntryTipCommitHash)))(k)
	height = trial.Must(wire.ReadRelayNumber(k.ask(k.d.BtcRelay.Address, wire.EntryBlockHeight)))(k)
	work = trial.Must(wire.ReadU256(k.ask(k.d.BtcRelay.Address, wire.EntryChainWork)))(k)
	return commit, height, work
}

// isTip demands that a stored header is the tip.
func (k *kit) isTip(want wire.StoredHeader) {
	k.Helper()
	commit, height, work := k.tip()
	if commit != want.CommitHash() || height != want.Header.Height || work.Cmp(want.Work) != 0 {
		k.Errorf("the tip is %v at %d with work %v, want %v at %d with %v", commit, height, work, want.CommitHash(), want.Header.Height, want.Work)
	}
}

// payment is a Bitcoin transaction with an output of its own and one that pays.
func payment(script []byte, sats int64, change func(*btc.MsgTx)) *btc.MsgTx {
	tx := btc.NewMsgTx(2)
	tx.AddTxIn(&btc.TxIn{PreviousOutPoint: btc.OutPoint{Hash: [32]byte{1}, Index: 1}, Sequence: 0xf0001234})
	tx.AddTxOut(&btc.TxOut{Value: 1000, PkScript: []byte{0x51}})
	tx.AddTxOut(&btc.TxOut{Value: sats, PkScript: script})
	if change != nil {
		change(tx)
	}
	return tx
}

// rawTx is a transaction without witnesses.
func rawTx(t testing.TB, tx *btc.MsgTx) []byte {
	t.Helper()
	var b bytes.Buffer
	trial.Do(t, tx.SerializeNoWitness(&b))
	return b.Bytes()
}

// confirm brings a block with a transaction to the relay, and blocks on top of it, and
// returns what proves it. The block has four transactions; the one is the third.
func (k *kit) confirm(on wire.StoredHeader, tx *btc.MsgTx, confirmations int) (wire.BitcoinProof, wire.StoredHeader) {
	k.Helper()
	raw := rawTx(k, tx)
	proof := bitcoin.MerkleProof{TxID: bitcoin.Hash(tx.TxHash()), Pos: 2, Hashes: []bitcoin.Hash{{3}, {4}}, Height: on.Header.Height + 1}
	block := after(on.Header, proof.Root())
	stored := k.submitted(tower, wire.Branch{}, on, append([]bitcoin.Header{block}, blocks(block, confirmations-1, 0)...))
	return wire.BitcoinProof{Tx: raw, Vout: 1, Confirmations: uint32(confirmations), Header: stored[0], Merkle: proof}, stored[len(stored)-1]
}
