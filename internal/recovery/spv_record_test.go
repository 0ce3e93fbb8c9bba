package recovery

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
	btcpsbt "github.com/swapper-go/swapper/internal/btc/psbt"
	"github.com/swapper-go/swapper/internal/chainio"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
	"github.com/swapper-go/swapper/tokens"
)

// vaultTokens are the tokens that records of vault swaps are about.
func vaultTokens(chain string) []tokens.Token {
	all := []tokens.Token{flowtest.Native[chain]}
	if chain == "STARKNET" {
		all[0].DisplayDecimals = 9
		return append(all, tokens.Token{Chain: chain, Ticker: "WBTC", Name: "WBTC", Decimals: 8, DisplayDecimals: 8, Address: "0x03fe2b97c1fd336e750087d68b9b867997fd64a2661ff3ca5a7c771641e8e7ac"})
	}
	return append(all, tokens.Token{Chain: chain, Ticker: "USDC", Name: "USDC", Decimals: 6, DisplayDecimals: 6, Address: "0xE045e6c36cF77FAA2CfB54466D71A3aEF7bbE839"})
}

// vaultCase is a case whose input is a record of a vault swap, spread out.
func vaultCase(t *testing.T, fields map[string]json.RawMessage, now int64) *flowtest.Setup {
	t.Helper()
	chain := "CITREA"
	if raw, ok := fields["chain"]; ok {
		trial.Do(t, json.Unmarshal(raw, &chain))
	}
	s := &flowtest.Setup{World: &flowtest.World{Time: time.UnixMilli(now), Txs: map[bitcoin.Hash]*bitcoin.Tx{}, Spends: map[bitcoin.OutPoint]bitcoin.Spend{},
		Rates: bitcoin.FeeRates{Fastest: 2000, Minimum: 1}}, Record: maps.Clone(fields)}
	s.Chain = flowtest.NewChain(s.World, chain, vaultTokens(chain), flowtest.Contracts{})
	var quote, url string
	if json.Unmarshal(fields["quoteId"], &quote) != nil || json.Unmarshal(fields["url"], &url) != nil {
		t.Fatal("no quote")
	}
	for name, v := range map[string]any{"id": quote + strings.Repeat("0", 32), "type": 6, "version": 1, "url": url + "/frombtc_spv"} {
		s.Record[name], _ = json.Marshal(v)
	}
	s.Record["initiator"] = s.Record["recipient"]
	if s.Record["createdAt"] == nil {
		s.Record["createdAt"], _ = json.Marshal(now)
	}
	return s
}

// inner is the text at a path of members, "" if there is none.
func inner(v any, path ...string) string {
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	s, _ := v.(string)
	return s
}

