package wire

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

type logJSON struct {
	Keys, Data  []string
	FromAddress string `json:"from_address"`
	Tx          string `json:"transaction_hash"`
}

func TestVectorsEvents(t *testing.T) {
	// Polls are read in package read.
	vectors.Load(t, "chain-starknet", "events").But(t, "poll").Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn, BitcoinNetwork string
			Event              logJSON
			Trace              json.RawMessage
		}
		c.Input(t, &in)
		if c.Name == "event without block number is refused" {
			if !vectors.Refused(c.Want(t)) { // it is in no block, which its log does not tell: package rpc leaves it out
				t.Error("the reference reads it")
			}
			return
		}
		d := deploymentOf(t, in.BitcoinNetwork)
		l := Log{feltOf(t, in.Event.FromAddress), feltsOf(t, in.Event.Keys), feltsOf(t, in.Event.Data)}
		kept := Log{l.From, slices.Clone(l.Keys), slices.Clone(l.Data)}
		e := trial.Must(d.DecodeLog(l))(t)
		if !slices.Equal(l.Keys, kept.Keys) || !slices.Equal(l.Data, kept.Data) {
			t.Error("the log is not what it was")
		}
		var want map[string]json.RawMessage
		c.Expected(t, &want)
		var got map[string]any
		if in.Fn == "spvEvent" {
			got = vaultEventJSON(t, e, in.Event.Tx)
		} else {
			got = escrowEventJSON(t, d, e, in.Trace)
		}
		// Time and fingerprint of an event are the chain's: one is its block's, the other keeps it from being delivered twice.
		if meta, ok := want["meta"]; ok {
			var m struct{ TxID string }
			if err := json.Unmarshal(meta, &m); err != nil || m.TxID != in.Event.Tx {
				t.Errorf("%s is of %s", meta, in.Event.Tx)
			}
		}
		for _, name := range []string{"meta", "fingerprint", "rpc"} {
			delete(want, name)
		}
		vectors.SameJSON(t, vectors.JSON(t, want), got)
	})
}

func escrowEventJSON(t *testing.T, d Deployment, e Event, trace json.RawMessage) map[string]any {
	t.Helper()
	switch e := e.(type) {
	case nil:
		return map[string]any{"listenerCalls": 0}
	case ClaimEvent:
		return map[string]any{"listenerCalls": 1, "type": "ClaimEvent", "escrowHash": Digits64(e.EscrowHash), "result": hex.EncodeToString(e.Result[:])}
	case RefundEvent:
		if !e.RefundHandler.IsZero() && e.RefundHandler != d.RefundHandler {
			t.Errorf("refunded by %s", Hex64(e.RefundHandler))
		}
		return map[string]any{"listenerCalls": 1, "type": "RefundEvent", "escrowHash": Digits64(e.EscrowHash)}
	case InitializeEvent:
		got := map[string]any{"listenerCalls": 1, "type": "InitializeEvent", "escrowHash": Digits64(e.EscrowHash), "swapType": e.Kind.String()}
		s, err := d.FindSwapData(trace, e.EscrowHash)
		switch {
		case fault.CodeOf(err) == fault.NotFound:
			got["swapData"] = nil
		case err != nil:
			got["swapData"] = map[string]any{"error": true, "errorType": "Error", "errorMessage": "Calldata not read fully!"}
		default:
			if s.Offerer != e.Offerer || s.Claimer != e.Claimer || s.ClaimData != e.ClaimData || s.Kind != e.Kind || s.RefundHandler != e.RefundHandler {
				t.Errorf("the event is of another escrow: %+v", e)
			}
			got["swapData"] = map[string]any{"serialized": s}
		}
		return got
	}
	t.Fatalf("%T", e)
	return nil
}

