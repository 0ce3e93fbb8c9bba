package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/trial"
)

// service is how a user reaches the operations, in their JSON. Errors end the test.
type service interface {
	create(d direction) (swapID string)
	status(swapID string) *status
	submit(swapID string, signed []string)
	settle(swapID, link string)
	balance(token, wallet string) *big.Int
}

// amount is the part of an amount that is read here.
type amount struct{ RawAmount string }

// status is the part of a swap's status that is read here.
type status struct {
	SwapType              string
	State                 struct{ Name, Description string }
	IsFinished, IsSuccess bool
	Quote                 struct{ OutputAmount amount }
	CurrentAction         json.RawMessage
}

// payment is the part of a SendToAddress action that is read here.
type payment struct {
	Txs []struct {
		Type, Address string
		Amount        amount
	}
}

// direction is a swap to make.
type direction struct {
	from, to           string
	payer, recipient   string
	decimal, baseUnits string // of the amount
	exactOut           bool
	link               string // an LNURL-withdraw link that pays the invoice; "": the user does
	gas                bool   // from a trusted provider
}

func (d direction) String() string { return d.from + " to " + d.to }

// directions returns one of each on a chain; an invoice is made for each that needs one.
func (s *stand) directions(chain, wallet string) []direction {
	token := chain + "-WBTC"
	return []direction{
		{from: token, to: "LIGHTNING-BTC", payer: wallet, recipient: "invoice", decimal: "0.0005", baseUnits: "50000", exactOut: true},
		{from: "LIGHTNING-BTC", to: token, recipient: wallet, decimal: "0.0005", baseUnits: "50000"},
		// Enough for what it costs to bring a relay up to date: blocks come every half second, and only claims on the chain do it.
		{from: "BITCOIN-BTC", to: token, recipient: wallet, decimal: "0.002", baseUnits: "200000"},
		{from: token, to: "BITCOIN-BTC", payer: wallet, recipient: s.says.Users.Taproot.Address, decimal: "0.0005", baseUnits: "50000"},
	}
}

// all returns the directions of every chain, and what links pay and are paid.
func (s *stand) all() []direction {
	u := s.says.Users
	list := s.directions("CITREA", u.EVM.Address)
	list = append(list, s.directions("SOLANA", u.Solana.Address)...)
	list = append(list, s.directions("STARKNET", u.Starknet.Address)...)
	toLink, fromLink := list[0], list[1]
	toLink.recipient, fromLink.link = s.says.LNURL.Pay, s.says.LNURL.Withdraw
	return append(list, toLink, fromLink)
}

// try makes swaps as a user of a service, and compares what was received with what was quoted.
func (s *stand) try(c service, list []direction) {
	for _, d := range list {
		s.Run(d.String(), func(t *testing.T) {
			s := *s
			s.T = t
			s.swap(c, d)
		})
	}
}

// swap makes a swap and does all that it asks for.
func (s *stand) swap(c service, d direction) {
	paid := s.expect(c, &d)
	id := c.create(d)
	if d.link != "" {
		c.settle(id, d.link)
	}
	sent := d.link != ""
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(300 * time.Millisecond) {
		now := c.status(id)
		if now.IsFinished {
			if !now.IsSuccess {
				s.Fatalf("%s ended as %s: %s", now.SwapType, now.State.Name, now.State.Description)
			}
			paid(now)
			return
		}
		if time.Now().After(deadline) {
			s.Fatalf("%s is in %s: %s", now.SwapType, now.State.Name, now.State.Description)
		}
		var action struct{ Type string }
		if len(now.CurrentAction) > 0 {
			s.read(now.CurrentAction, &action)
		}
		switch action.Type {
		case "SignSmartChainTransaction", "SignPSBT":
			var signed []string
			s.read(s.post("/sign", nil, now.CurrentAction)["signedTxs"], &signed)
			c.submit(id, signed)
		case "SendToAddress":
			if sent {
				continue // the provider has not seen it yet
			}
			sent = true
			var p payment
			s.read(now.CurrentAction, &p)
			if to := p.Txs[0]; to.Type == "BITCOIN_ADDRESS" {
				s.post("/fund", url.Values{"address": {to.Address}, "sats": {to.Amount.RawAmount}}, nil)
			} else {
				s.post("/pay", url.Values{"invoice": {to.Address}}, nil)
			}
		case "Wait", "":
		default:
			s.Fatalf("an action of the unknown type %q", action.Type)
		}
	}
}

