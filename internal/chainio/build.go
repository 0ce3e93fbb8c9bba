package chainio

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/btcsuite/btcd/wire"
	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	shared "github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/btc/psbt"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/single"
	"github.com/swapper-go/swapper/internal/swap"
)

// BuildAction builds the action of a view. Callers who ask for the same at the same time
// share one answer, which must not be changed. The errors are those of the chain
// and the backend, and InvalidInput where the caller's wallet cannot do it.
func (rd *Reader) BuildAction(ctx context.Context, r *swap.Record, a swap.Action, c swap.Caller) (swap.BuiltAction, error) {
	switch a := a.(type) {
	case *swap.Pay:
		if a.Fund != nil && c.Wallet != nil {
			return rd.toFund(ctx, r, a.Fund, c)
		}
		return swap.BuiltAction{Action: a}, nil
	case *swap.Wait:
		return swap.BuiltAction{Action: a}, nil
	case *swap.Sign:
		return shared.Do(ctx, &rd.building, todoKey(r, a, c), func(ctx context.Context) (swap.BuiltAction, error) { return rd.toSign(ctx, r, a, c) })
	case *swap.Fund:
		if c.Wallet == nil {
			return rd.raw(r, a)
		}
		return shared.Do(ctx, &rd.building, todoKey(r, a, c), func(ctx context.Context) (swap.BuiltAction, error) { return rd.toFund(ctx, r, a, c) })
	}
	return swap.BuiltAction{}, nil
}

// todoKey names an action that is built for a caller. Within one version of a
// record the kinds of its steps say what it is.
func todoKey(r *swap.Record, a swap.Action, c swap.Caller) string {
	key := fmt.Sprintf("%s %d %T %q %v", r.ID, r.Version, a, c.Signer, c.FeeRate)
	if c.Wallet != nil {
		key += fmt.Sprintf(" %s %x", c.Wallet.Address(), c.Wallet.PublicKey())
	}
	if s, ok := a.(*swap.Sign); ok {
		for _, step := range s.Plan.Steps {
			key += " " + step.Kind.String()
		}
		for _, tx := range s.Plan.Replaces {
			key += " " + tx.ID
		}
		key += " " + s.Waiting
	}
	return key
}

func (rd *Reader) toSign(ctx context.Context, r *swap.Record, a *swap.Sign, c swap.Caller) (swap.BuiltAction, error) {
	k, _, err := rd.contract(r.Chain, r.Contract)
	if err != nil {
		return swap.BuiltAction{}, err
	}
	if a.Waiting != "" && c.Signer == a.Waiting && c.Signer != a.Plan.Signer {
		return swap.BuiltAction{}, nil // what this caller signed is in progress
	}
	plan := a.PlanFor(c)
	if err := rd.prove(ctx, &plan); err != nil {
		return swap.BuiltAction{}, err
	}
	u, err := k.Build(ctx, plan)
	if err != nil {
		return swap.BuiltAction{}, err
	}
	named := *a
	named.Chain = r.Chain
	return swap.BuiltAction{Action: &named, Txs: u.Txs, Signer: u.Signer}, nil
}

// prove gives steps that need a Bitcoin payment the payment's place in the chain.
func (rd *Reader) prove(ctx context.Context, plan *chains.Plan) error {
	for i, s := range plan.Steps {
		if s.Payment == nil {
			continue
		}
		tx, err := rd.BitcoinTx(ctx, s.Payment.TxID)
		if err != nil {
			return err
		}
		if tx == nil || !tx.Confirmed() {
			return fault.New(fault.Upstream, "the Bitcoin transaction is not confirmed yet")
		}
		raw, err := rawtx.Strip(tx.Msg)
		if err != nil {
			return err
		}
		p := *s.Payment
		p.Raw, p.Block, p.Height = raw, tx.BlockHash, tx.Height
		plan.Steps[i].Payment = &p
	}
	return nil
}

