package swap

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
)

// TestWordsArePublished judges every name, status and chain that a flow can show by the
// published interface, as the source writes them: a client that is generated from it
// fails on any other.
func TestWordsArePublished(t *testing.T) {
	words := published(t)
	kinds := map[string][]string{"Pay": {"SerializedActionSendToAddress"}, "Fund": {"SerializedActionSignPSBTFunded", "SerializedActionSignPSBTRaw"},
		"Sign": {"SerializedActionSignSmartChainTransaction"}, "Wait": {"SerializedActionWait"}}
	steps := map[string]string{"stepSetup": "Setup", "stepPayment": "Payment", "stepSettlement": "Settlement", "stepRefund": "Refund"}
	// what holds the status of a step, or the step
	holders := map[string]string{"setup": "Setup", "pay": "Payment", "payment": "Payment", "settle": "Settlement", "settlement": "Settlement", "refund": "Refund", "back": "Refund"}
	fset := token.NewFileSet()
	names := trial.Must(filepath.Glob("*.go"))(t)
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f := trial.Must(parser.ParseFile(fset, name, nil, 0))(t)
		files = append(files, f)
	}
	constants := map[string]string{"onLightning": onLightning, "onBitcoin": onBitcoin}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && len(v.Names) == len(v.Values) {
				for i, name := range v.Names {
					if text, ok := literal(v.Values[i]); ok {
						constants[name.Name] = text
					}
				}
			}
			return true
		})
	}
	judged := map[string]bool{}
	judge := func(at ast.Node, of, member, word string) {
		judged[of+" "+word] = true
		if allowed := words[of][member]; !slices.Contains(allowed, word) {
			t.Errorf("%s: %s of %s is %q, published are %q", fset.Position(at.Pos()), member, of, word, allowed)
		}
	}
	word := func(e ast.Expr) (string, bool) {
		if id, ok := e.(*ast.Ident); ok {
			text, known := constants[id.Name]
			return text, known
		}
		return literal(e)
	}
	status := func(e, holder ast.Expr) {
		id, _ := e.(*ast.Ident)
		if id == nil || !strings.HasPrefix(id.Name, "shown") {
			return
		}
		name := ""
		switch h := holder.(type) {
		case *ast.Ident:
			name = h.Name
		case *ast.SelectorExpr:
			if of, ok := h.X.(*ast.Ident); ok && h.Sel.Name == "Status" {
				name = of.Name
			}
		}
		if name == "s" { // of View.End, which names the types itself
			for _, step := range []string{"Setup", "Payment"} {
				judge(e, "SwapExecutionStep"+step, "status", constants[id.Name])
			}
			return
		}
		if holders[name] == "" {
			t.Errorf("%s: %s is given to %q, of which the test does not know what step it is", fset.Position(e.Pos()), id.Name, name)
			return
		}
		judge(e, "SwapExecutionStep"+holders[name], "status", constants[id.Name])
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				id, _ := n.Type.(*ast.Ident)
				if id == nil || kinds[id.Name] == nil && id.Name != "Step" {
					return true
				}
				members := map[string]ast.Expr{}
				for _, e := range n.Elts {
					kv := e.(*ast.KeyValueExpr)
					members[kv.Key.(*ast.Ident).Name] = kv.Value
				}
				if id.Name == "Step" {
					step, ok := members["Type"].(*ast.Ident)
					if !ok || steps[step.Name] == "" {
						t.Errorf("%s: a step without a type that the test knows", fset.Position(n.Pos()))
					} else if text, ok := word(members["Status"]); ok {
						judge(n, "SwapExecutionStep"+steps[step.Name], "status", text)
					}
					return true
				}
				for member, in := range map[string]string{"Name": "name", "Chain": "chain"} {
					e := members[member]
					if e == nil || member == "Chain" && id.Name == "Sign" { // any chain
						continue
					}
					text, ok := word(e)
					if !ok {
						t.Errorf("%s: %s of %s is no constant", fset.Position(e.Pos()), member, id.Name)
					}
					for _, kind := range kinds[id.Name] {
						judge(e, kind, in, text)
					}
				}
			case *ast.AssignStmt:
				for i, e := range n.Rhs {
					if len(n.Lhs) == len(n.Rhs) {
						status(e, n.Lhs[i])
					}
				}
			case *ast.ReturnStmt: // of depositShown
				for _, e := range n.Results {
					status(e, ast.NewIdent("pay"))
				}
			case *ast.CallExpr: // of seen, in the view of a vault swap
				for _, e := range n.Args {
					status(e, ast.NewIdent("pay"))
				}
			}
			return true
		})
	}
	for _, want := range []string{"SerializedActionWait Bitcoin confirmations", "SerializedActionSignPSBTFunded Deposit on Bitcoin", "SerializedActionSignPSBTRaw Deposit on Bitcoin", "SwapExecutionStepRefund refunded",
		"SwapExecutionStepPayment received", "SwapExecutionStepSettlement soft_settled", "SwapExecutionStepSetup completed"} {
		if !judged[want] {
			t.Errorf("%q was not judged: the test does not see how the flows write it", want)
		}
	}
}

func literal(e ast.Expr) (string, bool) {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(l.Value)
	return text, err == nil
}

// published returns the values that members of schemas may have, by schema and member.
func published(t *testing.T) map[string]map[string][]string {
	t.Helper()
	type schema struct {
		Properties map[string]struct{ Enum []string }
	}
	var doc struct {
		Components struct{ Schemas map[string]schema }
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "httpapi", "openapi.json"))
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string][]string{}
	for name, s := range doc.Components.Schemas {
		all[name] = map[string][]string{}
		for member, p := range s.Properties {
			all[name][member] = p.Enum
		}
	}
	return all
}
