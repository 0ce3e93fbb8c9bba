package evm

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"testing"

	"github.com/btcsuite/btcd/wire"
	"github.com/ethereum/go-ethereum/common"
	"pgregory.net/rapid"

	"github.com/swapper-go/swapper/chains"
	btc "github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/vault"
	"github.com/swapper-go/swapper/internal/devnet/bitcoin"
	evmwire "github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// vaultKit is a vault with 1 000 000 raw units of a token and 500 000 sats of
// native coin, on a real output of the LP's Bitcoin wallet.
type vaultKit struct {
	kit
	lp, user *bitcoin.Wallet
	vault    evmwire.Vault
}

func newVaultKit(t *testing.T) vaultKit {
	k := vaultKit{kit: newKit(t, Options{})}
	k.lp = trial.Must(k.Bitcoin().NewWallet(btc.P2TR))(t)
	k.user = trial.Must(k.Bitcoin().NewWallet(btc.P2WPKH))(t)
	utxo := trial.Must(k.Bitcoin().Fund(k.lp.Address, 1000))(t)
	k.vault = trial.Must(k.OpenVault(k.ctx, k.LP, 3, k.VaultParams(k.Contracts().Token, 10, 1), utxo, [2]uint64{1_000_000, 500_000}))(t)
	return k
}

// withdraw makes and mines a withdrawal with any OP_RETURN script.
func (k vaultKit) withdraw(script []byte, shares btc.FeeShares) *wire.MsgTx {
	k.Helper()
	paid := trial.Must(k.Bitcoin().Fund(k.user.Address, 50_000))(k.T)
	tx := wire.NewMsgTx(2)
	s0, s1, err := shares.Sequences()
	ok(k.T, err)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: k.vault.UTXO, Sequence: s0})
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: paid, Sequence: s1})
	tx.AddTxOut(wire.NewTxOut(1000, k.lp.Address.Script()))
	tx.AddTxOut(wire.NewTxOut(0, script))
	tx.AddTxOut(wire.NewTxOut(45_000, k.lp.Address.Script()))
	ok(k.T, k.lp.Sign(tx))
	ok(k.T, k.user.Sign(tx))
	trial.Must(k.Bitcoin().Send(tx))(k.T)
	trial.Must(k.Bitcoin().Mine(1))(k.T)
	ok(k.T, k.SyncRelay(k.ctx))
	return tx
}

func (k vaultKit) script(recipient common.Address, raw [2]uint64, execution []byte) []byte {
	k.Helper()
	data := trial.Must(evmwire.PayoutFormat().Encode(vault.Payout{Recipient: recipient[:], Raw: raw, ExecutionHash: execution}))(k.T)
	return trial.Must(rawtx.OpReturn(data))(k.T)
}

// claim builds the claim of a mined withdrawal, whatever the client thinks of it.
func (k vaultKit) claim(tx *wire.MsgTx) evmwire.Call {
	k.Helper()
	w, err := evmwire.ParseWithdrawal(tx)
	if err != nil {
		w = chains.Withdrawal{Withdrawal: btc.Withdrawal{TxID: tx.TxHash()}}
	}
	proof := trial.Must(k.Proof(tx.TxHash(), 0, 1))(k.T)
	call := k.one(k.d.ClaimVault(k.vault, w, proof, k.Watchtower.Address))
	if err != nil {
		call.Gas = 0
	}
	return call
}

