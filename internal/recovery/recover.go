package recovery

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/single"
	"github.com/swapper-go/swapper/internal/quote"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/tokens"
)

// Recover rebuilds the swaps of a signer from a chain's history, for a store
// that was lost, and returns those that were not stored yet, and those that were
// stored with another end than the chain shows and are corrected. What the chain does
// not tell (fees, prices, the destination, the other side's amount) stays
// unknown; what is needed to get money back is there (protocol:
// swap-flows-escrow.md §4.7, swap-flows-spv-and-core.md A13). A swap that cannot
// be rebuilt is reported in the error and ends nothing.
func Recover(ctx context.Context, m *quote.Quoter, chain, signer string) ([]*swap.Record, error) {
	c := m.Reader.Chains[chain]
	if c == nil {
		return nil, fault.New(fault.Unsupported, "chain %s is not configured", chain)
	}
	signer, err := c.Address(signer)
	if err != nil {
		return nil, fault.At("signer", err)
	}
	rec := past{Quoter: m, chain: c, info: c.Info(), signer: signer}
	if rec.secret, err = recoverySecret(ctx, m); err != nil {
		return nil, err
	}
	var found []*swap.Record
	var failed error
	for p, err := range c.History(ctx, signer, 0) {
		if err != nil {
			return found, err
		}
		r, err := rec.one(ctx, p)
		switch {
		case ctx.Err() != nil:
			return found, context.Cause(ctx)
		case err != nil:
			failed = err
		case r != nil:
			found = append(found, r)
		}
	}
	return found, failed
}

type past struct {
	*quote.Quoter
	chain  chains.Chain
	info   chains.Info
	signer string
	secret []byte
}

// secretNote is the store's note of what ids of recovered swaps are made with.
const secretNote = "recovery"

// recoverySecret returns a secret of this store. With it, a swap that is recovered
// twice gets the same id, which cannot be computed from public chain data.
func recoverySecret(ctx context.Context, m *quote.Quoter) ([]byte, error) {
	secret, version, err := m.Engine.Store.Note(ctx, secretNote)
	if err != nil || len(secret) > 0 {
		return secret, err
	}
	secret = make([]byte, 32)
	if _, err := io.ReadFull(m.Rand, secret); err != nil {
		return nil, fmt.Errorf("read randomness: %w", err)
	}
	if err = m.Engine.Store.SetNote(ctx, secretNote, secret, version); errors.Is(err, storage.ErrConflict) { // somebody was faster
		secret, _, err = m.Engine.Store.Note(ctx, secretNote)
	}
	return secret, err
}

// one stores one swap, unless it is known. It returns nil then, and for an
// escrow that the signer did not open or get as a user.
func (m past) one(ctx context.Context, p chains.Past) (*swap.Record, error) {
	var r *swap.Record
	var err error
	switch {
	case p.Escrow != nil:
		r, err = m.escrow(*p.Escrow, p.Fact)
	case p.Withdrawal != nil:
		r, err = m.withdrawal(ctx, *p.Withdrawal)
	}
	if r == nil || err != nil {
		return nil, err
	}
	for _, hash := range m.names(r) {
		known, err := m.known(ctx, hash)
		if known != nil && otherwise(known, p) {
			return m.corrected(ctx, known)
		}
		if known != nil || err != nil {
			return nil, err
		}
	}
	if err := m.Engine.Restore(ctx, r); err != nil {
		return nil, fmt.Errorf("recovered swap %s: %w", storage.Label(r.ID), err)
	}
	res, err := m.Engine.Advance(ctx, r.ID, nil)
	if err != nil {
		return nil, fmt.Errorf("recovered swap %s: %w", storage.Label(r.ID), err)
	}
	return res.Record, nil
}

// names are the hashes by which a stored record of the same swap may be indexed.
func (m past) names(r *swap.Record) [][]byte {
	hash, _ := r.EventHash()
	names := [][]byte{hash}
	if r.Type == swap.FromBTCLNAuto {
		names = append(names, r.Escrow.Real.ClaimHash) // a quote whose escrow was not seen yet
	}
	return names
}

// known returns the stored swap of an event's hash, nil if there is none.
func (m past) known(ctx context.Context, hash []byte) (*swap.Record, error) {
	for e, err := range m.Engine.Store.Find(ctx, storage.Query{Index: swap.ByEvent, Value: swap.EventValue(m.info.ID, hash)}) {
		if err != nil {
			return nil, err
		}
		return swap.Decode(e.ID, e.Version, e.Body)
	}
	return nil, nil
}

