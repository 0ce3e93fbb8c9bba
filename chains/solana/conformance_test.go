package solana_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sol "github.com/gagliardetto/solana-go"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/chains/chaintest"
	"github.com/swapper-go/swapper/chains/solana"
	bitcoinnet "github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/loopback"
	devnet "github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/tokens"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p played) {
		t.Parallel()
		// The time stands still but for what the suite does: how many requests something
		// takes depends on what was read in the last seconds.
		began := time.Now()
		o := devnet.Options{FinalizedLag: 4, DataV2: p.data, Now: func() time.Time { return began }}
		chaintest.Run(t, func(t *testing.T) chaintest.Net {
			if part := path.Base(t.Name()); p.version != wire.V1 && slices.Contains(aboutNodes, part) {
				trial.OnlyFull(t)
			}
			return newNet(t, p.version, o)
		})
	})
}

// aboutNodes are the parts of the suite that are about nodes and blocks rather
// than about a program. With v1 they run at every depth.
var aboutNodes = []string{
	"settled_answers", "settled_answers_beside_one_bad_node", "settled_answers_without_a_node", "one_bad_node", "no_good_node", "concurrent_use",
	"info_and_addresses", "transactions_again", "replaced", "subscriptions", "reorganisation",
}

type nodes = loopback.Servers[*devnet.NodeServer]

// localNet is the private network as the suite wants it.
type localNet struct {
	*devnet.Net
	*bitcoinnet.Ground
	nodes
	t       *testing.T
	program wire.Programs // under test
	chain   chains.Chain
	backend bitcoin.Backend
	lp      account
	notes   memoryNotes
	skew    time.Duration // by which the local clock is ahead
	log     *slog.Logger
}

var _ chaintest.SocketNet = (*localNet)(nil)

func newNet(t *testing.T, version string, o devnet.Options) *localNet {
	t.Helper()
	n := trial.Must(devnet.Start(o))(t)
	l := &localNet{Net: n, Ground: bitcoinnet.NewGround(t, n.Bitcoin(), n.Time), t: t, log: slog.New(slog.DiscardHandler)}
	t.Cleanup(func() {
		if c, ok := l.chain.(interface{ Close() error }); ok {
			trial.Do(t, c.Close())
		}
		trial.Do(t, n.Close())
	})
	second := trial.Must(n.Serve(""))(t)
	l.nodes = nodes{n.Server(), second}
	l.backend = trial.Must(mempoolspace.New(mempoolspace.Options{Network: n.Bitcoin().Network(), URLs: []string{n.Bitcoin().URL()}, TipAge: -1}))(t)
	l.program = trial.Must(n.Network().Version(version))(t)
	l.chain = l.open(t, version, nil, l.nodes[0].URL(), l.nodes[1].URL())
	if !trial.Full() {
		solana.Hasten(l.chain)
	}
	if path.Base(t.Name()) == "round_trips" {
		solana.Unhurried(l.chain)
	}
	l.lp = account{l, n.LP}
	for _, mint := range []wire.Key{wire.WSOL, devnet.WBTC} {
		trial.Do(t, n.Deposit(t.Context(), version, n.LP, mint, devnet.SOL(1000)))
	}
	return l
}

func (l *localNet) Listening(t *testing.T) chains.Chain {
	t.Helper()
	c := l.open(t, l.program.Version, []string{l.nodes[1].SocketURL()}, l.nodes[0].URL(), l.nodes[1].URL())
	t.Cleanup(func() { trial.Do(t, c.(io.Closer).Close()) })
	return c
}

// open opens the chain of the network at some nodes, listening to some.
func (l *localNet) open(t *testing.T, version string, sockets []string, urls ...string) chains.Chain {
	t.Helper()
	network := solana.Network{Bitcoin: l.Bitcoin().Network(), Genesis: l.Genesis().String()}
	for _, p := range l.Programs() {
		network.Deployments = append(network.Deployments, solana.Deployment{Version: p.Version, SwapProgram: p.Swap.String(), BtcRelay: p.Relay.String()})
	}
	known := []tokens.Token{
		{Chain: solana.ChainID, Ticker: "SOL", Decimals: 9, DisplayDecimals: 9, Address: wire.WSOL.String()},
		{Chain: solana.ChainID, Ticker: "WBTC", Decimals: 8, DisplayDecimals: 8, Address: devnet.WBTC.String()},
	}
	f := solana.Custom(solana.Options{RPC: urls, WebSocket: sockets, Version: version, Network: &network, Tokens: known})
	c := trial.Must(f.Open(t.Context(), chains.Env{Network: network.Bitcoin, Bitcoin: l.backend, Now: func() time.Time { return l.Time().Add(l.skew) }, Rand: &draws{r: rand.NewChaCha8([32]byte{1})},
		HTTP: http.DefaultTransport, Log: l.log, Notes: &l.notes}))(t)
	return c
}

