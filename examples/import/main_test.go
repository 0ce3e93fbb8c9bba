package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/internal/vectors"
	"github.com/swapper-go/swapper/swappertest"
	"github.com/swapper-go/swapper/tokens"
)

// layout is the reference service's table and indexes.
const layout = `
CREATE TABLE swaps (id VARCHAR(255) PRIMARY KEY, escrowHash TEXT NULL, type INTEGER NOT NULL, initiator TEXT NOT NULL, state INTEGER NOT NULL, paymentHash TEXT NULL, data TEXT NOT NULL);
CREATE UNIQUE INDEX idx_escrowHash ON swaps(escrowHash);
CREATE INDEX idx_type ON swaps(type);
CREATE INDEX idx_initiator ON swaps(initiator);
CREATE INDEX idx_state ON swaps(state);
CREATE INDEX idx_paymentHash ON swaps(paymentHash);
CREATE INDEX idx_initiator_id ON swaps(initiator, id);
CREATE INDEX idx_type_state ON swaps(type, state);
CREATE INDEX idx_type_paymentHash ON swaps(type, paymentHash);
CREATE INDEX idx_type_initiator_state ON swaps(type, initiator, state);`

// write makes a file as the reference service has it.
func write(t *testing.T, file string, all map[string]json.RawMessage) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(layout); err != nil {
		t.Fatal(err)
	}
	for id, data := range all {
		var column struct {
			EscrowHash, PaymentHash *string
			Type, State             int
			Initiator               string
		}
		_ = json.Unmarshal(data, &column) // what cannot be read has empty columns
		if _, err := db.Exec("INSERT INTO swaps VALUES (?, ?, ?, ?, ?, ?, ?)", id, column.EscrowHash, column.Type, column.Initiator, column.State, column.PaymentHash, string(data)); err != nil {
			t.Fatal(err)
		}
	}
}

// vectorRecords are the records of a chain: vault swaps, and escrow swaps, which on
// Citrea are of contracts that are not its own.
func vectorRecords(t *testing.T, chain string) (vaults, escrows map[string]json.RawMessage) {
	t.Helper()
	vaults, escrows = map[string]json.RawMessage{}, map[string]json.RawMessage{}
	id := func(data json.RawMessage) string {
		var r struct{ ID string }
		if err := json.Unmarshal(data, &r); err != nil {
			t.Fatal(err)
		}
		return r.ID
	}
	for _, c := range vectors.Load(t, "swap-flows-spv-and-core", "fees_and_record").Cases {
		var in struct{ Chain string }
		var want struct{ Record json.RawMessage }
		c.Input(t, &in)
		c.Expected(t, &want)
		if in.Chain == chain {
			vaults[id(want.Record)] = want.Record
		}
	}
	var all map[string]json.RawMessage
	vectors.Load(t, "swap-flows-escrow", "record_reading").Member(t, "records", &all)
	for name, data := range all {
		if strings.HasSuffix(name, "/"+chain) {
			escrows[id(data)] = data
		}
	}
	return vaults, escrows
}