// otherwise reports whether a stored swap is said to have ended, or never to have begun, and
// a chain's history shows otherwise.
func otherwise(r *swap.Record, p chains.Past) bool {
	if !r.Settled && r.Ended == 0 {
		return false // it is looked at
	}
	if p.Withdrawal != nil {
		return p.Withdrawal.Fact.State == chains.WithdrawalClaimed && r.State != swap.SPVClaimed
	}
	said := chains.EscrowNone
	switch r.Type {
	case swap.ToBTC, swap.ToBTCLN:
		said = map[int]chains.EscrowState{swap.OutClaimed: chains.EscrowClaimed, swap.OutRefunded: chains.EscrowRefunded}[r.State]
	case swap.FromBTC:
		said = map[int]chains.EscrowState{swap.InClaimed: chains.EscrowClaimed, swap.InFailed: chains.EscrowRefunded}[r.State]
	case swap.FromBTCLN, swap.FromBTCLNAuto:
		said = map[int]chains.EscrowState{swap.LnClaimed: chains.EscrowClaimed, swap.LnFailed: chains.EscrowRefunded}[r.State]
	}
	return p.Fact.Err == nil && p.Fact.State != chains.EscrowNone && p.Fact.State != said
}

// corrected has a stored swap looked at again, and returns it if that changed its state.
func (m past) corrected(ctx context.Context, r *swap.Record) (*swap.Record, error) {
	res, err := m.Engine.Doubt(ctx, r.ID)
	if err != nil {
		return nil, fmt.Errorf("stored swap %s: %w", storage.Label(r.ID), err)
	}
	if res.Record.State == r.State {
		return nil, nil
	}
	return res.Record, nil
}

// head is what every recovered record has. unique tells swaps apart; with the
// store's secret it makes the id.
func (m past) head(typ swap.Type, state int, version, lpAddress string, at chains.Block, name string, unique []byte) swap.Head {
	created := swap.Millis(at.Time * 1000)
	if created == 0 {
		created = swap.At(m.Engine.Now())
	}
	mac := hmac.New(sha256.New, m.secret)
	mac.Write(unique)
	unique = mac.Sum(nil)
	h := swap.Head{ID: name + hex.EncodeToString(unique[:16]), Type: typ, Chain: m.info.ID, Contract: version, State: state, Signer: m.signer,
		LP: swap.LP{Address: lpAddress}, CreatedAt: created, From: at.Height}
	copy(h.Seed[:], unique)
	return h
}

func (m past) token(address string) (tokens.Token, error) {
	for _, t := range m.info.Tokens {
		if own, err := m.chain.TokenAddress(t.Address); err == nil && own == address {
			return t, nil
		}
	}
	return tokens.Token{}, fmt.Errorf("unknown token %s", address)
}

func (m past) escrow(e chains.Escrow, fact chains.EscrowFact) (*swap.Record, error) {
	k, ok := m.chain.Contract(e.Version)
	if !ok {
		return nil, fmt.Errorf("contract version %q is not configured", e.Version)
	}
	t, err := m.token(e.Token)
	if err != nil {
		return nil, err
	}
	var typ swap.Type
	state, other := swap.OutCommitted, e.Claimer
	switch lightning := e.Kind == chains.HTLC; {
	case e.Offerer == m.signer && e.PayIn:
		if typ = swap.ToBTC; lightning {
			typ = swap.ToBTCLN
		}
	case e.Claimer == m.signer && e.PayOut && lightning && m.autoOn(e.Version):
		typ, state, other = swap.FromBTCLNAuto, swap.LnCommitted, e.Offerer
	case e.Claimer == m.signer && e.PayOut && lightning:
		typ, state, other = swap.FromBTCLN, swap.LnCommitted, e.Offerer
	case e.Claimer == m.signer && e.PayOut && e.Kind == chains.Onchain:
		typ, state, other = swap.FromBTC, swap.InCommitted, e.Offerer
	default:
		return nil, nil // the signer is the LP of this escrow, or the type is not offered
	}
	r := &swap.Record{
		Head:   m.head(typ, state, e.Version, other, fact.Opened, k.ClaimHashText(e.ClaimHash), e.Hash),
		Escrow: &swap.EscrowPart{Expected: &e, Real: &e, InitTx: fact.InitTx, OpenedAt: swap.Millis(fact.Opened.Time * 1000)},
	}
	held := tokens.NewAmount(e.Amount, t)
	bitcoinSide := tokens.Amount{Token: tokens.LightningBTC()}
	switch typ {
	case swap.ToBTC:
		bitcoinSide.Token = tokens.BTC()
		r.Terms.Input, r.Terms.Output, r.Terms.SwapFee = held, bitcoinSide, tokens.NewAmount(new(big.Int), t)
	case swap.ToBTCLN:
		r.Lightning = &swap.LightningPart{}
		r.Terms.Input, r.Terms.Output, r.Terms.SwapFee = held, bitcoinSide, tokens.NewAmount(new(big.Int), t)
	case swap.FromBTCLN, swap.FromBTCLNAuto:
		r.Lightning = &swap.LightningPart{}
		r.Terms.Input, r.Terms.Output, r.Terms.SwapFee = bitcoinSide, held, tokens.NewAmount(new(big.Int), bitcoinSide.Token)
		r.Terms.Recipient = e.Claimer
	case swap.FromBTC:
		r.Bitcoin = &swap.BitcoinPart{}
		bitcoinSide.Token = tokens.BTC()
		r.Terms.Input, r.Terms.Output, r.Terms.SwapFee = bitcoinSide, held, tokens.NewAmount(new(big.Int), bitcoinSide.Token)
		r.Terms.Recipient = e.Claimer
	}
	return r, nil
}

