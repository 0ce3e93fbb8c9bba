package lp_test

import (
	"context"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	btc "github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/devnet/bitcoin"
	devnet "github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/evm/wire"
	lpwire "github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/lphttp"
	"github.com/swapper-go/swapper/internal/trial"
)

// States of escrows as the contract numbers them.
const (
	stateOpen     = 1
	stateClaimed  = 2
	stateRefunded = 3
)

// kit is an LP on networks of its own, and a client.
type kit struct {
	*testing.T
	ctx    context.Context
	evm    *devnet.Net
	ln     *lightning.Net
	payer  *lightning.Node
	lp     *lp.LP
	client *lphttp.Client
	wallet *bitcoin.Wallet
}

func newKit(t *testing.T, change ...func(*lp.Options)) *kit {
	t.Helper()
	k := &kit{T: t, ctx: t.Context()}
	k.evm = trial.Must(devnet.Start(devnet.Options{}))(t)
	t.Cleanup(func() { k.evm.Close() })
	height := func() uint32 { h, _ := k.evm.Bitcoin().Tip(); return h }
	k.ln = lightning.New(lightning.Options{Height: height})
	k.payer = trial.Must(k.ln.NewNode("payer", 10_000_000))(t)
	o := lp.Options{EVM: k.evm, Lightning: trial.Must(k.ln.NewNode("lp", 100_000_000))(t)}
	for _, c := range change {
		c(&o)
	}
	k.lp = trial.Must(lp.Start(t.Context(), o))(t)
	t.Cleanup(func() {
		if err := k.lp.Close(); err != nil {
			t.Error(err)
		}
	})
	k.wallet = trial.Must(k.evm.Bitcoin().NewWallet(btc.P2WPKH))(t)
	k.client = lphttp.NewClient(lphttp.Options{AllowLocal: true})
	return k
}

func (k *kit) nonce() uint64 {
	return trial.Must(rawtx.NewNonce(time.Now(), uint32(time.Now().UnixNano())))(k.T)
}

func (k *kit) toBTC() lpwire.ToBTCRequest {
	return lpwire.ToBTCRequest{Chain: k.evm.Network().Chain, Address: k.wallet.Address.String(), Amount: big.NewInt(100_000), ConfirmationTarget: 3, Confirmations: 1,
		Nonce: k.nonce(), Token: k.evm.Contracts().Token.Hex(), Offerer: k.evm.User.Address.Hex(), FeeRate: async.Known("1,2")}
}

// open opens an escrow of the user's with an LP's authorisation.
func (k *kit) open(data []byte, auth chains.Auth) wire.SwapData {
	k.Helper()
	s := trial.Must(wire.ParseSwapData(data))(k.T)
	calls := trial.Must(k.evm.Deployment().Init(s, k.evm.User.Address, auth))(k.T)
	if _, err := k.evm.User.SendAll(k.ctx, calls); err != nil {
		k.Fatal(err)
	}
	return s
}

// eventually waits until something is so.
func (k *kit) eventually(what string, is func() bool) {
	k.Helper()
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if is() {
			return
		}
	}
	k.Fatalf("%s: not in time; the LP says %v", what, k.lp.Problems())
}

func TestInfoIsSigned(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	info := trial.Must(k.client.Info(k.ctx, k.lp.URL()))(t)
	c := info.Chains[0]
	if err := k.evm.Network().VerifyData(k.evm.LP.Address, info.Envelope, c.Signature); err != nil || c.Address != k.evm.LP.Address.Hex() {
		t.Errorf("%+v: %v", c, err)
	}
	if len(info.Services) != 6 || info.Services[lpwire.ToBTC].BaseFee != 150 {
		t.Errorf("%+v", info.Services)
	}
	k.lp.Misbehave(lp.Fault{StrangeInfo: true})
	info = trial.Must(k.client.Info(k.ctx, k.lp.URL()))(t)
	if k.evm.Network().VerifyData(k.evm.LP.Address, info.Envelope, info.Chains[0].Signature) == nil {
		t.Error("somebody else's signature is good")
	}
}

func TestToBTC(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	q := trial.Must(k.client.ToBTC(k.ctx, k.lp.URL(), k.toBTC(), lpwire.Early{}))(t)
	before := k.wallet.Balance()
	s := k.open(q.Escrow, q.Auth)
	k.eventually("bitcoin sent", func() bool { return k.wallet.Balance() == before+100_000 })
	status := trial.Must(k.client.Status(k.ctx, lpwire.StatusQuery{URL: k.lp.URL() + "/tobtc", Endpoint: lpwire.GetRefundAuthorization,
		ID: strings.TrimPrefix(s.ClaimData.Hex(), "0x"), Sequence: s.Sequence}))(t)
	if status.Code != lpwire.CodePaid || !k.evm.Bitcoin().InMempool(trial.Must(btc.ParseHash(status.TxID))(t)) {
		t.Errorf("%+v", status)
	}
	trial.Must(k.evm.Bitcoin().Mine(1))(t)
	k.eventually("claimed", func() bool { return k.state(s) == stateClaimed })
}

func (k *kit) state(s wire.SwapData) uint8 {
	k.Helper()
	hash := trial.Must(s.EscrowHash())(k.T)
	data := trial.Must(wire.StateCall([]common.Hash{hash}))(k.T)
	answer := trial.Must(k.evm.Read(k.ctx, k.evm.User.Address, wire.Call{To: k.evm.Deployment().EscrowManager.Address, Data: data}))(k.T)
	return trial.Must(wire.DecodeStates(answer, 1))(k.T)[0].State
}
