package lp_test

import (
	"bytes"
	"encoding/hex"
	"math/big"
	"sync/atomic"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil/psbt"
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	btc "github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/async"
	btcpsbt "github.com/swapper-go/swapper/internal/btc/psbt"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	devstarknet "github.com/swapper-go/swapper/internal/devnet/starknet"
	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	lpwire "github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/lphttp"
	starkwire "github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// starknet is an LP on Starknet alone, and a user.
type starknet struct {
	*kit
	net      *devstarknet.Net
	d        starkwire.Deployment
	user, me *contracts.Party // the user, the LP
	token    starkwire.Felt
	ahead    atomic.Int64
}

const starknetRate = "1,4000000000,1;v3"

func newStarknet(t *testing.T) *starknet {
	t.Helper()
	s := &starknet{kit: &kit{T: t, ctx: t.Context()}, token: devstarknet.WBTC}
	s.net = trial.Must(devstarknet.Start(devstarknet.Options{Now: s.now}))(t)
	t.Cleanup(func() { s.net.Close() })
	n := s.net.Bitcoin()
	s.d = s.net.Deployment()
	s.me, s.user = s.net.Party(s.net.LP), s.net.Party(s.net.User)
	s.ln = lightning.New(lightning.Options{Now: s.now, Height: func() uint32 { h, _ := n.Tip(); return h }})
	s.payer = trial.Must(s.ln.NewNode("payer", 10_000_000))(t)
	s.lp = trial.Must(lp.Start(t.Context(), lp.Options{Starknet: s.me, Lightning: trial.Must(s.ln.NewNode("lp", 100_000_000))(t), Now: s.now}))(t)
	t.Cleanup(func() {
		if err := s.lp.Close(); err != nil {
			t.Error(err)
		}
	})
	s.wallet = trial.Must(n.NewWallet(btc.P2WPKH))(t)
	if _, err := n.Faucet(s.wallet.Address, 10_000_000); err != nil {
		t.Fatal(err)
	}
	s.mine(1)
	s.client = lphttp.NewClient(lphttp.Options{AllowLocal: true, Now: s.now})
	return s
}

func (s *starknet) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *starknet) now() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }

// advance moves all clocks.
func (s *starknet) advance(d time.Duration) {
	s.Helper()
	s.ahead.Add(int64(d))
	s.ln.Tick()
	s.net.Mine(1)
}

func (s *starknet) mine(blocks int) {
	s.Helper()
	if _, err := s.net.Bitcoin().Mine(blocks); err != nil {
		s.Fatal(err)
	}
}

func (s *starknet) data(raw []byte) starkwire.SwapData {
	s.Helper()
	return trial.Must(starkwire.ParseSwapData(raw))(s.T)
}

// signed is whether an account signed what is asked.
func (s *starknet) signed(q starkwire.SignatureCheck) bool {
	s.Helper()
	answer := trial.Must(s.net.Call(q.Account, "is_valid_signature", q.Calldata()...))(s.T)
	return trial.Must(starkwire.ReadSignatureAnswer(answer))(s.T)
}

// open opens an LP's escrow as the user.
func (s *starknet) open(d starkwire.SwapData, auth chains.Auth) {
	s.Helper()
	q := trial.Must(s.net.Network().CheckInit(d, auth, s.user.Address(), s.now(), s.net.Head().Time))(s.T)
	if !s.signed(q) {
		s.Fatal("the LP did not sign")
	}
	calls := trial.Must(s.d.Init(d, s.user.Address(), auth))(s.T)
	trial.Must(s.net.User.Send(s.ctx, calls...))(s.T)
}

func (s *starknet) state(d starkwire.SwapData) chains.EscrowState {
	s.Helper()
	hash := trial.Must(d.EscrowHash())(s.T)
	return trial.Must(s.user.Facts(hash))(s.T)[0].State
}

func (s *starknet) becomes(d starkwire.SwapData, want chains.EscrowState) {
	s.Helper()
	s.eventually(want.String(), func() bool { return s.state(d) == want })
}

