package devnet

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math/big"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	btc "github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/async"
	btcpsbt "github.com/swapper-go/swapper/internal/btc/psbt"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/single"
	"github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	lpwire "github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/trial"
)

func TestNetworkStartsAndCloses(t *testing.T) {
	t.Parallel()
	began := time.Now()
	k := newKit(t, Options{LPs: 2})
	t.Logf("ready after %v", time.Since(began))
	infos := map[string]bool{}
	for _, url := range k.LPURLs() {
		info := trial.Must(k.client.Info(k.ctx, url))(t)
		k.ok(k.chain.VerifyData(k.ctx, info.Chains[0].Address, info.Envelope, info.Chains[0].Signature))
		infos[info.Chains[0].Address] = true
	}
	if len(infos) != 2 {
		t.Errorf("LPs share an account: %v", infos)
	}
	before := k.EVM.Time()
	k.ok(k.Advance(time.Hour))
	if moved := k.EVM.Time().Sub(before); moved < time.Hour-2*evm.Drift {
		t.Errorf("chain time moved by %v", moved)
	}
	if d := k.Describe(); len(d.LPs) != 2 || d.Users.Bitcoin.Key == "" || len(d.Prices) == 0 {
		t.Errorf("%+v", d)
	}
}

func (k *kit) toBTC() lpwire.ToBTCRequest {
	return lpwire.ToBTCRequest{Chain: k.chain.Info().ID, Address: k.Taproot.Address.String(), Amount: big.NewInt(100_000), ConfirmationTarget: 3, Confirmations: 2,
		Nonce: trial.Must(rawtx.NewNonce(k.Clock.Now(), uint32(time.Now().UnixNano())))(k.T), Token: k.EVM.Contracts().Token.Hex(), Offerer: k.user}
}

func TestToBTC(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	for _, exactIn := range []bool{false, true} {
		r := k.toBTC()
		r.ExactIn = exactIn
		q := trial.Must(k.client.ToBTC(k.ctx, k.url, r, lpwire.Early{}))(t)
		e := k.escrow(q.Escrow)
		trial.Must(k.contract.VerifyInit(k.ctx, e, q.Auth, "", k.user))(t)
		token := k.EVM.Contracts().Token
		paid, got, funds := k.balance(k.EVM.User.Address, token), k.Taproot.Balance(), k.funds(token)
		k.do(chains.Step{Kind: chains.StepInit, Escrow: e, Auth: q.Auth})
		k.eventually("bitcoin sent", func() bool { return k.Taproot.Balance() == got+q.Amount.Int64() })
		s := k.status(lpwire.ToBTC, lpwire.GetRefundAuthorization, k.contract.ClaimHashText(e.ClaimHash), e.Sequence)
		if s.Code != lpwire.CodePaid {
			t.Errorf("%+v", s)
		}
		tx := trial.Must(single.Tx(k.ctx, k.backend, trial.Must(btc.ParseHash(s.TxID))(t)))(t)
		if nonce := trial.Must(rawtx.TxNonce(tx.Msg, true))(t); nonce != r.Nonce {
			t.Errorf("nonce %d, want %d", nonce, r.Nonce)
		}
		k.ok(k.Mine(1))
		time.Sleep(100 * time.Millisecond)
		if k.fact(e).State != chains.EscrowOpen {
			t.Error("claimed with too few confirmations")
		}
		k.ok(k.Mine(1))
		k.eventually("claimed", func() bool { return k.fact(e).State == chains.EscrowClaimed })
		total := q.Total.Int64()
		if gained(k.balance(k.EVM.User.Address, token), paid) != -total || gained(k.funds(token), funds) != total {
			t.Errorf("exact in %v: the user paid %d, the LP got %d, agreed %d", exactIn, -gained(k.balance(k.EVM.User.Address, token), paid), gained(k.funds(token), funds), total)
		}
	}
}

func (k *kit) toBTCLN(text string) lpwire.ToBTCLNRequest {
	return lpwire.ToBTCLNRequest{Chain: k.chain.Info().ID, Invoice: text, MaxFee: big.NewInt(100), Expiry: k.Clock.Now().Unix() + 432_000,
		Token: k.EVM.Contracts().Token.Hex(), Offerer: k.user}
}

func (k *kit) invoice(name string, sats int64) (text string, hash [32]byte) {
	k.Helper()
	preimage, hash := lightning.Preimage(k.Name() + name)
	return trial.Must(k.Recipient.NewInvoice(lightning.InvoiceOptions{Preimage: preimage, AmountMsat: sats * 1000}))(k.T), hash
}

