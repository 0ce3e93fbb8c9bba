package swap

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/trial"
)

// question is one that a pass asks, passes that do not, and others that do.
type question struct {
	name    string
	pass    func() Decision
	asks    func(Ask) bool
	without changes
	with    changes
}

func checkQuestions(t *testing.T, f *Flow, all []question) {
	for _, q := range all {
		t.Run(q.name, func(t *testing.T) {
			asks := func(in Decision) bool { return q.asks(f.Ask(in)) }
			needs(t, q.pass, asks, q.without)
			allows(t, q.pass, asks, q.with)
		})
	}
}

func rests(in *Decision) { in.R.Settled = true }

func noProvider(in *Decision) { in.R.LP.URL = "" }

func inState(state int) func(*Decision) { return func(in *Decision) { in.R.State = state } }

// underWay is a submission that is not closed; paying has a Bitcoin transaction with
// one input.
func underWay(in *Decision) {
	in.R.Submission = &Submission{Since: At(in.Now), Txs: []SignedTx{{Signed: chains.Signed{ID: "0x1"}}}}
}

func closed(in *Decision) { in.R.Submission.Closed = true }

func rawTx(t *testing.T) []byte {
	t.Helper()
	msg := wire.NewMsgTx(2)
	msg.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: 7}, Witness: wire.TxWitness{{1}}})
	msg.AddTxOut(&wire.TxOut{Value: 1})
	var b bytes.Buffer
	trial.Do(t, msg.Serialize(&b))
	return b.Bytes()
}

// What a swap from bitcoin on trust asks: Bitcoin for payments while one can come, the
// LP while there may be something to hear of, and for a refund once it speaks of one.
func TestTrustedBTCQuestions(t *testing.T) {
	one := &bitcoin.Tx{ID: bitcoin.Hash{9}}
	refundID := bitcoin.Hash{5}
	raw := rawTx(t)
	refunded := passOf(trustedBTCPass(TrustedBTCRefunded), func(in *Decision) { in.R.Gas.RefundTx, in.R.Gas.RefundTo = refundID.String(), "bc1q" })
	speaks := passOf(trustedBTCPass(TrustedBTCRefundable), func(in *Decision) {
		in.R.Gas.RefundTo = "bc1q"
		in.Obs.LP = known(lp.Status{Code: lp.CodeGasRefunded, TxID: refundID.String()})
	})
	asksRefund := func(a Ask) bool {
		return a.Refunded != nil && *a.Refunded == RefundedAsk{TxID: refundID, To: "bc1q"}
	}
	pays := passOf(trustedBTCPass(TrustedBTCCreated), func(in *Decision) {
		in.R.Submission, in.R.Bitcoin.Tx = &Submission{PSBT: bitcoin.Hash{9}, Since: At(in.Now)}, raw
		receives()(in)
	})
	checkQuestions(t, newTrustedFromBTC(), []question{
		{name: "payments", pass: trustedBTCPass(TrustedBTCCreated), asks: func(a Ask) bool { return a.Received != nil && a.Received.Address == "bc1q" }, without: changes{
			"the swap rests": rests, "that was done": receives(), "it is finished": inState(TrustedBTCFinished), "it was refunded": inState(TrustedBTCRefunded),
		}, with: changes{"it has expired": inState(TrustedBTCExpired), "it has failed": inState(TrustedBTCFailed), "it is to be refunded": inState(TrustedBTCRefundable)}},
		{name: "the provider", pass: trustedBTCPass(TrustedBTCCreated), asks: func(a Ask) bool {
			return a.LP != nil && a.LP.Endpoint == lp.GetAddressStatus && a.LP.ID == "aa" && a.LP.Sequence.Int64() == 1
		}, without: changes{
			"the swap rests": rests, "it was asked": says(lp.CodeGasUnpaid), "there is none": noProvider, "nobody paid and it has expired": inState(TrustedBTCExpired),
			"nobody paid and it has failed": all(inState(TrustedBTCFailed), receives()), "it is finished": inState(TrustedBTCFinished),
		}, with: changes{"it is to be refunded": inState(TrustedBTCRefundable), "somebody paid after the end": all(inState(TrustedBTCExpired), receives(one))}},
		{name: "what spends the inputs of a payment that is gone", pass: pays, asks: func(a Ask) bool {
			return reflect.DeepEqual(a.Spends, []bitcoin.OutPoint{{Index: 7}})
		}, without: changes{
			"it is there": receives(one), "Bitcoin does not answer": func(in *Decision) { in.Obs.Received = failed[[]*bitcoin.Tx](nil) },
			"it is over": closed, "that was done": func(in *Decision) { in.Obs.Spends = known[[]bitcoin.Spend](nil) }, "there is no transaction": func(in *Decision) { in.R.Bitcoin.Tx = nil },
			"nobody handed one in": func(in *Decision) { in.R.Submission = nil },
		}},
		{name: "how long a payment waits", pass: passOf(trustedBTCPass(TrustedBTCCreated), receives(one)), asks: func(a Ask) bool {
			return a.ETA != nil && *a.ETA == ETAAsk{TxID: one.ID, Confirmations: 1}
		}, without: changes{
			"there is none": receives(), "it is confirmed": receives(&bitcoin.Tx{ID: one.ID, Confirmations: 1}), "that was done": func(in *Decision) { in.Obs.ETA = known(0) },
		}},
		{name: "a refund that the provider speaks of", pass: speaks, asks: asksRefund, without: changes{
			"it did not answer": lpSilent, "it says otherwise": func(in *Decision) { in.Obs.LP.Value.Code = lp.CodeGasRefundable }, "it names no transaction": func(in *Decision) { in.Obs.LP.Value.TxID = "x" },
			"that was done": func(in *Decision) { in.Obs.Refunded = known(RefundedFact{}) }, "the swap rests": rests,
		}},
		{name: "a refund that was seen", pass: refunded, asks: asksRefund, without: changes{
			"the swap rests": rests, "that was done": func(in *Decision) { in.Obs.Refunded = known(RefundedFact{}) }, "its transaction is not known": func(in *Decision) { in.R.Gas.RefundTx = "" },
		}},
	})
}

