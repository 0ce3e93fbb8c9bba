// Package psbt builds the partially signed transactions that a wallet is asked to sign,
// and reads, checks and finishes what comes back: every agreed field, signatures that
// commit to everything, bounds on the fee. It holds no key.
//
// Before that it says what a Bitcoin wallet can pay: its address and key, its coins,
// which of them to spend at which fee rate, and how large the transaction becomes.
package psbt

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"

	"github.com/btcsuite/btcd/btcutil/psbt"
)

// PSBT is a serialised partially signed transaction, BIP-174 version 0.
type PSBT []byte

// Hex returns the form in which UniSat-style wallets and liquidity providers take it.
func (p PSBT) Hex() string { return hex.EncodeToString(p) }

// Base64 returns the form in which most other wallets take it.
func (p PSBT) Base64() string { return base64.StdEncoding.EncodeToString(p) }

func encodePSBT(p *psbt.Packet) (PSBT, error) {
	var b bytes.Buffer
	if err := p.Serialize(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