func TestVaultPaysAWithdrawal(t *testing.T) {
	t.Parallel()
	k := newVaultKit(t)
	to, token := trial.Must(k.NewAccount())(t).Address, k.Contracts().Token
	tx := k.withdraw(k.script(to, [2]uint64{100_000, 20_000}, nil), btc.FeeShares{Caller: 1000, Fronting: 500, Execution: 300})
	w := trial.Must(evmwire.ParseWithdrawal(tx))(t)
	call := k.claim(tx)
	k.gained(k.Watchtower.Address, token, (1000+500)*10, func() {
		r := trial.Must(k.Watchtower.Send(k.ctx, call))(t)
		t.Logf("claim %d gas of %d", r.GasUsed, call.Gas)
		e, isClaim := k.events(r)[0].(evmwire.VaultClaimEvent)
		if !isClaim || e.BitcoinTx != tx.TxHash() || e.Recipient != to || e.Amounts != w.Amounts.Total || e.Withdrawals != 1 ||
			e.Fronter != (common.Address{}) || e.Owner != k.LP.Address || e.ID.Int64() != 3 || e.Caller != k.Watchtower.Address {
			t.Errorf("event %+v", e)
		}
	})
	if got := k.balance(to, token); got.Int64() != (100_000+300)*10 {
		t.Errorf("token: %s", got)
	}
	if got := k.balance(to, Native); got.Int64() != 20_000*1e10 {
		t.Errorf("native: %s", got)
	}
	before := btc.VaultState{UTXO: k.vault.UTXO, Raw: k.vault.Raw, Withdrawals: k.vault.Withdrawals}
	want := trial.Must(vault.After(before, vault.Pending{Withdrawal: w.Withdrawal, Amounts: w.Amounts}))(t)
	got := trial.Must(k.ReadVault(k.ctx, k.vault))(t)
	if got.UTXO != want.UTXO || got.Raw != want.Raw || got.Withdrawals != want.Withdrawals || got.UTXO != w.NextVault() {
		t.Errorf("vault %+v, want %+v", got, want)
	}
	k.refused("claim: incorrect in_0 utxo", k.Watchtower, call) // once only
	k.vault = got
	next := k.withdraw(k.script(to, [2]uint64{1, 0}, nil), btc.FeeShares{})
	trial.Must(k.Watchtower.Send(k.ctx, k.claim(next)))(t)
}

func TestFronting(t *testing.T) {
	t.Parallel()
	k := newVaultKit(t)
	to, token := trial.Must(k.NewAccount())(t).Address, k.Contracts().Token
	tx := k.withdraw(k.script(to, [2]uint64{100_000, 20_000}, nil), btc.FeeShares{Caller: 1000, Fronting: 500, Execution: 300})
	w := trial.Must(evmwire.ParseWithdrawal(tx))(t)
	fronter := func() common.Address { return trial.Must(k.Fronter(k.ctx, k.vault.VaultRef, w))(t) }
	if fronter() != (common.Address{}) {
		t.Error("fronted by nobody")
	}
	calls := trial.Must(k.FrontVault(k.vault, w, 0))(t)
	short := calls[len(calls)-1]
	short.Value = new(big.Int).Sub(short.Value, big.NewInt(1))
	k.refused("transferIn: value too low", k.User, append(calls[:len(calls)-1:len(calls)-1], short)...)
	k.gained(to, token, (100_000+300)*10, func() {
		r := trial.Must(k.User.SendAll(k.ctx, calls))(t)
		e, isFront := k.events(r)[0].(evmwire.VaultFrontEvent)
		if !isFront || e.Fronter != k.User.Address || e.Recipient != to || e.Amounts != w.Raw || e.BitcoinTx != w.TxID {
			t.Errorf("event %+v", e)
		}
	})
	if fronter() != k.User.Address {
		t.Error("the fronter is not known")
	}
	k.refused("front: already fronted", k.Watchtower, trial.Must(k.FrontVault(k.vault, w, 0))(t)...)

	// The fronter is paid back; the recipient gets nothing twice; the caller keeps the caller fee only.
	k.gained(to, token, 0, func() {
		k.gained(k.Watchtower.Address, token, 1000*10, func() {
			k.gained(k.User.Address, token, (100_000+300+500)*10, func() {
				r := trial.Must(k.Watchtower.Send(k.ctx, k.claim(tx)))(t)
				if e, isClaim := k.events(r)[0].(evmwire.VaultClaimEvent); !isClaim || e.Fronter != k.User.Address {
					t.Errorf("event %+v", e)
				}
			})
		})
	})
	if fronter() != k.User.Address {
		t.Error("the fronter is forgotten after the claim, which the network's contract does not do")
	}
	other := w
	other.Recipient = k.LP.Address.Hex()
	k.refused("front: already claimed", k.User, trial.Must(k.FrontVault(k.vault, other, 0))(t)...)
}