// expect makes the invoice that a direction pays, and returns what checks, at the end, that its
// recipient has got what was quoted.
func (s *stand) expect(c service, d *direction) func(*status) {
	switch {
	case d.recipient == "invoice":
		invoice := s.post("/invoice", url.Values{"sats": {d.baseUnits}}, nil)
		var hash string
		s.read(invoice["invoice"], &d.recipient)
		s.read(invoice["paymentHash"], &hash)
		return func(*status) {
			var got struct{ State string }
			if err := get(s.says.Control+"/invoice?hash="+hash, &got); err != nil || got.State != "settled" {
				s.Errorf("the invoice is %s, %v; want settled", got.State, err)
			}
		}
	case d.to == "LIGHTNING-BTC": // a link, whose receiver is not asked
		return func(*status) {}
	}
	has := func() *big.Int { return c.balance(d.to, d.recipient) }
	switch {
	case d.to == "BITCOIN-BTC":
		has = func() *big.Int { return s.received(d.recipient) }
	case d.gas: // of which the service keeps back what a transaction costs
		has = func() *big.Int { return s.coins(d.recipient) }
	}
	before := has()
	return func(now *status) {
		s.eventually("the recipient has what was quoted", func() error {
			if got := new(big.Int).Sub(has(), before); got.String() != now.Quote.OutputAmount.RawAmount {
				return fmt.Errorf("received %s, quoted %s", got, now.Quote.OutputAmount.RawAmount)
			}
			return nil
		})
	}
}

// received returns what a Bitcoin address has, by the network's own REST API.
func (s *stand) received(address string) *big.Int {
	var coins []struct{ Value int64 }
	trial.Do(s, get(s.says.Bitcoin.REST+"address/"+address+"/utxo", &coins))
	sum := new(big.Int)
	for _, c := range coins {
		sum.Add(sum, big.NewInt(c.Value))
	}
	return sum
}

// coins returns what an account has of the EVM chain's own token, by its node.
func (s *stand) coins(account string) *big.Int {
	var got struct{ Result string }
	request := fmt.Sprintf(`{"jsonrpc": "2.0", "id": 1, "method": "eth_getBalance", "params": [%q, "latest"]}`, account)
	trial.Do(s, ask(http.MethodPost, s.says.EVM.RPC, []byte(request), &got))
	n, ok := new(big.Int).SetString(got.Result, 0)
	if !ok {
		s.Fatalf("a balance of %q", got.Result)
	}
	return n
}

// Each direction by the command line alone. Its user signs with the network's test wallet.
// The programs' own tests tell the rest of it at the default depth, without a program to build.
func TestCommandLine(t *testing.T) {
	trial.OnlyFull(t)
	t.Parallel()
	s := newStand(t, "v1")
	s.try(commandLine{s, []string{"-url", s.base, "-keys", filepath.Join(s.dir, "keys")}}, s.all())
	own := commandLine{s, []string{"-store", filepath.Join(s.dir, "own.db"), "-running", filepath.Join(s.dir, "local.json")}}
	s.try(own, []direction{{from: "LIGHTNING-BTC", to: "CITREA-CBTC", recipient: s.says.Users.EVM.Address, decimal: "0.001", gas: true}})
	own.run("", new([]any), "recover", s.says.Users.EVM.Address)
}

// Each direction by HTTP requests alone.
func TestRequests(t *testing.T) {
	trial.OnlyFull(t)
	t.Parallel()
	s := newStand(t, "v1")
	s.try(requests{s}, s.all()[1:])
}

// Both on Solana with the other version of its program, where swaps are of another type.
func TestOtherSolana(t *testing.T) {
	trial.OnlyFull(t)
	t.Parallel()
	s := newStand(t, "v2")
	list := s.directions("SOLANA", s.says.Users.Solana.Address)
	s.try(commandLine{s, []string{"-url", s.base, "-keys", filepath.Join(s.dir, "keys")}}, list)
	s.try(requests{s}, list)
}

// commandLine reaches a service by examples/cli, or has one in its own process.
type commandLine struct {
	*stand
	service []string // the flags that say which
}

// run runs a command and reads the JSON that it prints.
func (c commandLine) run(in string, into any, args ...string) {
	c.Helper()
	cmd := exec.Command(filepath.Join(folder, "cli"), slices.Concat(c.service, []string{"-json"}, args)...)
	var out, said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &out, &said
	if err := cmd.Run(); err != nil {
		c.Fatalf("cli %q: %v\n%s%s", args, err, out.Bytes(), said.Bytes())
	}
	if err := json.Unmarshal(out.Bytes(), into); err != nil {
		c.Fatalf("cli %q: %v\n%s", args, err, out.Bytes())
	}
}

