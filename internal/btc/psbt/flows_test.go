package psbt

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// The vectors of swap flows that submit transactions or estimate balances depend
// on records, clocks, chains and providers too; the engine's tests run them. Here
// only what the Bitcoin layer decides about them is checked, case by case where
// nothing else decides.

func TestVectorsFlowSubmitVault(t *testing.T) {
	vectors.Each(t, "swap-flows-spv-and-core", "psbt_submit", func(t *testing.T, c *vectors.Case) {
		var in struct {
			quoteJSON
			PSBT, Now                                       string
			State                                           int
			Expiry                                          int64
			VaultUTXOSpent, LPDeclines, ContractCannotParse bool
		}
		c.Input(t, &in)
		var want struct {
			Error        bool
			GoMustReject any
			TxID         string
			PostQuote    struct{ PSBTHex string }
		}
		c.Expected(t, &want)
		now := trial.Must(strconv.ParseInt(in.Now, 10, 64))(t)
		elsewhere := in.Expiry < now || in.State != 0 && in.State != 1 || in.VaultUTXOSpent || in.LPDeclines || in.ContractCannotParse
		in.Locktime = VaultLockTime(0)
		template := trial.Must(in.terms(t).Template())(t)
		u, err := Parse(in.PSBT)
		var s *SignedTx
		if err == nil {
			a := Agreement{Template: template, AnySalt: true}
			s, err = u.Check(a)
			if err == nil && s.FeeRate < in.MinimumBTCFeeRate-0.5 {
				// The provider would refuse it; we do so first (bitcoin-psbt-fee-floor).
				c.Differ(t, "bitcoin-psbt-fee-floor")
				a.MinFeeRate = in.MinimumBTCFeeRate
				if s, err := u.Check(a); err == nil {
					t.Errorf("accepted at %v sat/vB; the quote wants %v", s.FeeRate, in.MinimumBTCFeeRate)
				}
			}
		}
		switch {
		case want.GoMustReject != nil:
			c.Differ(t, "bitcoin-psbt-weak-signature")
			if err == nil {
				t.Errorf("accepted as %s", s.ID)
			}
		case elsewhere:
			if err != nil {
				t.Errorf("nothing wrong with the transaction, but: %v", err)
			}
		case want.Error && err == nil:
			if c.Differ(t, "bitcoin-psbt-finished-by-wallet"); !finishedByWallet(u) {
				t.Errorf("accepted as %s; the reference refuses", s.ID)
			}
		case want.Error:
		case err != nil:
			t.Error(err)
		case s.ID.String() != want.TxID || s.PSBT.Hex() != want.PostQuote.PSBTHex:
			t.Errorf("got %s %x, want %s %s", s.ID, s.PSBT, want.TxID, want.PostQuote.PSBTHex)
		}
	})
}

// What the transaction itself decides; the swap decides the rest, in package swapper's tests.
func TestVectorsFlowSubmitPayment(t *testing.T) {
	file := vectors.Load(t, "swap-flows-escrow", "submit_psbt_from_btc")
	var records map[string]struct {
		Address string
		Amount  int64 `json:",string"`
	}
	file.Member(t, "records", &records)
	file.Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct {
			Record string
			Set    struct{ TxID string }
			Env    struct{ Now int64 }
			Signed []string `json:"signedTxs"`
		}
		c.Input(t, &in)
		var want struct {
			Error  bool
			Raw    string `json:"broadcastRawTx"`
			Fields struct {
				SenderAddress, TxID string
				Vout                int
			}
		}
		c.Expected(t, &want)
		record := records[in.Record]
		var f fundJSON
		a := Agreement{Template: PaymentTemplate(f.address(t, record.Address).Script(), record.Amount)}
		if len(in.Signed) != 1 || in.Set.TxID != "" || in.Env.Now != 0 {
			// The swap refuses them, whatever they are: each is good by itself.
			for _, text := range in.Signed {
				u, err := Parse(text)
				if err == nil {
					_, err = u.Check(a)
				}
				if err != nil || !want.Error {
					t.Errorf("%v", err)
				}
			}
			return
		}
		u, err := Parse(in.Signed[0])
		var s *SignedTx
		if err == nil {
			s, err = u.Check(a)
		}
		if (err != nil) != want.Error {
			t.Fatalf("%+v, error %v", s, err)
		}
		if err != nil {
			return
		}
		raw := trial.Must(rawtx.Encode(s.Tx))(t)
		if hex.EncodeToString(raw) != want.Raw || s.ID.String() != want.Fields.TxID || senderOf(t, s, a.Template, bitcoin.Mainnet) != want.Fields.SenderAddress || want.Fields.Vout != 0 {
			t.Errorf("got %x from %s, want %+v", raw, senderOf(t, s, a.Template, bitcoin.Mainnet), want)
		}
	})
}

func TestFlowSpendableBalance(t *testing.T) {
	for _, c := range vectors.Load(t, "swap-flows-spv-and-core", "spendable_balance").Cases {
		var in struct {
			Query map[string]json.RawMessage
			UTXOs []struct {
				Value int64 `json:",string"`
				CPFP  *cpfpJSON
			}
			BackendFeeRate float64
		}
		c.Input(t, &in)
		var want struct {
			Error   bool
			FeeRate float64
			Balance struct{ RawAmount string }
		}
		text := func(name string) (s string) {
			if raw, ok := in.Query[name]; ok && json.Unmarshal(raw, &s) != nil {
				s = "?"
			}
			return s
		}
		number := func(name string) (f float64) {
			if text(name) == "" {
				return 0
			}
			f, err := strconv.ParseFloat(text(name), 64)
			if err != nil {
				return -1
			}
			return f
		}
		c.Expected(t, &want)
		if text("token") != "BITCOIN-BTC" || want.Error || number("feeRate") < 0 {
			continue // other chains, and the reading of the query
		}
		t.Run(c.Name, func(t *testing.T) {
			a := trial.Must(bitcoin.ParseAddress(text("wallet"), bitcoin.Mainnet))(t)
			var d Draft
			recipients := map[string]int{"CITREA": 20, "BOTANIX": 20, "STARKNET": 32}
			if n := recipients[text("targetChain")]; n > 0 {
				n += 8
				if text("gasDrop") == "true" {
					n += 8
				}
				d = VaultDraft(n)
			}
			d.FeeRate = trial.Must(BalanceFeeRate(number("feeRate"), in.BackendFeeRate, number("feeMultiplier"), number("minBitcoinFeeRate")))(t)
			var list []Coin
			for _, u := range in.UTXOs {
				list = append(list, coinJSON{Value: u.Value, Type: a.Type().String(), CPFP: u.CPFP}.coin(t))
			}
			got := trial.Must(MaxSpendable(d, bitcoin.P2WSH, list))(t)
			if itoa(got.Balance()) != want.Balance.RawAmount || d.FeeRate != want.FeeRate {
				t.Errorf("%d at %v, want %s at %v", got.Balance(), d.FeeRate, want.Balance.RawAmount, want.FeeRate)
			}
		})
	}
}
