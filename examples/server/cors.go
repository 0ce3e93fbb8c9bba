package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
)

// cors says which web pages may call the service.
type cors struct {
	Origin         origins  // one, a list, or "*"
	Methods        []string // GET, POST
	AllowedHeaders []string // Content-Type, Authorization, x-api-key
}

type origins []string

// UnmarshalJSON takes one origin or a list of them.
func (o *origins) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*o = origins{one}
	} else if json.Unmarshal(text, (*[]string)(o)) != nil {
		return errors.New("cors.origin: must be an origin or a list of them")
	}
	if len(*o) == 0 {
		return errors.New("cors.origin: is empty")
	}
	return nil
}

// allow sets the headers of an answer.
func (c *cors) allow(h http.Header, origin string) {
	if len(c.Origin) == 1 {
		h.Set("Access-Control-Allow-Origin", c.Origin[0])
	} else if slices.Contains(c.Origin, origin) {
		h.Set("Access-Control-Allow-Origin", origin)
	}
	if c.Origin[0] != "*" {
		h.Add("Vary", "Origin")
	}
}

// wrap answers preflights, which carry no key, and marks all other answers.
func (c *cors) wrap(next http.Handler) http.Handler {
	if c == nil {
		return next
	}
	methods := orDefault(c.Methods, "GET", "POST")
	headers := orDefault(c.AllowedHeaders, "Content-Type", "Authorization", "x-api-key")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.allow(w.Header(), r.Header.Get("Origin"))
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			w.Header().Set("Access-Control-Allow-Methods", strings.Join(methods, ","))
			w.Header().Set("Access-Control-Allow-Headers", strings.Join(headers, ","))
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func orDefault(list []string, usual ...string) []string {
	if len(list) > 0 {
		return list
	}
	return usual
}
