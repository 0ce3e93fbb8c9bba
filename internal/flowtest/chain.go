package flowtest

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/btcsuite/btcd/btcutil/base58"
	btcwire "github.com/btcsuite/btcd/wire"
	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/vault"
	evmwire "github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/tokens"
)

// Contracts are the addresses that a vector file gives for one EVM chain.
type Contracts struct {
	Escrow, Relay, Refund, Hash, Chain, ChainNonced string
}

// Chain is a smart chain of a World, and the [chains.Factory] of itself. It
// serves the contract version v1 (and v2, alike).
type Chain struct {
	chains.Chain
	World    *World
	id       string
	tokens   []tokens.Token
	contract evmwire.Deployment
	hashes   map[string][]byte // claim hash by payment hash, where it cannot be computed
}

// NewChain returns the chain with the given id and tokens, the native one first.
func NewChain(w *World, id string, all []tokens.Token, c Contracts) *Chain {
	d := evmwire.Deployment{Version: "v1", RefundHandler: common.HexToAddress(c.Refund),
		EscrowManager: evmwire.Contract{Address: common.HexToAddress(c.Escrow)}, BtcRelay: evmwire.Contract{Address: common.HexToAddress(c.Relay)}}
	d.ClaimHandlers[chains.HTLC] = common.HexToAddress(c.Hash)
	d.ClaimHandlers[chains.Onchain] = common.HexToAddress(c.Chain)
	d.ClaimHandlers[chains.OnchainNonced] = common.HexToAddress(c.ChainNonced)
	return &Chain{World: w, id: id, tokens: all, contract: d, hashes: map[string][]byte{}}
}

// know says which claim hash stands for a payment hash.
func (c *Chain) know(paymentHash string, claimHash []byte) { c.hashes[paymentHash] = claimHash }

// ID implements [chains.Factory].
func (c *Chain) ID() string { return c.id }

// Open implements [chains.Factory].
func (c *Chain) Open(context.Context, chains.Env) (chains.Chain, error) { return c, nil }

// Info implements [chains.Chain].
func (c *Chain) Info() chains.Info {
	both := []chains.Version{{Name: "v1", LPInit: !c.isSolana(), Vaults: !c.isSolana()}, {Name: "v2", LPInit: true, Vaults: true}}
	return chains.Info{ID: c.id, Tokens: c.tokens, Native: c.tokens[0], Versions: both, Default: "v1"}
}

func (c *Chain) isSolana() bool { return c.id == "SOLANA" }

func (c *Chain) isEVM() bool { return c.id != "STARKNET" && c.id != "SOLANA" }

// Address implements [chains.Chain].
func (c *Chain) Address(s string) (string, error) {
	switch c.id {
	case "STARKNET":
		n, ok := new(big.Int).SetString(strings.TrimPrefix(s, "0x"), 16)
		if !ok || !strings.HasPrefix(s, "0x") || n.Sign() <= 0 || n.BitLen() > 252 {
			return "", fault.Invalid("address", "is not a Starknet address")
		}
		return fmt.Sprintf("0x%064x", n), nil
	case "SOLANA":
		if len(base58.Decode(s)) != 32 {
			return "", fault.Invalid("address", "is not a Solana address")
		}
		return s, nil
	}
	return evmwire.Address(s)
}

// TokenAddress implements [chains.Chain].
func (c *Chain) TokenAddress(s string) (string, error) {
	if c.isEVM() {
		return evmwire.TokenAddress(s)
	}
	return c.Address(s)
}

// Contract implements [chains.Chain].
func (c *Chain) Contract(version string) (chains.Contract, bool) {
	switch version {
	case "":
		version = "v1"
	case "v1", "v2":
	default:
		return nil, false
	}
	return &contract{chain: c, version: version}, true
}

// Send implements [chains.Chain]: everything is taken and confirmed at once.
func (c *Chain) Send(_ context.Context, tx chains.Signed) error {
	c.World.mu.Lock()
	defer c.World.mu.Unlock()
	c.World.sent = append(c.World.sent, tx.ID)
	if c.World.OnSend != nil {
		c.World.OnSend(c.World)
	}
	return nil
}