func TestVaultsCloseOverBadWithdrawals(t *testing.T) {
	t.Parallel()
	k := newVaultKit(t)
	to := trial.Must(k.NewAccount())(t).Address
	token := k.Contracts().Token
	tests := []struct {
		name, reason string
		script       []byte
		shares       btc.FeeShares
	}{
		{"too much of token 0", "withdraw: amount 0", k.script(to, [2]uint64{1_000_001, 0}, nil), btc.FeeShares{}},
		{"too much with the fees", "withdraw: amount 0", k.script(to, [2]uint64{1_000_000, 0}, nil), btc.FeeShares{Caller: 1}},
		{"too much of token 1", "withdraw: amount 1", k.script(to, [2]uint64{1, 500_001}, nil), btc.FeeShares{}},
		{"nobody", "parse: zero recipient", k.script(common.Address{}, [2]uint64{1, 0}, nil), btc.FeeShares{}},
		{"no data", "parse: output 1 not op_return", append([]byte{0x51, 28}, make([]byte, 28)...), btc.FeeShares{}},
		{"another length", "parse: output 1 length", trial.Must(rawtx.OpReturn(make([]byte, 29)))(t), btc.FeeShares{}},
		{"overflow", "parse: amount 0 overflow", k.script(to, [2]uint64{math.MaxUint64, 0}, nil), btc.FeeShares{Caller: 1}},
	}
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			k := k
			k.T = t
			utxo := trial.Must(k.Bitcoin().Fund(k.lp.Address, 1000))(t)
			k.vault = trial.Must(k.OpenVault(k.ctx, k.LP, int64(10+i), k.vault.Params, utxo, [2]uint64{1_000_000, 500_000}))(t)
			tx := k.mineRaw(test.script, test.shares)
			k.gained(k.LP.Address, token, 1_000_000*10, func() {
				k.gained(k.LP.Address, Native, 500_000*1e10, func() {
					call := k.claim(tx)
					call.Gas = 0
					r := trial.Must(k.Watchtower.Send(k.ctx, call))(t)
					e, isClose := k.events(r)[0].(evmwire.VaultCloseEvent)
					if !isClose || string(e.Reason) != test.reason || e.BitcoinTx != tx.TxHash() {
						t.Errorf("event %+v %s", e, e.Reason)
					}
				})
			})
			if _, err := k.ReadVault(k.ctx, k.vault); err == nil {
				t.Error("the vault is still open")
			}
			k.refused("vault: params commitment", k.LP, trial.Must(k.FillVault(k.vault, [2]uint64{1, 0}))(t)...)
			// It can be opened again.
			trial.Must(k.OpenVault(k.ctx, k.LP, int64(10+i), k.vault.Params, utxo, [2]uint64{5, 5}))(t)
		})
	}
}

// mineRaw is withdraw for scripts that nodes do not relay.
func (k vaultKit) mineRaw(script []byte, shares btc.FeeShares) *wire.MsgTx {
	k.Helper()
	paid := trial.Must(k.Bitcoin().Fund(k.user.Address, 50_000))(k.T)
	tx := wire.NewMsgTx(2)
	s0, s1, err := shares.Sequences()
	ok(k.T, err)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: k.vault.UTXO, Sequence: s0})
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: paid, Sequence: s1})
	tx.AddTxOut(wire.NewTxOut(1000, k.lp.Address.Script()))
	tx.AddTxOut(wire.NewTxOut(0, script))
	ok(k.T, k.lp.Sign(tx))
	ok(k.T, k.user.Sign(tx))
	trial.Must(k.Bitcoin().Mine(2))(k.T) // the outputs that it spends lie below the branch
	ok(k.T, k.Bitcoin().Reorg(1, tx))
	ok(k.T, k.SyncRelay(k.ctx))
	return tx
}