// draws are the same in every run: how many blocks are looked at for a price depends on
// them.
type draws struct {
	mu sync.Mutex
	r  *rand.ChaCha8
}

func (d *draws) Read(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.r.Read(p)
}

func (l *localNet) Chain() chains.Chain      { return l.chain }
func (l *localNet) Backend() bitcoin.Backend { return l.backend }
func (l *localNet) LP() chaintest.Account    { return l.lp }

// Account has some SOL wrapped, as the suite opens escrows in one transaction.
func (l *localNet) Account(t *testing.T) chaintest.Account {
	t.Helper()
	a := l.NewAccount()
	trial.Do(t, l.Fund(t.Context(), a.Address, devnet.SOL(10)))
	trial.Do(t, l.Net.Mint(t.Context(), wire.WSOL, a.Address, devnet.SOL(10)))
	trial.Do(t, l.Net.Mint(t.Context(), devnet.WBTC, a.Address, devnet.SOL(10)))
	return account{l, a}
}

func (l *localNet) Advance(_ *testing.T, d time.Duration) {
	l.t.Helper()
	trial.Do(l.t, l.Net.Advance(d))
}
func (l *localNet) Mine(_ *testing.T, blocks int)  { l.Net.Mine(blocks) }
func (l *localNet) Hold(_ *testing.T, on bool)     { l.SetMining(!on) }
func (l *localNet) Reorg(_ *testing.T, blocks int) { l.t.Helper(); trial.Do(l.t, l.Net.Reorg(blocks)) }
func (l *localNet) SyncRelay(t *testing.T)         { l.t.Helper(); trial.Do(t, l.Net.SyncRelay(t.Context())) }

// Spoil lets the transaction's block hash grow too old.
func (l *localNet) Spoil(t *testing.T, _ chaintest.Account, _ chains.Signed) {
	t.Helper()
	trial.Do(t, l.Expire())
}

func (l *localNet) Misbehave(t *testing.T, node int, with chaintest.Trouble) {
	t.Helper()
	faults := map[chaintest.Trouble]devnet.NodeFault{
		{Down: true}: {Down: true}, {Slow: true}: {Delay: 6 * time.Second}, {Garbage: true}: {Garbage: true},
		{WrongNetwork: true}: {WrongNetwork: true}, {Limited: true}: {Status: http.StatusTooManyRequests, RetryAfter: "1"},
		{Failing: true}: {Status: http.StatusServiceUnavailable}, {Behind: true}: {Behind: 200}, {Unbatched: true}: {MaxBatch: 1},
		{Lying: true}: {Rewrite: l.denied},
	}
	if with.Behind {
		l.Advance(t, 10*time.Minute)
	}
	l.nodes[node].Misbehave(faults[with])
}

// denied is what a node says that knows of no escrow.
func (l *localNet) denied(method string, _ []json.RawMessage, result json.RawMessage) json.RawMessage {
	switch method {
	case "getSignaturesForAddress":
		return json.RawMessage("[]")
	case "getMultipleAccounts":
		var answer struct {
			Context json.RawMessage   `json:"context"`
			Value   []json.RawMessage `json:"value"`
		}
		if json.Unmarshal(result, &answer) != nil {
			return result
		}
		for i, a := range answer.Value {
			for _, p := range l.Programs() {
				if bytes.Contains(a, []byte(p.Swap.String())) { // its owner
					answer.Value[i] = json.RawMessage("null")
				}
			}
		}
		text, _ := json.Marshal(answer)
		return text
	}
	return result
}

// account is a key as the suite wants it.
type account struct {
	net *localNet
	*devnet.Account
}

func (a account) Address() string { return a.Account.Address.String() }

// Sign signs as a wallet does: beside the signatures that are there already, and with
// the keys that come along.
func (a account) Sign(t *testing.T, u chains.Unsigned) []string {
	t.Helper()
	out := make([]string, len(u.Txs))
	for i, text := range u.Txs {
		tx, more := unsigned(t, text)
		message := trial.Must(tx.Message.MarshalBinary())(t)
		for _, key := range append(more, ed25519.PrivateKey(a.Key)) {
			place := slices.Index(tx.Message.AccountKeys, sol.PublicKeyFromBytes(key.Public().(ed25519.PublicKey)))
			if place < 0 || place >= len(tx.Signatures) {
				place = 0 // somebody whose signature is not asked for
			}
			tx.Signatures[place] = sol.SignatureFromBytes(ed25519.Sign(key, message))
		}
		raw := trial.Must(tx.MarshalBinary())(t)
		out[i] = hex.EncodeToString(raw)
	}
	return out
}