// Status implements [chains.Chain].
func (c *Chain) Status(_ context.Context, txs []chains.Signed) ([]chains.TxStatus, error) {
	c.World.mu.Lock()
	defer c.World.mu.Unlock()
	all := make([]chains.TxStatus, len(txs))
	for i, tx := range txs {
		for _, id := range c.World.sent {
			if id == tx.ID {
				all[i].State = chains.TxConfirmed
			}
		}
		if all[i].State == chains.TxUnknown {
			all[i].State = c.World.state
		}
	}
	return all, nil
}

// TxState makes transactions that were never sent have this state.
func (w *World) TxState(s chains.TxState) { w.Set(func(w *World) { w.state = s }) }

type contract struct {
	chains.VaultContract
	chain   *Chain
	version string
}

func (k *contract) Version() string { return k.version }

// programs are those of Solana's mainnet, in every version.
func (k *contract) programs() wire.Programs {
	n, _ := wire.NetworkFor(bitcoin.Mainnet)
	p := n.Programs[0]
	p.Version = k.version
	return p
}

func (k *contract) Decode(data json.RawMessage) (chains.Escrow, error) {
	if k.chain.isEVM() {
		s, err := evmwire.ParseSwapData(data)
		if err != nil {
			return chains.Escrow{}, err
		}
		e, err := k.chain.contract.Escrow(s)
		e.Version = k.version
		return e, err
	}
	if k.chain.isSolana() {
		d, err := wire.ParseSwapData(data)
		if err != nil {
			return chains.Escrow{}, err
		}
		if err := k.programs().Check(d); err != nil {
			return chains.Escrow{}, err
		}
		return d.Escrow()
	}
	return k.starkEscrow(data)
}

// Expect implements [chains.Contract] for EVM chains and Solana.
func (k *contract) Expect(spec chains.Spec) (chains.Escrow, error) {
	if k.chain.isSolana() {
		d, err := k.programs().Expect(spec)
		if err != nil {
			return chains.Escrow{}, err
		}
		return d.Escrow()
	}
	if !k.chain.isEVM() {
		return chains.Escrow{}, fmt.Errorf("escrows of %s are not built here", k.chain.id)
	}
	s, err := k.chain.contract.Expect(spec)
	if err != nil {
		return chains.Escrow{}, err
	}
	return k.chain.contract.Escrow(s)
}

func (k *contract) Diff(want, got chains.Escrow, may chains.Tolerance) error {
	if k.chain.isEVM() {
		a, err := evmwire.SwapDataOf(want)
		if err != nil {
			return err
		}
		b, err := evmwire.SwapDataOf(got)
		if err != nil {
			return err
		}
		return evmwire.Diff(a, b, may)
	}
	if k.chain.isSolana() {
		a, err := wire.ParseSwapData(want.Data)
		if err != nil {
			return err
		}
		b, err := wire.ParseSwapData(got.Data)
		if err != nil {
			return err
		}
		return wire.Diff(a, b, may)
	}
	for _, m := range []struct {
		name      string
		want, got string
		fine      bool
	}{
		{"offerer", want.Offerer, got.Offerer, false},
		{"claimer", want.Claimer, got.Claimer, false},
		{"token", want.Token, got.Token, false},
		{"kind", want.Kind.String(), got.Kind.String(), false},
		{"claimData", hex.EncodeToString(want.ClaimHash), hex.EncodeToString(got.ClaimHash), false},
		{"payIn", fmt.Sprint(want.PayIn), fmt.Sprint(got.PayIn), false},
		{"payOut", fmt.Sprint(want.PayOut), fmt.Sprint(got.PayOut), false},
		{"depositToken", want.DepositToken, got.DepositToken, false},
		{"sequence", want.Sequence.String(), got.Sequence.String(), may.AnySequence},
		{"expiry", strconv.FormatInt(want.Expiry, 10), strconv.FormatInt(got.Expiry, 10), may.AnyExpiry},
		{"amount", want.Amount.String(), got.Amount.String(), may.AtLeastAmount && got.Amount.Cmp(want.Amount) > 0},
		{"securityDeposit", want.SecurityDeposit.String(), got.SecurityDeposit.String(), may.AtMostDeposits && got.SecurityDeposit.Cmp(want.SecurityDeposit) < 0},
		{"claimerBounty", want.ClaimerBounty.String(), got.ClaimerBounty.String(), may.AtMostDeposits && got.ClaimerBounty.Cmp(want.ClaimerBounty) < 0},
	} {
		if m.want != m.got && !m.fine {
			return &chains.DiffError{Member: m.name, Want: m.want, Got: m.got}
		}
	}
	return nil
}

