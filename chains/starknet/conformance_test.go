package starknet_test

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/chains/chaintest"
	"github.com/swapper-go/swapper/chains/starknet"
	"github.com/swapper-go/swapper/internal/btc/single"
	bitcoinnet "github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/loopback"
	devnet "github.com/swapper-go/swapper/internal/devnet/starknet"
	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/tokens"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	// The time stands still but for what the suite does: how many requests something takes
	// depends on what was read in the last seconds.
	began := time.Now()
	o := devnet.Options{Now: func() time.Time { return began }, L1Lag: 16}
	chaintest.Run(t, func(t *testing.T) chaintest.Net { return newNet(t, o) })
}

type nodes = loopback.Servers[*devnet.NodeServer]

// localNet is the private network as the suite wants it.
type localNet struct {
	*devnet.Net
	*bitcoinnet.Ground
	nodes
	t       *testing.T
	chain   chains.Chain
	backend bitcoin.Backend
	lp      account

	mu     sync.Mutex
	held   bool
	opened map[string]wire.Vault // by number, with their present output
	counts map[string]uint32     // withdrawals
}

var (
	_ chaintest.VaultNet  = (*localNet)(nil)
	_ chaintest.SocketNet = (*localNet)(nil)
)

func newNet(t *testing.T, o devnet.Options) *localNet {
	t.Helper()
	n := trial.Must(devnet.Start(o))(t)
	l := &localNet{Net: n, Ground: bitcoinnet.NewGround(t, n.Bitcoin(), n.Time), t: t, opened: map[string]wire.Vault{}, counts: map[string]uint32{}}
	t.Cleanup(func() {
		if c, ok := l.chain.(interface{ Close() error }); ok {
			trial.Do(t, c.Close())
		}
		trial.Do(t, n.Close())
	})
	second := trial.Must(n.Serve(""))(t)
	l.nodes = nodes{n.Server(), second}
	l.backend = trial.Must(mempoolspace.New(mempoolspace.Options{Network: n.Bitcoin().Network(), URLs: []string{n.Bitcoin().URL()}, TipAge: -1}))(t)
	l.chain = l.open(t, nil, l.nodes[0].URL(), l.nodes[1].URL())
	if !trial.Full() {
		starknet.Hasten(l.chain)
	}
	if path.Base(t.Name()) == "round_trips" {
		starknet.Unhurried(l.chain)
	}
	l.lp = account{l, n.LP}
	for token, amount := range map[wire.Felt]*big.Int{wire.STRK: devnet.STRK(1000), devnet.WBTC: big.NewInt(1e14)} {
		trial.Do(t, n.Deposit(t.Context(), n.LP, token, amount))
	}
	return l
}

// network is what describes the network to the chain.
func (l *localNet) network() starknet.Network {
	w := l.Network()
	n := starknet.Network{Bitcoin: w.Bitcoin, ChainID: w.ChainID}
	at := func(c wire.Contract) starknet.Contract {
		return starknet.Contract{Address: wire.Hex64(c.Address), Height: c.Height}
	}
	for _, d := range w.Deployments {
		p := starknet.Deployment{Version: d.Version, EscrowManager: at(d.EscrowManager), BtcRelay: at(d.BtcRelay), VaultManager: at(d.VaultManager), RefundHandler: wire.Hex64(d.RefundHandler)}
		for kind, h := range d.ClaimHandlers {
			p.ClaimHandlers[kind] = wire.Hex64(h)
		}
		n.Deployments = append(n.Deployments, p)
	}
	return n
}

func (l *localNet) Listening(t *testing.T) chains.Chain {
	t.Helper()
	c := l.open(t, []string{l.nodes[1].SocketURL()}, l.nodes[0].URL(), l.nodes[1].URL())
	t.Cleanup(func() { trial.Do(t, c.(io.Closer).Close()) })
	return c
}

// open opens the chain of the network at some nodes, listening to some.
func (l *localNet) open(t *testing.T, sockets []string, urls ...string) chains.Chain {
	t.Helper()
	n := l.network()
	known := []tokens.Token{
		{Chain: starknet.ChainID, Ticker: "STRK", Decimals: 18, DisplayDecimals: 9, Address: wire.Hex64(wire.STRK)},
		{Chain: starknet.ChainID, Ticker: "WBTC", Decimals: 8, DisplayDecimals: 8, Address: wire.Hex64(devnet.WBTC)},
	}
	c := trial.Must(starknet.Custom(starknet.Options{RPC: urls, WebSocket: sockets, Network: &n, Tokens: known}).Open(t.Context(), chains.Env{Network: n.Bitcoin, Bitcoin: l.backend, Now: l.Time, Rand: rand.Reader,
		HTTP: http.DefaultTransport, Log: slog.New(slog.DiscardHandler), Notes: noNotes{}}))(t)
	return c
}