// tokens are the user's WBTC.
func (s *starknet) tokens() int64 {
	s.Helper()
	return trial.Must(s.net.Balance(s.token, s.user.Address()))(s.T).Int64()
}

func (s *starknet) funds() int64 {
	s.Helper()
	return trial.Must(s.me.Funds(s.token))(s.T).Int64()
}

func (s *starknet) status(service lpwire.Service, endpoint string, id []byte, sequence uint64) lpwire.Status {
	s.Helper()
	return trial.Must(s.client.Status(s.ctx, lpwire.StatusQuery{URL: s.lp.URL() + service.Path(), Endpoint: endpoint, ID: hex.EncodeToString(id),
		Sequence: new(big.Int).SetUint64(sequence)}))(s.T)
}

func (s *starknet) toBTC() lpwire.ToBTCQuote {
	s.Helper()
	return trial.Must(s.client.ToBTC(s.ctx, s.lp.URL(), lpwire.ToBTCRequest{Chain: "STARKNET", Address: s.wallet.Address.String(), Amount: big.NewInt(100_000),
		ConfirmationTarget: 3, Confirmations: 2, Nonce: trial.Must(rawtx.NewNonce(s.now(), uint32(time.Now().UnixNano())))(s.T), Token: starkwire.Hex64(s.token),
		Offerer: starkwire.Hex64(s.user.Address()), FeeRate: async.Known(starknetRate)}, lpwire.Early{}))(s.T)
}

func TestInfoOnStarknet(t *testing.T) {
	t.Parallel()
	s := newStarknet(t)
	check := func() bool {
		info := trial.Must(s.client.Info(s.ctx, s.lp.URL()))(t)
		c := info.Chains[0]
		if c.Chain != "STARKNET" || c.Version != "v1" || c.Address != starkwire.Hex64(s.me.Address()) {
			t.Errorf("%+v", c)
		}
		for _, service := range []lpwire.Service{lpwire.ToBTC, lpwire.ToBTCLN, lpwire.FromBTCLNAuto, lpwire.SPVFromBTC} {
			if _, ok := info.Services[service]; !ok {
				t.Errorf("%s is not announced", service)
			}
		}
		if _, ok := info.Services[lpwire.FromBTC]; ok {
			t.Error("FROM_BTC is announced beside vaults")
		}
		return s.signed(trial.Must(s.net.Network().CheckData(s.me.Address(), info.Envelope, c.Signature))(t))
	}
	if !check() {
		t.Error("the LP's signature is not the LP's")
	}
	s.lp.Misbehave(lp.Fault{StrangeInfo: true})
	if check() {
		t.Error("a stranger's signature is good")
	}
}

func TestToBTCFromStarknet(t *testing.T) {
	t.Parallel()
	s := newStarknet(t)
	q := s.toBTC()
	d := s.data(q.Escrow)
	got, paid, funds := s.wallet.Balance(), s.tokens(), s.funds()
	if late := q.Auth.Timeout - s.now().Unix(); late < 50 || late > 60 {
		t.Errorf("the authorisation is good for %d s", late)
	}
	s.open(d, q.Auth)
	s.eventually("bitcoin sent", func() bool { return s.wallet.Balance() == got+100_000 })
	id := d.ClaimData.Bytes()
	if status := s.status(lpwire.ToBTC, lpwire.GetRefundAuthorization, id[:], d.Sequence); status.Code != lpwire.CodePaid {
		t.Errorf("%+v", status)
	}
	s.mine(2)
	s.becomes(d, chains.EscrowClaimed)
	if total := q.Total.Int64(); paid-s.tokens() != total || s.funds()-funds != total {
		t.Errorf("the user paid %d, the LP got %d, agreed %d", paid-s.tokens(), s.funds()-funds, total)
	}

	// The LP lets go what it will never pay for.
	s.lp.Misbehave(lp.Fault{NotPayable: true})
	q = s.toBTC()
	d = s.data(q.Escrow)
	s.open(d, q.Auth)
	id = d.ClaimData.Bytes()
	var auth *chains.Auth
	s.eventually("refund authorised", func() bool {
		status := s.status(lpwire.ToBTC, lpwire.GetRefundAuthorization, id[:], d.Sequence)
		auth = status.Auth
		return status.Code == lpwire.CodeRefund
	})
	if !s.signed(trial.Must(s.net.Network().CheckRefund(d, *auth, s.now()))(t)) {
		t.Error("the LP did not sign the refund")
	}
	trial.Must(s.net.User.Send(s.ctx, trial.Must(s.d.RefundAuthorized(d, *auth))(t)))(t)
	s.becomes(d, chains.EscrowRefunded)
}

