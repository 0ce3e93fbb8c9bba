package devnet

import (
	"context"
	"crypto/rand"
	"log/slog"
	"math/big"
	"net/http"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	btc "github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/evm/wire"
	lpwire "github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/lphttp"
	"github.com/swapper-go/swapper/internal/trial"
)

// kit is a network and a user who knows nothing but the library.
type kit struct {
	*testing.T
	*Net
	ctx      context.Context
	chain    chains.Chain
	contract chains.VaultContract
	backend  btc.Backend
	client   *lphttp.Client
	url      string // of the first LP
	user     string
}

func (k *kit) ok(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

// notes forget everything, which costs a chain nothing but time.
type notes struct{}

func (notes) Note(context.Context, string) ([]byte, uint64, error)  { return nil, 0, nil }
func (notes) SetNote(context.Context, string, []byte, uint64) error { return nil }

func newKit(t *testing.T, o Options) *kit {
	t.Helper()
	if o.Version == Older {
		o.Version = VersionOf(t)
	}
	return kitOf(t, o)
}

// kitOf is newKit with LPs of the version that o names.
func kitOf(t *testing.T, o Options) *kit {
	t.Helper()
	n := trial.Must(Start(t.Context(), o))(t)
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	k := &kit{T: t, Net: n, ctx: t.Context(), url: n.LPs[0].URL(), user: n.EVM.User.Address.Hex()}
	k.backend = trial.Must(mempoolspace.New(mempoolspace.Options{Network: n.Bitcoin.Network(), URLs: []string{n.Bitcoin.URL()}, TipAge: -1}))(t)
	k.chain = trial.Must(n.Chain().Open(t.Context(), chains.Env{Network: n.Bitcoin.Network(), Bitcoin: k.backend, Now: n.Clock.Now, Rand: rand.Reader,
		HTTP: http.DefaultTransport, Log: slog.New(slog.DiscardHandler), Notes: notes{}}))(t)
	contract, _ := k.chain.Contract("")
	k.contract = contract.(chains.VaultContract)
	k.client = lphttp.NewClient(lphttp.Options{Now: n.Clock.Now, AllowLocal: true})
	return k
}

func (k *kit) lp() *lp.LP { return k.LPs[0] }

// do builds, signs, checks and sends what a plan asks for, as a wallet and the
// library do together.
func (k *kit) do(steps ...chains.Step) {
	k.Helper()
	plan := chains.Plan{SwapID: k.Name(), Signer: k.user, Steps: steps}
	u := trial.Must(k.contract.Build(k.ctx, plan))(k.T)
	signed := trial.Must(k.contract.Check(plan, k.sign(u.Txs)))(k.T)
	for _, tx := range signed {
		k.ok(k.chain.Send(k.ctx, tx))
		k.eventually("transaction mined", func() bool {
			status := trial.Must(k.chain.Status(k.ctx, []chains.Signed{tx}))(k.T)[0]
			if status.State == chains.TxReverted {
				k.Fatalf("reverted: %s", status.Reason)
			}
			return status.State == chains.TxConfirmed
		})
	}
}

func (k *kit) sign(unsigned []string) []string {
	k.Helper()
	var signed []string
	for _, text := range unsigned {
		p := trial.Must(wire.ParseTransaction(text))(k.T)
		tx := types.NewTx(&types.DynamicFeeTx{ChainID: p.ChainID, Nonce: p.Nonce, GasTipCap: p.TipCap, GasFeeCap: p.FeeCap, Gas: p.Gas, To: p.To, Value: p.Value, Data: p.Data})
		tx = trial.Must(types.SignTx(tx, types.LatestSignerForChainID(p.ChainID), k.EVM.User.Key))(k.T)
		signed = append(signed, hexutil.Encode(trial.Must(tx.MarshalBinary())(k.T)))
	}
	return signed
}

// eventually waits until something is so.
func (k *kit) eventually(what string, is func() bool) {
	k.Helper()
	for end := time.Now().Add(3 * time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if is() {
			return
		}
	}
	k.Fatalf("%s: not in time; the LP says %v", what, k.lp().Problems())
}

// escrow is what the library reads from an LP's escrow.
func (k *kit) escrow(data []byte) chains.Escrow {
	k.Helper()
	return trial.Must(k.contract.Decode(data))(k.T)
}

func (k *kit) fact(e chains.Escrow) chains.EscrowFact {
	k.Helper()
	f := trial.Must(k.contract.Escrows(k.ctx, []chains.EscrowQuery{{Escrow: &e}}))(k.T)[0]
	k.ok(f.Err)
	return f
}

func (k *kit) balance(of common.Address, token common.Address) *big.Int {
	k.Helper()
	return trial.Must(k.chain.Balance(k.ctx, of.Hex(), token.Hex()))(k.T)
}

// funds is what the LP has in the escrow contract.
func (k *kit) funds(token common.Address) *big.Int {
	k.Helper()
	return trial.Must(k.contract.Liquidity(k.ctx, k.lp().Account().Address.Hex(), token.Hex()))(k.T).Balance
}

// gained is how much more there is than there was.
func gained(now, before *big.Int) int64 { return new(big.Int).Sub(now, before).Int64() }

func (k *kit) status(service lpwire.Service, endpoint, id string, sequence *big.Int) lpwire.Status {
	k.Helper()
	return trial.Must(k.client.Status(k.ctx, lpwire.StatusQuery{URL: k.url + service.Path(), Endpoint: endpoint, ID: id, Sequence: sequence}))(k.T)
}

// An account of its own for whoever receives.
func (k *kit) recipient() *evm.Account {
	k.Helper()
	return trial.Must(k.EVM.NewAccount())(k.T)
}
