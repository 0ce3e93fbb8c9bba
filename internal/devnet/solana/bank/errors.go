package bank

import (
	"encoding/json"
	"fmt"
)

// Custom is an error with a program's own number.
type Custom uint32

func (e Custom) Error() string { return fmt.Sprintf("custom program error: %#x", uint32(e)) }

// Reason is an error of an instruction that Solana itself has a name for.
type Reason string

// The reasons that are used here, by the names in a transaction's status.
const (
	GenericError                Reason = "GenericError"
	InvalidArgument             Reason = "InvalidArgument"
	InvalidInstructionData      Reason = "InvalidInstructionData"
	InvalidAccountData          Reason = "InvalidAccountData"
	AccountDataTooSmall         Reason = "AccountDataTooSmall"
	InsufficientFunds           Reason = "InsufficientFunds"
	IncorrectProgramID          Reason = "IncorrectProgramId"
	MissingRequiredSignature    Reason = "MissingRequiredSignature"
	AccountAlreadyInitialized   Reason = "AccountAlreadyInitialized"
	UninitializedAccount        Reason = "UninitializedAccount"
	UnbalancedInstruction       Reason = "UnbalancedInstruction"
	ModifiedProgramID           Reason = "ModifiedProgramId"
	ExternalAccountLamportSpend Reason = "ExternalAccountLamportSpend"
	ExternalAccountDataModified Reason = "ExternalAccountDataModified"
	ReadonlyLamportChange       Reason = "ReadonlyLamportChange"
	ReadonlyDataModified        Reason = "ReadonlyDataModified"
	ExecutableModified          Reason = "ExecutableModified"
	NotEnoughAccountKeys        Reason = "NotEnoughAccountKeys"
	AccountDataSizeChanged      Reason = "AccountDataSizeChanged"
	UnsupportedProgramID        Reason = "UnsupportedProgramId"
	CallDepth                   Reason = "CallDepth"
	MissingAccount              Reason = "MissingAccount"
	ReentrancyNotAllowed        Reason = "ReentrancyNotAllowed"
	InvalidSeeds                Reason = "InvalidSeeds"
	InvalidRealloc              Reason = "InvalidRealloc"
	ComputationalBudgetExceeded Reason = "ComputationalBudgetExceeded"
	PrivilegeEscalation         Reason = "PrivilegeEscalation"
	ProgramFailedToComplete     Reason = "ProgramFailedToComplete"
	IncorrectAuthority          Reason = "IncorrectAuthority"
	AccountNotRentExempt        Reason = "AccountNotRentExempt"
	InvalidAccountOwner         Reason = "InvalidAccountOwner"
	ArithmeticOverflow          Reason = "ArithmeticOverflow"
	IllegalOwner                Reason = "IllegalOwner"
)

var reasonTexts = map[Reason]string{
	GenericError:                "generic instruction error",
	InvalidArgument:             "invalid program argument",
	InvalidInstructionData:      "invalid instruction data",
	InvalidAccountData:          "invalid account data for instruction",
	AccountDataTooSmall:         "account data too small for instruction",
	InsufficientFunds:           "insufficient funds for instruction",
	IncorrectProgramID:          "incorrect program id for instruction",
	MissingRequiredSignature:    "missing required signature for instruction",
	AccountAlreadyInitialized:   "instruction requires an uninitialized account",
	UninitializedAccount:        "instruction requires an initialized account",
	UnbalancedInstruction:       "sum of account balances before and after instruction do not match",
	ModifiedProgramID:           "instruction illegally modified the program id of an account",
	ExternalAccountLamportSpend: "instruction spent from the balance of an account it does not own",
	ExternalAccountDataModified: "instruction modified data of an account it does not own",
	ReadonlyLamportChange:       "instruction changed the balance of a read-only account",
	ReadonlyDataModified:        "instruction modified data of a read-only account",
	ExecutableModified:          "instruction changed executable bit of an account",
	NotEnoughAccountKeys:        "insufficient account keys for instruction",
	AccountDataSizeChanged:      "program other than the account's owner changed the size of the account data",
	UnsupportedProgramID:        "Unsupported program id",
	CallDepth:                   "Cross-program invocation call depth too deep",
	MissingAccount:              "An account required by the instruction is missing",
	ReentrancyNotAllowed:        "Cross-program invocation reentrancy not allowed for this instruction",
	InvalidSeeds:                "Provided seeds do not result in a valid address",
	InvalidRealloc:              "Failed to reallocate account data",
	ComputationalBudgetExceeded: "Computational budget exceeded",
	PrivilegeEscalation:         "Cross-program invocation with unauthorized signer or writable account",
	ProgramFailedToComplete:     "Program failed to complete",
	IncorrectAuthority:          "Incorrect authority provided",
	AccountNotRentExempt:        "An account does not have enough lamports to be rent-exempt",
	InvalidAccountOwner:         "Invalid account owner",
	ArithmeticOverflow:          "Program arithmetic overflowed",
	IllegalOwner:                "Provided owner is not allowed",
}

