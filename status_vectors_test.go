package swapper

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/recovery"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/watchtower"
)

// silent is a messenger that takes everything.
type silent struct{}

func (silent) Publish(context.Context, watchtower.Message) error { return nil }

// onStage opens a client on the world of a case, with the case's record stored.
func onStage(t *testing.T, s *flowtest.Setup) (*Client, *swap.Record) {
	t.Helper()
	c := trial.Must(Open(t.Context(), Config{Network: bitcoin.Mainnet, Policy: Policy{AnyNode: true}, Store: new(storage.Memory), Chains: []chains.Factory{s.Chain},
		LPs: LPs{URLs: []string{"https://lp.example.com:24000"}, Transport: s.World}, Bitcoin: s.World.Bitcoin(bitcoin.Mainnet), HTTP: s.World,
		Messenger: silent{}, Now: s.World.Now}))(t)
	t.Cleanup(func() { _ = c.Close() })
	text := trial.Must(json.Marshal(s.Record))(t)
	r := trial.Must(recovery.ImportRecord(s.Chain, text))(t)
	trial.Do(t, c.engine.Create(t.Context(), r))
	return c, r
}

// object is a JSON object with a way into it.
type object map[string]any

func objectOf(t *testing.T, v any) object {
	t.Helper()
	text := trial.Must(json.Marshal(v))(t)
	var o object
	trial.Do(t, json.Unmarshal(text, &o))
	return o
}

func (o object) in(name string) object {
	m, _ := o[name].(map[string]any)
	return m
}

// withoutProse removes what is worded freely.
func withoutProse(v any) {
	switch v := v.(type) {
	case object:
		withoutProse(map[string]any(v))
	case map[string]any:
		delete(v, "description")
		for name, m := range v {
			if name != "successAction" {
				withoutProse(m)
			}
		}
	case []any:
		for _, m := range v {
			withoutProse(m)
		}
	}
}

// addressesByValue makes EVM addresses comparable: the reference shows a contract's
// address as its configuration spells it, we with its checksum.
func addressesByValue(escrow object) {
	for name, v := range escrow.in("data") {
		if s, ok := v.(string); ok && len(s) == 42 {
			escrow.in("data")[name] = strings.ToLower(s)
		}
	}
}

// feltsByValue writes the felts of an escrow of Starknet as we do, and reports whether
// one was written otherwise: the reference hands them on as they came.
func feltsByValue(escrow object) (changed bool) {
	data := escrow.in("data")
	for name, v := range data {
		if s, ok := v.(string); ok && name != "flags" {
			data[name] = flowtest.Felt(s)
			changed = changed || data[name] != s
		}
	}
	return changed
}

// expectSteps replaces statuses, in the order of the steps.
func (o object) expectSteps(statuses ...string) {
	steps, _ := o["steps"].([]any)
	for i, s := range statuses {
		steps[i].(map[string]any)["status"] = s
	}
}

func TestVectorsExecutionStatus(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"execution_status_to_btc", "execution_status_to_btcln", "execution_status_from_btc", "execution_status_from_btcln", "execution_status_from_btcln_auto"} {
		t.Run(name, func(t *testing.T) {
			f := vectors.Load(t, "swap-flows-escrow", name)
			file := flowtest.Read(t, f)
			f.Each(t, func(t *testing.T, c *vectors.Case) { checkStatus(t, c, file) })
		})
	}
}

