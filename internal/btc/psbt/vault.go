package psbt

import (
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// VaultTerms is what the transaction of a vault swap commits to (protocol:
// swap-flows-spv-and-core.md §A5).
type VaultTerms struct {
	Vault       bitcoin.OutPoint // the output that controls the vault
	VaultValue  int64            // sats that it holds and keeps
	VaultScript []byte           // p2tr: it pays to itself
	Data        []byte           // the chain's own data: recipient, raw amounts, execution hash; 1 to 255 bytes
	PayScript   []byte           // p2wpkh of the liquidity provider
	PaySats     int64            // that the user pays
	Shares      bitcoin.FeeShares
	LockTime    uint32 // of [VaultLockTime]
}

// VaultTerms reads the transaction of a vault swap that has no wallet inputs yet, as
// [Template.Raw] makes it; sequence is that of the first wallet input. The transaction says
// nothing but what is returned. Nothing of it is checked. Errors have code InvalidInput.
func (u *Unchecked) VaultTerms(sequence uint32) (VaultTerms, error) {
	v, err := u.vaultTerms(sequence)
	if err != nil {
		return VaultTerms{}, fault.New(fault.InvalidInput, "not the transaction of a vault swap: %w", err)
	}
	return v, nil
}

func (u *Unchecked) vaultTerms(sequence uint32) (v VaultTerms, err error) {
	tx := u.tx
	if len(tx.TxIn) != 1 || len(tx.TxOut) != 3 {
		return v, fmt.Errorf("it has %d inputs and %d outputs, must have 1 and 3", len(tx.TxIn), len(tx.TxOut))
	}
	v = VaultTerms{Vault: tx.TxIn[0].PreviousOutPoint, VaultValue: tx.TxOut[0].Value, VaultScript: tx.TxOut[0].PkScript,
		PayScript: tx.TxOut[2].PkScript, PaySats: tx.TxOut[2].Value, LockTime: tx.LockTime}
	if v.Data, err = rawtx.OpReturnData(tx.TxOut[1].PkScript); err != nil {
		return v, err
	}
	if v.Shares, err = bitcoin.ParseFeeShares(tx.TxIn[0].Sequence, sequence); err != nil {
		return v, err
	}
	t, err := v.Template()
	if err != nil {
		return v, err
	}
	again, err := t.packet()
	if err != nil {
		return v, err
	}
	if again.UnsignedTx.TxHash() != tx.TxHash() || t.Sequence != sequence {
		return v, errors.New("it says something more")
	}
	return v, nil
}

// Draft is the transaction with a wallet input that spends nothing, to be read as a
// withdrawal.
func (v VaultTerms) Draft() (*wire.MsgTx, error) {
	t, err := v.Template()
	if err != nil {
		return nil, err
	}
	p, err := t.packet()
	if err != nil {
		return nil, err
	}
	p.UnsignedTx.AddTxIn(&wire.TxIn{Sequence: t.Sequence})
	return p.UnsignedTx, nil
}

const (
	vaultLockTimeBase  = 500_000_000 // below, lock times are heights
	vaultLockTimeRange = 1_000_000_000
)

// VaultLockTime turns a random number into a lock time for a vault swap. It is
// a salt, which makes the transaction's id unique: a time before 2017 that
// delays nothing (protocol: bitcoin.md §9).
func VaultLockTime(random uint64) uint32 {
	return vaultLockTimeBase + uint32(random%vaultLockTimeRange)
}

func isVaultLockTime(t uint32) bool {
	return t >= vaultLockTimeBase && t < vaultLockTimeBase+vaultLockTimeRange
}

// Template lays the transaction out: vault and wallet inputs with the shares in
// the first two sequences, then vault, data and payment outputs.
func (v VaultTerms) Template() (Template, error) {
	if t, _ := scriptType(v.VaultScript); t != bitcoin.P2TR {
		return Template{}, fmt.Errorf("the vault's script %x is not p2tr", v.VaultScript)
	}
	if t, _ := scriptType(v.PayScript); t != bitcoin.P2WPKH {
		return Template{}, fmt.Errorf("the liquidity provider's script %x is not p2wpkh", v.PayScript)
	}
	if v.VaultValue < bitcoin.P2TR.DustLimit() || v.PaySats < bitcoin.P2WPKH.DustLimit() {
		return Template{}, fmt.Errorf("the vault's %d sats or the payment's %d sats are below the dust limit", v.VaultValue, v.PaySats)
	}
	if !isVaultLockTime(v.LockTime) {
		return Template{}, fmt.Errorf("lock time %d is not valid for this swap", v.LockTime)
	}
	seq0, seq1, err := v.Shares.Sequences()
	if err != nil {
		return Template{}, err
	}
	data, err := rawtx.OpReturn(v.Data)
	if err != nil {
		return Template{}, err
	}
	vault := wire.TxOut{Value: v.VaultValue, PkScript: v.VaultScript}
	t := Template{
		LockTime: v.LockTime,
		Inputs:   []TemplateInput{{OutPoint: v.Vault, Output: vault, Sequence: seq0}},
		Sequence: seq1,
		Outputs:  []wire.TxOut{vault, {PkScript: data}, {Value: v.PaySats, PkScript: v.PayScript}},
	}
	if _, err := sumOutputs(t.Outputs); err != nil {
		return Template{}, err
	}
	return t, nil
}

// VaultDraft is a vault swap's transaction for estimates: only the length of its
// data counts. What the liquidity provider gets is not in it (protocol: bitcoin.md §8).
func VaultDraft(dataLen int) Draft {
	const sats = 600
	push := 1
	if dataLen > txscript.OP_DATA_75 {
		push = 2
	}
	return Draft{
		Required: []Coin{{Value: sats, Type: bitcoin.P2TR}},
		Outputs: []wire.TxOut{
			{Value: sats, PkScript: make([]byte, bitcoin.P2TR.ScriptLen())},
			{PkScript: make([]byte, 1+push+dataLen)},
		},
	}
}
