package lp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf16"
)

// service is what /info says of one kind of swap.
type service struct {
	name   string
	terms  Terms
	data   any
	tokens object // chain to addresses
}

// claim is an address of the LP on a chain, with what signs for it.
type claim struct {
	chain, address, version string
	sign                    func(envelope []byte) (string, error)
}

// info is the answer to /info (protocol: lp-protocol.md §2.2).
type info struct {
	services []service
	claims   []claim
}

// answer signs the services together with the nonce.
func (i info) answer(nonce string) (object, error) {
	services := object{}
	for _, s := range i.services {
		services = append(services, member{s.name, object{{"swapFeePPM", s.terms.PPM}, {"swapBaseFee", s.terms.Base},
			{"min", s.terms.Min}, {"max", s.terms.Max}, {"data", s.data}, {"chainTokens", s.tokens}}})
	}
	envelope, err := text(object{{"nonce", nonce}, {"services", services}})
	if err != nil {
		return nil, err
	}
	chains := object{}
	for _, c := range i.claims {
		signature, err := c.sign(envelope)
		if err != nil {
			return nil, fmt.Errorf("sign for %s: %w", c.chain, err)
		}
		chains = append(chains, member{c.chain, object{{"address", c.address}, {"signature", signature}, {"contractVersion", c.version}}})
	}
	return object{{"envelope", string(envelope)}, {"chains", chains}}, nil
}

// infoNonce reads the nonce of a request, whose form is hardly checked.
func infoNonce(raw json.RawMessage) (string, bool) {
	var nonce string
	if isNull(raw) || json.Unmarshal(raw, &nonce) != nil {
		return "", false
	}
	return nonce, len(utf16.Encode([]rune(nonce))) <= 64 && strings.ContainsAny(nonce, "0123456789abcdefABCDEF")
}

// serveInfo answers /info by GET and POST.
func serveInfo(of func() info, mutate func(*http.Request, object) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		in := newParams(false)
		in.put(queryParams(req.URL.Query()).values)
		if in.read(req.Body) != nil {
			panic(http.ErrAbortHandler)
		}
		nonce, ok := infoNonce(in.values["nonce"])
		if !ok {
			_ = writeJSON(w, http.StatusBadRequest, object{{"msg", "Invalid request body (nonce)"}}) // or the client is gone
			return
		}
		answer, err := of().answer(nonce)
		var v any = answer
		if err == nil && mutate != nil {
			v, err = mutate(req, answer)
		}
		if err != nil || writeJSON(w, http.StatusOK, v) != nil {
			panic(http.ErrAbortHandler)
		}
	}
}
