package metrics

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/internal/trial"
)

// names returns the metrics that are made, each once.
func names(t *testing.T) []string {
	t.Helper()
	var change swapper.Change
	change.From, change.Swap.State.Number = 0, 1
	m := New(Options{Client: &source{stats: full(), changes: []swapper.Change{change}}, Store: "/"})
	m.Webhooks(someEndpoints())
	m.Watchtower(someClaims())
	_ = m.Follow(t.Context())
	m.requests.WithLabelValues(other, "200")
	m.seconds.WithLabelValues(other)
	m.upstream.WithLabelValues("a", "b", "200")
	m.waited.WithLabelValues("a", "b")
	families := trial.Must(m.o.Registry.Gather())(t)
	var out []string
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "swapper_") {
			out = append(out, f.GetName())
		}
	}
	return out
}

var word = regexp.MustCompile(`swapper_[a-z_]+`)

// Alerts are of the form that Prometheus reads, ask for metrics that are made, and
// docs/operate.md says what to do about each and what each metric is.
func TestAlertsAndMetricsAreDescribed(t *testing.T) {
	made := names(t)
	operate := trial.Must(os.ReadFile("../../docs/operate.md"))(t)
	described := word.FindAllString(string(operate), -1)
	for _, name := range made {
		if !slices.Contains(described, name) {
			t.Errorf("docs/operate.md does not describe %s", name)
		}
	}
	for _, name := range described {
		if !slices.Contains(made, name) {
			t.Errorf("docs/operate.md describes %s, which does not exist", name)
		}
	}
	text := trial.Must(os.ReadFile("../../docs/alerts.yaml"))(t)
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr         string
				For                 string
				Labels, Annotations map[string]string
			}
		}
	}
	d := yaml.NewDecoder(strings.NewReader(string(text)))
	d.KnownFields(true)
	trial.Do(t, d.Decode(&file))
	rules, alerts := 0, map[string]bool{}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			rules++
			alerts[r.Alert] = true
			if _, err := time.ParseDuration(r.For); r.For != "" && err != nil {
				t.Errorf("%s: %v", r.Alert, err)
			}
			if r.Labels["severity"] == "" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				t.Errorf("%s says too little: %+v", r.Alert, r)
			}
			if !strings.Contains(string(operate), "`"+r.Alert+"`") {
				t.Errorf("docs/operate.md does not say what to do about %s", r.Alert)
			}
			asked := word.FindAllString(r.Expr, -1)
			if len(asked) == 0 && r.Alert != "SwapperDown" {
				t.Errorf("%s asks for nothing: %s", r.Alert, r.Expr)
			}
			for _, name := range asked {
				if !slices.Contains(made, strings.TrimSuffix(name, "_bucket")) {
					t.Errorf("%s asks for %s, which does not exist", r.Alert, name)
				}
			}
		}
	}
	for _, name := range regexp.MustCompile("`(Swapper[A-Za-z]+)`").FindAllStringSubmatch(string(operate), -1) {
		if !alerts[name[1]] {
			t.Errorf("docs/operate.md says what to do about %s, which is no alert", name[1])
		}
	}
	if rules < 10 {
		t.Errorf("%d rules", rules)
	}
}