func TestVectorsVaultFeesAndRecord(t *testing.T) {
	t.Parallel()
	vectors.Each(t, "swap-flows-spv-and-core", "fees_and_record", func(t *testing.T, c *vectors.Case) {
		var in struct{ Now json.Number }
		c.Input(t, &in)
		var want struct {
			Record      map[string]json.RawMessage
			QuoteExpiry int64
		}
		c.Expected(t, &want)
		var shown map[string]any
		c.Expected(t, &shown)
		var fields map[string]json.RawMessage
		c.Input(t, &fields)
		now := trial.Must(in.Now.Int64())(t)
		s := vaultCase(t, fields, now)
		// The record as the reference writes it, from the members of the case.
		record := maps.Clone(s.Record)
		for name, text := range map[string]string{"escrowHash": "null", "state": "0", "initiated": "false", "gasPricingInfo": "null", "randomNonce": `"` + strings.Repeat("0", 32) + `"`} {
			record[name] = json.RawMessage(text)
		}
		var pricing map[string]json.RawMessage
		trial.Do(t, json.Unmarshal(fields["pricingInfo"], &pricing))
		for name, v := range pricing {
			record["_"+name] = v
		}
		for _, name := range []string{"chain", "now", "pricingInfo"} {
			delete(record, name)
		}
		vectors.SameJSON(t, vectors.JSON(t, want.Record), record)
		r := trial.Must(ImportRecord(s.Chain, vectors.JSON(t, record)))(t)
		btc, of := r.Terms.Input.Token, shownAmount
		// Fees in the token that is bought are no part of the interface: the LP's own
		// figure is known, the network's is what the total leaves.
		token := r.Terms.Output.Token
		sats, whole := amountText(t, string(fields["swapFeeBtc"])), amountText(t, string(fields["swapFee"]))
		bought := new(big.Int).Add(whole, bigs.MulDiv(amountText(t, string(fields["gasSwapFeeBtc"])), whole, sats))
		total := inner(shown, "totalFee", "dst", "rawAmount")
		network := new(big.Int).Sub(amountText(t, total), bought)
		drop := tokens.NewAmount(new(big.Int), s.Chain.Info().Native)
		if r.Terms.GasDrop != nil {
			drop = *r.Terms.GasDrop
		}
		without := amountText(t, inner(shown, "inputWithoutFee", "rawAmount")) // no part of the interface
		got := map[string]any{
			"input":            of(r.Terms.Input.Raw, btc),
			"output":           of(r.Terms.Output.Raw, r.Terms.Output.Token),
			"gasDropOutput":    of(drop.Raw, drop.Token),
			"swapFee":          map[string]any{"src": of(r.Terms.SwapFee.Raw, btc), "dst": of(bought, token), "base": of(r.Terms.Price.BaseFeeSats, btc), "ppm": inner(shown, "swapFee", "ppm")},
			"networkOutputFee": map[string]any{"src": of(r.Terms.NetworkFee.Raw, btc), "dst": of(network, token)},
			"totalFee":         map[string]any{"src": of(new(big.Int).Add(r.Terms.SwapFee.Raw, r.Terms.NetworkFee.Raw), btc), "dst": of(amountText(t, total), token)},
			"inputWithoutFee":  of(without, btc),
			"quoteExpiry":      int64(r.Expiry),
		}
		delete(shown, "record")
		if r.Posted() {
			t.Error("handed over")
		}
		vectors.SameJSON(t, vectors.JSON(t, shown), got)
	})
}