func TestVaultClaimsAreGuarded(t *testing.T) {
	t.Parallel()
	k := newVaultKit(t)
	tx := k.withdraw(k.script(k.User.Address, [2]uint64{10, 0}, nil), btc.FeeShares{})
	w := trial.Must(evmwire.ParseWithdrawal(tx))(t)
	proof := trial.Must(k.Proof(tx.TxHash(), 0, 1))(t)
	attack := func(reason string, change func(v *evmwire.Vault, p *evmwire.BitcoinProof)) {
		t.Helper()
		v, p := k.vault, proof
		p.Merkle.Hashes = append([]btc.Hash(nil), proof.Merkle.Hashes...)
		change(&v, &p)
		k.refused(reason, k.Watchtower, k.one(k.d.ClaimVault(v, w, p, k.Watchtower.Address)))
	}
	attack("vault: params commitment", func(v *evmwire.Vault, p *evmwire.BitcoinProof) { v.Params.Confirmations = new(big.Int) })
	attack("vault: params commitment", func(v *evmwire.Vault, p *evmwire.BitcoinProof) { v.Params.Token0Multiplier = big.NewInt(1000) })
	attack("vault: params commitment", func(v *evmwire.Vault, p *evmwire.BitcoinProof) { v.ID = big.NewInt(4) })
	attack("vault: params commitment", func(v *evmwire.Vault, p *evmwire.BitcoinProof) { v.Owner = k.User.Address })
	attack("merkleTree: verify failed", func(v *evmwire.Vault, p *evmwire.BitcoinProof) { p.Merkle.Hashes[0][3] ^= 1 })
	attack("merkleTree: verify failed", func(v *evmwire.Vault, p *evmwire.BitcoinProof) { p.Merkle.Pos ^= 1 })
	attack("verify: block commitment", func(v *evmwire.Vault, p *evmwire.BitcoinProof) { p.Header[100] ^= 1 })
	attack("merkleTree: verify failed", func(v *evmwire.Vault, p *evmwire.BitcoinProof) {
		p.Header = trial.Must(k.StoredHeader(k.headers.Height))(t)
	})

	params := k.VaultParams(k.Contracts().Token, 10, 6)
	deep := trial.Must(k.OpenVault(k.ctx, k.LP, 77, params, k.vault.UTXO, [2]uint64{100, 0}))(t)
	k.refused("claim: confirmations", k.Watchtower, k.one(k.d.ClaimVault(deep, w, proof, k.Watchtower.Address)))
	again := deep
	again.Opened, again.InitialUTXO = false, k.vault.UTXO
	k.refused("open: vault already opened", k.LP, k.one(k.openVault(again)))
	fill := trial.Must(k.FillVault(k.vault, [2]uint64{0, 5}))(t)
	fill[0].Value = big.NewInt(5*1e10 - 1)
	k.refused("transferIn: value too low", k.User, fill...)
}

// A recipient that cannot be paid loses the payout; the vault goes on.
func TestVaultsCannotBeBlocked(t *testing.T) {
	t.Parallel()
	k := newVaultKit(t)
	token := k.Contracts().Token
	wallet := trial.Must(k.Deploy(k.ctx, "ContractWallet", k.User.Address))(t)
	trial.Must(k.User.Send(k.ctx, k.one(CallOf("TestToken", token, "refuse", wallet, true))))(t)
	tx := k.withdraw(k.script(wallet, [2]uint64{100, 20}, nil), btc.FeeShares{})
	call := k.claim(tx)
	call.Gas = 0
	r := trial.Must(k.Watchtower.Send(k.ctx, call))(t)
	if _, isClaim := k.events(r)[0].(evmwire.VaultClaimEvent); !isClaim {
		t.Error("not claimed")
	}
	if got := k.balance(wallet, token); got.Sign() != 0 {
		t.Errorf("paid %s to an account that the token refuses", got)
	}
	if got := k.balance(wallet, k.Contracts().Wrapped); got.Int64() != 20*1e10 {
		t.Errorf("wrapped %s", got)
	}
}

// Tokens for a contract call wait in the execution contract, and their owner can take them.
func TestWithdrawalsWithExecution(t *testing.T) {
	t.Parallel()
	k := newVaultKit(t)
	token := k.Contracts().Token
	action := common.Hash{1, 2, 3}
	tx := k.withdraw(k.script(k.User.Address, [2]uint64{100_000, 20}, action[:]), btc.FeeShares{Execution: 1000})
	w := trial.Must(evmwire.ParseWithdrawal(tx))(t)
	call := k.claim(tx)
	k.gained(k.d.Execution, token, (100_000+1000)*10, func() {
		r := trial.Must(k.Watchtower.Send(k.ctx, call))(t)
		t.Logf("claim %d gas of %d", r.GasUsed, call.Gas)
	})
	key := append(k.LP.Address[:], common.LeftPadBytes([]byte{3}, 12)...)
	id := trial.Must(frontingID(w))(t)
	creator := crypto256(key, id[:])
	salt := crypto256(common.LeftPadBytes(k.d.VaultManager.Address[:], 32), creator[:])
	type execution struct {
		Token               common.Address
		ExecutionActionHash common.Hash
		Amount              *big.Int
		ExecutionFee        *big.Int
		Expiry              *big.Int
	}
	e := execution{token, action, big.NewInt(1e6), big.NewInt(1e4), big.NewInt(int64(w.ExecutionExpiry))}
	k.gained(k.User.Address, token, 1e6+1e4, func() {
		trial.Must(k.User.Send(k.ctx, k.one(CallOf("ExecutionContract", k.d.Execution, "refund", salt, e))))(t)
	})
}

