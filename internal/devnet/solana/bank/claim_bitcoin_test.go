package bank

import (
	"encoding/binary"
	"slices"
	"testing"

	btcd "github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

const sats = 123_456

var script = []byte{0x00, 0x14, 19: 7, 21: 9}

// The lock time and the sequence that make a nonce.
const (
	nonceLock     = 500_000_000 + 12345
	nonceSequence = 0xf0abcdef
	nonce         = 12345<<24 | 0xabcdef
)

// payments are a condition of each kind and a transaction that meets it.
func payments() map[string]struct {
	chains.Condition
	tx *btcd.MsgTx
} {
	plain := bitcoinTx(script, sats, 0, 0xffffffff, 0)
	nonced := bitcoinTx(script, sats, nonceLock, nonceSequence, nonceSequence)
	return map[string]struct {
		chains.Condition
		tx *btcd.MsgTx
	}{
		"output":        {chains.Condition{Kind: chains.Onchain, Script: script, Sats: sats, Confirmations: 3}, plain},
		"nonced output": {chains.Condition{Kind: chains.OnchainNonced, Script: script, Sats: sats, Nonce: nonce, Confirmations: 1}, nonced},
		"transaction":   {chains.Condition{Kind: chains.OnchainTxID, TxID: plain.TxHash(), Confirmations: 2}, plain},
	}
}

func TestClaimsByBitcoinProof(t *testing.T) {
	for name, test := range payments() {
		t.Run(name, func(t *testing.T) {
			layouts(t, func(t *testing.T, k *kit) {
				k.stock(2_000_000)
				d := k.sale(test.Condition)
				d.ClaimerBounty = 4_000_000
				k.must(k.init(d))
				m, _ := k.mine(k.startRelay(900), test.tx, int(test.Confirmations))
				payload := trial.Must(wire.Payload(1, m.raw))(t)
				data := k.write(tower, payload)
				rent := int64(k.lamports(data))
				ix := trial.Must(k.p.ClaimInstruction(d, tower, nil, &data))(t)
				var tx *Executed
				paid := k.gained(func() { tx = k.must(k.verify(m, d.Confirmations), ix) }, tower, data)
				are(t, "lamports", paid, []int64{4_000_000 + rent, -rent})
				events, _ := k.p.Events(tx.Logs)
				are(t, "events", events, []wire.Event{{Kind: wire.Claimed, Hash: d.PaymentHash, Result: m.id, Sequence: 77}})
				is(t, "the user's tokens", k.tokens(wire.ATA(user, coin)), wealth+d.Amount)
				k.refused(accountNotInitialized, k.verify(m, d.Confirmations), ix)
			})
		})
	}
}

// Small transactions fit into the instruction; a transaction that is named needs no
// data at all.
func TestClaimsWithoutDataAccount(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		k.stock(5_000_000)
		all := payments()
		first := k.startRelay(900)
		m, _ := k.mine(first, all["output"].tx, 3)
		for _, name := range []string{"transaction", "output"} {
			d := k.sale(all[name].Condition)
			k.must(k.init(d))
			k.must(k.verify(m, d.Confirmations), k.inline(d, append([]byte{1, 0, 0, 0}, m.raw...)))
		}
	})
}

// inline is a claim by Bitcoin proof with the payload in the instruction.
func (k *kit) inline(d *wire.SwapData, payload []byte) wire.Instruction {
	k.Helper()
	ix := k.claim(d, tower)
	ix.Data = append(slices.Clone(ix.Data[:8]), binary.LittleEndian.AppendUint32(nil, uint32(len(payload)))...)
	ix.Data = append(ix.Data, payload...)
	return ix
}

func TestPaymentsAreChecked(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		k.stock(5_000_000)
		all := payments()
		plain, nonced := all["output"], all["nonced output"]
		m, top := k.mine(k.startRelay(900), plain.tx, 3)
		n, _ := k.mine(top, nonced.tx, 1)
		d, e := k.sale(plain.Condition), k.sale(nonced.Condition)
		e.Sequence++
		k.must(k.init(d))
		k.must(k.init(e))
		payload := func(raw []byte) []byte { return append([]byte{1, 0, 0, 0}, raw...) }
		good, goodNonced := payload(m.raw), payload(n.raw)
		verify := k.verify(m, d.Confirmations)
		refused := func(want error, d *wire.SwapData, payload []byte) {
			t.Helper()
			k.refused(want, verify, k.inline(d, payload))
		}
		// What was verified before.
		k.refused(verifyProgram, k.inline(d, good))
		k.refused(verifyProgram, wire.Transfer(payer, payer, 1), verify, k.inline(d, good))
		k.refused(verifyInstruction, k.height(payer, 1, wire.HeightAbove), k.inline(d, good))
		refused(verifyTxID, e, goodNonced)
		k.refused(verifyConfirmations, k.verify(m, d.Confirmations-1), k.inline(d, good))
		// The transaction.
		refused(invalidVout, d, append([]byte{2, 0, 0, 0}, m.raw...))
		refused(invalidSecret, d, append([]byte{0, 0, 0, 0}, m.raw...))
		refused(invalidSecret, d, payload(stripped(t, bitcoinTx(script, sats+1, 0, 1))))
		refused(invalidTx, e, good) // its sequences are no nonce
		refused(invalidSecret, e, payload(stripped(t, bitcoinTx(script, sats+1, nonceLock, nonceSequence))))
		refused(verifyTxID, d, payload(stripped(t, bitcoinTx(script, sats, 1, 1)))) // pays, but another one was verified
		refused(verifyTxID, d, append(slices.Clone(good), 0))
		refused(invalidTx, d, payload(make([]byte, 64)))
		segwit := append([]byte{2, 0, 0, 0, 0, 1}, m.raw[4:]...)
		refused(invalidTx, d, payload(segwit))
		for _, sequences := range [][]uint32{{nonceSequence, nonceSequence + 1}, {nonceSequence &^ 0x10000000}, {nonceSequence, nonceSequence &^ 0x80000000}} {
			refused(invalidTx, e, payload(stripped(t, bitcoinTx(script, sats, nonceLock, sequences...))))
		}
		refused(invalidNonce, e, payload(stripped(t, bitcoinTx(script, sats, nonceLock+1, nonceSequence))))
		refused(invalidNonce, e, payload(stripped(t, bitcoinTx(script, sats, nonceLock, nonceSequence+1))))
		for _, cut := range []int{3, 4, 8, 20, len(good) / 2, len(good) - 5, len(good) - 1} {
			refused(ProgramFailedToComplete, d, good[:cut])
		}
		refused(ProgramFailedToComplete, e, payload(stripped(t, bitcoinTx(script, sats, 499_999_999, nonceSequence))))
		// A secret is no proof.
		k.refused(ProgramFailedToComplete, verify, k.inline(d, nil))
		k.must(verify, k.inline(d, good))
	})
}

