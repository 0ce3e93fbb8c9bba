package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/storage"
)

// Constants of the public adapter for Citrea, which clients have built in.
const (
	wbtc = "0xDF240DC08B0FdaD1d93b74d5048871232f6BEA3d"
	usdc = "0xE045e6c36cF77FAA2CfB54466D71A3aEF7bbE839"
)

func TestNetworkAsAProcess(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, w, []string{"-lps", "2", "-mine", "1h", "-chain-id", "5115", "-token", "WBTC=" + wbtc, "-token", "USDC=" + usdc, "-watchtower=false", "-solana", "v2", "-starknet"})
		_ = w.CloseWithError(err)
		ended <- err
	}()
	var d struct {
		LPs     []string
		Control string
		Bitcoin struct{ REST string }
		Clock   string
		EVM     struct {
			ChainID           uint64
			RPC               string
			Contracts, Tokens map[string]string
		}
		Solana struct {
			RPC, Websocket, Genesis string
			ProgramVersion          string
			Programs                map[string]struct{ SwapProgram, BtcRelay string }
			Tokens                  map[string]string
		}
		Starknet struct {
			RPC, ChainID string
			Network      struct {
				Deployments []struct{ EscrowManager struct{ Address string } }
			}
			Tokens map[string]string
		}
		Users struct {
			Solana, Starknet struct{ Address, PrivateKey string }
		}
		LNURL struct{ Pay, Withdraw string }
	}
	if err := json.NewDecoder(r).Decode(&d); err != nil {
		t.Fatal(err)
	}
	if len(d.LPs) != 2 || len(d.EVM.Contracts) != 10 || len(d.EVM.Tokens) != 3 {
		t.Errorf("%+v", d)
	}
	if d.EVM.ChainID != 5115 || d.EVM.Tokens["WBTC"] != wbtc || d.EVM.Tokens["USDC"] != usdc {
		t.Errorf("%+v", d.EVM)
	}
	post := func(path string) (answer map[string]any, status int) {
		t.Helper()
		resp, err := http.Post(d.Control+path, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		_ = json.NewDecoder(resp.Body).Decode(&answer) // or it is a refusal
		return answer, resp.StatusCode
	}
	get := func(url string) (answer map[string]any) {
		t.Helper()
		resp, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
			t.Fatal(err)
		}
		return answer
	}

	if s := d.Solana; s.ProgramVersion != "v2" || len(s.Programs) != 2 || len(s.Tokens) != 3 || len(d.Users.Solana.PrivateKey) != 128 {
		t.Errorf("%+v", s)
	}
	slot := func(path string) float64 {
		t.Helper()
		answer, status := post("/solana/" + path)
		slot, _ := answer["slot"].(float64)
		if status != http.StatusOK {
			t.Errorf("%s: %d", path, status)
		}
		return slot
	}
	before := slot("mine?blocks=2")
	if after := slot("reorg?blocks=1"); after <= before {
		t.Errorf("slot %v, then %v", before, after)
	}
	slot("fund?token=USDC&amount=5&address=" + d.Users.Solana.Address)
	slot("misbehave?behind=2&status=502")
	if resp, err := http.Post(d.Solana.RPC, "application/json", strings.NewReader("{}")); err != nil || resp.StatusCode != http.StatusBadGateway {
		t.Errorf("the node works: %v", err)
	} else {
		resp.Body.Close()
	}
	slot("misbehave")
	for _, wrong := range []string{"mine", "reorg?blocks=0", "fund?token=USDC&amount=5&address=me", "fund?token=BONK&amount=5&address=" + d.Users.Solana.Address, "misbehave?down=perhaps", "misbehave?behind=-1"} {
		if _, status := post("/solana/" + wrong); status != http.StatusBadRequest {
			t.Errorf("%s: %d", wrong, status)
		}
	}

	if s := d.Starknet; s.ChainID != "SN_SEPOLIA" || len(s.Network.Deployments) != 1 || len(s.Network.Deployments[0].EscrowManager.Address) != 66 || len(s.Tokens) != 3 || len(d.Users.Starknet.PrivateKey) != 66 {
		t.Errorf("%+v", s)
	}
	block := func(path string) float64 {
		t.Helper()
		answer, status := post("/starknet/" + path)
		block, _ := answer["block"].(float64)
		if status != http.StatusOK {
			t.Errorf("%s: %d", path, status)
		}
		return block
	}
	height := block("mining?automatic=false")
	if after := block("mine?blocks=2"); after != height+2 {
		t.Errorf("block %v, then %v", height, after)
	}
	block("mining?automatic=true")
	block("reorg?blocks=1")
	if after := block("fund?token=USDC&amount=5&address=" + d.Users.Starknet.Address); after <= height+2 {
		t.Errorf("block %v, then %v", height, after)
	}
	block("misbehave?behind=2&status=502&perSecond=9")
	if resp, err := http.Post(d.Starknet.RPC, "application/json", strings.NewReader("{}")); err != nil || resp.StatusCode != http.StatusBadGateway {
		t.Errorf("the node works: %v", err)
	} else {
		resp.Body.Close()
	}
	block("misbehave")
	for _, wrong := range []string{"mine", "mining", "reorg?blocks=0", "fund?token=USDC&amount=0&address=" + d.Users.Starknet.Address, "fund?token=USDC&amount=5&address=me", "fund?token=ETH&amount=5&address=" + d.Users.Starknet.Address, "misbehave?down=perhaps", "misbehave?behind=-1"} {
		if _, status := post("/starknet/" + wrong); status != http.StatusBadRequest {
			t.Errorf("%s: %d", wrong, status)
		}
	}

	// The clock answers who waits for it as soon as it is moved.
	waited := make(chan map[string]any, 1)
	go func() { waited <- get(d.Clock + "?ahead=0") }()
	select {
	case <-waited:
		t.Error("the clock was not moved")
	case <-time.After(50 * time.Millisecond):
	}
	if _, status := post("/advance?seconds=3600"); status != http.StatusOK {
		t.Errorf("advance: %d", status)
	}
	if answer := <-waited; answer["ahead"] != 3_600_000.0 || get(d.Clock)["ahead"] != 3_600_000.0 {
		t.Errorf("clock %v", answer)
	}

	// Invoices without amount, and such that are held.
	open, status := post("/invoice")
	if status != http.StatusOK {
		t.Errorf("invoice: %d", status)
	}
	if _, status := post("/pay?invoice=" + open["invoice"].(string)); status != http.StatusBadRequest {
		t.Errorf("nothing is paid to an invoice without amount: %d", status)
	}
	if _, status := post("/pay?sats=700&invoice=" + open["invoice"].(string)); status != http.StatusOK {
		t.Errorf("pay: %d", status)
	}
	state := func(hash any) any { return get(d.Control + "/invoice?hash=" + hash.(string))["state"] }
	for _, end := range []string{"settle", "cancel"} {
		held, _ := post("/invoice?sats=500&hold=1")
		post("/pay?invoice=" + held["invoice"].(string))
		for range 1000 {
			if state(held["paymentHash"]) == "held" {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if got := state(held["paymentHash"]); got != "held" {
			t.Errorf("paid, and %v", got)
		}
		if _, status := post("/" + end + "?hash=" + held["paymentHash"].(string)); status != http.StatusOK || state(held["paymentHash"]) != end+map[string]string{"settle": "d", "cancel": "ed"}[end] {
			t.Errorf("%s: %d, then %v", end, status, state(held["paymentHash"]))
		}
	}
	if _, status := post("/fees?satvb=33&lps=7"); status != http.StatusOK {
		t.Errorf("fees: %d", status)
	}
	if got := get(d.Bitcoin.REST + "v1/fees/recommended")["fastestFee"]; got != 33.0 {
		t.Errorf("%v sat/vB", got)
	}
	for _, on := range []string{"true", "false"} {
		if _, status := post("/watchtower?on=" + on); status != http.StatusOK {
			t.Errorf("watchtower: %d", status)
		}
	}
	if err := info(d.LPs[1]); err != nil {
		t.Error(err)
	}
	backend, err := mempoolspace.New(mempoolspace.Options{Network: bitcoin.Regtest, URLs: []string{d.Bitcoin.REST}})
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	client, err := swapper.Open(ctx, swapper.Config{Network: bitcoin.Regtest, Store: new(storage.Memory), Bitcoin: backend,
		LPs: swapper.LPs{URLs: d.LPs}, LNURL: swapper.LNURLOptions{AllowLocal: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for text, pays := range map[string]bool{d.LNURL.Pay: true, d.LNURL.Withdraw: false} {
		out, err := client.ParseAddress(ctx, swapper.ParseAddressInput{Address: text})
		if err != nil || out.LNURL == nil || out.LNURL.Type() != map[bool]string{true: "pay", false: "withdraw"}[pays] {
			t.Errorf("%s: %+v, %v", text, out, err)
		}
	}
	var invoice string
	for _, path := range []string{"/mine?blocks=2", "/advance?seconds=60", "/relay", "/invoice?sats=1000", "/pay?invoice=", "/voucher", "/reorg?blocks=1",
		"/fund?sats=5000&address=bcrt1q5qq0lngtukk3zqvrtpvjdkdg0g4j6057l9wj3z"} {
		if path == "/pay?invoice=" {
			path += invoice
		}
		resp, err := http.Post(d.Control+path, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		var answer struct{ Invoice string }
		err = json.NewDecoder(resp.Body).Decode(&answer)
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK || err != nil {
			t.Errorf("%s: %s %v", path, resp.Status, err)
		}
		if answer.Invoice != "" {
			invoice = answer.Invoice
		}
	}
	for _, path := range []string{"/sign", "/mine?blocks=0", "/fees", "/watchtower", "/settle?hash=00", "/invoice?sats=-1", "/misbehave?lp=2", "/misbehave?lp=0&faults=Kindness", "/reorg?blocks=x"} {
		resp, err := http.Post(d.Control+path, "", nil)
		if err != nil || resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %v %v", path, resp, err)
		}
	}
	// An LP misbehaves, and is honest again.
	for query, good := range map[string]bool{"faults=Garbage": false, "on=/info&field=envelope&value=x": false, "": true} {
		if resp, err := http.Post(d.Control+"/misbehave?lp=1&"+query, "", nil); err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %v %v", query, resp, err)
		}
		if err := info(d.LPs[1]); (err == nil) != good {
			t.Errorf("%s: %v", query, err)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// info asks a provider who it is, and checks that its answer can be read.
func info(lp string) error {
	response, err := http.Post(lp+"/info", "application/json", strings.NewReader(`{"nonce": "`+strings.Repeat("0", 64)+`"}`))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var answer struct{ Envelope string }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return err
	}
	var services struct{ Services map[string]any }
	if err := json.Unmarshal([]byte(answer.Envelope), &services); err != nil || len(services.Services) == 0 {
		return fmt.Errorf("%v: %.100s", err, answer.Envelope)
	}
	return nil
}

func TestFlags(t *testing.T) {
	for _, args := range [][]string{{"-token", "WBTC=0x12"}, {"-token", "WBTC"}, {"-mine", "often"}, {"more"}, {"-token", "DOGE=" + wbtc}} {
		if err := run(t.Context(), io.Discard, args); err == nil {
			t.Errorf("%v: started", args)
		}
	}
}