// A finished swap keeps the payment that it had, whatever is heard of the address.
func TestTrustedBTCKeepsItsPayment(t *testing.T) {
	f := newTrustedFromBTC()
	for name, c := range map[string]struct {
		state   int
		settled bool
		kept    bool
	}{
		"finished": {TrustedBTCFinished, false, true}, "refunded": {TrustedBTCRefunded, false, true}, "rests": {TrustedBTCFailed, true, true},
		"open": {TrustedBTCCreated, false, false}, "failed": {TrustedBTCFailed, false, false},
	} {
		in := trustedBTCPass(c.state)()
		in.R.Settled, in.R.Bitcoin.TxID, in.R.Bitcoin.ConfirmedAt = c.settled, bitcoin.Hash{9}, 5
		receives()(&in)
		next, _ := f.Step(in)
		if kept := next.Bitcoin.TxID == (bitcoin.Hash{9}) && next.Bitcoin.ConfirmedAt == 5; kept != c.kept {
			t.Errorf("%s: the payment is kept: %v", name, kept)
		}
	}
	seen := &bitcoin.Tx{ID: bitcoin.Hash{4}, Confirmations: 1}
	for name, c := range map[string]struct {
		change func(*Decision)
		at     Millis
		paid   bool
	}{
		"confirmed now":           {receives(seen), At(noon), true},
		"confirmed before":        {all(receives(seen), func(in *Decision) { in.R.Bitcoin.ConfirmedAt = 5 }), 5, true},
		"unconfirmed":             {receives(&bitcoin.Tx{ID: seen.ID}), 0, true},
		"unconfirmed again":       {all(receives(&bitcoin.Tx{ID: seen.ID}), func(in *Decision) { in.R.Bitcoin.ConfirmedAt = 5 }), 0, true},
		"nothing":                 {receives(), 0, false},
		"Bitcoin does not answer": {func(in *Decision) { in.R.Bitcoin.ConfirmedAt = 5 }, 5, false},
	} {
		in := trustedBTCPass(TrustedBTCCreated)()
		c.change(&in)
		next, _ := f.Step(in)
		if next.Bitcoin.ConfirmedAt != c.at || next.Gas.Paid != c.paid || (next.Bitcoin.TxID == seen.ID) != c.paid {
			t.Errorf("%s: %+v, paid %v", name, next.Bitcoin, next.Gas.Paid)
		}
	}
	for code, paid := range map[int]bool{
		lp.CodeGasReceived: true, lp.CodeGasSent: true, lp.CodeGasPending: true, lp.CodeDone: true, lp.CodeGasRefundable: true, lp.CodeGasRefunded: true,
		lp.CodeGasDoubleSpent: true, lp.CodeGasUnpaid: false, lp.CodeExpired: false,
	} {
		in := trustedBTCPass(TrustedBTCCreated)()
		says(code)(&in)
		if next, _ := f.Step(in); next.Gas.Paid != paid {
			t.Errorf("the provider says %d: counts as paid %v", code, next.Gas.Paid)
		}
		lpSilent(&in)
		if next, _ := f.Step(in); next.Gas.Paid {
			t.Errorf("the provider does not say %d: counts as paid", code)
		}
	}
}