func (m past) autoOn(version string) bool {
	for _, v := range m.info.Versions {
		if v.Name == version {
			return v.LPInit
		}
	}
	return false
}

// withdrawal rebuilds a swap that a vault has paid. What it cost is in the
// Bitcoin transaction.
func (m past) withdrawal(ctx context.Context, w chains.PastWithdrawal) (*swap.Record, error) {
	if w.Recipient != m.signer {
		return nil, nil
	}
	state := swap.SPVClaimed
	if w.Fact.State == chains.WithdrawalFronted {
		state = swap.SPVFronted
	}
	id := chains.VaultID{Owner: w.Owner, ID: w.VaultID}
	v, err := m.Reader.Vault(ctx, m.info.ID, w.Version, id)
	if err != nil {
		return nil, err
	}
	t, err := m.token(v.Vault.Tokens[0])
	if err != nil {
		return nil, err
	}
	r := &swap.Record{
		Head:    m.head(swap.SPVFromBTC, state, w.Version, w.Owner, chains.Block{Height: w.Fact.Height}, w.BitcoinTx.String(), w.BitcoinTx[:]),
		Bitcoin: &swap.BitcoinPart{TxID: w.BitcoinTx, Confirmations: v.Vault.Confirmations, Posted: true},
		Vault: &swap.VaultPart{QuoteID: w.BitcoinTx.String(), Owner: w.Owner, VaultID: w.VaultID, Multipliers: v.Vault.Multipliers, Raw: w.Raw,
			FrontTx: w.Fact.FrontTx, ClaimTx: w.Fact.ClaimTx},
	}
	r.Terms = swap.Terms{Input: tokens.Amount{Token: tokens.BTC()}, SwapFee: tokens.NewAmount(new(big.Int), tokens.BTC()), Recipient: w.Recipient,
		Output: tokens.NewAmount(units(w.Raw[0], v.Vault.Multipliers[0]), t), Confirmations: v.Vault.Confirmations}
	if w.Raw[1] != 0 {
		gas := tokens.NewAmount(units(w.Raw[1], v.Vault.Multipliers[1]), m.info.Native)
		r.Terms.GasDrop = &gas
	}
	if tx, err := single.Tx(ctx, m.Reader.Bitcoin, w.BitcoinTx); err == nil && tx != nil && len(tx.Msg.TxOut) > 2 {
		paid := tx.Msg.TxOut[2]
		r.Bitcoin.Sats, r.Vault.Sats[0], r.Vault.LPScript = uint64(paid.Value), paid.Value, paid.PkScript
		r.Vault.UTXO = tx.Msg.TxIn[0].PreviousOutPoint.String()
		r.Terms.Input = tokens.NewAmount(big.NewInt(paid.Value), tokens.BTC())
	}
	return r, nil
}

func units(raw uint64, multiplier *big.Int) *big.Int {
	n := new(big.Int).SetUint64(raw)
	return n.Mul(n, multiplier)
}