func (r Reason) Error() string {
	if text, ok := reasonTexts[r]; ok {
		return text
	}
	return string(r)
}

// TxError is why a transaction failed, or was refused without being executed.
type TxError struct {
	Name  string // BlockhashNotFound, InstructionError, ...
	Index int    // InstructionError, DuplicateInstruction: of the instruction; InsufficientFundsForRent: of the account
	Err   error  // InstructionError: a Reason or a Custom
}

var txErrorTexts = map[string]string{
	"AccountNotFound":            "Attempt to debit an account but found no record of a prior credit.",
	"ProgramAccountNotFound":     "Attempt to load a program that does not exist",
	"InsufficientFundsForFee":    "Insufficient funds for fee",
	"InvalidAccountForFee":       "This account may not be used to pay transaction fees",
	"AlreadyProcessed":           "This transaction has already been processed",
	"BlockhashNotFound":          "Blockhash not found",
	"SignatureFailure":           "Transaction did not pass signature verification",
	"InvalidProgramForExecution": "This program may not be used for executing instructions",
	"SanitizeFailure":            "Transaction failed to sanitize accounts offsets correctly",
	"AccountLoadedTwice":         "Account loaded twice",
	"TooManyAccountLocks":        "Transaction locked too many accounts",
	"UnsupportedVersion":         "Transaction version is unsupported",
	"AddressLookupTableNotFound": "Transaction loads an address table account that doesn't exist",
}

func (e *TxError) Error() string {
	switch e.Name {
	case "InstructionError":
		return fmt.Sprintf("Error processing Instruction %d: %v", e.Index, e.Err)
	case "InsufficientFundsForRent":
		return fmt.Sprintf("Transaction results in an account (%d) with insufficient funds for rent", e.Index)
	case "DuplicateInstruction":
		return fmt.Sprintf("Transaction contains a duplicate instruction (%d) that is not allowed", e.Index)
	}
	return txErrorTexts[e.Name]
}

// Unwrap returns the error of the instruction.
func (e *TxError) Unwrap() error { return e.Err }

// MarshalJSON writes the error as nodes do: "BlockhashNotFound",
// {"InstructionError":[0,{"Custom":1}]}.
func (e *TxError) MarshalJSON() ([]byte, error) {
	switch e.Name {
	case "InstructionError":
		var of any = e.Err
		if number, ok := e.Err.(Custom); ok {
			of = map[string]uint32{"Custom": uint32(number)}
		}
		return json.Marshal(map[string]any{e.Name: []any{e.Index, of}})
	case "InsufficientFundsForRent":
		return json.Marshal(map[string]any{e.Name: map[string]int{"account_index": e.Index}})
	case "DuplicateInstruction":
		return json.Marshal(map[string]int{e.Name: e.Index})
	}
	return json.Marshal(e.Name)
}
