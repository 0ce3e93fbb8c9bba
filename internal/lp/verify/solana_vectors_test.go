package verify

import (
	"encoding/json"
	"math/big"
	"strconv"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
	"github.com/swapper-go/swapper/tokens"
)

// solanaContract is the pure part of Solana's programs. The script of a payout is not
// in the cases, so its claim hash, and the hint beside it, are given; nil: they are
// computed.
type solanaContract struct {
	chains.Contract
	programs wire.Programs
	claim    *wire.ClaimHash
	hint     *[32]byte
}

func solanaPrograms() wire.Programs {
	n, _ := wire.NetworkFor(bitcoin.Mainnet)
	return n.Programs[0]
}

func (k solanaContract) Expect(s chains.Spec) (chains.Escrow, error) {
	d, err := k.programs.Expect(s)
	if err != nil {
		return chains.Escrow{}, err
	}
	if c := k.claim; c != nil {
		d.PaymentHash, d.Nonce, d.Confirmations = c.PaymentHash, c.Nonce, c.Confirmations
		if s.Hints {
			d.TxoHash = k.hint
		}
	}
	return d.Escrow()
}

func (k solanaContract) Decode(data json.RawMessage) (chains.Escrow, error) {
	d, err := wire.ParseSwapData(data)
	if err != nil {
		return chains.Escrow{}, err
	}
	if err := k.programs.Check(d); err != nil {
		return chains.Escrow{}, err
	}
	return d.Escrow()
}

func (k solanaContract) Diff(want, got chains.Escrow, may chains.Tolerance) error {
	w, err := wire.ParseSwapData(want.Data)
	if err != nil {
		return err
	}
	g, err := wire.ParseSwapData(got.Data)
	if err != nil {
		return err
	}
	return wire.Diff(w, g, may)
}

func (k solanaContract) ClaimHash(c chains.Condition) ([]byte, error) {
	h, err := wire.ClaimHashOf(c)
	return h.Bytes(), err
}

var wrappedSOL = tokens.Token{Chain: "SOLANA", Ticker: "SOL", Decimals: 9, Address: wire.WSOL.String()}