// unsigned decodes what an action asks to sign, and the keys that go with it.
func unsigned(t *testing.T, text string) (*sol.Transaction, []ed25519.PrivateKey) {
	t.Helper()
	var in struct {
		Tx      string
		Signers []string
	}
	trial.Do(t, json.Unmarshal([]byte(text), &in))
	raw := trial.Must(hex.DecodeString(in.Tx))(t)
	tx := trial.Must(sol.TransactionFromBytes(raw))(t)
	var keys []ed25519.PrivateKey
	for _, s := range in.Signers {
		key := trial.Must(hex.DecodeString(s))(t)
		keys = append(keys, key)
	}
	return tx, keys
}

func (a account) data(e chains.Escrow) *wire.SwapData {
	d := trial.Must(wire.ParseSwapData(e.Data))(a.net.t)
	return d
}

// AuthorizeInit signs the whole transaction with the newest finalized block hash, as
// LPs do, whoever the account is.
func (a account) AuthorizeInit(t *testing.T, e chains.Escrow, feeRate, sender string, until time.Time) chains.Auth {
	t.Helper()
	d := a.data(e)
	from := trial.Must(wire.ParseKey(sender))(t)
	rate := trial.Must(wire.ParseFeeRate(feeRate))(t)
	tx := trial.Must(a.net.program.InitTx(d, from, uint64(until.Unix()), rate))(t)
	var block *bank.Block
	a.net.Bank().Read(bank.Finalized, 0, func(v *bank.View) { block = v.Head() })
	tx.Blockhash = block.Hash
	m := trial.Must(tx.Message())(t)
	raw := trial.Must(m.MarshalBinary())(t)
	return chains.Auth{Prefix: d.InitPrefix(), Timeout: until.Unix(), Signature: fmt.Sprintf("%d;%x", block.Slot, ed25519.Sign(ed25519.PrivateKey(a.Key), raw))}
}

func (a account) AuthorizeRefund(t *testing.T, e chains.Escrow, until time.Time) chains.Auth {
	t.Helper()
	m := a.data(e).RefundMessage(uint64(until.Unix()))
	return wire.RefundAuth{Timeout: uint64(until.Unix()), Signature: wire.Signature(ed25519.Sign(ed25519.PrivateKey(a.Key), m[:]))}.Auth()
}

func (a account) SignData(t *testing.T, data []byte) string {
	t.Helper()
	return hex.EncodeToString(signData(a.Key, data))
}

func (l *localNet) Facts() chaintest.Facts {
	other := wire.ATA(devnet.WBTC, devnet.USDC).String() // off the curve, as token accounts are
	hash := strings.Repeat("07", 32)
	f := chaintest.Facts{
		Token:       devnet.WBTC.String(),
		SameAddress: []string{"9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin"},
		NoAddress: []string{"MsFWSVWqPbN2tkNEBcVDdjoc2JawAzZzZtqRbkenWS4", "hs3epxtgagetezn7bwkfz4qopr7ylabrwxtsouygs4bh", "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B",
			"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"},
		ZeroAddress: strings.Repeat("1", 32),
		EscrowMembers: map[string]any{
			"offerer": other, "claimer": other, "token": other, "programId": other, "version": map[string]string{wire.V1: wire.V2, wire.V2: wire.V1}[l.program.Version],
			"type": "evm", "kind": 3, "paymentHash": hash, "nonce": "5", "confirmations": 7, "payIn": false, "payOut": true, "offererAta": other, "claimerAta": other,
			"amount": "1", "sequence": "5", "expiry": "2000000001", "securityDeposit": "1", "claimerBounty": "1", "txoHash": hash,
		},
		Free: []chaintest.FreeMember{
			{Member: "sequence", Value: "123456", May: chains.Tolerance{AnySequence: true}},
			{Member: "expiry", Value: "2000000000", May: chains.Tolerance{AnyExpiry: true}},
			{Member: "amount", Value: "500000000", May: chains.Tolerance{AtLeastAmount: true}},
			{Member: "txoHash", Value: hash, May: chains.Tolerance{AnyExtraData: true}},
		},
		Alterations:    alterations(),
		AuthLate:       54 * time.Second, // its block hash counts for a minute, less some slots
		SignedOpenings: true,
		ProofTxs:       2, // the Bitcoin transaction is written into an account before
		GasPayers:      true,
		Trips: chaintest.Trips{
			Heads: 1, Balance: 1,
			FeeRate: 3, // the first time: whether nodes estimate, what was paid lately, some blocks
			Send:    2, // both nodes at once
			Status:  1, Escrows: 1, EscrowsOpened: 2, EscrowsAgain: 1, EscrowsManyNone: 1, Search: 1, SearchFound: 1,
			VerifyInit: 2,                                                         // at once
			Build:      3, BuildProof: 5, BuildProofAgain: 4, BuildProofBehind: 8, // four at once, and what follows from them
			Hints: 2, Admit: 1, Liquidity: 1, History: 2,
		},
	}
	if l.program.Version == wire.V2 { // a claim without a data account is tried
		f.Trips.BuildProof++
		f.Trips.BuildProofAgain++
	}
	return f
}
