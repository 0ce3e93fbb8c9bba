package wire

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// A transaction that is read is the same when it is written and read again, with one
// id, and nobody else's calls are in it.
func FuzzParseTransaction(f *testing.F) {
	for _, c := range vectors.Load(f, "chain-starknet", "signed").Cases {
		var in struct {
			Tx               string
			Signed, Unsigned []string
		}
		c.Input(f, &in)
		for _, text := range append(append(in.Signed, in.Unsigned...), in.Tx) {
			f.Add(text)
		}
	}
	n, d := networkOf(f, ""), deploymentOf(f, "")
	s := swapOf(f, []byte(goodSwapData))
	calls := trial.Must(d.BitcoinClaimPattern(s))(f)
	f.Fuzz(func(t *testing.T, text string) {
		tx, err := ParseTransaction(text)
		if err != nil {
			return
		}
		again, err := ParseTransaction(tx.String())
		if err != nil || again.String() != tx.String() {
			t.Fatalf("%s is read back as %v, %v", tx, again, err)
		}
		id, err := tx.ID()
		if err != nil {
			return
		}
		if other, err := again.ID(); err != nil || other != id {
			t.Fatalf("ids %s and %s, %v", id, other, err)
		}
		if _, _, _, err := tx.Broadcast(); err != nil {
			t.Fatal(err)
		}
		_, _ = d.CheckSigned(n, Felt{}, calls, []string{text})
	})
}

// Calls are read from calldata as it stands, all of it.
func FuzzParseExecuteCalldata(f *testing.F) {
	d := deploymentOf(f, "")
	s := swapOf(f, []byte(goodSwapData))
	all := trial.Must(s.Felts())(f)
	f.Add(packed(ExecuteCalldata([]Call{{To: d.EscrowManager.Address, Entry: entryClaim, Calldata: all}, {To: FeltOf(5), Entry: entryApprove}})))
	f.Fuzz(func(t *testing.T, b []byte) {
		all := unpacked(b)
		calls, err := ParseExecuteCalldata(all)
		if err == nil && !slices.Equal(ExecuteCalldata(calls), all) {
			t.Fatalf("%v is %+v", hexes(all), calls)
		}
	})
}

