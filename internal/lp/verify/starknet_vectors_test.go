package verify

import (
	"encoding/json"
	"math/big"
	"strconv"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
	"github.com/swapper-go/swapper/tokens"
)

// starknetContract is the pure part of Starknet's contracts.
type starknetContract struct {
	chains.Contract
	wire.Deployment
}

// starknetContracts are those of the cases.
func starknetContracts() starknetContract {
	d := wire.Deployment{Version: wire.DefaultVersion, RefundHandler: wire.FeltOf(0x101), BtcRelay: wire.Contract{Address: wire.FeltOf(0x104)}}
	for kind := range d.ClaimHandlers {
		d.ClaimHandlers[kind] = wire.FeltOf(0x202 + uint64(kind))
	}
	return starknetContract{Deployment: d}
}

func (k starknetContract) Version() string { return k.Deployment.Version }

func (k starknetContract) Expect(s chains.Spec) (chains.Escrow, error) {
	d, err := k.Deployment.Expect(s)
	if err != nil {
		return chains.Escrow{}, err
	}
	return k.Deployment.Escrow(d)
}

func (k starknetContract) Decode(data json.RawMessage) (chains.Escrow, error) {
	d, err := wire.ParseSwapData(data)
	if err != nil {
		return chains.Escrow{}, err
	}
	if err := k.CheckSwapData(d); err != nil {
		return chains.Escrow{}, err
	}
	return k.Deployment.Escrow(d)
}

func (k starknetContract) Diff(want, got chains.Escrow, may chains.Tolerance) error {
	w, err := wire.SwapDataOf(want)
	if err != nil {
		return err
	}
	g, err := wire.SwapDataOf(got)
	if err != nil {
		return err
	}
	return wire.Diff(w, g, may)
}

func (k starknetContract) ClaimHash(c chains.Condition) ([]byte, error) {
	h, err := k.Deployment.ClaimHash(c)
	b := h.Bytes()
	return b[:], err
}

// inField reduces a made-up address to one that there can be, as the reference does where
// it hashes it.
func inField(t *testing.T, text string) string {
	t.Helper()
	n, ok := new(big.Int).SetString(text, 0)
	prime, _ := new(big.Int).SetString("800000000000011000000000000000000000000000000000000000000000001", 16)
	if !ok {
		t.Fatalf("%q is no number", text)
	}
	f := trial.Must(wire.FeltOfBig(n.Mod(n, prime)))(t)
	return wire.Hex64(f)
}

// starknetQuote checks the answer of a case for Starknet.
func starknetQuote(t *testing.T, c *vectors.Case, good bool) error {
	t.Helper()
	var in struct {
		Now  int64
		Data map[string]any
		Resp struct {
			Total, SwapFee, MaxFee, RoutingFeeSats *string
		}
		Signer, LpAddress, PR, MaxFeeSats, ExpiryTimestamp, Token string
		RequiredTotal                                             *string
	}
	c.Input(t, &in)
	k := starknetContracts()
	written := trial.Must(json.Marshal(in.Data))(t)
	if _, err := k.Decode(written); err == nil {
		t.Error("addresses beyond the prime, or no reputation flag, pass")
	} else if good {
		c.Differ(t, "lp-reputation-flag")
	}
	for _, name := range []string{"offerer", "claimer", "claimData"} {
		in.Data[name] = inField(t, in.Data[name].(string))
	}
	in.Data["reputation"] = in.Data["payIn"]
	data := trial.Must(json.Marshal(in.Data))(t)
	invoice := trial.Must(lightning.Decode(in.PR))(t)
	expiry := trial.Must(strconv.ParseInt(in.ExpiryTimestamp, 10, 64))(t)
	token := tokens.Token{Chain: "STARKNET", Ticker: "STRK", Decimals: 18, Address: in.Token}
	agreed := Agreed{LP: inField(t, in.LpAddress), User: inField(t, in.Signer), Token: token, Native: token, Contract: k, Now: unix(in.Now / 1000)}
	q := &toBTCLN{ToBTCLNExpected: ToBTCLNExpected{Agreed: agreed, Invoice: invoice, Expiry: expiry, MaxRoutingSats: flowtest.Number(t, in.MaxFeeSats)},
		got: lp.ToBTCLNQuote{Total: orNone(t, in.Resp.Total), MaxFee: orNone(t, in.Resp.MaxFee), SwapFee: orNone(t, in.Resp.SwapFee), RoutingFeeSats: orNone(t, in.Resp.RoutingFeeSats), Escrow: data}}
	sats, _ := invoice.AmountSats()
	q.Amount = big.NewInt(sats)
	if q.sats = q.Amount; in.RequiredTotal != nil { // whether the invoice is the prepared one is not in the cases
		q.Amount, q.ExactIn, q.PreparedSats = flowtest.Number(t, *in.RequiredTotal), true, q.sats
	}
	return q.data()
}
