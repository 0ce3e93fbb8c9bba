package lightning

import (
	"bytes"
	"cmp"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"time"
	"unicode/utf16"

	"github.com/btcsuite/btcd/chaincfg"
)

func (s *LNURLServer) pay(r *http.Request) (Pay, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.pays[r.PathValue("name")]
	return p, ok
}

// metadata is what the invoices of a service commit to.
func (p Pay) metadata() string {
	entries := [][]string{{"text/plain", cmp.Or(p.Description, "Payment to "+p.Name)}, {"text/identifier", p.Name + "@" + Domain}}
	text, _ := json.Marshal(entries) // strings can always be encoded
	return string(text)
}

func (s *LNURLServer) payDetails(r *http.Request, f LNURLFault) (any, string) {
	p, ok := s.pay(r)
	if !ok {
		return nil, "no such user"
	}
	if f.NoBounds {
		p.MinMsat, p.MaxMsat = p.MaxMsat+1, p.MinMsat
	}
	metadata := p.metadata()
	if f.BadMetadata {
		metadata = "{}"
	}
	return map[string]any{
		"tag": cmp.Or(f.Tag, "payRequest"), "callback": cmp.Or(f.CallbackURL, base(r)+"/pay/"+p.Name+"/invoice"), "minSendable": p.MinMsat, "maxSendable": p.MaxMsat,
		"metadata": metadata, "commentAllowed": p.Comment,
	}, ""
}

func (s *LNURLServer) invoice(r *http.Request, f LNURLFault) (any, string) {
	p, ok := s.pay(r)
	if !ok {
		return nil, "no such user"
	}
	amount, err := strconv.ParseInt(r.FormValue("amount"), 10, 64)
	if err != nil || amount < p.MinMsat || amount > p.MaxMsat {
		return nil, "the amount is out of bounds"
	}
	comment := r.FormValue("comment")
	if len(utf16.Encode([]rune(comment))) > p.Comment {
		return nil, "the comment is too long"
	}
	issued := Issued{Name: p.Name, Comment: comment, AmountMsat: amount}
	_, _ = rand.Read(issued.Preimage[:]) // does not fail
	if issued.Invoice, err = s.issue(p, issued, f); err != nil {
		return nil, "no invoice: " + err.Error()
	}
	s.mu.Lock()
	s.issued = append(s.issued, issued)
	s.mu.Unlock()
	answer := map[string]any{"pr": issued.Invoice, "routes": []any{}, "disposable": false}
	if f.NoInvoice {
		delete(answer, "pr")
	}
	if a := p.Action.answer(r, issued.Preimage, f); a != nil {
		answer["successAction"] = a
	}
	return answer, ""
}

// issue makes an invoice, a lie if it has to be one.
func (s *LNURLServer) issue(p Pay, i Issued, f LNURLFault) (string, error) {
	hash := sha256.Sum256([]byte(p.metadata()))
	o := InvoiceOptions{Preimage: i.Preimage, AmountMsat: i.AmountMsat + f.ExtraMsat, DescriptionHash: &hash, Timestamp: s.options.Now()}
	if f.WrongHash {
		hash[0] ^= 1
	}
	if f.Plain {
		o.DescriptionHash, o.Description = nil, p.metadata()
	}
	if f.NoAmount {
		o.AmountMsat = 0
	}
	if f.Expired {
		o.Timestamp, o.Expiry = o.Timestamp.Add(-2*time.Hour), time.Hour
	}
	node := s.options.Node
	if f.OtherNetwork {
		var err error
		if node, err = New(Options{Now: s.options.Now, Bitcoin: &chaincfg.MainNetParams}).NewNode("elsewhere", 0); err != nil {
			return "", err
		}
	}
	text, err := node.NewInvoice(o)
	if f.Broken && err == nil {
		last := byte('q')
		if text[len(text)-1] == last {
			last = 'p'
		}
		text = text[:len(text)-1] + string(last)
	}
	return text, err
}

// answer is an action as payers get it with the invoice of a preimage.
func (a *Action) answer(r *http.Request, preimage [32]byte, f LNURLFault) map[string]string {
	if f.UnknownAction {
		return map[string]string{"tag": "dance"}
	}
	if a == nil {
		return nil
	}
	switch a.Tag {
	case "message":
		return map[string]string{"tag": a.Tag, "message": a.Text}
	case "url":
		url := base(r) + a.Path
		if f.ForeignAction {
			url = "https://elsewhere.example" + a.Path
		}
		if f.InsecureAction {
			url = "javascript:alert(1)"
		}
		return map[string]string{"tag": a.Tag, "description": a.Description, "url": url}
	}
	if f.CorruptAction {
		preimage[0] ^= 1
	}
	ciphertext, iv := encipher(a.Text, preimage)
	return map[string]string{"tag": "aes", "description": a.Description, "ciphertext": ciphertext, "iv": iv}
}

// encipher is AES-256-CBC with PKCS#7 padding, as LUD-10 has it, in base64.
func encipher(text string, key [32]byte) (ciphertext, iv string) {
	var v [aes.BlockSize]byte
	_, _ = rand.Read(v[:]) // does not fail
	pad := aes.BlockSize - len(text)%aes.BlockSize
	padded := append([]byte(text), bytes.Repeat([]byte{byte(pad)}, pad)...)
	block, _ := aes.NewCipher(key[:]) // 32 bytes are a key
	cipher.NewCBCEncrypter(block, v[:]).CryptBlocks(padded, padded)
	return base64.StdEncoding.EncodeToString(padded), base64.StdEncoding.EncodeToString(v[:])
}
