package evm_test

import (
	"bytes"
	"context"
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

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rlp"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/chains/chaintest"
	"github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/internal/btc/single"
	bitcoinnet "github.com/swapper-go/swapper/internal/devnet/bitcoin"
	devnet "github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/loopback"
	evmwire "github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/tokens"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	chaintest.Run(t, func(t *testing.T) chaintest.Net { return newNet(t, devnet.Options{SafeDepth: 2}) })
}

type nodes = loopback.Servers[*devnet.Server]

// localNet is the private network as the suite wants it.
type localNet struct {
	*devnet.Net
	*bitcoinnet.Ground
	nodes
	t       *testing.T
	chain   chains.Chain
	options evm.Options
	backend bitcoin.Backend
	lp      account

	mu     sync.Mutex
	opened map[string]evmwire.Vault // by number, on the output that is not spent yet
	counts map[string]uint32        // withdrawals by number
}

var (
	_ chaintest.VaultNet  = (*localNet)(nil)
	_ chaintest.SocketNet = (*localNet)(nil)
)

func newNet(t *testing.T, o devnet.Options, changes ...func(*evm.Network)) *localNet {
	t.Helper()
	n := trial.Must(devnet.Start(o))(t)
	l := &localNet{Net: n, Ground: bitcoinnet.NewGround(t, n.Bitcoin(), n.Time), t: t, opened: map[string]evmwire.Vault{}, counts: map[string]uint32{}}
	t.Cleanup(func() {
		if c, ok := l.chain.(interface{ Close() error }); ok {
			trial.Do(t, c.Close())
		}
		trial.Do(t, n.Close())
	})
	second := trial.Must(n.Serve(""))(t)
	l.nodes = nodes{n.Server(), second}
	l.backend = trial.Must(mempoolspace.New(mempoolspace.Options{Network: n.Bitcoin().Network(), URLs: []string{n.Bitcoin().URL()}, TipAge: -1}))(t)
	network := n.Config()
	for _, change := range changes {
		change(&network)
	}
	native := tokens.Token{Chain: network.Chain, Ticker: "CBTC", Decimals: 18, DisplayDecimals: 8, Address: evmwire.Native.Hex()}
	token := tokens.Token{Chain: network.Chain, Ticker: "WBTC", Decimals: 8, DisplayDecimals: 8, Address: n.Contracts().Token.Hex()}
	l.options = evm.Options{RPC: []string{l.nodes[0].URL(), l.nodes[1].URL()}, Network: &network, Tokens: []tokens.Token{native, token}}
	l.chain = l.open(t, l.options)
	if !trial.Full() {
		evm.Hasten(l.chain)
	}
	if path.Base(t.Name()) == "round_trips" {
		evm.Unhurried(l.chain)
	}
	l.lp = account{l, n.LP}
	for _, at := range []common.Address{evmwire.Native, n.Contracts().Token} {
		trial.Do(t, n.Deposit(t.Context(), n.LP, at, devnet.Coins(100)))
	}
	return l
}

func (l *localNet) open(t *testing.T, o evm.Options) chains.Chain {
	t.Helper()
	c := trial.Must(evm.Custom(o).Open(t.Context(), chains.Env{Network: o.Network.Bitcoin, Bitcoin: l.backend, Now: l.Time, Rand: rand.Reader,
		HTTP: http.DefaultTransport, Log: slog.New(slog.DiscardHandler), Notes: noNotes{}}))(t)
	return c
}

func (l *localNet) Listening(t *testing.T) chains.Chain {
	t.Helper()
	o := l.options
	o.WebSocket = []string{l.nodes[1].SocketURL()}
	c := l.open(t, o)
	t.Cleanup(func() { trial.Do(t, c.(io.Closer).Close()) })
	return c
}

// noNotes keeps nothing: the chain does without.
type noNotes struct{}

func (noNotes) Note(context.Context, string) ([]byte, uint64, error)  { return nil, 0, nil }
func (noNotes) SetNote(context.Context, string, []byte, uint64) error { return storage.ErrConflict }

func (l *localNet) Chain() chains.Chain      { return l.chain }
func (l *localNet) Backend() bitcoin.Backend { return l.backend }
func (l *localNet) LP() chaintest.Account    { return l.lp }

func (l *localNet) Account(t *testing.T) chaintest.Account {
	t.Helper()
	a := trial.Must(l.NewAccount())(t)
	trial.Do(t, l.Fund(t.Context(), a.Address, devnet.Coins(10)))
	trial.Do(t, l.Mint(t.Context(), l.Contracts().Token, a.Address, devnet.Coins(10)))
	return account{l, a}
}

func (l *localNet) Advance(_ *testing.T, d time.Duration) {
	l.t.Helper()
	trial.Do(l.t, l.Net.Advance(d))
}
func (l *localNet) Mine(_ *testing.T, blocks int) { l.t.Helper(); trial.Do(l.t, l.Net.Mine(blocks)) }
func (l *localNet) Hold(_ *testing.T, on bool)    { l.SetMining(!on) }
func (l *localNet) Reorg(_ *testing.T, blocks int) {
	l.t.Helper()
	trial.Do(l.t, l.Net.Reorg(uint64(blocks)))
}
func (l *localNet) SyncRelay(t *testing.T) { l.t.Helper(); trial.Do(t, l.Net.SyncRelay(t.Context())) }

