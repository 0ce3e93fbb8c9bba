package tokenlist_test

import (
	"encoding/json"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	evmwire "github.com/swapper-go/swapper/internal/evm/wire"
	solwire "github.com/swapper-go/swapper/internal/solana/wire"
	starkwire "github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/tokenlist"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
	"github.com/swapper-go/swapper/tokens"
)

// chain returns the registry's part for one of the chains of the catalogue.
func chain(id string) tokenlist.Chain {
	rule := evmwire.TokenAddress
	switch id {
	case "SOLANA":
		rule = solwire.TokenAddress
	case "STARKNET":
		rule = func(s string) (string, error) { return starkwire.Address(s) }
	}
	return tokenlist.Chain{ID: id, Tokens: tokens.Known(id), TokenAddress: rule}
}

func registry(t testing.TB, ids ...string) *tokenlist.Registry {
	t.Helper()
	chains := make([]tokenlist.Chain, len(ids))
	for i, id := range ids {
		chains[i] = chain(id)
	}
	return trial.Must(tokenlist.New(chains...))(t)
}

var everyChain = []string{"STARKNET", "SOLANA", "BOTANIX", "CITREA", "ALPEN", "GOAT"}

// wireToken is ApiToken.
type wireToken struct {
	ID       string `json:"id"`
	ChainID  string `json:"chainId"`
	Ticker   string `json:"ticker"`
	Name     string `json:"name"`
	Decimals int    `json:"decimals"`
	Address  string `json:"address"`
}

func wire(t tokens.Token) wireToken {
	return wireToken{t.ID(), t.Chain, t.Ticker, t.Name, t.Decimals, t.Address}
}

