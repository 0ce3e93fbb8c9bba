package lp

import (
	"context"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	btc "github.com/swapper-go/swapper/chains/bitcoin"
	btcvault "github.com/swapper-go/swapper/internal/btc/vault"
)

// vaulted is what a ledger with vaults can do.
type vaulted interface {
	// openVault opens a vault of the LP's on an output, and puts raw units into it.
	openVault(ctx context.Context, v chains.Vault) (chains.Vault, error)
	// fillVault puts more raw units into one.
	fillVault(ctx context.Context, v chains.Vault, raw [2]uint64) (chains.Vault, error)
	// readVault returns the state of a vault now. One that is closed is an error.
	readVault(ctx context.Context, v chains.Vault) (chains.Vault, error)
	// claimVault claims withdrawals in their order, once the relay knows their blocks.
	claimVault(ctx context.Context, v chains.Vault, all []chains.Withdrawal) error

	parseWithdrawal(tx *wire.MsgTx) (chains.Withdrawal, error)
	withdrawalLen(gasDrop bool) int // of what a withdrawal's OP_RETURN says
}

// vaultSats is what the output holds that controls a vault (protocol:
// lp-protocol.md §8.4).
const vaultSats = 600

// vault is one of the LP's vaults, under the LP's mutex.
type vault struct {
	side    *side
	onchain chains.Vault // as it stood at the last look
	pending []pendingWithdrawal
	told    []pendingWithdrawal // claimed in a story alone, which was told since
	spent   bool                // the output went elsewhere: the vault is lost
	replace bool                // and another one is to be opened in its place
	offered uint64              // the number of its last offer
}

// pendingWithdrawal is one that was broadcast and not claimed yet.
type pendingWithdrawal struct {
	tx *wire.MsgTx
	w  chains.Withdrawal
}

// utxo is the output that controls the vault after what is pending.
func (v *vault) utxo() btc.OutPoint {
	if n := len(v.pending); n > 0 {
		return v.pending[n-1].w.NextVault()
	}
	return v.onchain.UTXO
}

// after is the vault once all pending withdrawals are claimed, and more.
func (v *vault) after(more ...chains.Withdrawal) (btc.VaultState, error) {
	var all []btcvault.Pending
	for _, p := range v.pending {
		all = append(all, btcvault.Pending{Withdrawal: p.w.Withdrawal, Amounts: p.w.Amounts})
	}
	for _, w := range more {
		all = append(all, btcvault.Pending{Withdrawal: w.Withdrawal, Amounts: w.Amounts})
	}
	return btcvault.After(v.onchain.VaultState, all...)
}

// hasVaults reports whether the LP has vaults on a chain.
func (s *side) hasVaults() bool { return s.vaults() != nil }

// openVaults opens a vault for each token of the chains with vaults.
func (l *LP) openVaults(ctx context.Context) error {
	for _, s := range l.sides {
		if s.hasVaults() {
			if err := l.openVaultsOn(ctx, s); err != nil {
				return fmt.Errorf("open vaults on %s: %w", s.chain(), err)
			}
		}
	}
	return nil
}

func (l *LP) openVaultsOn(ctx context.Context, s *side) error {
	utxos := make([]btc.OutPoint, len(s.tokens)*max(1, l.o.Vaults))
	for i := range utxos {
		var err error
		if utxos[i], err = l.btc.Faucet(l.vaultKey.Address, vaultSats); err != nil {
			return err
		}
	}
	if _, err := l.btc.Mine(int(l.o.VaultConfirmations)); err != nil {
		return err
	}
	for i, utxo := range utxos {
		v, err := l.openVault(ctx, s, int64(i+1), s.tokens[i%len(s.tokens)], utxo)
		if err != nil {
			return err
		}
		l.vaults = append(l.vaults, v)
	}
	return nil
}

