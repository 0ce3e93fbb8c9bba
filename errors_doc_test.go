package swapper

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
)

// errorsDocument is the document whose second part is made from the source.
const errorsDocument = "docs/errors.md"

// errorsMark ends the part of the document that is written by hand.
const errorsMark = "## Messages\n"

// TestErrorsDocument prints every error text that an operation can return, by code
// and subject, so that a new one is seen in review and is documented. It also holds
// the table of codes to the codes that there are.
func TestErrorsDocument(t *testing.T) {
	document := trial.Must(os.ReadFile(errorsDocument))(t)
	head, listed, ok := strings.Cut(string(document), errorsMark)
	if !ok {
		t.Fatalf("%s has no section of messages", errorsDocument)
	}
	for _, code := range errorCodes {
		if !strings.Contains(head, "\n| `"+string(code)+"` | ") {
			t.Errorf("the table of codes lacks %s", code)
		}
	}
	if rows := strings.Count(head, "\n| `"); rows != len(errorCodes) {
		t.Errorf("the table of codes has %d rows for %d codes", rows, len(errorCodes))
	}
	texts := sourceErrors(t)
	got := printErrors(t, texts)
	if *update {
		trial.Do(t, os.WriteFile(errorsDocument, []byte(head+errorsMark+got), 0o644))
		return
	}
	if diff := gocmp.Diff(strings.Split(listed, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("the error texts have changed; read them in %s after .ci/texts (-want +got):\n%s", errorsDocument, diff)
	}
}

// errorCodes are the codes in the order of the document.
var errorCodes = []fault.Code{fault.InvalidInput, fault.Unsupported, fault.AmountOutOfBounds, fault.NotFound, fault.InvalidState, fault.Upstream, fault.Timeout, fault.Internal}

// errorSubjects are the headings of the document, by the longest prefix of the
// package's folder.
var errorSubjects = []struct{ folder, title string }{
	{".", "Requests"},
	{"httpapi", "HTTP and JSON"},
	{"verify", "Answers of a service that is not trusted"},
	{"tokens", "Tokens and amounts"},
	{"internal/tokenlist", "Tokens and amounts"},
	{"fault", "Tokens and amounts"},
	{"internal/address", "Addresses and links"},
	{"internal/lnurl", "Addresses and links"},
	{"internal/lightning", "Lightning invoices"},
	{"balance", "Spendable balances"},
	{"internal/quote", "Quotes"},
	{"internal/lp", "Liquidity providers"},
	{"price", "Market prices"},
	{"internal/swap", "State of a swap"},
	{"internal/engine", "State of a swap"},
	{"internal/chainio", "Actions and submissions"},
	{"internal/recovery", "Recovery and import"},
	{"chains", "Escrows and plans"},
	{"chains/bitcoin", "Bitcoin"},
	{"internal/btc", "Bitcoin"},
	{"chains/evm", "EVM chains"},
	{"internal/evm", "EVM chains"},
	{"chains/solana", "Solana"},
	{"internal/solana", "Solana"},
	{"chains/starknet", "Starknet"},
	{"internal/starknet", "Starknet"},
	{"internal/members", "Escrows and plans"},
	{"internal/settle", "Actions and submissions"},
	{"internal/nostr", "Watchtowers"},
	{"watchtower", "Watchtowers"},
	{"internal", "Connections"},
}

// whatToDo is what the caller should do about the messages of a subject; the one
// without subject is for all that have none of their own.
var whatToDo = map[fault.Code]map[string]string{
	fault.InvalidInput: {
		"":                        "Correct the field that is named and call again.",
		"HTTP and JSON":           "Correct the request: its syntax, or the type of the field that is named. docs/api.md describes each operation.",
		"Tokens and amounts":      "Use an identifier that getSupportedTokens lists, or correct the amount.",
		"Addresses and links":     "Ask the user for another address, invoice or link; parseAddress checks one before a swap is created.",
		"Lightning invoices":      "Ask the user for another invoice.",
		"Quotes":                  "Correct the field that is named. Where the amount is too small or too large for what it has to cover, getSwapLimits names the limits.",
		"Liquidity providers":     "Correct the field that is named; for the amount, getSwapLimits names the limits.",
		"Actions and submissions": "Sign the current action anew: call getSwapStatus and sign exactly what it returns.",
		"Bitcoin":                 "For an address or key: correct it. For a signed PSBT: call getSwapStatus, sign exactly what it returns, and submit that.",
		"EVM chains":              "For an address or fee rate: correct it. For a signed transaction: call getSwapStatus, sign exactly what it returns in its order, and submit all of it. For data of an escrow or vault: nothing, the swap is not created.",
		"Solana":                  "For an address or fee rate: correct it. For a signed transaction: call getSwapStatus, sign exactly what it returns in its order, and submit all of it. For data of an escrow: nothing, the swap is not created.",
		"Spendable balances":      "Leave out the field that is named, or correct it.",
		"Recovery and import":     "The record stays as it is where it came from; correct it there, or follow that swap with the software that made it.",
		"Watchtowers":             "Correct the configuration.",
		"Requests":                "Correct the field that is named and call again; a field of the configuration is corrected before the client is opened again.",
		"State of a swap":         "Correct the field that is named and call again.",
	},
	fault.Unsupported: {
		"":                        "Choose another token, chain or swap; getSupportedTokens and getSwapCounterTokens say what is offered.",
		"HTTP and JSON":           "Correct the path or the method; docs/api.md lists the operations.",
		"Actions and submissions": "Open the client with the chain and the contract version that the swap was created with.",
		"Bitcoin":                 "Configure a Bitcoin backend that offers this; package mempoolspace does.",
		"Addresses and links":     "Pay or withdraw by an invoice instead.",
		"Recovery and import":     "Follow this swap with the software that made it.",
		"Spendable balances":      "Ask for another token; a Lightning wallet knows its balance itself.",
	},
	fault.AmountOutOfBounds: {
		"": "Use an amount from `min` to `max`, in base units.",
	},
	fault.NotFound: {
		"": "Check the identifier. An expired, unused quote is deleted after a while: create a new swap.",
	},
	fault.InvalidState: {
		"":           "Call getSwapStatus and follow its action.",
		"EVM chains": "Call getSwapStatus and follow its action: what was signed is out of date, or was done already.",
		"Solana":     "Call getSwapStatus and follow its action: what was signed is out of date, or was done already.",
	},
	fault.Upstream: {
		"":                    "Try again later. Nothing is lost, and a swap in progress continues by itself.",
		"Liquidity providers": "Try again later, or with another amount: the quote was refused because the provider's answer could not be accepted. Nothing is lost. A provider that gave a false answer is left out for a while.",
		"Addresses and links": "Try again later, or ask the user for another link; the service behind it failed or misbehaved.",
		"Bitcoin":             "Try again later; the operator checks the Bitcoin backend.",
		"EVM chains":          "Try again later; the operator checks the chain's nodes.",
		"Solana":              "Try again later; the operator checks the chain's nodes.",
	},
	fault.Timeout: {
		"": "Call getSwapStatus, which says how the swap stands, and follow its action. createSwap with the same idempotency key returns the swap if it was created.",
	},
	fault.Internal: {
		"": "Over HTTP the message is always `internal error`; the operator finds this one in the log. What was acknowledged is stored.",
	},
}

// errorText is one text with what is known of the error that it belongs to.
type errorText struct {
	code           fault.Code // "" for a detail that others end with
	subject, field string
	text           string
}

// errorMakers are the functions of a package, besides those of package fault, that
// make an error of a text: its code, what stands before it, and which arguments are the field (-1:
// none) and the text.
var errorMakers = map[string]struct {
	code        fault.Code
	prefix      string
	field, text int
}{
	"httpapi.newError":     {"", "", 1, 2},
	"httpapi.badBody":      {fault.InvalidInput, "", -1, 0},
	"lnurl.notLink":        {fault.InvalidInput, "", -1, 0},
	"lnurl.failed":         {"", "the LNURL service <host> ", -1, 3},
	"lnurl.wrong":          {fault.Upstream, "the LNURL service <host> ", -1, 1},
	"lp.Lie":               {fault.Upstream, "<provider> sent an invalid response: ", -1, 1},
	"lp.Late":              {fault.Upstream, "<provider> sent an invalid response: ", -1, 1},
	"verify.lp.Lie":        {fault.Upstream, "<provider> sent an invalid response: ", -1, 1},
	"verify.lp.Late":       {fault.Upstream, "<provider> sent an invalid response: ", -1, 1},
	"verify.doubt":         {fault.Upstream, "<provider> sent an invalid response: ", -1, 1},
	"quote.lp.Lie":         {fault.Upstream, "<provider> sent an invalid response: ", -1, 1},
	"swap.lp.Lie":          {fault.Upstream, "<provider> sent an invalid response: ", -1, 1},
	"recovery.unsupported": {fault.Unsupported, "", 0, 1},
	"noderpc.unsupported":  {fault.Unsupported, "the Bitcoin node does not support this: ", -1, 0},
	"wire.r.fail":          {fault.InvalidInput, "", 0, 1},
	"wire.r.Fail":          {fault.InvalidInput, "", 0, 1},
	"members.r.Fail":       {fault.InvalidInput, "", 0, 1},
	"members.Fail":         {fault.InvalidInput, "", 0, 1},
	"wire.bad":             {fault.InvalidInput, "", -1, 0},
}

// sourceErrors collects the error texts of the packages that an operation can
// reach: those that the client and the handler import, and the chains.
func sourceErrors(t *testing.T) (all []errorText) {
	t.Helper()
	folders := map[string]bool{}
	var visit func(string)
	visit = func(folder string) {
		if folders[folder] || strings.HasPrefix(folder, "storage") { // a store's errors are internal, and not shown
			return
		}
		folders[folder] = true
		for _, f := range sourceFiles(t, folder) {
			for _, i := range f.Imports {
				imported, _ := strconv.Unquote(i.Path.Value)
				if rest, ok := strings.CutPrefix(imported, "github.com/swapper-go/swapper/"); ok {
					visit(rest)
				}
			}
		}
	}
	visit(".")
	visit("httpapi")
	visit("verify")
	for _, folder := range publicDirs(t) {
		if name := filepath.ToSlash(folder); strings.HasPrefix(name, "chains/") && !strings.HasSuffix(name, "test") {
			visit(name)
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		all = append(all, folderErrors(t, folder)...)
	}
	if len(all) < 400 {
		t.Fatalf("only %d error texts found", len(all))
	}
	return all
}

func sourceFiles(t *testing.T, folder string) (files []*ast.File) {
	t.Helper()
	paths := trial.Must(filepath.Glob(filepath.Join(filepath.FromSlash(folder), "*.go")))(t)
	for _, name := range paths {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f := trial.Must(parser.ParseFile(token.NewFileSet(), name, nil, 0))(t)
		files = append(files, f)
	}
	return files
}

func folderErrors(t *testing.T, folder string) (all []errorText) {
	p := errorReader{t: t, folder: folder, consts: map[string]ast.Expr{}, vars: map[string]string{}}
	files := sourceFiles(t, folder)
	for _, f := range files {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST && g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				for i, name := range v.Names {
					if i >= len(v.Values) {
						continue
					}
					if g.Tok == token.CONST {
						p.consts[name.Name] = v.Values[i]
					} else if c, ok := v.Values[i].(*ast.CallExpr); ok && exprName(c.Fun) == "errors.New" {
						p.vars[name.Name], _ = p.text(c.Args, 0)
					}
				}
			}
		}
	}
	for _, f := range files {
		for _, d := range f.Decls {
			p.fn = ""
			if fn, ok := d.(*ast.FuncDecl); ok {
				p.fn = fn.Name.Name
			}
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					p.call(n)
				case *ast.CompositeLit:
					p.literal(n)
				case *ast.AssignStmt:
					p.assignment(n)
				}
				return true
			})
		}
	}
	return p.all
}

