package evm

import (
	"encoding/hex"
	"errors"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/jsonrpc/rpctest"
	"github.com/swapper-go/swapper/internal/trial"
)

// presetOf returns the network that a vector names as in CITREA/MAINNET.
func presetOf(t testing.TB, name string) wire.Network {
	t.Helper()
	chain, on, _ := strings.Cut(name, "/")
	n := trial.Must(Preset(chain, bitcoinNetwork(t, on)))(t)
	return n.wire()
}

func bitcoinNetwork(t testing.TB, name string) bitcoin.Network {
	t.Helper()
	return trial.Must(bitcoin.ParseNetwork(strings.ToLower(name)))(t)
}

func deploymentOf(t testing.TB, name string) wire.Deployment {
	return presetOf(t, name).Deployments[0]
}

func asFault(err error, e **fault.Error) bool { return errors.As(err, e) }

const userKey = "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318"

func keyOf(t testing.TB, key string) (address common.Address, sign func(types.TxData) string) {
	t.Helper()
	k := trial.Must(crypto.HexToECDSA(key))(t)
	return crypto.PubkeyToAddress(k.PublicKey), func(inner types.TxData) string {
		tx := types.NewTx(inner)
		signed := trial.Must(types.SignTx(tx, types.LatestSignerForChainID(tx.ChainId()), k))(t)
		raw := trial.Must(signed.MarshalBinary())(t)
		return hexutil.Encode(raw)
	}
}

func addressOf(t testing.TB, key string) common.Address {
	t.Helper()
	address, _ := keyOf(t, key)
	return address
}

// signTx signs a transaction of any kind.
func signTx(t testing.TB, key string, inner types.TxData) string {
	t.Helper()
	_, sign := keyOf(t, key)
	return sign(inner)
}

// payInSwap is an escrow that user pays for with a token.
func payInSwap(t testing.TB, d wire.Deployment, user common.Address) wire.SwapData {
	t.Helper()
	s := trial.Must(d.NewSwapData(wire.Terms{Kind: chains.HTLC, Offerer: user, Claimer: common.HexToAddress("0x00000000000000000000000000000000000000aa"),
		Token: common.HexToAddress("0x00000000000000000000000000000000000000bb"), Amount: big.NewInt(1_000_000), PayIn: true,
		ClaimData: common.HexToHash("0x01"), Sequence: big.NewInt(9), Expiry: 2_000_000_000}))(t)
	return s
}

// anyAuth has the form of an authorisation.
func anyAuth() chains.Auth {
	return chains.Auth{Prefix: "claim_initialize", Timeout: 1_900_000_000, Signature: "0x" + hex.EncodeToString(make([]byte, 65))}
}

func pack(t testing.TB, m *abi.Method, values ...any) []byte {
	t.Helper()
	return trial.Must(m.Outputs.Pack(values...))(t)
}

// nodeError is an error that a node answers a call with.
type nodeError struct {
	code int
	text string
}

func (e *nodeError) Error() string  { return e.text }
func (e *nodeError) ErrorCode() int { return e.code }

func newTestNodes(t *testing.T, urls ...string) *rpc.Nodes {
	t.Helper()
	n := trial.Must(rpc.Dial(rpctest.EVMChainID, urls, http.DefaultTransport, time.Now))(t)
	n.Retry = httpx.RetryPolicy{Calls: 1}
	t.Cleanup(n.Close)
	return n
}