func vaultEventJSON(t *testing.T, e Event, tx string) map[string]any {
	t.Helper()
	fields := func(v VaultRef, number int, more map[string]any) map[string]any {
		more["owner"], more["vaultId"], more["eventType"] = Hex64(v.Owner), Decimal(v.ID), number
		return more
	}
	state := func(v VaultRef, id bitcoin.Hash, number int, more map[string]any) map[string]any {
		more["owner"], more["vaultId"], more["type"], more["btcTxId"], more["txId"] = Hex64(v.Owner), Decimal(v.ID), number, id.String(), tx
		return more
	}
	switch e := e.(type) {
	case VaultOpenEvent:
		return map[string]any{"type": "SpvVaultOpenEvent", "withdrawalState": nil, "fields": fields(e.VaultRef, 0, map[string]any{"btcTxId": e.UTXO.Hash.String(), "vout": e.UTXO.Index})}
	case VaultDepositEvent:
		return map[string]any{"type": "SpvVaultDepositEvent", "withdrawalState": nil, "fields": fields(e.VaultRef, 1, map[string]any{"amounts": texts(e.Amounts[:]...), "depositCount": e.Deposits})}
	case VaultFrontEvent:
		return map[string]any{"type": "SpvVaultFrontEvent", "fields": fields(e.VaultRef, 4, map[string]any{"btcTxId": e.BitcoinTx.String(), "recipient": Hex64(e.Recipient),
			"executionHash": Hex64(e.ExecutionHash), "amounts": texts(e.Amounts[:]...), "frontingAddress": Hex64(e.Fronter)}),
			"withdrawalState": state(e.VaultRef, e.BitcoinTx, 2, map[string]any{"recipient": Hex64(e.Recipient), "fronter": Hex64(e.Fronter)})}
	case VaultClaimEvent:
		return map[string]any{"type": "SpvVaultClaimEvent", "fields": fields(e.VaultRef, 2, map[string]any{"btcTxId": e.BitcoinTx.String(), "recipient": Hex64(e.Recipient),
			"executionHash": Hex64(e.ExecutionHash), "amounts": texts(e.Amounts[:]...), "caller": Hex64(e.Caller), "frontingAddress": Hex64(e.Fronter), "withdrawCount": e.Withdrawals}),
			"withdrawalState": state(e.VaultRef, e.BitcoinTx, 1, map[string]any{"recipient": Hex64(e.Recipient), "claimer": Hex64(e.Caller), "fronter": Hex64(e.Fronter)})}
	case VaultCloseEvent:
		return map[string]any{"type": "SpvVaultCloseEvent", "fields": fields(e.VaultRef, 3, map[string]any{"btcTxId": e.BitcoinTx.String(), "error": e.Reason}),
			"withdrawalState": state(e.VaultRef, e.BitcoinTx, -1, map[string]any{"error": e.Reason})}
	}
	t.Fatalf("%T", e)
	return nil
}