func (l *localNet) Spoil(t *testing.T, by chaintest.Account, tx chains.Signed) {
	t.Helper()
	_, err := by.(account).Send(t.Context(), evmwire.Call{To: common.Address{9}, Gas: 21_000})
	trial.Do(t, err)
}

func (l *localNet) Misbehave(t *testing.T, node int, with chaintest.Trouble) {
	t.Helper()
	faults := map[chaintest.Trouble]devnet.Fault{
		{Down: true}: {Down: true}, {Slow: true}: {Delay: 6 * time.Second}, {Garbage: true}: {Garbage: true},
		{WrongNetwork: true}: {WrongChain: true}, {Limited: true}: {Status: http.StatusTooManyRequests, RetryAfter: "1"},
		{Failing: true}: {Status: http.StatusServiceUnavailable}, {Behind: true}: {Behind: 20}, {Unbatched: true}: {MaxBatch: 1},
		{Lying: true}: {Rewrite: denied},
	}
	if with.Behind {
		l.Advance(t, 10*time.Minute)
	}
	l.nodes[node].Misbehave(faults[with])
}

// denied is what a node says that knows of no escrow and no vault.
func denied(method string, params []json.RawMessage, result json.RawMessage) json.RawMessage {
	switch method {
	case "eth_getLogs":
		return json.RawMessage("[]")
	case "eth_call":
		var call struct{ Data, Input hexutil.Bytes }
		var answer hexutil.Bytes
		if json.Unmarshal(params[0], &call) != nil || json.Unmarshal(result, &answer) != nil {
			return result
		}
		data, keep := append(call.Data, call.Input...), -1
		switch {
		case bytes.HasPrefix(data, evmwire.EscrowABI().Methods["getHashStateMultiple"].ID):
			keep = 64 // where the list is, and how long
		case bytes.HasPrefix(data, evmwire.VaultABI().Methods["getVault"].ID):
			keep = 0
		}
		if keep >= 0 {
			clear(answer[keep:])
			text, _ := json.Marshal(answer)
			return text
		}
	}
	return result
}

func (l *localNet) OpenVault(t *testing.T, raw [2]uint64, confirmations int) chains.VaultID {
	t.Helper()
	utxo := l.VaultOutput()
	l.mu.Lock()
	defer l.mu.Unlock()
	number := int64(len(l.opened) + 1)
	v := trial.Must(l.Net.OpenVault(t.Context(), l.Net.LP, number, l.VaultParams(l.Contracts().Token, 10, int64(confirmations)), utxo, raw))(t)
	l.opened[v.ID.String()] = v
	return chains.VaultID{Owner: v.Owner.Hex(), ID: v.ID}
}

func (l *localNet) Withdraw(t *testing.T, id chains.VaultID, data []byte, shares bitcoin.FeeShares) bitcoin.Hash {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.opened[id.ID.String()]
	hash := l.WithdrawVault(v.UTXO, 0, data, shares)
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
	w := trial.Must(evmwire.ParseWithdrawal(found.Msg))(t)
	calls := trial.Must(l.Net.FrontVault(v, w, count-1))(t)
	_, err := l.Net.LP.SendAll(t.Context(), calls)
	trial.Do(t, err)
}

// account is a key as the suite wants it.
type account struct {
	net *localNet
	*devnet.Account
}

func (a account) Address() string { return a.Account.Address.Hex() }

func (a account) Sign(t *testing.T, u chains.Unsigned) []string {
	t.Helper()
	return sign(t, a.Account, u.Txs)
}

func (a account) digest(t *testing.T, digest common.Hash, err error) string {
	t.Helper()
	trial.Do(t, err)
	return trial.Must(a.SignDigest(digest))(t)
}

func (a account) AuthorizeInit(t *testing.T, e chains.Escrow, _, _ string, until time.Time) chains.Auth {
	t.Helper()
	s := trial.Must(evmwire.SwapDataOf(e))(t)
	auth := chains.Auth{Prefix: "initialize", Timeout: until.Unix()}
	if e.PayIn {
		auth.Prefix = "claim_initialize"
	}
	digest, err := a.net.Network().InitDigest(a.net.Deployment(), s, auth.Timeout)
	auth.Signature = a.digest(t, digest, err)
	return auth
}

func (a account) AuthorizeRefund(t *testing.T, e chains.Escrow, until time.Time) chains.Auth {
	t.Helper()
	s := trial.Must(evmwire.SwapDataOf(e))(t)
	auth := chains.Auth{Prefix: "refund", Timeout: until.Unix()}
	digest, err := a.net.Network().RefundDigest(a.net.Deployment(), s, auth.Timeout)
	auth.Signature = a.digest(t, digest, err)
	return auth
}