func TestToBTCLNFromStarknet(t *testing.T) {
	t.Parallel()
	s := newStarknet(t)
	recipient := trial.Must(s.ln.NewNode("recipient", 0))(t)
	preimage, _ := lightning.Preimage(t.Name())
	pr := trial.Must(recipient.NewInvoice(lightning.InvoiceOptions{Preimage: preimage, AmountMsat: 50_000_000}))(t)
	q := trial.Must(s.client.ToBTCLN(s.ctx, s.lp.URL(), lpwire.ToBTCLNRequest{Chain: "STARKNET", Invoice: pr, MaxFee: big.NewInt(200),
		Expiry: s.now().Unix() + 432_000, Token: starkwire.Hex64(s.token), Offerer: starkwire.Hex64(s.user.Address()), FeeRate: async.Known(starknetRate)}, lpwire.Early{}))(t)
	d, funds := s.data(q.Escrow), s.funds()
	s.open(d, q.Auth)
	s.becomes(d, chains.EscrowClaimed)
	if recipient.BalanceSats() != 50_000 || s.funds()-funds != q.Total.Int64() {
		t.Errorf("the recipient has %d sats, the LP got %d", recipient.BalanceSats(), s.funds()-funds)
	}
}

func TestAutoOnStarknet(t *testing.T) {
	t.Parallel()
	s := newStarknet(t)
	gas, bounty := big.NewInt(1e18), big.NewInt(1e17)
	auto := func(name string) (lpwire.FromBTCLNAutoQuote, [32]byte, starkwire.SwapData) {
		preimage, hash := lightning.Preimage(t.Name() + name)
		q := trial.Must(s.client.FromBTCLNAuto(s.ctx, s.lp.URL(), lpwire.FromBTCLNAutoRequest{Chain: "STARKNET", PaymentHash: hex.EncodeToString(hash[:]), Amount: big.NewInt(50_000),
			Claimer: starkwire.Hex64(s.user.Address()), Token: starkwire.Hex64(s.token), GasToken: starkwire.Hex64(starkwire.STRK), GasAmount: gas, ClaimerBounty: async.Known(bounty)}, lpwire.Early{}))(t)
		s.ok(s.payer.Start(q.Invoice, lightning.Limits{}))
		var status lpwire.Status
		s.eventually("opened", func() bool {
			status = s.status(lpwire.FromBTCLNAuto, lpwire.GetInvoiceStatus, hash[:], 0)
			return status.Code == lpwire.CodeDone
		})
		d := s.data(status.Escrow)
		s.becomes(d, chains.EscrowOpen)
		return q, preimage, d
	}
	q, preimage, d := auto("claimed")
	before, tower := s.tokens(), s.net.Party(s.net.Watchtower)
	strk := trial.Must(s.net.Balance(starkwire.STRK, s.user.Address()))(t)
	trial.Must(tower.ClaimSecret(s.ctx, d, preimage))(t)
	if got := s.tokens() - before; got != q.Total.Int64() {
		t.Errorf("the user got %d, agreed %s", got, q.Total)
	}
	if got := new(big.Int).Sub(trial.Must(s.net.Balance(starkwire.STRK, s.user.Address()))(t), strk); got.Cmp(gas) != 0 {
		t.Errorf("the user got %d fri of gas, agreed %d", got, gas)
	}
	_, hash := lightning.Preimage(t.Name() + "claimed")
	s.eventually("settled", func() bool {
		return s.status(lpwire.FromBTCLNAuto, lpwire.GetInvoiceStatus, hash[:], 0).Code == lpwire.CodeSettled
	})

	funds := s.funds()
	_, _, d = auto("left")
	s.advance(4 * time.Hour)
	s.becomes(d, chains.EscrowRefunded)
	if s.funds() != funds {
		t.Errorf("the LP has %d, had %d", s.funds(), funds)
	}
}