// The contract reads withdrawals as the client does, and refuses no more than the client.
func TestWithdrawalsAreReadAlike(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{Manual: true})
	a := trial.Must(loadArtifact("VaultManager"))(t)
	type vaultTx struct {
		Recipient                  common.Address
		Amount0, Amount1           uint64
		CallerFee0, CallerFee1     uint64
		FrontingFee0, FrontingFee1 uint64
		ExecutionHandlerFeeAmount0 uint64
		ExecutionHash              common.Hash
		ExecutionExpiry            *big.Int
	}
	rapid.Check(t, func(r *rapid.T) {
		tx := randomWithdrawal(r)
		var raw bytes.Buffer
		ok(t, tx.SerializeNoWitness(&raw))
		answer, refused := k.Read(k.ctx, k.User.Address, evmwire.Call{To: k.d.VaultManager.Address, Data: trial.Must(evmwire.ParseCall(raw.Bytes()))(t)})
		w, err := evmwire.ParseWithdrawal(tx)
		if refused != nil {
			if err == nil {
				r.Fatalf("the contract refuses (%v) what the client accepts", refused)
			}
			return
		}
		var answered struct{ Data vaultTx }
		m := a.ABI.Methods["parseBitcoinTx"]
		ok(t, m.Outputs.Copy(&answered, trial.Must(m.Outputs.Unpack(answer))(t)))
		got := answered.Data
		if err != nil {
			strict := tx.TxIn[0].Sequence>>31 == 0 || tx.TxIn[1].Sequence>>31 == 0 || tx.LockTime > math.MaxUint32-1_000_000_000
			script := tx.TxOut[1].PkScript
			if !strict && int(script[1]) == len(script)-2 {
				r.Fatalf("the client refuses (%v) what the contract takes as %+v", err, got)
			}
			return
		}
		x := w.Amounts
		want := vaultTx{common.HexToAddress(w.Recipient), w.Raw[0], w.Raw[1], x.Caller[0], x.Caller[1], x.Fronting[0], x.Fronting[1],
			x.Execution, common.BytesToHash(w.Execution), new(big.Int).SetUint64(uint64(w.ExecutionExpiry))}
		if got.ExecutionExpiry.Cmp(want.ExecutionExpiry) != 0 {
			r.Fatalf("expiry %s, want %s", got.ExecutionExpiry, want.ExecutionExpiry)
		}
		got.ExecutionExpiry, want.ExecutionExpiry = nil, nil
		if got != want {
			r.Fatalf("the contract reads %+v, the client %+v", got, want)
		}
	})
}

func randomWithdrawal(r *rapid.T) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	tx.LockTime = rapid.Uint32().Draw(r, "lock time")
	for range rapid.IntRange(1, 4).Draw(r, "inputs") {
		tx.AddTxIn(&wire.TxIn{Sequence: rapid.Uint32().Draw(r, "sequence") | 1<<31*rapid.SampledFrom([]uint32{0, 1, 1, 1}).Draw(r, "bit 31"),
			SignatureScript: rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(r, "script")})
	}
	amount := func() []byte {
		all := rapid.OneOf(rapid.Uint64Range(0, 1e12), rapid.Uint64())
		return binary.BigEndian.AppendUint64(nil, all.Draw(r, "amount"))
	}
	outputs := rapid.IntRange(1, 4).Draw(r, "outputs")
	for i := range outputs {
		script := rapid.SliceOfN(rapid.Byte(), 0, 80).Draw(r, "output")
		if i == 1 && rapid.IntRange(0, 9).Draw(r, "valid") > 0 {
			data := rapid.SampledFrom([][]byte{bytes.Repeat([]byte{7}, 20), make([]byte, 20), bytes.Repeat([]byte{0xff}, 20)}).Draw(r, "recipient")
			data = append(bytes.Clone(data), amount()...)
			if rapid.Bool().Draw(r, "second") {
				data = append(data, amount()...)
			}
			if rapid.Bool().Draw(r, "execution") {
				data = append(data, bytes.Repeat([]byte{9}, 32)...)
			}
			script = append([]byte{0x6a, byte(len(data))}, data...)
		}
		tx.AddTxOut(wire.NewTxOut(int64(rapid.Uint32().Draw(r, "value")), script))
	}
	return tx
}
