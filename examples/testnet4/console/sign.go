package console

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"

	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/txscript"

	"github.com/swapper-go/swapper"
)

// Sign signs what an action asks for: transactions of a smart chain, or the inputs of a
// Bitcoin transaction that are named. What is signed was built and checked by the
// client in this process; a wallet that gets it over a network shows it to its user first.
func (k *Keys) Sign(ctx context.Context, a swapper.Action) ([]string, error) {
	switch a := a.(type) {
	case *swapper.SignPSBT:
		var signed []string
		for _, funded := range a.Funded {
			text, err := k.signPSBT(funded)
			if err != nil {
				return nil, err
			}
			signed = append(signed, text)
		}
		return signed, nil
	case *swapper.SignSmartChainTransaction:
		if own := k.Address(a.Chain); a.RequiredSigner != own {
			return nil, fmt.Errorf("%s has to be signed by %s; this wallet is %s", a.Name, a.RequiredSigner, own)
		}
		return k.on[a.Chain].Sign(ctx, a.Txs)
	}
	return nil, fmt.Errorf("the action %s needs no signature", a.Type())
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