// A payment that came while the LP was at work on another swap is not given back because of the blocks that
// were mined meanwhile.
func TestAutoOnStarknetWhileBlocksCome(t *testing.T) {
	t.Parallel()
	s := newStarknet(t)
	_, hash := lightning.Preimage(t.Name())
	q := trial.Must(s.client.FromBTCLNAuto(s.ctx, s.lp.URL(), lpwire.FromBTCLNAutoRequest{Chain: "STARKNET", PaymentHash: hex.EncodeToString(hash[:]), Amount: big.NewInt(50_000),
		Claimer: starkwire.Hex64(s.user.Address()), Token: starkwire.Hex64(s.token), GasToken: starkwire.Hex64(starkwire.STRK), GasAmount: new(big.Int), ClaimerBounty: async.Known(new(big.Int))}, lpwire.Early{}))(t)
	s.lp.Misbehave(lp.Fault{NeverOpen: true}) // at work
	s.ok(s.payer.Start(q.Invoice, lightning.Limits{}))
	s.eventually("held", func() bool { state, _ := s.lp.Node().Invoice(hash); return state == lightning.Held })
	trial.Must(s.net.Bitcoin().Mine(12))(t)
	s.lp.Misbehave(lp.Fault{})
	s.eventually("opened", func() bool {
		switch status := s.status(lpwire.FromBTCLNAuto, lpwire.GetInvoiceStatus, hash[:], 0); status.Code {
		case lpwire.CodeDone:
			return true
		case lpwire.CodeExpired:
			t.Fatal("the payment was given back")
		}
		return false
	})
}

// withdrawal builds and signs what a quote asks for.
func (s *starknet) withdrawal(q lpwire.SPVQuote, v chains.Vault, recipient string) []byte {
	s.Helper()
	raw := [2]uint64{new(big.Int).Quo(q.Total, v.Multipliers[0]).Uint64(), new(big.Int).Quo(q.TotalGas, v.Multipliers[1]).Uint64()}
	script := trial.Must(rawtx.OpReturn(trial.Must(starkwire.WithdrawalData(recipient, raw, nil))(s.T)))(s.T)
	vault := trial.Must(btc.ParseAddress(q.VaultBTCAddress, btc.Regtest))(s.T)
	to := trial.Must(btc.ParseAddress(q.BTCAddress, btc.Regtest))(s.T)
	s0, s1, err := btc.FeeShares{Caller: uint32(q.CallerFeeShare.Uint64())}.Sequences()
	s.ok(err)
	coin := s.wallet.Coins()[0]
	tx := wire.NewMsgTx(2)
	tx.LockTime = btcpsbt.VaultLockTime(7)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: trial.Must(btc.ParseOutPoint(q.BTCUTXO))(s.T), Sequence: s0})
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: coin.OutPoint, Sequence: s1})
	tx.AddTxOut(wire.NewTxOut(600, vault.Script()))
	tx.AddTxOut(wire.NewTxOut(0, script))
	tx.AddTxOut(wire.NewTxOut(q.BTCAmount.Int64(), to.Script()))
	tx.AddTxOut(wire.NewTxOut(coin.Value-q.BTCAmount.Int64()-2000, s.wallet.Address.Script()))
	s.ok(s.wallet.Sign(tx))
	witness := tx.TxIn[1].Witness
	tx.TxIn[1].Witness = nil
	p := trial.Must(psbt.NewFromUnsignedTx(tx))(s.T)
	p.Inputs[0].WitnessUtxo = wire.NewTxOut(600, vault.Script())
	p.Inputs[1].WitnessUtxo = wire.NewTxOut(coin.Value, s.wallet.Address.Script())
	var b, all bytes.Buffer
	s.ok(psbt.WriteTxWitness(&b, witness))
	p.Inputs[1].FinalScriptWitness = b.Bytes()
	s.ok(p.Serialize(&all))
	return all.Bytes()
}