// errorReader reads the errors that one package makes.
type errorReader struct {
	t          *testing.T
	folder, fn string
	consts     map[string]ast.Expr
	vars       map[string]string // texts of the errors that are variables of the package
	all        []errorText
}

func (p *errorReader) add(code fault.Code, field, text string) {
	if strings.Trim(wordless.ReplaceAllString(text, ""), ":;(), \n") != "" { // else it passes other texts on
		p.all = append(p.all, errorText{code, p.subject(), field, strings.TrimSpace(text)})
	}
}

// wordless is a placeholder.
var wordless = regexp.MustCompile(`<[^<>]*>`)

func (p *errorReader) subject() string {
	title, longest := "", -1
	for _, s := range errorSubjects {
		if n := len(s.folder); n > longest && (p.folder == s.folder || strings.HasPrefix(p.folder, s.folder+"/")) {
			title, longest = s.title, n
		}
	}
	if title == "" {
		p.t.Errorf("package %s has no subject in the document of errors", p.folder)
	}
	return title
}

func (p *errorReader) call(c *ast.CallExpr) {
	name := exprName(c.Fun)
	if _, maker := errorMakers[path.Base(p.folder)+"."+p.fn]; maker {
		return // its texts are read where they are given
	}
	if maker, ok := errorMakers[path.Base(p.folder)+"."+name]; ok {
		text, ok := p.text(c.Args, maker.text)
		if !ok {
			return // another maker's text, which is read where it is given
		}
		code, field := maker.code, ""
		if code == "" {
			code = p.code(c.Args[0])
		}
		if maker.field >= 0 {
			field = p.field(c.Args[maker.field])
		}
		switch name {
		case "badBody":
			field = "body"
		case "bad":
			field = "feeRate"
		}
		p.add(code, field, maker.prefix+text)
		return
	}
	switch name {
	case "fault.New":
		if text, ok := p.text(c.Args, 1); ok {
			p.add(p.code(c.Args[0]), "", text)
		} else {
			p.passed(c)
		}
	case "fault.Invalid":
		if text, ok := p.text(c.Args, 1); ok {
			p.add(fault.InvalidInput, p.field(c.Args[0]), text)
		} else {
			p.passed(c)
		}
	case "fault.OutOfBounds":
		p.add(fault.AmountOutOfBounds, p.field(c.Args[0]), "Swap amount too low! It must be from <min> to <max> base units")
	case "errors.New", "fmt.Errorf":
		if text, ok := p.text(c.Args, 0); ok {
			p.add("", "", text)
		}
	case "cmp.Or", "closeSubmission":
		if text, ok := p.text(c.Args, len(c.Args)-1); ok {
			p.add("", "", text)
		}
	case "fmt.Sprintf":
		if text, ok := p.text(c.Args, 0); ok && p.fn == "Error" {
			p.add("", "", text)
		}
	}
}

