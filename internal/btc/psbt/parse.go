package psbt

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// maxSize is the greatest length in bytes of a PSBT that is read.
const maxSize = 4_000_000

// Unchecked is a transaction as a wallet returned it: well-formed, but
// nothing in it is to be believed before [Unchecked.Check]. It is immutable.
type Unchecked struct {
	tx     *wire.MsgTx   // unsigned
	inputs []psbt.PInput // what finishing and checking need
}

// Parse reads a PSBT of version 0 or 2 in hex or, if the text is none,
// in padded base64 (protocol: bitcoin.md §10). Raw transactions, bytes after the
// end, repeated keys and impossible amounts are refused. Errors have code
// InvalidInput.
func Parse(text string) (*Unchecked, error) {
	raw, err := decodePSBTText(text)
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "%w", err)
	}
	u, err := decodePSBT(raw)
	if err != nil {
		return nil, fault.New(fault.InvalidInput, "not a PSBT: %w", err)
	}
	return u, nil
}

// Inputs returns the outputs that the transaction spends, in order.
func (u *Unchecked) Inputs() []bitcoin.OutPoint {
	ops := make([]bitcoin.OutPoint, len(u.tx.TxIn))
	for i, in := range u.tx.TxIn {
		ops[i] = in.PreviousOutPoint
	}
	return ops
}

func decodePSBTText(text string) ([]byte, error) {
	if len(text) > 2*maxSize {
		return nil, fmt.Errorf("PSBT with %d characters is too long", len(text))
	}
	if raw, err := hex.DecodeString(text); err == nil && len(raw) > 0 {
		return raw, nil
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) == 0 || strings.ContainsAny(text, "\r\n") { // the decoder skips line ends
		return nil, errors.New("PSBT is neither hex nor base64")
	}
	return raw, nil
}

const pubKeyBytesLenUncompressed = 65

var psbtMagic = []byte("psbt\xff")

// Key types of BIP-174 and BIP-370.
const (
	psbtGlobalTx      = 0x00
	psbtGlobalVersion = 0xfb

	psbtInNonWitnessUTXO = 0x00
	psbtInWitnessUTXO    = 0x01
	psbtInPartialSig     = 0x02
	psbtInSighash        = 0x03
	psbtInRedeemScript   = 0x04
	psbtInWitnessScript  = 0x05
	psbtInFinalScript    = 0x07
	psbtInFinalWitness   = 0x08
	psbtInTaprootKeySig  = 0x13
)

func decodePSBT(raw []byte) (*Unchecked, error) {
	rest, ok := bytes.CutPrefix(raw, psbtMagic)
	if !ok {
		return nil, errors.New("it does not begin with the PSBT magic bytes")
	}
	if len(raw) > maxSize {
		return nil, fmt.Errorf("it is too long: %d bytes", len(raw))
	}
	s := rawtx.Scanner{Rest: rest}
	global, err := scanMap(&s)
	if err != nil {
		return nil, err
	}
	version, err := global.number(psbtGlobalVersion, 0)
	if err != nil {
		return nil, err
	}
	read := psbtV0
	switch version {
	case 0:
	case 2:
		read = psbtV2
	default:
		return nil, fmt.Errorf("unsupported version %d", version)
	}
	tx, inputs, err := read(&s, global)
	if err != nil {
		return nil, err
	}
	if len(s.Rest) > 0 {
		return nil, fmt.Errorf("it has %d extra bytes at the end", len(s.Rest))
	}
	if err := rawtx.CheckAmounts(tx); err != nil {
		return nil, err
	}
	u := &Unchecked{tx: tx, inputs: make([]psbt.PInput, len(inputs))}
	for i, m := range inputs {
		if u.inputs[i], err = m.input(); err != nil {
			return nil, fmt.Errorf("input %d: %w", i, err)
		}
	}
	if version == 2 {
		u.settleOrder()
	}
	return u, nil
}

// psbtV0 reads what follows the global map: one map per input and output of
// the unsigned transaction.
func psbtV0(s *rawtx.Scanner, global psbtMap) (*wire.MsgTx, []psbtMap, error) {
	tx, err := rawtx.Decode(global.get(psbtGlobalTx))
	if err != nil {
		return nil, nil, err
	}
	for i, in := range tx.TxIn {
		if len(in.SignatureScript) > 0 || len(in.Witness) > 0 {
			return nil, nil, fmt.Errorf("input %d of the unsigned transaction is signed", i)
		}
	}
	inputs, err := scanMaps(s, len(tx.TxIn))
	if err != nil {
		return nil, nil, err
	}
	_, err = scanMaps(s, len(tx.TxOut)) // only descriptions of the user's own outputs stand there
	return tx, inputs, err
}

