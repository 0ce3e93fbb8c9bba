package console

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"

	"github.com/NethermindEth/juno/core/felt"
	"github.com/NethermindEth/starknet.go/curve"
	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/txscript"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	sol "github.com/gagliardetto/solana-go"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/chains/solana"
	"github.com/swapper-go/swapper/chains/starknet"
)

// Sign signs what an action asks for: transactions of a smart chain, or the inputs of a
// Bitcoin transaction that are named. What is signed was built and checked by the
// client in this process; a wallet that gets it over a network shows it to its user first.
func (k *Keys) Sign(a *swapper.Action) ([]string, error) {
	switch {
	case a.SignPSBT != nil:
		return each(a.SignPSBT.Funded, k.signPSBT)
	case a.SignSmartChainTransaction != nil:
		s := a.SignSmartChainTransaction
		if own := k.Address(s.Chain); s.RequiredSigner != own {
			return nil, fmt.Errorf("%s has to be signed by %s; this wallet is %s", s.Name, s.RequiredSigner, own)
		}
		switch s.Chain {
		case solana.ChainID:
			return each(s.Txs, k.signSolana)
		case starknet.ChainID:
			return each(s.Txs, k.signStarknet)
		}
		return each(s.Txs, k.signEVM)
	}
	return nil, fmt.Errorf("the action %s needs no signature", a.Type())
}

func each[T any](unsigned []T, sign func(T) (string, error)) ([]string, error) {
	signed := make([]string, len(unsigned))
	for i, tx := range unsigned {
		var err error
		if signed[i], err = sign(tx); err != nil {
			return nil, fmt.Errorf("sign transaction %d of %d: %w", i+1, len(unsigned), err)
		}
	}
	return signed, nil
}

func (k *Keys) signEVM(text string) (string, error) {
	unsigned, err := evm.UnsignedTransaction(text)
	if err != nil {
		return "", err
	}
	tx, err := types.SignTx(unsigned, types.LatestSignerForChainID(unsigned.ChainId()), k.bitcoin.ToECDSA())
	if err != nil {
		return "", err
	}
	raw, err := tx.MarshalBinary()
	return hexutil.Encode(raw), err
}

func (k *Keys) signSolana(text string) (string, error) {
	tx, err := solana.UnsignedTransaction(text)
	if err != nil {
		return "", err
	}
	_, err = tx.PartialSign(func(signer sol.PublicKey) *sol.PrivateKey {
		if signer == k.solana.PublicKey() {
			return &k.solana
		}
		return nil // the provider has signed already
	})
	if err != nil {
		return "", err
	}
	raw, err := tx.MarshalBinary()
	return hex.EncodeToString(raw), err
}

func (k *Keys) signStarknet(text string) (string, error) {
	tx, err := starknet.UnsignedTransaction(text)
	if err != nil {
		return "", err
	}
	if d := tx.Deploy; d != nil { // of this account, whose class only its wallet knows
		d.ClassHash, d.ContractAddressSalt, d.ConstructorCalldata = &class, k.stark.public, []*felt.Felt{k.stark.public}
	}
	hash, err := tx.Hash()
	if err != nil {
		return "", err
	}
	r, s, err := curve.SignFelts(hash, k.stark.secret)
	if err != nil {
		return "", err
	}
	return tx.Sign(r, s)
}

func (k *Keys) signPSBT(funded swapper.FundedPSBT) (string, error) {
	raw, err := base64.StdEncoding.DecodeString(funded.PSBTBase64)
	if err != nil {
		return "", err
	}
	packet, err := psbt.NewFromRawBytes(bytes.NewReader(raw), false)
	if err != nil {
		return "", err
	}
	spent := txscript.NewMultiPrevOutFetcher(nil)
	for i, in := range packet.UnsignedTx.TxIn {
		spent.AddPrevOut(in.PreviousOutPoint, packet.Inputs[i].WitnessUtxo)
	}
	hashes := txscript.NewTxSigHashes(packet.UnsignedTx, spent)
	for _, i := range funded.SignInputs {
		out := packet.Inputs[i].WitnessUtxo
		signature, err := txscript.RawTxInWitnessSignature(packet.UnsignedTx, hashes, i, out.Value, out.PkScript, txscript.SigHashAll, k.bitcoin)
		if err != nil {
			return "", err
		}
		packet.Inputs[i].PartialSigs = append(packet.Inputs[i].PartialSigs,
			&psbt.PartialSig{PubKey: k.bitcoin.PubKey().SerializeCompressed(), Signature: signature})
	}
	return packet.B64Encode()
}
