package flowtest

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/txscript"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/starknet"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/swap"
)

// members are those of a record of the reference service.
type members map[string]any

// ReferenceRecord is a stored swap of a local network as the reference service would have stored it
// (protocol: swap-flows-escrow.md §2, swap-flows-spv-and-core.md A3 and B). Its members are those that
// serialize() of atomiqlabs/atomiq-sdk 8.8.4 writes for the type, less those that are empty for these
// swaps and those that no reader needs.
func ReferenceRecord(id string, version uint64, body []byte) ([]byte, error) {
	r, err := swap.Decode(id, version, body)
	if err != nil {
		return nil, err
	}
	m := members{
		"id": r.ID, "type": int(r.Type), "initiator": r.Signer, "state": r.State, "url": r.LPURL(), "expiry": int64(r.Expiry), "version": 1,
		"initiated": true, "exactIn": r.Terms.ExactIn, "createdAt": int64(r.CreatedAt), "contractVersion": r.Contract, "swapFee": r.Terms.SwapFee.Raw.String(),
		"swapFeeBtc": "100", "randomNonce": r.ID[max(0, len(r.ID)-32):], "_isValid": true, "_satsBaseFee": "10", "_feePPM": "3000",
		"_differencePPM": "0", "_realPriceUSatPerToken": "1000000000", "_swapPriceUSatPerToken": "1000000000",
	}
	if x := r.Escrow; x != nil {
		m.escrow(r, x)
	}
	if l := r.Lightning; l != nil {
		m["pr"] = l.Invoice
		if r.Type == swap.ToBTCLN {
			m["paymentHash"] = l.Hash
		}
		if !l.Preimage.IsZero() {
			m["secret"] = hex.EncodeToString(l.Preimage[:])
		}
	}
	if n := r.Terms.NetworkFee; n != nil && (r.Type == swap.ToBTC || r.Type == swap.ToBTCLN) {
		m["networkFee"], m["networkFeeBtc"] = n.Raw.String(), "50"
	}
	switch b := r.Bitcoin; r.Type {
	case swap.ToBTC, swap.FromBTC:
		m["address"], m["amount"], m["requiredConfirmations"] = b.Address, quoted(int64(b.Sats)), b.Confirmations
		if r.Type == swap.ToBTC {
			m["nonce"] = quoted(int64(b.Nonce))
		} else if b.TxID != (bitcoin.Hash{}) {
			m["vout"] = b.Vout
		}
	case swap.SPVFromBTC:
		if err := m.vault(r); err != nil {
			return nil, err
		}
	case swap.TrustedFromBTC:
		m["paymentHash"], m["sequence"], m["address"], m["inputAmount"] = r.Gas.Hash, r.Gas.Sequence.String(), b.Address, r.Terms.Input.Raw.String()
		if r.Gas.RefundTo != "" {
			m["refundAddress"] = r.Gas.RefundTo
		}
	}
	if b := r.Bitcoin; b != nil && r.Type != swap.SPVFromBTC && b.TxID != (bitcoin.Hash{}) {
		m["txId"] = b.TxID.String()
	}
	if r.Type == swap.TrustedFromBTC || r.Type == swap.TrustedFromBTCLN {
		m["id"] = r.ID[:len(r.ID)-len(m["randomNonce"].(string))] // the payment hash alone
		m["outputAmount"], m["recipient"], m["token"] = r.Terms.Output.Raw.String(), r.Terms.Recipient, r.Terms.Output.Token.Address
		m["contractVersion"] = "v1" // whatever the LP has
		if r.PayoutTx != "" {
			m["scTxId"] = r.PayoutTx
		}
	}
	return json.Marshal(m)
}

func (m members) escrow(r *swap.Record, x *swap.EscrowPart) {
	m["commitTxId"], m["claimTxId"], m["refundTxId"] = x.InitTx, x.ClaimTx, x.RefundTx
	if r.Lightning != nil {
		m["usesClaimHashAsId"] = true
	}
	if r.Type != swap.FromBTCLNAuto {
		m["feeRate"] = x.FeeRate
	}
	if x.Real != nil {
		m["data"] = x.Real.Data
	}
	if x.Init != nil {
		m["prefix"], m["timeout"], m["signature"] = x.Init.Prefix, quoted(x.Init.Timeout), x.Init.Signature
	}
	switch r.Type {
	case swap.FromBTCLNAuto:
		m["commitedAt"] = int64(x.OpenedAt)
		m["btcAmountSwap"], m["btcAmountGas"], m["gasSwapFeeBtc"], m["gasSwapFee"] = r.Terms.Input.Raw.String(), "0", "0", "0"
		fallthrough
	case swap.FromBTCLN:
		m["initialSwapData"] = x.Expected.Data
	}
}

func (m members) vault(r *swap.Record) error {
	v, b := r.Vault, r.Bitcoin
	m["quoteId"], m["vaultOwner"], m["vaultId"], m["vaultRequiredConfirmations"] = v.QuoteID, v.Owner, v.VaultID.String(), b.Confirmations
	m["vaultTokenMultipliers"] = []string{v.Multipliers[0].String(), v.Multipliers[1].String()}
	for name, script := range map[string][]byte{"vaultBtcAddress": v.Script, "btcDestinationAddress": v.LPScript} {
		_, all, _, err := txscript.ExtractPkScriptAddrs(script, &chaincfg.RegressionNetParams)
		if err != nil || len(all) != 1 {
			return fmt.Errorf("script %x has %d addresses: %w", script, len(all), err)
		}
		m[name] = all[0].EncodeAddress()
	}
	m["vaultUtxo"], m["vaultUtxoValue"] = v.UTXO, quoted(v.UTXOSats)
	m["btcAmount"], m["minimumBtcFeeRate"] = quoted(int64(b.Sats)), v.MinFeeRate
	m["btcAmountSwap"], m["btcAmountGas"] = quoted(v.Sats[0]), quoted(v.Sats[1])
	m["outputTotalSwap"], m["outputTotalGas"], m["outputSwapToken"] = r.Terms.Output.Raw.String(), "0", r.Terms.Output.Token.Address
	m["callerFeeShare"], m["frontingFeeShare"], m["executionFeeShare"] = quoted(int64(v.Shares[0])), quoted(int64(v.Shares[1])), quoted(int64(v.Shares[2]))
	m["expiry"], m["genesisSmartChainBlockHeight"], m["recipient"] = int64(v.Deadline), r.From, r.Signer
	if !b.Posted {
		return nil
	}
	tx, err := rawtx.Decode(b.Tx)
	if err != nil {
		return err
	}
	var bare bytes.Buffer
	if err := tx.SerializeNoWitness(&bare); err != nil {
		return err
	}
	kind := "EVM"
	if r.Chain == starknet.ChainID {
		kind = "STARKNET"
	}
	m["posted"], m["data"] = true, members{"type": kind, "txid": b.TxID.String(), "hex": hex.EncodeToString(bare.Bytes())}
	return nil
}

func quoted(n int64) string { return strconv.FormatInt(n, 10) }