// solanaQuote checks the answer of a case for Solana.
func solanaQuote(t *testing.T, c *vectors.Case, swapType string) error {
	t.Helper()
	k := solanaContract{programs: solanaPrograms()}
	var in struct {
		Now  int64
		Data json.RawMessage
		Resp struct {
			Amount, Total, SwapFee, NetworkFee, TotalFee, MaxFee, RoutingFeeSats *string
			BTCAddress                                                           string
			Confirmations                                                        int64
		}
		AmountData struct {
			Amount, Token string
			ExactIn       bool
		}
		Signer, LpAddress, ClaimHash      string
		Confirmations, ConfirmationTarget uint16

		Sequence      string
		ClaimerBounty struct{ FeePerBlock, SafetyFactor, StartTimestamp, AddBlock, AddFee string }

		PR, MaxFeeSats, ExpiryTimestamp, Token string
		RequiredTotal                          *string
	}
	c.Input(t, &in)
	number := func(s string) int64 {
		return trial.Must(strconv.ParseInt(s, 10, 64))(t)
	}
	agreed := Agreed{LP: in.LpAddress, User: in.Signer, Token: wrappedSOL, Native: wrappedSOL, Contract: k, Now: unix(in.Now / 1000)}
	if swapType != "TO_BTCLN" {
		agreed.Amount, agreed.ExactIn = flowtest.Number(t, in.AmountData.Amount), in.AmountData.ExactIn
		agreed.Token.Address = in.AmountData.Token
	}
	switch swapType {
	case "TO_BTC":
		claim := trial.Must(wire.DecodeClaimHash(vectors.Unhex(t, in.ClaimHash)))(t)
		data := trial.Must(wire.ParseSwapData(in.Data))(t)
		k.claim, k.hint = &claim, data.TxoHash
		agreed.Contract = k
		q := &toBTC{ToBTCExpected: ToBTCExpected{Agreed: agreed, Confirmations: in.Confirmations, ConfirmationTarget: in.ConfirmationTarget, Nonce: claim.Nonce},
			got: lp.ToBTCQuote{Amount: orNone(t, in.Resp.Amount), Total: orNone(t, in.Resp.Total), SwapFee: orNone(t, in.Resp.SwapFee),
				NetworkFee: orNone(t, in.Resp.NetworkFee), TotalFee: orNone(t, in.Resp.TotalFee), Escrow: in.Data}}
		return q.data()
	case "FROM_BTC":
		sequence := trial.Must(strconv.ParseUint(in.Sequence, 10, 64))(t)
		b := in.ClaimerBounty
		q := &fromBTC{FromBTCExpected: FromBTCExpected{Agreed: agreed, Network: bitcoin.Mainnet, Sequence: sequence,
			Bounty: lp.Bounty{FeePerBlock: flowtest.Number(t, b.FeePerBlock), SafetyFactor: flowtest.Number(t, b.SafetyFactor), StartTimestamp: number(b.StartTimestamp), AddBlock: flowtest.Number(t, b.AddBlock), AddFee: flowtest.Number(t, b.AddFee)}},
			got: lp.FromBTCQuote{Amount: orNone(t, in.Resp.Amount), Total: orNone(t, in.Resp.Total), SwapFee: orNone(t, in.Resp.SwapFee), BTCAddress: in.Resp.BTCAddress,
				Confirmations: in.Resp.Confirmations, Escrow: in.Data}}
		return q.data()
	}
	invoice := trial.Must(lightning.Decode(in.PR))(t)
	got := lp.ToBTCLNQuote{Total: orNone(t, in.Resp.Total), MaxFee: orNone(t, in.Resp.MaxFee), SwapFee: orNone(t, in.Resp.SwapFee), RoutingFeeSats: orNone(t, in.Resp.RoutingFeeSats), Escrow: in.Data}
	q := &toBTCLN{ToBTCLNExpected: ToBTCLNExpected{Agreed: agreed, Invoice: invoice, Expiry: number(in.ExpiryTimestamp), MaxRoutingSats: flowtest.Number(t, in.MaxFeeSats)}, got: got}
	sats, _ := invoice.AmountSats()
	q.Amount = big.NewInt(sats)
	if q.sats = q.Amount; in.RequiredTotal != nil { // whether the invoice is the prepared one is not in the cases
		q.Amount, q.ExactIn, q.PreparedSats = flowtest.Number(t, *in.RequiredTotal), true, q.sats
	}
	return q.data()
}

// Solana takes a number for a time only if it can be one, so that what the LP is to open
// after a Lightning payment has a time in it from the beginning.
func TestLightningEscrowOnSolana(t *testing.T) {
	a := Agreed{LP: "9oekcaETpDbq6eHBMjvRtPrXnsRmZSgowjxY6qhQTRxF", User: "G763kovx9xzvnkRntpS4YMNAh6FAcuUZe6q2Gpv4X6YH", Token: wrappedSOL, Native: wrappedSOL,
		Contract: solanaContract{programs: solanaPrograms()}, Now: unix(1_788_021_324)}
	want := trial.Must(a.lightningEscrow([32]byte{1}, big.NewInt(1000), big.NewInt(50), nil))(t)
	got := trial.Must(a.Contract.Expect(chains.Spec{Kind: chains.HTLC, Offerer: a.LP, Claimer: a.User, Token: wrappedSOL.Address, Amount: big.NewInt(1001), PayOut: true,
		Condition: chains.Condition{Kind: chains.HTLC, PaymentHash: [32]byte{1}}, Sequence: new(big.Int), Expiry: 1_788_023_724, SecurityDeposit: big.NewInt(49)}))(t)
	if _, err := Delivered(a.Contract, want, got.Data, true); err != nil {
		t.Errorf("what the LP delivers is refused: %v", err)
	}
	if _, err := Delivered(a.Contract, want, got.Data, false); err == nil {
		t.Error("a deposit that differs passes where the LP pays it")
	}
}
