package nostr

import (
	"encoding/json"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func FuzzEvent(f *testing.F) {
	for _, c := range vectors.Load(f, "utilities", "nostr_receive").Cases {
		var in struct{ Event json.RawMessage }
		c.Input(f, &in)
		f.Add([]byte(in.Event))
	}
	r := trial.Must(NewReceiver(ReceiverOptions{Network: bitcoin.Mainnet, Types: families()}))(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		_, _ = r.Take(text)
		e, err := decodeEvent(text)
		if err != nil {
			return
		}
		again := trial.Must(e.MarshalJSON())(t)
		same, err := decodeEvent(again)
		if err != nil {
			t.Fatalf("%s: %v", again, err)
		}
		if e.Check() == nil && same.Check() != nil {
			t.Errorf("%s is valid, %s is not", text, again)
		}
	})
}

func FuzzContent(f *testing.F) {
	for _, c := range vectors.Load(f, "utilities", "nostr_receive").Cases {
		var in struct{ Event struct{ Content string } }
		c.Input(f, &in)
		f.Add(in.Event.Content)
	}
	f.Fuzz(func(t *testing.T, content string) {
		m, err := parseMessage(content)
		if err != nil {
			return
		}
		text, err := m.content()
		if err != nil {
			return // what is received is less strict than what is sent
		}
		again, err := parseMessage(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if second, err := again.content(); err != nil || second != text {
			t.Errorf("%s became %s (%v)", text, second, err)
		}
	})
}

func FuzzFrame(f *testing.F) {
	for _, seed := range []string{
		`["OK","00",true,""]`, `["OK","00",false,"blocked: no"]`, `["OK"]`, `["OK",1,2]`, `["OK","00",null]`, `["NOTICE","hello"]`, `["EOSE","sub:1"]`,
		`["EVENT","sub:1",{}]`, `[]`, `{}`, `[["OK"]]`, `["OK","00",true] x`, "[\"OK\",\"\xff\",true]",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		label, rest, err := parseFrame(text)
		if err != nil || label != "OK" {
			return
		}
		if id, taken, words, err := okOf(rest); err == nil {
			if len(refusal(words).Error()) > 30 || taken && string(rest[1]) != "true" || len(id) > len(text) {
				t.Errorf("%q: %s %v", text, id, taken)
			}
		}
	})
}

// FuzzQuote holds the encoder to the rule: it is JSON, and nothing is escaped
// that need not be.
func FuzzQuote(f *testing.F) {
	for _, seed := range []string{"", "plain", "<>&\u2028\u2029", "\x00\x01\x07\b\t\n\v\f\r\x0e\x1f\x7f", `"\/`, "é😀", `\u0041`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return // nothing that was decoded from JSON
		}
		text := quote(nil, s)
		var back string
		if err := json.Unmarshal(text, &back); err != nil || back != s {
			t.Fatalf("%q became %s, and that %q (%v)", s, text, back, err)
		}
		extra := 0
		for _, c := range []byte(s) {
			switch {
			case c == '"' || c == '\\' || c >= 8 && c <= 13 && c != 11:
				extra++
			case c < 0x20:
				extra += 5
			}
		}
		if len(text) != len(s)+2+extra {
			t.Errorf("%q is %s", s, text)
		}
	})
}

func TestQuote(t *testing.T) {
	got := string(quote(nil, "<a&b>\u2028\"\\/\b\f\n\r\t\v\x00\x1f\x7fé"))
	want := "\"<a&b>\u2028\\\"\\\\/\\b\\f\\n\\r\\t\\u000b\\u0000\\u001f\x7fé\""
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEventIDFollowsTheRule(t *testing.T) {
	k := trial.Must(newKey(&counter{}))(t)
	e, err := k.sign(time.Unix(1_800_000_000, 999_999_999), 28646, "<html>\u2028&\x01")
	if err != nil || e.CreatedAt != 1_800_000_000 {
		t.Fatalf("%v %d", err, e.CreatedAt)
	}
	text, err := json.Marshal(e) // escapes more, which must not matter
	if err != nil {
		t.Fatal(err)
	}
	back, err := decodeEvent(text)
	if err != nil || back.Check() != nil {
		t.Errorf("%s: %v %v", text, err, back.Check())
	}
}

// counter is a source of distinct bytes.
type counter struct{ n byte }

func (c *counter) Read(p []byte) (int, error) {
	for i := range p {
		c.n++
		p[i] = c.n
	}
	return len(p), nil
}