func TestVectorsTokens(t *testing.T) {
	file := vectors.Load(t, "utilities", "tokens")
	file.Each(t, func(t *testing.T, c *vectors.Case) {
		var in struct {
			ID     string
			Chains []string
		}
		c.Input(t, &in)
		got, err := registry(t, in.Chains...).Resolve(in.ID)
		want := c.Want(t)
		var reference json.RawMessage
		if c.Expected(t, &reference); !vectors.Refused(reference) && err != nil {
			if _, name, _ := strings.Cut(in.ID, "-"); slices.Contains(objectMembers, name) {
				vectors.SameJSON(t, reference, map[string]bool{"error": false, "notAToken": true})
			} else {
				vectors.SameJSON(t, reference, wire(theirs(t, in.ID, in.Chains)))
			}
		}
		if id, differs := ownRule(in.ID, in.Chains); differs && !vectors.Refused(want) {
			c.Differ(t, id)
			if err == nil {
				t.Errorf("accepted as %s", got.ID())
			}
			return
		}
		if vectors.Refused(want) {
			if err == nil {
				t.Errorf("accepted as %s", got.ID())
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		vectors.SameJSON(t, want, wire(got))
	})

	var whole []struct {
		wireToken
		DisplayDecimals *int
		Text            string
	}
	file.Member(t, "registry", &whole)
	var got, want []tokens.Token
	got = append(got, tokens.BTC(), tokens.LightningBTC())
	for _, id := range everyChain {
		got = append(got, tokens.Known(id)...)
	}
	for _, w := range whole {
		want = append(want, tokens.Token{Chain: w.ChainID, Ticker: w.Ticker, Name: w.Name, Decimals: w.Decimals,
			DisplayDecimals: shown(w.DisplayDecimals, w.Decimals), Address: w.Address})
		if token, ok := registry(t, everyChain...).ByID(w.ID); !ok || token.String() != w.Text {
			t.Errorf("%s: %v, display text %q, want %q", w.ID, ok, token, w.Text)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("catalogue differs (-want +got):\n%s", diff)
	}
}

// objectMembers are names that every object of JavaScript has, and so also the
// reference's tables of tokens.
var objectMembers = []string{"toString", "constructor", "__proto__", "valueOf", "hasOwnProperty", "name", "length"}

// theirs is the token that the reference takes a text for where it is refused
// here: of any chain that it knows, without what follows a second hyphen, and an
// address of several chains is the first one's.
func theirs(t *testing.T, id string, chains []string) tokens.Token {
	t.Helper()
	if parts := strings.Split(id, "-"); len(parts) > 2 {
		id = parts[0] + "-" + parts[1]
	}
	if token, ok := registry(t, everyChain...).ByID(id); ok {
		return token
	}
	for _, chain := range everyChain { // in the order in which it knows them
		if !slices.Contains(chains, chain) {
			continue
		}
		if token, err := registry(t, chain).Resolve(id); err == nil {
			return token
		}
	}
	t.Fatalf("no chain has a token %q", id)
	return tokens.Token{}
}

// ownRule says which of our rules refuses a token string that the reference
// takes: a chain that is not configured, a second hyphen, an address that
// several chains have.
func ownRule(id string, chains []string) (difference string, differs bool) {
	if id == "BTC" || id == "BTC-LN" || id == "BTCLN" {
		return "", false
	}
	switch prefix, _, prefixed := strings.Cut(id, "-"); {
	case strings.Count(id, "-") > 1:
		return "token-one-hyphen", true
	case prefixed && prefix != "BITCOIN" && prefix != "LIGHTNING" && !slices.Contains(chains, prefix):
		return "token-chain-configured", true
	}
	evmChains := 0
	for _, c := range chains {
		if c != "SOLANA" && c != "STARKNET" {
			evmChains++
		}
	}
	if id == "0x0000000000000000000000000000000000000000" && evmChains > 1 {
		return "token-ambiguous-address", true
	}
	return "", false
}

func TestVectorsGetToken(t *testing.T) {
	vectors.Each(t, "swap-flows-spv-and-core", "get_token", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Token  string
			Chains []string
		}
		c.Input(t, &in)
		r := registry(t, in.Chains...)
		got, err := r.Resolve(in.Token)
		want := c.Want(t)
		if id, differs := ownRule(in.Token, in.Chains); differs && !vectors.Refused(want) {
			c.Differ(t, id)
			token := theirs(t, in.Token, in.Chains)
			vectors.SameJSON(t, want, map[string]string{"id": token.ID(), "address": token.Address})
			if err == nil {
				t.Errorf("accepted as %s", got.ID())
			}
			return
		}
		if vectors.Refused(want) && err == nil {
			c.Differ(t, foundByValue(t, in.Token, got))
			return
		}
		if vectors.Refused(want) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		vectors.SameJSON(t, want, map[string]string{"id": got.ID(), "address": got.Address})
	})
}

// foundByValue returns the rule by which a text that the reference does not
// know is a token: it is its address in another spelling, or stands behind the
// name of its chain.
func foundByValue(t *testing.T, text string, got tokens.Token) (difference string) {
	t.Helper()
	difference = "token-address-value"
	if rest, ok := strings.CutPrefix(text, got.Chain+"-"); ok {
		difference, text = "utilities/tokens", rest
	} else if text == got.Address {
		t.Errorf("%s is refused by the reference, but is written as in its catalogue", text)
	}
	rule := chain(got.Chain).TokenAddress
	given, err := rule(text)
	known, bad := rule(got.Address)
	if err != nil || bad != nil || given != known {
		t.Errorf("%s accepted as %s: %v", text, got.ID(), err)
	}
	return difference
}

func TestVectorsTokenRegistry(t *testing.T) {
	vectors.Each(t, "swap-flows-spv-and-core", "token_registry", func(t *testing.T, c *vectors.Case) {
		var in struct{ ChainID string }
		c.Input(t, &in)
		var out struct {
			Tokens []struct {
				wireToken
				DisplayDecimals *int
			}
		}
		c.Expected(t, &out)
		var want []tokens.Token
		for _, w := range out.Tokens {
			want = append(want, tokens.Token{Chain: w.ChainID, Ticker: w.Ticker, Name: w.Name, Decimals: w.Decimals,
				DisplayDecimals: shown(w.DisplayDecimals, w.Decimals), Address: w.Address})
		}
		if diff := cmp.Diff(want, tokens.Known(in.ChainID)); diff != "" {
			t.Errorf("tokens differ (-want +got):\n%s", diff)
		}
	})
}

// The networks file is mostly about what the chains' presets offer; here its
// tokens are compared: the native one, and those beside which it can be dropped.
func TestVectorsNetworkTokens(t *testing.T) {
	vectors.Each(t, "swap-flows-spv-and-core", "networks", func(t *testing.T, c *vectors.Case) {
		var in struct{ ChainID string }
		c.Input(t, &in)
		var out struct {
			Error       bool
			NativeToken string
			GasDropFor  []string
		}
		c.Expected(t, &out)
		native, ok := tokens.Native(in.ChainID)
		if out.Error {
			// The chain does not start on this network, so nobody configures it and
			// none of its tokens is found.
			if _, err := registry(t).Resolve(native.ID()); err == nil {
				t.Error("token of a chain that is not configured is found")
			}
			return
		}
		r := registry(t, in.ChainID)
		if !ok || native.Address != out.NativeToken {
			t.Errorf("native token %+v, want address %s", native, out.NativeToken)
		}
		if found, ok := r.ByAddress(in.ChainID, out.NativeToken); !ok || found != native {
			t.Errorf("%s is %+v", out.NativeToken, found)
		}
		for _, ticker := range out.GasDropFor {
			if _, ok := r.ByTicker(in.ChainID, ticker); !ok {
				t.Errorf("no token %s-%s", in.ChainID, ticker)
			}
		}
	})
}

func TestVectorsDecimalFormat(t *testing.T) {
	vectors.Each(t, "utilities", "decimal_format", func(t *testing.T, c *vectors.Case) {
		var in struct {
			RawAmount       string
			Decimals        int
			DisplayDecimals *int
		}
		c.Input(t, &in)
		checkFormat(t, c, "amount", in.RawAmount, in.Decimals, shown(in.DisplayDecimals, in.Decimals))
	})
}

func TestVectorsDecimalParse(t *testing.T) {
	vectors.Each(t, "utilities", "decimal_parse", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Text     string
			Decimals int
		}
		c.Input(t, &in)
		checkParse(t, c, c.Want(t), "rawAmount", in.Text, in.Decimals)
	})
}