func checkStatus(t *testing.T, c *vectors.Case, file *flowtest.File) {
	var in struct {
		flowtest.Input
		Query struct{ Secret, Signer, BitcoinAddress string }
	}
	c.Input(t, &in)
	var want struct {
		Error  bool
		Status object
		Flags  struct{ IsFinished, IsSuccessful, IsFailed, IsQuoteExpired bool }
		IDs    map[string]*string
	}
	c.Expected(t, &want)
	s := file.Setup(t, in.Input)
	client, r := onStage(t, s)
	got, err := client.GetSwapStatus(t.Context(), GetSwapStatusInput{SwapID: r.ID, Secret: Secret(in.Query.Secret), Signer: in.Query.Signer, BitcoinAddress: in.Query.BitcoinAddress})
	client.engine.Close()
	if err != nil {
		e, _ := errors.AsType[*fault.Error](err)
		if want.Error && in.Query.BitcoinAddress != "" && e != nil && e.Code == fault.InvalidInput && e.Field == "bitcoinPublicKey" {
			return
		}
		// Else refused is nothing but a preimage of something else.
		preimage, _ := hex.DecodeString(in.Query.Secret)
		hash := sha256.Sum256(preimage)
		if !want.Error || e == nil || e.Code != fault.InvalidInput || e.Field != "secret" || r.Lightning == nil || hex.EncodeToString(hash[:]) == r.Lightning.Hash {
			t.Fatal(err)
		}
		return
	}
	if is := want.Status; !want.Error && (want.Flags.IsFinished != is["isFinished"] || want.Flags.IsSuccessful != is["isSuccess"] || want.Flags.IsFailed != is["isFailed"] || want.Flags.IsQuoteExpired != is["isExpired"]) {
		t.Errorf("the reference's flags are %+v", want.Flags)
	}
	if !want.Error {
		var says struct{ Flags map[string]bool }
		c.Expected(t, &says)
		state, _ := want.Status["state"].(json.Number)
		if info := want.Status.in("state"); info != nil {
			state, _ = info["number"].(json.Number)
		}
		n := trial.Must(state.Int64())(t)
		theirs := flowtest.Predicates(r.Type, int(n), says.Flags["isInitiated"])
		if r.Type == swap.FromBTCLNAuto || r.Type == swap.FromBTCLN {
			theirs["isInitiated"] = string(s.Record["initiated"]) == "true"
		}
		if r.Type == swap.FromBTCLN && n == -2 && r.Escrow.Init != nil { // paid: the chain is asked, and not the LP
			theirs["checkIntermediary"], theirs["fetchExpiryStatus"], theirs["fetchOnchainState"] = false, true, true
		}
		if r.Type == swap.FromBTC && n == 1 { // the user acts until a payment is known or too late
			theirs["requiresAction"] = r.Bitcoin.TxID == (bitcoin.Hash{}) && !payOver(r, s.World.Now())
		}
		for _, query := range []string{"pending", "ticked", "refundableQuery", "claimableQuery"} {
			delete(theirs, query)
		}
		if diff := cmp.Diff(theirs, says.Flags); diff != "" {
			t.Errorf("the reference's predicates differ (-rule +vector):\n%s", diff)
		}
	}
	checkIDs(t, s, r, want.IDs)
	is := objectOf(t, got)
	withoutProse(is)
	delete(is, "flags") // an addition of interface version 1.0.1
	failure := is.in("actionError")
	delete(is, "actionError")
	if escrow, ok := is["escrow"].(map[string]any); ok { // additions to the published interface
		delete(escrow, "nonce")
		delete(escrow, "confirmations")
		delete(escrow, "address")
	}
	delete(is, "vault")
	if want.Error {
		// The reference has no answer; ours is the one of the record alone, without
		// the part that failed.
		why := checkDegraded(t, got, r, s, failure)
		c.Differ(t, why)
		return
	}
	differStatus(t, c, s, r, want.Status)
	if r.Type == swap.FromBTC {
		differDeposit(t, c, client, s, r, want.Status)
	}
	addressesByValue(want.Status.in("escrow"))
	addressesByValue(is.in("escrow"))
	if s.Chain.ID() == "STARKNET" && feltsByValue(want.Status.in("escrow")) {
		c.Differ(t, "stark-canonical")
	}
	if diff := cmp.Diff(objectOf(t, want.Status), is); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

// checkIDs compares the ids and addresses of a swap.
func checkIDs(t *testing.T, s *flowtest.Setup, r *swap.Record, want map[string]*string) {
	t.Helper()
	e := r.Escrow
	is := map[string]string{"swapId": r.ID, "initiator": r.Signer, "outputAddress": r.Terms.Recipient, "claimHash": hex.EncodeToString(e.Expected.ClaimHash),
		"inputAddress": r.Signer, "inputTxId": e.InitTx}
	if e.Real == nil && r.Type == swap.FromBTCLN {
		is["escrowHash"] = ""
	} else if e.Real == nil {
		is["escrowHash"] = is["claimHash"]
	} else {
		is["escrowHash"] = hex.EncodeToString(e.Real.Hash)
	}
	switch {
	case r.Type == swap.FromBTC:
		is["inputTxId"], is["outputTxId"], is["inputAddress"] = "", e.ClaimTx, ""
		if r.Bitcoin.TxID != (bitcoin.Hash{}) {
			is["inputTxId"] = r.Bitcoin.TxID.String()
		}
		if s.Record["senderAddress"] != nil { // of no use to anybody here
			delete(want, "inputAddress")
		}
	case r.Type == swap.FromBTCLNAuto || r.Type == swap.FromBTCLN:
		is["inputTxId"], is["outputTxId"], is["inputAddress"] = r.Lightning.Hash, e.ClaimTx, r.Lightning.Invoice
		if r.Lightning.Invoice == "" {
			is["inputAddress"] = r.Lightning.Hash
		}
		if r.Lightning.Link != "" {
			is["inputAddress"] = r.Lightning.Link
		}
	case r.Type == swap.ToBTCLN && s.Record["pr"] != nil:
		is["outputTxId"] = r.Lightning.Hash
	case r.Bitcoin != nil && r.Bitcoin.TxID != bitcoin.Hash{}:
		is["outputTxId"] = r.Bitcoin.TxID.String()
	}
	for name, w := range want {
		if w == nil {
			w = new(string)
		}
		if got, known := is[name]; got != *w && (known || name != "escrowHash") {
			t.Errorf("%s is %q, want %q", name, got, *w)
		}
	}
}

// differStatus changes what the reference answers into what we answer, where
// that is meant to differ.
func differStatus(t *testing.T, c *vectors.Case, s *flowtest.Setup, r *swap.Record, want object) {
	now := s.World.Now()
	quote := want.in("quote")
	if out := quote.in("outputAmount"); out["amount"] == "" {
		c.Differ(t, "status-unknown-amount")
		out["amount"] = client0(r)
	}
	if in := quote.in("inputAmount"); in["amount"] == "" {
		c.Differ(t, "status-unknown-amount")
		in["amount"] = "0.00000000"
	}
	if quote["outputAddress"] == nil {
		c.Differ(t, "status-unknown-address")
		quote["outputAddress"] = ""
	}
	steps, _ := want["steps"].([]any)
	for _, step := range steps {
		if m := step.(map[string]any); m["initTxId"] == nil {
			delete(m, "initTxId")
		}
	}
	soft := int(map[swap.Type]int{swap.ToBTC: -1, swap.ToBTCLN: -1, swap.FromBTC: -1}[r.Type]) // a Lightning source goes on while the LP is silent, as it is here
	if unpaid := r.State == 0 || r.State == soft; unpaid && r.Expiry.Reached(now) && r.Type != swap.FromBTCLN && r.Type != swap.FromBTCLNAuto && r.Escrow.InitTx == "" {
		c.Differ(t, "expired-at-expiry")
		want["isFinished"], want["isExpired"], want["currentAction"] = true, true, nil
		want.expectSteps("soft_expired")
	}
	if r.Type == swap.FromBTCLN {
		switch {
		case r.State == 0 && r.Expiry.Passed(now):
			c.Differ(t, "status-is-current")
			want["state"] = map[string]any{"number": float64(-2), "name": "QUOTE_SOFT_EXPIRED"}
		case r.State == 1 && want["requiresSecretReveal"] == true:
			c.Differ(t, "opening-without-preimage")
			want["currentAction"] = map[string]any{"type": "SignSmartChainTransaction", "name": "Initiate swap", "chain": r.Chain, "txs": []any{"tx:init"}, "requiredSigner": r.Signer}
		case wayBack(r, now):
			c.Differ(t, "escrow-way-back")
			want["state"] = map[string]any{"number": float64(2), "name": "CLAIM_COMMITED"}
			want["isFailed"] = false
			want["currentAction"] = map[string]any{"type": "SignSmartChainTransaction", "name": "Settle manually", "chain": r.Chain, "txs": []any{"tx:claimWithSecret"}, "requiredSigner": r.Signer}
			want.expectSteps("received", "awaiting_manual")
		}
	}
	if r.Type == swap.FromBTCLNAuto {
		switch {
		case r.State == 0 && r.Expiry.Passed(now):
			c.Differ(t, "status-is-current")
			want["state"] = map[string]any{"number": float64(-2), "name": "QUOTE_SOFT_EXPIRED"}
		case r.State == 2 && now.Add(chains.ClaimGrace).After(time.Unix(r.Escrow.Real.Expiry, 0)):
			c.Differ(t, "status-is-current")
			want["state"] = map[string]any{"number": float64(-1), "name": "EXPIRED"}
			want["isFailed"], want["currentAction"], want["requiresSecretReveal"] = true, nil, false
			want.expectSteps("expired", "expired")
		case wayBack(r, now):
			c.Differ(t, "escrow-way-back")
			want["state"] = map[string]any{"number": float64(2), "name": "CLAIM_COMMITED"}
			want["isFailed"] = false
			want["currentAction"] = map[string]any{"type": "Wait", "name": "Automatic settlement", "pollTimeSeconds": float64(5), "expectedTimeSeconds": float64(10)}
			want.expectSteps("received", "awaiting_automatic")
		}
	}
}

// payOver reports whether the time to pay bitcoin is over.
func payOver(r *swap.Record, now time.Time) bool {
	return now.UnixMilli() > lp.SendTimeout(r.Escrow.Real.Expiry, int64(r.Bitcoin.Confirmations))*1000
}

// differDeposit changes what the reference says of a bitcoin payment: it shows the time
// in milliseconds, the stored state, and a payment as settled once it is stored.
func differDeposit(t *testing.T, c *vectors.Case, client *Client, s *flowtest.Setup, r *swap.Record, want object) {
	now, steps := s.World.Now(), want["steps"].([]any)
	pay, settle := steps[1].(map[string]any), steps[2].(map[string]any)
	if pay["status"] != "confirmed" && pay["settleTxId"] != nil {
		c.Differ(t, "btc-settled-when-confirmed")
		if pay["settleTxId"] != pay["initTxId"] {
			t.Errorf("the reference's payment %v is settled by %v", pay["initTxId"], pay["settleTxId"])
		}
		delete(pay, "settleTxId")
	}
	if n, ok := pay["confirmations"].(map[string]any); ok && pay["status"] == "received" {
		c.Differ(t, "status-eta-in-seconds")
		id := trial.Must(bitcoin.ParseHash(pay["initTxId"].(string)))(t)
		eta, err := client.reader.ETA(t.Context(), swap.ETAAsk{TxID: id, Confirmations: r.Bitcoin.Confirmations})
		if err != nil {
			eta = -1
		}
		if n["etaSeconds"] = float64(eta); want["currentAction"] != nil {
			want.in("currentAction")["expectedTimeSeconds"] = float64(eta)
		} else {
			n["etaSeconds"] = float64(-1) // of an ended swap nobody asks
		}
	}
	switch {
	case r.State == -4 && pay["initTxId"] != nil && s.Record["txId"] == nil:
		c.Differ(t, "escrow-settled-rests")
		pay["status"] = "expired"
		delete(pay, "initTxId")
		delete(pay, "settleTxId")
		delete(pay, "confirmations")
	case (r.State == 1 || r.State == -3) && pay["status"] == "confirmed":
		c.Differ(t, "status-is-current")
		want["state"] = map[string]any{"number": float64(2), "name": "BTC_TX_CONFIRMED"}
		want["isFailed"] = false
		pay["settleTxId"] = pay["initTxId"]
		settle["status"] = "awaiting_automatic"
		want["currentAction"] = map[string]any{"type": "Wait", "name": "Automatic settlement", "pollTimeSeconds": float64(5), "expectedTimeSeconds": float64(10)}
	case r.State == 1 && payOver(r, now):
		c.Differ(t, "status-is-current")
		want["state"] = map[string]any{"number": float64(-3), "name": "EXPIRED"}
		want["isFailed"] = true
		pay["status"] = "soft_expired"
	case r.State == -3 && !payOver(r, now):
		c.Differ(t, "escrow-way-back")
		want["state"] = map[string]any{"number": float64(1), "name": "CLAIM_COMMITED"}
		want["isFailed"] = false
		if pay["status"] == "soft_expired" {
			pay["status"] = "awaiting"
			amount := AmountOf(r.Terms.Input)
			text, _ := json.Marshal(amount)
			var sats any
			_ = json.Unmarshal(text, &sats)
			want["currentAction"] = map[string]any{"type": "SendToAddress", "name": "Deposit on Bitcoin", "chain": "BITCOIN", "txs": []any{map[string]any{
				"type": "BITCOIN_ADDRESS", "address": r.Bitcoin.Address, "hyperlink": "bitcoin:" + r.Bitcoin.Address + "?amount=" + amount.Amount, "amount": sats}}}
		}
	}
}

// wayBack reports whether an expired swap from Lightning goes on: the chain shows
// its escrow open, with time to claim it.
func wayBack(r *swap.Record, now time.Time) bool {
	return (r.Type == swap.FromBTCLN || r.Type == swap.FromBTCLNAuto) && r.State == -1 && r.Escrow.Real != nil && now.Add(chains.ClaimGrace).Before(time.Unix(r.Escrow.Real.Expiry, 0))
}

// client0 is an unknown amount of the output.
func client0(r *swap.Record) string { return AmountOf(r.Terms.Output).Amount }

// checkDegraded checks an answer where the reference gives none, and returns the
// id of the reason.
func checkDegraded(t *testing.T, got *GetSwapStatusOutput, r *swap.Record, s *flowtest.Setup, failure object) string {
	t.Helper()
	if r.Type == swap.FromBTC && r.State == 2 {
		return checkUnproven(t, got, r, s)
	}
	if got.State.Number != r.State || len(got.Steps) == 0 {
		t.Errorf("state %d with %d steps, want %d", got.State.Number, len(got.Steps), r.State)
	}
	if r.Lightning != nil && !r.Lightning.Preimage.IsZero() && len(r.Lightning.SuccessAction) > 0 {
		// What the paid service says cannot be read, and is left out; the rest is told.
		if got.LNURL == nil || got.LNURL.Pay == "" || got.LNURL.SuccessAction != nil || got.CurrentAction != nil || failure != nil {
			t.Errorf("LNURL %+v, action %v, %v", got.LNURL, got.CurrentAction, failure)
		}
		for i, want := range []string{"confirmed", "settled"} {
			if got.Steps[i].Status != want {
				t.Errorf("step %d is %s, want %s", i, got.Steps[i].Status, want)
			}
		}
		return "status-success-action"
	}
	a := got.CurrentAction
	switch _, waits := a.(*Wait); { // null would say that nothing is to be done
	case r.State <= 0 && a != nil, a != nil && !waits:
		t.Errorf("action %+v cannot be", a)
	case r.State > 0 && a == nil:
		t.Error("no action where one is required")
	}
	if r.State == 0 && r.Escrow.Init == nil {
		if got.Steps[0].Status != "soft_expired" {
			t.Errorf("payment %s of a swap that cannot be opened", got.Steps[0].Status)
		}
		return "status-action-apart"
	}
	if failure == nil && !got.IsExpired {
		t.Error("it is not said why there is no action")
	}
	return "status-action-apart"
}

// checkUnproven checks the answer about a payment that was confirmed, where the
// reference cannot build the claim: by what Bitcoin shows now.
func checkUnproven(t *testing.T, got *GetSwapStatusOutput, r *swap.Record, s *flowtest.Setup) string {
	t.Helper()
	for _, tx := range s.World.Txs {
		if tx.Confirmations >= r.Bitcoin.Confirmations { // found by its address, whatever the record lacks
			if _, signs := got.CurrentAction.(*SignSmartChainTransaction); got.State.Number != 2 || !signs {
				t.Errorf("state %d, action %+v", got.State.Number, got.CurrentAction)
			}
			return "status-is-current"
		}
	}
	if _, waits := got.CurrentAction.(*Wait); got.State.Number != 1 || got.Steps[1].Status != "received" || !waits {
		t.Errorf("state %d, payment %s, action %+v", got.State.Number, got.Steps[1].Status, got.CurrentAction)
	}
	return "btc-payment-can-go"
}
