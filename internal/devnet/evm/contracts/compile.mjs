// Compiles the contracts of this folder and writes artifacts/<contract>.json: ABI, creation code and the hash of
// what they were made from. Needs "npm install --no-package-lock" once; the Go module needs only the artefacts.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import solc from "solc";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "artifacts");
const deployed = [
  "EscrowManager", "BtcRelay", "VaultManager", "ExecutionContract",
  "HashlockHandler", "TxIdHandler", "OutputHandler", "NoncedOutputHandler", "TimelockHandler",
  "TestToken", "WrappedNative", "ContractWallet",
];

// The hash that the artefacts carry: every source in the order of names, then this script.
const names = readdirSync(here).filter((n) => n.endsWith(".sol")).sort();
const hash = createHash("sha256");
const sources = {};
for (const name of [...names, "compile.mjs"]) {
  const content = readFileSync(join(here, name), "utf8");
  hash.update(`${name}\n${content}`);
  if (name.endsWith(".sol")) sources[name] = { content };
}
const source = hash.digest("hex");

const output = JSON.parse(solc.compile(JSON.stringify({
  language: "Solidity",
  sources,
  settings: {
    optimizer: { enabled: true, runs: 1_000_000 },
    viaIR: true,
    evmVersion: "cancun",
    metadata: { appendCBOR: false, bytecodeHash: "none" },
    outputSelection: { "*": { "*": ["abi", "evm.bytecode.object", "evm.deployedBytecode.object"] } },
  },
})));
for (const e of output.errors ?? []) console.error(e.formattedMessage);
if ((output.errors ?? []).some((e) => e.severity === "error")) process.exit(1);

rmSync(out, { recursive: true, force: true });
mkdirSync(out);
const compiled = Object.assign({}, ...Object.values(output.contracts));
for (const name of deployed) {
  const { abi, evm } = compiled[name];
  const artefact = { contract: name, compiler: solc.version(), source, abi, bytecode: "0x" + evm.bytecode.object };
  writeFileSync(join(out, `${name}.json`), JSON.stringify(artefact, null, 1) + "\n");
  console.log(name, evm.deployedBytecode.object.length / 2, "bytes");
}
