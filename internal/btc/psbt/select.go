package psbt

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// Draft is a transaction that is looking for money.
type Draft struct {
	Required []Coin              // inputs that it has in any case
	Outputs  []wire.TxOut        // what it pays
	Change   bitcoin.AddressType // where what is left goes to; the zero value: no change, the rest is fee
	FeeRate  float64             // sat/vB, finite, 0 or more

	MaxInputs int // how many inputs it may have, the required ones included; 0: any number
}

// Selection is what [selectCoins] chose.
type Selection struct {
	Inputs  []Coin  // the required ones, then those added, in the order of the transaction
	Change  int64   // sats of the change output that follows the given ones; 0: there is none
	Fee     int64   // sats
	FeeRate float64 // sat/vB after paying for unconfirmed parents, by estimated sizes

	ForParents int64 // sats of the fee that lift unconfirmed parents to the rate
}

// notEnoughError says that the coins do not suffice.
type notEnoughError struct {
	Have int64   // sats in all coins, the required ones included
	Pay  int64   // sats in all outputs
	Fee  float64 // sats, estimate of the fee that would come on top
}

func (e *notEnoughError) Error() string {
	return fmt.Sprintf("insufficient balance: %d sats available, but %d plus a fee of about %.0f are needed", e.Have, e.Pay, math.Ceil(e.Fee))
}

// Public returns the same.
func (e *notEnoughError) Public() string { return e.Error() }

// selectCoins chooses from coins what pays for d as all wallets of the network
// do, see [Cheapest] for what is better: a set that needs no change if
// the first attempt finds one, else the most valuable coins until they suffice
// (protocol: bitcoin.md §7). At least one coin is always added. Coins whose
// unconfirmed parents exceed [maxParentsVBytes], alone or with those of the coins
// before them, are left out. The error is a [*notEnoughError] if the coins do not
// suffice. The caller's slices are not changed. It takes O(n log n) for n coins.
//
// Fees are float64 as everywhere in the network's wallets. Each product is
// rounded on its own, so that every machine chooses the same coins.
func selectCoins(d Draft, coins []Coin) (Selection, error) {
	p, err := newPurse(d, coins)
	if err != nil {
		return Selection{}, err
	}
	p.sort()
	if sel, err := p.blackjack(); err == nil && p.fits(sel) {
		return sel, nil
	}
	sel, err := p.accumulate()
	if err == nil && !p.fits(sel) {
		return Selection{}, fmt.Errorf("%d inputs would be needed, but at most %d can be used; consolidate small coins first", len(sel.Inputs), d.MaxInputs)
	}
	return sel, err
}

// purse is a draft with the sums that every strategy starts from.
type purse struct {
	Draft
	coins []Coin
	have  int64   // sats in required inputs and coins
	in    int64   // sats in required inputs
	out   int64   // sats in outputs
	bytes float64 // size without coins and change, rounded up

	shared  bool                  // a parent is paid for once; else by every coin that spends from it
	lifted  map[bitcoin.Hash]bool // unconfirmed parents that the coins taken so far pay for
	parents float64               // their size in vB
}

func newPurse(d Draft, coins []Coin) (*purse, error) {
	if err := checkFeeRate(d.FeeRate); err != nil {
		return nil, err
	}
	in, err := funds(d.Required)
	if err != nil {
		return nil, err
	}
	if _, err := funds(coins); err != nil {
		return nil, err
	}
	coins = relayable(coins, d.FeeRate)
	available, err := funds(coins)
	if err != nil {
		return nil, err
	}
	if available > rawtx.MaxMoney-in {
		return nil, errors.New("the coins add up to more than 21 million bitcoin")
	}
	out, err := sumOutputs(d.Outputs)
	if err != nil {
		return nil, err
	}
	p := &purse{Draft: d, coins: coins, have: in + available, in: in, out: out, lifted: map[bitcoin.Hash]bool{}}
	p.bytes = d.vbytes(d.Required)
	return p, nil
}

// vbytes is the size of d with the given inputs and, beside its own outputs,
// some with scripts of the given lengths, without change, rounded up.
func (d *Draft) vbytes(inputs []Coin, scriptLens ...int) float64 {
	var z size
	z.addChangeType(d.Change)
	for i := range inputs {
		z.addInput(inputs[i].Type)
	}
	for i := range d.Outputs {
		z.addOutput(len(d.Outputs[i].PkScript))
	}
	for _, n := range scriptLens {
		z.addOutput(n)
	}
	return z.total()
}