// psbtMap is one list of keys and values: the first byte of a key is its type.
type psbtMap map[string][]byte

func scanMaps(s *rawtx.Scanner, n int) ([]psbtMap, error) {
	if n > len(s.Rest) {
		return nil, errors.New("it is truncated")
	}
	maps := make([]psbtMap, n)
	for i := range maps {
		var err error
		if maps[i], err = scanMap(s); err != nil {
			return nil, err
		}
	}
	return maps, nil
}

func scanMap(s *rawtx.Scanner) (psbtMap, error) {
	m := psbtMap{}
	for {
		n := s.Count()
		if n == 0 && !s.Short {
			return m, nil
		}
		key := string(s.Take(n))
		value := s.Take(s.Count())
		switch _, twice := m[key]; {
		case s.Short:
			return nil, errors.New("it is truncated")
		case s.Loose:
			return nil, errors.New("a length is not in its shortest form")
		case twice:
			return nil, fmt.Errorf("key %.8x occurs twice", key)
		}
		m[key] = value
	}
}

// get returns the value of a key that is its type alone; nil if it is absent.
func (m psbtMap) get(key byte) []byte { return m[string([]byte{key})] }

// number returns the value of a key as a 32-bit integer, and otherwise if it is absent.
func (m psbtMap) number(key byte, otherwise uint32) (uint32, error) {
	v, ok := m[string([]byte{key})]
	switch {
	case !ok:
		return otherwise, nil
	case len(v) != 4:
		return 0, fmt.Errorf("value of %02x has %d bytes instead of 4", key, len(v))
	}
	return binary.LittleEndian.Uint32(v), nil
}

// input reads the fields that finishing and checking need. What wallets note for
// themselves (derivation paths, scripts of other branches) is dropped to keep it
// private.
func (m psbtMap) input() (psbt.PInput, error) {
	var in psbt.PInput
	sighash, err := m.number(psbtInSighash, 0)
	if err != nil {
		return in, err
	}
	in.SighashType = txscript.SigHashType(sighash)
	for key, value := range m {
		if key[0] == psbtInPartialSig {
			if n := len(key) - 1; n != btcec.PubKeyBytesLenCompressed && n != pubKeyBytesLenUncompressed || len(value) == 0 {
				return in, errors.New("partial signature without a key or a signature")
			}
			in.PartialSigs = append(in.PartialSigs, &psbt.PartialSig{PubKey: []byte(key[1:]), Signature: value})
			continue
		}
		if len(key) != 1 {
			continue
		}
		switch key[0] {
		case psbtInNonWitnessUTXO:
			in.NonWitnessUtxo, err = rawtx.Decode(value)
		case psbtInWitnessUTXO:
			in.WitnessUtxo, err = decodeOutput(value)
		case psbtInRedeemScript:
			in.RedeemScript = value
		case psbtInWitnessScript:
			in.WitnessScript = value
		case psbtInFinalScript:
			in.FinalScriptSig = value
		case psbtInFinalWitness:
			in.FinalScriptWitness = value
		case psbtInTaprootKeySig:
			in.TaprootKeySpendSig = value
		}
		if err != nil {
			return in, fmt.Errorf("field %02x: %w", key[0], err)
		}
	}
	slices.SortFunc(in.PartialSigs, func(a, b *psbt.PartialSig) int { return bytes.Compare(a.PubKey, b.PubKey) })
	return in, nil
}

// decodeOutput reads a serialised output.
func decodeOutput(b []byte) (*wire.TxOut, error) {
	s := rawtx.Scanner{Rest: b}
	value := s.Take(8)
	script := s.Take(s.Count())
	if s.Short || s.Loose || len(s.Rest) > 0 {
		return nil, errors.New("not an output")
	}
	sats := binary.LittleEndian.Uint64(value)
	if sats > uint64(rawtx.MaxMoney) {
		return nil, fmt.Errorf("%d sats is not a valid amount", sats)
	}
	return wire.NewTxOut(int64(sats), script), nil
}

// decodeWitness reads a serialised witness stack.
func decodeWitness(b []byte) (wire.TxWitness, error) {
	s := rawtx.Scanner{Rest: b}
	var w wire.TxWitness
	for range s.Count() {
		w = append(w, s.Take(s.Count()))
	}
	if s.Short || s.Loose || len(s.Rest) > 0 {
		return nil, errors.New("not a witness")
	}
	return w, nil
}

func encodeWitness(w wire.TxWitness) ([]byte, error) {
	var b bytes.Buffer
	if err := psbt.WriteTxWitness(&b, w); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
