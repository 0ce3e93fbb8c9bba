package lnurl

import (
	"crypto/aes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

type actionCase struct {
	SuccessAction json.RawMessage
	Preimage      *string
}

func (in *actionCase) preimage(t *testing.T) []byte {
	t.Helper()
	if in.Preimage == nil {
		return nil
	}
	return trial.Must(hex.DecodeString(*in.Preimage))(t)
}

func TestVectorsLNURLSuccessAction(t *testing.T) {
	vectors.Each(t, "utilities", "lnurl_success_action", func(t *testing.T, c *vectors.Case) {
		var in actionCase
		c.Input(t, &in)
		var want struct {
			Valid   bool
			Decoded json.RawMessage
		}
		trial.Do(t, json.Unmarshal(c.Want(t), &want))
		a, err := parseSuccessAction(in.SuccessAction)
		if (err == nil) != want.Valid {
			t.Errorf("parse: %v, want valid: %v", err, want.Valid)
		}
		checkDecoded(t, c, a, in.preimage(t), want.Decoded)
		checkRoundTrip(t, a)
		var better any
		if c.Member(t, "better", &better) {
			checkOutdone(t, c, &in, a, err)
		}
	})
}

// checkOutdone compares what the reference makes of an action, where a better
// answer is asked for, with what it follows from: it takes what we take and what
// only our further rules refuse, fails on each aes action that it takes, and shows
// links as they are.
func checkOutdone(t *testing.T, c *vectors.Case, in *actionCase, a *SuccessAction, err error) {
	t.Helper()
	var theirs struct {
		Valid   bool
		Decoded json.RawMessage
	}
	c.Expected(t, &theirs)
	var raw struct{ Tag, URL, IV string }
	_ = json.Unmarshal(in.SuccessAction, &raw)
	if theirs.Valid != (err == nil || badAction(in.SuccessAction) && (raw.Tag == "url" || len(raw.IV) <= 24)) {
		t.Errorf("the reference takes it: %v; we say %v", theirs.Valid, err)
	}
	var shown struct{ URL string }
	if json.Unmarshal(theirs.Decoded, &shown) != nil {
		return
	}
	if a != nil && a.Tag == "aes" && !vectors.Refused(theirs.Decoded) {
		t.Errorf("the reference deciphers %s", theirs.Decoded)
	}
	if raw.Tag == "url" && shown.URL != raw.URL {
		t.Errorf("the reference shows the link %q", shown.URL)
	}
}

// checkDecoded compares the decoded form; an action that is not valid is never
// decoded here, while the reference decodes it without checking again.
func checkDecoded(t *testing.T, c *vectors.Case, a *SuccessAction, preimage []byte, want json.RawMessage) {
	t.Helper()
	got := a.Decode(preimage)
	var better any
	if a == nil && string(want) != "null" && !c.Member(t, "better", &better) {
		c.Differ(t, "lnurl-invalid-action")
		want = json.RawMessage("null")
	}
	vectors.SameJSON(t, want, got)
}

func checkRoundTrip(t *testing.T, a *SuccessAction) {
	t.Helper()
	if a == nil {
		return
	}
	text := trial.Must(json.Marshal(a))(t)
	var back SuccessAction
	if err := json.Unmarshal(text, &back); err != nil || back != *a {
		t.Errorf("%s reads back as %+v, %v", text, back, err)
	}
}

func TestVectorsFlowSuccessAction(t *testing.T) {
	callback := trial.Must(url.Parse("https://example.com/cb"))(t)
	vectors.Each(t, "swap-flows-escrow", "success_action", func(t *testing.T, c *vectors.Case) {
		var in actionCase
		c.Input(t, &in)
		var want struct {
			Accepted, AcceptedForDomainExampleCom *bool
			Decoded                               json.RawMessage
		}
		c.Expected(t, &want)
		a, err := parseSuccessAction(in.SuccessAction)
		if want.Accepted != nil && *want.Accepted && badAction(in.SuccessAction) {
			c.Differ(t, "lnurl-bad-action")
			if err == nil {
				t.Errorf("accepted %+v", a)
			}
			return
		}
		if want.Accepted != nil && (err == nil) != *want.Accepted {
			t.Errorf("parse: %v, want accepted: %v", err, *want.Accepted)
		}
		if want.AcceptedForDomainExampleCom != nil && (err == nil && a.onHost(callback)) != *want.AcceptedForDomainExampleCom {
			t.Errorf("accepted for example.com: %v", !*want.AcceptedForDomainExampleCom)
		}
		checkRoundTrip(t, a)
		if a != nil && a.Tag == "aes" && vectors.Refused(want.Decoded) {
			c.Differ(t, "lnurl-aes")
			vectors.SameJSON(t, decodedByHand(t, a, in.preimage(t)), a.Decode(in.preimage(t)))
			return
		}
		checkDecoded(t, c, a, in.preimage(t), want.Decoded)
	})
}

// badAction reports an action that the reference does not look at closely: a link
// that is not https, ciphertext or iv that cannot be.
func badAction(raw json.RawMessage) bool {
	var a struct{ Tag, URL, Ciphertext, IV string }
	if json.Unmarshal(raw, &a) != nil {
		return true
	}
	u, err := url.Parse(a.URL)
	iv, _ := base64.StdEncoding.DecodeString(a.IV)
	return a.Tag == "url" && (err != nil || u.Scheme != "https" && !strings.HasSuffix(u.Hostname(), ".onion") || u.Hostname() == "") ||
		a.Tag == "aes" && (a.Ciphertext == "" || len(iv) != 16)
}

// decodedByHand deciphers block by block, without the CBC code of the package.
func decodedByHand(t *testing.T, a *SuccessAction, key []byte) json.RawMessage {
	t.Helper()
	block := trial.Must(aes.NewCipher(key))(t)
	before, _ := base64.StdEncoding.DecodeString(a.IV)
	text, _ := base64.StdEncoding.DecodeString(a.Ciphertext)
	var plain []byte
	for ; len(text) >= 16; text = text[16:] {
		b := make([]byte, 16)
		block.Decrypt(b, text[:16])
		for i := range b {
			b[i] ^= before[i]
		}
		plain, before = append(plain, b...), text[:16]
	}
	pad := plain[len(plain)-1]
	if pad == 0 || pad > 16 || strings.Trim(string(plain[len(plain)-int(pad):]), string(rune(pad))) != "" {
		return json.RawMessage("null")
	}
	return json.RawMessage(jsonOf(map[string]string{"description": a.Description, "text": string(plain[:len(plain)-int(pad)])}))
}