func TestVectorsVaultExecutionStatus(t *testing.T) {
	t.Parallel()
	vectors.Each(t, "swap-flows-spv-and-core", "execution_status", func(t *testing.T, c *vectors.Case) {
		var in struct {
			State                  int
			Recipient, BitcoinTxID string
			RequiredConfirmations  uint32
			MinimumBTCFeeRate      float64
			Expiry                 int64
			Now                    json.Number
			BitcoinTxConfirmations *uint32
			ConfirmationDelayMS    *float64
			Variant                struct {
				Delay                                *json.RawMessage
				NoData, Wallet, Signer, Front, Claim bool
				ConfirmedAgo, MaxWait                *int64
			}
		}
		c.Input(t, &in)
		type step struct {
			Type, Side, Chain, Title, Status, InitTxID, SettleTxID string
			Confirmations                                          *struct{ Current, Target, ETASeconds int }
		}
		var want struct {
			StateInfo struct {
				Number int
				Name   string
			}
			Flags struct{ IsFinished, IsSuccess, IsFailed, IsExpired bool }
			Steps []step

			CurrentAction *struct {
				Type, Name, Chain                    string
				PollTimeSeconds, ExpectedTimeSeconds int
				RequiredSigner                       string
			}
		}
		c.Expected(t, &want)
		var says struct {
			Flags struct{ IsSoftExpired, InProgress, Claimable, RequiresAction bool }
		}
		c.Expected(t, &says)
		// The reference's predicates that are not shown here, by the states that it names.
		theirs := says
		theirs.Flags.IsSoftExpired = in.State == swap.SPVSoftExpired || in.State == swap.SPVExpired
		theirs.Flags.Claimable = in.State == swap.SPVConfirmed
		theirs.Flags.RequiresAction = theirs.Flags.Claimable
		theirs.Flags.InProgress = in.State == swap.SPVPosted || in.State == swap.SPVBroadcasted || in.State == swap.SPVConfirmed
		if theirs != says {
			t.Errorf("the reference says %+v of state %d, by its rules %+v", says, in.State, theirs)
		}
		if in.Variant.MaxWait != nil {
			c.NotRun(t, "the time given to automatic settlement is fixed, as in the REST interface (swap-flows-spv-and-core.md C14)")
		}
		ms, err := in.Now.Int64()
		if err != nil {
			t.Fatal(err)
		}
		now := time.UnixMilli(ms)
		var id bitcoin.Hash
		if in.BitcoinTxID != "" {
			id = trial.Must(bitcoin.ParseHash(in.BitcoinTxID))(t)
		}
		r := &swap.Record{Head: swap.Head{ID: "v", Type: swap.SPVFromBTC, Chain: "CITREA", State: in.State, Signer: in.Recipient, CreatedAt: swap.Millis(ms), Expiry: swap.Millis(in.Expiry)},
			Bitcoin: &swap.BitcoinPart{Confirmations: in.RequiredConfirmations}, Vault: &swap.VaultPart{Deadline: swap.Millis(in.Expiry), MinFeeRate: in.MinimumBTCFeeRate}}
		if in.BitcoinTxID != "" && !in.Variant.NoData {
			r.Bitcoin.Posted, r.Bitcoin.TxID = true, id
		}
		if ago := in.Variant.ConfirmedAgo; ago != nil {
			r.Bitcoin.ConfirmedAt = swap.Millis(ms - *ago)
		}
		if in.Variant.Front {
			r.Vault.FrontTx = "0xf"
		}
		if in.Variant.Claim {
			r.Vault.ClaimTx = "0xc"
		}
		obs := &swap.Observation{Payment: swap.Fact[*bitcoin.Tx]{Asked: true}}
		if n := in.BitcoinTxConfirmations; n != nil {
			obs.Payment.Value = &bitcoin.Tx{ID: id, Confirmations: *n}
		} else if in.State == swap.SPVConfirmed { // which the reference takes the state's word for
			obs.Payment.Value = &bitcoin.Tx{ID: id, Confirmations: in.RequiredConfirmations}
		}
		if n := in.BitcoinTxConfirmations; n != nil && *n < in.RequiredConfirmations && in.ConfirmationDelayMS != nil { // asked for nothing else
			obs.ETA = swap.Fact[int]{Asked: true, Value: int(math.Floor(*in.ConfirmationDelayMS / 1000))}
		}
		v := flowtest.Flow(swap.SPVFromBTC).View(swap.Decision{R: r, Obs: obs, Now: now})
		if len(v.Steps) != len(want.Steps) || want.StateInfo.Number != in.State {
			t.Fatalf("%d steps, want %+v", len(v.Steps), want)
		}
		if f := want.Flags; v.Row.Name != want.StateInfo.Name || v.Row.Finished != f.IsFinished || v.Row.Success != f.IsSuccess || v.Row.Failed != f.IsFailed || v.Row.Expired != f.IsExpired {
			t.Errorf("state %+v, want %+v", v.Row, want)
		}
		for i, w := range want.Steps {
			g := v.Steps[i]
			if n, ms := w.Confirmations, in.ConfirmationDelayMS; n != nil && ms != nil && *ms >= 1000 && n.ETASeconds == int(math.Floor(*ms)) {
				c.Differ(t, "spv-eta-seconds")
				n.ETASeconds /= 1000
			}
			same := (g.Confirmations == nil) == (w.Confirmations == nil) && (g.Confirmations == nil || *g.Confirmations == swap.Confirmations(*w.Confirmations))
			if !same || string(g.Type) != w.Type || shownStep(g)["side"] != w.Side || g.Chain != w.Chain || g.Title != w.Title || string(g.Status) != w.Status || g.InitTx != w.InitTxID || g.SettleTx != w.SettleTxID {
				t.Errorf("step %+v %+v, want %+v %+v", g, g.Confirmations, w, w.Confirmations)
			}
		}
		w := want.CurrentAction
		switch a := v.Action.(type) {
		case nil:
			if w != nil {
				t.Errorf("no action, want %+v", w)
			}
		case *swap.Wait:
			if w == nil || w.Type != "Wait" || w.Name != a.Name || w.PollTimeSeconds != a.PollSeconds || w.ExpectedTimeSeconds != a.ExpectedSeconds {
				t.Errorf("action %+v, want %+v", a, w)
			}
		case *swap.Fund: // what is built of it is compared in chains/bitcoin
			if w == nil || w.Chain != tokens.Bitcoin || w.Type != "SignPSBT" || w.Name != a.Name || !a.Vault {
				t.Errorf("action %+v, want %+v", a, w)
			}
		case *swap.Sign:
			caller := swap.Caller{}
			if in.Variant.Signer {
				caller.Signer = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
			}
			if p := a.PlanFor(caller); w == nil || w.Chain != r.Chain || w.Type != "SignSmartChainTransaction" || w.Name != a.Name || p.Signer != w.RequiredSigner || p.Steps[0].Kind != chains.StepVaultClaim || p.Steps[0].Vault.TxID != id {
				t.Errorf("action %+v, want %+v", p, w)
			}
		}
	})
}

