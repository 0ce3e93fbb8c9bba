package bank

import (
	"math/big"
	"slices"
	"testing"

	btcd "github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/relay"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

const regtestBits = 0x207fffff

// firstHeader is where relays of the tests start: its times are long past.
func firstHeader(k *kit, height uint32) wire.StoredHeader {
	at := uint32(k.now.Unix()) - 100_000
	h := wire.StoredHeader{Work: big.NewInt(1000), LastDiffAdjustment: at - 5000, Header: bitcoin.Header{Height: height, Version: 4, Time: at, Bits: regtestBits}}
	for i := range h.PrevTimes {
		h.PrevTimes[i] = at - 600*uint32(len(h.PrevTimes)-i)
	}
	return h
}

// solve returns a header on a stored one, with work as its bits say, or without.
func solve(on wire.StoredHeader, root bitcoin.Hash, at, bits uint32, worked bool) bitcoin.Header {
	h := bitcoin.Header{Height: on.Header.Height + 1, Version: 4, PrevBlock: on.Header.Hash(), MerkleRoot: root, Time: at, Bits: bits}
	for ; ; h.Nonce++ {
		hash := h.Hash()
		slices.Reverse(hash[:])
		if (new(big.Int).SetBytes(hash[:]).Cmp(target(bits)) <= 0) == worked {
			return h
		}
	}
}

// grow returns n headers on a stored one, ten minutes apart, and what the last is
// stored as. The salt tells branches apart.
func grow(on wire.StoredHeader, n int, salt byte) (headers []bitcoin.Header, top wire.StoredHeader) {
	top = on
	for range n {
		h := solve(top, bitcoin.Hash{salt}, top.Header.Time+600, regtestBits, true)
		headers, top = append(headers, h), top.Next(h)
	}
	return headers, top
}

// submit is the instruction that brings headers.
func (k *kit) submit(op relay.Op, by wire.Key, on wire.StoredHeader, fork uint64, headers ...bitcoin.Header) wire.Instruction {
	k.Helper()
	ix, err := k.p.SubmitInstruction(op, by, headers, on, fork)
	if err != nil {
		k.Fatal(err)
	}
	return ix
}

// startRelay starts the relay at a height.
func (k *kit) startRelay(height uint32) wire.StoredHeader {
	k.Helper()
	first := firstHeader(k, height)
	k.must(k.p.RelayInitInstruction(tower, first))
	return first
}

// extend brings headers to the tip of the relay's main chain.
func (k *kit) extend(on wire.StoredHeader, headers ...bitcoin.Header) (top wire.StoredHeader) {
	k.Helper()
	top = on
	for part := range slices.Chunk(headers, wire.MaxMainHeaders) {
		k.must(k.submit(relay.SaveMain, tower, top, 0, part...))
		for _, h := range part {
			top = top.Next(h)
		}
	}
	return top
}

func (k *kit) relayState() *wire.RelayState {
	k.Helper()
	a, _ := k.account(k.p.RelayState())
	s, err := wire.DecodeRelayState(a.Data)
	if err != nil {
		k.Fatal(err)
	}
	return s
}

// bitcoinTx is a transaction without witnesses that pays sats to a script in its second
// output.
func bitcoinTx(script []byte, sats int64, lockTime uint32, sequences ...uint32) *btcd.MsgTx {
	tx := btcd.NewMsgTx(2)
	for i, sequence := range sequences {
		tx.AddTxIn(&btcd.TxIn{PreviousOutPoint: btcd.OutPoint{Hash: bitcoin.Hash{1}, Index: uint32(i)}, Sequence: sequence, SignatureScript: []byte{1, byte(i)}})
	}
	tx.AddTxOut(btcd.NewTxOut(7, []byte{0x51}))
	tx.AddTxOut(btcd.NewTxOut(sats, script))
	tx.LockTime = lockTime
	return tx
}

func stripped(t testing.TB, tx *btcd.MsgTx) []byte {
	t.Helper()
	return trial.Must(rawtx.Strip(tx))(t)
}

// mined is a transaction in a block that the relay has.
type mined struct {
	raw   []byte // stripped
	id    bitcoin.Hash
	in    wire.StoredHeader
	proof wire.Proof
}

// mine puts a transaction into a block of three on a stored header, and the block with
// some on top of it into the relay.
func (k *kit) mine(on wire.StoredHeader, tx *btcd.MsgTx, confirmations int) (m mined, top wire.StoredHeader) {
	k.Helper()
	m.raw, m.id = stripped(k.TB, tx), tx.TxHash()
	ids := []bitcoin.Hash{{1}, {2}, m.id}
	p, ok := bitcoin.BuildMerkleProof(ids, m.id, on.Header.Height+1)
	if !ok {
		k.Fatal("no proof")
	}
	m.proof = wire.Proof{TxID: m.id, Index: p.Pos, Path: p.Hashes}
	block := solve(on, p.Root(), on.Header.Time+600, regtestBits, true)
	m.in = on.Next(block)
	rest, _ := grow(m.in, confirmations-1, 3)
	return m, k.extend(on, append([]bitcoin.Header{block}, rest...)...)
}

// verify is the instruction that makes the relay check a transaction.
func (k *kit) verify(m mined, confirmations uint16) wire.Instruction {
	return k.p.VerifyInstruction(payer, m.proof, uint32(confirmations), m.in)
}

// write puts a payload into a new data account of a signer, and returns its address.
func (k *kit) write(signer wire.Key, payload []byte) wire.Key {
	k.Helper()
	at := keyOf("data")
	space := k.data.Space(len(payload))
	k.must(wire.CreateAccount(signer, at, k.p.Swap, wire.Rent(space), uint64(space)), k.p.InitDataInstruction(signer, at))
	for offset := 0; offset < len(payload); offset += 300 {
		k.must(k.p.WriteDataInstruction(signer, at, uint32(offset), payload[offset:min(offset+300, len(payload))]))
	}
	return at
}

// sale is an escrow of an LP that pays a user for a Bitcoin payment.
func (k *kit) sale(c chains.Condition) *wire.SwapData {
	k.Helper()
	hash, err := wire.ClaimHashOf(c)
	if err != nil {
		k.Fatal(err)
	}
	d := k.draw()
	d.Kind, d.PaymentHash, d.Nonce, d.Confirmations = c.Kind, hash.PaymentHash, hash.Nonce, hash.Confirmations
	return d
}