func TestVectorsAPIAmount(t *testing.T) {
	vectors.Each(t, "utilities", "api_amount", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Chain, Ticker   string
			Decimals        int
			DisplayDecimals *int
			RawAmount       *string
		}
		c.Input(t, &in)
		amount := tokens.NewAmount(nil, tokens.Token{Chain: in.Chain, Ticker: in.Ticker, Decimals: in.Decimals,
			DisplayDecimals: shown(in.DisplayDecimals, in.Decimals)})
		if in.RawAmount != nil {
			amount.Raw = integer(t, *in.RawAmount)
		}
		got := map[string]any{"amount": amount.Decimal(), "rawAmount": amount.Units(),
			"decimals": amount.Token.Decimals, "symbol": amount.Token.Ticker, "chain": amount.Token.Chain}
		vectors.SameJSON(t, c.Want(t), got)
		if in.RawAmount == nil { // of which the reference shows all but the text
			var theirs json.RawMessage
			c.Expected(t, &theirs)
			got["amount"] = ""
			vectors.SameJSON(t, theirs, got)
		}
	})
}

// badlyTrimmed drops zeros from the end of all decimals, as the reference's option
// does: it looks at all but the last of them, and so may drop one that is not zero.
func badlyTrimmed(text string, shown int) string {
	whole, frac, found := strings.Cut(text, ".")
	if !found {
		return text
	}
	end := len(frac)
	for i := len(frac) - 2; i >= 1 && frac[i] == '0'; i-- {
		end = i
	}
	return whole + "." + frac[:min(end, shown)]
}

func TestVectorsBitcoinDecimals(t *testing.T) {
	vectors.Each(t, "bitcoin", "decimals", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Op, Amount, Text string
			Decimals         int
			DisplayDecimals  *int
			Cut              bool
		}
		c.Input(t, &in)
		if in.Op == "fromDecimal" {
			checkParse(t, c, c.Want(t), "amount", in.Text, in.Decimals)
			return
		}
		if !in.Cut {
			checkFormat(t, c, "text", in.Amount, in.Decimals, shown(in.DisplayDecimals, in.Decimals))
			return
		}
		got := format(integer(t, in.Amount), in.Decimals, shown(in.DisplayDecimals, in.Decimals))
		c.Differ(t, "decimal-no-trim")
		var want struct{ Text string }
		c.Expected(t, &want)
		if trimmed := badlyTrimmed(format(integer(t, in.Amount), in.Decimals, in.Decimals), shown(in.DisplayDecimals, in.Decimals)); trimmed != want.Text {
			t.Errorf("the reference trims to %s, by its rule %s", want.Text, trimmed)
		}
		whole, frac, _ := strings.Cut(got, ".")
		raw := integer(t, whole+frac+strings.Repeat("0", max(in.Decimals-len(frac), 0)))
		lost := new(big.Int).Sub(integer(t, in.Amount), raw)
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(in.Decimals-len(frac), 0))), nil)
		// What does not fit is cut off towards zero.
		if lost.Sign()*integer(t, in.Amount).Sign() < 0 || lost.CmpAbs(unit) >= 0 {
			t.Errorf("%s shows %s base units less than there are", got, lost)
		}
	})
}

