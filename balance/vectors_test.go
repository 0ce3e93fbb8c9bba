package balance_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/balance"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/vault"
	evmwire "github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/solana/wire"
	starkwire "github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
	"github.com/swapper-go/swapper/tokens"
)

// backend holds the coins of one wallet.
type backend struct {
	bitcoin.Backend
	rates   bitcoin.FeeRates
	utxos   []bitcoin.UTXO
	parents map[bitcoin.Hash]*bitcoin.CPFP
	err     error
}

var _ bitcoin.MempoolReader = (*backend)(nil)

func (b *backend) Network() bitcoin.Network { return bitcoin.Mainnet }

func (b *backend) FeeRates(context.Context) (bitcoin.FeeRates, error) { return b.rates, b.err }

func (b *backend) AddressUTXOs(_ context.Context, a bitcoin.Address) ([]bitcoin.UTXO, error) {
	return b.utxos, b.err
}

func (b *backend) CPFPs(_ context.Context, ids []bitcoin.Hash) []bitcoin.Result[*bitcoin.CPFP] {
	out := make([]bitcoin.Result[*bitcoin.CPFP], len(ids))
	for i, id := range ids {
		out[i].Value = b.parents[id]
	}
	return out
}

func (b *backend) ProjectedBlocks(context.Context) ([]bitcoin.ProjectedBlock, error) { return nil, nil }

// chain is a smart chain with one wallet on it. Addresses, fee rates and data
// lengths are read as the real chain reads them.
type chain struct {
	chains.Chain
	info       chains.Info
	address    func(string) (string, error)
	feeRate    func(string) error
	data       vault.PayoutFormat
	held, cost *big.Int
	err        error
	paid       chains.Cost
	rate       *string // that the cost was asked at
}

func (c *chain) Info() chains.Info { return c.info }

func (c *chain) Address(s string) (string, error) { return c.address(s) }

func (c *chain) CheckFeeRate(s string) error { return c.feeRate(s) }

func (c *chain) Balance(context.Context, string, string) (*big.Int, error) { return c.held, c.err }

func (c *chain) Contract(version string) (chains.Contract, bool) {
	return contract{chain: c}, version == "v1"
}

type contract struct {
	chains.VaultContract
	chain *chain
}

func (k contract) WithdrawalDataLen(gasDrop bool) int { return k.chain.data.Len(gasDrop) }

func (k contract) Estimate(_ context.Context, cost chains.Cost, feeRate string) (*big.Int, error) {
	k.chain.paid, k.chain.rate = cost, &feeRate
	return k.chain.cost, k.chain.err
}

func newChain(id string) *chain {
	native, ok := tokens.Native(id)
	if !ok {
		return nil
	}
	c := &chain{info: chains.Info{ID: id, Native: native, Default: "v1", Versions: []chains.Version{{Name: "v1", Vaults: true}}},
		address: evmwire.Address, data: evmwire.PayoutFormat(), held: new(big.Int), cost: new(big.Int),
		feeRate: func(s string) error { _, err := evmwire.ParseFeeRate(s); return err }}
	switch id {
	case "SOLANA":
		c.address, c.feeRate, c.info.Versions[0].Vaults = wire.Address, wire.CheckFeeRate, false
	case "STARKNET":
		c.address, c.feeRate, c.data = starkwire.Address, starkwire.CheckFeeRate, vault.PayoutFormat{RecipientLen: 32, LittleEndian: true}
	}
	return c
}

// setup is what a question is answered from.
type setup struct {
	*backend
	chains map[string]*chain
}

func (s setup) estimator() balance.Estimator {
	return balance.Estimator{Bitcoin: s.backend, Chain: func(id string) (chains.Chain, bool) {
		c, ok := s.chains[id]
		return c, ok
	}}
}

func newSetup() setup {
	s := setup{&backend{}, map[string]*chain{}}
	for _, id := range []string{"STARKNET", "SOLANA", "BOTANIX", "CITREA", "ALPEN", "GOAT"} {
		s.chains[id] = newChain(id)
	}
	return s
}

// The published forms of fee rates (docs/api.md).
var published = map[string]*regexp.Regexp{
	"BITCOIN": regexp.MustCompile(`^\d+(\.\d+)?$`), "SOLANA": regexp.MustCompile(`^\d+(;\d+)?$`), "STARKNET": regexp.MustCompile(`^\d+,\d+,\d+;v3$`),
}

func hasForm(chain, rate string) bool {
	form, ok := published[chain]
	if !ok {
		form = regexp.MustCompile(`^\d+,\d+$`)
	}
	return form.MatchString(rate)
}