// vaultTerms returns what the transaction of a vault swap commits to. The lock
// time is a salt drawn from the record's seed, so that every poll gives the
// same transaction.
func (rd *Reader) vaultTerms(r *swap.Record) (psbt.VaultTerms, error) {
	k, _, err := rd.contract(r.Chain, r.Contract)
	if err != nil {
		return psbt.VaultTerms{}, err
	}
	vault, ok := k.(chains.VaultContract)
	if !ok {
		return psbt.VaultTerms{}, NoVaults(r.Chain)
	}
	data, err := vault.WithdrawalData(r.Terms.Recipient, r.Vault.Raw)
	if err != nil {
		return psbt.VaultTerms{}, err
	}
	utxo, err := bitcoin.ParseOutPoint(r.Vault.UTXO)
	if err != nil {
		return psbt.VaultTerms{}, err
	}
	return psbt.VaultTerms{
		Vault: utxo, VaultValue: r.Vault.UTXOSats, VaultScript: r.Vault.Script,
		Data: data, PayScript: r.Vault.LPScript, PaySats: int64(r.Bitcoin.Sats),
		Shares:   bitcoin.FeeShares{Caller: r.Vault.Shares[0], Fronting: r.Vault.Shares[1], Execution: r.Vault.Shares[2]},
		LockTime: psbt.VaultLockTime(r.Seed.Uint64("lock time")),
	}, nil
}

// rawTerms are all that a raw transaction follows from.
type rawTerms struct {
	chain, contract, recipient string
	seed                       chains.Seed
	vault                      swap.VaultPart
	bitcoin                    swap.BitcoinPart
	gas                        swap.GasPart
	fund                       swap.Fund
}

// madeRaw is a raw transaction that was built, and what for.
type madeRaw struct {
	of *rawTerms
	tx swap.RawPSBT
}

// rawsKept is how many raw transactions are kept.
const rawsKept = 2048

// raw returns a transaction that the caller completes with inputs of its own. It is built
// once, and again for other terms. It sends no request.
func (rd *Reader) raw(r *swap.Record, a *swap.Fund) (swap.BuiltAction, error) {
	of := &rawTerms{r.Chain, r.Contract, r.Terms.Recipient, r.Seed, part(r.Vault), part(r.Bitcoin), part(r.Gas), *a}
	made, ok := rd.raws.Get(r.ID)
	if !ok || !reflect.DeepEqual(made.of, of) {
		t, err := rd.Template(r, a)
		if err != nil {
			return swap.BuiltAction{}, err
		}
		text, err := t.Raw()
		if err != nil {
			return swap.BuiltAction{}, err
		}
		made = &madeRaw{of, swap.RawPSBT{PSBT: text, Sequence: t.Sequence, FeeRate: leastRate(r, a), MaxFee: t.MaxFee()}}
		rd.raws.Add(r.ID, made)
	}
	tx := made.tx // the caller's own
	return swap.BuiltAction{Action: a, Raw: &tx}, nil
}

func part[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// leastRate is the fee rate in sat/vB that the payee demands or recommends.
func leastRate(r *swap.Record, a *swap.Fund) float64 {
	switch {
	case a.Vault:
		return r.Vault.MinFeeRate
	case r.Gas != nil:
		return r.Gas.FeeRate
	}
	return 0
}

func (rd *Reader) toFund(ctx context.Context, r *swap.Record, a *swap.Fund, c swap.Caller) (swap.BuiltAction, error) {
	t, err := rd.Template(r, a)
	if err != nil {
		return swap.BuiltAction{}, err
	}
	least := leastRate(r, a)
	if err := c.Wallet.CanFund(a.Vault); err != nil {
		return swap.BuiltAction{}, fault.At("bitcoinAddress", err)
	}
	if err := c.Wallet.HasKey(); err != nil {
		return swap.BuiltAction{}, fault.At("bitcoinPublicKey", err)
	}
	var rates bitcoin.FeeRates
	var coins []psbt.Coin
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		coins, err = psbt.WalletCoins(gctx, rd.Bitcoin, c.Wallet.Address())
		return err
	})
	g.Go(func() (err error) { rates, err = single.FeeRates(gctx, rd.Bitcoin); return err })
	if err := g.Wait(); err != nil {
		return swap.BuiltAction{}, err
	}
	rate, err := fundingRate(a, c.FeeRate, least, rates)
	if err != nil {
		return swap.BuiltAction{}, err
	}
	funding, err := psbt.Fund(t, *c.Wallet, coins, rate, psbt.Cheapest)
	if err != nil {
		field := "bitcoinAddress" // its coins do not suffice
		if _, dear := errors.AsType[*psbt.FeeError](err); dear && c.FeeRate > 0 {
			field = "bitcoinFeeRate"
		}
		return swap.BuiltAction{}, fault.At(field, err)
	}
	parents := map[bitcoin.Hash]*wire.MsgTx{}
	if ids := funding.ParentIDs(); len(ids) > 0 {
		for i, tx := range rd.Bitcoin.Txs(ctx, ids) {
			if tx.Err != nil {
				return swap.BuiltAction{}, tx.Err
			}
			parents[ids[i]] = tx.Value.Msg
		}
	}
	psbt, err := funding.PSBT(parents)
	if err != nil {
		return swap.BuiltAction{}, err
	}
	return swap.BuiltAction{Action: a, Funded: psbt}, nil
}

