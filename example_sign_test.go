package swapper_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"log"
	"math/big"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/txscript"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/evm"
)

// The transactions of an EVM chain come unsigned, as 0x hex, in the order in which
// they are to be executed. They are signed as they are: any change is refused.
func ExampleClient_SubmitTransaction_evm() {
	network, client := open()
	defer network.Close()
	defer client.Close()
	ctx := context.Background()

	key, err := crypto.GenerateKey()
	if err != nil {
		log.Fatal(err)
	}
	address := crypto.PubkeyToAddress(key.PublicKey).Hex()
	for token, amount := range map[string]*big.Int{"CITREA-CBTC": big.NewInt(1e18), "CITREA-WBTC": big.NewInt(100_000)} {
		if err := network.SendTokens(ctx, token, address, amount); err != nil {
			log.Fatal(err)
		}
	}
	swap, err := client.CreateSwap(ctx, swapper.CreateSwapInput{
		SrcToken: "CITREA-WBTC", DstToken: "LIGHTNING-BTC",
		Amount: big.NewInt(20_000), AmountType: swapper.ExactOut,
		SrcAddress: address, DstAddress: network.Invoice(20_000),
	})
	if err != nil {
		log.Fatal(err)
	}
	status, err := client.GetSwapStatus(ctx, swapper.GetSwapStatusInput{SwapID: swap.SwapID})
	if err != nil {
		log.Fatal(err)
	}

	action := status.CurrentAction.(*swapper.SignSmartChainTransaction)
	var signed []string
	for _, text := range action.Txs {
		unsigned, err := evm.UnsignedTransaction(text)
		if err != nil {
			log.Fatal(err)
		}
		tx, err := types.SignTx(unsigned, types.LatestSignerForChainID(unsigned.ChainId()), key)
		if err != nil {
			log.Fatal(err)
		}
		raw, err := tx.MarshalBinary()
		if err != nil {
			log.Fatal(err)
		}
		signed = append(signed, hexutil.Encode(raw))
	}
	out, err := client.SubmitTransaction(ctx, swapper.SubmitTransactionInput{SwapID: swap.SwapID, SignedTxs: signed})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %d of %d transactions are on the chain\n", action.Name, len(out.TxHashes), len(action.Txs))
	// Output: Initiate swap: 2 of 2 transactions are on the chain
}

// With the wallet's address and public key the status has a PSBT whose inputs are
// chosen; the wallet adds its signatures to the inputs that are named.
func ExampleClient_SubmitTransaction_psbt() {
	network, client := open()
	defer network.Close()
	defer client.Close()
	ctx := context.Background()

	key, err := btcec.NewPrivateKey()
	if err != nil {
		log.Fatal(err)
	}
	public := key.PubKey().SerializeCompressed()
	address, err := bitcoin.NewAddress(bitcoin.P2WPKH, btcutil.Hash160(public), bitcoin.Regtest)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := network.SendBitcoin(address.String(), 1_000_000); err != nil {
		log.Fatal(err)
	}
	if err := network.Mine(1); err != nil {
		log.Fatal(err)
	}
	swap, err := client.CreateSwap(ctx, swapper.CreateSwapInput{
		SrcToken: "BITCOIN-BTC", DstToken: "CITREA-WBTC",
		Amount: big.NewInt(300_000), AmountType: swapper.ExactIn,
		DstAddress: network.User.Address("CITREA"),
	})
	if err != nil {
		log.Fatal(err)
	}
	status, err := client.GetSwapStatus(ctx, swapper.GetSwapStatusInput{
		SwapID: swap.SwapID, BitcoinAddress: address.String(), BitcoinPublicKey: fmt.Sprintf("%x", public),
	})
	if err != nil {
		log.Fatal(err)
	}

	funded := status.CurrentAction.(*swapper.SignPSBT).Funded[0]
	raw, err := base64.StdEncoding.DecodeString(funded.PSBTBase64)
	if err != nil {
		log.Fatal(err)
	}
	packet, err := psbt.NewFromRawBytes(bytes.NewReader(raw), false)
	if err != nil {
		log.Fatal(err)
	}
	spent := txscript.NewMultiPrevOutFetcher(nil)
	for i, in := range packet.UnsignedTx.TxIn {
		spent.AddPrevOut(in.PreviousOutPoint, packet.Inputs[i].WitnessUtxo)
	}
	hashes := txscript.NewTxSigHashes(packet.UnsignedTx, spent)
	for _, i := range funded.SignInputs {
		out := packet.Inputs[i].WitnessUtxo
		signature, err := txscript.RawTxInWitnessSignature(packet.UnsignedTx, hashes, i, out.Value, out.PkScript, txscript.SigHashAll, key)
		if err != nil {
			log.Fatal(err)
		}
		packet.Inputs[i].PartialSigs = append(packet.Inputs[i].PartialSigs, &psbt.PartialSig{PubKey: public, Signature: signature})
	}
	signed, err := packet.B64Encode()
	if err != nil {
		log.Fatal(err)
	}
	out, err := client.SubmitTransaction(ctx, swapper.SubmitTransactionInput{SwapID: swap.SwapID, SignedTxs: []string{signed}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(out.TxHashes), "Bitcoin transaction waits for confirmation")
	// Output: 1 Bitcoin transaction waits for confirmation
}
