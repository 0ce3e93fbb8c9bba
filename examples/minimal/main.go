// Command minimal is a whole wallet in one file: keys of Bitcoin, an EVM chain, Solana
// and Starknet, and the one loop that makes a swap in any direction. It swaps on a
// local network in this process. A wallet for real money can copy the function follow and
// the functions that sign, and adds its own keys and its user's consent.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"flag"
	"fmt"
	"log"
	"math/big"
	"os"
	"strings"
	"time"

	"github.com/NethermindEth/juno/core/felt"
	"github.com/NethermindEth/starknet.go/contracts"
	"github.com/NethermindEth/starknet.go/curve"
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/txscript"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	sol "github.com/gagliardetto/solana-go"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/chains/solana"
	"github.com/swapper-go/swapper/chains/starknet"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/swappertest"
)

// wallet is a user's: the library sees its addresses and signatures, never its keys.
type wallet struct {
	key     *btcec.PrivateKey // of Bitcoin and of EVM chains
	solana  sol.PrivateKey
	stark   *felt.Felt
	address map[string]string // by chain
	pay     func(swapper.SendToAddressTx) error
}

// class is the class of OpenZeppelin's account on Starknet.
var class = felt.UnsafeFromString[felt.Felt]("0x00261c293c8084cd79086214176b33e5911677cec55104fddc8d25b0b736dcad")

func newWallet() *wallet {
	secret := make([]byte, 31) // below the order of Starknet's curve
	_, _ = rand.Read(secret)   // never fails
	w := &wallet{key: must(btcec.NewPrivateKey()), solana: must(sol.NewRandomPrivateKey()), stark: new(felt.Felt).SetBytes(secret)}
	public := w.starkPublic()
	account := contracts.PrecomputeAddress(&felt.Zero, public, &class, []*felt.Felt{public}).Bytes()
	w.address = map[string]string{
		"BITCOIN":        must(bitcoin.NewAddress(bitcoin.P2WPKH, btcutil.Hash160(w.public()), bitcoin.Regtest)).String(),
		"CITREA":         crypto.PubkeyToAddress(w.key.ToECDSA().PublicKey).Hex(),
		solana.ChainID:   w.solana.PublicKey().String(),
		starknet.ChainID: hexutil.Encode(account[:]),
	}
	return w
}

func (w *wallet) public() []byte { return w.key.PubKey().SerializeCompressed() }

func (w *wallet) starkPublic() *felt.Felt {
	x, _ := curve.PrivateKeyToPoint(w.stark.BigInt(new(big.Int)))
	return new(felt.Felt).SetBigInt(x)
}

// follow does what a swap asks for until it is finished: the same loop for every
// direction on every chain, and after a restart of the wallet.
func (w *wallet) follow(ctx context.Context, swaps swapper.Service, id string) (*swapper.GetSwapStatusOutput, error) {
	paid := false // a wallet keeps this on disk, before it pays
	for {
		s, err := swaps.GetSwapStatus(ctx, swapper.GetSwapStatusInput{SwapID: id, BitcoinAddress: w.address["BITCOIN"], BitcoinPublicKey: hex.EncodeToString(w.public())})
		if err != nil || s.IsFinished {
			return s, err
		}
		switch a := s.CurrentAction.(type) {
		case nil: // ActionError says why nothing can be done now
		case *swapper.SendToAddress: // an invoice or a Bitcoin address
			if !paid {
				paid, err = true, w.pay(a.Txs[0])
			}
		case *swapper.SignPSBT:
			err = submit(ctx, swaps, id, a.Funded, w.signPSBT)
		case *swapper.SignSmartChainTransaction:
			sign := map[string]func(string) (string, error){"CITREA": w.signEVM, solana.ChainID: w.signSolana, starknet.ChainID: w.signStarknet}[a.Chain]
			err = submit(ctx, swaps, id, a.Txs, sign)
		case *swapper.Wait: // nothing to do for a.PollTime
		}
		if err != nil {
			return s, err
		}
		select {
		case <-ctx.Done():
			return s, ctx.Err()
		case <-time.After(100 * time.Millisecond): // the local network is fast
		}
	}
}

func submit[T any](ctx context.Context, swaps swapper.Service, id string, unsigned []T, sign func(T) (string, error)) error {
	var signed []string
	for _, tx := range unsigned {
		text, err := sign(tx)
		if err != nil {
			return err
		}
		signed = append(signed, text)
	}
	_, err := swaps.SubmitTransaction(ctx, swapper.SubmitTransactionInput{SwapID: id, SignedTxs: signed})
	if fault.CodeOf(err) == fault.Timeout {
		return nil // the next status says whether it is to be signed again
	}
	return err
}

