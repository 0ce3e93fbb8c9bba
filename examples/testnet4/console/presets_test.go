package console

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/chains/solana"
	"github.com/swapper-go/swapper/chains/starknet"
	"github.com/swapper-go/swapper/examples/internal/running"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/nostr"
	"github.com/swapper-go/swapper/tokens"
)

// page reads a page of docs/protocol.
func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "protocol", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// cell returns what a table has in the row that begins with the given cell and the
// column of that heading.
func cell(t *testing.T, text, heading, row string) string {
	t.Helper()
	column := -1
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		for i := range cells {
			cells[i] = strings.Trim(cells[i], " `")
		}
		if at := slices.Index(cells, heading); at >= 0 {
			column = at
		} else if column > 0 && len(cells) > column && cells[1] == row {
			return cells[column]
		}
	}
	t.Fatalf("the page has no row %q below %q", row, heading)
	return ""
}

// What testnet4 is by default is what the pages of the protocol say.
func TestPresetsAreThoseOfThePages(t *testing.T) {
	same := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %s, the page says %s", what, got, want)
		}
	}
	const on = bitcoin.Testnet4

	citrea, err := evm.Preset("CITREA", on)
	if err != nil {
		t.Fatal(err)
	}
	evmPage := page(t, "chain-evm.md")
	const column = "CITREA testnet4"
	d := citrea.Deployments[0]
	id, _ := strconv.ParseUint(cell(t, evmPage, column, "EVM chain id"), 10, 64)
	if citrea.ChainID != id || id != 5115 {
		t.Errorf("chain id %d, the page says %d", citrea.ChainID, id)
	}
	for row, got := range map[string]string{
		"Escrow manager": d.EscrowManager.Address.Hex(), "BTC relay": d.BtcRelay.Address.Hex(), "SPV vault manager": d.VaultManager.Address.Hex(),
		"Execution contract": d.Execution.Hex(), "Refund: timelock": d.RefundHandler.Hex(), "Claim: HTLC (0)": d.ClaimHandlers[0].Hex(),
		"Claim: CHAIN (1)": d.ClaimHandlers[1].Hex(), "Claim: CHAIN_NONCED (2)": d.ClaimHandlers[2].Hex(), "Claim: CHAIN_TXID (3)": d.ClaimHandlers[3].Hex(),
	} {
		same(row, got, cell(t, evmPage, column, row))
	}

	sol, err := solana.Preset(on)
	if err != nil {
		t.Fatal(err)
	}
	solanaPage := page(t, "chain-solana.md")
	for _, d := range sol.Deployments {
		row := regexp.MustCompile("(?m)^\\| TESTNET4 \\(2\\) \\| devnet \\| " + d.Version + " \\| `(\\w+)` \\| `(\\w+)` \\|").FindStringSubmatch(solanaPage)
		if row == nil {
			t.Errorf("the page has no version %s", d.Version)
			continue
		}
		same("swap program "+d.Version, d.SwapProgram, row[1])
		same("relay "+d.Version, d.BtcRelay, row[2])
	}

	stark, err := starknet.Preset(on)
	if err != nil {
		t.Fatal(err)
	}
	starknetPage := page(t, "chain-starknet.md")
	if stark.ChainID != "SN_SEPOLIA" || !strings.Contains(starknetPage, "| TESTNET3 and TESTNET4 | Sepolia, `"+stark.ChainID+"` |") || len(stark.Deployments) != 1 {
		t.Errorf("Starknet is %s with %d deployments", stark.ChainID, len(stark.Deployments))
	}
	on4 := stark.Deployments[0]
	for row, got := range map[string]string{"Claim: HTLC (hashlock)": on4.ClaimHandlers[0], "Claim: CHAIN (output)": on4.ClaimHandlers[1], "Claim: CHAIN_NONCED": on4.ClaimHandlers[2],
		"Claim: CHAIN_TXID": on4.ClaimHandlers[3], "Refund: timelock": on4.RefundHandler} {
		same(row, got, cell(t, starknetPage, "Sepolia", row))
	}
	for row, got := range map[string]starknet.Contract{"Escrow manager": on4.EscrowManager, "SPV vault manager": on4.VaultManager} {
		same(row, fmt.Sprintf("%s` (%d)", got.Address, got.Height), cell(t, starknetPage, "Sepolia", row))
	}
	same("BTC relay", on4.BtcRelay.Address, cell(t, starknetPage, "address", "TESTNET4"))
	same("BTC relay's height", strconv.FormatUint(on4.BtcRelay.Height, 10), cell(t, starknetPage, "height", "TESTNET4"))
	if !strings.Contains(starknetPage, "OpenZeppelin account class `0x00"+strings.TrimPrefix(running.Class.String(), "0x")+"`, constructor calldata [public key x], salt = public key") {
		t.Errorf("accounts are of the class %s", running.Class.String())
	}

	// Tokens have the same addresses on every network.
	pages := evmPage + solanaPage + starknetPage
	for _, chain := range smartChains {
		for _, token := range tokens.Known(chain) {
			if !strings.Contains(strings.ToLower(pages), strings.ToLower(token.Address)) {
				t.Errorf("%s: the pages do not name %s", token.ID(), token.Address)
			}
		}
	}

	same("registry", lp.RegistryURL(on), cell(t, page(t, "lp-protocol.md"), "Registry URL", "testnet4"))
	if lp.DefaultTrustedURL(on) != "" || cell(t, page(t, "lp-protocol.md"), "Default trusted LP (types 4, 5)", "testnet4") != "none" {
		t.Error("testnet4 has no provider that is trusted by default")
	}
	utilities := page(t, "utilities.md")
	same("kind of Nostr's events", strconv.Itoa(nostr.Kind(on)), cell(t, utilities, "kind", "testnet4"))
	for _, relay := range nostr.DefaultRelays(on) {
		if !strings.Contains(utilities, "`"+relay+"`") {
			t.Errorf("the page does not name the relay %s", relay)
		}
	}
	bitcoinPage := page(t, "bitcoin.md")
	if cell(t, bitcoinPage, "URLs in order", "testnet4") != "the same four hosts with `/testnet4/api/" || len(mempoolspace.DefaultURLs(on)) != 4 {
		t.Error("the page lists other Bitcoin servers")
	}
	for _, url := range mempoolspace.DefaultURLs(on) {
		if !strings.Contains(bitcoinPage, "`"+strings.Replace(url, "/testnet4/", "/", 1)+"`") {
			t.Errorf("the page does not name the host of %s", url)
		}
	}
	for id, n := range publicTestnets {
		for _, url := range []string{n.rpc, n.faucet, n.explorer} {
			if !strings.HasPrefix(url, "https://") {
				t.Errorf("%s: %s is not https", id, url)
			}
		}
	}
}