// sort puts the coins that bring most first; equal ones keep their order.
func (p *purse) sort() {
	type scored struct {
		score float64
		coin  Coin
	}
	list := make([]scored, len(p.coins))
	for i := range p.coins {
		list[i] = scored{p.coins[i].score(p.FeeRate), p.coins[i]}
	}
	slices.SortStableFunc(list, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	p.coins = make([]Coin, len(list))
	for i := range list {
		p.coins[i] = list[i].coin
	}
}

// blackjack adds coins without overshooting by more than the dust limit, hoping
// to need no change.
func (p *purse) blackjack() (Selection, error) {
	taken := p.start()
	bytes, in, parents := p.bytes, p.in, 0.0
	dust := float64(p.Change.DustLimit())
	for _, c := range p.coins {
		size, cost := inputVBytes(c.Type), p.parentCost(&c)
		fee := math.Ceil(float64(p.FeeRate*(bytes+size)) + parents + cost)
		if float64(in+c.Value) > float64(p.out)+fee+dust || p.tooHeavy(&c) {
			continue
		}
		taken = p.take(taken, c)
		bytes, in, parents = bytes+size, in+c.Value, parents+cost
		if float64(in) >= float64(p.out)+fee {
			return p.finish(taken, parents)
		}
	}
	return Selection{}, p.short(float64(p.FeeRate*bytes) + parents)
}

// accumulate adds coins in order, leaving out those that cost more than they
// bring, until they suffice.
func (p *purse) accumulate() (Selection, error) {
	taken := p.start()
	bytes, in, parents := p.bytes, p.in, 0.0
	fee := float64(p.FeeRate * bytes)
	for i, c := range p.coins {
		size, cost := inputVBytes(c.Type), p.parentCost(&c)
		if c.detrimental(p.FeeRate, cost) {
			if i == len(p.coins)-1 {
				return Selection{}, p.short(float64(p.FeeRate*(bytes+size)) + parents + cost)
			}
			continue
		}
		if p.tooHeavy(&c) {
			continue
		}
		taken = p.take(taken, c)
		bytes, in, parents = bytes+size, in+c.Value, parents+cost
		fee = math.Ceil(float64(p.FeeRate*bytes) + parents)
		if float64(in) >= float64(p.out)+fee {
			return p.finish(taken, parents)
		}
	}
	return Selection{}, p.short(fee)
}

func (p *purse) fits(s Selection) bool { return p.MaxInputs == 0 || len(s.Inputs) <= p.MaxInputs }

func (p *purse) start() []Coin {
	clear(p.lifted)
	p.parents = 0
	return append(make([]Coin, 0, len(p.Required)+min(len(p.coins), 16)), p.Required...)
}

func (p *purse) take(taken []Coin, c Coin) []Coin {
	p.lift(&c)
	return append(taken, c)
}

// lift notes that the unconfirmed parents of c are paid for.
func (p *purse) lift(c *Coin) {
	if parentFee(c.CPFP, p.FeeRate) > 0 && !p.lifted[c.OutPoint.Hash] {
		p.lifted[c.OutPoint.Hash] = true
		p.parents += c.CPFP.AdjustedVSize
	}
}

// tooHeavy reports whether the parents of c, with those that are paid for already,
// exceed what is relayed.
func (p *purse) tooHeavy(c *Coin) bool {
	return parentFee(c.CPFP, p.FeeRate) > 0 && !p.lifted[c.OutPoint.Hash] && p.parents+c.CPFP.AdjustedVSize > maxParentsVBytes
}

// parentCost is what c must add for its unconfirmed parents, in sats.
func (p *purse) parentCost(c *Coin) float64 {
	if p.shared && p.lifted[c.OutPoint.Hash] {
		return 0
	}
	return parentFee(c.CPFP, p.FeeRate)
}

// finish adds change, if it is worth an output, and states fee and fee rate;
// parents is what the fee must add for unconfirmed parents, in sats.
func (p *purse) finish(inputs []Coin, parents float64) (Selection, error) {
	in, err := funds(inputs)
	if err != nil {
		return Selection{}, err
	}
	s := Selection{Inputs: inputs, ForParents: int64(parents)}
	bytes := p.vbytes(inputs)
	if p.Change.Valid() {
		withChange := float64(p.FeeRate * (bytes + outputVBytes(p.Change.ScriptLen())))
		rest := math.Floor(float64(in) - (float64(p.out) + withChange + parents))
		if rest >= float64(p.Change.DustLimit()) {
			s.Change = int64(rest)
		}
	}
	s.Fee = in - p.out - s.Change
	if s.Fee < 0 {
		return Selection{}, p.short(float64(p.FeeRate*bytes) + parents)
	}
	s.FeeRate = p.effectiveRate(s)
	return s, nil
}

// effectiveRate is the rate of the transaction together with those unconfirmed
// parents that pay less than it does.
func (p *purse) effectiveRate(s Selection) float64 {
	var unconfirmed []bitcoin.CPFP
	seen := map[bitcoin.Hash]bool{}
	for i := range s.Inputs {
		c, parent := s.Inputs[i].CPFP, s.Inputs[i].OutPoint.Hash
		if c == nil || p.shared && seen[parent] {
			continue
		}
		seen[parent] = true
		unconfirmed = append(unconfirmed, *c)
	}
	final := Draft{Outputs: p.Outputs}
	if s.Change > 0 {
		return packageRate(float64(s.Fee), final.vbytes(s.Inputs, p.Change.ScriptLen()), unconfirmed)
	}
	return packageRate(float64(s.Fee), final.vbytes(s.Inputs), unconfirmed)
}

// packageRate is the rate at which a transaction of the given fee and size is
// mined together with the unconfirmed parents that hold it back, of which
// [maxParentsVBytes] count at most. It sorts parents.
func packageRate(fee, vbytes float64, parents []bitcoin.CPFP) float64 {
	slices.SortStableFunc(parents, func(a, b bitcoin.CPFP) int { return cmp.Compare(b.EffectiveFeeRate, a.EffectiveFeeRate) })
	room := float64(maxParentsVBytes)
	for _, c := range parents {
		if fee/vbytes > c.EffectiveFeeRate {
			size := min(c.AdjustedVSize, room)
			room -= size
			fee += float64(size * c.EffectiveFeeRate)
			vbytes += size
		}
	}
	return fee / vbytes
}

func (p *purse) short(fee float64) error {
	return &notEnoughError{Have: p.have, Pay: p.out, Fee: fee}
}