// passed demands that a call whose text is not a constant is within a function of
// the table.
func (p *errorReader) passed(c *ast.CallExpr) {
	for name := range errorMakers {
		if c.Ellipsis.IsValid() && strings.HasPrefix(name, path.Base(p.folder)+".") {
			return
		}
	}
	p.t.Errorf("%s: %s makes an error of a text that is not a constant, and is not in the table of those that do", p.folder, p.fn)
}

// assignment reads the reasons that are stored with a swap.
func (p *errorReader) assignment(a *ast.AssignStmt) {
	for i, left := range a.Lhs {
		if len(a.Rhs) == len(a.Lhs) {
			p.reason(left, a.Rhs[i])
		}
	}
}

func (p *errorReader) reason(key, value ast.Expr) {
	name := exprName(key)
	switch name[strings.LastIndex(name, ".")+1:] {
	case "Reason", "Problem":
		if text := p.joined(value); strings.Contains(wordless.ReplaceAllString(text, ""), " ") {
			p.add("", "", text)
		}
	}
}

// literal reads a fault.Error that is written out.
func (p *errorReader) literal(c *ast.CompositeLit) {
	if name := exprName(c.Type); name != "fault.Error" && name != "errorBody" {
		for _, e := range c.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				p.reason(kv.Key, kv.Value)
			}
		}
		return
	}
	var code fault.Code
	var field, text string
	for _, e := range c.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return
		}
		switch exprName(kv.Key) {
		case "Code":
			code = p.code(kv.Value)
		case "Field":
			field = p.field(kv.Value)
		case "Message", "Error":
			text = p.joined(kv.Value)
		}
	}
	if text != "" && code != "" {
		p.add(code, field, text)
	}
}