// funded gives the world everything that a signed PSBT of the case refers to:
// the vault and its output, and what the inputs spend.
func funded(t *testing.T, s *flowtest.Setup, r *swap.Record, text string) {
	t.Helper()
	utxo := trial.Must(bitcoin.ParseOutPoint(r.Vault.UTXO))(t)
	all := s.Chain.Info().Tokens
	s.World.Vault = &chains.Vault{Open: true, Tokens: [2]string{all[1].Address, all[0].Address}, Multipliers: r.Vault.Multipliers, Confirmations: r.Bitcoin.Confirmations, OurRelay: true,
		VaultState: bitcoin.VaultState{UTXO: utxo, Raw: [2]uint64{math.MaxInt64, math.MaxInt64}}}
	exists(s.World, utxo, wire.NewTxOut(r.Vault.UTXOSats, r.Vault.Script))
	raw, err := hex.DecodeString(text)
	if err != nil {
		return // base64 and worse: the same transaction stands in another case as hex
	}
	p, err := psbt.NewFromRawBytes(bytes.NewReader(raw), false)
	if err != nil {
		return
	}
	for i, in := range p.UnsignedTx.TxIn[1:] {
		out := p.Inputs[i+1].WitnessUtxo
		if prev := p.Inputs[i+1].NonWitnessUtxo; prev != nil {
			out = prev.TxOut[in.PreviousOutPoint.Index]
		}
		if out != nil {
			exists(s.World, in.PreviousOutPoint, out)
		}
	}
}

// exists makes an output known, in a transaction whose other parts are not.
func exists(w *flowtest.World, op bitcoin.OutPoint, out *wire.TxOut) {
	tx := w.Txs[op.Hash]
	if tx == nil {
		tx = &bitcoin.Tx{ID: op.Hash, Msg: wire.NewMsgTx(2), Confirmations: 100, Height: 1}
		w.Txs[op.Hash] = tx
	}
	for len(tx.Msg.TxOut) <= int(op.Index) {
		tx.Msg.AddTxOut(wire.NewTxOut(0, nil))
	}
	tx.Msg.TxOut[op.Index] = out
}

