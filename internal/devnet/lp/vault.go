package lp

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/btcsuite/btcd/wire"
	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	btc "github.com/swapper-go/swapper/chains/bitcoin"
	devnet "github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/evm/evmwire"
)

// vaultSats is what the output holds that controls a vault (protocol:
// lp-protocol.md §8.4).
const vaultSats = 600

// vault is one of the LP's vaults, under the LP's mutex.
type vault struct {
	onchain evmwire.Vault // as it stood at the last look
	pending []pendingWithdrawal
	spent   bool // the output went elsewhere: the vault is lost
	replace bool // and another one is to be opened in its place
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

// after is the vault once all pending withdrawals are claimed, and one more.
func (v *vault) after(more ...chains.Withdrawal) (evmwire.Vault, error) {
	var all []chains.Withdrawal
	for _, p := range v.pending {
		all = append(all, p.w)
	}
	return v.onchain.After(append(all, more...)...)
}

// hasVaults reports whether a chain is the one with the LP's vaults.
func (l *LP) hasVaults(s *side) bool { return l.evm != nil && s.ledger == l.evm }

// vaultSide is the chain with the LP's vaults.
func (l *LP) vaultSide() *side {
	for _, s := range l.sides {
		if l.hasVaults(s) {
			return s
		}
	}
	return &side{}
}

// openVaults opens a vault for each token.
func (l *LP) openVaults(ctx context.Context) error {
	tokens := l.vaultSide().tokens
	utxos := make([]btc.OutPoint, len(tokens))
	for i := range utxos {
		var err error
		if utxos[i], err = l.btc.Faucet(l.vaultKey.Address, vaultSats); err != nil {
			return err
		}
	}
	if _, err := l.btc.Mine(int(l.o.VaultConfirmations)); err != nil {
		return err
	}
	for i, t := range tokens {
		v, err := l.openVault(ctx, int64(i+1), t, utxos[i])
		if err != nil {
			return err
		}
		l.vaults = append(l.vaults, v)
	}
	return nil
}

// openVault opens a vault for a token on an output of the LP's.
func (l *LP) openVault(ctx context.Context, id int64, t Token, utxo btc.OutPoint) (*vault, error) {
	token := common.HexToAddress(t.Address)
	native, ok := l.vaultSide().price(devnet.Native.Hex())
	if !ok {
		return nil, errors.New("an LP needs the native coin among its tokens")
	}
	multiplier := int64(1)
	if t.Price.Decimals >= 18 {
		multiplier = 1e10 // a raw unit counts 64 bits
	}
	if l.o.VaultUnit != nil {
		multiplier = l.o.VaultUnit(token)
	}
	p := l.evm.net.VaultParams(token, multiplier, l.o.VaultConfirmations)
	if l.o.VaultUnit != nil {
		p.Token1Multiplier = bigInt(l.o.VaultUnit(devnet.Native))
	}
	var raw [2]uint64
	for j, of := range []Price{t.Price, native} {
		units := of.fromBTC(bigInt(l.o.Deposit), false)
		raw[j] = units.Quo(units, []*big.Int{p.Token0Multiplier, p.Token1Multiplier}[j]).Uint64()
	}
	v, err := l.evm.net.OpenVault(ctx, l.evm.account, id, p, utxo, raw)
	if err != nil {
		return nil, fmt.Errorf("open a vault: %w", err)
	}
	return &vault{onchain: v}, nil
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
		opened, err := l.another(ctx, v.onchain.Params.Token0, int64(len(all)+1))
		if err != nil {
			return errors.Join(err, l.set(func() { v.replace = true }))
		}
		all = append(all, opened)
		_ = l.set(func() { l.vaults = append(l.vaults, opened) })
	}
	return nil
}

func (l *LP) another(ctx context.Context, token common.Address, id int64) (*vault, error) {
	for _, t := range l.vaultSide().tokens {
		if t.Address == token.Hex() {
			utxo, err := l.btc.Faucet(l.vaultKey.Address, vaultSats)
			if err != nil {
				return nil, err
			}
			return l.openVault(ctx, id, t, utxo)
		}
	}
	return nil, fmt.Errorf("the LP has no token %s", token)
}

// VaultAddress returns the address that controls the LP's vaults.
func (l *LP) VaultAddress() btc.Address { return l.vaultKey.Address }

// Vaults returns the LP's vaults as they stand on chain.
func (l *LP) Vaults(ctx context.Context) ([]evmwire.Vault, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []evmwire.Vault
	for _, v := range l.vaults {
		now, err := l.evm.net.ReadVault(ctx, v.onchain)
		if err != nil {
			return nil, err
		}
		all = append(all, now)
	}
	return all, nil
}

// chooseVault returns the vault with the least that is enough (protocol:
// lp-protocol.md §8.4). raw are what leaves it, fees included.
func (l *LP) chooseVault(token common.Address, raw func(evmwire.VaultParams) ([2]uint64, error)) (best *vault, err error) {
	f := l.faults()
	l.mu.Lock()
	defer l.mu.Unlock()
	var least uint64
	for _, v := range l.vaults {
		if (v.onchain.Params.Token0 == token) == f.ForeignVault || v.spent && !f.SpentVault || !l.ready(v) {
			continue
		}
		left, err := v.after()
		if err != nil {
			return nil, err
		}
		need, err := raw(v.onchain.Params)
		if err != nil {
			return nil, refuse(20301, "No suitable swap vault found!")
		}
		if f.ForeignVault && need[0] == 0 {
			continue // an amount that cannot be expressed would give the lie away
		}
		if !f.UnsureVault && (left.Raw[0] < need[0] || left.Raw[1] < need[1]) {
			continue
		}
		if best == nil || left.Raw[0] < least {
			best, least = v, left.Raw[0]
		}
	}
	if best == nil {
		return nil, refuse(20301, "No suitable swap vault found!")
	}
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

// SpendVaults spends the outputs of all vaults of a token, so that what withdraws
// from them becomes a double spend.
func (l *LP) SpendVaults(token common.Address) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, v := range l.vaults {
		if v.onchain.Params.Token0 == token && !v.spent {
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
		now, err := l.evm.net.ReadVault(ctx, v.onchain)
		if err != nil {
			return err
		}
		l.mu.Lock()
		v.onchain = now
		for i, p := range v.pending {
			if p.w.NextVault() == now.UTXO {
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
	confirmations := uint32(v.onchain.Params.Confirmations.Uint64())
	var ripe []pendingWithdrawal
	for i, p := range pending {
		_, merkle, err := l.btc.Proof(p.w.TxID)
		if err != nil {
			if l.faults().UnknownPost {
				break
			}
			var rejected *btc.RejectedError
			if _, err := l.btc.Send(p.tx); errors.As(err, &rejected) { // somebody spent what it spends
				return l.set(func() { v.pending = v.pending[:i:i] })
			}
			break
		}
		if tip+1 < merkle.Height+confirmations {
			break
		}
		ripe = append(ripe, p)
	}
	if len(ripe) < l.o.Unclaimed || l.faults().NeverClaim {
		return nil
	}
	if err := l.evm.net.SyncRelay(ctx); err != nil {
		return err
	}
	at := v.onchain
	for _, p := range ripe {
		proof, err := l.evm.net.Proof(p.w.TxID, 0, confirmations)
		if err != nil {
			return err
		}
		call, err := l.evm.net.Deployment().ClaimVault(at, p.w, proof, l.evm.account.Address)
		if err != nil {
			return err
		}
		if _, err := l.evm.account.Send(ctx, call); err != nil {
			return err
		}
		if at, err = at.After(p.w); err != nil {
			return err
		}
	}
	return nil
}
