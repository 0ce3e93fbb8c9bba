package bitcoin

import (
	"encoding/binary"
	"encoding/hex"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func parseHashes(t testing.TB, texts []string) []Hash {
	t.Helper()
	hashes := make([]Hash, len(texts))
	for i, s := range texts {
		h := trial.Must(ParseHash(s))(t)
		hashes[i] = h
	}
	return hashes
}

func TestVectorsMerkleProofs(t *testing.T) {
	vectors.Each(t, "bitcoin", "merkle_proofs", func(t *testing.T, c *vectors.Case) {
		var in struct {
			TxIDs       []string
			TxID        string
			BlockHeight uint32
		}
		c.Input(t, &in)
		txids := parseHashes(t, in.TxIDs)
		proof, ok := BuildMerkleProof(txids, parseHashes(t, []string{in.TxID})[0], in.BlockHeight)
		if !ok {
			vectors.SameJSON(t, c.Want(t), nil)
			return
		}
		siblings := []string{}
		for _, h := range proof.Hashes {
			siblings = append(siblings, hex.EncodeToString(h[:]))
		}
		root := proof.Root()
		vectors.SameJSON(t, c.Want(t), map[string]any{
			"merkleRoot": root.String(), "reversedTxId": hex.EncodeToString(proof.TxID[:]),
			"pos": proof.Pos, "merkle": siblings, "blockheight": proof.Height,
		})
		if merkleRoot(txids) != root {
			t.Errorf("merkleRoot gives %s", merkleRoot(txids))
		}
		if err := proof.Verify(Header{Height: in.BlockHeight, MerkleRoot: root}); err != nil {
			t.Error(err)
		}
	})
}

func testTxIDs(n int) []Hash {
	txids := make([]Hash, n)
	for i := range txids {
		txids[i] = chainhash.DoubleHashH(binary.LittleEndian.AppendUint32(nil, uint32(i)))
	}
	return txids
}

func TestMerkleProofVerifyRefuses(t *testing.T) {
	txids := testTxIDs(7)
	header := Header{Height: 800_000, MerkleRoot: merkleRoot(txids)}
	for i := range txids {
		proof, ok := BuildMerkleProof(txids, txids[i], header.Height)
		if !ok {
			t.Fatal("not found")
		}
		if err := proof.Verify(header); err != nil {
			t.Fatalf("position %d: %v", i, err)
		}
		for name, change := range map[string]func(*MerkleProof, *Header){
			"another transaction":   func(p *MerkleProof, _ *Header) { p.TxID[0] ^= 1 },
			"another sibling":       func(p *MerkleProof, _ *Header) { p.Hashes[1][31] ^= 1 },
			"sibling missing":       func(p *MerkleProof, _ *Header) { p.Hashes = p.Hashes[:2] },
			"sibling too many":      func(p *MerkleProof, _ *Header) { p.Hashes = append(p.Hashes, Hash{}) },
			"another height":        func(p *MerkleProof, _ *Header) { p.Height++ },
			"another root":          func(_ *MerkleProof, h *Header) { h.MerkleRoot[3] ^= 1 },
			"position out of range": func(p *MerkleProof, _ *Header) { p.Pos += 8 },
			"deeper than any block": func(p *MerkleProof, _ *Header) { p.Hashes = make([]Hash, 40) },
			"inner node as the leaf": func(p *MerkleProof, _ *Header) {
				p.TxID, p.Hashes, p.Pos = hashPair(p.TxID, p.Hashes[0]), p.Hashes[1:], p.Pos/2+1
			},
		} {
			p, h := proof, header
			p.Hashes = append([]Hash(nil), proof.Hashes...)
			change(&p, &h)
			if err := p.Verify(h); err == nil {
				t.Errorf("position %d: accepted %s", i, name)
			}
		}
	}
	// The copy that the tree makes of an odd level's last node is no position.
	copied, _ := BuildMerkleProof(txids, txids[6], header.Height)
	copied.Pos = 7
	if copied.Root() != header.MerkleRoot {
		t.Fatal("the attack is not built right")
	}
	if err := copied.Verify(header); err == nil {
		t.Error("accepted the copy of the last transaction as position 7")
	}
}

func TestBuildMerkleProofLeavesInput(t *testing.T) {
	txids := testTxIDs(5)
	room := append(make([]Hash, 0, 6), txids...)
	BuildMerkleProof(room, txids[4], 1)
	merkleRoot(room)
	for i := range txids {
		if room[i] != txids[i] {
			t.Fatal("changed the caller's slice")
		}
	}
	if room[:6][5] != (Hash{}) {
		t.Fatal("wrote behind the caller's slice")
	}
	if merkleRoot(nil) != (Hash{}) {
		t.Error("no transactions have a root")
	}
}

func FuzzMerkleProof(f *testing.F) {
	f.Add(uint16(1), uint16(0), []byte{})
	f.Add(uint16(7), uint16(6), []byte{0, 1})
	f.Add(uint16(31), uint16(30), []byte{9, 255})
	f.Fuzz(func(t *testing.T, count, pos uint16, change []byte) {
		if count == 0 || count > 300 {
			return
		}
		txids := testTxIDs(int(count))
		txid := txids[int(pos)%len(txids)]
		proof, ok := BuildMerkleProof(txids, txid, 5)
		if !ok {
			t.Fatal("not found")
		}
		header := Header{Height: 5, MerkleRoot: merkleRoot(txids)}
		trial.Do(t, proof.Verify(header))
		changed := false
		for i := 0; i+1 < len(change); i += 2 {
			if at := int(change[i]); at < 32*len(proof.Hashes) && change[i+1] != 0 {
				proof.Hashes[at/32][at%32] += change[i+1]
				changed = true
			}
		}
		again, _ := BuildMerkleProof(txids, txid, 5)
		for i := range proof.Hashes {
			if proof.Hashes[i] != again.Hashes[i] {
				if proof.Verify(header) == nil {
					t.Fatal("accepted a changed proof")
				}
				return
			}
		}
		if changed && proof.Verify(header) != nil {
			t.Fatal("refused an unchanged proof")
		}
	})
}

func BenchmarkBuildMerkleProof(b *testing.B) {
	txids := testTxIDs(3000)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := BuildMerkleProof(txids, txids[1234], 1); !ok {
			b.Fatal("not found")
		}
	}
}

// A tree may be as deep as a block can make it, and no deeper: deeper ones are made
// of something else than transactions.
func TestMerkleProofDepth(t *testing.T) {
	for depth, ok := range map[int]bool{0: true, maxMerkleDepth: true, maxMerkleDepth + 1: false} {
		p := MerkleProof{TxID: Hash{1}, Pos: 1<<depth - 1, Hashes: testTxIDs(depth)}
		header := Header{MerkleRoot: p.Root()}
		if err := p.Verify(header); (err == nil) != ok {
			t.Errorf("%d levels: %v", depth, err)
		}
		p.Pos++
		if p.Verify(Header{MerkleRoot: p.Root()}) == nil {
			t.Errorf("%d levels: position %d", depth, p.Pos)
		}
	}
}

// merkleRoot returns the merkle root of a block's transaction ids; the zero
// hash for none.
func merkleRoot(txids []Hash) Hash {
	if len(txids) == 0 {
		return Hash{}
	}
	level := append([]Hash(nil), txids...)
	for len(level) > 1 {
		if len(level)%2 == 1 {
			level = append(level, level[len(level)-1])
		}
		level = merkleParents(level)
	}
	return level[0]
}