func TestToBTCLN(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	token := k.EVM.Contracts().Token
	finish := func(q lpwire.ToBTCLNQuote, hash [32]byte, sats int64) {
		t.Helper()
		e := k.escrow(q.Escrow)
		trial.Must(k.contract.VerifyInit(k.ctx, e, q.Auth, "", k.user))(t)
		got, node, funds := k.Recipient.BalanceSats(), k.lp().Node().BalanceSats(), k.funds(token)
		k.do(chains.Step{Kind: chains.StepInit, Escrow: e, Auth: q.Auth})
		k.eventually("claimed", func() bool { return k.fact(e).State == chains.EscrowClaimed })
		if k.Recipient.BalanceSats() != got+sats || k.lp().Node().BalanceSats() != node-sats || gained(k.funds(token), funds) != q.Total.Int64() {
			t.Errorf("recipient %d, node %d, LP %d", k.Recipient.BalanceSats()-got, k.lp().Node().BalanceSats()-node, gained(k.funds(token), funds))
		}
		s := k.status(lpwire.ToBTCLN, lpwire.GetRefundAuthorization, hex.EncodeToString(hash[:]), e.Sequence)
		if s.Code != lpwire.CodePaid || sha256.Sum256(s.Secret) != hash {
			t.Errorf("%+v", s)
		}
	}
	text, hash := k.invoice("exact out", 50_000)
	finish(trial.Must(k.client.ToBTCLN(k.ctx, k.url, k.toBTCLN(text), lpwire.Early{}))(t), hash, 50_000)

	dummy, _ := k.invoice("dummy", 10_000)
	p := trial.Must(k.client.PrepareToBTCLN(k.ctx, k.url, lpwire.PrepareToBTCLNRequest{Chain: k.chain.Info().ID, Invoice: dummy,
		Amount: big.NewInt(40_000), MaxFee: big.NewInt(200), Expiry: k.Clock.Now().Unix() + 432_000, Token: token.Hex(), Offerer: k.user}, lpwire.Early{}))(t)
	text, hash = k.invoice("exact in", p.Amount.Int64())
	q := trial.Must(k.client.ToBTCLNExactIn(k.ctx, k.url, lpwire.ToBTCLNExactInRequest{Invoice: text, ReqID: p.ReqID}, lpwire.Early{}))(t)
	if q.Total.Int64() != 40_000 {
		t.Errorf("total %d", q.Total)
	}
	finish(q, hash, p.Amount.Int64())
}

func TestCooperativeRefund(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	token := k.EVM.Contracts().Token
	for _, name := range []string{"on-chain", "lightning"} {
		before := k.balance(k.EVM.User.Address, token)
		var e chains.Escrow
		var auth chains.Auth
		service, id := lpwire.ToBTC, ""
		if name == "on-chain" {
			k.lp().Misbehave(lp.Fault{NotPayable: true})
			q := trial.Must(k.client.ToBTC(k.ctx, k.url, k.toBTC(), lpwire.Early{}))(t)
			e, auth = k.escrow(q.Escrow), q.Auth
			id = k.contract.ClaimHashText(e.ClaimHash)
		} else {
			k.lp().Misbehave(lp.Fault{})
			text, hash := k.invoice("", 20_000)
			q := trial.Must(k.client.ToBTCLN(k.ctx, k.url, k.toBTCLN(text), lpwire.Early{}))(t)
			e, auth, service, id = k.escrow(q.Escrow), q.Auth, lpwire.ToBTCLN, hex.EncodeToString(hash[:])
			k.Recipient.SetBehaviour(lightning.Behaviour{Refuse: true})
		}
		if s := k.status(service, lpwire.GetRefundAuthorization, id, e.Sequence); s.Code != lpwire.CodeNotFound {
			t.Errorf("%s: before it is opened: %+v", name, s)
		}
		k.do(chains.Step{Kind: chains.StepInit, Escrow: e, Auth: auth})
		var s lpwire.Status
		k.eventually("refund", func() bool {
			s = k.status(service, lpwire.GetRefundAuthorization, id, e.Sequence)
			return s.Code == lpwire.CodeRefund
		})
		k.ok(k.contract.VerifyRefund(k.ctx, e, *s.Auth))
		k.do(chains.Step{Kind: chains.StepRefundAuth, Escrow: e, Auth: *s.Auth})
		if k.fact(e).State != chains.EscrowRefunded || k.balance(k.EVM.User.Address, token).Cmp(before) != 0 {
			t.Errorf("%s: the money is not back", name)
		}
	}
}