// One payment claims one escrow: its nonce keeps it from claiming another one.
func TestPaymentsAreNotUsedTwice(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		k.stock(5_000_000)
		c := payments()["nonced output"]
		m, _ := k.mine(k.startRelay(900), c.tx, 1)
		next := c.Condition
		next.Nonce++
		d, e := k.sale(c.Condition), k.sale(next)
		k.must(k.init(d))
		k.must(k.init(e))
		k.must(k.verify(m, 1), k.inline(d, append([]byte{1, 0, 0, 0}, m.raw...)))
		k.refused(invalidNonce, k.verify(m, 1), k.inline(e, append([]byte{1, 0, 0, 0}, m.raw...)))
		// The same hash again is the same escrow again: that one it claims.
		k.must(k.init(d))
		k.must(k.verify(m, 1), k.inline(d, append([]byte{1, 0, 0, 0}, m.raw...)))
	})
}

func TestVerifyIsGuarded(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		c := payments()["output"]
		first := k.startRelay(900)
		m, top := k.mine(first, c.tx, 3)
		k.must(k.verify(m, 3))
		k.must(k.verify(m, 0))
		k.refused(tooFewConfirmations, k.verify(m, 4))
		forged := m
		forged.in.Header.MerkleRoot = m.id
		forged.proof.Path, forged.proof.Index = nil, 0
		k.refused(prevBlockCommitment, k.verify(forged, 1))
		forged = m
		forged.proof.TxID = bitcoin.Hash{1}
		k.refused(wrongMerkleRoot, k.verify(forged, 1))
		forged = m
		forged.proof.Index = 0
		k.refused(wrongMerkleRoot, k.verify(forged, 1))
		forged = m
		forged.proof.Path = m.proof.Path[:1]
		k.refused(wrongMerkleRoot, k.verify(forged, 1))
		forged = m
		forged.in = top
		forged.in.Header.Height++
		k.refused(ProgramFailedToComplete, k.verify(forged, 1))

		ix := k.verify(m, 1)
		k.refused(ownedByWrongProgram, swapped(ix, 1, tower))
		k.refused(argumentsNotReadable, wire.Instruction{Program: ix.Program, Accounts: ix.Accounts, Data: ix.Data[:len(ix.Data)-1]})
		k.refused(notEnoughKeys, wire.Instruction{Program: ix.Program, Accounts: ix.Accounts[:1], Data: ix.Data})
		byTower := k.p.VerifyInstruction(tower, m.proof, 1, m.in)
		k.refused(accountNotSigner, change(byTower, 0, func(a *wire.Account) { a.IsSigner = false }))
		k.refused(constraintMut, change(byTower, 0, func(a *wire.Account) { a.IsWritable = false }))
	})
}

func TestHeightsCompare(t *testing.T) {
	both(t, setup{}, func(t *testing.T, k *kit) {
		k.startRelay(900)
		for value := uint32(899); value <= 901; value++ {
			for op, holds := range map[wire.HeightOp]bool{
				wire.HeightBelow: value > 900, wire.HeightAtMost: value >= 900, wire.HeightAbove: value < 900, wire.HeightAtLeast: value <= 900,
				wire.HeightEqual: value == 900, 5: false,
			} {
				if ix := k.height(tower, value, op); holds {
					k.must(ix)
				} else {
					k.refused(wrongHeight, ix)
				}
			}
		}
		ix := k.height(tower, 1, wire.HeightAbove)
		k.refused(ownedByWrongProgram, swapped(ix, 1, user))
		k.refused(accountNotSigner, change(ix, 0, func(a *wire.Account) { a.IsSigner = false }))
		k.refused(argumentsNotReadable, wire.Instruction{Program: ix.Program, Accounts: ix.Accounts, Data: ix.Data[:15]})
	})
}
