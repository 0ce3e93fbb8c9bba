package swap

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/lp"
)

// shownLie is a lie of an LP that the chain alone shows: a pass in which it is established,
// and how to change how many nodes say so.
type shownLie struct {
	flow      *Flow
	pass      func() Decision
	witnesses func(in *Decision, n int)
	check     lp.Check
	agreed    string // is in what is kept of what was agreed
	came      string // and of what came
	without   changes
}

func shownLies(t *testing.T) map[string]shownLie {
	opened := func(change func(*Decision)) func() Decision {
		return func() Decision {
			in := quoted(autoPass(LnSoftExpired, chains.EscrowFact{}))()
			in.Obs.LP = known(lp.Status{Code: lp.CodeExpired})
			in.Obs.Found = known(chains.EscrowFact{State: chains.EscrowOpen, InitTx: "0xopening", Escrow: &chains.Escrow{Data: json.RawMessage(`{"came":2}`)}, Witnesses: 2})
			in.Obs.Judged = in.Obs.Found.Value.Escrow.Data
			in.Obs.Delivered = Fact[*chains.Escrow]{Asked: true, Err: &lp.LPError{Check: lp.CheckEscrow, Reason: "it is 1, agreed was 2"}}
			if change != nil {
				change(&in)
			}
			return in
		}
	}
	found := func(in *Decision, n int) { in.Obs.Found.Value.Witnesses = n }
	short := func(left time.Duration) func(*Decision) {
		return func(in *Decision) {
			in.R.Lightning.Invoice = invoiceAt(t, 0)
			in.Obs.Delivered = known(&chains.Escrow{Expiry: noon.Add(left).Unix()})
		}
	}
	gas := func(pass func() Decision) func() Decision {
		return func() Decision {
			in := pass()
			in.R.Quoted = true
			in.Obs.LP = known(lp.Status{Code: lp.CodeDone, PayoutTxID: "0xpayout"})
			payout(chains.TxConfirmed, big.NewInt(99))(&in)
			in.Obs.GasTx.Value.Witnesses = 2
			return in
		}
	}
	paid := func(in *Decision, n int) { in.Obs.GasTx.Value.Witnesses = n }
	notShort := changes{
		"it pays all":               func(in *Decision) { in.Obs.GasTx.Value.Paid = big.NewInt(100) },
		"a contract may have paid":  func(in *Decision) { in.Obs.GasTx.Value.Paid = new(big.Int) },
		"the chain cannot tell":     func(in *Decision) { in.Obs.GasTx.Value.Paid = nil },
		"it is not final":           func(in *Decision) { in.Obs.GasTx.Value.Status.Final = false },
		"the nodes contradict":      func(in *Decision) { in.Obs.GasTx = failed(in.Obs.GasTx.Value) },
		"the LP names no such":      lpSilent,
		"the LP has not sent it":    says(lp.CodeGasSent),
		"the swap was recovered":    func(in *Decision) { in.R.Quoted = false },
		"a lie is known of it":      func(in *Decision) { in.R.Lie = &Lie{Check: "first"} },
		"the chain does not answer": func(in *Decision) { in.Obs.GasTx = Fact[GasFact]{} },
	}
	return map[string]shownLie{
		"another escrow": {newFromBTCLNAuto(), opened(nil), found, lp.CheckEscrow, `{"agreed":1}`, "0xopening", changes{
			"the agreed escrow":       func(in *Decision) { short(time.Hour)(in) },
			"another one was judged":  func(in *Decision) { in.Obs.Judged = json.RawMessage(`{"came":3}`) },
			"nothing was found":       func(in *Decision) { in.Obs.Found.Value.Escrow = nil },
			"the nodes contradict":    func(in *Decision) { in.Obs.Found = contradicted(true) },
			"nobody could read it":    func(in *Decision) { in.Obs.Delivered = failed[*chains.Escrow](nil) },
			"the swap was recovered":  func(in *Decision) { in.R.Quoted = false },
			"its terms are not known": func(in *Decision) { in.R.Escrow.Expected = nil },
			"a lie is known of it":    func(in *Decision) { in.R.Lie = &Lie{Check: "first"} },
		}},
		"an escrow that is too short": {newFromBTCLNAuto(), opened(short(9 * time.Minute)), found, lp.CheckTooLate, `{"agreed":1}`, "0xopening", changes{
			"it lasts": short(time.Hour),
			"by our clock alone": func(in *Decision) {
				short(9 * time.Minute)(in)
				in.R.Lightning.Invoice = invoiceAt(t, 50*time.Minute)
			},
		}},
		"a closed vault": {newSPVFromBTC(), func() Decision {
			in := spvPass(SPVConfirmed)()
			in.R.Quoted = true
			in.Obs.Payment, in.Obs.Vault = known(depositTx(6)), known(chains.VaultFact{})
			in.Obs.Withdrawal = known(chains.WithdrawalFact{State: chains.WithdrawalClosed, Close: "0xclosing", Final: true, Witnesses: 2})
			return in
		}, func(in *Decision, n int) { in.Obs.Withdrawal.Value.Witnesses = n }, lp.CheckPayout, `"utxo"`, "0xclosing", changes{
			"it paid":                 func(in *Decision) { in.Obs.Withdrawal.Value.State = chains.WithdrawalClaimed },
			"it is not final":         func(in *Decision) { in.Obs.Withdrawal.Value.Final = false },
			"the payout was advanced": func(in *Decision) { in.Obs.Withdrawal.Value.FrontTx = "0xf" },
			"the nodes contradict":    func(in *Decision) { in.Obs.Withdrawal = failed(in.Obs.Withdrawal.Value) },
			"the chain was not asked": func(in *Decision) { in.Obs.Withdrawal = Fact[chains.WithdrawalFact]{} },
			"the swap was recovered":  func(in *Decision) { in.R.Quoted = false },
			"a lie is known of it":    func(in *Decision) { in.R.Lie = &Lie{Check: "first"} },
		}},
		"gas for bitcoin, short":   {newTrustedFromBTC(), gas(trustedBTCPass(TrustedBTCCreated)), paid, lp.CheckPayout, `100`, "0xpayout", notShort},
		"gas for Lightning, short": {newTrustedFromBTCLN(), gas(trustedLNPass(TrustedLNCreated)), paid, lp.CheckPayout, `100`, "0xpayout", notShort},
	}
}