func TestVectorsVaultSubmitPSBT(t *testing.T) {
	t.Parallel()
	f := vectors.Load(t, "swap-flows-spv-and-core", "psbt_submit")
	hexOf := map[string]string{} // of the same quote, for PSBTs that are written otherwise
	type input struct {
		State                                           int
		Now                                             json.Number
		Expiry                                          int64
		QuoteID, PSBT                                   string
		VaultUTXOSpent, LPDeclines, ContractCannotParse bool
	}
	for _, c := range f.Cases {
		var in input
		c.Input(t, &in)
		if _, err := hex.DecodeString(in.PSBT); err == nil && hexOf[in.QuoteID] == "" {
			hexOf[in.QuoteID] = in.PSBT
		}
	}
	f.Each(t, func(t *testing.T, c *vectors.Case) {
		var in input
		c.Input(t, &in)
		var want struct {
			Error        bool
			GoMustReject any
			TxID         string
			FinalState   int
			PostQuote    *struct{ QuoteID, PSBTHex, URL, Chain string }
		}
		c.Expected(t, &want)
		var fields map[string]json.RawMessage
		c.Input(t, &fields)
		now := trial.Must(in.Now.Int64())(t)
		s := vaultCase(t, fields, now)
		s.World.LP = json.RawMessage(`{"code":20000,"msg":"","data":{"txId":"` + want.TxID + `"}}`)
		if in.LPDeclines {
			s.World.LP = json.RawMessage(`{"code":20508,"msg":"declined"}`)
		}
		if in.ContractCannotParse {
			s.World.ParseErr = fault.New(fault.Upstream, "revert")
		}
		st := perform(t, s)
		funded(t, s, st.Record, hexOf[in.QuoteID])
		funded(t, s, st.Record, in.PSBT)
		if in.VaultUTXOSpent {
			utxo, _ := bitcoin.ParseOutPoint(st.Record.Vault.UTXO)
			s.World.Spends[utxo] = bitcoin.Spend{State: bitcoin.SpentInMempool, TxID: bitcoin.Hash{7}}
		}
		st.Acts.post = func(r *swap.Record) swap.Outcome {
			return (&chainio.Executor{LPs: st.LPs}).Execute(t.Context(), r, swap.Effect{Kind: swap.PostPSBT})
		}
		ids, err := st.Engine.Submit(t.Context(), st.Reader, st.Record.ID, []string{in.PSBT})
		st.Engine.Effects.Drain()
		got := trial.Must(st.Engine.Load(t.Context(), st.Record.ID))(t)
		wantState := want.FinalState
		u, parseErr := btcpsbt.Parse(in.PSBT)
		switch {
		case want.GoMustReject != nil:
			c.Differ(t, "bitcoin-psbt-weak-signature")
			want.Error, want.PostQuote, wantState = true, nil, st.Record.State
		case err == nil && want.Error && parseErr == nil && finishedByWallet(t, in.PSBT):
			c.Differ(t, "bitcoin-psbt-finished-by-wallet")
			want.Error, want.TxID, wantState = false, "", swap.SPVPosted
			want.PostQuote = nil
			if id, known := u.TxID(nil); !known || len(ids) != 1 || ids[0] != id.String() || len(s.World.Posts()) != 1 {
				t.Errorf("ids %v, posted %d times", ids, len(s.World.Posts()))
			}
		case err != nil && !want.Error && strings.Contains(err.Error(), "sat/vB"):
			c.Differ(t, "bitcoin-psbt-fee-floor")
			want.Error, want.PostQuote, wantState = true, nil, st.Record.State
		case in.LPDeclines && want.FinalState == swap.SPVDeclined && in.State == swap.SPVCreated:
			c.Differ(t, "spv-declined-stays-open") // 20508: the LP takes another one
			wantState = swap.SPVCreated
		case in.State == swap.SPVCreated && in.Expiry < now:
			c.Differ(t, "spv-one-pass") // the quote is seen to have expired
			wantState = swap.SPVExpired
		}
		if (err != nil) != want.Error || got.State != wantState {
			t.Fatalf("state %d (%v), want %d, error %v", got.State, err, wantState, want.Error)
		}
		if !want.Error && want.TxID != "" && !slices.Equal(ids, []string{want.TxID}) {
			t.Errorf("ids %v, want %s", ids, want.TxID)
		}
		if want.PostQuote != nil {
			posts := s.World.Posts()
			var body struct{ QuoteID, PSBTHex string }
			if len(posts) != 1 || json.Unmarshal(posts[0].Body, &body) != nil || body.QuoteID != want.PostQuote.QuoteID || body.PSBTHex != want.PostQuote.PSBTHex ||
				strings.SplitN(posts[0].URL, "?", 2)[0] != want.PostQuote.URL+"/postQuote" || want.PostQuote.Chain != s.Chain.ID() {
				t.Errorf("posted %d: %+v, want %+v", len(posts), body, *want.PostQuote)
			}
		} else if want.Error && len(s.World.Posts()) != 0 && !in.LPDeclines {
			t.Error("posted although it is refused")
		}
	})
}

// finishedByWallet reports whether the wallet finished all its inputs itself.
func finishedByWallet(t *testing.T, text string) bool {
	t.Helper()
	raw, err := hex.DecodeString(text)
	if err != nil {
		return false
	}
	p, err := psbt.NewFromRawBytes(bytes.NewReader(raw), false)
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(p.Inputs[1:], func(in psbt.PInput) bool { return in.FinalScriptSig == nil && in.FinalScriptWitness == nil })
}

