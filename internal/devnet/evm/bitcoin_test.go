package evm

import (
	"encoding/binary"
	"encoding/hex"
	"math/big"
	"testing"

	"github.com/btcsuite/btcd/wire"
	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	btc "github.com/swapper-go/swapper/chains/bitcoin"
	btcrelay "github.com/swapper-go/swapper/internal/btc/relay"
	"github.com/swapper-go/swapper/internal/devnet/bitcoin"
	evmwire "github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

const sats = 70_000

// payer is a Bitcoin wallet whose transactions are mined among others.
type payer struct {
	kit
	*bitcoin.Wallet
	to []byte // script that is paid
}

func newPayer(k kit) payer {
	k.Helper()
	w := trial.Must(k.Bitcoin().NewWallet(btc.P2TR))(k.T)
	to := trial.Must(k.Bitcoin().NewWallet(btc.P2WPKH))(k.T)
	return payer{k, w, to.Address.Script()}
}

// pay pays sats in output 1 and mines the transaction among three others.
func (p payer) pay(lockTime, sequence uint32) *wire.MsgTx {
	p.Helper()
	coin := trial.Must(p.Bitcoin().Fund(p.Address, 100_000))(p.T)
	tx := wire.NewMsgTx(2)
	tx.LockTime = lockTime
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: coin, Sequence: sequence})
	tx.AddTxOut(wire.NewTxOut(20_000, p.Address.Script()))
	tx.AddTxOut(wire.NewTxOut(sats, p.to))
	ok(p.T, p.Sign(tx))
	for range 3 {
		trial.Must(p.Bitcoin().Faucet(p.Address, 10_000))(p.T)
	}
	trial.Must(p.Bitcoin().Send(tx))(p.T)
	trial.Must(p.Bitcoin().Mine(1))(p.T)
	return tx
}

// witness is a Bitcoin proof as the claim handlers read it.
type witness struct {
	commitment [56]byte
	header     evmwire.StoredHeader
	vout       uint32
	tx         []byte // nil for a transaction id
	pos        uint32
	count      *big.Int // nil is the true one
	size       *big.Int // the same
	hashes     [][32]byte
}

func (w witness) encode() []byte {
	word := func(n *big.Int, otherwise int) []byte {
		if n == nil {
			n = big.NewInt(int64(otherwise))
		}
		return common.LeftPadBytes(n.Bytes(), 32)
	}
	b := append(append([]byte(nil), w.commitment[:]...), w.header[:]...)
	if w.tx != nil {
		b = binary.BigEndian.AppendUint32(b, w.vout)
		b = append(append(b, word(w.size, len(w.tx))...), w.tx...)
	}
	b = append(binary.BigEndian.AppendUint32(b, w.pos), word(w.count, len(w.hashes))...)
	for _, h := range w.hashes {
		b = append(b, h[:]...)
	}
	return b
}

func TestClaimsByBitcoinProof(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	p := newPayer(k)
	const nonce = 0x0123456789abcd
	tests := []struct {
		kind               chains.Kind
		name               string
		lockTime, sequence uint32
	}{
		{chains.Onchain, "btcoutlock", 0, wire.MaxTxInSequenceNum},
		{chains.OnchainNonced, "btcnoutlock", 500_000_000 + nonce>>24, 0xf0000000 | nonce&0xffffff},
		{chains.OnchainTxID, "txidlock", 0, wire.MaxTxInSequenceNum},
	}
	for _, test := range tests {
		t.Run(test.kind.String(), func(t *testing.T) {
			k := kit{t, k.Net, k.ctx, k.d}
			p := payer{k, p.Wallet, p.to}
			tx := p.pay(test.lockTime, test.sequence)
			const confirmations = 2
			relay := k.d.BtcRelay.Address
			s := k.payIn(Native, func(x *evmwire.Terms) {
				x.Kind = test.kind
				switch test.kind {
				case chains.Onchain:
					x.ClaimData = evmwire.ClaimDataOutput(p.to, sats, 0, confirmations, relay)
				case chains.OnchainNonced:
					x.ClaimData = evmwire.ClaimDataOutput(p.to, sats, nonce, confirmations, relay)
				case chains.OnchainTxID:
					x.ClaimData = evmwire.ClaimDataTxID(tx.TxHash(), confirmations, relay)
				}
			})
			k.open(s, k.User)
			proof := trial.Must(k.Proof(tx.TxHash(), 1, confirmations))(t)
			ok(t, btcrelay.CheckProof(proof.Tx, proof.Merkle, proof.Header.Header()))
			call := k.one(k.d.ClaimByBitcoin(s, proof))

			k.refused("verify: block commitment", k.LP, call) // the relay does not know the block
			ok(t, k.SyncRelay(k.ctx))
			k.refused(test.name+": confirmations", k.LP, call)
			trial.Must(k.Bitcoin().Mine(1))(t)
			ok(t, k.SyncRelay(k.ctx))

			good := k.witness(proof, call, test.kind)
			claim := func(w witness) evmwire.Call {
				return k.one(CallOf("EscrowManager", k.d.EscrowManager.Address, "claim", tupleOf(s), w.encode()))
			}
			if got, want := hex.EncodeToString(claim(good).Data), hex.EncodeToString(call.Data); got != want {
				t.Fatalf("witness\n%s, want\n%s", got, want)
			}
			for reason, wrong := range attacks(test.name, good) {
				for i, w := range wrong {
					c := claim(w)
					c.Gas = 0
					_, err := k.LP.Send(k.ctx, c)
					if r, isRevert := err.(*revertError); !isRevert || r.Reason != reason {
						t.Errorf("attack %d on %q: %v", i, reason, err)
					}
				}
			}
			r := trial.Must(k.LP.Send(k.ctx, call))(t)
			t.Logf("claim %d gas of %d", r.GasUsed, call.Gas)
			id := tx.TxHash()
			if e, isClaim := k.events(r)[0].(evmwire.ClaimEvent); !isClaim || btc.Hash(e.Result) != id {
				t.Errorf("event %+v", e)
			}
		})
	}
}