func (c commandLine) create(d direction) string {
	var s struct{ SwapID string }
	if d.gas {
		c.run("", &s, "gas", "-from", d.from, "-out", d.decimal, strings.TrimSuffix(d.to, "-CBTC"), d.recipient)
		return s.SwapID
	}
	args := []string{"create", "-from", d.from, "-to", d.to, "-recipient", d.recipient, "-in", d.decimal}
	if d.exactOut {
		args[len(args)-2] = "-out"
	}
	if d.payer != "" {
		args = append(args, "-payer", d.payer)
	}
	c.run("", &s, args...)
	return s.SwapID
}

func (c commandLine) status(id string) (s *status) {
	c.run("", &s, "status", "-bitcoin", c.says.Users.Bitcoin.Address, "-public-key", c.says.Users.Bitcoin.PublicKey, id)
	return s
}

func (c commandLine) submit(id string, signed []string) {
	c.run(strings.Join(signed, "\n"), new(any), "submit", id)
}

func (c commandLine) settle(id, link string) { c.run("", new(any), "settle", id, link) }

func (c commandLine) balance(token, wallet string) *big.Int {
	var b struct{ Balance amount }
	c.run("", &b, "balance", token, wallet)
	return c.number(b.Balance)
}

func (s *stand) number(a amount) *big.Int {
	s.Helper()
	n, ok := new(big.Int).SetString(a.RawAmount, 10)
	if !ok {
		s.Fatalf("%q is not a number", a.RawAmount)
	}
	return n
}

// requests reaches the service by HTTP requests.
type requests struct{ *stand }

func (c requests) call(operation string, body map[string]any, into any) {
	c.Helper()
	text, err := json.Marshal(body)
	if err == nil {
		err = ask(http.MethodPost, c.base+"/api/"+operation, text, into)
	}
	if err != nil {
		c.Fatal(err)
	}
}

func (c requests) create(d direction) string {
	body := map[string]any{"srcToken": d.from, "dstToken": d.to, "amount": d.baseUnits, "amountType": "EXACT_IN", "dstAddress": d.recipient}
	if d.exactOut {
		body["amountType"] = "EXACT_OUT"
	}
	if d.payer != "" {
		body["srcAddress"] = d.payer
	}
	var s struct{ SwapID string }
	c.call("createSwap", body, &s)
	return s.SwapID
}

func (c requests) status(id string) (s *status) {
	u := c.says.Users.Bitcoin
	q := url.Values{"swapId": {id}, "bitcoinAddress": {u.Address}, "bitcoinPublicKey": {u.PublicKey}}
	trial.Do(c, get(c.base+"/api/getSwapStatus?"+q.Encode(), &s))
	return s
}

func (c requests) submit(id string, signed []string) {
	c.call("submitTransaction", map[string]any{"swapId": id, "signedTxs": signed}, nil)
}

func (c requests) settle(id, link string) {
	c.call("settleWithLnurl", map[string]any{"swapId": id, "lnurlWithdraw": link}, nil)
}

func (c requests) balance(token, wallet string) *big.Int {
	var b struct{ Balance amount }
	trial.Do(c, get(c.base+"/api/getSpendableBalance?"+url.Values{"token": {token}, "wallet": {wallet}}.Encode(), &b))
	return c.number(b.Balance)
}

// The script of docs/integrate.md makes each direction with curl.
func TestDocumentedScript(t *testing.T) {
	trial.OnlyFull(t)
	t.Parallel()
	for _, program := range []string{"bash", "curl", "jq"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the script is run with %s, which is not installed", program)
		}
	}
	text := trial.Must(os.ReadFile("../docs/integrate.md"))(t)
	_, rest, ok := strings.Cut(string(text), "```sh\n")
	script, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatal("docs/integrate.md has no sh block")
	}
	s := newStand(t, "v1")
	script = strings.NewReplacer("http://127.0.0.1:3000", s.base, "examples/server/local.json", "local.json").Replace(script)
	for _, d := range s.all() {
		if d.link != "" {
			continue // settleWithLnurl pays, and the script is for wallets
		}
		s.Run(d.String(), func(t *testing.T) {
			own := *s
			own.T = t
			paid := own.expect(requests{&own}, &d)
			kind := "EXACT_IN"
			if d.exactOut {
				kind = "EXACT_OUT"
			}
			c := exec.Command("bash", "-euo", "pipefail", "-c", script+"\nswap "+strings.Join([]string{d.from, d.to, d.baseUnits, kind, d.recipient, d.payer}, " "))
			c.Dir = s.dir
			out, err := c.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			id, _, _ := strings.Cut(string(out), "\n")
			now := requests{&own}.status(id)
			if !now.IsSuccess {
				t.Fatalf("ended as %s\n%s", now.State.Name, out)
			}
			paid(now)
		})
	}
}