func (w *wallet) signEVM(text string) (string, error) {
	unsigned, err := evm.UnsignedTransaction(text)
	if err != nil {
		return "", err
	}
	tx, err := types.SignTx(unsigned, types.LatestSignerForChainID(unsigned.ChainId()), w.key.ToECDSA())
	if err != nil {
		return "", err
	}
	raw, err := tx.MarshalBinary()
	return hexutil.Encode(raw), err
}

func (w *wallet) signSolana(text string) (string, error) {
	tx, err := solana.UnsignedTransaction(text)
	if err != nil {
		return "", err
	}
	own := map[sol.PublicKey]*sol.PrivateKey{w.solana.PublicKey(): &w.solana} // the provider has signed already
	if _, err = tx.PartialSign(func(signer sol.PublicKey) *sol.PrivateKey { return own[signer] }); err != nil {
		return "", err
	}
	raw, err := tx.MarshalBinary()
	return hex.EncodeToString(raw), err
}

func (w *wallet) signStarknet(text string) (string, error) {
	tx, err := starknet.UnsignedTransaction(text)
	if err != nil {
		return "", err
	}
	if d := tx.Deploy; d != nil { // the account's first transaction deploys it
		public := w.starkPublic()
		d.ClassHash, d.ContractAddressSalt, d.ConstructorCalldata = &class, public, []*felt.Felt{public}
	}
	hash, err := tx.Hash()
	if err != nil {
		return "", err
	}
	r, s, err := curve.SignFelts(hash, w.stark)
	if err != nil {
		return "", err
	}
	return tx.Sign(r, s)
}

func (w *wallet) signPSBT(funded swapper.FundedPSBT) (string, error) {
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
		signature, err := txscript.RawTxInWitnessSignature(packet.UnsignedTx, hashes, i, out.Value, out.PkScript, txscript.SigHashAll, w.key)
		if err != nil {
			return "", err
		}
		packet.Inputs[i].PartialSigs = append(packet.Inputs[i].PartialSigs, &psbt.PartialSig{PubKey: w.public(), Signature: signature})
	}
	return packet.B64Encode()
}

// must ends the program at an error, as no wallet does.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func main() {
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "minimal takes no arguments, not %q\n", flag.Args())
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	network := must(swappertest.New(ctx, swappertest.Options{
		MineEvery: 300 * time.Millisecond, Solana: swappertest.SolanaOptions{Version: "v1"}, Starknet: swappertest.StarknetOptions{On: true},
	}))
	client := must(swapper.Open(ctx, network.Config()))
	go client.Run(ctx)
	w := newWallet()
	w.pay = func(to swapper.SendToAddressTx) error {
		if to.Type == "BOLT11_PAYMENT_REQUEST" {
			return network.Pay(to.Address)
		}
		_, err := network.SendBitcoin(to.Address, to.Amount.RawAmount.Int64())
		return err
	}
	must(network.SendBitcoin(w.address["BITCOIN"], 1_000_000))
	for token, amount := range map[string]int64{
		"CITREA-CBTC": 1e17, "CITREA-WBTC": 1e6, "SOLANA-SOL": 1e9, "SOLANA-WBTC": 1e6, "STARKNET-STRK": 1e18, "STARKNET-WBTC": 1e6,
	} {
		chain, _, _ := strings.Cut(token, "-")
		must(token, network.SendTokens(ctx, token, w.address[chain], big.NewInt(amount)))
	}
	for _, chain := range []string{"CITREA", solana.ChainID, starknet.ChainID} {
		token, me := chain+"-WBTC", w.address[chain]
		for _, in := range []swapper.CreateSwapInput{
			{SrcToken: token, DstToken: "LIGHTNING-BTC", SrcAddress: me, DstAddress: network.Invoice(50_000), AmountType: swapper.ExactOut},
			{SrcToken: token, DstToken: "BITCOIN-BTC", SrcAddress: me, DstAddress: w.address["BITCOIN"], AmountType: swapper.ExactOut},
			{SrcToken: "LIGHTNING-BTC", DstToken: token, DstAddress: me, AmountType: swapper.ExactIn},
			{SrcToken: "BITCOIN-BTC", DstToken: token, DstAddress: me, AmountType: swapper.ExactIn},
		} {
			in.Amount = big.NewInt(50_000)
			swap := must(client.CreateSwap(ctx, in))
			end := must(w.follow(ctx, client, swap.SwapID))
			if !end.IsSuccess {
				log.Fatalf("%s has ended as %s", end.SwapType, end.State.Name)
			}
			fmt.Printf("%-13s %s %-13s for %s %-13s %s\n", end.State.Name, end.Quote.InputAmount.Amount, in.SrcToken, end.Quote.OutputAmount.Amount, in.DstToken, end.SwapType)
		}
	}
}