// What a swap from Lightning asks: its LP and the chain while there is no escrow, the
// chain alone from then on.
func TestAutoQuestions(t *testing.T) {
	txs := func(a Ask) bool { return len(a.Txs) == 1 && a.Txs[0].ID == "0x1" }
	known1 := autoPass(LnPaid, chains.EscrowFact{})
	checkQuestions(t, newFromBTCLNAuto(), []question{
		{name: "what became of transactions", pass: passOf(autoPass(LnCommitted, chains.EscrowFact{}), underWay), asks: txs, without: changes{
			"they are over": closed, "there are none": func(in *Decision) { in.R.Submission = nil }, "that was done": func(in *Decision) { in.Obs.Txs = known[map[string]chains.TxStatus](nil) }, "the swap rests": rests,
		}},
		{name: "the escrow", pass: passOf(known1, func(in *Decision) { in.Obs.Escrow = Fact[chains.EscrowFact]{} }), asks: func(a Ask) bool { return a.Escrow != nil && a.Escrow.Escrow != nil }, without: changes{
			"that was done": func(in *Decision) { in.Obs.Escrow = known(chains.EscrowFact{}) }, "the swap rests": rests, "it is not known": func(in *Decision) { in.R.Escrow.Real = nil },
		}},
		{name: "the provider", pass: autoPass(LnCreated, chains.EscrowFact{}), asks: func(a Ask) bool {
			return a.LP != nil && a.LP.Endpoint == lp.GetInvoiceStatus && a.LP.ID != ""
		}, without: changes{
			"it was asked": says(lp.CodeUnpaid), "there is none": noProvider, "no payment can arrive any more": all(inState(LnExpired), func(in *Decision) { in.R.Lightning.EndsAt = ago(time.Hour) }), "the swap rests": rests,
			"the escrow is known": func(in *Decision) { in.R.Escrow.Real = &chains.Escrow{} },
		}, with: changes{"the invoice has expired": inState(LnSoftExpired), "it was given up too early": inState(LnExpired)}},
		{name: "whether another swap has its hash", pass: autoPass(LnCreated, chains.EscrowFact{}), asks: func(a Ask) bool { return a.Rival != nil }, without: changes{
			"that was done": func(in *Decision) { in.Obs.Rival = known(false) }, "nothing is to be paid any more": inState(LnSoftExpired), "it has none": func(in *Decision) { in.R.Lightning.Hash = "" },
			"the escrow is known": func(in *Decision) { in.R.Escrow.Real = &chains.Escrow{} },
		}},
		{name: "the chain, for an escrow that nobody speaks of", pass: passOf(autoPass(LnCreated, chains.EscrowFact{}), says(lp.CodeExpired)), asks: func(a Ask) bool { return a.Found != nil && len(a.Found.ClaimHash) > 0 }, without: changes{
			"it was asked": func(in *Decision) { in.Obs.Found = known(chains.EscrowFact{}) }, "the provider waits for the payment": says(lp.CodeUnpaid), "the provider was not asked yet": func(in *Decision) { in.Obs.LP.Asked = false },
		}, with: changes{
			"the provider has settled": says(lp.CodeSettled), "the provider did not answer": lpSilent, "there is no provider": all(noProvider, func(in *Decision) { in.Obs.LP.Asked = false }),
			"it has expired": all(inState(LnExpired), says(lp.CodeUnpaid)), "the invoice has": all(inState(LnSoftExpired), says(lp.CodeUnpaid)),
			"the chain gave a hint": all(says(lp.CodeUnpaid), func(in *Decision) { in.Input = Look{} }),
		}},
		{name: "whether what was found is what was agreed", pass: passOf(autoPass(LnCreated, chains.EscrowFact{}), func(in *Decision) {
			in.Obs.Found = known(chains.EscrowFact{Escrow: &chains.Escrow{Data: []byte("{}")}})
		}), asks: func(a Ask) bool { return a.Delivered != nil && string(a.Delivered.Data) == "{}" }, without: changes{
			"that was done": func(in *Decision) {
				in.Obs.Delivered, in.Obs.Judged = known[*chains.Escrow](nil), in.Obs.Found.Value.Escrow.Data
			}, "nothing was found": func(in *Decision) { in.Obs.Found.Value.Escrow = nil },
			"the chain does not answer": func(in *Decision) { in.Obs.Found = failed(in.Obs.Found.Value) },
		}, with: changes{
			"that was done of another": func(in *Decision) {
				in.Obs.Delivered, in.Obs.Judged = known[*chains.Escrow](nil), []byte("[]")
			},
		}},
	})
}

