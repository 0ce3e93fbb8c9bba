package psbt

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/vectors"
)

// pair is a key and a value of a PSBT, with their lengths as they are written.
type pair struct{ key, value []byte }

// mapsOf cuts a PSBT into its maps.
func mapsOf(raw []byte) (all [][]pair) {
	r := bytes.NewReader(raw[5:])
	var one []pair
	for r.Len() > 0 {
		key, err := wire.ReadVarBytes(r, 0, 1<<20, "key")
		if err != nil {
			break
		}
		if len(key) == 0 {
			all, one = append(all, one), nil
			continue
		}
		value, err := wire.ReadVarBytes(r, 0, 1<<20, "value")
		if err != nil {
			break
		}
		one = append(one, pair{key, value})
	}
	return all
}

func joined(maps [][]pair) []byte {
	b := bytes.NewBufferString("psbt\xff")
	for _, m := range maps {
		for _, p := range m {
			_ = wire.WriteVarBytes(b, 0, p.key) // to memory
			_ = wire.WriteVarBytes(b, 0, p.value)
		}
		b.WriteByte(0)
	}
	return b.Bytes()
}

func isUnsignedTx(p pair) bool { return len(p.key) == 1 && p.key[0] == psbtGlobalTx }

// FuzzPairs changes PSBTs of all wallets by their pairs: left out, doubled, put into other
// maps, with other keys and values, whole maps exchanged, and numbers of version 2 that lie.
// What is accepted passes the checks of every PSBT, and what btcd reads as well says the same there.
func FuzzPairs(f *testing.F) {
	var seeds [][]byte
	eachWallet(func(typ bitcoin.AddressType, vault bool) {
		p, a := handedOut(f, typ, vault)
		signWith(f, p, len(a.Template.Inputs), testKey(), txscript.SigHashAll)
		seeds = append(seeds, closePSBT(f, p), toV2(f, p, false), toV2(f, p, true))
		finishWith(f, p, len(a.Template.Inputs))
		seeds = append(seeds, closePSBT(f, p))
	})
	for i := range seeds {
		f.Add([]byte{byte(i), byte(i), 0, byte(i), 1, 2})
	}
	f.Fuzz(func(t *testing.T, fields []byte) {
		d := vectors.Draw(fields)
		maps := mapsOf(seeds[d.Int(len(seeds))])
		for range d.Int(5) {
			m := d.Int(len(maps))
			if len(maps[m]) == 0 {
				maps[m] = append(maps[m], pair{append([]byte{d.Byte()}, d.Some(40)...), d.Some(100)})
				continue
			}
			at := d.Int(len(maps[m]))
			switch d.Int(8) {
			case 0:
				maps[m] = slices.Delete(slices.Clone(maps[m]), at, at+1)
			case 1:
				maps[m] = append(slices.Clone(maps[m]), maps[m][at])
			case 2:
				to := d.Int(len(maps))
				maps[to] = append(slices.Clone(maps[to]), maps[m][at])
			case 3:
				maps[m][at].key = d.Bent(maps[m][at].key)
			case 4:
				maps[m][at].value = d.Bent(maps[m][at].value)
			case 5:
				maps[m][at].value = d.Some(100)
			case 6:
				maps[m][at].value = binary.LittleEndian.AppendUint64(nil, d.Uint64())[:vectors.DrawOne(d, 1, 4, 8)]
			default:
				to := d.Int(len(maps))
				maps[m], maps[to] = maps[to], maps[m]
			}
		}
		raw := joined(maps)
		u, err := decodePSBT(raw)
		if err != nil {
			return
		}
		// btcd judges what we do not use, too, and reads no version 2.
		if theirs, err := psbt.NewFromRawBytes(bytes.NewReader(raw), false); err == nil && slices.ContainsFunc(maps[0], isUnsignedTx) {
			if theirs.UnsignedTx.TxHash() != u.tx.TxHash() || len(theirs.Inputs) != len(u.inputs) {
				t.Fatalf("%x is read as %s, by btcd as %s", raw, u.tx.TxHash(), theirs.UnsignedTx.TxHash())
			}
			for i, is := range u.inputs {
				want := theirs.Inputs[i]
				switch {
				case (is.WitnessUtxo == nil) != (want.WitnessUtxo == nil), is.WitnessUtxo != nil && !sameOutput(is.WitnessUtxo, want.WitnessUtxo),
					(is.NonWitnessUtxo == nil) != (want.NonWitnessUtxo == nil), is.NonWitnessUtxo != nil && is.NonWitnessUtxo.TxHash() != want.NonWitnessUtxo.TxHash(),
					!bytes.Equal(is.RedeemScript, want.RedeemScript), !bytes.Equal(is.WitnessScript, want.WitnessScript), !bytes.Equal(is.FinalScriptSig, want.FinalScriptSig),
					!bytes.Equal(is.FinalScriptWitness, want.FinalScriptWitness), !bytes.Equal(is.TaprootKeySpendSig, want.TaprootKeySpendSig), len(is.PartialSigs) != len(want.PartialSigs):
					t.Fatalf("%x: input %d is %+v, by btcd %+v", raw, i, is, want)
				}
			}
		}
		fuzzSigned(t, u)
	})
}