// A log that has not the form of its event is refused, and one of others is none of ours.
func TestDecodeLogRefuses(t *testing.T) {
	d := deploymentOf(t, "")
	handler := d.ClaimHandlers[chains.HTLC]
	escrow := felts{FeltOf(1), FeltOf(2), FeltOf(3), FeltOf(4)}
	words := felts(nil).span(felts(nil).words(bytes.Repeat([]byte{7}, 32))...)
	base := StoredHeader{Header: bitcoin.Header{Bits: 0x207fffff}, Work: bigOf(t, "9")}
	stored := felts{SelectorStored, base.CommitHash(), BlockHashPoseidon(base.Header.Hash())}
	for name, c := range map[string]struct {
		from Felt
		keys []Felt
		data []Felt
		ok   bool // read as an event
		none bool // nothing of ours
	}{
		"an opening":                    {d.EscrowManager.Address, append(felts{SelectorInitialize}, escrow...), felts{handler, d.RefundHandler}, true, false},
		"of another contract":           {FeltOf(9), append(felts{SelectorInitialize}, escrow...), felts{handler, d.RefundHandler}, false, true},
		"of the vault manager":          {d.VaultManager.Address, append(felts{SelectorInitialize}, escrow...), felts{handler, d.RefundHandler}, false, true},
		"another event":                 {d.EscrowManager.Address, felts{Selector("Upgraded"), FeltOf(5)}, nil, false, true},
		"no keys":                       {d.EscrowManager.Address, nil, felts{handler}, false, true},
		"a key too few":                 {d.EscrowManager.Address, append(felts{SelectorInitialize}, escrow[:3]...), felts{handler, d.RefundHandler}, false, false},
		"a key too many":                {d.EscrowManager.Address, append(felts{SelectorInitialize, {}}, escrow...), felts{handler, d.RefundHandler}, false, false},
		"no handlers":                   {d.EscrowManager.Address, append(felts{SelectorInitialize}, escrow...), nil, false, false},
		"data too long":                 {d.EscrowManager.Address, append(felts{SelectorInitialize}, escrow...), felts{handler, d.RefundHandler, {}}, false, false},
		"another handler":               {d.EscrowManager.Address, append(felts{SelectorInitialize}, escrow...), felts{FeltOf(5), d.RefundHandler}, false, true},
		"a claim":                       {d.EscrowManager.Address, append(felts{SelectorClaim}, escrow...), words.add(handler), true, false},
		"a claim without a result":      {d.EscrowManager.Address, append(felts{SelectorClaim}, escrow...), felts{{}, handler}, false, false},
		"a claim with half a result":    {d.EscrowManager.Address, append(felts{SelectorClaim}, escrow...), felts{FeltOf(1), FeltOf(1), handler}, false, false},
		"a claim with a wide word":      {d.EscrowManager.Address, append(felts{SelectorClaim}, escrow...), felts{FeltOf(8), FeltOf(1 << 32), {}, {}, {}, {}, {}, {}, {}, handler}, false, false},
		"a claim with a list too long":  {d.EscrowManager.Address, append(felts{SelectorClaim}, escrow...), felts{FeltOf(1 << 63), handler}, false, false},
		"a refund":                      {d.EscrowManager.Address, append(felts{SelectorRefund}, escrow...), felts{{}, {}}, true, false},
		"a header":                      {d.BtcRelay.Address, stored, base.Felts(), true, false},
		"a header of another block":     {d.BtcRelay.Address, felts{stored[0], stored[1], FeltOf(5)}, base.Felts(), false, false},
		"a header of another hash":      {d.BtcRelay.Address, felts{stored[0], FeltOf(5), stored[2]}, base.Felts(), false, false},
		"a header on a fork of no name": {d.BtcRelay.Address, felts{SelectorStoredFork, stored[1], stored[2]}, base.Felts(), false, false},
		"half a header":                 {d.BtcRelay.Address, stored, base.Felts()[:41], false, false},
		"a reorganisation":              {d.BtcRelay.Address, felts{selectorChainReorg, FeltOf(1), FeltOf(2), FeltOf(3), FeltOf(4)}, felts{FeltOf(5)}, true, false},
		"a vault's amount of 65 bits":   {d.VaultManager.Address, felts{SelectorDeposited, FeltOf(1), FeltOf(2)}, felts{feltOf(t, "0x10000000000000000"), {}, FeltOf(1)}, false, false},
		"a Bitcoin id too wide":         {d.VaultManager.Address, felts{SelectorClosed, feltOf(t, "0x100000000000000000000000000000000"), {}, FeltOf(1), FeltOf(2)}, felts{{}}, false, false},
		"an index of 33 bits":           {d.VaultManager.Address, felts{SelectorOpened, {}, {}, FeltOf(1), FeltOf(2), FeltOf(1 << 32)}, nil, false, false},
	} {
		e, err := d.DecodeLog(Log{c.from, c.keys, c.data})
		if (e != nil) != c.ok || (err == nil) != (c.ok || c.none) {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
}

// A vault claims what it claims; logs of another vault, recipient or transaction name
// whatever somebody wants.
func TestOutcome(t *testing.T) {
	d := deploymentOf(t, "")
	id, ref, to := bitcoin.Hash{31: 7}, VaultRef{FeltOf(1), FeltOf(2)}, FeltOf(3)
	keys := func(selector Felt, id bitcoin.Hash, ref VaultRef, to Felt) felts {
		return felts{selector}.txid(id).add(ref.Owner, ref.ID, to, Felt{}, FeltOf(9))
	}
	at := func(height uint64, keys, data felts) VaultLog {
		return VaultLog{Log{d.VaultManager.Address, keys, data}, "0x" + strconv.FormatUint(height, 16), height}
	}
	front := at(5, keys(SelectorFronted, id, ref, to), felts{FeltOf(1), {}})
	claim := at(6, keys(SelectorClaimed, id, ref, to), felts{FeltOf(1), {}, FeltOf(1), {}})
	closed := at(7, keys(SelectorClosed, id, ref, to)[:5], felts{ShortString("amount 0")})
	look := WithdrawalLookup{ref, to, id}
	for name, c := range map[string]struct {
		logs   []VaultLog
		state  chains.WithdrawalState
		height uint64
	}{
		"nothing":           {nil, chains.WithdrawalNone, 0},
		"fronted":           {[]VaultLog{front}, chains.WithdrawalFronted, 5},
		"fronted twice":     {[]VaultLog{front, at(8, front.Keys, front.Data)}, chains.WithdrawalFronted, 5},
		"then claimed":      {[]VaultLog{front, claim}, chains.WithdrawalClaimed, 6},
		"closed":            {[]VaultLog{front, closed}, chains.WithdrawalClosed, 7},
		"of another vault":  {[]VaultLog{at(6, keys(SelectorClaimed, id, VaultRef{FeltOf(1), FeltOf(3)}, to), claim.Data), at(7, keys(SelectorClosed, id, VaultRef{FeltOf(2), FeltOf(2)}, to)[:5], closed.Data)}, chains.WithdrawalNone, 0},
		"to somebody else":  {[]VaultLog{at(6, keys(SelectorClaimed, id, ref, FeltOf(4)), claim.Data), at(5, keys(SelectorFronted, id, ref, FeltOf(4)), front.Data)}, chains.WithdrawalNone, 0},
		"of another tx":     {[]VaultLog{at(6, keys(SelectorClaimed, bitcoin.Hash{7}, ref, to), claim.Data)}, chains.WithdrawalNone, 0},
		"what is not a log": {[]VaultLog{at(6, keys(SelectorClaimed, id, ref, to), nil), front}, chains.WithdrawalFronted, 5},
	} {
		f := d.Outcome(look, c.logs)
		if f.State != c.state || f.Height != c.height {
			t.Errorf("%s: %+v", name, f)
		}
	}
	if f := d.Outcome(look, []VaultLog{front, claim}); f.FrontTx != "0x5" || f.ClaimTx != "0x6" {
		t.Errorf("%+v", f)
	}
	if f := d.Outcome(look, []VaultLog{closed}); f.Close != "0x7" {
		t.Errorf("%+v", f)
	}
	if low, high := TxIDKeys(id); low != FeltOf(7) || !high.IsZero() {
		t.Errorf("%s, %s", Hex(low), Hex(high))
	}
}

// What is found in a trace is bounded, and none of a transaction that reverted.
func TestFindSwapDataRefuses(t *testing.T) {
	d := deploymentOf(t, "")
	for name, trace := range map[string]string{
		"no JSON": "x", "nothing": "{}", "null": "null", "null for the calls": `{"execute_invocation":null}`, "a felt that is not": `{"execute_invocation":{"calldata":["` + prime + `"]}}`,
		"a reverted one": `{"execute_invocation":{"revert_reason":"x"}}`,
	} {
		if _, err := d.FindSwapData(json.RawMessage(trace), FeltOf(1)); err == nil {
			t.Errorf("%s: an escrow", name)
		}
	}
	if _, err := d.FindSwapData(make([]byte, maxTrace+1), FeltOf(1)); err == nil {
		t.Error("a trace without bound")
	}
	for n, want := range map[int][]byte{0: nil, 1: {9}} {
		if got := extraOf(felts{FeltOf(9)}[:n]); !bytes.Equal(got, want) {
			t.Errorf("%d felts: %x", n, got)
		}
	}
	for _, n := range []int{31, 61, 62, 93, 100} {
		long := bytes.Repeat([]byte{3}, n)
		if got := extraOf(Chunks(long)); !bytes.Equal(got, long) {
			t.Errorf("%d bytes: %x", n, got)
		}
	}
	hint := append(make([]byte, 31), bytes.Repeat([]byte{0}, 11)...)
	if got := extraOf(Chunks(hint)); !bytes.Equal(got, hint) {
		t.Errorf("%x", got)
	}
	wide := feltOf(t, "0x7ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff") // of 251 bits
	for name, all := range map[string][]Felt{"much": make([]Felt, 1000), "a wide felt": {wide, FeltOf(1)}, "a wide felt at the end": {wide}} {
		if got := extraOf(all); got != nil {
			t.Errorf("%s: %x", name, got)
		}
	}
}

func TestRevertReason(t *testing.T) {
	for raw, want := range map[string]string{
		`"boom"`: "boom",
		`{"revert_error":"init: Already committed"}`: "init: Already committed",
		`{"revert_error":{"class_hash":"0x1","contract_address":"0x2","error":{"class_hash":"0x3","error":"0x617267656e742f696e76616c69642d7369676e6174757265","selector":"0x4"},"selector":"0x5"}}`: "'argent/invalid-signature'",
		`"Failed with 0x494e56414c49445f534947 at 0x1234."`: "Failed with 'INVALID_SIG' at 0x1234.",
		`"line\n\u0000 two"`: "line   two",
		`{"a":1}`:            `{"a":1}`,
		`5`:                  "5",
		``:                   "",
	} {
		if got := RevertReason(json.RawMessage(raw)); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
	long := trial.Must(json.Marshal(string(bytes.Repeat([]byte("0x"), 1<<20))))(t)
	if got := RevertReason(long); len(got) > maxReason+3 {
		t.Errorf("a reason of %d bytes", len(got))
	}
	for _, reason := range []string{"Account: invalid signature", "0x4163636f756e743a20696e76616c6964207369676e6174757265", "argent/invalid-owner-sig", "0x617267656e742f696e76616c69642d6f776e65722d736967"} {
		if !RefusesSignature(reason) {
			t.Errorf("%s does not refuse the signature", reason)
		}
	}
	if !RefusesSignature(RevertReason(json.RawMessage(`{"revert_error":"0x494e56414c49445f534947 ('INVALID_SIG')"}`))) {
		t.Error("a refusal is not recognised")
	}
}