func TestImport(t *testing.T) {
	t.Parallel()
	vaults, escrows := vectorRecords(t, "CITREA")
	if len(vaults) != 8 || len(escrows) != 2 {
		t.Fatalf("%d and %d records", len(vaults), len(escrows))
	}
	dir := t.TempDir()
	file, store := filepath.Join(dir, "CHAIN_atomiqsdk-0-CITREA.sqlite3"), filepath.Join(dir, "swaps.db")
	write(t, file, vaults)
	ran := func(file string, args ...string) (string, error) {
		var out bytes.Buffer
		err := run(t.Context(), append(append([]string{"-rpc", "http://127.0.0.1:1"}, args...), file), &out)
		return out.String(), err
	}
	expect := func(file, last string, args ...string) {
		t.Helper()
		if out, err := ran(file, args...); err != nil || !strings.HasSuffix(out, last+"\n") {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	expect(file, "8 can be imported, 0 already present, 0 refused", "-dry-run")
	expect(file, "8 can be imported, 0 already present, 0 refused", "-dry-run", "-store", store)
	expect(file, "8 imported, 0 already present, 0 refused", "-store", store)
	expect(file, "0 imported, 8 already present, 0 refused", "-store", store)

	// One record of three is as it should be.
	mixed := map[string]json.RawMessage{"broken": json.RawMessage(`{"id": "broken"`)}
	for _, all := range []map[string]json.RawMessage{vaults, escrows} {
		for id, data := range all {
			mixed[id] = data
			break
		}
	}
	other := filepath.Join(dir, "copy of swaps.sqlite3")
	write(t, other, mixed)
	if _, err := ran(other, "-dry-run"); err == nil || !strings.Contains(err.Error(), "-chain and -network") {
		t.Errorf("a file without a name: %v", err)
	}
	out, err := ran(other, "-dry-run", "-chain", "CITREA", "-network", "mainnet")
	if err == nil || !strings.Contains(out, "1 can be imported, 0 already present, 2 refused") || !strings.Contains(out, "refused (invalid_input)") {
		t.Errorf("%v\n%s", err, out)
	}
	for id := range mixed {
		if !strings.Contains(out, id) {
			t.Errorf("%s is not named in\n%s", id, out)
		}
	}

	// What is refused is kept, with why; a later import that refuses nothing removes the file.
	kept := store + ".refused"
	if _, err := ran(other, "-store", store, "-chain", "CITREA", "-network", "mainnet"); err == nil || !strings.Contains(err.Error(), kept) {
		t.Errorf("%v does not name %s", err, kept)
	}
	text, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if info, err := os.Stat(kept); err != nil || info.Mode().Perm() != 0o600 || len(lines) != 2 {
		t.Errorf("%v, %v, %d lines", info.Mode(), err, len(lines))
	}
	for _, line := range lines {
		var one struct {
			ID, Error string
			Record    json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &one); err != nil || one.Error == "" {
			t.Errorf("%v: %s", err, line)
		}
		var whole string
		if json.Unmarshal(one.Record, &whole) != nil {
			whole = string(one.Record)
		}
		if diff := cmp.Diff(string(mixed[one.ID]), whole); one.ID == "broken" && diff != "" || one.ID != "broken" && len(whole) < 100 {
			t.Errorf("%s: %s", one.ID, whole)
		}
	}
	expect(file, "0 imported, 8 already present, 0 refused", "-store", store)
	if _, err := os.Stat(kept); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there: %v", kept, err)
	}
}

// The swaps of a network with contracts of its own come over once the command knows the contracts, and
// from providers that have no public address once it knows the providers.
func TestImportOwnContracts(t *testing.T) {
	t.Parallel()
	_, escrows := vectorRecords(t, "CITREA")
	dir := t.TempDir()
	file, contracts := filepath.Join(dir, "CHAIN_atomiqsdk-0-CITREA.sqlite3"), filepath.Join(dir, "contracts.json")
	local := map[string]json.RawMessage{}
	for id, data := range escrows {
		if !bytes.Contains(data, []byte(`"secret"`)) {
			continue // of an escrow that no contract makes
		}
		local[id] = bytes.ReplaceAll(data, []byte("https://lp.example.com:24000/"), []byte("http://127.0.0.1:24000/"))
	}
	write(t, file, local)
	network, err := evm.Preset("CITREA", bitcoin.Mainnet)
	if err != nil {
		t.Fatal(err)
	}
	d := &network.Deployments[0]
	d.RefundHandler = common.HexToAddress("0x111111111111111111111111111111111111aaaa")
	d.ClaimHandlers = [4]common.Address{}
	for i := range d.ClaimHandlers {
		d.ClaimHandlers[i] = common.HexToAddress("0x" + strings.Repeat(strconv.Itoa(i+2), 40))
	}
	text, err := json.Marshal(map[string]any{"evm": map[string]any{"rpc": "http://127.0.0.1:1", "network": network, "listed": tokens.Known("CITREA")}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(contracts, text, 0o600); err != nil {
		t.Fatal(err)
	}
	lp := []string{"-lp", "http://127.0.0.1:24000"}
	for _, c := range []struct {
		name, says string
		args       []string
	}{
		{"published contracts", "0 can be imported, 0 already present, 1 refused", lp},
		{"no such provider", "0 can be imported, 0 already present, 1 refused", []string{"-contracts", contracts}},
		{"own contracts", "1 can be imported, 0 already present, 0 refused", append(lp, "-contracts", contracts)},
		{"another chain", "the file of -contracts has no contracts of GOAT", []string{"-contracts", contracts, "-chain", "GOAT"}},
		{"no contracts", "is not in the form that examples/devnet prints", []string{"-contracts", file}},
	} {
		var out bytes.Buffer
		err := run(t.Context(), append(append([]string{"-dry-run", "-rpc", "http://127.0.0.1:1"}, c.args...), file), &out)
		if !strings.Contains(out.String(), c.says) && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: want %q; %v\n%s", c.name, c.says, err, out.String())
		}
	}
}

// What examples/devnet prints names the contracts of every chain of a local network.
func TestImportOfALocalNetwork(t *testing.T) {
	t.Parallel()
	n := swappertest.Start(t, swappertest.Options{Solana: swappertest.SolanaOptions{Version: "v1"}, Starknet: swappertest.StarknetOptions{On: true}})
	dir := t.TempDir()
	printed := filepath.Join(dir, "local.json")
	f, err := os.Create(printed)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(n.Describe(f), f.Close()); err != nil {
		t.Fatal(err)
	}
	for _, chain := range []string{"CITREA", "SOLANA", "STARKNET"} {
		file := filepath.Join(dir, "CHAIN_atomiqsdk-"+strconv.Itoa(int(bitcoin.Regtest))+"-"+chain+".sqlite3")
		write(t, file, map[string]json.RawMessage{"broken": json.RawMessage("{}")})
		var out bytes.Buffer
		if err := run(t.Context(), []string{"-dry-run", "-contracts", printed, file}, &out); err == nil || !strings.Contains(out.String(), "0 can be imported, 0 already present, 1 refused") {
			t.Errorf("%s: %v\n%s", chain, err, out.String())
		}
	}
}

// Accounts that hold rent on Solana are named.
func TestRentsAreNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := written(t, dir)
	db, err := sql.Open("sqlite", filepath.Join(dir, "STORE_solAccounts.sqlite3"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`CREATE TABLE store (id VARCHAR(255) PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO store VALUES ('a', '{"accountKey":"4hfUykhqmD7ZRvNh1HuzVKEY7ToENixtdUKZspNDCrEM","owner":"3KHSHFpEK6bsjg3bqcxQ9qssJYtRCMi2S9TYVe4q6CQc"}');`); err != nil {
		t.Fatal(err)
	}
	db.Close()
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-rpc", "http://127.0.0.1:1", "-dry-run", file}, &out); err != nil || !strings.Contains(out.String(), "account 4hfUykhqmD7ZRvNh1HuzVKEY7ToENixtdUKZspNDCrEM holds rent that comes back when its owner 3KHSHFpEK6bsjg3bqcxQ9qssJYtRCMi2S9TYVe4q6CQc") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestWrongArguments(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "CHAIN_atomiqsdk-0-CITREA.sqlite3")
	db, err := sql.Open("sqlite", empty)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE store (id VARCHAR(255) PRIMARY KEY, value TEXT NOT NULL)"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	other := written(t, dir)
	for _, c := range []struct {
		says string
		args []string
	}{
		{"name one SQLite file", nil},
		{"-store is required", []string{empty}},
		{"no such file", []string{"-dry-run", filepath.Join(dir, "CHAIN_atomiqsdk-0-ALPEN.sqlite3")}},
		{"not a swap file", []string{"-dry-run", empty}},
		{"-rpc is required for SOLANA", []string{"-dry-run", other}},
		{"chain TRON is not supported", []string{"-dry-run", "-chain", "TRON", other}},
	} {
		var out bytes.Buffer
		if err := run(context.Background(), c.args, &out); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v, want %q", c.args, err, c.says)
		}
	}
}

// written is a file without records.
func written(t *testing.T, dir string) string {
	t.Helper()
	file := filepath.Join(dir, "CHAIN_atomiqsdk-2-SOLANA.sqlite3")
	write(t, file, nil)
	return file
}