func (k *kit) auto(preimage string, recipient string) (lpwire.FromBTCLNAutoRequest, [32]byte) {
	secret, hash := lightning.Preimage(k.Name() + preimage)
	return lpwire.FromBTCLNAutoRequest{Chain: k.chain.Info().ID, PaymentHash: hex.EncodeToString(hash[:]), Amount: big.NewInt(100_000), Claimer: recipient,
		Token: k.EVM.Contracts().Token.Hex(), GasToken: evm.Native.Hex(), GasAmount: big.NewInt(1e14), ClaimerBounty: async.Known(big.NewInt(1e13))}, secret
}

func TestFromBTCLNAuto(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	r, secret := k.auto("", k.user)
	q := trial.Must(k.client.FromBTCLNAuto(k.ctx, k.url, r, lpwire.Early{}))(t)
	if got := k.status(lpwire.FromBTCLNAuto, lpwire.GetInvoiceStatus, r.PaymentHash, nil).Code; got != lpwire.CodeUnpaid {
		t.Errorf("code %d", got)
	}
	token := k.EVM.Contracts().Token
	before, funds, node, payer := k.balance(k.EVM.User.Address, token), k.funds(token), k.lp().Node().BalanceSats(), k.Payer.BalanceSats()
	k.ok(k.Payer.Start(q.Invoice, lightning.Limits{}))
	var s lpwire.Status
	k.eventually("escrow", func() bool {
		s = k.status(lpwire.FromBTCLNAuto, lpwire.GetInvoiceStatus, r.PaymentHash, nil)
		return s.Code == lpwire.CodeDone
	})
	e := k.escrow(s.Escrow)
	k.eventually("opened", func() bool { return k.fact(e).State == chains.EscrowOpen })
	if e.Claimer != k.user || e.Amount.Cmp(q.Total) != 0 || e.ClaimerBounty.Int64() != 1e13 || e.SecurityDeposit.Int64() != 11e13 || !e.PayOut || e.PayIn {
		t.Errorf("%+v", e)
	}
	k.do(chains.Step{Kind: chains.StepClaimSecret, Escrow: e, Preimage: secret})
	k.eventually("settled", func() bool { return k.lp().Node().BalanceSats() == node+100_000 })
	if gained(k.balance(k.EVM.User.Address, token), before) != q.Total.Int64() || gained(k.funds(token), funds) != -q.Total.Int64() || k.Payer.BalanceSats() != payer-100_000 {
		t.Errorf("the user got %d, the LP gave %d, agreed %d", gained(k.balance(k.EVM.User.Address, token), before), gained(k.funds(token), funds), q.Total)
	}
	k.eventually("known as paid", func() bool {
		return k.status(lpwire.FromBTCLNAuto, lpwire.GetInvoiceStatus, r.PaymentHash, nil).Code == lpwire.CodeSettled
	})
}

func TestTrustedGasSwap(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	to := k.recipient().Address
	q := trial.Must(k.client.TrustedLN(k.ctx, k.url, lpwire.TrustedRequest{Chain: k.chain.Info().ID, Address: to.Hex(), Amount: big.NewInt(1e14), Token: evm.Native.Hex()}))(t)
	k.ok(k.Payer.Start(q.Invoice, lightning.Limits{}))
	k.eventually("paid", func() bool { return k.balance(to, evm.Native).Int64() == 1e14 && q.Total.Int64() == 1e14 })
}

func (k *kit) spv(recipient string) lpwire.SPVRequest {
	return lpwire.SPVRequest{Chain: k.chain.Info().ID, Address: recipient, Amount: async.Known(big.NewInt(200_000)), Token: k.EVM.Contracts().Token.Hex(),
		GasAmount: big.NewInt(1e15), GasToken: evm.Native.Hex(), CallerFeeRate: async.Known(big.NewInt(20))}
}