// attacks are witnesses that must be refused, by the reason for it.
func attacks(name string, good witness) map[string][]witness {
	all := make(map[string][]witness)
	add := func(reason string, change func(w *witness)) {
		w := good
		w.tx = append([]byte(nil), good.tx...)
		if good.tx == nil {
			w.tx = nil
		}
		w.hashes = append([][32]byte(nil), good.hashes...)
		change(&w)
		all[reason] = append(all[reason], w)
	}
	for _, at := range []int{0, 35, 55} { // what is proven, confirmations, relay
		add(name+": invalid commitment", func(w *witness) { w.commitment[at] ^= 1 })
	}
	for _, at := range []int{0, 40, 79, 111, 115, 159} {
		add("verify: block commitment", func(w *witness) { w.header[at] ^= 1 })
	}
	add("merkleTree: verify failed", func(w *witness) { w.hashes[0][0] ^= 1 })
	add("merkleTree: verify failed", func(w *witness) { w.pos ^= 1 })
	add("merkleTree: verify failed", func(w *witness) { w.pos += 1 << len(w.hashes) })
	add("merkleTree: verify failed", func(w *witness) { w.hashes = w.hashes[1:] })
	add("merkleTree: verify failed", func(w *witness) { w.hashes = append(w.hashes, [32]byte{}) })
	huge := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	for _, n := range []*big.Int{new(big.Int), big.NewInt(9), huge, new(big.Int).Lsh(big.NewInt(1), 251)} {
		add(name+": witness length", func(w *witness) { w.count = n })
	}
	if good.tx == nil {
		return all
	}
	for _, n := range []*big.Int{huge, new(big.Int).Lsh(big.NewInt(1), 64), big.NewInt(int64(len(good.tx) + 1))} {
		add(name+": witness length", func(w *witness) { w.size = n })
	}
	add(name+": Invalid output", func(w *witness) { w.vout = 0 })
	add(name+": Invalid output", func(w *witness) { w.vout = 2 })
	add(name+": Invalid output", func(w *witness) { w.tx[len(w.tx)-6] ^= 1 }) // the script
	add("bitcointx: length 64", func(w *witness) { w.tx = w.tx[:64] })
	add("bitcointx: witness not stripped", func(w *witness) { w.tx = append(append(w.tx[:4:4], 0, 1), w.tx[4:]...) })
	add("bitcointx: more data", func(w *witness) { w.tx = append(w.tx, 0) })
	add("merkleTree: verify failed", func(w *witness) { w.tx[0] ^= 1 }) // the version
	add("execution reverted", func(w *witness) { w.tx = w.tx[:len(w.tx)-1] })
	return all
}

func (k kit) witness(p evmwire.BitcoinProof, call evmwire.Call, kind chains.Kind) witness {
	k.Helper()
	a := trial.Must(loadArtifact("EscrowManager"))(k.T)
	args := trial.Must(a.ABI.Methods["claim"].Inputs.Unpack(call.Data[4:]))(k.T)
	w := witness{commitment: [56]byte(args[1].([]byte)), header: p.Header, vout: p.Vout, tx: p.Tx, pos: p.Merkle.Pos}
	if kind == chains.OnchainTxID {
		w.tx = nil
	}
	for _, h := range p.Merkle.Hashes {
		w.hashes = append(w.hashes, h)
	}
	return w
}

// A payment without the nonce's marks does not count as one with it.
func TestNonceNeedsItsMarks(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	p := newPayer(k)
	const nonce = 0x05000007
	for sequence, reason := range map[uint32]string{0xe0000007: "btcnoutlock: nSequence bits", 0xf0000008: "btcnoutlock: Invalid output"} {
		tx := p.pay(500_000_005, sequence)
		s := k.payIn(Native, func(x *evmwire.Terms) {
			x.Kind, x.Sequence = chains.OnchainNonced, big.NewInt(int64(sequence))
			x.ClaimData = evmwire.ClaimDataOutput(p.to, sats, nonce, 1, k.d.BtcRelay.Address)
		})
		k.open(s, k.User)
		ok(t, k.SyncRelay(k.ctx))
		proof := trial.Must(k.Proof(tx.TxHash(), 1, 1))(t)
		if _, err := k.d.ClaimByBitcoin(s, proof); err == nil {
			t.Error("the client builds a claim that the contract refuses")
		}
		w := witness{header: proof.Header, vout: 1, tx: proof.Tx, pos: proof.Merkle.Pos}
		for _, h := range proof.Merkle.Hashes {
			w.hashes = append(w.hashes, h)
		}
		output := evmwire.ClaimDataOutput(p.to, sats, nonce, 1, k.d.BtcRelay.Address)
		if output != s.ClaimData {
			t.Fatal("claim data")
		}
		copy(w.commitment[:32], outputOf(p.to, nonce))
		w.commitment[35] = 1
		copy(w.commitment[36:], k.d.BtcRelay.Address[:])
		k.refused(reason, k.LP, k.one(CallOf("EscrowManager", k.d.EscrowManager.Address, "claim", tupleOf(s), w.encode())))
	}
}