func TestVectorsSpendableBalance(t *testing.T) {
	vectors.Each(t, "swap-flows-spv-and-core", "spendable_balance", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Query          map[string]any
			BackendFeeRate float64
			UTXOs          []struct {
				TxID      string
				Vout      uint32
				Value     int64 `json:",string"`
				Confirmed bool
				CPFP      *struct{ TxVsize, TxEffectiveFeeRate float64 }
			}
			OnChainBalance, CommitFee string
		}
		c.Input(t, &in)
		var want struct{ FeeRatePassedToCommitFee *string }
		c.Expected(t, &want)

		s := newSetup()
		s.rates = bitcoin.FeeRates{Fastest: in.BackendFeeRate}
		s.parents = map[bitcoin.Hash]*bitcoin.CPFP{}
		for _, u := range in.UTXOs {
			id := trial.Must(bitcoin.ParseHash(u.TxID))(t)
			coin := bitcoin.UTXO{OutPoint: bitcoin.OutPoint{Hash: id, Index: u.Vout}, Value: u.Value}
			if u.Confirmed {
				coin.Height = 1
			}
			if u.CPFP != nil {
				s.parents[id] = &bitcoin.CPFP{EffectiveFeeRate: u.CPFP.TxEffectiveFeeRate, AdjustedVSize: u.CPFP.TxVsize}
			}
			s.utxos = append(s.utxos, coin)
		}
		q, err := query(t, in.Query)
		id, _, _ := strings.Cut(in.Query["token"].(string), "-")
		smart := s.chains[id]
		if smart != nil && in.OnChainBalance != "" {
			smart.held.SetString(in.OnChainBalance, 10)
			smart.cost.SetString(in.CommitFee, 10)
		}
		var got balance.Spendable
		if err == nil {
			got, err = s.estimator().Estimate(t.Context(), q)
		}

		refused := vectors.Refused(c.Want(t))
		rate, given := in.Query["feeRate"].(string)
		number, isNumber := in.Query["feeRate"].(json.Number)
		switch {
		case given && !refused && !hasForm(id, rate):
			c.Differ(t, "balance-fee-rate")
			if fault.CodeOf(err) != fault.InvalidInput || !strings.HasPrefix(err.Error(), "feeRate: ") {
				t.Errorf("rate %q is taken: %v, %v", rate, got, err)
			}
			return
		case isNumber && refused && id == "BITCOIN" && in.Query["feeMultiplier"] == nil && hasForm(id, number.String()):
			c.Differ(t, "input-fee-rate")
			if err != nil || strconv.FormatFloat(got.FeeRateSatVB, 'f', -1, 64) != number.String() {
				t.Errorf("rate %v: %v, %v", number, got, err)
			}
			return
		case refused:
			if code := fault.CodeOf(err); code != fault.InvalidInput && code != fault.Unsupported {
				t.Errorf("%+v, %v, want a refusal", got, err)
			}
			return
		case err != nil:
			t.Fatal(err)
		}
		answer := map[string]any{"balance": swapper.AmountOf(got.Amount)}
		if id == tokens.Bitcoin {
			answer["feeRate"] = got.FeeRateSatVB
		} else {
			answer["feeRatePassedToCommitFee"] = want.FeeRatePassedToCommitFee
			if f := q.FeeMultiplier; f != nil && math.Floor(*f*1e6) != floorMillionths(*f) {
				c.Differ(t, "balance-multiplier-exact")
				return
			}
			if smart.rate != nil && *smart.rate != q.FeeRate {
				t.Errorf("cost asked at %q, want %q", *smart.rate, q.FeeRate)
			}
			if native := q.Token == smart.info.Native; native != (smart.rate != nil) {
				t.Errorf("cost asked: %v for %s", smart.rate != nil, q.Token)
			}
		}
		vectors.SameJSON(t, c.Want(t), answer)
	})
}

// floorMillionths is floor(f * 10^6) of the decimal number that f was written as.
func floorMillionths(f float64) float64 {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(f, 'f', -1, 64))
	r.Mul(r, big.NewRat(1_000_000, 1))
	n, _ := new(big.Float).SetInt(new(big.Int).Quo(r.Num(), r.Denom())).Float64()
	return n
}

// query reads the members as the published interface writes them.
func query(t *testing.T, in map[string]any) (balance.Query, error) {
	t.Helper()
	text := func(name string) string {
		switch v := in[name].(type) {
		case string:
			return v
		case json.Number:
			return v.String()
		}
		return ""
	}
	number := func(name string) *float64 {
		if text(name) == "" {
			return nil
		}
		f, err := strconv.ParseFloat(text(name), 64)
		if err != nil {
			f = math.NaN()
		}
		return &f
	}
	q := balance.Query{Wallet: text("wallet"), TargetChain: text("targetChain"), FeeRate: text("feeRate"),
		MinFeeRate: number("minBitcoinFeeRate"), FeeMultiplier: number("feeMultiplier"),
		GasDrop: in["gasDrop"] == true || in["gasDrop"] == "true"}
	id := text("token")
	switch id {
	case "BITCOIN-BTC":
		q.Token = tokens.BTC()
		return q, nil
	case "LIGHTNING-BTC":
		q.Token = tokens.LightningBTC()
		return q, nil
	}
	name, _, _ := strings.Cut(id, "-")
	for _, token := range tokens.Known(name) {
		if token.ID() == id {
			q.Token = token
			return q, nil
		}
	}
	return q, fault.Invalid("token", "unknown")
}

var errDown = errors.New("down")
