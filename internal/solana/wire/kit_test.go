package wire

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

var networkNames = map[string]bitcoin.Network{"MAINNET": bitcoin.Mainnet, "TESTNET": bitcoin.Testnet3, "TESTNET3": bitcoin.Testnet3, "TESTNET4": bitcoin.Testnet4, "REGTEST": bitcoin.Regtest}

// programs returns the deployment that the vectors of a version were made with.
func programs(version string) Programs {
	if version == V2 {
		return firstV2
	}
	return firstV1
}

// clientsLayout is the layout that the sizes of the network's own client fit.
func clientsLayout(version string) DataLayout {
	if version == V2 {
		return DataTagged
	}
	return DataPlain
}

func swapOf(t *testing.T, raw json.RawMessage) *SwapData {
	t.Helper()
	d, err := ParseSwapData(raw)
	if err != nil {
		t.Fatalf("swap data: %v", err)
	}
	return d
}

func key(t testing.TB, s string) Key {
	t.Helper()
	k, err := ParseKey(s)
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return k
}

func hash32(t testing.TB, s string) [32]byte {
	t.Helper()
	b := vectors.Unhex(t, s)
	if len(b) != 32 {
		t.Fatalf("%q is no hash", s)
	}
	return [32]byte(b)
}

func feeRate(t testing.TB, s string) FeeRate {
	t.Helper()
	return trial.Must(ParseFeeRate(s))(t)
}

// ixJSON is an instruction in the vectors: accounts with their flags.
type ixJSON struct {
	ProgramID string      `json:"programId"`
	Keys      [][2]string `json:"keys"`
	Data      string      `json:"data"`
}

func jsonOf(ix Instruction) ixJSON {
	j := ixJSON{ix.Program.String(), [][2]string{}, hex.EncodeToString(ix.Data)}
	for _, a := range ix.Accounts {
		flags := []byte("--")
		if a.IsSigner {
			flags[0] = 's'
		}
		if a.IsWritable {
			flags[1] = 'w'
		}
		j.Keys = append(j.Keys, [2]string{a.PublicKey.String(), string(flags)})
	}
	return j
}

func allJSON(ixs []Instruction) []ixJSON {
	all := []ixJSON{}
	for _, ix := range ixs {
		all = append(all, jsonOf(ix))
	}
	return all
}

func (j ixJSON) instruction(t testing.TB) Instruction {
	ix := Instruction{Program: key(t, j.ProgramID), Data: vectors.Unhex(t, j.Data)}
	for _, k := range j.Keys {
		ix.Accounts = append(ix.Accounts, Account{PublicKey: key(t, k[0]), IsSigner: k[1][0] == 's', IsWritable: k[1][1] == 'w'})
	}
	return ix
}

func instructionsOf(t testing.TB, all []ixJSON) (ixs []Instruction) {
	for _, j := range all {
		ixs = append(ixs, j.instruction(t))
	}
	return ixs
}

// storedJSON is a stored header in the vectors.
type storedJSON struct {
	ChainWork string `json:"chainWork"`
	Header    struct {
		Version       uint32 `json:"version"`
		PrevBlockhash string `json:"reversedPrevBlockhash"`
		MerkleRoot    string `json:"merkleRoot"`
		Timestamp     uint32 `json:"timestamp"`
		Bits          uint32 `json:"nbits"`
		Nonce         uint32 `json:"nonce"`
	} `json:"header"`
	LastDiffAdjustment uint32     `json:"lastDiffAdjustment"`
	Height             uint32     `json:"blockheight"`
	PrevTimes          [10]uint32 `json:"prevBlockTimestamps"`
}

func (j storedJSON) stored(t testing.TB) StoredHeader {
	return StoredHeader{Work: bigHex(t, j.ChainWork), LastDiffAdjustment: j.LastDiffAdjustment, PrevTimes: j.PrevTimes,
		Header: bitcoin.Header{Height: j.Height, Version: int32(j.Header.Version), PrevBlock: hash32(t, j.Header.PrevBlockhash), MerkleRoot: hash32(t, j.Header.MerkleRoot),
			Time: j.Header.Timestamp, Bits: j.Header.Bits, Nonce: j.Header.Nonce}}
}

func jsonOfStored(h StoredHeader) storedJSON {
	j := storedJSON{ChainWork: hex.EncodeToString(h.Work.FillBytes(make([]byte, 32))), LastDiffAdjustment: h.LastDiffAdjustment, Height: h.Header.Height, PrevTimes: h.PrevTimes}
	j.Header.Version, j.Header.Timestamp, j.Header.Bits, j.Header.Nonce = uint32(h.Header.Version), h.Header.Time, h.Header.Bits, h.Header.Nonce
	j.Header.PrevBlockhash, j.Header.MerkleRoot = hex.EncodeToString(h.Header.PrevBlock[:]), hex.EncodeToString(h.Header.MerkleRoot[:])
	return j
}

// authJSON is an authorisation in the vectors.
type authJSON struct {
	Prefix, Timeout, Signature string
}

func (a authJSON) auth(t testing.TB) chains.Auth {
	n := trial.Must(parseNumber(a.Timeout))(t)
	return chains.Auth{Prefix: a.Prefix, Timeout: int64(n), Signature: a.Signature}
}

// fieldOf is the member that an error names.
func fieldOf(err error) string {
	var e *fault.Error
	if errors.As(err, &e) {
		return e.Field
	}
	return ""
}

// signInit authorises the opening of an escrow as an LP does.
func signInit(p Programs, d *SwapData, key SecretKey, sender Key, timeout uint64, f FeeRate, slot uint64, blockhash Hash) (InitAuth, error) {
	tx, err := p.InitTx(d, sender, timeout, f)
	if err != nil {
		return InitAuth{}, err
	}
	tx.Blockhash = blockhash
	err = tx.Sign(key)
	return InitAuth{d.InitPrefix(), timeout, slot, tx.Signatures[key.PublicKey()]}, err
}

// signRefund authorises a refund as an LP does.
func signRefund(d *SwapData, key SecretKey, timeout uint64) (RefundAuth, error) {
	m := d.RefundMessage(timeout)
	sig, err := key.Sign(m[:])
	return RefundAuth{timeout, sig}, err
}