// highestRate is the most in sat/vB that a transaction may pay when it comes back
// signed, and so the most that one is built for. least is what a vault's quote
// demands; for other payments it does not count.
func highestRate(a *swap.Fund, least float64, rates bitcoin.FeeRates) float64 {
	most := psbt.QuoteFeeRateCap(max(rates.Fastest, rates.Minimum))
	if a.Vault {
		most = max(most, psbt.QuoteFeeRateCap(least))
	}
	return most
}

func fundingRate(a *swap.Fund, given, least float64, rates bitcoin.FeeRates) (float64, error) {
	current, err := psbt.WalletFeeRate(rates.Fastest, rates.Minimum)
	if err != nil {
		return 0, fault.New(fault.Upstream, "%w", err)
	}
	if most := highestRate(a, least, rates); given > most {
		return 0, fault.Invalid("bitcoinFeeRate", "is above the allowed maximum of %v sat/vB at current fees", most)
	}
	if a.Vault {
		rate, err := psbt.VaultFeeRate(given, least, current)
		return rate, fault.At("bitcoinFeeRate", err)
	}
	if given > 0 && given < rates.Minimum {
		return 0, fault.Invalid("bitcoinFeeRate", "is below the minimum of %v sat/vB that the Bitcoin network relays at the moment", rates.Minimum)
	}
	if given > 0 {
		return given, nil
	}
	// What the payee recommends counts as far as it can be meant.
	return max(current, min(least, psbt.QuoteFeeRateCap(rates.Fastest))), nil
}

// UsualFee is what miners get, in sats, at rates that a backend recommends, if the user
// pays from a P2WPKH wallet with one coin and takes change: what a quote can say. It is
// an error if not even the least that the payee's rate asks for is within the bound:
// then nothing that is signed could be accepted.
func (rd *Reader) UsualFee(r *swap.Record, a *swap.Fund, rates bitcoin.FeeRates) (int64, error) {
	t, err := rd.Template(r, a)
	if err != nil {
		return 0, err
	}
	rate, err := fundingRate(a, 0, leastRate(r, a), rates)
	if err != nil {
		return 0, err
	}
	if a.Vault {
		least, err := t.OneCoinFee(bitcoin.P2WPKH, r.Vault.MinFeeRate)
		if err != nil {
			return 0, err
		}
		if most := t.MaxFee(); least > most {
			return 0, fault.Invalid("amount", "is too low for Bitcoin's current fees: at %v sat/vB miners get %d sats, more than the accepted %d; use a larger amount, or wait until fees fall", r.Vault.MinFeeRate, least, most)
		}
	}
	return t.OneCoinFee(bitcoin.P2WPKH, rate)
}

// Template is what a swap fixes about the transaction that the user signs.
func (rd *Reader) Template(r *swap.Record, a *swap.Fund) (t psbt.Template, err error) {
	if a.Vault {
		var terms psbt.VaultTerms
		if terms, err = rd.vaultTerms(r); err == nil {
			t, err = terms.Template()
		}
	} else {
		var to bitcoin.Address
		if to, err = bitcoin.ParseAddress(r.Bitcoin.Address, rd.Bitcoin.Network()); err == nil {
			t = psbt.PaymentTemplate(to.Script(), int64(r.Bitcoin.Sats))
		}
	}
	t.MaxFeePPM = rd.MaxMinerFeePPM
	return t, err
}
