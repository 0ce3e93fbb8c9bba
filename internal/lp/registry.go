package lp

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// maxURLs bounds how many LPs a registry can make the client call.
const maxURLs = 256

// RegistryURL returns the address of the public list of LPs for a Bitcoin network,
// "" if there is none (protocol: lp-protocol.md §2.1).
func RegistryURL(n bitcoin.Network) string {
	file := map[bitcoin.Network]string{bitcoin.Mainnet: "registry-mainnet", bitcoin.Testnet3: "registry", bitcoin.Testnet4: "registry-testnet4"}[n]
	if file == "" {
		return ""
	}
	return "https://api.github.com/repos/adambor/SolLightning-registry/contents/" + file + ".json?ref=main"
}

// DefaultTrustedURL returns the URL of the LP of trusted gas swaps, "" if there is none.
func DefaultTrustedURL(n bitcoin.Network) string {
	switch n {
	case bitcoin.Mainnet:
		return "https://node3.gethopa.com:34100"
	case bitcoin.Testnet3:
		return "https://node3.gethopa.com:24100"
	}
	return ""
}

// ReadList decodes a registry document: a file of URLs in base64, as GitHub
// shows it.
func ReadList(text []byte) ([]string, error) {
	fields, err := object(text)
	if err != nil {
		return nil, err
	}
	packed, ok := jsonString(fields["content"])
	if !ok {
		return nil, errors.New("content: must be a string")
	}
	file, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(packed, "\n", ""))
	if err != nil {
		return nil, fmt.Errorf("content: %w", err)
	}
	var list []string
	if err := json.Unmarshal(file, &list); err != nil {
		return nil, fmt.Errorf("content: %w", err)
	}
	out := []string{}
	for _, base := range list {
		base = strings.TrimRight(base, "/")
		if len(out) < maxURLs && !slices.Contains(out, base) {
			out = append(out, base)
		}
	}
	return out, nil
}
