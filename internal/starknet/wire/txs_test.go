package wire

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// merkleJSON is a proof in the vectors; hashes are in internal order.
type merkleJSON struct {
	Merkle      []string
	Pos         uint32
	Blockheight uint32
}

func (m merkleJSON) proof(t testing.TB, id bitcoin.Hash) bitcoin.MerkleProof {
	t.Helper()
	p := bitcoin.MerkleProof{TxID: id, Pos: m.Pos, Height: m.Blockheight}
	for _, s := range m.Merkle {
		p.Hashes = append(p.Hashes, bitcoin.Hash(vectors.Unhex(t, s)))
	}
	return p
}

// btcTxJSON is a Bitcoin transaction in the vectors.
type btcTxJSON struct {
	TxID, Hex, Blockhash string
	merkleJSON
}

func (b btcTxJSON) id(t testing.TB) bitcoin.Hash {
	t.Helper()
	tx := trial.Must(rawtx.Decode(vectors.Unhex(t, b.Hex)))(t)
	if id := tx.TxHash(); id.String() != b.TxID {
		t.Errorf("the transaction is %s, want %s", id, b.TxID)
	}
	return tx.TxHash()
}

func (b btcTxJSON) withdrawal(t testing.TB) chains.Withdrawal {
	t.Helper()
	return trial.Must(withdrawalOf(t, b.Hex))(t)
}

func withdrawalOf(t testing.TB, raw string) (chains.Withdrawal, error) {
	t.Helper()
	tx, err := rawtx.Decode(vectors.Unhex(t, raw))
	if err != nil {
		return chains.Withdrawal{}, err
	}
	return ParseWithdrawal(tx)
}

func storedOf(t testing.TB, felts []string) StoredHeader {
	t.Helper()
	return trial.Must(ParseStoredHeader(feltsOf(t, felts)))(t)
}

// vaultOf reads a vault. Some of the vectors are at outputs of transactions with
// ids that are too long; nothing that is built from those depends on it.
func vaultOf(t testing.TB, text json.RawMessage) (v Vault) {
	t.Helper()
	var j map[string]any
	trial.Do(t, json.Unmarshal(text, &j))
	if id, _, ok := strings.Cut(j["utxo"].(string), ":"); ok && len(id) > 64 {
		j["utxo"] = strings.Repeat("1", 64) + ":0"
		if err := json.Unmarshal(text, &v); err == nil {
			t.Error("an id that is too long is read")
		}
		text, _ = json.Marshal(j)
	}
	trial.Do(t, json.Unmarshal(text, &v))
	return v
}

type txInput struct {
	Fn, BitcoinNetwork, Sender, Signer, FeeRate, Nonce, Secret, Mode, Token, Amount, Recipient, AccountAnswers string
	Swap, Vault                                                                                                json.RawMessage
	Authorization                                                                                              authJSON
	Now                                                                                                        int64
	CheckExpiry, TxHexLengthIsMultipleOf31                                                                     bool
	LatestBlockGasPrices                                                                                       map[string]struct {
		Price string `json:"price_in_fri"`
	}
	Tx                          struct{ btcTxJSON }
	RequiredConfirmations, Vout uint32
	StoredHeaderFelts           []string
	MerkleProof                 *merkleJSON
	Rpc                         []exchange
	Withdrawals                 []btcTxJSON
	Withdrawal                  btcTxJSON
	ForkId                      uint64
	TipChainWork                string
	Headers                     []struct{ Raw string }
}