// What an LP is punished for, two nodes of the chain say at least, and none objects: not
// one of several, and not the only one. The evidence is what was agreed and what came.
func TestLiesThatOnlyAChainShows(t *testing.T) {
	for name, c := range shownLies(t) {
		t.Run(name, func(t *testing.T) {
			in := c.pass()
			next, _ := c.flow.Step(in)
			l := next.Lie
			if l == nil || l.Check != string(c.check) || l.At != At(noon) || !strings.Contains(string(l.Agreed), c.agreed) || !strings.Contains(string(l.Came), c.came) || !lp.Punishable(l.Error("https://lp")) {
				t.Fatalf("%+v", l)
			}
			in.R = next
			in.Now = in.Now.Add(time.Minute)
			if again, _ := c.flow.Step(in); again.Lie != l {
				t.Errorf("told again: %+v", again.Lie)
			}
			for _, few := range []int{0, 1} {
				in := c.pass()
				c.witnesses(&in, few)
				if next, _ := c.flow.Step(in); next.Lie != nil {
					t.Errorf("by the word of %d nodes: %+v", few, next.Lie)
				}
			}
			for why, change := range c.without {
				in := c.pass()
				change(&in)
				if next, _ := c.flow.Step(in); next.Lie != in.R.Lie {
					t.Errorf("%s: %+v", why, next.Lie)
				}
			}
		})
	}
}

// What one of several nodes shows of a lie is asked of all of them, and of no more when
// they have answered.
func TestAllNodesAreAskedForALie(t *testing.T) {
	lies := shownLies(t)
	for _, name := range []string{"another escrow", "an escrow that is too short", "a closed vault"} {
		c := lies[name]
		in := c.pass()
		f := flowOf(t, c.flow.Type)
		if a := f.Ask(in); a.Found != nil || a.Withdrawal != nil {
			t.Errorf("%s: asked again: %+v", name, a)
		}
		in.Obs.Found.Value.Unsettled, in.Obs.Withdrawal.Value.Unsettled = true, true
		c.witnesses(&in, 0)
		if a := f.Ask(in); (a.Found == nil || !a.Found.Settled) && (a.Withdrawal == nil || !a.Withdrawal.Settled) {
			t.Errorf("%s: not asked: %+v", name, a)
		}
	}
}

// What one node invented is not blamed on the LP when the others contradict it, though the
// LP has delivered an escrow, and what was judged is what the node had shown.
func TestInventedEscrowIsNotTheLPsOwn(t *testing.T) {
	c := shownLies(t)["another escrow"]
	in := c.pass()
	in.Obs.LP = known(lp.Status{Code: lp.CodeDone, Escrow: json.RawMessage(`{"agreed":1}`)})
	in.Obs.Found = contradicted(true)
	if next, _ := c.flow.Step(in); next.Lie != nil {
		t.Errorf("%+v", next.Lie)
	}
	in.Obs.Judged = in.Obs.LP.Value.Escrow
	if next, _ := c.flow.Step(in); next.Lie == nil {
		t.Error("what the LP itself delivered is not judged")
	}
}
