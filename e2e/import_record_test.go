package e2e

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strconv"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/txscript"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/swap"
)

// members are those of a record of the reference service.
type members map[string]any

// theirs is a stored swap as the reference service would have stored it (protocol:
// swap-flows-escrow.md §2, swap-flows-spv-and-core.md A3 and B).
func (w *world) theirs(id string) []byte {
	w.t.Helper()
	e, err := w.store.Get(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := swap.Decode(id, e.Version, e.Body)
	if err != nil {
		w.t.Fatal(err)
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
		w.vault(m, r)
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
	text, err := json.Marshal(m)
	if err != nil {
		w.t.Fatal(err)
	}
	return text
}

func (m members) escrow(r *swap.Record, x *swap.EscrowPart) {
	m["usesClaimHashAsId"] = true
	m["commitTxId"], m["claimTxId"], m["refundTxId"], m["feeRate"] = x.InitTx, x.ClaimTx, x.RefundTx, x.FeeRate
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

func (w *world) vault(m members, r *swap.Record) {
	w.t.Helper()
	v, b := r.Vault, r.Bitcoin
	m["quoteId"], m["vaultOwner"], m["vaultId"], m["vaultRequiredConfirmations"] = v.QuoteID, v.Owner, v.VaultID.String(), b.Confirmations
	m["vaultTokenMultipliers"] = []string{v.Multipliers[0].String(), v.Multipliers[1].String()}
	m["vaultBtcAddress"], m["vaultUtxo"], m["vaultUtxoValue"] = w.addressOf(v.Script), v.UTXO, quoted(v.UTXOSats)
	m["btcDestinationAddress"], m["btcAmount"], m["minimumBtcFeeRate"] = w.addressOf(v.LPScript), quoted(int64(b.Sats)), v.MinFeeRate
	m["btcAmountSwap"], m["btcAmountGas"] = quoted(v.Sats[0]), quoted(v.Sats[1])
	m["outputTotalSwap"], m["outputTotalGas"], m["outputSwapToken"] = r.Terms.Output.Raw.String(), "0", r.Terms.Output.Token.Address
	m["callerFeeShare"], m["frontingFeeShare"], m["executionFeeShare"] = quoted(int64(v.Shares[0])), quoted(int64(v.Shares[1])), quoted(int64(v.Shares[2]))
	m["expiry"], m["genesisSmartChainBlockHeight"], m["recipient"] = int64(v.Deadline), r.From, r.Signer
	if !b.Posted {
		return
	}
	tx, err := rawtx.Decode(b.Tx)
	if err != nil {
		w.t.Fatal(err)
	}
	var bare bytes.Buffer
	if err := tx.SerializeNoWitness(&bare); err != nil {
		w.t.Fatal(err)
	}
	kind := "EVM"
	if r.Chain == (starknetGround{}).chain() {
		kind = "STARKNET"
	}
	m["posted"], m["data"] = true, members{"type": kind, "txid": b.TxID.String(), "hex": hex.EncodeToString(bare.Bytes())}
}

func quoted(n int64) string { return strconv.FormatInt(n, 10) }

func (w *world) addressOf(script []byte) string {
	w.t.Helper()
	_, all, _, err := txscript.ExtractPkScriptAddrs(script, &chaincfg.RegressionNetParams)
	if err != nil || len(all) != 1 {
		w.t.Fatalf("script %x: %v", script, err)
	}
	return all[0].EncodeAddress()
}
