package psbt

import (
	"bytes"
	"encoding/hex"
	"fmt"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/txscript"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
)

// Wallet is a user's wallet of one address, without its private key. It is
// immutable.
type Wallet struct {
	address bitcoin.Address
	key     []byte // as wallets need it: 32 bytes for p2tr, else as given; empty when unknown
}

// NewWallet returns the wallet of an address. publicKey is hex: for p2tr the
// internal key of an output without scripts, 32 bytes or 33 with prefix 02 or
// 03; for p2sh-p2wpkh, which any P2SH address is taken for, 33 bytes; for p2pkh
// and p2wpkh any encoding. It must belong to the address: a wrong one would
// give a transaction that the wallet cannot sign. For p2wsh, which can only be
// asked for its balance, it is not used. It may be empty; then p2tr and
// p2sh-p2wpkh wallets can only be asked for their balance (protocol: bitcoin.md §2.3).
// Errors have the code InvalidInput; given an address, they are about the key.
func NewWallet(address bitcoin.Address, publicKey string) (Wallet, error) {
	if address.IsZero() {
		return Wallet{}, fault.New(fault.InvalidInput, "the wallet's address is required")
	}
	key, err := hex.DecodeString(publicKey)
	if err != nil { // does not repeat the text: it could be a private key
		return Wallet{}, fault.New(fault.InvalidInput, "must be hexadecimal")
	}
	w, err := uncheckedWallet(address, key)
	switch {
	case len(key) == 0 || address.Type() == bitcoin.P2WSH:
		return w, nil
	case err != nil:
		return Wallet{}, fault.New(fault.InvalidInput, "%w", err)
	case address.Type() == bitcoin.P2SH && len(key) != btcec.PubKeyBytesLenCompressed:
		return Wallet{}, fault.New(fault.InvalidInput, "must have 33 bytes for a p2sh-p2wpkh address, not %d", len(key))
	}
	if !w.owns(w.key) {
		return Wallet{}, fault.New(fault.InvalidInput, "does not match the address %s", address)
	}
	return w, nil
}

// uncheckedWallet returns the wallet of an address and a key that need not belong to
// it: what the reference implementation would sign for. A taproot key of neither
// form is an error.
func uncheckedWallet(address bitcoin.Address, key []byte) (w Wallet, err error) {
	w = Wallet{address: address, key: key}
	if address.Type() == bitcoin.P2TR && len(key) > 0 {
		w.key, err = internalKey(key)
	}
	return w, err
}

// Address returns the address of the wallet.
func (w Wallet) Address() bitcoin.Address { return w.address }

// PublicKey returns a copy of the key: x-only for p2tr, else as it was given.
func (w Wallet) PublicKey() []byte { return bytes.Clone(w.key) }

// CanFund returns an InvalidInput error if no transaction can be built for
// wallets of this kind of address. With segwitOnly, what others sign after the
// user depends on the transaction's id, which inputs of legacy addresses leave
// open (protocol: bitcoin.md §2.1).
func (w Wallet) CanFund(segwitOnly bool) error {
	switch t := w.address.Type(); {
	case w.address.IsZero():
		return fault.New(fault.InvalidInput, "the wallet's address is required")
	case t == bitcoin.P2WSH:
		return fault.New(fault.InvalidInput, "p2wsh wallets are not supported here, because their script is unknown; sign a raw PSBT instead")
	case t == bitcoin.P2PKH && segwitOnly:
		return fault.New(fault.InvalidInput, "must be a segwit address for this swap; %s is a legacy address", w.address)
	}
	return nil
}

// HasKey returns an InvalidInput error if the public key is unknown and inputs of
// the wallet's address cannot be described without it.
func (w Wallet) HasKey() error {
	if t := w.address.Type(); (t == bitcoin.P2TR || t == bitcoin.P2SH) && len(w.key) == 0 {
		return fault.New(fault.InvalidInput, "is required for a %s address", t)
	}
	return nil
}

// internalKey brings a taproot key into its 32-byte form.
func internalKey(key []byte) ([]byte, error) {
	if len(key) == btcec.PubKeyBytesLenCompressed {
		if key[0] != 2 && key[0] != 3 {
			return nil, fmt.Errorf("must have the prefix 02 or 03, not %02x", key[0])
		}
		key = key[1:]
	}
	if len(key) != schnorr.PubKeyBytesLen {
		return nil, fmt.Errorf("must have 32 or 33 bytes for a p2tr address, not %d", len(key))
	}
	return key, nil
}

// owns reports whether key can belong to the address.
func (w Wallet) owns(key []byte) bool {
	program := w.address.Program()
	if w.address.Type() == bitcoin.P2TR {
		internal, err := schnorr.ParsePubKey(key)
		return err == nil && bytes.Equal(schnorr.SerializePubKey(txscript.ComputeTaprootKeyNoScript(internal)), program)
	}
	for _, k := range encodings(key) {
		hash := btcutil.Hash160(k)
		if w.address.Type() == bitcoin.P2SH {
			hash = btcutil.Hash160(witnessKeyHash(k))
		} else if w.address.Type() == bitcoin.P2WPKH && len(k) != btcec.PubKeyBytesLenCompressed {
			continue // segwit knows compressed keys only
		}
		if bytes.Equal(hash, program) {
			return true
		}
	}
	return false
}

// encodings returns the forms in which an output may commit to a key.
func encodings(key []byte) [][]byte {
	if len(key) == schnorr.PubKeyBytesLen {
		return [][]byte{append([]byte{2}, key...), append([]byte{3}, key...)}
	}
	pub, err := btcec.ParsePubKey(key)
	if err != nil {
		return nil
	}
	return [][]byte{pub.SerializeCompressed(), pub.SerializeUncompressed()}
}

// witnessKeyHash is the P2WPKH script of a compressed key: the redeem script of
// p2sh-p2wpkh.
func witnessKeyHash(key []byte) []byte {
	return append([]byte{txscript.OP_0, txscript.OP_DATA_20}, btcutil.Hash160(key)...)
}
