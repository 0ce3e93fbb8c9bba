package evm

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

func BenchmarkSwapDataRoundTrip(b *testing.B) {
	s := payInSwap(b, deploymentOf(b, "CITREA/MAINNET"), common.Address{1})
	text := mustJSON(b, s)
	b.ReportAllocs()
	for b.Loop() {
		parsed, err := ParseSwapData(text)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := json.Marshal(parsed); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEscrowHash(b *testing.B) {
	s := payInSwap(b, deploymentOf(b, "CITREA/MAINNET"), common.Address{1})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.EscrowHash(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerifyInit(b *testing.B) {
	n, d := presetOf(b, "CITREA/MAINNET"), deploymentOf(b, "CITREA/MAINNET")
	s := payInSwap(b, d, common.HexToAddress("0x1000000000000000000000000000000000000001"))
	s.Claimer = addressOf(b, userKey)
	now := time.Unix(1_700_000_000, 0)
	dig, err := n.InitDigest(d, s, now.Unix()+600)
	if err != nil {
		b.Fatal(err)
	}
	a := chains.Auth{Prefix: prefixInitPayIn, Timeout: now.Unix() + 600, Signature: sign(b, userKey, dig)}
	b.ReportAllocs()
	for b.Loop() {
		if err := n.VerifyInit(d, s, a, s.Offerer, now, now.Unix()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBuild(b *testing.B) {
	n, d := presetOf(b, "CITREA/MAINNET"), deploymentOf(b, "CITREA/MAINNET")
	user := addressOf(b, userKey)
	s := payInSwap(b, d, user)
	auth := chains.Auth{Prefix: prefixInitPayIn, Timeout: 1_900_000_000, Signature: sign(b, userKey, common.Hash{1})}
	secret := [32]byte{1}
	lock := s
	lock.ClaimData = sha256.Sum256(secret[:])
	w := mustWithdrawal(b, seedWithdrawal)
	vault := Vault{VaultRef: VaultRef{common.Address{1}, big.NewInt(7)}, Opened: true,
		Params: VaultParams{d.BtcRelay.Address, Native, Native, big.NewInt(1e10), big.NewInt(1e10), big.NewInt(2)}}
	proof := BitcoinProof{Tx: unhex(b, seedWithdrawal), Merkle: bitcoin.MerkleProof{Hashes: make([]bitcoin.Hash, 12)}}
	tx, err := rawtx.Decode(proof.Tx)
	if err != nil {
		b.Fatal(err)
	}
	onchain := s
	onchain.ClaimHandler, onchain.Kind = d.ClaimHandlers[chains.Onchain], chains.Onchain
	onchain.ClaimData = ClaimDataOutput(tx.TxOut[0].PkScript, uint64(tx.TxOut[0].Value), 0, 0, d.BtcRelay.Address)
	rate := FeeRate{Base: big.NewInt(1e7), Priority: big.NewInt(1e5)}
	one := func(c Call, err error) ([]Call, error) { return []Call{c}, err }
	for _, c := range []struct {
		name  string
		build func() ([]Call, error)
	}{
		{"init", func() ([]Call, error) { return d.Init(s, user, auth) }},
		{"claim-secret", func() ([]Call, error) { return one(d.ClaimBySecret(lock, secret)) }},
		{"claim-bitcoin", func() ([]Call, error) { return one(d.ClaimByBitcoin(onchain, proof)) }},
		{"refund", func() ([]Call, error) { return one(d.Refund(s, time.Unix(3_000_000_000, 0))) }},
		{"refund-authorized", func() ([]Call, error) { return one(d.RefundAuthorized(s, auth)) }},
		{"vault-open", func() ([]Call, error) { v := vault; v.Opened = false; return one(d.OpenVault(v)) }},
		{"vault-deposit", func() ([]Call, error) { return d.DepositVault(vault, [2]uint64{1, 1}) }},
		{"vault-front", func() ([]Call, error) { return d.FrontVault(vault, w, 3) }},
		{"vault-claim", func() ([]Call, error) { return one(d.ClaimVault(vault, w, proof, user)) }},
		{"transfer", func() ([]Call, error) { return one(Transfer(Native, user, big.NewInt(1))) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				calls, err := c.build()
				if err != nil {
					b.Fatal(err)
				}
				if _, err := n.Serialize(calls, 1, rate); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCheckSigned(b *testing.B) {
	n, d := presetOf(b, "CITREA/MAINNET"), deploymentOf(b, "CITREA/MAINNET")
	user := addressOf(b, userKey)
	calls, err := d.Init(payInSwap(b, d, user), user, anyAuth())
	if err != nil {
		b.Fatal(err)
	}
	texts, err := n.Serialize(calls, 1, FeeRate{Base: big.NewInt(1e7), Priority: big.NewInt(1e5)})
	if err != nil {
		b.Fatal(err)
	}
	signed := []string{signText(b, userKey, texts[1])}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.CheckSigned(n, user, calls, signed); err != nil {
			b.Fatal(err)
		}
	}
}

// instantNode answers at once that every escrow is open, each opened in a block
// of its own.
type instantNode struct {
	d     Deployment
	state abi.Method
	trips int
}

func (n *instantNode) openedAt(escrow common.Hash) uint64 { return 10 + 7*escrow.Big().Uint64() }

func (n *instantNode) Batch(_ context.Context, requests []Request) error {
	n.trips++
	for _, r := range requests {
		switch into := r.Result.(type) {
		case *hexutil.Bytes:
			out, err := n.states(r.Params[0].(callArgs).Data)
			if err != nil {
				return err
			}
			*into = out
		case *[]types.Log:
			*into = n.logs(r.Params[0].(logFilter).Topics[3])
		}
	}
	return nil
}

// states answers getHashStateMultiple.
func (n *instantNode) states(data []byte) ([]byte, error) {
	records := make([]EscrowRecord, (len(data)-4-64)/32)
	for i := range records {
		records[i] = EscrowRecord{InitBlockheight: n.openedAt(common.Hash(data[4+64+32*i:])), State: 1}
	}
	return n.state.Outputs.Pack(records)
}

func (n *instantNode) logs(escrows []common.Hash) []types.Log {
	data := append(common.LeftPadBytes(n.d.ClaimHandlers[0][:], 32), common.LeftPadBytes(n.d.RefundHandler[:], 32)...)
	logs := make([]types.Log, len(escrows))
	for i, h := range escrows {
		logs[i] = types.Log{Address: n.d.EscrowManager.Address, Topics: []common.Hash{escrowABI().Events["Initialize"].ID, {}, {}, h}, Data: data,
			BlockNumber: n.openedAt(h), BlockTimestamp: 1_700_000_000}
	}
	return logs
}

func hashesUpTo(count int) []common.Hash {
	hashes := make([]common.Hash, count)
	for i := range hashes {
		hashes[i] = common.BigToHash(big.NewInt(int64(i + 1)))
	}
	return hashes
}

func BenchmarkReadEscrows(b *testing.B) {
	d := deploymentOf(b, "CITREA/MAINNET")
	for _, count := range []int{1, 100, 10_000} {
		b.Run(big.NewInt(int64(count)).String(), func(b *testing.B) {
			hashes := hashesUpTo(count)
			node := &instantNode{d: d, state: escrowABI().Methods["getHashStateMultiple"]}
			b.ReportAllocs()
			for b.Loop() {
				node.trips = 0
				facts, err := d.ReadEscrows(context.Background(), node, hashes, chains.Heads{})
				if err != nil || facts[count-1].Err != nil {
					b.Fatal(err, facts[count-1].Err)
				}
			}
			b.ReportMetric(float64(node.trips), "trips")
		})
	}
}

// BenchmarkEscrowsOverHTTP asks through the whole adapter on a loopback socket:
// chain id, heads, states and logs. What is remembered is forgotten each time.
func BenchmarkEscrowsOverHTTP(b *testing.B) {
	n := presetOf(b, "CITREA/MAINNET")
	instant := &instantNode{d: n.Deployments[0], state: escrowABI().Methods["getHashStateMultiple"]}
	var requests, waits atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		var calls []rpcCall
		var all []any
		_ = json.NewDecoder(r.Body).Decode(&calls)
		for _, c := range calls {
			all = append(all, instant.answer(n.ChainID, c))
		}
		_ = json.NewEncoder(w).Encode(all)
	}))
	defer server.Close()
	nodes, err := newNodes(n.ChainID, []string{server.URL}, http.DefaultTransport, time.Now)
	if err != nil {
		b.Fatal(err)
	}
	defer nodes.close()
	for _, count := range []int{1, 100, 10_000} {
		b.Run(big.NewInt(int64(count)).String(), func(b *testing.B) {
			queries := make([]chains.EscrowQuery, count)
			for i, h := range hashesUpTo(count) {
				queries[i] = chains.EscrowQuery{Escrow: &chains.Escrow{Hash: h.Bytes()}}
			}
			c := &chain{net: n, node: countedNode{nodes, &waits}, env: chains.Env{Now: time.Now}}
			requests.Store(0)
			waits.Store(0)
			rounds := 0
			b.ReportAllocs()
			for b.Loop() {
				rounds++
				k := &contracts{chain: c, Deployment: n.Deployments[0], memory: newMemory()}
				facts, err := k.Escrows(b.Context(), queries)
				if err != nil || facts[count-1].Err != nil {
					b.Fatal(err, facts[count-1].Err)
				}
			}
			b.ReportMetric(float64(requests.Load())/float64(rounds), "requests")
			b.ReportMetric(float64(waits.Load())/float64(rounds), "trips")
		})
	}
}

// countedNode counts what is waited for one after the other.
type countedNode struct {
	Node
	trips *atomic.Int64
}

func (n countedNode) Batch(ctx context.Context, requests []Request) error {
	n.trips.Add(1)
	return n.Node.Batch(ctx, requests)
}

// answer is the answer to a call as it goes over the wire.
func (n *instantNode) answer(chainID uint64, c rpcCall) any {
	var value any
	switch c.Method {
	case "eth_chainId":
		value = hexutil.Uint64(chainID)
	case "eth_getBlockByNumber":
		value = blockHead{Number: 1 << 30, Timestamp: 1_800_000_000}
	case "eth_call":
		var params []json.RawMessage
		var args callArgs
		_ = json.Unmarshal(c.Params, &params)
		_ = json.Unmarshal(params[0], &args)
		out, _ := n.states(args.Data)
		value = hexutil.Bytes(out)
	case "eth_getLogs":
		var filters []logFilter
		_ = json.Unmarshal(c.Params, &filters)
		value = n.logs(filters[0].Topics[3])
	}
	return map[string]any{"jsonrpc": "2.0", "id": c.ID, "result": value}
}