func (l *localNet) Chain() chains.Chain      { return l.chain }
func (l *localNet) Backend() bitcoin.Backend { return l.backend }
func (l *localNet) LP() chaintest.Account    { return l.lp }

func (l *localNet) Account(t *testing.T) chaintest.Account {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held { // its transactions are to be executed at once
		l.Net.Hold(false)
		defer l.Net.Hold(true)
	}
	a := l.NewAccount()
	trial.Do(t, l.Fund(t.Context(), a.Address, devnet.STRK(1000)))
	trial.Do(t, a.Deploy(t.Context()))
	trial.Do(t, l.Mint(t.Context(), devnet.WBTC, a.Address, big.NewInt(1e12)))
	return account{l, a}
}

func (l *localNet) Advance(_ *testing.T, d time.Duration) { l.Net.Advance(d) }
func (l *localNet) Mine(_ *testing.T, blocks int)         { l.Net.Mine(blocks) }
func (l *localNet) Reorg(_ *testing.T, blocks int)        { l.t.Helper(); trial.Do(l.t, l.Net.Reorg(blocks)) }
func (l *localNet) Hold(_ *testing.T, on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = on
	l.Net.Hold(on)
}
func (l *localNet) SyncRelay(t *testing.T) { l.t.Helper(); trial.Do(t, l.Net.SyncRelay(t.Context())) }

// Spoil uses the transaction's nonce for another one.
func (l *localNet) Spoil(t *testing.T, by chaintest.Account, _ chains.Signed) {
	t.Helper()
	call := trial.Must(wire.Transfer(wire.STRK, l.Net.LP.Address, big.NewInt(1)))(l.t)
	_, err := by.(account).Account.Send(t.Context(), call)
	trial.Do(t, err)
}

func (l *localNet) Misbehave(t *testing.T, node int, with chaintest.Trouble) {
	t.Helper()
	faults := map[chaintest.Trouble]devnet.NodeFault{
		{Down: true}: {Down: true}, {Slow: true}: {Delay: 6 * time.Second}, {Garbage: true}: {Garbage: true},
		{WrongNetwork: true}: {WrongNetwork: true}, {Limited: true}: {Status: http.StatusTooManyRequests, RetryAfter: "1"},
		{Failing: true}: {Status: http.StatusServiceUnavailable}, {Behind: true}: {Behind: 20}, {Unbatched: true}: {MaxBatch: 1},
		{Lying: true}: {NoEvents: true, Rewrite: denied},
	}
	if with.Behind {
		l.Advance(t, 10*time.Minute)
	}
	l.nodes[node].Misbehave(faults[with])
}

// denied is what a node says that knows of no escrow and no vault.
func denied(method string, params map[string]json.RawMessage, result json.RawMessage) json.RawMessage {
	var call struct {
		Entry string `json:"entry_point_selector"`
	}
	var answer []string
	if method != "starknet_call" || json.Unmarshal(params["request"], &call) != nil || json.Unmarshal(result, &answer) != nil {
		return result
	}
	entry, err := wire.ParseFelt(call.Entry)
	keep := -1
	switch {
	case err != nil:
	case entry == wire.Selector(wire.EntryHashStates):
		keep = 1 // how many
	case entry == wire.Selector(wire.EntryGetVault):
		keep = 0
	}
	if keep < 0 {
		return result
	}
	for i := range answer[keep:] {
		answer[keep+i] = "0x0"
	}
	text, _ := json.Marshal(answer)
	return text
}

func (l *localNet) OpenVault(t *testing.T, raw [2]uint64, confirmations int) chains.VaultID {
	t.Helper()
	utxo := l.VaultOutput()
	l.mu.Lock()
	defer l.mu.Unlock()
	number := big.NewInt(int64(len(l.opened) + 1))
	v := trial.Must(l.Party(l.Net.LP).OpenVault(t.Context(), number, [2]wire.Felt{devnet.WBTC, wire.STRK}, [2]*big.Int{big.NewInt(10), big.NewInt(1_000_000)}, uint8(confirmations), utxo, raw))(t)
	l.opened[number.String()] = v
	return chains.VaultID{Owner: wire.Hex64(v.Owner), ID: number}
}

func (l *localNet) Withdraw(t *testing.T, id chains.VaultID, data []byte, shares bitcoin.FeeShares) bitcoin.Hash {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.opened[id.ID.String()]
	hash := l.WithdrawVault(v.UTXO, 500_000_000, data, shares)
	v.UTXO = bitcoin.OutPoint{Hash: hash}
	l.opened[id.ID.String()] = v
	l.counts[id.ID.String()]++
	return hash
}

func (l *localNet) Front(t *testing.T, id chains.VaultID, tx bitcoin.Hash) {
	t.Helper()
	l.mu.Lock()
	v, count := l.opened[id.ID.String()], l.counts[id.ID.String()]
	l.mu.Unlock()
	found := trial.Must(single.Tx(t.Context(), l.backend, tx))(l.t)
	w := trial.Must(wire.ParseWithdrawal(found.Msg))(t)
	calls := trial.Must(contracts.FrontVault(l.Deployment(), v, w, count-1))(t)
	_, err := l.Net.LP.Send(t.Context(), calls...)
	trial.Do(t, err)
}