func (k *contract) ClaimHash(c chains.Condition) ([]byte, error) {
	switch {
	case k.chain.isEVM():
		h, err := k.chain.contract.ClaimHash(c)
		return h[:], err
	case k.chain.isSolana():
		h, err := wire.ClaimHashOf(c)
		return h.Bytes(), err
	case c.Kind == chains.HTLC:
		if h, ok := k.chain.hashes[hex.EncodeToString(c.PaymentHash[:])]; ok {
			return h, nil
		}
		return bytes.Repeat([]byte{0xff}, 32), nil // a hash that no escrow has
	}
	return nil, fault.New(fault.Unsupported, "hashes of %s are not computed here", k.chain.id)
}

func (k *contract) ClaimHashText(hash []byte) string { return hex.EncodeToString(hash) }

// Public returns the chain's form.
func (k *contract) Public(e chains.Escrow) (json.RawMessage, error) {
	if k.chain.isSolana() {
		d, err := wire.ParseSwapData(e.Data)
		if err != nil {
			return nil, err
		}
		return d.Public()
	}
	if !k.chain.isEVM() {
		s, err := starkData(e.Data)
		if err != nil {
			return nil, err
		}
		return s.Public()
	}
	s, err := evmwire.SwapDataOf(e)
	if err != nil {
		return nil, err
	}
	return s.Public()
}

func (k *contract) VerifyInit(context.Context, chains.Escrow, chains.Auth, string, string) (time.Time, error) {
	k.chain.World.mu.Lock()
	defer k.chain.World.mu.Unlock()
	return time.UnixMilli(k.chain.World.InitUntil), k.chain.World.InitErr
}

func (k *contract) VerifyRefund(context.Context, chains.Escrow, chains.Auth) error {
	k.chain.World.mu.Lock()
	defer k.chain.World.mu.Unlock()
	return k.chain.World.RefundErr
}

func (k *contract) Escrows(_ context.Context, queries []chains.EscrowQuery) ([]chains.EscrowFact, error) {
	k.chain.World.mu.Lock()
	defer k.chain.World.mu.Unlock()
	facts := make([]chains.EscrowFact, len(queries))
	for i, q := range queries {
		if k.chain.World.Escrow == nil {
			facts[i].Err = errNoAnswer
			continue
		}
		var err error
		if facts[i], err = k.chain.World.Escrow(q); err != nil {
			facts[i] = chains.EscrowFact{Err: err}
			continue
		}
		if facts[i].Head == (chains.Block{}) {
			facts[i].Head = k.chain.World.Head()
		}
	}
	return facts, nil
}

// Build returns stub names of the steps, as the vectors call them.
func (k *contract) Build(_ context.Context, p chains.Plan) (chains.Unsigned, error) {
	k.chain.World.mu.Lock()
	defer k.chain.World.mu.Unlock()
	if k.chain.World.BuildErr != nil {
		return chains.Unsigned{}, k.chain.World.BuildErr
	}
	u := chains.Unsigned{Signer: p.Signer}
	names := map[chains.StepKind]string{chains.StepInit: "tx:init", chains.StepClaimSecret: "tx:claimWithSecret", chains.StepClaimBitcoin: "tx:claimWithTxData",
		chains.StepRefund: "tx:refundTimelock", chains.StepRefundAuth: "tx:refundCooperative", chains.StepVaultClaim: "tx:claimVault"}
	for _, s := range p.Steps {
		u.Txs = append(u.Txs, names[s.Kind])
	}
	return u, nil
}

// Admit implements [chains.Contract]: everything can be executed.
func (k *contract) Admit(context.Context, chains.Plan, []chains.Signed) error { return nil }