func TestVectorsTxs(t *testing.T) {
	vectors.Each(t, "chain-starknet", "txs", func(t *testing.T, c *vectors.Case) {
		var in txInput
		c.Input(t, &in)
		n, d := networkOf(t, in.BitcoinNetwork), deploymentOf(t, in.BitcoinNetwork)
		var extra map[string]any
		invokes, err := in.build(t, c, n, d, &extra)
		if c.Refuses(t, err) {
			return
		}
		signer := feltOf(t, in.Sender+in.Signer) // one of them is set
		rate := feeRateOf(t, in.FeeRate)
		var want struct {
			Txs []struct {
				Serialized      string
				ExecuteCalldata []string
				TxHash          *string
			}
		}
		c.Expected(t, &want)
		nonce, _ := strconv.ParseUint(in.Nonce, 10, 64)
		var txs []*Transaction
		if nonce == 0 { // the account is not deployed: its deployment goes at the present rate
			p := in.LatestBlockGasPrices
			now := trial.Must(RateFor(bigOf(t, p["l1_gas_price"].Price), bigOf(t, p["l2_gas_price"].Price), bigOf(t, p["l1_data_gas_price"].Price)))(t)
			txs, nonce = append(txs, n.NewDeploy(signer, now)), 1
		}
		if strings.Contains(c.Name, "x11") { // as the reference groups the claims they are what it hands out
			c.Differ(t, "stark-claims-per-tx")
			var grouped [][]Call
			for _, calls := range invokes {
				if gasOf(calls).L2 > maxTxGas {
					t.Errorf("%d claims ask for %d L2 gas", len(calls), gasOf(calls).L2)
				}
				for _, call := range calls {
					if last := len(grouped) - 1; last >= 0 && len(grouped[last]) < MaxVaultClaims {
						grouped[last] = append(grouped[last], call)
					} else {
						grouped = append(grouped, []Call{call})
					}
				}
			}
			invokes = grouped
		}
		for _, calls := range invokes {
			txs = append(txs, n.NewInvoke(signer, nonce, rate, calls))
			nonce++
		}
		if len(txs) != len(want.Txs) {
			t.Fatalf("%d transactions, want %d", len(txs), len(want.Txs))
		}
		for i, tx := range txs {
			w := want.Txs[i]
			again, err := ParseTransaction(tx.String())
			if err != nil || again.String() != tx.String() {
				t.Errorf("read back as %+v, %v", again, err)
			}
			h := trial.Must(tx.Hash())(t)
			switch {
			case strings.Contains(c.Name, "same token"):
				c.Differ(t, "stark-approve-sum")
				s := swapOf(t, in.Swap)
				sum := s.TotalDeposit()
				if calls := invokes[0]; len(calls) != 2 || calls[0].Allowance.Amount.Cmp(sum.Add(sum, s.Amount)) != 0 || !slices.Equal(calls[0].Calldata, felts{d.EscrowManager.Address}.u256(sum)) {
					t.Errorf("calls %+v", calls)
				}
			case in.arraysDiffer():
				c.Differ(t, "stark-byte-array")
				if _, err := ParseExecuteCalldata(feltsOf(t, w.ExecuteCalldata)); err != nil || Hex64(h) == *w.TxHash {
					t.Errorf("the reference's form is the same: %v", err)
				}
			default:
				if tx.String() != w.Serialized {
					t.Errorf("got  %s\nwant %s", tx, w.Serialized)
				}
				if w.TxHash != nil && (Hex64(h) != *w.TxHash || !slices.Equal(hexes(ExecuteCalldata(tx.Calls)), w.ExecuteCalldata)) {
					t.Errorf("hash %s, want %s", Hex64(h), *w.TxHash)
				}
			}
			if tx.Type == Invoke {
				made, err := ParseExecuteCalldata(ExecuteCalldata(tx.Calls))
				if err != nil || !slices.Equal(ExecuteCalldata(made), ExecuteCalldata(tx.Calls)) {
					t.Errorf("the calls are read back as %+v, %v", made, err)
				}
			}
		}
		if extra != nil {
			var all map[string]json.RawMessage
			c.Expected(t, &all)
			for name, got := range extra {
				vectors.SameJSON(t, all[name], got)
			}
			if len(all) != len(extra)+1 {
				t.Errorf("%d answers, %d compared", len(all), len(extra)+1)
			}
		}
	})
}