// account is a key as the suite wants it.
type account struct {
	net *localNet
	*devnet.Account
}

func (a account) Address() string { return wire.Hex64(a.Account.Address) }

// Sign signs as a wallet does, whoever a transaction is of.
func (a account) Sign(t *testing.T, u chains.Unsigned) []string {
	t.Helper()
	out := make([]string, len(u.Txs))
	for i, text := range u.Txs {
		tx := trial.Must(wire.ParseTransaction(text))(t)
		tx.Sender = a.Account.Address
		trial.Do(t, a.Key.SignTransaction(tx))
		out[i] = tx.String()
	}
	return out
}

func (a account) message(m wire.TypedData, err error) string {
	a.net.t.Helper()
	trial.Do(a.net.t, err)
	signature := trial.Must(a.Key.SignMessage(m))(a.net.t)
	return signature
}

func (a account) AuthorizeInit(t *testing.T, e chains.Escrow, _, _ string, until time.Time) chains.Auth {
	t.Helper()
	s := trial.Must(wire.SwapDataOf(e))(t)
	auth := chains.Auth{Prefix: "initialize", Timeout: until.Unix()}
	if e.PayIn {
		auth.Prefix = "claim_initialize"
	}
	auth.Signature = a.message(a.net.Network().InitMessage(s, auth.Timeout))
	return auth
}

func (a account) AuthorizeRefund(t *testing.T, e chains.Escrow, until time.Time) chains.Auth {
	t.Helper()
	s := trial.Must(wire.SwapDataOf(e))(t)
	hash := trial.Must(s.EscrowHash())(t)
	return chains.Auth{Prefix: "refund", Timeout: until.Unix(), Signature: a.message(a.net.Network().RefundMessage(hash, until.Unix()))}
}

func (a account) SignData(t *testing.T, data []byte) string {
	t.Helper()
	return a.message(a.net.Network().DataMessage(data), nil)
}

func (l *localNet) Facts() chaintest.Facts {
	const address = "0x00011ae1f7d62f9651bc4138c4c4bb3bb6b65a26caceaf2aff401cbddf01810d"
	other := wire.Hex64(wire.FeltOf(0xee))
	return chaintest.Facts{
		Token:       wire.Hex64(devnet.WBTC),
		SameAddress: []string{address, "0x" + strings.ToUpper(address[2:]), "0X" + address[2:], "0x" + address[5:]},
		NoAddress: []string{address[2:], "123456789", "0x" + strings.Repeat("f", 64), address + "00", "0x" + strings.Repeat("g", 64), "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
			"9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin", "0x11ae1f7d62f9651bc4138c4c4bb3bb6b65a26cac"},
		ZeroAddress: "0x" + strings.Repeat("0", 64),
		EscrowMembers: map[string]any{
			"type": "evm", "offerer": other, "claimer": other, "token": other, "refundHandler": other, "claimHandler": other, "payOut": true, "payIn": false, "reputation": false,
			"sequence": "18446744073709551616", "claimData": "0x1", "refundData": "0x1", "amount": "1", "securityDeposit": "1", "claimerBounty": "1", "feeToken": other, "kind": 2,
			"extraData": "00", "successAction": map[string]string{"executionHash": "0x1", "executionExpiry": "1", "executionFee": "0"},
		},
		Free: []chaintest.FreeMember{
			{Member: "sequence", Value: "123456", May: chains.Tolerance{AnySequence: true}},
			{Member: "refundData", Value: "0x77359400", May: chains.Tolerance{AnyExpiry: true}},
			{Member: "amount", Value: devnet.STRK(1).String(), May: chains.Tolerance{AtLeastAmount: true}},
			{Member: "extraData", Value: strings.Repeat("07", 42), May: chains.Tolerance{AnyExtraData: true}},
		},
		Alterations: alterations(),
		GasPayers:   true,
		Trips: chaintest.Trips{
			Heads: 1, Balance: 1, FeeRate: 1, Status: 1, VerifyInit: 1, VerifyRefund: 1, VerifyData: 1,
			Send:    2, // both nodes at once
			Escrows: 1, EscrowsOpened: 2, EscrowsAgain: 1, EscrowsManyNone: 1, Search: 2, SearchFound: 3,
			Build: 1, BuildProof: 3, BuildProofAgain: 2, BuildProofBehind: 8, BuildVault: 7, BuildVaultAgain: 5, Hints: 1, Admit: 1, Liquidity: 1, Estimate: 0,
			Vaults: 2, VaultsAgain: 2, // both nodes at once
			Withdrawals: 1, DryRun: 1, History: 2,
			RelayTip: 2, // both nodes at once
		},
	}
}
