package contracts

import (
	"math/big"
	"slices"
	"testing"

	btc "github.com/btcsuite/btcd/wire"
	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

var script = []byte{0x00, 0x14, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}

const sats = 123_456

// waiting opens an escrow that waits for a Bitcoin payment.
func (k *kit) waiting(c chains.Condition) wire.SwapData {
	k.Helper()
	s := k.deal(user, lp)
	hash := trial.Must(k.d.ClaimHash(c))(k)
	s.ClaimHandler, s.ClaimData = k.d.ClaimHandlers[c.Kind], hash
	s.Kind = c.Kind
	k.sent(user, k.initBy(s, user)...)
	return s
}

func nonced(tx *btc.MsgTx) { tx.LockTime = 500_000_100 }

const nonce = 100<<24 | 0x001234

func conditions(tx *btc.MsgTx, confirmations uint16) []chains.Condition {
	return []chains.Condition{
		{Kind: chains.Onchain, Script: script, Sats: sats, Confirmations: confirmations},
		{Kind: chains.OnchainNonced, Script: script, Sats: sats, Nonce: nonce, Confirmations: confirmations},
		{Kind: chains.OnchainTxID, TxID: [32]byte(tx.TxHash()), Confirmations: confirmations},
	}
}

func TestClaimByBitcoin(t *testing.T) {
	tx := payment(script, sats, nonced)
	for _, c := range conditions(tx, 3) {
		t.Run(c.Kind.String(), func(t *testing.T) {
			k := newKit(t)
			s := k.waiting(c)
			proof, _ := k.confirm(genesis(), tx, 3)
			call := trial.Must(k.d.ClaimByBitcoin(s, proof))(k)
			i := k.sent(tower, call)
			want := wire.ClaimEvent{EscrowEvent: wire.EscrowEvent{Offerer: user, Claimer: lp, ClaimData: s.ClaimData, EscrowHash: k.hash(s)}, Kind: c.Kind, Result: [32]byte(tx.TxHash())}
			if diff := cmp.Diff([]wire.Event{want}, k.told(i)); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if k.has(coin, lp) != wealth+50_000 || k.has(gas, tower) != wealth+200 {
				t.Errorf("the claimer has %d, the sender %d", k.has(coin, lp), k.has(gas, tower))
			}
		})
	}
}

// prefixes begin the reasons of the handlers.
var prefixes = map[chains.Kind]string{chains.Onchain: "btcoutlock: ", chains.OnchainNonced: "btcnoutlock: ", chains.OnchainTxID: "txidlock: "}

func TestClaimByBitcoinReverts(t *testing.T) {
	tx := payment(script, sats, nonced)
	for _, c := range conditions(tx, 3) {
		t.Run(c.Kind.String(), func(t *testing.T) {
			k := newKit(t)
			s := k.waiting(c)
			proof, tip := k.confirm(genesis(), tx, 2)
			call, err := k.d.ClaimByBitcoin(s, wire.BitcoinProof{Tx: proof.Tx, Vout: 1, Confirmations: 3, Header: proof.Header, Merkle: proof.Merkle})
			k.must(err)
			prefix := prefixes[c.Kind]
			_, err = k.send(tower, call)
			reverts(t, err, prefix+"Confirmations")
			k.submitted(tower, wire.Branch{}, tip, blocks(tip.Header, 1, 9))
			all := trial.Must(s.Felts())(k)
			begin := len(all) + 1 // of the witness
			subject := 1
			if c.Kind == chains.OnchainTxID {
				subject = 8
			}
			header := begin + subject + 2
			for _, v := range []struct {
				name   string
				change func([]Felt) []Felt
				reason string
			}{
				{"other confirmations", func(w []Felt) []Felt { w[begin+subject] = wire.FeltOf(1); return w }, prefix + "Invalid commitment"},
				{"other relay", func(w []Felt) []Felt { w[begin+subject+1] = coin; return w }, prefix + "Invalid commitment"},
				{"unknown header", func(w []Felt) []Felt { w[header+storedFelts-1] = wire.FeltOf(1); return w }, "verify: block commitment"},
				{"future header", func(w []Felt) []Felt { w[header+storedFelts-12] = wire.FeltOf(1 << 20); return w }, "verify: future block"},
				{"another sibling", func(w []Felt) []Felt { w[header+storedFelts+1] = wire.FeltOf(1); return w }, "merkle_tree: verify failed"},
				{"another position", func(w []Felt) []Felt { w[header+storedFelts+1+16] = wire.FeltOf(3); return w }, "merkle_tree: verify failed"},
				{"a witness cut off", func(w []Felt) []Felt {
					w = w[:len(w)-1]
					w[begin-1] = wire.FeltOf(uint64(len(w) - begin))
					return w
				}, prefix + "Deserialize " + map[bool]string{false: "witness", true: "witnes"}[c.Kind == chains.OnchainNonced]},
			} {
				t.Run(v.name, func(t *testing.T) {
					changed := call
					changed.Calldata = v.change(slices.Clone(call.Calldata))
					_, err := k.send(tower, changed)
					reverts(t, err, v.reason)
				})
			}
			longer := call // what follows the witness is not looked at
			longer.Calldata = append(slices.Clone(call.Calldata), wire.FeltOf(9))
			longer.Calldata[begin-1] = wire.FeltOf(uint64(len(longer.Calldata) - begin))
			k.sent(tower, longer)
		})
	}
}

// What handlers of outputs look at in a transaction. Each is proven in a block of its own.
func TestOutputRules(t *testing.T) {
	for _, c := range []struct {
		name   string
		nonced bool
		vout   uint32
		tx     func(*btc.MsgTx)
		raw    func([]byte) []byte // what is shown instead
		reason string
	}{
		{"another amount", false, 1, func(tx *btc.MsgTx) { tx.TxOut[1].Value++ }, nil, "btcoutlock: Invalid output"},
		{"another script", false, 1, func(tx *btc.MsgTx) { tx.TxOut[1].PkScript = slices.Concat(script, []byte{0}) }, nil, "btcoutlock: Invalid output"},
		{"the other output", false, 0, nil, nil, "btcoutlock: Invalid output"},
		{"no such output", false, 2, nil, nil, "btcoutlock: Invalid vout"},
		{"more data", false, 1, nil, func(b []byte) []byte { return append(b, 0) }, "bitcointx: more data"},
		{"too little data", false, 1, nil, func(b []byte) []byte { return b[:len(b)-1] }, "bitcointx: more data"},
		{"cut in an output", false, 1, nil, func(b []byte) []byte { return b[:len(b)-40] }, "Array index out of bounds"},
		{"nothing", false, 1, nil, func([]byte) []byte { return nil }, "Array index out of bounds"},
		{"witnesses", false, 1, nil, func(b []byte) []byte { return slices.Concat(b[:4], []byte{0, 1}, b[4:]) }, "bitcointx: witness not stripped"},
		{"64 bytes", false, 1, nil, func(b []byte) []byte { return make([]byte, 64) }, "bitcointx: length 64"},
		{"endless inputs", false, 1, nil, func(b []byte) []byte {
			return slices.Concat(b[:4], []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, b[5:])
		}, "Array index out of bounds"},
		{"an endless script", false, 1, nil, func(b []byte) []byte {
			return slices.Concat(b[:41], []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, b[42:])
		}, "Option::unwrap failed."},
		{"a script beyond 32 bits", false, 1, nil, func(b []byte) []byte { return slices.Concat(b[:41], []byte{0xfe, 0xff, 0xff, 0xff, 0xff}, b[42:]) }, "u32_add Overflow"},
		{"another transaction of that output", false, 1, nil, func(b []byte) []byte { return slices.Concat([]byte{9}, b[1:]) }, "merkle_tree: verify failed"},

		{"a height as lock time", true, 1, func(tx *btc.MsgTx) { tx.LockTime = 499_999_999 }, nil, "btcnoutlock: Locktime too low"},
		{"another lock time", true, 1, func(tx *btc.MsgTx) { tx.LockTime++ }, nil, "btcnoutlock: Invalid output"},
		{"another sequence", true, 1, func(tx *btc.MsgTx) { tx.TxIn[0].Sequence++ }, nil, "btcnoutlock: Invalid output"},
		{"sequence bits of the first input", true, 1, func(tx *btc.MsgTx) { tx.TxIn[0].Sequence = 0x70001234 }, nil, "btcnoutlock: nSequence bits"},
		{"sequence bits of another input", true, 1, func(tx *btc.MsgTx) { tx.AddTxIn(&btc.TxIn{Sequence: 0xe0001234}) }, nil, "btcnoutlock: nSequence bits"},
		{"inputs that differ", true, 1, func(tx *btc.MsgTx) { tx.AddTxIn(&btc.TxIn{Sequence: 0xf0001235}) }, nil, "btcnoutlock: nSequence match"},
		{"inputs that agree where it counts", true, 1, func(tx *btc.MsgTx) { tx.AddTxIn(&btc.TxIn{Sequence: 0xff001234}) }, nil, ""},
		{"no inputs", true, 1, nil, func(b []byte) []byte { return slices.Concat(b[:4], []byte{0}, b[46:]) }, "btcnoutlock: Empty ins"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newKit(t)
			condition := chains.Condition{Kind: chains.Onchain, Script: script, Sats: sats, Confirmations: 1}
			if c.nonced {
				condition.Kind, condition.Nonce = chains.OnchainNonced, nonce
			}
			s := k.waiting(condition)
			tx := payment(script, sats, nonced)
			if c.tx != nil {
				c.tx(tx)
			}
			proof, _ := k.confirm(genesis(), tx, 1)
			if c.raw != nil {
				proof.Tx = c.raw(proof.Tx)
			}
			subject := felts(nil)
			if c.nonced {
				subject = subject.uint(nonce)
			}
			w := felts{subject.uint(sats).add(wire.Poseidon(wire.Chunks(script)...)).poseidon()}.uint(1).add(k.d.BtcRelay.Address).add(proof.Header.Felts()...).uint(2)
			for _, h := range proof.Merkle.Hashes {
				w = w.hash(h)
			}
			w = w.uint(uint64(proof.Merkle.Pos)).bytes(proof.Tx).uint(uint64(c.vout))
			all, err := s.Felts()
			k.must(err)
			err = k.manager(tower, "claim", append(all, felts(nil).span(w...)...)...)
			if c.reason == "" {
				k.must(err)
				return
			}
			reverts(t, err, c.reason)
		})
	}
}

// Contracts read bytes in the form in which the reference writes them too: with a whole
// word left over.
func TestByteArrayForms(t *testing.T) {
	full := make([]byte, 62)
	for i := range full {
		full[i] = byte(i + 1)
	}
	words := wire.Chunks(full)
	for name, all := range map[string][]Felt{
		"canonical":            wire.ByteArray(full),
		"a whole word is left": felts{wire.FeltOf(1), words[0], words[1], wire.FeltOf(31)},
	} {
		r := &reader{rest: all}
		if got := readBytes(r); r.failed || len(r.rest) != 0 || !slices.Equal(got, full) {
			t.Errorf("%s: %x, want %x", name, got, full)
		}
	}
	tooLong := new(big.Int).Lsh(big.NewInt(1), 248)
	f := trial.Must(wire.FeltOfBig(tooLong))(t)
	for name, all := range map[string][]Felt{
		"a word of 32 bytes": {wire.FeltOf(1), f, {}, {}},
		"32 bytes left":      {{}, {}, wire.FeltOf(32)},
		"words missing":      {wire.FeltOf(3), {}, {}},
	} {
		r := &reader{rest: all}
		if got := readBytes(r); !r.failed {
			t.Errorf("%s: %x, want a failure", name, got)
		}
	}
}
