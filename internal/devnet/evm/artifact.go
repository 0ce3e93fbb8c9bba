package evm

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

//go:embed contracts/artifacts/*.json
var artifacts embed.FS

// artifact is a compiled contract.
type artifact struct {
	ABI      abi.ABI
	Bytecode []byte // creation code without constructor arguments
	Source   string // SHA-256 in hex of the sources that it was compiled from
}

// loadArtifact reads a contract of the network by its name in the sources, as in
// EscrowManager.
func loadArtifact(name string) (artifact, error) {
	data, err := artifacts.ReadFile("contracts/artifacts/" + name + ".json")
	if err != nil {
		return artifact{}, fmt.Errorf("no contract %s: %w", name, err)
	}
	var file struct {
		ABI      json.RawMessage
		Bytecode hexutil.Bytes
		Source   string
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return artifact{}, fmt.Errorf("contract %s: %w", name, err)
	}
	parsed, err := abi.JSON(bytes.NewReader(file.ABI))
	if err != nil {
		return artifact{}, fmt.Errorf("contract %s: %w", name, err)
	}
	return artifact{parsed, file.Bytecode, file.Source}, nil
}

// initCode is the creation code with the constructor's arguments behind it.
func (a artifact) initCode(args ...any) ([]byte, error) {
	packed, err := a.ABI.Pack("", args...)
	if err != nil {
		return nil, err
	}
	return append(append([]byte(nil), a.Bytecode...), packed...), nil
}