func (a account) SignData(t *testing.T, data []byte) string {
	t.Helper()
	return a.digest(t, a.net.Network().DataDigest(data), nil)
}

func (l *localNet) Facts() chaintest.Facts {
	const address = "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B"
	other := common.Address{19: 0xee}.Hex()
	word := func(n int64) string { return common.BigToHash(big.NewInt(n)).Hex() }
	return chaintest.Facts{
		Token:       l.Contracts().Token.Hex(),
		SameAddress: []string{address, strings.ToLower(address), "0x" + strings.ToUpper(address[2:])},
		NoAddress:   []string{"0xaB5801a7D398351b8bE11C439e05C5B3259aeC9B", address + "00", "0x" + strings.Repeat("g", 40), "ab5801a7d398351b8be11c439e05c5b3259aec9b", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"},
		ZeroAddress: evmwire.Native.Hex(),
		EscrowMembers: map[string]any{
			"offerer": other, "claimer": other, "token": evmwire.Native.Hex(), "refundHandler": other, "claimHandler": other, "depositToken": other,
			"payIn": false, "payOut": true, "reputation": false, "sequence": "5", "amount": "1", "securityDeposit": "1", "claimerBounty": "1",
			"claimData": word(1), "refundData": word(1), "successActionCommitment": word(1), "extraData": "00",
		},
		Free: []chaintest.FreeMember{
			{Member: "sequence", Value: "123456", May: chains.Tolerance{AnySequence: true}},
			{Member: "refundData", Value: word(2_000_000_000), May: chains.Tolerance{AnyExpiry: true}},
			{Member: "amount", Value: devnet.Coins(1).String(), May: chains.Tolerance{AtLeastAmount: true}},
			{Member: "extraData", Value: strings.Repeat("07", 42), May: chains.Tolerance{AnyExtraData: true}},
		},
		Alterations: alterations(),
		Trips: chaintest.Trips{
			Heads: 1, Balance: 1, FeeRate: 1, Status: 1, VerifyInit: 0,
			Send:    2, // both nodes at once
			Escrows: 1, EscrowsOpened: 2, EscrowsAgain: 1, EscrowsManyNone: 1,
			Search: 3, SearchFound: 4,
			Build: 1, BuildProof: 5, BuildProofAgain: 2, BuildProofBehind: 7, BuildVault: 10, BuildVaultAgain: 4, Hints: 1, Admit: 1, Liquidity: 1, Estimate: 1,
			Vaults: 4, VaultsAgain: 2, // both nodes at once
			Withdrawals: 2, DryRun: 1, History: 2,
			RelayTip: 2, // both nodes at once
		},
		GasPayers: true,
	}
}

// unsigned is an EIP-1559 transaction before it is signed.
type unsigned struct {
	ChainID        *big.Int
	Nonce          uint64
	TipCap, FeeCap *big.Int
	Gas            uint64
	To             common.Address
	Value          *big.Int
	Data           []byte
	AccessList     types.AccessList
}

// alterations are changes of a transaction that was handed out.
func alterations() map[string]func(*testing.T, string) string {
	all := map[string]func(*testing.T, string) string{}
	for name, change := range map[string]func(*unsigned){
		"another chain":       func(u *unsigned) { u.ChainID = new(big.Int).Add(u.ChainID, big.NewInt(1)) },
		"another destination": func(u *unsigned) { u.To[0] ^= 1 },
		"more value":          func(u *unsigned) { u.Value = new(big.Int).Add(u.Value, big.NewInt(1)) },
		"another method":      func(u *unsigned) { u.Data[0] ^= 1 },
		"another argument":    func(u *unsigned) { u.Data[4+12] ^= 1 },
		"another end":         func(u *unsigned) { u.Data[len(u.Data)-1] ^= 1 },
		"a byte more":         func(u *unsigned) { u.Data = append(u.Data, 0) },
		"a byte less":         func(u *unsigned) { u.Data = u.Data[:len(u.Data)-1] },
		"no data":             func(u *unsigned) { u.Data = nil },
		"no gas":              func(u *unsigned) { u.Gas = 21_000 },
		"all gas":             func(u *unsigned) { u.Gas = 1 << 40 },
		"an absurd fee":       func(u *unsigned) { u.FeeCap = devnet.Coins(1) },
		"an absurd tip":       func(u *unsigned) { u.FeeCap, u.TipCap = devnet.Coins(1), devnet.Coins(1) },
		"no fee":              func(u *unsigned) { u.FeeCap, u.TipCap = new(big.Int), new(big.Int) },
	} {
		all[name] = func(t *testing.T, text string) string {
			t.Helper()
			tx := trial.Must(evmwire.ParseTransaction(text))(t)
			u := unsigned{tx.ChainID, tx.Nonce, tx.TipCap, tx.FeeCap, tx.Gas, *tx.To, tx.Value, bytes.Clone(tx.Data), nil}
			change(&u)
			raw := trial.Must(rlp.EncodeToBytes(&u))(t)
			return hexutil.Encode(append([]byte{2}, raw...))
		}
	}
	return all
}