// arraysDiffer reports whether the reference writes a Bitcoin transaction of the case in
// another form of bytes.
func (in txInput) arraysDiffer() bool {
	for _, w := range in.Withdrawals {
		if len(w.Hex)/2%chunk == 0 {
			return true
		}
	}
	return in.TxHexLengthIsMultipleOf31
}

// build does what the case is about.
func (in txInput) build(t *testing.T, c *vectors.Case, n Network, d Deployment, extra *map[string]any) (invokes [][]Call, err error) {
	one := func(call Call, err error) ([][]Call, error) { return [][]Call{{call}}, err }
	many := func(calls []Call, err error) ([][]Call, error) { return [][]Call{calls}, err }
	var s SwapData
	if in.Swap != nil {
		s = swapOf(t, in.Swap)
	}
	now := time.Unix(in.Now, 0)
	switch in.Fn {
	case "txsInit":
		return many(d.Init(s, feltOf(t, in.Sender), in.Authorization.auth(t)))
	case "txsClaimWithSecret":
		secret := vectors.Unhex(t, in.Secret)
		if len(secret) != 32 { // which the type of a secret rules out
			return nil, errors.New("short secret")
		}
		if in.CheckExpiry && !s.ClaimInTime(now, 0) {
			return nil, errors.New("too late")
		}
		call, err := d.ClaimBySecret(s, [32]byte(secret))
		if err == nil && !call.Reveals {
			t.Error("the claim does not say that it reveals the secret")
		}
		return one(call, err)
	case "txsClaimWithTxData":
		if in.MerkleProof == nil { // the backend found no proof
			return nil, errors.New("no proof")
		}
		id := in.Tx.id(t)
		p := BitcoinProof{Tx: vectors.Unhex(t, in.Tx.Hex), Vout: in.Vout, Confirmations: in.RequiredConfirmations, Merkle: in.MerkleProof.proof(t, id)}
		if in.StoredHeaderFelts != nil {
			p.Header = storedOf(t, in.StoredHeaderFelts)
		} else if p.Header, err = headerFromRelay(t, c, d, in.Rpc, in.MerkleProof.Blockheight+in.RequiredConfirmations-1); err != nil {
			return nil, err
		}
		return one(d.ClaimByBitcoin(s, p))
	case "txsRefund":
		return one(d.Refund(s, now))
	case "txsRefundWithAuthorization":
		a := in.Authorization.auth(t)
		q, err := n.CheckRefund(s, a, now)
		if err != nil {
			return nil, err
		}
		if signed, err := ReadSignatureAnswer(feltsOf(t, []string{in.AccountAnswers})); err != nil || !signed {
			return nil, errors.Join(err, q.Refused(true))
		}
		return one(d.RefundAuthorized(s, a))
	case "txsTransfer":
		return one(Transfer(feltOf(t, in.Token), feltOf(t, in.Recipient), bigOf(t, in.Amount)))
	case "txsLpDeposit", "txsLpWithdraw", "txsSpvFront", "txsSpvDeposit", "txsSpvOpen":
		c.NotOurs(t, "provider-calls")
	case "txsSpvClaim":
		v := vaultOf(t, in.Vault)
		if len(in.Withdrawals) == 0 { // of a closed vault
			_, err := d.VaultClaim(v, BitcoinProof{})
			return nil, err
		}
		var claims []Call
		for _, w := range in.Withdrawals {
			if w.Blockhash == "" {
				return nil, errors.New("not confirmed")
			}
			call, err := d.VaultClaim(v, BitcoinProof{Tx: vectors.Unhex(t, w.Hex), Header: storedOf(t, in.StoredHeaderFelts), Merkle: w.proof(t, w.id(t))})
			if err != nil {
				return nil, err
			}
			claims = append(claims, call)
		}
		return Batches(claims), nil
	case "relaySubmit":
		var headers []bitcoin.Header
		for _, h := range in.Headers {
			parsed := trial.Must(bitcoin.ParseHeader(vectors.Unhex(t, h.Raw), 0))(t)
			headers = append(headers, parsed)
		}
		base := storedOf(t, in.StoredHeaderFelts)
		call, stored, err := d.SubmitHeaders(Branch{Short: in.Mode == "short fork", Fork: in.ForkId}, base, headers)
		if err != nil {
			return nil, err
		}
		if err := checkHeaders(call.selector(), call.Calldata); err != nil {
			t.Errorf("the headers are refused: %v", err)
		}
		last, computed := stored[len(stored)-1], [][]string{hexes(base.Felts())}
		for _, h := range stored {
			computed = append(computed, hexes(h.Felts()))
		}
		fork := int64(in.ForkId)
		switch {
		case in.Mode == "short fork":
			fork = -1
		case fork != 0 && last.Work.Cmp(bigOf(t, "0x"+in.TipChainWork)) > 0: // the fork is the main chain then
			fork = 0
		}
		*extra = map[string]any{"forkId": fork, "lastStoredHeaderFelts": hexes(last.Felts()), "computedHeaders": computed}
		return one(call, err)
	}
	t.Fatalf("unknown %s", in.Fn)
	return nil, nil
}

