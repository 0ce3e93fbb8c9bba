package main

import (
	"bytes"
	"flag"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var figures = flag.Bool("figures", false, "measure each build: brotli takes minutes")

// measure prints what a build weighs, and how it loads in node.
const measure = `
import { readFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
const [folder, family] = process.argv.slice(-2);
const wasm = readFileSync(folder + '/verify.wasm');
const instantiate = WebAssembly.instantiate;
let instance;
WebAssembly.instantiate = async (...a) => (instance = await instantiate(...a));
const { load } = await import(folder + '/index.js');
const times = [];
for (let i = 0; i < 5; i++) {
  const began = performance.now();
  await load({ service: 'https://swaps.example', chains: { [{ evm: 'CITREA', solana: 'SOLANA', starknet: 'STARKNET' }[family]]: { rpc: ['https://node.example'] } } });
  times.push(performance.now() - began);
}
const mb = (n) => (n / 1e6).toFixed(2) + ' MB';
const gzip = gzipSync(wasm, { level: 9 }).length;
const brotli = brotliCompressSync(wasm, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_SIZE_HINT]: wasm.length } }).length;
console.log(mb(wasm.length), 'gzip -9', mb(gzip), 'brotli -q 11', mb(brotli), 'load', times.map((t) => t.toFixed(0)).join(', '), 'ms, memory of the program', mb(instance.exports.mem.buffer.byteLength));
`

// What docs/benchmarks.md says of the builds.
func TestFigures(t *testing.T) {
	if !*figures {
		t.Skip("measures only with -figures, and takes minutes")
	}
	for _, chains := range []string{"evm", "solana", "starknet", "evm,solana,starknet"} {
		folder := t.TempDir()
		if out, err := exec.Command("go", "run", "./pack", "-o", folder, "-chains", chains).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		family, _, _ := strings.Cut(chains, ",")
		run := exec.CommandContext(t.Context(), "node", "--input-type=module", "-", filepath.ToSlash(folder), family)
		run.Stdin = strings.NewReader(measure)
		var said bytes.Buffer
		run.Stderr = &said
		out, err := run.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, said.String())
		}
		t.Logf("%s: %s", chains, out)
	}
}
