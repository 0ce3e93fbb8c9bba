package solana

import (
	"encoding/base64"
	"fmt"

	"github.com/mr-tron/base58"

	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// encodeTx writes a transaction of the chain with what it did. With only, accounts
// stand in for its message.
func encodeTx(v *bank.View, tx *bank.Executed, c config, only bool) (map[string]any, *NodeError) {
	out := map[string]any{}
	switch version := tx.Version(); {
	case c.MaxSupportedTransactionVersion != nil:
		out["version"] = version
	case version != "legacy":
		return nil, &NodeError{Code: -32015, Message: fmt.Sprintf("Transaction version (%v) is not supported by the requesting client. "+
			"Please try the request again with the following configuration parameter: \"maxSupportedTransactionVersion\": %v", version, version)}
	}
	parsed := c.Encoding == "jsonParsed"
	var body any
	switch c.Encoding {
	case "", "json":
		body = map[string]any{"signatures": signatures(tx), "message": rawMessage(tx)}
	case "jsonParsed":
		body = map[string]any{"signatures": signatures(tx), "message": parsedMessage(tx)}
	case "base58":
		body = []string{base58.Encode(tx.Raw), "base58"}
	case "base64":
		body = []string{base64.StdEncoding.EncodeToString(tx.Raw), "base64"}
	case "binary":
		body = base58.Encode(tx.Raw)
	default:
		return nil, wrongParams("unknown variant `" + c.Encoding + "`, expected one of `binary`, `base64`, `base58`, `json`, `jsonParsed`")
	}
	meta := map[string]any{"err": errorOf(tx.Err), "status": statusOf(tx.Err), "fee": tx.Fee, "preBalances": tx.PreBalances, "postBalances": tx.PostBalances,
		"preTokenBalances": tokenBalances(tx, tx.PreTokens), "postTokenBalances": tokenBalances(tx, tx.PostTokens)}
	if only {
		body = map[string]any{"signatures": signatures(tx), "accountKeys": parsedKeys(tx)}
	} else {
		meta["innerInstructions"], meta["logMessages"], meta["rewards"] = innerInstructions(tx.Tx, tx.Inner, parsed), tx.Logs, []any{}
		meta["computeUnitsConsumed"], meta["costUnits"] = tx.Units, tx.Units
		if !parsed {
			meta["loadedAddresses"] = map[string]any{"writable": []string{}, "readonly": []string{}}
		}
		if r := returned(tx.Result); r != nil {
			meta["returnData"] = r
		}
	}
	out["transaction"], out["meta"] = body, meta
	return out, nil
}

func signatures(tx *bank.Executed) []string {
	var all []string
	for _, sig := range tx.Signatures() {
		all = append(all, sig.String())
	}
	return all
}

// returned writes the data that a transaction returned, nil if there is none.
func returned(r *bank.Result) any {
	if len(r.Returned.Data) == 0 {
		return nil
	}
	return map[string]any{"programId": r.Returned.Program.String(), "data": []string{base64.StdEncoding.EncodeToString(r.Returned.Data), "base64"}}
}

func tokenBalances(tx *bank.Executed, all []bank.TokenBalance) []any {
	out := []any{}
	for _, b := range all {
		out = append(out, map[string]any{"accountIndex": b.Account, "mint": b.Mint.String(), "owner": b.Owner.String(),
			"programId": wire.TokenProgram.String(), "uiTokenAmount": uiAmount(b.Amount, b.Decimals)})
	}
	return out
}

func rawMessage(tx *bank.Executed) any {
	m := tx.Message
	var keys []string
	for _, k := range m.AccountKeys {
		keys = append(keys, k.String())
	}
	instructions := []any{}
	for _, ix := range m.Instructions {
		accounts := []int{}
		for _, a := range ix.Accounts {
			accounts = append(accounts, int(a))
		}
		instructions = append(instructions, rawInstruction(int(ix.ProgramIDIndex), accounts, ix.Data, nil))
	}
	out := map[string]any{"accountKeys": keys, "header": map[string]any{"numRequiredSignatures": m.Header.NumRequiredSignatures,
		"numReadonlySignedAccounts": m.Header.NumReadonlySignedAccounts, "numReadonlyUnsignedAccounts": m.Header.NumReadonlyUnsignedAccounts},
		"recentBlockhash": m.RecentBlockhash.String(), "instructions": instructions}
	if m.IsVersioned() {
		out["addressTableLookups"] = []any{}
	}
	return out
}

func rawInstruction(program int, accounts []int, data []byte, height any) any {
	return map[string]any{"programIdIndex": program, "accounts": accounts, "data": base58.Encode(data), "stackHeight": height}
}

func parsedKeys(tx *bank.Executed) []any {
	var all []any
	for i, k := range tx.Message.AccountKeys {
		all = append(all, map[string]any{"pubkey": k.String(), "signer": i < int(tx.Message.Header.NumRequiredSignatures), "writable": tx.Writable(i), "source": "transaction"})
	}
	return all
}

func parsedMessage(tx *bank.Executed) any {
	instructions := []any{}
	for _, ix := range tx.Instructions {
		instructions = append(instructions, parsedInstruction(ix, nil))
	}
	out := map[string]any{"accountKeys": parsedKeys(tx), "recentBlockhash": tx.Message.RecentBlockhash.String(), "instructions": instructions}
	if tx.Message.IsVersioned() {
		out["addressTableLookups"] = []any{}
	}
	return out
}

// innerInstructions writes what programs called, by the instruction that began it.
func innerInstructions(tx *bank.Tx, all []bank.Inner, parsed bool) []any {
	out := []any{}
	var of map[string]any
	for _, in := range all {
		if of == nil || of["index"] != in.Index {
			of = map[string]any{"index": in.Index, "instructions": []any{}}
			out = append(out, of)
		}
		var one any
		if parsed {
			ix := wire.Instruction{Program: tx.Message.AccountKeys[in.Program], Data: in.Data}
			for _, a := range in.Accounts {
				ix.Accounts = append(ix.Accounts, wire.Account{PublicKey: tx.Message.AccountKeys[a]})
			}
			one = parsedInstruction(ix, in.Height)
		} else {
			one = rawInstruction(in.Program, in.Accounts, in.Data, in.Height)
		}
		of["instructions"] = append(of["instructions"].([]any), one)
	}
	return out
}