// An escrow that was seen once may come back with its opening: the swap rests only two
// weeks after its expiry, and goes on if there is still time to claim it.
func TestAutoWaitsForItsEscrow(t *testing.T) {
	f := newFromBTCLNAuto()
	over := passOf(autoPass(LnPaid, chains.EscrowFact{}), func(in *Decision) {
		in.R.Escrow.InitTx = "0x1"
		in.Now = time.Unix(in.R.Escrow.Real.Expiry, 0).Add(restAfter + time.Second)
		in.R.Lightning.EndsAt = ago(time.Hour)
	})
	const never = "no payment can arrive any more, and the escrow was never opened"
	for name, state := range map[string]int{"paid": LnPaid, "about to time out": LnHTLCExpired} {
		t.Run(name, func(t *testing.T) {
			pass := passOf(over, inState(state))
			dropped := func(in Decision) bool {
				if row, ok := f.State(in.R.State); !ok || row.Finished {
					t.Fatal("not open")
				}
				next, _ := f.Step(in)
				return next.State == LnExpired
			}
			if state == LnHTLCExpired {
				needs(t, pass, takesRow(f, never), changes{
					"it is the last second": func(in *Decision) { in.Now = in.Now.Add(-time.Second) },
				})
			}
			if state == LnPaid { // it times out first
				if dropped(pass()) {
					t.Error("given up in one step")
				}
			}
		})
	}
	checkRows(t, f, []row{{why: "there is still time to claim the escrow once it is opened", pass: autoPass(LnHTLCExpired, chains.EscrowFact{}), without: changes{
		"its time is over":                      tooLate,
		"its time is over by the chain's clock": func(in *Decision) { in.Obs.Escrow.Value.Head.Time += 3600 },
		"it is open":                            func(in *Decision) { in.Obs.Escrow.Value.State = chains.EscrowOpen },
		"it was claimed":                        func(in *Decision) { in.Obs.Escrow.Value.State = chains.EscrowClaimed },
		"it was refunded":                       func(in *Decision) { in.Obs.Escrow.Value.State = chains.EscrowRefunded },
		"the chain does not answer":             func(in *Decision) { in.Obs.Escrow = failed(in.Obs.Escrow.Value) },
	}, with: changes{"it is the last moment": lastMoment}}})
}