// IDs reads `signed:<id>` and `sc:<id>`.
func (k *contract) IDs(signed []string) ([]string, error) {
	ids := make([]string, len(signed))
	for i, s := range signed {
		id, ok := strings.CutPrefix(strings.Replace(s, "sc:", "signed:", 1), "signed:")
		if !ok {
			return nil, fault.Invalid(fmt.Sprintf("signedTxs[%d]", i), "cannot be decoded")
		}
		ids[i] = id
	}
	return ids, nil
}

// Foreign begins the id of a transaction that was not asked for.
const Foreign = "foreign"

// Check takes every transaction that can be decoded for the plan's steps in
// order, but those that are [Foreign].
func (k *contract) Check(p chains.Plan, signed []string) ([]chains.Signed, error) {
	ids, err := k.IDs(signed)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 { // as every chain says
		return nil, fault.Invalid("signedTxs", "is required and must not be empty")
	}
	all := make([]chains.Signed, len(ids))
	for i, id := range ids {
		if strings.HasPrefix(id, Foreign) {
			return nil, fault.Invalid(fmt.Sprintf("signedTxs[%d]", i), "is not what was asked for")
		}
		all[i] = chains.Signed{ID: id, From: p.Signer, Raw: []byte(id), Step: min(i, len(p.Steps)-1)}
		all[i].Reveals = p.Steps[all[i].Step].Kind == chains.StepClaimSecret
	}
	return all, nil
}

// payout is how the chain writes withdrawals.
func (k *contract) payout() vault.PayoutFormat {
	if k.chain.isEVM() {
		return evmwire.PayoutFormat()
	}
	return vault.PayoutFormat{RecipientLen: 32, LittleEndian: true}
}

func (k *contract) WithdrawalData(recipient string, raw [2]uint64) ([]byte, error) {
	to, err := hex.DecodeString(strings.TrimPrefix(recipient, "0x"))
	if err != nil {
		return nil, fault.Invalid("recipient", "%w", err)
	}
	return k.payout().Encode(vault.Payout{Recipient: to, Raw: raw})
}

func (k *contract) ParseWithdrawal(tx *btcwire.MsgTx) (chains.Withdrawal, error) {
	if k.chain.isEVM() {
		return evmwire.ParseWithdrawal(tx)
	}
	w, err := bitcoin.ParseWithdrawal(tx)
	if err != nil {
		return chains.Withdrawal{}, err
	}
	p, err := k.payout().Decode(w.Payload)
	if err != nil {
		return chains.Withdrawal{}, err
	}
	amounts, err := w.Shares.Amounts(p.Raw)
	return chains.Withdrawal{Withdrawal: w, Recipient: "0x" + hex.EncodeToString(p.Recipient), Raw: p.Raw, Amounts: amounts, Execution: p.ExecutionHash}, err
}

func (k *contract) Vaults(_ context.Context, queries []chains.VaultID) ([]chains.VaultFact, error) {
	k.chain.World.mu.Lock()
	defer k.chain.World.mu.Unlock()
	facts := make([]chains.VaultFact, len(queries))
	for i, q := range queries {
		if facts[i].Head = k.chain.World.Head(); k.chain.World.Vault == nil {
			facts[i].Err = errNoAnswer
			continue
		}
		facts[i].Vault = *k.chain.World.Vault
		facts[i].Vault.VaultID = q
	}
	return facts, nil
}

func (k *contract) Withdrawals(_ context.Context, queries []chains.WithdrawalQuery) ([]chains.WithdrawalFact, error) {
	k.chain.World.mu.Lock()
	defer k.chain.World.mu.Unlock()
	facts := make([]chains.WithdrawalFact, len(queries))
	for i := range queries {
		facts[i] = k.chain.World.Withdrawal
		facts[i].Head = k.chain.World.Head()
	}
	return facts, nil
}

func (k *contract) DryRun(context.Context, [][]byte) error {
	k.chain.World.mu.Lock()
	defer k.chain.World.mu.Unlock()
	return k.chain.World.ParseErr
}

// Bitcoin returns the World's Bitcoin backend.
func (w *World) Bitcoin(on bitcoin.Network) bitcoin.Backend { return backend{World: w, On: on} }