// A log is read as one event or not at all, and left as it was.
func FuzzDecodeLog(f *testing.F) {
	d := deploymentOf(f, "")
	for _, c := range vectors.Load(f, "chain-starknet", "events").Cases {
		var in struct{ Event logJSON }
		if c.Input(f, &in); in.Event.FromAddress != "" {
			f.Add(packed([]Felt{feltOf(f, in.Event.FromAddress)}), packed(feltsOf(f, in.Event.Keys)), packed(feltsOf(f, in.Event.Data)))
		}
	}
	for _, c := range vectors.Load(f, "chain-starknet", "btcrelay").Cases {
		var in struct{ RPC []exchange }
		c.Input(f, &in)
		for _, x := range in.RPC {
			if x.Method == "starknet_getEvents" {
				for _, l := range logsOf(f, x.Result) {
					l.Keys[1] = Poseidon(l.Data...)
					f.Add(packed([]Felt{l.From}), packed(l.Keys), packed(l.Data))
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, from, keys, data []byte) {
		l := Log{Keys: unpacked(keys), Data: unpacked(data)}
		if all := unpacked(from); len(all) > 0 {
			l.From = all[0]
		}
		kept := Log{l.From, slices.Clone(l.Keys), slices.Clone(l.Data)}
		e, err := d.DecodeLog(l)
		if err != nil && e != nil || !slices.Equal(l.Keys, kept.Keys) || !slices.Equal(l.Data, kept.Data) {
			t.Fatalf("%+v, %v", e, err)
		}
		if e, ok := e.(StoredHeaderEvent); ok && !slices.Equal(e.Header.Felts(), l.Data) {
			t.Fatalf("the header is %v", hexes(e.Header.Felts()))
		}
	})
}

// A stored header has one form, and the header after it is one that can be stored.
func FuzzParseStoredHeader(f *testing.F) {
	for _, c := range vectors.Load(f, "chain-starknet", "btcrelay").Cases {
		var in struct{ StoredHeaderFelts, Felts []string }
		c.Input(f, &in)
		for _, all := range [][]string{in.StoredHeaderFelts, in.Felts} {
			if all != nil {
				f.Add(packed(feltsOf(f, all)))
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		all := unpacked(b)
		h, err := ParseStoredHeader(all)
		if err != nil {
			return
		}
		if !slices.Equal(h.Felts(), all) {
			t.Fatalf("%v is %v", hexes(all), hexes(h.Felts()))
		}
		next := h.Header
		next.PrevBlock = h.Header.Hash()
		if after, err := h.Next(next); err == nil {
			if again, err := ParseStoredHeader(after.Felts()); err != nil || again.CommitHash() != after.CommitHash() {
				t.Fatalf("%+v cannot be stored: %v", after, err)
			}
		}
		_ = checkHeaders(Selector(entrySubmitFork), all)
	})
}

// A witness is read in one form, whatever it proves.
func FuzzReadWitness(f *testing.F) {
	for _, c := range vectors.Load(f, "chain-starknet", "txs").Cases {
		var in txInput
		c.Input(f, &in)
		if in.Fn != "txsClaimWithTxData" || in.StoredHeaderFelts == nil || in.MerkleProof == nil {
			continue
		}
		s := swapOf(f, in.Swap)
		p := BitcoinProof{Tx: vectors.Unhex(f, in.Tx.Hex), Vout: in.Vout, Confirmations: in.RequiredConfirmations, Header: storedOf(f, in.StoredHeaderFelts), Merkle: in.MerkleProof.proof(f, in.Tx.id(f))}
		if call, err := deploymentOf(f, in.BitcoinNetwork).ClaimByBitcoin(s, p); err == nil {
			f.Add(int(s.Kind), packed(call.Calldata[17:]))
		}
	}
	f.Fuzz(func(t *testing.T, kind int, b []byte) {
		k := kindNames[[]string{"CHAIN", "CHAIN_NONCED", "CHAIN_TXID"}[uint(kind)%3]]
		all := unpacked(b)
		c, p, err := readWitness(k, all)
		if err == nil && !slices.Equal(p.witness(k, c), all) {
			t.Fatalf("%v is %v", hexes(all), hexes(p.witness(k, c)))
		}
		if tx, err := checkVaultClaim(all); err == nil && tx == nil {
			t.Fatal("a claim of no transaction")
		}
	})
}

// A vault's answer and its JSON are one vault.
func FuzzVault(f *testing.F) {
	f.Add([]byte(goodVault), []byte(nil))
	for _, c := range vectors.Load(f, "chain-starknet", "spv").Cases {
		var in struct {
			Vault     json.RawMessage
			RPCResult []string
		}
		c.Input(f, &in)
		f.Add([]byte(in.Vault), packed(feltsOf(f, in.RPCResult)))
	}
	f.Fuzz(func(t *testing.T, text, answer []byte) {
		var v Vault
		if json.Unmarshal(text, &v) != nil {
			var err error
			if v, err = ReadVault(VaultRef{FeltOf(1), FeltOf(2)}, unpacked(answer)); err != nil {
				return
			}
		}
		again := trial.Must(json.Marshal(v))(t)
		var b Vault
		if err := json.Unmarshal(again, &b); err != nil {
			t.Fatalf("%s is not read: %v", again, err)
		}
		if last, err := json.Marshal(b); err != nil || string(last) != string(again) {
			t.Fatalf("%s is read as %s", again, last)
		}
	})
}

// A withdrawal that is read has one view in the contract, which is the one accepted.
func FuzzParseWithdrawal(f *testing.F) {
	for _, c := range vectors.Load(f, "chain-starknet", "spv").Cases {
		var in struct{ Tx btcTxJSON }
		if c.Input(f, &in); in.Tx.Hex != "" {
			f.Add(vectors.Unhex(f, in.Tx.Hex))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		tx, err := rawtx.Decode(raw)
		if err != nil {
			return
		}
		w, err := ParseWithdrawal(tx)
		if err != nil {
			return
		}
		all := trial.Must(WithdrawalFelts(w))(t)
		trial.Do(t, CheckParsedWithdrawal(append(felts{{}}, all...), w))
		if _, err := WithdrawalFelts(w); err != nil {
			t.Fatal(err)
		}
		data := trial.Must(WithdrawalData(w.Recipient, w.Raw, executionOf(t, w.Execution)))(t)
		to, p, err := parsePayout(data)
		if err != nil || Hex64(to) != w.Recipient || p.Raw != w.Raw {
			t.Fatalf("%x is %v, %v", data, p, err)
		}
	})
}

func executionOf(t *testing.T, b []byte) *Felt {
	if b == nil {
		return nil
	}
	h := trial.Must(FeltOfBytes(b))(t)
	return &h
}

// A trace shows an escrow only under its own hash.
func FuzzFindSwapData(f *testing.F) {
	d := deploymentOf(f, "")
	for _, c := range vectors.Load(f, "chain-starknet", "events").Cases {
		var in struct {
			Event logJSON
			Trace json.RawMessage
		}
		if c.Input(f, &in); in.Trace != nil {
			f.Add([]byte(in.Trace), packed(feltsOf(f, in.Event.Keys[4:])))
		}
	}
	f.Fuzz(func(t *testing.T, trace, hash []byte) {
		all := unpacked(hash)
		if len(all) == 0 {
			return
		}
		s, err := d.FindSwapData(trace, all[0])
		if err == nil && escrowHash(t, s) != all[0] {
			t.Fatalf("%+v is not %s", s, Hex(all[0]))
		}
	})
}

// Whatever a node says of a revert, it is told in a line.
func FuzzRevertReason(f *testing.F) {
	f.Add([]byte(`{"revert_error":{"error":"0x494e56414c49445f534947"}}`))
	f.Add([]byte(`"boom"`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		reason := RevertReason(raw)
		if len(reason) > maxReason+3 {
			t.Fatalf("%d bytes", len(reason))
		}
		for _, c := range reason {
			if c < 0x20 {
				t.Fatalf("%q", reason)
			}
		}
	})
}