// headerFromRelay reads the answers of a node in the order in which the reference asked:
// the relay's height, the events of a block, and what the relay has at its height.
func headerFromRelay(t *testing.T, c *vectors.Case, d Deployment, rpc []exchange, required uint32) (StoredHeader, error) {
	t.Helper()
	behind := errors.New("the relay has not the header")
	var found *StoredHeaderEvent
	var named Felt
	for _, x := range rpc {
		switch x.Method {
		case "starknet_call":
			if x.Error != nil {
				return StoredHeader{}, behind
			}
			answer := x.felts(t)
			switch feltOf(t, x.Params.Request.EntryPointSelector) {
			case Selector(EntryBlockHeight):
				height := trial.Must(ReadRelayNumber(answer))(t)
				if height < required {
					return StoredHeader{}, behind
				}
			case Selector(EntryCommitHash):
				commit, err := ReadCommitHash(answer)
				if err != nil || found == nil {
					t.Fatal(err)
				}
				if commit != named {
					return StoredHeader{}, behind
				}
				return found.Header, nil
			}
		case "starknet_getEvents":
			for _, l := range logsOf(t, x.Result) {
				if found = recommitted(t, c, d, l.Log); found != nil {
					named = l.Keys[1]
				}
			}
		}
	}
	return StoredHeader{}, behind
}

// recommitted reads an event of the relay. Those of the vectors name commitments that
// their headers do not hash to, and are refused for it; with the right one they are read.
func recommitted(t *testing.T, c *vectors.Case, d Deployment, l Log) *StoredHeaderEvent {
	t.Helper()
	c.Differ(t, "stark-relay-commit")
	if e, err := d.DecodeLog(l); err == nil {
		t.Errorf("a header under another commitment is read: %+v", e)
	}
	l.Keys = slices.Clone(l.Keys)
	l.Keys[1] = Poseidon(l.Data...)
	e := trial.Must(d.DecodeLog(l))(t)
	stored, ok := e.(StoredHeaderEvent)
	if !ok || stored.CommitHash != l.Keys[1] || !slices.Equal(stored.Header.Felts(), l.Data) || len(l.Keys) == 4 && stored.Fork != l.Keys[3] {
		t.Fatalf("%+v", e)
	}
	return &stored
}

// logsOf reads the events of a node's answer.
func logsOf(t testing.TB, result json.RawMessage) (all []VaultLog) {
	t.Helper()
	var answer struct {
		Events []struct {
			Keys, Data  []string
			FromAddress string `json:"from_address"`
			Block       uint64 `json:"block_number"`
			Tx          string `json:"transaction_hash"`
		}
	}
	trial.Do(t, json.Unmarshal(result, &answer))
	for _, e := range answer.Events {
		all = append(all, VaultLog{Log{feltOf(t, e.FromAddress), feltsOf(t, e.Keys), feltsOf(t, e.Data)}, e.Tx, e.Block})
	}
	return all
}