// openVault opens a vault for a token on an output of the LP's.
func (l *LP) openVault(ctx context.Context, s *side, id int64, t Token, utxo btc.OutPoint) (*vault, error) {
	native, ok := s.price(s.native())
	if !ok {
		return nil, errors.New("an LP needs the native coin among its tokens")
	}
	v := chains.Vault{VaultID: chains.VaultID{Owner: s.address(), ID: bigInt(id)}, Tokens: [2]string{t.Address, s.native()},
		VaultState: btc.VaultState{UTXO: utxo}, Confirmations: uint32(l.o.VaultConfirmations)}
	for i, of := range []Price{t.Price, native} {
		v.Multipliers[i] = bigInt(1)
		switch {
		case l.o.VaultUnit != nil:
			v.Multipliers[i] = bigInt(l.o.VaultUnit(v.Tokens[i]))
		case of.Decimals >= 18:
			v.Multipliers[i] = bigInt(1e10) // a raw unit counts 64 bits
		}
		units := of.fromBTC(bigInt(l.o.Deposit), false)
		v.Raw[i] = units.Quo(units, v.Multipliers[i]).Uint64()
	}
	opened, err := s.vaults().openVault(ctx, v)
	if err != nil {
		return nil, fmt.Errorf("open a vault: %w", err)
	}
	return &vault{side: s, onchain: opened}, nil
}

// FillVaults puts sats' worth more of a token, as its chain writes it, into each vault for
// it.
func (l *LP) FillVaults(ctx context.Context, token string, sats int64) error {
	l.mu.Lock()
	all := append([]*vault(nil), l.vaults...)
	l.mu.Unlock()
	for _, v := range all {
		price, ok := v.side.price(token)
		if !ok || v.onchain.Tokens[0] != token {
			continue
		}
		units := price.fromBTC(bigInt(sats), false)
		filled, err := v.side.vaults().fillVault(ctx, v.onchain, [2]uint64{units.Quo(units, v.onchain.Multipliers[0]).Uint64()})
		if err != nil {
			return fmt.Errorf("fill a vault: %w", err)
		}
		_ = l.set(func() { v.onchain = filled })
	}
	return nil
}

// replaceVaults opens new vaults for those that a double spend has cost the LP.
// They are offered once their outputs are in a block.
func (l *LP) replaceVaults(ctx context.Context) error {
	l.mu.Lock()
	all := append([]*vault(nil), l.vaults...)
	l.mu.Unlock()
	for _, v := range all {
		var due bool
		_ = l.set(func() { due, v.replace = v.replace, false })
		if !due {
			continue
		}
		opened, err := l.another(ctx, v.side, v.onchain.Tokens[0], int64(len(all)+1))
		if err != nil {
			return errors.Join(err, l.set(func() { v.replace = true }))
		}
		all = append(all, opened)
		_ = l.set(func() { l.vaults = append(l.vaults, opened) })
	}
	return nil
}

func (l *LP) another(ctx context.Context, s *side, token string, id int64) (*vault, error) {
	for _, t := range s.tokens {
		if t.Address == token {
			utxo, err := l.btc.Faucet(l.vaultKey.Address, vaultSats)
			if err != nil {
				return nil, err
			}
			return l.openVault(ctx, s, id, t, utxo)
		}
	}
	return nil, fmt.Errorf("the LP has no token %s", token)
}

// VaultAddress returns the address that controls the LP's vaults.
func (l *LP) VaultAddress() btc.Address { return l.vaultKey.Address }

// Vaults returns the LP's vaults as they stand on chain.
func (l *LP) Vaults(ctx context.Context) ([]chains.Vault, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []chains.Vault
	for _, v := range l.vaults {
		now, err := v.side.vaults().readVault(ctx, v.onchain)
		if err != nil {
			return nil, err
		}
		all = append(all, now)
	}
	return all, nil
}

// chooseVault returns the vault with the least that is enough (protocol:
// lp-protocol.md §8.4). raw are what leaves it, fees included.
func (l *LP) chooseVault(s *side, token string, raw func(chains.Vault) ([2]uint64, error)) (best *vault, err error) {
	f := l.faults()
	l.mu.Lock()
	defer l.mu.Unlock()
	var least uint64
	for _, v := range l.vaults {
		if v.side != s || (v.onchain.Tokens[0] == token) == f.ForeignVault || v.spent && !f.SpentVault || !l.ready(v) {
			continue
		}
		left, err := v.after()
		if err != nil {
			return nil, err
		}
		need, err := raw(v.onchain)
		if err != nil {
			return nil, refuse(20301, "No suitable swap vault found!")
		}
		if f.ForeignVault && need[0] == 0 {
			continue // an amount that cannot be expressed would give the lie away
		}
		if !f.UnsureVault && (left.Raw[0] < need[0] || left.Raw[1] < need[1]) {
			continue
		}
		rank := left.Raw[0]
		if l.o.Vaults > 1 {
			rank = v.offered
		}
		if best == nil || rank < least {
			best, least = v, rank
		}
	}
	if best == nil {
		return nil, refuse(20301, "No suitable swap vault found!")
	}
	l.offers++
	best.offered = l.offers
	if f.SpentVault && !best.spent {
		return best, l.spend(best)
	}
	return best, nil
}