// code reads a code: its name in package fault or in this one.
func (p *errorReader) code(e ast.Expr) fault.Code {
	name := exprName(e)
	name = strings.TrimPrefix(name[strings.LastIndex(name, ".")+1:], "Code")
	codes := map[string]fault.Code{"InvalidInput": fault.InvalidInput, "NotFound": fault.NotFound, "Unsupported": fault.Unsupported, "AmountOutOfBounds": fault.AmountOutOfBounds,
		"InvalidState": fault.InvalidState, "Upstream": fault.Upstream, "Timeout": fault.Timeout, "Internal": fault.Internal}
	if code, ok := codes[name]; ok {
		return code
	}
	return fault.Upstream // a variable: of a call that failed or was too late
}

func (p *errorReader) field(e ast.Expr) string {
	if s, ok := stringOf(e); ok {
		return s
	}
	if c, ok := e.(*ast.CallExpr); ok && exprName(c.Fun) == "fmt.Sprintf" {
		if s, ok := p.text(c.Args, 0); ok {
			return s
		}
	}
	return "*"
}

// text returns the format at an index of a call's arguments with placeholders for
// what follows.
func (p *errorReader) text(args []ast.Expr, at int) (string, bool) {
	if at >= len(args) {
		return "", false
	}
	format, ok := stringOf(args[at])
	if !ok {
		return "", false
	}
	args = args[at+1:]
	text := verb.ReplaceAllStringFunc(format, func(v string) string {
		if v == "%%" {
			return "%"
		}
		if len(args) == 0 {
			return "<...>"
		}
		name := p.placeholder(args[0])
		args = args[1:]
		return name
	})
	return text, true
}