// withdrawal builds and signs what a quote asks for.
func (k *kit) withdrawal(q lpwire.SPVQuote, recipient string) []byte {
	k.Helper()
	v := trial.Must(k.contract.Vaults(k.ctx, []chains.VaultID{{Owner: q.Address, ID: q.VaultID}}))(k.T)[0].Vault
	raw := [2]uint64{new(big.Int).Quo(q.Total, v.Multipliers[0]).Uint64(), new(big.Int).Quo(q.TotalGas, v.Multipliers[1]).Uint64()}
	data := trial.Must(k.contract.WithdrawalData(recipient, raw))(k.T)
	script := trial.Must(rawtx.OpReturn(data))(k.T)
	utxo := trial.Must(btc.ParseOutPoint(q.BTCUTXO))(k.T)
	vaultAddress := trial.Must(btc.ParseAddress(q.VaultBTCAddress, k.Bitcoin.Network()))(k.T)
	lpAddress := trial.Must(btc.ParseAddress(q.BTCAddress, k.Bitcoin.Network()))(k.T)
	s0, s1, err := btc.FeeShares{Caller: uint32(q.CallerFeeShare.Uint64())}.Sequences()
	k.ok(err)
	coin := k.Wallet.Coins()[0]
	tx := wire.NewMsgTx(2)
	tx.LockTime = btcpsbt.VaultLockTime(7)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: utxo, Sequence: s0})
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: coin.OutPoint, Sequence: s1})
	tx.AddTxOut(wire.NewTxOut(600, vaultAddress.Script()))
	tx.AddTxOut(wire.NewTxOut(0, script))
	tx.AddTxOut(wire.NewTxOut(q.BTCAmount.Int64(), lpAddress.Script()))
	tx.AddTxOut(wire.NewTxOut(coin.Value-q.BTCAmount.Int64()-2000, k.Wallet.Address.Script()))
	k.ok(k.Wallet.Sign(tx))
	witness := tx.TxIn[1].Witness
	tx.TxIn[1].Witness = nil
	p := trial.Must(psbt.NewFromUnsignedTx(tx))(k.T)
	p.Inputs[0].WitnessUtxo = wire.NewTxOut(600, vaultAddress.Script())
	p.Inputs[1].WitnessUtxo = wire.NewTxOut(coin.Value, k.Wallet.Address.Script())
	var b bytes.Buffer
	k.ok(psbt.WriteTxWitness(&b, witness))
	p.Inputs[1].FinalScriptWitness = b.Bytes()
	var raws bytes.Buffer
	k.ok(p.Serialize(&raws))
	return raws.Bytes()
}

func TestSPVFromBTC(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	token := k.EVM.Contracts().Token
	lpSats := k.lp().Wallet().Balance()
	for range 2 { // the second one spends what the first one left
		to := k.recipient().Address
		q := trial.Must(k.client.SPV(k.ctx, k.url, k.spv(to.Hex())))(t)
		id := trial.Must(btc.ParseHash(trial.Must(k.client.PostSPV(k.ctx, k.url, k.chain.Info().ID, q.QuoteID, k.withdrawal(q, to.Hex())))(t)))(t)
		if _, err := k.client.SPV(k.ctx, k.url, k.spv(to.Hex())); err == nil {
			t.Error("a vault is offered whose output is in no block")
		}
		k.ok(k.Mine(2))
		k.do(chains.Step{Kind: chains.StepVaultClaim, Vault: &chains.VaultPayment{Owner: q.Address, ID: q.VaultID, TxID: id}})
		if got := k.balance(to, token); got.Cmp(q.Total) != 0 || q.Total.Sign() <= 0 {
			t.Errorf("got %d, agreed %d", got, q.Total)
		}
		if got := k.balance(to, evm.Native); got.Int64() != 1e15 || q.TotalGas.Int64() != 1e15 {
			t.Errorf("gas %d", got)
		}
		lpSats += q.BTCAmount.Int64()
		if got := k.lp().Wallet().Balance(); got != lpSats {
			t.Errorf("the LP has %d sats, not %d", got, lpSats)
		}
	}
}

func TestLPClaimsWhenTooMuchWaits(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{LP: func(_ int, o *lp.Options) { o.Unclaimed = 2 }})
	to := k.recipient().Address
	var want int64
	for range 2 {
		q := trial.Must(k.client.SPV(k.ctx, k.url, k.spv(to.Hex())))(t)
		trial.Must(k.client.PostSPV(k.ctx, k.url, k.chain.Info().ID, q.QuoteID, k.withdrawal(q, to.Hex())))(t)
		k.ok(k.Mine(2))
		want += q.Total.Int64()
	}
	k.eventually("claimed", func() bool { return k.balance(to, k.EVM.Contracts().Token).Int64() == want })
}