func TestVectorsCoreDecimals(t *testing.T) {
	vectors.Each(t, "swap-flows-spv-and-core", "decimals", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Op, Value       string
			Decimals        int
			DisplayDecimals *int
		}
		c.Input(t, &in)
		if in.Op == "fromDecimal" {
			checkParse(t, c, c.Want(t), "value", in.Value, in.Decimals)
			return
		}
		checkFormat(t, c, "value", in.Value, in.Decimals, shown(in.DisplayDecimals, in.Decimals))
	})
}

// checkFormat compares a formatted amount; a negative one has its sign first and
// then the digits that the same positive amount has.
func checkFormat(t *testing.T, c *vectors.Case, member, raw string, decimals, places int) {
	t.Helper()
	var want map[string]string
	trial.Do(t, json.Unmarshal(c.Want(t), &want))
	amount := integer(t, raw)
	own := plainly(amount, decimals, places)
	var theirs map[string]string
	if c.Expected(t, &theirs); amount.Sign() < 0 && theirs[member] != own && theirs[member] != signAmong(amount, decimals, places) {
		t.Errorf("the reference writes %q, by its rules %q", theirs[member], signAmong(amount, decimals, places))
	}
	if amount.Sign() < 0 && want[member] != own {
		c.Differ(t, "decimal-sign-first")
		if among := signAmong(amount, decimals, places); want[member] != among {
			t.Errorf("the reference writes %q, by its rules %q", want[member], among)
		}
		want[member] = own
	}
	if got := format(amount, decimals, places); got != want[member] {
		t.Errorf("%s reads %q, want %q", raw, got, want[member])
	}
}

// signAmong is a negative amount as the reference writes it: its sign counts as
// a digit.
func signAmong(amount *big.Int, decimals, places int) string {
	text := amount.String()
	if decimals <= 0 {
		return text
	}
	text = strings.Repeat("0", max(decimals+1-len(text), 0)) + text
	whole, frac := text[:len(text)-decimals], text[len(text)-decimals:]
	return whole + "." + frac[:min(places, len(frac))]
}

// cutDecimal is what the reference reads in a decimal number that is refused
// here: the digits before and behind the point put together, and what is too
// fine left out.
func cutDecimal(t *testing.T, text string, decimals int) string {
	t.Helper()
	whole, frac, _ := strings.Cut(text, ".")
	frac, _, _ = strings.Cut(frac, ".")
	digits := whole
	switch {
	case decimals > 0:
		digits += (frac + strings.Repeat("0", decimals))[:decimals]
	case decimals < 0:
		digits = digits[:max(len(digits)+decimals, 0)]
	}
	digits = strings.TrimSpace(digits)
	if digits == "" {
		return "0"
	}
	n, ok := new(big.Int).SetString(digits, 10)
	if len(digits) > 2 && digits[0] == '0' && strings.ContainsRune("xXoObB", rune(digits[1])) {
		n, ok = new(big.Int).SetString(digits, 0)
	}
	if !ok {
		t.Fatalf("the reference cannot read %q", text)
	}
	return n.String()
}

// checkParse compares a parsed decimal. Ours must be a DecimalString whose
// digits beyond the token's decimals are zeros.
func checkParse(t *testing.T, c *vectors.Case, want json.RawMessage, member, text string, decimals int) {
	t.Helper()
	got, err := tokens.ParseDecimal(text, decimals)
	if vectors.Refused(want) {
		if err == nil {
			t.Errorf("%q accepted as %s", text, got)
		}
		return
	}
	if !regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`).MatchString(text) || finer(text, decimals) {
		c.Differ(t, "decimal-exact")
		if err == nil {
			t.Errorf("%q accepted as %s", text, got)
		}
		vectors.SameJSON(t, want, map[string]string{member: cutDecimal(t, text, decimals)})
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	vectors.SameJSON(t, want, map[string]string{member: got.String()})
}

// finer reports whether a decimal number has a non-zero digit below one base unit.
func finer(text string, decimals int) bool {
	whole, frac, _ := strings.Cut(text, ".")
	rest := (whole + frac)[min(max(len(whole)+decimals, 0), len(whole)+len(frac)):]
	return strings.Trim(rest, "0") != ""
}

func shown(display *int, decimals int) int {
	if display == nil {
		return decimals
	}
	return *display
}

func integer(t *testing.T, s string) *big.Int {
	t.Helper()
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		t.Fatalf("%q is no integer", s)
	}
	return n
}

// format is the text of an amount of a token with these decimals.
func format(raw *big.Int, decimals, shown int) string {
	return tokens.NewAmount(raw, tokens.Token{Decimals: decimals, DisplayDecimals: shown}).Decimal()
}