var verb = regexp.MustCompile(`%[-+# 0-9.]*[a-zA-Z%]`)

// joined returns an expression of texts and values that are added up.
func (p *errorReader) joined(e ast.Expr) string {
	if s, ok := stringOf(e); ok {
		return s
	}
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return p.joined(e.X) + p.joined(e.Y)
	case *ast.CallExpr:
		if exprName(e.Fun) == "fmt.Sprintf" {
			text, _ := p.text(e.Args, 0)
			return text
		}
	}
	return p.placeholder(e)
}

// placeholder names a value that is put into a text: a constant by its value,
// anything else by its last name.
func (p *errorReader) placeholder(e ast.Expr) string {
	switch c, _ := e.(*ast.CallExpr); {
	case c == nil:
	case exprName(c.Fun) == "fault.Hidden": // for logs
		return ""
	case strings.HasSuffix(exprName(c.Fun), ".Known"), exprName(c.Fun) == "httpx.Concealed", strings.HasSuffix(exprName(c.Fun), ".Public"): // a node's error, or what is shown of one
		return "<reason>"
	}
	if v := p.constant(e, 0); v != nil && v.Kind() != constant.Unknown {
		if v.Kind() == constant.String {
			return constant.StringVal(v)
		}
		return v.ExactString()
	}
	name := valueName(e)
	if name == "silent" { // of servers, for logs
		return ""
	}
	if text := p.vars[name]; text != "" {
		return text
	}
	if plain, ok := map[string]string{"err": "reason", "e": "reason", "failed": "reasons", "failures": "reasons", "said": "reasons", "lp": "provider", "n": "number", "s": "text", "c": "chain", "r": "reason", "i": "index", "a": "address", "p": "value", "v": "value", "t": "type", "": "value"}[name]; ok {
		name = plain
	}
	return "<" + name + ">"
}

func valueName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return lowered(e.Sel.Name)
	case *ast.CallExpr:
		name := valueName(e.Fun)
		switch {
		case name == "len":
			return "length"
		case slices.Contains([]string{"join", "string", "cmp", "label", "shorten", "shown", "sprintf", "uint64", "int64", "printable", "rateText"}, name) && len(e.Args) > 0:
			return valueName(e.Args[0])
		case slices.Contains([]string{"string", "id", "error", "hash", "type", "hostname"}, name):
			if s, ok := e.Fun.(*ast.SelectorExpr); ok {
				return valueName(s.X)
			}
		}
		return name
	case *ast.IndexExpr:
		return valueName(e.X)
	case *ast.SliceExpr:
		return valueName(e.X)
	case *ast.StarExpr:
		return valueName(e.X)
	case *ast.ParenExpr:
		return valueName(e.X)
	}
	return ""
}

