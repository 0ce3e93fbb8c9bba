package wire

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
	EscrowABI = readABI("escrow_manager")
	VaultABI  = readABI("vault_manager")
	RelayABI  = readABI("btc_relay")
	ERC20ABI  = readABI("erc20")
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

// Unpack decodes the only result of a view method into out, a pointer.
func Unpack(of abi.ABI, method string, data []byte, out any) error {
	values, err := of.Unpack(method, data)
	if err == nil && len(values) != 1 {
		err = fmt.Errorf("unexpected number of values: %d", len(values))
	}
	if err == nil {
		err = copyValue(reflect.ValueOf(out).Elem(), reflect.ValueOf(values[0]))
	}
	if err != nil {
		return fmt.Errorf("response of %s: %w", method, err)
	}
	return nil
}

// assign puts decoded values into the members of out, a pointer to a struct,
// that have the names of the arguments.
func assign(args abi.Arguments, values []any, out any) error {
	to := reflect.ValueOf(out).Elem()
	for i, arg := range args {
		member := to.FieldByName(abi.ToCamelCase(arg.Name))
		if !member.IsValid() {
			return fmt.Errorf("missing field for %s", arg.Name)
		}
		if err := copyValue(member, reflect.ValueOf(values[i])); err != nil {
			return fmt.Errorf("%s: %w", arg.Name, err)
		}
	}
	return nil
}

// copyValue copies a decoded value, whose types the decoder made up, into one of
// ours: tuples member by member, arrays and slices element by element.
func copyValue(to, from reflect.Value) error {
	switch {
	case from.Type().AssignableTo(to.Type()):
		to.Set(from)
	case from.Kind() != to.Kind():
		return fmt.Errorf("%s is not a valid %s", from.Type(), to.Type())
	case from.Kind() == reflect.Struct && from.NumField() == to.NumField():
		for i := range from.NumField() {
			if err := copyValue(to.Field(i), from.Field(i)); err != nil {
				return err
			}
		}
	case from.Kind() == reflect.Slice:
		to.Set(reflect.MakeSlice(to.Type(), from.Len(), from.Len()))
		fallthrough
	case from.Kind() == reflect.Array && from.Len() == to.Len():
		for i := range from.Len() {
			if err := copyValue(to.Index(i), from.Index(i)); err != nil {
				return err
			}
		}
	case from.Type().ConvertibleTo(to.Type()):
		to.Set(from.Convert(to.Type()))
	default:
		return fmt.Errorf("%s is not a valid %s", from.Type(), to.Type())
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

// InBits says whether n is a number from 0 to 2^bits-1.
func InBits(n *big.Int, bits int) bool { return n != nil && n.Sign() >= 0 && n.BitLen() <= bits }