func TestVectorsVaultSubmitTransaction(t *testing.T) {
	t.Parallel()
	f := vectors.Load(t, "swap-flows-spv-and-core", "submit_transaction")
	type input struct {
		State         int
		Now           json.Number
		QuoteID       string
		SubmittedTxID string
		ClaimTxID     *string
		SignedTxs     []string
	}
	f.Each(t, func(t *testing.T, c *vectors.Case) {
		var in input
		c.Input(t, &in)
		var want struct {
			Error       bool
			TxHashes    []string
			State       int
			SentToChain []string
		}
		c.Expected(t, &want)
		var fields map[string]json.RawMessage
		c.Input(t, &fields)
		now, err := in.Now.Int64()
		if err != nil {
			t.Fatal(err)
		}
		delete(fields, "claimTxId")
		s := vaultCase(t, fields, now)
		st := perform(t, s)
		for _, text := range in.SignedTxs {
			funded(t, s, st.Record, text)
		}
		// Where a case names a transaction it was handed over, except in the first
		// state; the record that the reference keeps of it is not part of the case.
		handed := in.SubmittedTxID != "" && in.State != swap.SPVCreated
		r := st.Record.Clone()
		r.ID, r.Version = r.ID+"ff", 0
		if in.ClaimTxID != nil {
			r.Vault.ClaimTx = *in.ClaimTxID
		}
		if handed {
			r.Bitcoin.TxID = trial.Must(bitcoin.ParseHash(in.SubmittedTxID))(t)
			r.Bitcoin.Posted = true
			// While it is being handed over, a repetition waits for the LP's answer.
			if in.State != swap.SPVSigned || !slices.Contains(allIDs(st, r, in.SignedTxs), in.SubmittedTxID) {
				r.Tried = map[string]swap.Try{string(swap.PostPSBT): {Attempts: 1, Outcome: swap.Done}}
			}
		}
		if handed && in.State == swap.SPVConfirmed { // which the reference takes the state's word for
			s.World.Txs[r.Bitcoin.TxID] = &bitcoin.Tx{ID: r.Bitcoin.TxID, Confirmations: r.Bitcoin.Confirmations}
		}
		trial.Do(t, st.Engine.Create(t.Context(), r))
		// What is sent makes the vault pay at once, which is what a submission waits
		// for; the reference's run had no vault that could.
		s.World.OnSend = func(w *flowtest.World) { w.Vault.Open, w.Withdrawal.State = false, chains.WithdrawalClaimed }
		if len(want.SentToChain) > 0 {
			want.State = swap.SPVClaimed
		}
		if unmoved := []int{swap.SPVClosed, swap.SPVFailed, swap.SPVDeclined, swap.SPVExpired, swap.SPVFronted, swap.SPVClaimed}; slices.Contains(unmoved, in.State) && want.State != in.State {
			t.Errorf("the reference ends in %d", want.State)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		ids, err := st.Engine.Submit(ctx, st.Reader, r.ID, in.SignedTxs)
		st.Engine.Effects.Drain()
		got := trial.Must(st.Engine.Load(t.Context(), r.ID))(t)
		known := handed && len(in.SignedTxs) > 0 && slices.Contains(allIDs(st, r, in.SignedTxs), in.SubmittedTxID)
		mine := in.ClaimTxID != nil && slices.Contains(in.SignedTxs, "sc:"+*in.ClaimTxID)
		finished := len(in.SignedTxs) == 1 && finishedByWallet(t, in.SignedTxs[0])
		switch {
		case (known || mine) && in.State != swap.SPVDeclined && (want.Error || want.State != in.State): // a refusal is told again
			// What was handed in is known: repeating it is no error in any state, and
			// does nothing.
			c.Differ(t, "submit-joins")
			want.Error, want.State, want.TxHashes, want.SentToChain = false, in.State, allIDs(st, r, in.SignedTxs), nil
			if in.State == swap.SPVSigned {
				want.State = swap.SPVPosted
			}
		case in.State == swap.SPVSoftExpired && !want.Error && !known:
			c.Differ(t, "spv-one-transaction")
			want.Error, want.State = true, in.State
		case want.Error && err == nil && !handed && finished:
			c.Differ(t, "bitcoin-psbt-finished-by-wallet")
			want.Error, want.State, want.TxHashes = false, swap.SPVPosted, ids
		case err != nil && !want.Error && strings.Contains(err.Error(), "sat/vB"):
			c.Differ(t, "bitcoin-psbt-fee-floor")
			want.Error, want.State = true, in.State
		}
		if (err != nil) != want.Error || got.State != want.State {
			t.Fatalf("state %d (%v), want %d, error %v", got.State, err, want.State, want.Error)
		}
		if !want.Error && !slices.Equal(ids, want.TxHashes) {
			t.Errorf("ids %v, want %v", ids, want.TxHashes)
		}
		if sent := s.World.Sent(); len(sent) != len(want.SentToChain) {
			t.Errorf("sent %v, want %v", sent, want.SentToChain)
		}
	})
}

// allIDs are the ids of what is handed in, nil if one has none.
func allIDs(st *stage, r *swap.Record, signed []string) []string {
	ids, err := st.Reader.IDs(r, signed)
	if err != nil {
		return nil
	}
	return ids
}