// lowered makes the first word of a name lower case: LP, BTCAmount, MaxFee.
func lowered(name string) string {
	upper := len(name) - len(strings.TrimLeft(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
	if upper > 1 && upper < len(name) {
		upper--
	}
	return strings.ToLower(name[:upper]) + name[upper:]
}

// constant evaluates numbers and texts; nil for what is none, or is another
// package's.
func (p *errorReader) constant(e ast.Expr, depth int) constant.Value {
	switch e := e.(type) {
	case *ast.BasicLit:
		return constant.MakeFromLiteral(e.Value, e.Kind, 0)
	case *ast.ParenExpr:
		return p.constant(e.X, depth)
	case *ast.Ident:
		if value, ok := p.consts[e.Name]; ok && depth < 8 {
			return p.constant(value, depth+1)
		}
	case *ast.BinaryExpr:
		x, y := p.constant(e.X, depth), p.constant(e.Y, depth)
		switch {
		case x == nil || y == nil:
		case e.Op == token.SHL:
			if n, ok := constant.Uint64Val(y); ok && n < 64 {
				return constant.Shift(x, e.Op, uint(n))
			}
		case x.Kind() == y.Kind() && (e.Op == token.ADD || x.Kind() == constant.Int && (e.Op == token.SUB || e.Op == token.MUL)):
			return constant.BinaryOp(x, e.Op, y)
		}
	}
	return nil
}

func stringOf(e ast.Expr) (string, bool) {
	if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		s, err := strconv.Unquote(lit.Value)
		return s, err == nil
	}
	return "", false
}

func exprName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if x := exprName(e.X); x != "" {
			return x + "." + e.Sel.Name
		}
	}
	return ""
}

// printErrors returns the part of the document that is made from the source.
func printErrors(t *testing.T, all []errorText) string {
	t.Helper()
	var out strings.Builder
	out.WriteString("\nGenerated from the source by `TestErrorsDocument`: every error text that an operation can return. `<...>` is a value. The field `*` is the one that the value came from; a message\n" +
		"without a field is about no single field, or gets the field from which the value was read. Over HTTP the field precedes the message: `amount: must be at least 1`.\n")
	for _, code := range append(slices.Clone(errorCodes), "") {
		subjects := map[string][]errorText{}
		for _, e := range all {
			if e.code == code {
				subjects[e.subject] = append(subjects[e.subject], e)
			}
		}
		if code == "" {
			out.WriteString("\n### Details\n\nThese texts appear as the `<reason>` within the messages above, alone or joined by colons. One without a message around it has the code `internal` and is not shown.\n")
		} else {
			fmt.Fprintf(&out, "\n### `%s`\n\n%s\n", code, whatToDo[code][""])
		}
		for _, title := range subjectTitles() {
			texts := subjects[title]
			if len(texts) == 0 {
				continue
			}
			fmt.Fprintf(&out, "\n#### %s\n\n", title)
			if advice := whatToDo[code][title]; advice != "" {
				fmt.Fprintf(&out, "%s\n\n", advice)
			}
			slices.SortFunc(texts, func(a, b errorText) int { return cmp.Or(cmp.Compare(a.field, b.field), cmp.Compare(a.text, b.text)) })
			texts = slices.Compact(texts)
			if code == "" {
				for _, e := range texts {
					fmt.Fprintf(&out, "- `%s`\n", strings.ReplaceAll(e.text, "\n", " "))
				}
				continue
			}
			out.WriteString("| Field | Message |\n|---|---|\n")
			for _, e := range texts {
				field := e.field
				if field != "" {
					field = "`" + field + "`"
				}
				fmt.Fprintf(&out, "| %s | `%s` |\n", field, strings.ReplaceAll(e.text, "|", "\\|"))
			}
		}
	}
	return out.String()
}

func subjectTitles() (titles []string) {
	for _, s := range errorSubjects {
		if !slices.Contains(titles, s.title) {
			titles = append(titles, s.title)
		}
	}
	return titles
}