// Withdrawals of both tokens of a vault, the gas drop included. What nobody else claims
// the LP claims, all in one transaction.
func TestVaultsOnStarknet(t *testing.T) {
	t.Parallel()
	s := newStarknet(t)
	vaults := trial.Must(s.lp.Vaults(s.ctx))(t)
	if len(vaults) != 3 || !vaults[0].OurRelay || vaults[0].Owner != starkwire.Hex64(s.me.Address()) {
		t.Fatalf("%+v", vaults)
	}
	to := contracts.KeyOf("a recipient").Address()
	gas, want, shares := big.NewInt(1e18), new(big.Int), big.NewInt(1000)
	const waiting = 5 // the LP waits for others so long
	for i := range waiting {
		q := trial.Must(s.client.SPV(s.ctx, s.lp.URL(), lpwire.SPVRequest{Chain: "STARKNET", Address: starkwire.Hex64(to), Amount: async.Known(big.NewInt(200_000)),
			Token: starkwire.Hex64(s.token), GasToken: starkwire.Hex64(starkwire.STRK), GasAmount: gas, CallerFeeRate: async.Known(shares)}))(t)
		var v chains.Vault
		for _, v = range vaults {
			if v.ID.Cmp(q.VaultID) == 0 {
				break
			}
		}
		if late := q.Expiry - s.now().Unix(); q.Address != v.Owner || q.TotalGas.Cmp(gas) != 0 || v.Tokens[0] != starkwire.Hex64(s.token) || late < 50 || late > 60 {
			t.Fatalf("%+v of %+v", q, v)
		}
		want.Add(want, q.Total)
		trial.Must(s.client.PostSPV(s.ctx, s.lp.URL(), "STARKNET", q.QuoteID, s.withdrawal(q, v, starkwire.Hex64(to))))(t)
		if _, err := s.client.SPV(s.ctx, s.lp.URL(), lpwire.SPVRequest{Chain: "STARKNET", Address: starkwire.Hex64(to), Amount: async.Known(big.NewInt(200_000)),
			Token: starkwire.Hex64(s.token), GasToken: starkwire.Hex64(starkwire.STRK), CallerFeeRate: async.Known(shares)}); err == nil {
			t.Error("a vault is offered whose output is in no block")
		}
		s.mine(2)
		if has := trial.Must(s.net.Balance(s.token, to))(t); i < waiting-1 && has.Sign() != 0 {
			t.Errorf("claimed %d after %d withdrawals", has, i+1)
		}
	}
	s.eventually("claimed", func() bool { return trial.Must(s.net.Balance(s.token, to))(t).Cmp(want) == 0 })
	if got := trial.Must(s.net.Balance(starkwire.STRK, to))(t); got.Cmp(gas.Mul(gas, big.NewInt(waiting))) != 0 {
		t.Errorf("gas %d", got)
	}
}

func TestGasOnStarknet(t *testing.T) {
	t.Parallel()
	s := newStarknet(t)
	to, amount := contracts.KeyOf("a newcomer").Address(), new(big.Int).Mul(big.NewInt(100), big.NewInt(1e18))
	q := trial.Must(s.client.TrustedLN(s.ctx, s.lp.URL(), lpwire.TrustedRequest{Chain: "STARKNET", Address: starkwire.Hex64(to), Amount: amount, Token: starkwire.Hex64(starkwire.STRK)}))(t)
	s.ok(s.payer.Start(q.Invoice, lightning.Limits{}))
	s.eventually("paid out", func() bool {
		return trial.Must(s.net.Balance(starkwire.STRK, to))(t).Cmp(amount) == 0
	})
}