// What a swap to Bitcoin or Lightning asks.
func TestOutgoingQuestions(t *testing.T) {
	fresh := func(in *Decision) { in.Obs.Escrow = Fact[chains.EscrowFact]{} }
	checkQuestions(t, newToBTCLN(), []question{
		{name: "the escrow, and whether it may be opened", pass: passOf(outPass(OutCreated, chains.EscrowFact{}), fresh), asks: func(a Ask) bool { return a.Escrow != nil && a.Escrow.Auth != nil }, without: changes{
			"that was done": func(in *Decision) { in.Obs.Escrow = known(chains.EscrowFact{}) }, "it is open": inState(OutCommitted), "the swap rests": rests,
			"it is not known": func(in *Decision) { in.R.Escrow.Real = nil }, "there is none": func(in *Decision) { in.R.Escrow = nil },
		}, with: changes{"the quote has expired": inState(OutSoftExpired)}},
		{name: "the escrow", pass: passOf(outPass(OutCommitted, chains.EscrowFact{}), fresh), asks: func(a Ask) bool { return a.Escrow != nil && a.Escrow.Auth == nil }, without: changes{
			"that was done": func(in *Decision) { in.Obs.Escrow = known(chains.EscrowFact{}) },
		}},
		{name: "what became of transactions", pass: passOf(outPass(OutCreated, chains.EscrowFact{}), underWay), asks: func(a Ask) bool { return len(a.Txs) == 1 }, without: changes{
			"they are over": closed, "there are none": func(in *Decision) { in.R.Submission = nil }, "that was done": func(in *Decision) { in.Obs.Txs = known[map[string]chains.TxStatus](nil) },
		}},
		{name: "whether another swap pays the invoice", pass: outPass(OutCreated, chains.EscrowFact{}), asks: func(a Ask) bool { return a.Rival != nil && a.Rival.Value == "aa" }, without: changes{
			"that was done": func(in *Decision) { in.Obs.Rival = known(false) }, "it is open": inState(OutCommitted),
		}},
		{name: "the provider", pass: outPass(OutCommitted, chains.EscrowFact{State: chains.EscrowOpen}), asks: func(a Ask) bool {
			return a.LP != nil && a.LP.Endpoint == lp.GetRefundAuthorization && a.LP.ID == "aa"
		}, without: changes{
			"it was asked": says(lp.CodePaid), "there is none": noProvider, "nothing was opened": inState(OutCreated), "it is over": inState(OutClaimed),
			"the user may take it back": func(in *Decision) {
				in.Now = time.Unix(in.R.Escrow.Real.Expiry, 0).Add(chains.RefundGrace + time.Second)
				in.Obs.Escrow.Value.Head.Time = in.Now.Unix()
			},
		}, with: changes{"it says that it has paid": inState(OutSoftClaimed)}},
		{name: "whether a refund that was allowed is", pass: passOf(outPass(OutCommitted, chains.EscrowFact{State: chains.EscrowOpen}), func(in *Decision) {
			in.Obs.LP = known(lp.Status{Code: lp.CodeRefund, Auth: &chains.Auth{}})
		}), asks: func(a Ask) bool { return a.Refund != nil }, without: changes{
			"that was done": func(in *Decision) { in.Obs.Refund = known(struct{}{}) }, "there is no authorisation": func(in *Decision) { in.Obs.LP.Value.Auth = nil },
			"the provider says otherwise": func(in *Decision) { in.Obs.LP.Value.Code = lp.CodePaid }, "the provider did not answer": lpSilent,
		}},
	})
}

// What a swap from Bitcoin into a vault asks, once its transaction may have left.
func TestSPVQuestions(t *testing.T) {
	raw := rawTx(t)
	tx := &bitcoin.Tx{ID: bitcoin.Hash{9}, Confirmations: 1}
	pays := func(tx *bitcoin.Tx) func(*Decision) { return func(in *Decision) { in.Obs.Payment = known(tx) } }
	gone := passOf(spvPass(SPVBroadcasted), all(pays(nil), func(in *Decision) { in.R.Bitcoin.Tx = raw }))
	asksWithdrawal := func(a Ask) bool { return a.Withdrawal != nil && a.Withdrawal.TxID == bitcoin.Hash{9} }
	checkQuestions(t, newSPVFromBTC(), []question{
		{name: "the payment", pass: spvPass(SPVSigned), asks: func(a Ask) bool { return a.Payment != nil && *a.Payment == bitcoin.Hash{9} }, without: changes{
			"that was done": pays(tx), "nothing has left": func(in *Decision) { in.R.Bitcoin.Posted, in.R.Bitcoin.TxID = false, bitcoin.Hash{} }, "the swap rests": rests,
			"it was claimed": inState(SPVClaimed), "it was fronted": inState(SPVFronted), "the vault was closed": inState(SPVClosed),
		}},
		{name: "the vault", pass: spvPass(SPVBroadcasted), asks: func(a Ask) bool { return a.Vault != nil }, without: changes{
			"that was done": func(in *Decision) { in.Obs.Vault = known(chains.VaultFact{}) }, "nobody has seen the payment": inState(SPVSigned), "it was declined": inState(SPVExpired),
		}, with: changes{"it is confirmed": inState(SPVConfirmed)}},
		{name: "what spends the inputs of a payment that is gone", pass: gone, asks: func(a Ask) bool { return len(a.Spends) == 1 }, without: changes{
			"it is there": pays(tx), "Bitcoin does not answer": func(in *Decision) { in.Obs.Payment = failed[*bitcoin.Tx](nil) }, "that was done": func(in *Decision) { in.Obs.Spends = known[[]bitcoin.Spend](nil) },
		}},
		{name: "how long it waits", pass: passOf(spvPass(SPVBroadcasted), pays(tx)), asks: func(a Ask) bool { return a.ETA != nil && a.ETA.Confirmations == 2 }, without: changes{
			"it has all confirmations": pays(&bitcoin.Tx{ID: tx.ID, Confirmations: 2}), "that was done": func(in *Decision) { in.Obs.ETA = known(0) }, "it is gone": pays(nil),
			"Bitcoin does not answer": func(in *Decision) { in.Obs.Payment = failed[*bitcoin.Tx](nil) },
		}, with: changes{"it was seen, and nothing is known yet": func(in *Decision) { in.Obs.Payment = Fact[*bitcoin.Tx]{} }}},
		{name: "how long one waits that nobody has seen", pass: passOf(spvPass(SPVSigned), pays(tx)), asks: func(a Ask) bool { return a.ETA != nil }, without: changes{
			"nothing is known yet": func(in *Decision) { in.Obs.Payment = Fact[*bitcoin.Tx]{} },
		}},
		{name: "what became of the withdrawal", pass: spvPass(SPVFronted), asks: asksWithdrawal, without: changes{
			"that was done": withdrawn(chains.WithdrawalNone), "the swap rests": rests, "it waits for its payment": inState(SPVBroadcasted),
		}, with: changes{"it was claimed": inState(SPVClaimed), "the vault was closed": inState(SPVClosed), "the chain gave a hint": all(inState(SPVBroadcasted), func(in *Decision) { in.Input = Look{} })}},
	})
}