// ready reports whether the vault's newest output is in a block.
func (l *LP) ready(v *vault) bool {
	_, _, err := l.btc.Proof(v.utxo().Hash)
	return err == nil
}

// spend takes the newest output of a vault that is in a block away, as only a cheat
// does. What withdraws from there can never be mined then; it is replaced where it
// waits already.
func (l *LP) spend(v *vault) error {
	tx := wire.NewMsgTx(2)
	utxo := v.onchain.UTXO
	for _, p := range v.pending {
		if _, _, err := l.btc.Proof(p.w.TxID); err != nil {
			break
		}
		utxo = p.w.NextVault()
	}
	tx.AddTxIn(wire.NewTxIn(&utxo, nil, nil))
	coins := l.hot.Coins()
	if len(coins) == 0 {
		return errors.New("the LP has no bitcoin")
	}
	tx.AddTxIn(wire.NewTxIn(&coins[0].OutPoint, nil, nil))
	for _, in := range tx.TxIn {
		in.Sequence = wire.MaxTxInSequenceNum - 2
	}
	tx.AddTxOut(wire.NewTxOut(coins[0].Value-100_000, l.hot.Address.Script())) // a fee that outbids any withdrawal
	if err := errors.Join(l.vaultKey.Sign(tx), l.hot.Sign(tx)); err != nil {
		return err
	}
	v.spent = true
	_, err := l.btc.Send(tx)
	return err
}

// SpendVaults spends the outputs of all vaults of a token, as its chain writes it, so
// that what withdraws from them becomes a double spend.
func (l *LP) SpendVaults(token string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, v := range l.vaults {
		if v.onchain.Tokens[0] == token && !v.spent {
			if err := l.spend(v); err != nil {
				return err
			}
		}
	}
	return nil
}

// followVaults forgets what was claimed, drops what was replaced, and claims when
// too much waits.
func (l *LP) followVaults(ctx context.Context) error {
	l.mu.Lock()
	var busy []*vault
	for _, v := range l.vaults {
		if len(v.pending) > 0 {
			busy = append(busy, v)
		}
	}
	l.mu.Unlock()
	for _, v := range busy {
		now, err := v.side.vaults().readVault(ctx, v.onchain)
		if err != nil {
			return err
		}
		l.mu.Lock()
		v.onchain = now
		for i, p := range v.pending {
			if p.w.NextVault() == now.UTXO {
				if v.side.colluding() {
					v.told = append(v.told, v.pending[:i+1]...)
				}
				v.pending = append([]pendingWithdrawal(nil), v.pending[i+1:]...)
				break
			}
		}
		pending := append([]pendingWithdrawal(nil), v.pending...)
		l.mu.Unlock()
		if err := l.claimWithdrawals(ctx, v, pending); err != nil {
			return err
		}
	}
	return nil
}

func (l *LP) claimWithdrawals(ctx context.Context, v *vault, pending []pendingWithdrawal) error {
	tip, _ := l.btc.Tip()
	var ripe []chains.Withdrawal
	for i, p := range pending {
		_, merkle, err := l.btc.Proof(p.w.TxID)
		if err != nil {
			if l.faults().UnknownPost {
				break
			}
			const mined = -27 // since it was looked for
			var rejected *btc.RejectedError
			if _, err := l.btc.Send(p.tx); errors.As(err, &rejected) && rejected.Code != mined { // somebody spent what it spends
				return l.set(func() { v.pending = v.pending[:i:i] })
			}
			break
		}
		if tip+1 < merkle.Height+v.onchain.Confirmations {
			break
		}
		ripe = append(ripe, p.w)
	}
	if len(ripe) < l.o.Unclaimed || l.faults().NeverClaim {
		return nil
	}
	return v.side.vaults().claimVault(ctx, v.onchain, ripe)
}
