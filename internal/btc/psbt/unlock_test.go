package psbt

import (
	"testing"

	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// An input is segwit, so that signatures do not change the id of its transaction, only
// if what it spends is a witness program and its script pushes nothing but that.
func TestWhichInputsAreSegwit(t *testing.T) {
	pub := testKey().PubKey().SerializeCompressed()
	program := witnessKeyHash(pub)
	nested := p2sh(program)
	other := []byte{txscript.OP_TRUE}
	for name, c := range map[string]struct {
		script, unlock []byte
		want           bool
	}{
		"p2wpkh":                          {program, nil, true},
		"p2tr":                            {testAddress(t, bitcoin.P2TR).Script(), nil, true},
		"p2wsh":                           {p2wsh(other), nil, true},
		"p2wpkh with a script":            {program, []byte{txscript.OP_0}, false},
		"nested":                          {nested, pushOf(program), true},
		"nested p2wsh":                    {p2sh(p2wsh(other)), pushOf(p2wsh(other)), true},
		"nested, no script":               {nested, nil, false},
		"nested, an empty push":           {nested, []byte{0}, false},
		"nested, something before it":     {nested, append([]byte{txscript.OP_0}, pushOf(program)...), false},
		"nested, something behind it":     {nested, append(pushOf(program), txscript.OP_0), false},
		"nested, a wrong length":          {nested, append([]byte{byte(len(program) - 1)}, program...), false},
		"another script behind a hash":    {p2sh(other), pushOf(other), false},
		"legacy":                          {testAddress(t, bitcoin.P2PKH).Script(), nil, false},
		"legacy, signed":                  {testAddress(t, bitcoin.P2PKH).Script(), pushOf(pub), false},
		"nested, a witness that is short": {nested, pushOf([]byte{0, 1, 7}), false},
	} {
		if got := (unlock{script: c.unlock}).segwit(c.script); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A signature is used for a script of one key only if it is by that key.
func TestWhoseSignatureIsUsed(t *testing.T) {
	own, other := keys()
	sig := []byte{0x30, 1, 2, byte(txscript.SigHashAll)}
	for _, typ := range []bitcoin.AddressType{bitcoin.P2PKH, bitcoin.P2WPKH, bitcoin.P2SH} {
		script := testAddress(t, typ).Script()
		if l, ok := keyUnlock(typ, script, &psbt.PartialSig{PubKey: own.PubKey().SerializeCompressed(), Signature: sig}); !ok || len(l.script)+len(l.witness) == 0 {
			t.Errorf("%v: the owner's is not used: %+v", typ, l)
		}
		for name, key := range map[string][]byte{"another": other.PubKey().SerializeCompressed(), "the owner's in its other form": own.PubKey().SerializeUncompressed()} {
			if _, ok := keyUnlock(typ, script, &psbt.PartialSig{PubKey: key, Signature: sig}); ok {
				t.Errorf("%v: the signature of %s key is used", typ, name)
			}
		}
	}
	for _, typ := range []bitcoin.AddressType{bitcoin.P2TR, bitcoin.P2WSH} {
		if _, ok := keyUnlock(typ, testAddress(t, typ).Script(), &psbt.PartialSig{PubKey: own.PubKey().SerializeCompressed(), Signature: sig}); ok {
			t.Errorf("%v has a key", typ)
		}
	}
}

// A taproot signature that lacks the byte for all is tried with it only where the
// wallet was asked for one; what has a byte is left as it is.
func TestTaprootSignatureByte(t *testing.T) {
	for name, c := range map[string]struct {
		size int
		kind txscript.SigHashType
		want int
	}{
		"none":                  {0, txscript.SigHashDefault, 0},
		"default":               {64, txscript.SigHashDefault, 1},
		"all, without its byte": {64, txscript.SigHashAll, 2},
		"all, with its byte":    {65, txscript.SigHashAll, 1},
		"a byte, by default":    {65, txscript.SigHashDefault, 1},
	} {
		in := &psbt.PInput{SighashType: c.kind}
		if c.size > 0 {
			in.TaprootKeySpendSig = make([]byte, c.size)
		}
		all, err := finishTaproot(in)
		if len(all) != c.want || (err != nil) != (c.want == 0) {
			t.Errorf("%s: %d unlocks, %v", name, len(all), err)
		}
		for i, l := range all {
			if len(l.witness) != 1 || len(l.witness[0]) != c.size+i || l.script != nil {
				t.Errorf("%s: %+v", name, l)
			}
		}
	}
}

// The signature of a transaction of all is told by its last byte alone, whatever kind
// of input it is for.
func TestSignatureMustBeOfAll(t *testing.T) {
	all := append(make([]byte, 70), byte(txscript.SigHashAll))
	pub := testKey().PubKey().SerializeCompressed()
	redeem := witnessKeyHash(pub)
	for _, kind := range []txscript.SigHashType{txscript.SigHashAll, txscript.SigHashNone, txscript.SigHashSingle, txscript.SigHashAll | txscript.SigHashAnyOneCanPay, 0} {
		sig := append(make([]byte, 70), byte(kind))
		tap := append(make([]byte, 64), byte(kind))
		for name, c := range map[string]struct {
			typ bitcoin.AddressType
			l   unlock
		}{
			"p2pkh":  {bitcoin.P2PKH, unlock{script: append(pushOf(sig), pushOf(pub)...)}},
			"p2wpkh": {bitcoin.P2WPKH, unlock{witness: wire.TxWitness{sig, pub}}},
			"p2sh":   {bitcoin.P2SH, unlock{script: pushOf(redeem), witness: wire.TxWitness{sig, pub}}},
			"p2tr":   {bitcoin.P2TR, unlock{witness: wire.TxWitness{tap}}},
		} {
			v := newVerifier(wire.NewMsgTx(2), nil)
			v.prevouts = []*wire.TxOut{wire.NewTxOut(1, testAddress(t, c.typ).Script())}
			v.more = []*verifier{} // nothing is tried
			if err := v.signsAll(0, c.l); (err == nil) != (kind == txscript.SigHashAll) {
				t.Errorf("%s, type %x: %v", name, kind, err)
			}
		}
	}
	for name, sig := range map[string][]byte{"none": nil, "empty": {}} {
		if endsWithAll(sig) == nil {
			t.Errorf("%s is of all", name)
		}
	}
	if endsWithAll(all) != nil {
		t.Error("one of all is refused")
	}
	v := newVerifier(wire.NewMsgTx(2), nil)
	v.prevouts, v.more = []*wire.TxOut{wire.NewTxOut(1, testAddress(t, bitcoin.P2TR).Script())}, []*verifier{}
	if err := v.signsAll(0, unlock{witness: wire.TxWitness{make([]byte, 64)}}); err != nil {
		t.Errorf("a taproot signature of the default type: %v", err)
	}
}
