package evm

import (
	"embed"
	"fmt"
	"math/big"
	"reflect"
	"sync"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
)

//go:embed abi/*.json
var abiFiles embed.FS

// The interfaces of the contracts (protocol: chain-evm.md §2), read on first use.
var (
	escrowABI = readABI("escrow_manager")
	vaultABI  = readABI("vault_manager")
	relayABI  = readABI("btc_relay")
	erc20ABI  = readABI("erc20")
)

// readABI gives an empty interface if the embedded file is damaged, so that each
// use of it returns an error.
func readABI(name string) func() abi.ABI {
	return sync.OnceValue(func() abi.ABI {
		f, err := abiFiles.Open("abi/" + name + ".json")
		if err != nil {
			return abi.ABI{}
		}
		defer f.Close()
		parsed, err := abi.JSON(f)
		if err != nil {
			return abi.ABI{}
		}
		return parsed
	})
}

// unpack decodes what a view method returned into out, a pointer to the struct
// or value of its only result.
func unpack(of abi.ABI, method string, data []byte, out any) error {
	values, err := of.Unpack(method, data)
	if err != nil {
		return fmt.Errorf("answer of %s: %w", method, err)
	}
	m := of.Methods[method]
	if err := m.Outputs.Copy(out, values); err != nil {
		return fmt.Errorf("answer of %s: %w", method, err)
	}
	return nil
}

// assign puts decoded values into the members of out, a pointer to a struct,
// that have the names of the arguments.
func assign(args abi.Arguments, values []any, out any) error {
	to := reflect.ValueOf(out).Elem()
	for i, arg := range args {
		member := to.FieldByName(abi.ToCamelCase(arg.Name))
		value := reflect.ValueOf(values[i])
		switch {
		case !member.IsValid():
			return fmt.Errorf("no member for %s", arg.Name)
		case value.Type().ConvertibleTo(member.Type()):
			member.Set(value.Convert(member.Type()))
		default:
			return fmt.Errorf("%s has type %s", arg.Name, value.Type())
		}
	}
	return nil
}

// abiEscrow is the Escrow tuple as the encoder wants it.
type abiEscrow struct {
	Offerer                 common.Address
	Claimer                 common.Address
	Amount                  *big.Int
	Token                   common.Address
	Flags                   *big.Int
	ClaimHandler            common.Address
	ClaimData               common.Hash
	RefundHandler           common.Address
	RefundData              common.Hash
	SecurityDeposit         *big.Int
	ClaimerBounty           *big.Int
	DepositToken            common.Address
	SuccessActionCommitment common.Hash
}

// words concatenates ABI words of static values: what the contracts hash.
type words []byte

func (w words) address(a common.Address) words {
	return append(append(w, make([]byte, 12)...), a[:]...)
}

func (w words) bytes32(h [32]byte) words { return append(w, h[:]...) }

// uint appends a number that is known to be from 0 to 2^256-1.
func (w words) uint(n *big.Int) words {
	var word [32]byte
	n.FillBytes(word[:])
	return append(w, word[:]...)
}

func (w words) uint64(n uint64) words {
	var word [32]byte
	for i := range 8 {
		word[31-i] = byte(n >> (8 * i))
	}
	return append(w, word[:]...)
}

func (w words) bool(b bool) words {
	if b {
		return w.uint64(1)
	}
	return w.uint64(0)
}

// inBits says whether n is a number from 0 to 2^bits-1.
func inBits(n *big.Int, bits int) bool { return n != nil && n.Sign() >= 0 && n.BitLen() <= bits }