// The chain names who opened, claimed and refunded; what it does not name stays.
func TestChainNamesTransactions(t *testing.T) {
	f := newToBTCLN()
	for name, c := range map[string]struct {
		fact chains.EscrowFact
		want [3]string
	}{
		"all":     {chains.EscrowFact{State: chains.EscrowOpen, InitTx: "i", ClaimTx: "c", RefundTx: "r"}, [3]string{"i", "c", "r"}},
		"nothing": {chains.EscrowFact{State: chains.EscrowOpen}, [3]string{"oldi", "oldc", "oldr"}},
	} {
		in := outPass(OutCommitted, c.fact)()
		in.R.Escrow.InitTx, in.R.Escrow.ClaimTx, in.R.Escrow.RefundTx = "oldi", "oldc", "oldr"
		next, _ := f.Step(in)
		if got := [3]string{next.Escrow.InitTx, next.Escrow.ClaimTx, next.Escrow.RefundTx}; got != c.want {
			t.Errorf("%s: %q", name, got)
		}
		in.Obs.Escrow = failed(in.Obs.Escrow.Value)
		next, _ = f.Step(in)
		if next.Escrow.InitTx != "oldi" {
			t.Errorf("%s: a chain that does not answer names %q", name, next.Escrow.InitTx)
		}
	}
	spv := newSPVFromBTC()
	for name, c := range map[string]struct {
		fact        chains.WithdrawalFact
		front, take string
	}{
		"all":     {chains.WithdrawalFact{State: chains.WithdrawalFronted, FrontTx: "f", ClaimTx: "c"}, "f", "c"},
		"nothing": {chains.WithdrawalFact{State: chains.WithdrawalFronted}, "oldf", "oldc"},
	} {
		in := spvPass(SPVFronted)()
		in.R.Vault.FrontTx, in.R.Vault.ClaimTx = "oldf", "oldc"
		in.Obs.Withdrawal = known(c.fact)
		if next, _ := spv.Step(in); next.Vault.FrontTx != c.front || next.Vault.ClaimTx != c.take {
			t.Errorf("%s: %q, %q", name, next.Vault.FrontTx, next.Vault.ClaimTx)
		}
	}
}

// A claim shows the preimage to everybody.
func TestClaimMakesThePreimagePublic(t *testing.T) {
	f := newFromBTCLNAuto()
	for name, c := range map[string]struct {
		change func(*Decision)
		want   Millis
	}{
		"claimed with it":           {func(*Decision) {}, At(noon)},
		"it was public before":      {func(in *Decision) { in.R.Lightning.Revealed = 5 }, 5},
		"claimed with another":      {func(in *Decision) { in.Obs.Escrow.Value.Result = make([]byte, 32) }, 0},
		"not claimed":               {func(in *Decision) { in.Obs.Escrow.Value.State = chains.EscrowOpen }, 0},
		"the chain does not answer": {func(in *Decision) { in.Obs.Escrow = failed(in.Obs.Escrow.Value) }, 0},
	} {
		in := autoPass(LnCommitted, chains.EscrowFact{State: chains.EscrowClaimed, Result: autoPreimage[:]})()
		c.change(&in)
		if next, _ := f.Step(in); next.Lightning.Revealed != c.want {
			t.Errorf("%s: public since %d", name, next.Lightning.Revealed)
		}
	}
}
